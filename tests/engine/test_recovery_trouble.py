"""Putting back a part: refused, encrypted, from an earlier release, disturbed, killed: old or new, never half."""

import asyncio
import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.domain.access import Actor
from commonplace.domain.backup import Part
from commonplace.domain.collection import Kind
from commonplace.domain.errors import BackupBroken, Forbidden, Invalid, KeyNeeded, NotFound, StoreFull
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Change
from commonplace.domain.recovery import Fate, Recovered
from commonplace.engine import Engine
from commonplace.engine.recall import Question
from commonplace.storage.sqlite import migrations
from tests.engine.recovering import recovering
from tests.engine.test_collections import at, keep, project, user
from tests.engine.test_recovery import Back, house, put_back, texts, ties
from tests.fakes import Clock
from tests.storage.keeping import finished

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

# Which backups, and for whom


async def test_only_where_no_kind_is_named_the_store_becomes_the_backup(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    await keep(engine, owner, "newer")
    named = await engine.backups.restore(owner, "first", ("associations", "sessions", "projects", "memories"))
    assert (len(named.includes), named.safety) == (4, None)
    assert named.recovered == Recovered(Counter({(Part.MEMORIES, Fate.UNCHANGED): 1}))
    with pytest.raises(Invalid, match="names nothing"):
        await engine.backups.restore(owner, "first", ())
    assert await texts(engine, owner) == ["newer", "one"]
    whole = await engine.backups.restore(owner, "first")
    assert (len(whole.includes), whole.recovered, await texts(engine, owner)) == (4, None, ["one"])


async def test_a_part_is_refused_before_anything_is_touched(engine: Engine, owner: Actor, folder: Path) -> None:
    await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    with pytest.raises(Invalid, match="weather: choose from memories, projects, sessions, associations"):
        await engine.backups.restore(owner, "first", ["memories", "weather"])
    with pytest.raises(NotFound):
        await engine.backups.restore(owner, "absent", ["memories"])
    home = await project(engine, owner)
    limited = owner.within(frozenset({home}))
    with pytest.raises(Forbidden):
        await engine.backups.restore(limited, "first", ["memories"])
    with (folder / "backups" / "first.db").open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(BackupBroken):
        await engine.backups.restore(owner, "first", ["memories"])
    assert [backup.name for backup in await engine.backups.list(owner)] == ["first"]


async def test_the_state_before_it_is_kept(engine: Engine, owner: Actor) -> None:
    memory = await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    done = await engine.backups.restore(owner, "first", ["memories"])
    assert done.safety
    assert await texts(engine, owner) == ["one"]
    await engine.backups.restore(owner, done.safety.name)
    assert await texts(engine, owner) == []


async def test_an_encrypted_backup_is_put_back_and_never_lies_there_in_the_clear(folder: Path, clock: Clock) -> None:
    async with house(folder, clock, encryption_key="夜の鍵は長いほど良い") as (engine, owner):
        memory = await keep(engine, owner, "PLUMBAGO the secret")
        await engine.backups.create(owner, "first")
        await engine.memories.forget(owner, at(memory))
        assert await put_back(engine, owner, "memories") == Back(memories=1)
        assert await texts(engine, owner) == ["PLUMBAGO the secret"]
        vault = engine._vault
        assert vault
        async with vault.opened("first"):
            files = [file for file in (folder / "backups").rglob("*") if file.is_file()]
            assert sum("commonplace.db" in file.name for file in files) >= 1
            assert not any(b"PLUMBAGO" in file.read_bytes() for file in files)
    async with house(folder.with_name("other"), clock, backup_dir=str(folder / "backups")) as (other, caller):
        with pytest.raises(KeyNeeded):
            await other.backups.restore(caller, "first", ["memories"])
    assert not [file for file in (folder / "backups").iterdir() if file.name.startswith(".")]


async def test_a_plain_backup_is_put_back_into_an_encrypted_store(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    await keep(engine, owner, "PLUMBAGO the secret")
    await engine.backups.create(owner, "first")
    place = engine.backups.location
    async with house(tmp_path / "closed", clock, encryption_key="a key that is long enough", backup_dir=place) as (
        other,
        caller,
    ):
        assert await put_back(other, caller, "memories") == Back(memories=1)
        assert b"PLUMBAGO" not in (tmp_path / "closed" / "commonplace.db").read_bytes()


OLD = """
INSERT INTO users VALUES ('u', 'eve', '', 0);
INSERT INTO collections (id, kind, domain, name, owner, created_at) VALUES ('c', 'user', 'user', 'eve', 'u', 0);
INSERT INTO memories (
    id, collection, created_at, importance, author_user, author_credential, author_session, author_tool,
    revised_at, reviser_user, reviser_credential, reviser_session, reviser_tool, content
) VALUES ('m', 1, 7, 0.5, 'u', '', '', '', 8, 'u', '', '', '', '昔の記憶');
INSERT INTO ephemeral VALUES (1, 9, 4000000000000000);
"""


async def test_a_backup_of_an_earlier_release_is_put_back(engine: Engine, owner: Actor, folder: Path) -> None:
    await keep(engine, owner, "newer")
    (folder / "backups").mkdir(mode=0o700)
    earlier = apsw.Connection(str(folder / "backups" / "first.db"))
    earlier.execute(migrations.steps()[0]).fetchall()
    earlier.pragma("user_version", 1)
    earlier.pragma("application_id", migrations.APPLICATION_ID)
    earlier.execute(OLD).fetchall()
    earlier.close()
    before = (folder / "backups" / "first.db").read_bytes()
    kinds = ("memories", "projects", "sessions")
    assert await put_back(engine, owner, *kinds) == Back(memories=1)
    assert await texts(engine, owner) == ["newer", "昔の記憶"]
    assert (await engine.recall.recall(owner, Question("昔の記憶"))).hits[0].memory.id == MemoryId("m")
    assert (folder / "backups" / "first.db").read_bytes() == before


# Old or new, never half


async def test_when_the_disk_is_full_in_the_middle_the_old_state_stays(engine: Engine, owner: Actor) -> None:
    gone = [await keep(engine, owner, f"text {number} " + "x" * 20_000) for number in range(30)]
    changed = await keep(engine, owner, "before")
    home = await project(engine, owner)
    await engine.backups.create(owner, "first")
    for memory in gone:
        await engine.memories.forget(owner, at(memory))
    await engine.memories.revise(owner, at(changed), Change("after"))
    await engine.collections.dissolve(owner, Kind.PROJECT, home)
    await engine.store.vacuum()

    async def allow(more: int) -> None:
        def work(tx) -> None:  # type: ignore[no-untyped-def]
            tx._connection.pragma("max_page_count", tx._connection.pragma("page_count") + more)

        await engine.store.write(work)

    last = await engine.events.last()
    for pages in (0, 20, 60, 120):
        await allow(pages)
        with pytest.raises(StoreFull):
            await engine.backups.restore(owner, "first", ["memories", "projects"])
        assert await texts(engine, owner) == ["after"]
        assert await engine.collections.all(owner, Kind.PROJECT) == []
        assert await engine.events.last() == last
        assert (await engine.chain.verify(owner)).valid
    await allow(1_000_000)
    assert await put_back(engine, owner, "memories", "projects") == Back(memories=31, projects=1)


async def test_whoever_is_killed_in_the_middle_leaves_the_old_state(engine: Engine, owner: Actor, folder: Path) -> None:
    one, two = await keep(engine, owner, "one"), await keep(engine, owner, "two")
    await engine.links.connect(owner, at(one), at(two))
    home = await project(engine, owner)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(one))
    await engine.memories.revise(owner, at(two), Change("later"))
    await engine.collections.dissolve(owner, Kind.PROJECT, home)
    old, new = (["later"], 0, 0), (["one", "two"], 1, 1)
    for step in (2, 5, 9, 14, 20, 27, 35, 44):
        whole = finished(recovering(step, folder))
        projects = len(await engine.collections.all(owner, Kind.PROJECT))
        state = (await texts(engine, owner), projects, len(await ties(engine)))
        # Killed late, it may have committed already, and was only kept from saying so.
        assert state == new if whole else state in (old, new), step
        assert (await engine.chain.verify(owner)).valid
        if state == new:
            break
    assert step > 20
    assert finished(recovering(0, folder))
    assert (await texts(engine, owner), len(await ties(engine))) == (["one", "two"], 1)


async def test_whoever_writes_meanwhile_loses_nothing(engine: Engine, owner: Actor) -> None:
    some = [await keep(engine, owner, f"text {number}") for number in range(40)]
    await engine.backups.create(owner, "first")
    for memory in some[:20]:
        await engine.memories.forget(owner, at(memory))

    async def writing() -> list[str]:
        return [(await keep(engine, owner, f"newer {number}")).content for number in range(40)]

    written, one, other = await asyncio.gather(
        writing(),
        engine.backups.restore(owner, "first", ["memories"]),
        engine.backups.restore(owner, "first", ["memories"]),
    )
    assert one.recovered
    assert other.recovered
    assert one.recovered.restored(Part.MEMORIES) + other.recovered.restored(Part.MEMORIES) == 20
    assert await texts(engine, owner) == sorted([*written, *(memory.content for memory in some)])
    assert (await engine.chain.verify(owner)).valid


async def test_a_caller_that_gives_up_leaves_nothing_behind(engine: Engine, owner: Actor) -> None:
    memory = await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    for turns in range(0, 60, 6):
        attempt = asyncio.ensure_future(engine.backups.restore(owner, "first", ["memories"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        attempt.cancel()
        await asyncio.wait([attempt])
        assert await texts(engine, owner) in ([], ["one"])
    await put_back(engine, owner, "memories")
    assert await texts(engine, owner) == ["one"]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happened_since_nothing_is_lost_and_all_is_back(
    engine: Engine, owner: Actor, clock: Clock, seed: int
) -> None:
    chance = random.Random(seed)
    people = [owner, await user(engine, "anna"), await user(engine, "bert")]
    kept = [
        (actor, await keep(engine, actor, f"text {n} 文章")) for n in range(15) for actor in [chance.choice(people)]
    ]
    for _ in range(10):
        (actor, one), (_, other) = chance.sample(kept, 2)
        if one.home == other.home:
            await engine.links.connect(actor, at(one), at(other))
    before = {actor.user: await texts(engine, actor) for actor in people}
    await engine.backups.create(owner, "first")
    newer: dict[str, list[str]] = {actor.user: [] for actor in people}
    for actor, memory in kept:
        act = chance.choice(["forget", "revise", "leave", "keep"])
        if act == "forget":
            await engine.memories.forget(actor, at(memory))
        elif act == "revise":
            await engine.memories.revise(actor, at(memory), Change(f"changed {memory.content}", tags=("x",)))
        elif act == "keep":
            newer[actor.user].append((await keep(engine, actor, f"newer {memory.content}")).content)
    clock.advance(timedelta(hours=1))
    await put_back(engine, owner, "memories", "associations")
    for actor in people:
        assert await texts(engine, actor) == sorted(before[actor.user] + newer[actor.user])
    assert await put_back(engine, owner, "memories", "associations") == Back()
