import asyncio
import logging
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import BackupBroken, Forbidden, Invalid, NotFound
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.backups import KINDS
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


def another(folder: Path, clock: Clock, **settings: object) -> Engine:
    """A second process on the folder, as far as the store can tell."""
    chosen = Settings(data_dir=str(folder), timezone="Asia/Seoul", **settings)  # type: ignore[arg-type]
    return build(chosen, model=Embedder(), clock=clock, zone=ZoneInfo("Asia/Seoul"))


async def names(engine: Engine, owner: Actor) -> list[str]:
    return [backup.name for backup in await engine.backups.list(owner)]


async def texts(engine: Engine, owner: Actor) -> list[str]:
    return sorted(memory.content for memory in (await engine.memories.page(owner, 100)).memories)


# Asked for


async def test_a_backup_is_called_what_was_asked_or_the_time(engine: Engine, owner: Actor, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("kept"))
    assert (await engine.backups.create(owner, "mine")).name == "mine"
    assert (await engine.backups.create(owner)).name == "20260115-120000"
    assert await names(engine, owner) == ["20260115-120000", "mine"]
    assert (folder / "backups" / "mine.db").exists()
    assert engine.backups.location == str(folder / "backups")


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
            backups.verify(one, "x"),
            backups.restore(one, "x"),
            backups.prune(one),
        ):
            with pytest.raises(Forbidden):
                await attempt
    with pytest.raises(NotFound):
        await backups.verify(owner, "x")


async def test_who_follows_what_happens_goes_on_after_a_restore(engine: Engine, owner: Actor) -> None:
    await engine.backups.create(owner, "empty")
    for number in range(5):
        await engine.memories.remember(owner, Draft(f"lost {number}"))
    following = engine.events.follow(await engine.events.last())
    waiting = asyncio.ensure_future(anext(following))
    await asyncio.sleep(0)
    await engine.backups.restore(owner, "empty")
    while not waiting.done():
        await engine.memories.remember(owner, Draft("after the restore"))
        assert await engine.events.last() < 200
        await asyncio.wait([waiting], timeout=0.05)
    assert (await waiting).number <= await engine.events.last()


# By itself


async def test_the_backup_of_a_day_is_made_once_and_read_back(
    engine: Engine, owner: Actor, clock: Clock, folder: Path
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.upkeep.once()
    await engine.upkeep.once()
    assert await names(engine, owner) == ["daily-2026-01-15"]
    assert (await engine.backups.verify(owner, "daily-2026-01-15")).contents
    clock.advance(timedelta(hours=14))  # two at night: the day before is not over yet
    await engine.upkeep.once()
    assert await names(engine, owner) == ["daily-2026-01-15"]
    clock.advance(timedelta(hours=1))
    await engine.upkeep.once()
    assert await names(engine, owner) == ["daily-2026-01-15", "daily-2026-01-16"]


async def test_an_empty_store_is_not_backed_up(engine: Engine, owner: Actor, folder: Path) -> None:
    await engine.upkeep.once()
    assert not (folder / "backups").exists()


async def test_it_can_be_turned_off(folder: Path, clock: Clock, engine: Engine, owner: Actor) -> None:
    await engine.memories.remember(owner, Draft("one"))
    quiet = another(folder, clock, backup_daily=False)
    await quiet.upkeep.once()
    assert not (folder / "backups").exists()
    await quiet.close()


async def test_old_ones_go_by_themselves_but_not_those_that_were_asked_for(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "mine")
    await engine.backups.restore(owner, "mine")
    for _ in range(12):
        await engine.upkeep.once()
        clock.advance(DAY)
    found = await names(engine, owner)
    assert found[0] == "mine"
    assert found[1:] == [f"daily-2026-01-{day}" for day in range(19, 27)]


async def test_the_newest_stays_however_old_it_is(engine: Engine, owner: Actor, clock: Clock) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.upkeep.once()
    clock.advance(100 * DAY)
    assert await engine.backups.prune(owner) == []


async def test_of_several_processes_one_makes_it(engine: Engine, owner: Actor, clock: Clock, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("one"))
    others = [another(folder, clock) for _ in range(3)]
    made = await asyncio.gather(*(one.backups.daily() for one in (engine, *others)))
    assert len([backup for backup in made if backup]) == 1
    assert [one.backups.trouble for one in (engine, *others)] == [""] * 4
    for one in others:
        assert await one.backups.daily() is None
        await one.close()
    assert await names(engine, owner) == ["daily-2026-01-15"]


async def test_a_failure_is_logged_told_and_tried_again_later(
    engine: Engine, owner: Actor, clock: Clock, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    (folder / "backups").write_text("in the way")
    with caplog.at_level(logging.ERROR):
        await engine.upkeep.once()
    assert "the daily backup failed" in caplog.text
    assert "is a file" in engine.backups.trouble
    (folder / "backups").unlink()
    await engine.upkeep.once()
    assert await engine.backups.latest() is None
    clock.advance(timedelta(hours=1))
    await engine.upkeep.once()
    assert engine.backups.trouble == ""
    assert (await engine.backups.latest()) is not None
