import asyncio
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.errors import BackupBroken, Forbidden, Invalid, NotFound, Unauthenticated
from commonplace.domain.event import EventKind
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.backups import KINDS
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder
from tests.storage.peer import peers

pytestmark = pytest.mark.anyio


def another(folder: Path, clock: Clock, **settings: object) -> Engine:
    """A second process on the folder, as far as the store can tell."""
    chosen = Settings(data_dir=str(folder), timezone="Asia/Seoul", **settings)  # type: ignore[arg-type]
    return build(chosen, model=Embedder(), clock=clock, zone=ZoneInfo("Asia/Seoul"))


async def names(engine: Engine, owner: Actor) -> list[str]:
    return [backup.name for backup in await engine.backups.list(owner)]


async def texts(engine: Engine, owner: Actor) -> list[str]:
    return sorted(memory.content for memory in (await engine.memories.page(owner, 100)).memories)


async def test_a_backup_is_called_what_was_asked_or_the_time(engine: Engine, owner: Actor, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("kept"))
    assert (await engine.backups.create(owner, "mine")).name == "mine"
    assert (await engine.backups.create(owner)).name == "20260115-120000"
    assert await names(engine, owner) == ["20260115-120000", "mine"]
    assert (folder / "backups" / "mine.db").exists()
    assert engine.backups.location == str(folder / "backups")


async def test_two_backups_within_a_second_are_two(engine: Engine, owner: Actor) -> None:
    await engine.memories.remember(owner, Draft("kept"))
    first, second = [await engine.backups.create(owner) for _ in range(2)]
    assert second.name.startswith(f"{first.name}-")
    assert await names(engine, owner) == [first.name, second.name]


async def test_a_restore_keeps_what_was_there_before(engine: Engine, owner: Actor) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    await engine.memories.remember(owner, Draft("two"))
    done = await engine.backups.restore(owner, "first")
    assert await texts(engine, owner) == ["one"]
    assert done.contents.memories == 1
    assert done.safety
    back = await engine.backups.restore(owner, done.safety.name)
    assert await texts(engine, owner) == ["one", "two"]
    assert back.safety
    assert back.safety.name != done.safety.name
    assert (await engine.chain.verify(owner)).valid
    assert (await engine.recall.recall(owner, Question("two"))).hits[0].memory.content == "two"


async def test_restoring_into_an_empty_store_leaves_nothing_to_keep(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    moved = another(tmp_path / "elsewhere", clock, backup_dir=engine.backups.location)
    done = await moved.backups.restore(await moved.access.local_owner(), "first")
    assert done.safety is None
    assert await texts(moved, await moved.access.local_owner()) == ["one"]
    await moved.close()


async def test_a_broken_backup_is_refused_before_anything_is_touched(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    with (folder / "backups" / "first.db").open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(BackupBroken):
        await engine.backups.restore(owner, "first")
    assert await names(engine, owner) == ["first"]


async def test_what_is_no_part_of_a_backup_is_refused(engine: Engine, owner: Actor) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    with pytest.raises(Invalid, match="choose from"):
        await engine.backups.restore(owner, "first", ["weather"])
    await engine.backups.restore(owner, "first", KINDS)


async def test_only_administrators_touch_backups(engine: Engine, owner: Actor) -> None:
    key = await engine.access.create_key("agent", frozenset({Permission.READ, Permission.WRITE}))
    agent = await engine.access.authenticate(key.key)
    limited = owner.within(frozenset())  # an administrator, but not of everything
    backups = engine.backups
    for one in (agent, limited):
        for attempt in (
            backups.create(one, "x"),
            backups.list(one),
            backups.get(one, "x"),
            backups.verify(one, "x"),
            backups.restore(one, "x"),
            backups.prune(one),
        ):
            with pytest.raises(Forbidden):
                await attempt
    with pytest.raises(NotFound):
        await backups.verify(owner, "x")


async def test_who_follows_what_happens_goes_on_after_a_restore_before_the_numbers_have_caught_up(
    engine: Engine, owner: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.engine.events.PAUSE", 0.0)
    await engine.backups.create(owner, "empty")
    for number in range(60):
        await engine.memories.remember(owner, Draft(f"lost {number}"))
    seen = await engine.events.last()
    following = engine.events.follow(seen)
    waiting = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    await engine.backups.restore(owner, "empty")
    while not waiting.done():
        await engine.memories.remember(owner, Draft("after the restore"))
        await asyncio.wait([waiting], timeout=0.05)
    assert (await waiting).number < seen


async def test_whatever_was_acknowledged_is_in_the_store_or_in_the_copy_of_what_was(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    await engine.memories.remember(owner, Draft("the beginning"))
    await engine.backups.create(owner, "first")
    kept: set[str] = set()
    with peers(folder, "north", "south", "west") as writers:
        for writer in writers:
            writer.tell("write", 300)
        said = [writer.answer() for writer in writers]  # all are at it
        for _ in range(8):
            done = await engine.backups.restore(owner, "first")
            assert done.safety
            kept.update(written(Path(engine.backups.location) / f"{done.safety.name}.db"))
            assert await engine.backups.verify(owner, done.safety.name) == done.safety
        for writer in writers:
            while (answer := writer.answer()) != "done":
                said.append(answer)
    kept.update(written(folder / "commonplace.db"))
    assert len(said) == 900
    assert set(said) <= kept
    assert (await engine.chain.verify(owner)).valid


def written(file: Path) -> list[str]:
    with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return [text for (text,) in connection.execute("SELECT content FROM memories")]


async def told(engine: Engine, owner: Actor) -> list[tuple[str, str]]:
    """The trail beside the events of memories, the oldest first."""
    events = {kind.value for kind in EventKind}
    trail = await engine.doings.latest(owner, 100)
    return [(one.what, one.subject) for one in reversed(trail.doings) if one.what not in events]


async def test_the_trail_goes_on_through_a_restore_and_tells_of_it(engine: Engine, owner: Actor, clock: Clock) -> None:
    async def key(name: str) -> str:
        clock.advance(timedelta(seconds=1))
        return (await engine.access.create_key(name, frozenset({Permission.READ}))).credential.id

    await engine.memories.remember(owner, Draft("one"))
    keys = [("key created", await key("early"))]
    clock.advance(timedelta(seconds=1))
    await engine.backups.create(owner, "first")
    keys += [("backup created", "first"), ("key created", await key("late"))]
    for _ in range(2):
        clock.advance(timedelta(seconds=1))
        await engine.backups.restore(owner, "first")
        keys += [("restored", "first")]
        assert await told(engine, owner) == keys
    clock.advance(timedelta(seconds=1))
    (latest, *_) = (await engine.doings.latest(owner, 1)).doings
    assert latest.by.user == owner.user
    assert await key("later")
    assert len(await told(engine, owner)) == len(keys) + 1


async def test_the_trail_of_another_store_is_kept_beside_that_of_the_backup(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    await engine.backups.create(owner, "first")
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "second")
    moved = another(tmp_path / "elsewhere", clock, backup_dir=engine.backups.location)
    here = await moved.access.local_owner()
    await moved.backups.create(here, "third")
    await moved.backups.restore(here, "second")
    for _ in range(2):
        found = sorted(await told(moved, here))
        assert found[:2] == [("backup created", "first"), ("backup created", "third")]
        assert set(found[2:]) == {("restored", "second")}
        await moved.backups.restore(here, "second")
    await moved.close()


async def test_the_trail_tells_of_a_part_that_was_put_back(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, Reference(id=memory.id))
    await engine.backups.restore(owner, "first", ["memories"])
    assert ("restored in part", "first") in await told(engine, owner)


async def test_a_key_opens_no_more_after_a_restore(engine: Engine, owner: Actor) -> None:
    both = frozenset({Permission.READ, Permission.WRITE})
    token = await engine.tokens.create(owner, "agent", both, ["north", "south"], 0)
    await engine.atlases.create(owner, Sketch(name="maps"))
    deleted = await engine.keys.share(owner, "agent", None, Right.READ)
    await engine.backups.create(owner, "first")
    await engine.tokens.update(owner, token.credential.hash, frozenset({Permission.READ}), ["north"])
    await engine.keys.delete(owner, deleted.credential.id)
    await engine.backups.restore(owner, "first")
    actor = await engine.access.authenticate(token.key)
    assert actor.permissions == {Permission.READ}
    found = {one.id: one for one in await engine.store.read(lambda tx: tx.credentials())}
    assert found[token.credential.id].collections == ("space:north",)
    with pytest.raises(Unauthenticated):
        await engine.access.authenticate(deleted.key)
