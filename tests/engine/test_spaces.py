"""Spaces: who may go in, what stands in them, and that nothing is left of one that was dissolved."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest

from commonplace.domain.access import ALL_PERMISSIONS, STRANGER, Actor, Permission, Right
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, SpaceForbidden
from commonplace.domain.memory import Draft
from commonplace.domain.space import MOST_OPENED, FileKind
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from commonplace.engine.spaces import entered

pytestmark = pytest.mark.anyio

READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


async def holder(engine: Engine, owner: Actor, *spaces: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    """Whoever holds a token for these spaces, or for all."""
    made = await engine.tokens.create(owner, "agent", permissions, spaces, 0)
    return (await engine.access.authenticate(made.key)).through("test", "agent/1")


async def founded(engine: Engine, owner: Actor, *names: str) -> None:
    for name in names:
        await engine.spaces.found(owner, name, "", "# Rules", "")


async def test_a_space_lies_in_the_root_of_all_spaces_and_belongs_to_who_made_it(engine: Engine, owner: Actor) -> None:
    agent = await holder(engine, owner)
    made = await engine.spaces.found(agent, "alpha", "d", "# R", "someone else")
    root = await engine.store.read(lambda tx: tx.spaces.root())
    assert root
    assert (made.collection.owner, made.collection.parent) == (agent.user, root.number)
    assert made.collection.metadata["owner"] == "someone else"


async def test_one_token_for_all_spaces_opens_those_of_others_and_those_to_come(engine: Engine, owner: Actor) -> None:
    agent = await holder(engine, owner)
    await founded(engine, owner, "alpha")
    await founded(engine, await holder(engine, owner), "beta")
    assert [one.collection.name for one in await engine.spaces.all(agent)] == ["alpha", "beta"]


async def test_a_user_who_has_no_token_sees_only_the_spaces_he_made(engine: Engine, owner: Actor) -> None:
    await founded(engine, owner, "alpha")
    made = await engine.access.create_key("ann's", READ_WRITE, user="ann")
    ann = await engine.access.authenticate(made.key)
    assert await engine.spaces.all(ann) == []
    with pytest.raises(NotFound):
        await engine.spaces.rules(ann, "alpha")
    with pytest.raises(AlreadyExists):
        await engine.spaces.found(ann, "alpha", "", "# R", "")
    await founded(engine, ann, "hers")
    assert [one.collection.name for one in await engine.spaces.all(ann)] == ["hers"]
    assert [one.collection.name for one in await engine.spaces.all(owner)] == ["alpha", "hers"]


async def test_a_limited_token_is_refused_any_other_space_whether_it_is_there_or_not(
    engine: Engine, owner: Actor
) -> None:
    await founded(engine, owner, "alpha", "beta")
    agent = await holder(engine, owner, "alpha", "later")
    for name in ("beta", "nowhere"):
        with pytest.raises(SpaceForbidden) as caught:
            await engine.spaces.overview(agent, name)
        assert (caught.value.space, caught.value.needs) == (name, "read")
    with pytest.raises(NotFound):
        await engine.spaces.overview(agent, "later")
    await founded(engine, owner, "later")
    agent = await engine.access.renewed(agent)
    assert (await engine.spaces.overview(agent, "later")).rules == "# Rules"


async def test_a_token_opens_no_more_spaces_than_it_may_name(engine: Engine, owner: Actor) -> None:
    agent = await holder(engine, owner, *(f"s{number}" for number in range(MOST_OPENED)))
    with pytest.raises(Invalid, match="opens 500 spaces already"):
        await engine.spaces.found(agent, "one-more", "", "# R", "")
    assert await engine.store.read(lambda tx: tx.spaces.named("one-more")) is None


async def test_a_grant_to_read_is_no_right_to_write(engine: Engine, owner: Actor) -> None:
    await founded(engine, owner, "alpha")
    made = await engine.access.create_key("ann's", READ_WRITE, user="ann")
    ann = (await engine.access.authenticate(made.key)).through("test")
    space = await engine.store.read(lambda tx: tx.spaces.named("alpha"))
    assert space
    await engine.store.write(lambda tx: tx.grant(ann.user, space.number, Right.READ, owner.user, engine.clock.now()))
    assert (await engine.spaces.overview(ann, "alpha")).rules == "# Rules"
    with pytest.raises(Forbidden) as caught:
        await engine.notes.write(ann, "alpha", "todo", "x", "ann")
    assert caught.value.needs == "write"


async def test_a_key_that_opens_an_atlas_founds_no_space(engine: Engine, owner: Actor) -> None:
    atlas = (await engine.atlases.create(owner, Sketch("atlas"), None)).collection.id
    shared = await engine.keys.share(owner, "for all", atlas, Right.WRITE)
    guest = (await engine.access.authenticate(shared.key)).through("test")
    with pytest.raises(SpaceForbidden) as caught:
        await engine.spaces.found(guest, "alpha", "", "# R", "")
    assert caught.value.space == "alpha"
    assert await engine.spaces.all(guest) == []


async def test_strangers_may_do_nothing(engine: Engine, owner: Actor) -> None:
    await founded(engine, owner, "alpha")
    with pytest.raises(Forbidden):
        await engine.spaces.all(STRANGER)
    with pytest.raises(Forbidden):
        await engine.spaces.found(STRANGER, "beta", "", "# R", "")
    for right in Right:
        with pytest.raises(Forbidden):
            await engine.store.read(partial(entered, actor=STRANGER, name="alpha", right=right))


async def test_of_many_who_make_a_space_of_one_name_one_makes_it(engine: Engine, owner: Actor) -> None:
    outcomes: list[str] = []

    async def make(number: int) -> None:
        try:
            await engine.spaces.found(owner, "alpha", str(number), "# R", "")
            outcomes.append("made")
        except AlreadyExists:
            outcomes.append("exists")

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(make, number)
    assert sorted(outcomes) == ["exists"] * 9 + ["made"]


async def test_an_overview_is_of_one_moment(engine: Engine, owner: Actor) -> None:
    await founded(engine, owner, "alpha")
    done = anyio.Event()

    async def work() -> None:
        for number in range(8):
            await engine.notes.write(owner, "alpha", "progress", f"step {number}", "a")
            await engine.consolidation.run(owner, "alpha", "a", _unheard)
        done.set()

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        while not done.is_set():
            found = await engine.spaces.overview(owner, "alpha")
            notes, filed = found.space.figures.notes, sum(file.content.count("step ") for file in found.bank)
            assert notes in (0, 1)
            assert filed == found.space.collection.metadata.get("total_notes_processed", 0)
            assert len(found.bank) == found.space.figures.files


async def _unheard(done: int, total: int) -> None: ...


async def test_a_dissolved_space_takes_everything_with_it_whatever_others_have_put_there(
    engine: Engine, owner: Actor
) -> None:
    await founded(engine, owner, "alpha")
    agent = await holder(engine, owner, "alpha")
    note = await engine.notes.write(agent, "alpha", "todo", "a note", "a")
    assert note.id
    place = (await engine.spaces.overview(owner, "alpha")).space.collection
    beside = await engine.memories.remember(owner, Draft("beside the notes", home=place.id))
    elsewhere = await engine.memories.remember(owner, Draft("elsewhere"))
    await engine.labels.create(owner, "label")
    gone = await engine.spaces.dissolve(owner, "alpha")
    assert [file.kind for file in gone.files] == [FileKind.NOTE, FileKind.RULES]
    assert len(gone) == 5
    for lost in (note.id, beside.id):
        with pytest.raises(NotFound):
            await engine.memories.get(owner, Reference(lost))
    assert await engine.memories.get(owner, Reference(elsewhere.id))
    assert (await engine.chain.verify(owner, _unheard)).valid


async def test_only_administrators_dissolve_a_space_they_may_go_into(engine: Engine, owner: Actor) -> None:
    await founded(engine, owner, "alpha", "beta")
    with pytest.raises(Forbidden):
        await engine.spaces.dissolve(await holder(engine, owner), "alpha")
    admin = await holder(engine, owner, "beta", permissions=ALL_PERMISSIONS)
    with pytest.raises(SpaceForbidden):
        await engine.spaces.dissolve(admin, "alpha")
    assert await engine.spaces.dissolve(admin, "beta")


async def test_files_follow_at_once(engine: Engine, owner: Actor, folder: Path) -> None:
    meta, registry = folder / "spaces" / "alpha" / "_meta.json", folder / "spaces" / "_system" / "tokens.json"
    async with anyio.create_task_group() as group:
        group.start_soon(engine.mirror.run)
        with anyio.fail_after(20):
            await founded(engine, owner, "alpha")
            while not meta.exists():
                await anyio.sleep(0.01)
            token = await engine.tokens.create(owner, "agent", READ_WRITE, (), 0)
            while not registry.exists():
                await anyio.sleep(0.01)
            await engine.tokens.revoke(owner, token.credential.hash)
            while not json.loads(registry.read_text())["tokens"][0]["revoked"]:
                await anyio.sleep(0.01)
            await engine.spaces.dissolve(owner, "alpha")
            while meta.exists():
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()


async def test_an_id_that_is_none_is_refused_before_anything_else(engine: Engine, owner: Actor) -> None:
    for name in ("", "../x", "a b", "x" * 65):
        with pytest.raises(Invalid):
            await engine.spaces.overview(owner, name)
        with pytest.raises(Invalid):
            await engine.spaces.found(owner, name, "", "# R", "")
