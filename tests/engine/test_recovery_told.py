"""What is told of a part that is put back: what became of each thing in it, and by name what nobody may expect."""

from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.domain.backup import Part
from commonplace.domain.collection import SESSION_LENGTH, Kind
from commonplace.domain.memory import Change, Draft
from commonplace.domain.recovery import Fate, Notice, Recovered
from commonplace.engine import Engine
from tests.engine.test_collections import at, keep, project, user
from tests.engine.test_recovery import session
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


async def told(engine: Engine, actor: Actor, *kinds: str) -> Recovered:
    done = (await engine.backups.restore(actor, "first", kinds)).recovered
    assert done
    return done


def figures(recovered: Recovered, part: Part) -> dict[str, int]:
    return {fate.value: count for fate, count in recovered.of(part)}


def notice(part: Part, of: str, fate: Fate, **more: Any) -> tuple[Any, ...]:
    return plain(Notice(part, of, fate, **more))


def plain(one: Notice) -> tuple[Any, ...]:
    return one.part, one.id, one.fate, tuple(one.returned), tuple(one.otherwise), one.other


async def test_of_memories_it_is_told_which_came_back_which_were_changed_and_which_stay(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    home = await project(engine, owner)
    gone, changed, moved, same = [await keep(engine, owner, text) for text in ("gone", "changed", "moved", "same")]
    await engine.memories.remember(owner, Draft("short", ttl=timedelta(hours=1)))
    ending = await keep(engine, owner, "ending")
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(gone))
    await engine.memories.revise(owner, at(changed), Change("later", tags=("x",)))
    await engine.collections.move(owner, [at(moved)], home)
    await engine.memories.set_end(owner, at(ending), timedelta(days=9))
    clock.advance(timedelta(hours=2))
    done = await told(engine, owner, "memories")
    assert figures(done, Part.MEMORIES) == {
        "put_back": 1, "changed_back": 1, "unchanged": 1, "kept_newer": 2, "over": 1
    }  # fmt: skip
    assert {plain(one) for one in done.notices} == {
        notice(Part.MEMORIES, changed.id, Fate.CHANGED_BACK, returned=("content", "tags")),
        notice(Part.MEMORIES, moved.id, Fate.KEPT, otherwise=("place",)),
        notice(Part.MEMORIES, ending.id, Fate.KEPT, otherwise=("end",)),
    }
    assert (await engine.memories.get(owner, at(same))).version == 1
    again = await told(engine, owner, "memories")
    assert figures(again, Part.MEMORIES) == {"unchanged": 3, "kept_newer": 2, "over": 1}


async def test_of_a_memory_whose_project_is_gone_it_is_told_that_it_lies_elsewhere(
    engine: Engine, owner: Actor
) -> None:
    home = await project(engine, owner)
    gone, stays = await keep(engine, owner, "gone", home), await keep(engine, owner, "stays", home)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(gone))
    await engine.collections.dissolve(owner, Kind.PROJECT, home)
    done = await told(engine, owner, "memories")
    assert {plain(one) for one in done.notices} == {
        notice(Part.MEMORIES, gone.id, Fate.PUT_BACK, otherwise=("place",)),
        notice(Part.MEMORIES, stays.id, Fate.KEPT, otherwise=("place",)),
    }


async def test_of_projects_it_is_told_what_is_newer_and_what_did_not_come_back_with_them(
    engine: Engine, owner: Actor
) -> None:
    anna = await user(engine, "anna")
    renamed, joined, same, gone, empty = [await project(engine, owner, anna=Right.WRITE) for _ in range(5)]
    await keep(engine, owner, "ours", gone)
    await engine.backups.create(owner, "first")
    await engine.collections.describe(owner, Kind.PROJECT, renamed, "new name", "new words")
    await engine.collections.remove_member(owner, Kind.PROJECT, joined, "anna")
    await engine.collections.remove_member(owner, Kind.PROJECT, gone, "anna")
    for place in (gone, empty):
        await engine.collections.dissolve(owner, Kind.PROJECT, place)
    done = await told(engine, owner, "projects")
    assert figures(done, Part.PROJECTS) == {"put_back": 2, "unchanged": 1, "kept_newer": 2}
    assert {plain(one) for one in done.notices} == {
        notice(Part.PROJECTS, renamed, Fate.KEPT, otherwise=("name", "description")),
        notice(Part.PROJECTS, joined, Fate.KEPT, otherwise=("members",)),
        notice(Part.PROJECTS, gone, Fate.PUT_BACK, otherwise=("members", "memories")),
    }
    assert (await engine.collections.get(anna, Kind.PROJECT, same)).collection.id == same


async def test_of_sessions_it_is_told_which_are_over_and_whose_memories_went_with_them(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    short, long = await session(engine, owner, "short", timedelta(hours=1)), await session(engine, owner, "long")
    tonight = await engine.memories.remember(owner, Draft("tonight", home=long, ttl=timedelta(hours=20)))
    await engine.backups.create(owner, "first")
    for place in (short, long):
        await engine.collections.end_session(owner, place)
    clock.advance(timedelta(hours=2))
    done = await told(engine, owner, "memories")
    assert figures(done, Part.MEMORIES) == {"session_gone": 1}
    assert [plain(one) for one in done.notices] == [notice(Part.MEMORIES, tonight.id, Fate.SESSION_GONE)]
    done = await told(engine, owner, "sessions", "memories")
    assert figures(done, Part.SESSIONS) == {"put_back": 1, "over": 1}
    assert (figures(done, Part.MEMORIES), done.notices) == ({"put_back": 1}, [])
    clock.advance(SESSION_LENGTH)
    done = await told(engine, owner, "sessions", "memories")
    assert figures(done, Part.SESSIONS) == {"unchanged": 1, "over": 1}


async def test_of_associations_it_is_told_which_lead_to_what_is_gone(engine: Engine, owner: Actor) -> None:
    one, two, three, four = [await keep(engine, owner, text) for text in ("one", "two", "three", "four")]
    for first, second, strength in ((one, two, 0.5), (two, three, 0.5), (three, four, 0.5), (one, four, 0.5)):
        await engine.links.connect(owner, at(first), at(second), strength)
    await engine.backups.create(owner, "first")
    await engine.links.disconnect(owner, at(one), at(two))
    await engine.links.disconnect(owner, at(one), at(four))
    await engine.links.connect(owner, at(one), at(four), 1.0)
    await engine.memories.forget(owner, at(three))
    done = await told(engine, owner, "associations")
    assert figures(done, Part.ASSOCIATIONS) == {"put_back": 1, "kept_newer": 1, "end_gone": 2}
    assert {plain(one) for one in done.notices} == {
        notice(Part.ASSOCIATIONS, two.id, Fate.END_GONE, other=three.id),
        notice(Part.ASSOCIATIONS, three.id, Fate.END_GONE, other=four.id),
    }
    again = await engine.backups.restore(owner, "first", ["associations"])
    assert again.safety is None


async def test_what_lies_in_spaces_is_counted(engine: Engine, owner: Actor) -> None:
    await engine.spaces.found(owner, "work", "", "# Rules", "")
    await engine.notes.write(owner, "work", "decision", "we take Redis", "ann", ())
    await engine.backups.create(owner, "first")
    done = await told(engine, owner, "memories")
    assert done.fates[Part.MEMORIES, Fate.IN_SPACE] > 0
    assert done.notices == []
