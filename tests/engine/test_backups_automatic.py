"""The backups that are made by themselves, each day and where a store grows fast."""

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from tests.engine.test_backups import another, names
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


async def test_what_killed_processes_left_goes_at_the_start_of_the_next_and_every_day(
    folder: Path, clock: Clock, engine: Engine, owner: Actor
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    place = Path(engine.backups.location)
    left = [folder / ".restoring-0123abcd", place / ".first.0123abcd", place / ".second.0123abcd"]

    def leave() -> None:
        for one in left:
            one.mkdir()
            for name in ("commonplace.lock", "commonplace.db"):
                (one / name).touch()

    for _ in range(2):
        leave()
        next_one = another(folder, clock, backup_daily=False)
        await next_one.upkeep.once()
        assert [one for one in left if one.exists()] == []
        leave()
        clock.advance(DAY)
        await next_one.upkeep.once()
        assert [one for one in left if one.exists()] == []
        await next_one.close()


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


async def test_those_of_a_store_that_is_gone_stay_however_old_they_are(
    engine: Engine, owner: Actor, clock: Clock, folder: Path
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    for _ in range(3):
        await engine.upkeep.once()
        clock.advance(DAY)
    lost = await names(engine, owner)
    await engine.close()
    for file in folder.glob("commonplace.db*"):
        file.unlink()
    anew = another(folder, clock)
    person = await anew.access.local_owner()
    await anew.memories.remember(person, Draft("two"))
    for _ in range(12):
        await anew.upkeep.once()
        clock.advance(DAY)
    found = await names(anew, person)
    assert found[:3] == lost
    assert len(found[3:]) == 8
    await anew.close()


async def test_of_several_processes_one_makes_it(engine: Engine, owner: Actor, clock: Clock, folder: Path) -> None:
    await engine.memories.remember(owner, Draft("one"))
    others = [another(folder, clock) for _ in range(3)]
    made = await asyncio.gather(*(one.backups.automatic() for one in (engine, *others)))
    assert len([backup for backup in made if backup]) == 1
    assert [one.backups.trouble for one in (engine, *others)] == [""] * 4
    for one in others:
        assert await one.backups.automatic() is None
        await one.close()
    assert await names(engine, owner) == ["daily-2026-01-15"]


async def grown(engine: Engine, owner: Actor, memories: int) -> None:
    """To so many."""
    for number in range(await engine.store.read(lambda tx: tx.size()), memories):
        await engine.memories.remember(owner, Draft(f"memory {number}"))


async def test_a_store_that_grows_fast_is_backed_up_again_within_the_day(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    await grown(engine, owner, 3)
    await engine.upkeep.once()
    await grown(engine, owner, 40)
    clock.advance(timedelta(minutes=59))
    await engine.upkeep.once()
    assert await names(engine, owner) == ["daily-2026-01-15"]
    clock.advance(timedelta(minutes=1))
    for _ in range(2):
        await engine.upkeep.once()
        assert await names(engine, owner) == ["daily-2026-01-15", "grown-20260115-130000"]
    latest = await engine.backups.latest()
    assert latest
    assert latest.memories == 40


async def test_of_several_processes_one_backs_up_what_has_grown(
    engine: Engine, owner: Actor, clock: Clock, folder: Path
) -> None:
    await grown(engine, owner, 3)
    others = [another(folder, clock) for _ in range(3)]
    every = (engine, *others)
    for _ in range(2):
        await asyncio.gather(*(one.backups.automatic() for one in every))
    await grown(engine, owner, 6)
    clock.advance(timedelta(hours=1))
    made = [one for _ in range(2) for one in await asyncio.gather(*(each.backups.automatic() for each in every))]
    assert [one.name for one in made if one] == ["grown-20260115-130000"]
    assert [one.backups.trouble for one in every] == [""] * 4
    for one in others:
        await one.close()


async def test_what_was_made_for_growth_goes_like_the_daily_ones(engine: Engine, owner: Actor, clock: Clock) -> None:
    await grown(engine, owner, 1)
    await engine.upkeep.once()
    for memories in (2, 4, 8):
        clock.advance(timedelta(hours=1))
        await grown(engine, owner, memories)
        await engine.upkeep.once()
    assert len([name for name in await names(engine, owner) if name.startswith("grown-")]) == 3
    for _ in range(9):
        clock.advance(DAY)
        await engine.upkeep.once()
    assert not [name for name in await names(engine, owner) if name.startswith("grown-")]


async def test_a_store_that_was_put_back_to_its_beginning_and_grows_again_is_backed_up_again(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    await grown(engine, owner, 2)
    await engine.upkeep.once()
    await grown(engine, owner, 9)
    clock.advance(timedelta(hours=1))
    await engine.backups.restore(owner, "daily-2026-01-15")
    await engine.upkeep.once()
    await grown(engine, owner, 4)
    await engine.upkeep.once()
    assert (await names(engine, owner))[-1].startswith("grown-")


async def test_a_failure_is_logged_told_and_tried_again_later(
    engine: Engine, owner: Actor, clock: Clock, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await engine.memories.remember(owner, Draft("one"))
    (folder / "backups").write_text("in the way")
    with caplog.at_level(logging.ERROR):
        await engine.upkeep.once()
    assert "the automatic backup failed" in caplog.text
    assert "is a file" in engine.backups.trouble
    (folder / "backups").unlink()
    await engine.upkeep.once()
    assert await engine.backups.latest() is None
    clock.advance(timedelta(hours=1))
    await engine.upkeep.once()
    assert engine.backups.trouble == ""
    assert (await engine.backups.latest()) is not None
