"""Who is here: said, fading with silence, seen by those who share something."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid
from commonplace.domain.memory import Draft
from commonplace.domain.presence import Focus, Presence, Status
from commonplace.domain.team import Role, Team, TeamId
from commonplace.engine import Engine
from commonplace.ports import Transaction
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

TEAM = "01890a5d-ac96-774b-bcce-b302099a8057"


async def user(engine: Engine, name: str) -> Actor:
    allowed = frozenset({Permission.READ, Permission.WRITE})
    made = await engine.access.create_key(f"key of {name}", allowed, user=name)
    return (await engine.access.authenticate(made.key)).through("test", f"session of {name}")


@pytest.fixture
async def ann(engine: Engine) -> Actor:
    return await user(engine, "ann")


@pytest.fixture
async def ben(engine: Engine) -> Actor:
    return await user(engine, "ben")


async def befriend(engine: Engine, *actors: Actor) -> None:
    """Put them into a team."""

    def work(tx: Transaction) -> None:
        tx.teams.add(Team(TeamId(TEAM), "a team", "", engine.clock.now()))
        for actor in actors:
            tx.teams.put_mate(TeamId(TEAM), actor.user, Role.MEMBER, actor.user, engine.clock.now())

    await engine.store.write(work)


async def seen(engine: Engine, viewer: Actor) -> list[tuple[str, str]]:
    return [(one.name, one.status.value) for one in await engine.attendance.present(viewer)]


async def test_what_is_left_out_stays(engine: Engine, ann: Actor, clock: Clock) -> None:
    first = await engine.attendance.update(ann)
    assert (first.name, first.status, first.focus) == ("ann", Status.ACTIVE, None)
    focus = Focus("search", "", "設計レビュー中")
    await engine.attendance.update(ann, focus=focus)
    await engine.attendance.update(ann, status=Status.BUSY)
    clock.advance(timedelta(seconds=5))
    last = await engine.attendance.update(ann, name=" creo-lead ")
    assert (last.name, last.status, last.focus) == ("creo-lead", Status.BUSY, focus)
    assert last.seen_at - last.connected_at == timedelta(seconds=5)
    assert list(await engine.attendance.present(ann)) == [last]


async def test_each_connection_stands_for_itself(engine: Engine, ann: Actor) -> None:
    other = ann.through("test", "another session")
    await engine.attendance.update(ann, status=Status.BUSY)
    await engine.attendance.update(other)
    assert sorted(await seen(engine, ann)) == [("ann", "active"), ("ann", "busy")]
    names = {one.connection for one in await engine.attendance.present(ann)}
    assert len(names) == 2
    assert not any("session" in name for name in names), "the name of a session may be what opens it"


async def test_silence_is_away_and_long_silence_is_gone(engine: Engine, ann: Actor, clock: Clock) -> None:
    await engine.attendance.update(ann, status=Status.BUSY)
    for seconds, expected in ((59, ["busy"]), (1, ["away"]), (539, ["away"]), (1, [])):
        clock.advance(timedelta(seconds=seconds))
        assert [status for _, status in await seen(engine, ann)] == expected
    back = await engine.attendance.update(ann)
    assert (back.status, back.connected_at) == (Status.ACTIVE, clock.now()), "it comes anew"


async def test_a_sign_of_life_is_written_in_the_background_and_not_often(
    engine: Engine, ann: Actor, clock: Clock
) -> None:
    async def written() -> Presence | None:
        await engine.attendance.keep()
        found = await engine.attendance.present(ann)
        return found[0] if found else None

    assert await written() is None
    engine.attendance.alive(ann)
    assert await engine.attendance.present(ann) == [], "no call waits for it"
    first = await written()
    assert first is not None
    clock.advance(timedelta(seconds=19))
    engine.attendance.alive(ann)
    assert await written() == first
    clock.advance(timedelta(seconds=1))
    engine.attendance.alive(ann)
    assert await written() == replace(first, seen_at=clock.now())
    clock.advance(timedelta(seconds=60))
    assert [status for _, status in await seen(engine, ann)] == ["away"]
    engine.attendance.alive(ann)
    await engine.attendance.keep()
    assert [status for _, status in await seen(engine, ann)] == ["active"]


async def test_only_what_looks_different_is_a_change(engine: Engine, ann: Actor, clock: Clock) -> None:
    async def changes() -> int:
        return await engine.store.read(lambda tx: tx.attendance.last_change())

    async def sign() -> int:
        engine.attendance.alive(ann)
        await engine.attendance.keep()
        return await changes()

    appeared = await sign()
    clock.advance(timedelta(seconds=30))
    assert await sign() == appeared
    clock.advance(timedelta(seconds=70))
    assert await sign() > appeared, "it was away"


async def test_who_leaves_is_gone_at_once_and_forgotten_later(engine: Engine, ann: Actor, clock: Clock) -> None:
    await engine.attendance.update(ann)
    engine.attendance.alive(ann)
    await engine.attendance.leave(ann)
    await engine.attendance.keep()
    assert await seen(engine, ann) == []
    assert await engine.attendance.everyone() == {}
    clock.advance(timedelta(minutes=10))
    await engine.upkeep.once()
    assert not await engine.store.read(lambda tx: tx.attendance.overdue(clock.now()))
    await engine.attendance.leave(ann)


async def test_others_are_seen_where_something_is_shared(engine: Engine, ann: Actor, ben: Actor) -> None:
    for actor in (ann, ben):
        await engine.attendance.update(actor)
    await engine.memories.remember(ann, Draft("both may read what is everyone's, which is nothing shared"))
    assert await seen(engine, ann) == [("ann", "active")]
    assert await engine.attendance.present(ann, ben.user) == []
    made = (await engine.collections.found(ann, Kind.PROJECT, "together")).collection
    await engine.collections.add_member(ann, Kind.PROJECT, made.id, "ben", Right.READ)
    assert sorted(await seen(engine, ann)) == sorted(await seen(engine, ben)) == [("ann", "active"), ("ben", "active")]
    assert [one.user for one in await engine.attendance.present(ann, ben.user)] == [ben.user]
    await engine.collections.remove_member(ann, Kind.PROJECT, made.id, "ben")
    assert await seen(engine, ben) == [("ben", "active")]


async def test_a_place_that_has_ended_is_shared_no_more(engine: Engine, ann: Actor, ben: Actor, clock: Clock) -> None:
    length = timedelta(hours=1)
    made = (await engine.collections.found(ann, Kind.SESSION, "for an hour", length=length)).collection
    await engine.store.write(lambda tx: tx.grant(ben.user, made.number, Right.READ, ann.user, clock.now()))
    await engine.attendance.update(ann)
    assert len(await seen(engine, ben)) == 1
    clock.advance(length)
    await engine.attendance.update(ann)
    assert await seen(engine, ben) == []


async def test_teammates_see_each_other_but_not_what_only_one_may_see(engine: Engine, ann: Actor, ben: Actor) -> None:
    await befriend(engine, ann, ben)
    memory = await engine.memories.remember(ann, Draft("her own"))
    atlas = (await engine.collections.found(ann, Kind.ATLAS, "hers")).collection
    hidden = (
        Focus("memory", f"memories:{memory.id}", "what it is about"),
        Focus("atlas", f"atlas:{atlas.id}", "what it is about"),
        Focus("search", memory.id, "what it is about"),
        Focus("memory", f"memories:{TEAM}", "there is none, and nobody can tell"),
    )
    for focus in hidden:
        await engine.attendance.update(ann, focus=focus)
        (own,) = await engine.attendance.present(ann, ann.user)
        (foreign,) = await engine.attendance.present(ben, ann.user)
        assert (own.focus, foreign.focus) == (focus, Focus(focus.kind))
    shown = Focus("search", "", "looking for something")
    await engine.attendance.update(ann, focus=shown)
    assert [one.focus for one in await engine.attendance.present(ben, ann.user)] == [shown]
    await engine.store.write(lambda tx: tx.grant(ben.user, atlas.number, Right.READ, ann.user, engine.clock.now()))
    await engine.attendance.update(ann, focus=hidden[1])
    assert [one.focus for one in await engine.attendance.present(ben, ann.user)] == [hidden[1]]


async def test_what_is_said_has_limits(engine: Engine, ann: Actor) -> None:
    for focus, name in (
        (Focus("idle", "", "x" * 1001), None),
        (Focus("idle", "", "\ud800"), None),
        (Focus("idle", "x" * 201), None),
        (None, " "),
        (None, "x" * 201),
        (None, "a\x00b"),
    ):
        with pytest.raises(Invalid):
            await engine.attendance.update(ann, focus=focus, name=name)
    assert await seen(engine, ann) == []


async def test_a_limited_key_is_neither_here_nor_sees_others(engine: Engine, ann: Actor) -> None:
    limited = ann.within(frozenset())
    with pytest.raises(Forbidden):
        await engine.attendance.update(limited)
    with pytest.raises(Forbidden):
        await engine.attendance.present(limited)
    engine.attendance.alive(limited)
    await engine.attendance.keep()
    assert await seen(engine, ann) == []
