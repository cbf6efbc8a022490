"""Who did what: the audit trail."""

from datetime import timedelta

import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission
from commonplace.domain.doing import KEPT_FOR, Level
from commonplace.domain.errors import Forbidden, Invalid, NotFound, StoreFull
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.doings import MOST_NOTED, Trail
from commonplace.engine.memories import Reference
from commonplace.ports import Reading
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


async def user(engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key of {name}", permissions, user=name)
    return (await engine.access.authenticate(made.key)).through("test.tool", f"{name}/1")


def told(trail: Trail) -> list[str]:
    return [one.what for one in trail.doings]


async def test_changes_of_memories_are_the_trail_and_their_texts_are_not(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    memory = await engine.memories.remember(ann, Draft("a very secret text"))
    clock.advance(timedelta(seconds=1))
    await engine.memories.forget(ann, Reference(memory.id))
    trail = await engine.doings.latest(ann, 10)
    assert told(trail) == ["forgotten", "remembered"]
    assert trail.total == 2
    assert {one.subject for one in trail.doings} == {memory.id}
    assert {(one.user_name, one.by.tool, one.by.session) for one in trail.doings} == {("ann", "test.tool", "ann/1")}
    assert "secret" not in repr(trail)
    assert (await engine.doings.search(ann, "secret", 10)).total == 0


async def test_each_sees_its_own_doings_and_administrators_all(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    root = await user(engine, "root", ALL_PERMISSIONS)
    await engine.memories.remember(ann, Draft("ann's"))
    engine.doings.refused(ben, NotFound("memory", "x"))
    assert told(await engine.doings.latest(ann, 10)) == ["remembered"]
    assert told(await engine.doings.latest(ben, 10)) == ["refused: NotFound"]
    made = ["key created"] * 3  # by the person at the machine
    assert sorted(told(await engine.doings.latest(root, 10))) == [*made, "refused: NotFound", "remembered"]
    assert (await engine.doings.search(ben, "ann", 10)).total == 0
    assert told(await engine.doings.search(root, "BEN", 10)) == ["refused: NotFound"]


async def test_what_was_refused_is_told_by_the_name_of_the_error_only(engine: Engine) -> None:
    ann = await user(engine, "ann")
    engine.doings.refused(ann, Invalid("content", "is 'my secret' and that is wrong"))
    engine.doings.refused(ann, StoreFull("/somewhere", "no space"))
    engine.doings.failed(ann, ZeroDivisionError("secret"))
    trail = await engine.doings.latest(ann, 10)
    assert {one.what: one.level for one in trail.doings} == {
        "refused: Invalid": Level.WARNING,
        "refused: StoreFull": Level.ERROR,
        "failed: ZeroDivisionError": Level.ERROR,
    }
    assert "secret" not in repr(trail)
    assert (await engine.doings.latest(ann, 10, Level.ERROR)).total == 2


async def test_a_loop_of_refusals_is_one_entry_with_its_count(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    for _ in range(1000):
        engine.doings.refused(ann, NotFound("memory", "x"))
        clock.advance(timedelta(milliseconds=1))
    (one,) = (await engine.doings.latest(ann, 10)).doings
    assert (one.times, one.at) == (1000, clock.now() - timedelta(milliseconds=1))
    engine.doings.refused(ann, NotFound("memory", "x"))
    assert (await engine.doings.latest(ann, 10)).total == 2


async def test_what_waits_to_be_written_is_bounded_and_upkeep_writes_it(engine: Engine) -> None:
    ann = await user(engine, "ann")
    for number in range(MOST_NOTED + 10):
        engine.doings.refused(ann.through(f"tool{number}"), NotFound("memory", "x"))
    await engine.upkeep.once()

    def rows(tx: Reading) -> int:
        return sum(one.count for one in tx.doings.of_session("ann/1", ann.user))

    assert await engine.store.read(rows) == MOST_NOTED
    assert await engine.doings.flush() == 0


async def test_old_doings_go_and_events_of_memories_stay(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    clock.advance(timedelta(seconds=1))
    await engine.memories.remember(ann, Draft("kept"))
    engine.doings.refused(ann, NotFound("memory", "x"))
    await engine.doings.flush()
    clock.advance(KEPT_FOR)
    assert await engine.doings.prune() == 1  # that her key was made
    assert await engine.doings.prune() == 0
    clock.advance(timedelta(microseconds=1))
    assert await engine.doings.prune() == 1
    assert told(await engine.doings.latest(ann, 10)) == ["remembered"]


async def test_a_key_that_opens_only_a_part_has_no_trail(engine: Engine) -> None:
    ann = (await user(engine, "ann")).within(frozenset())
    with pytest.raises(Forbidden):
        await engine.doings.latest(ann, 10)
    with pytest.raises(Forbidden):
        await engine.doings.search(ann, "x", 10)
    with pytest.raises(NotFound):
        await engine.doings.session(ann, "ann/2")
    assert (await engine.doings.session(ann, "ann/1")).current


async def test_limits_and_passages_are_checked(engine: Engine) -> None:
    ann = await user(engine, "ann")
    for limit in (0, -1, 501):
        with pytest.raises(Invalid):
            await engine.doings.latest(ann, limit)
    for passage in ("", " ", "\ud800", "\x00"):
        with pytest.raises(Invalid):
            await engine.doings.search(ann, passage, 10)


async def test_a_session_is_known_to_who_acted_in_it_and_to_administrators(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    root = await user(engine, "root", ALL_PERMISSIONS)
    await engine.memories.remember(ann, Draft("one"))
    began = clock.now()
    clock.advance(timedelta(minutes=5))
    engine.doings.refused(ann.through("test.other"), NotFound("memory", "x"))
    for actor in (ann, root):
        found = await engine.doings.session(actor, "ann/1")
        assert (found.began_at, found.last_at, found.ended_at) == (began, clock.now(), None)
        assert [(one.tool, one.what, one.count) for one in found.stretches] == [
            ("test.tool", "remembered", 1),
            ("test.other", "refused: NotFound", 1),
        ]
        assert found.users == [(ann.user, "ann")]
    for name in ("ann/1", "nothing", "", "\ud7ff"):
        with pytest.raises(NotFound):
            await engine.doings.session(ben, name)


async def test_a_session_that_is_over_says_so_until_it_goes_on(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    await engine.doings.end_session(ann, "ann/1")
    with pytest.raises(NotFound):
        await engine.doings.end_session(ben, "ann/1")
    assert (await engine.doings.session(ann, "ann/1")).ended_at == clock.now()
    clock.advance(timedelta(seconds=1))
    await engine.memories.remember(ann, Draft("more"))
    assert (await engine.doings.session(ann, "ann/1")).ended_at is None
