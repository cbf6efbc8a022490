"""Backups of spaces: copies of one moment, known for what they are when they are not whole."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission
from commonplace.domain.errors import AlreadyExists, BackupBroken, Forbidden, Invalid, NotFound, SpaceForbidden
from commonplace.engine import Engine
from commonplace.engine.snapshots import MANIFEST, laid_out
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


@pytest.fixture
async def space(engine: Engine, owner: Actor) -> str:
    name = (await engine.spaces.found(owner, "alpha", "d", "# Rules", "o")).collection.name
    await engine.notes.write(owner, name, "todo", "a note 日本", "a", ("tag",))
    return name


async def token(engine: Engine, owner: Actor, permissions: frozenset[Permission], *spaces: str) -> Actor:
    made = await engine.tokens.create(owner, "agent", permissions, spaces, 0)
    return (await engine.access.authenticate(made.key)).through("test")


async def test_a_copy_says_what_it_is_and_holds_every_file(
    engine: Engine, owner: Actor, space: str, folder: Path
) -> None:
    made = await engine.snapshots.create(owner, space, "why")
    files = laid_out(await engine.spaces.contents(owner, space))
    assert (made.id, made.files, made.size) == ("alpha/2026-01-15T03-00-00", 5, sum(map(len, files.values())))
    found, copied = await engine.snapshots.files_of(owner, made.id)
    assert (found, copied) == (made, files)
    told = json.loads((folder / "spaces" / made.folder / MANIFEST).read_text())
    assert told == {
        "backup_id": made.id,
        "space_id": "alpha",
        "created_at": "2026-01-15T03:00:00Z",
        "description": "why",
        "files": 5,
        "size": made.size,
    }


async def test_a_minute_of_copies_and_then_a_refusal(engine: Engine, owner: Actor, space: str, clock: Clock) -> None:
    made = [(await engine.snapshots.create(owner, space, "")).stamp for _ in range(60)]
    assert made == sorted(set(made))
    with pytest.raises(AlreadyExists):
        await engine.snapshots.create(owner, space, "")
    clock.advance(timedelta(minutes=1))
    assert await engine.snapshots.create(owner, space, "")
    assert len(await engine.snapshots.all(owner)) == 61


async def test_a_deletion_that_breaks_off_leaves_what_is_known_as_half(
    engine: Engine, owner: Actor, space: str, folder: Path
) -> None:
    made = await engine.snapshots.create(owner, space, "")
    place = folder / "spaces" / made.folder
    for gone in ("_meta.json", "live/.keep"):
        (place / gone).unlink()
        (found,) = await engine.snapshots.all(owner, space)
        assert not found.complete
    await engine.spaces.dissolve(owner, space)
    with pytest.raises(BackupBroken):
        await engine.snapshots.restore(owner, made.id)
    assert (await engine.snapshots.delete(owner, made.id)).files == 3
    assert not place.exists()


async def test_without_a_description_of_the_space_nothing_is_restored(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    await engine.spaces.found(owner, "alpha", "", "# R", "")
    place = folder / "spaces" / "_backups" / "beta" / "2026-01-01T00-00-00"
    place.mkdir(parents=True)
    (place / "_rules.md").write_text("# R")
    with pytest.raises(BackupBroken):
        await engine.snapshots.restore(owner, "beta/2026-01-01T00-00-00")
    assert [one.collection.name for one in await engine.spaces.all(owner)] == ["alpha"]


async def test_whoever_may_not_see_a_space_may_not_see_its_copies(engine: Engine, owner: Actor, space: str) -> None:
    made = await engine.snapshots.create(owner, space, "")
    other = await token(engine, owner, ALL_PERMISSIONS, "other")
    assert await engine.snapshots.all(other) == []
    for attempt in (
        engine.snapshots.all(other, space),
        engine.snapshots.files_of(other, made.id),
        engine.snapshots.delete(other, made.id),
        engine.snapshots.restore(other, made.id),
        engine.snapshots.create(other, space, ""),
    ):
        with pytest.raises(SpaceForbidden):
            await attempt
    key = await engine.access.create_key("ann's", READ_WRITE, user="ann")
    ann = await engine.access.authenticate(key.key)
    assert await engine.snapshots.all(ann) == []
    with pytest.raises(NotFound):
        await engine.snapshots.files_of(ann, made.id)


async def test_a_limited_administrator_restores_the_space_he_deleted(engine: Engine, owner: Actor, space: str) -> None:
    admin = await token(engine, owner, ALL_PERMISSIONS, space)
    made = await engine.snapshots.create(admin, space, "")
    await engine.spaces.dissolve(admin, space)
    admin = await engine.access.renewed(admin)
    assert [one.id for one in await engine.snapshots.all(admin)] == [made.id]
    await engine.snapshots.restore(admin, made.id)
    admin = await engine.access.renewed(admin)
    assert [note.content for note in (await engine.notes.page(admin, space, 10)).notes] == ["a note 日本"]
    assert [note.content for note in (await engine.notes.page(owner, space, 10)).notes] == ["a note 日本"]


async def test_what_only_administrators_may_do(engine: Engine, owner: Actor, space: str) -> None:
    agent = await token(engine, owner, READ_WRITE)
    made = await engine.snapshots.create(agent, space, "")
    for attempt in (engine.snapshots.delete(agent, made.id), engine.snapshots.restore(agent, made.id)):
        with pytest.raises(Forbidden) as caught:
            await attempt
        assert caught.value.needs == "admin"
    reader = await token(engine, owner, frozenset({Permission.READ}))
    with pytest.raises(Forbidden):
        await engine.snapshots.create(reader, space, "")
    assert await engine.snapshots.files_of(reader, made.id)


async def test_no_name_leads_out_of_the_folder_of_backups(engine: Engine, owner: Actor, space: str) -> None:
    for name in ("../alpha", "..", "a/b", "_system", "", "alpha/../beta"):
        with pytest.raises(Invalid):
            await engine.snapshots.files_of(owner, f"{name}/2026-01-15T03-00-00")
        if name:
            with pytest.raises(Invalid):
                await engine.snapshots.all(owner, name)


async def test_other_things_in_the_folder_of_backups_are_passed_over(
    engine: Engine, owner: Actor, space: str, folder: Path
) -> None:
    await engine.snapshots.create(owner, space, "")
    for stray in ("notes.txt", "a b/2026-01-01T00-00-00/x", "alpha/latest/x", "alpha/2026-01-01/x"):
        path = folder / "spaces" / "_backups" / stray
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert [one.stamp for one in await engine.snapshots.all(owner)] == ["2026-01-15T03-00-00"]


async def test_a_manifest_that_is_nonsense_is_passed_over(
    engine: Engine, owner: Actor, space: str, folder: Path
) -> None:
    made = await engine.snapshots.create(owner, space, "why")
    for nonsense in (b"", b"[]", b"\xff", b'{"description": ["x"], "files": "many"}', b"[" * 100_000):
        (folder / "spaces" / made.folder / MANIFEST).write_bytes(nonsense)
        (found,) = await engine.snapshots.all(owner)
        assert isinstance(found.description, str)
