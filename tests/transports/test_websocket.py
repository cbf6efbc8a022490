"""The WebSocket: who is let in, what is pushed to whom, and that nothing is lost or doubled."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from starlette.types import ASGIApp

from commonplace.domain.access import Permission
from commonplace.domain.collection import Kind
from commonplace.domain.memory import Change, Draft
from commonplace.domain.watch import Channel, Wish
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from commonplace.transports.limits import Limits, share
from commonplace.transports.mcp import ACTOR
from commonplace.transports.switchboard import MOST_LINES, ROOM, Line, Switchboard
from commonplace.transports.websocket import Sockets
from tests.fakes import Clock
from tests.transports.calling import PATIENCE, Caller, Person, application, person, shared, watch

pytestmark = pytest.mark.anyio


@pytest.fixture
async def ann(engine: Engine) -> Person:
    return await person(engine, "ann")


@pytest.fixture
async def ben(engine: Engine) -> Person:
    return await person(engine, "ben")


@pytest.fixture
async def app(engine: Engine) -> AsyncIterator[ASGIApp]:
    async with application(engine) as running:
        yield running


# What is pushed


async def test_changes_are_pushed_in_order_from_the_hello_on(engine: Engine, app: ASGIApp, ann: Person) -> None:
    await watch(engine, ann)
    before = await engine.memories.remember(ann.actor, Draft("before"))
    line = await Caller(app, ann.key).open()
    assert set(line.hello) == {"type", "connection", "session", "user", "lastEvent"}
    assert line.hello["user"] == f"users:{ann.actor.user}"
    between = await engine.memories.remember(ann.actor, Draft("between the hellos"))
    missed = await line.listen()
    assert [one["memoryId"] for one in missed] == [between.id], "nothing is lost between its hello and the client's"
    await engine.memories.revise(ann.actor, Reference(before.id), Change(content="changed\n", tags=("a",)))
    await engine.memories.forget(ann.actor, Reference(between.id))
    updated, deleted = await line.next(), await line.next()
    assert (updated["type"], updated["excerpt"], updated["tags"]) == ("memory:updated", "changed", ["a"])
    assert (deleted["type"], deleted["memoryId"]) == ("memory:deleted", between.id)
    assert "excerpt" not in deleted
    assert set(deleted) == {"type", "eventNumber", "subscriptionIds", "memoryId", "actor", "at"}
    await line.hang_up()


async def test_only_subscriptions_of_this_channel_are_pushed(engine: Engine, app: ASGIApp, ann: Person) -> None:
    await engine.watches.add(ann.actor, Wish(channel=Channel.MCP))
    first = await engine.watches.add(ann.actor, Wish(channel=Channel.WEBSOCKET, tags=("x",)))
    second = await engine.watches.add(ann.actor, Wish(channel=Channel.WEBSOCKET, category="design"))
    line = await Caller(app, ann.key, "/creo/ws").open()
    await line.listen()
    await engine.memories.remember(ann.actor, Draft("neither"))
    await engine.memories.remember(ann.actor, Draft("both", tags=("x",), category="design"))
    told = await line.next()
    assert (told["excerpt"], told["subscriptionIds"]) == (
        "both",
        [f"subscriptions:{first.id}", f"subscriptions:{second.id}"],
    )
    assert len((await engine.watches.take(ann.actor, 50)).news) == 2, "what is pushed takes nothing from the other"


async def test_nobody_is_told_what_he_may_not_see(engine: Engine, app: ASGIApp, ann: Person, ben: Person) -> None:
    await watch(engine, ann, ben)
    together = await shared(engine, ann, "ben")
    line = await Caller(app, ben.key).open()
    await line.listen()
    await engine.memories.remember(ann.actor, Draft("her own"))
    await engine.memories.remember(ann.actor, Draft("shared", home=together.id))
    assert (await line.next())["excerpt"] == "shared"
    await engine.memories.remember(ann.actor, Draft("shared too", home=together.id))
    await engine.collections.remove_member(ann.actor, Kind.PROJECT, together.id, "ben")
    await engine.memories.remember(ben.actor, Draft("his own"))
    told = await line.next()
    while told["excerpt"] == "shared too":  # it may have been pushed before he was removed
        told = await line.next()
    assert told["excerpt"] == "his own"
    assert [one["excerpt"] for one in await line.listen(0) if "excerpt" in one] == ["his own"]


async def test_whoever_comes_back_gets_what_was_missed_once_and_in_order(
    engine: Engine, app: ASGIApp, ann: Person
) -> None:
    await watch(engine, ann)
    line = await Caller(app, ann.key).open()
    await line.listen()
    await engine.memories.remember(ann.actor, Draft("heard"))
    last = (await line.next())["eventNumber"]
    await line.hang_up()
    for number in range(600):
        await engine.memories.remember(ann.actor, Draft(f"missed {number}"))
    again = await Caller(app, ann.key).open()
    missed = await again.listen(last)
    assert [one["excerpt"] for one in missed] == [f"missed {number}" for number in range(600)]
    assert again.hello["complete"] is True
    assert again.hello["through"] == await engine.events.last()
    await engine.memories.remember(ann.actor, Draft("live"))
    assert (await again.next())["excerpt"] == "live"
    assert [one["excerpt"] for one in await again.listen(again.hello["through"])] == ["live"], "as often as asked"


async def test_a_client_is_told_when_what_it_asks_for_is_no_longer_kept(
    engine: Engine, app: ASGIApp, ann: Person, clock: Clock
) -> None:
    await watch(engine, ann)
    await engine.memories.remember(ann.actor, Draft("old"))
    clock.advance(timedelta(days=31))
    await engine.watches.prune()
    line = await Caller(app, ann.key).open()
    assert (await line.listen(0), line.hello["complete"]) == ([], False)
    assert (await line.listen(10**9), line.hello["complete"]) == ([], False)
    assert line.hello["through"] == await engine.events.last()
    assert (await line.listen(line.hello["through"]), line.hello["complete"]) == ([], True)


async def test_two_hundred_clients_hear_a_thousand_changes_each_once_and_in_order(
    engine: Engine, app: ASGIApp, ann: Person
) -> None:
    """Half of them break off in the middle and come back."""
    people = [ann, *[await person(engine, f"user {number}") for number in range(19)]]
    await watch(engine, *people)
    together = await shared(engine, ann, *(f"user {number}" for number in range(19)))
    lines = [await Caller(app, people[number % 20].key).open() for number in range(200)]
    for line in lines:
        await line.listen()

    async def hears(number: int, line: Caller) -> list[int]:
        heard: list[int] = []
        while len(heard) < 1000:
            heard.append((await line.next())["eventNumber"])
            if len(heard) == 300 + number and number % 2:
                await line.hang_up()
                line = await Caller(app, people[number % 20].key).open()
                heard += [one["eventNumber"] for one in await line.listen(heard[-1]) if one["type"] != "presence"]
        return heard

    async def speaks() -> list[int]:
        drafts = iter(range(1000))

        async def some() -> None:
            for draft in drafts:
                await engine.memories.remember(ann.actor, Draft(f"change {draft}", home=together.id))

        start = await engine.events.last()
        await asyncio.gather(*(some() for _ in range(8)))
        return list(range(start + 1, start + 1001))

    expected, *heard = await asyncio.gather(speaks(), *(hears(number, line) for number, line in enumerate(lines)))
    assert all(one == expected for one in heard)


# Who is here


async def test_presence_is_told_to_those_who_may_see_it(
    engine: Engine, app: ASGIApp, ann: Person, ben: Person, clock: Clock
) -> None:
    stranger = await person(engine, "stranger")
    await shared(engine, ann, "ben")
    lines = [await Caller(app, one.key).open() for one in (ann, stranger)]
    for line in lines:
        await line.listen()
    watching, apart = lines
    here = await Caller(app, ben.key).open()
    arrived = await watching.next("presence")
    while arrived["connectionId"] != here.hello["connection"]:
        arrived = await watching.next("presence")
    assert (arrived["userId"], arrived["status"]) == (f"users:{ben.actor.user}", "active")
    here.say({"type": "presence", "status": "busy", "displayName": "lead", "currentFocus": {"type": "search"}})
    busy = await watching.next("presence")
    assert (busy["displayName"], busy["status"], busy["currentFocus"]) == ("lead", "busy", {"type": "search"})
    clock.advance(timedelta(seconds=61))
    away = [await watching.next("presence") for _ in range(1)]
    assert {one["status"] for one in away} == {"away"}
    here.say({"type": "heartbeat"})
    assert (await here.next("pong"))["type"] == "pong"
    await engine.attendance.keep()
    assert (await watching.next("presence"))["status"] == "busy"
    await here.hang_up()
    assert (await watching.next("presence"))["status"] == "gone"
    apart.say({"type": "heartbeat"})
    await apart.next("pong")
    assert [one for one in apart.pending() if one.get("userId") != f"users:{stranger.actor.user}"] == []


async def test_who_comes_before_the_first_look_is_told_too(engine: Engine, ann: Person, ben: Person) -> None:
    await shared(engine, ann, "ben")
    sockets = Sockets(engine, Settings(), Limits.of(Settings()))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await sockets({**scope, ACTOR: ben.actor}, receive, send)

    line = await Caller(app, "").open()
    await line.listen()
    await engine.attendance.update(ann.actor)
    async with sockets.running():
        assert (await line.next("presence"))["userId"] == f"users:{ann.actor.user}"
        await line.hang_up()


async def test_who_is_here_already_is_told_after_hello(engine: Engine, app: ASGIApp, ann: Person, ben: Person) -> None:
    await shared(engine, ann, "ben")
    stranger = await Caller(app, (await person(engine, "stranger")).key).open()
    hers, his = await Caller(app, ann.key).open(), await Caller(app, ben.key).open()
    for line, other in ((hers, his), (his, hers)):
        await line.listen()
        told = await line.next("presence")
        assert (told["connectionId"], told["status"]) == (other.hello["connection"], "active")
    await stranger.listen()
    stranger.say({"type": "heartbeat"})
    assert (await stranger.message())["type"] == "pong", "who shares nothing is told of nobody"


async def test_a_client_that_has_missed_much_is_told_who_is_here_and_not_let_go(
    engine: Engine, app: ASGIApp, ann: Person
) -> None:
    await watch(engine, ann)
    line, other = await Caller(app, ann.key).open(), await Caller(app, ann.key).open()
    for number in range(ROOM):
        await engine.memories.remember(ann.actor, Draft(f"missed {number}"))
    line.takes.clear()
    line.say({"type": "resume", "after": 0})
    await asyncio.sleep(0.5)  # it takes nothing yet: one message is on its way, and the others fill the room
    line.takes.set()
    told = [await line.message()]
    while told[-1].get("connectionId") != other.hello["connection"]:
        told.append(await line.message())
    assert line.closed is None


async def test_a_focus_is_told_without_what_the_other_may_not_see(
    engine: Engine, app: ASGIApp, ann: Person, ben: Person
) -> None:
    await shared(engine, ann, "ben")
    secret = await engine.memories.remember(ann.actor, Draft("her own"))
    line = await Caller(app, ben.key).open()
    await line.listen()
    await engine.attendance.update(ann.actor)
    await line.next("presence")
    here = await Caller(app, ann.key).open()
    await line.next("presence")
    here.say({"type": "presence", "currentFocus": {"type": "memory", "targetId": secret.id, "description": "plan"}})
    assert (await line.next("presence"))["currentFocus"] == {"type": "memory"}


# Who is let in, and for how long


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 401),
        ((("authorization", "Bearer cp_wrong"),), 401),
        ((("origin", "https://evil.example"),), 403),
        ((("origin", "null"),), 403),
        ((("host", "evil.example"),), 421),
    ],
)
async def test_without_a_credential_or_from_elsewhere_nobody_is_let_in(
    app: ASGIApp, ann: Person, headers: tuple[tuple[str, str], ...], status: int
) -> None:
    key = "" if status == 401 else ann.key
    assert (await Caller(app, key).open(*headers)).status == status


async def test_a_page_of_this_machine_is_let_in(app: ASGIApp, ann: Person) -> None:
    line = await Caller(app, ann.key).open(("origin", "http://localhost:3000"))
    assert line.hello["type"] == "hello"


async def test_a_key_that_may_not_read_all_of_its_users_is_refused(engine: Engine, app: ASGIApp, ann: Person) -> None:
    writing = await person(engine, "ann", Permission.WRITE)
    assert (await Caller(app, writing.key).open()).status == 403
    board = Sockets(engine, Settings(), Limits.of(Settings()))
    heard: list[Any] = []

    async def take(message: Any) -> None:
        heard.append(message)

    limited = {"type": "websocket", ACTOR: ann.actor.within(frozenset()), "headers": [], "path": "/ws"}
    await board(limited, asyncio.Queue[Any]().get, take)
    assert heard[0]["status"] == 403


async def test_a_key_that_only_reads_is_enough_to_listen(engine: Engine, app: ASGIApp, ann: Person) -> None:
    await watch(engine, ann)
    reading = await person(engine, "ann", Permission.READ)
    line = await Caller(app, reading.key).open()
    await line.listen()
    await engine.memories.remember(ann.actor, Draft("told"))
    assert (await line.next())["excerpt"] == "told"


async def test_a_key_that_only_reads_says_nothing_of_itself(engine: Engine, app: ASGIApp, ann: Person) -> None:
    reading = await person(engine, "ann", Permission.READ)
    line = await Caller(app, reading.key).open()
    await line.listen()
    line.say({"type": "presence", "status": "busy"})
    assert "write" in (await line.next("error"))["message"]


async def test_there_is_an_end_to_how_many_are_let_in_and_nobody_takes_all(
    engine: Engine, ann: Person, ben: Person
) -> None:
    board = Switchboard(engine)
    sockets = Sockets(engine, Settings(), Limits.of(Settings()), board)

    async def refused(who: Person) -> int:
        heard: list[Any] = []

        async def take(message: Any) -> None:
            heard.append(message)

        scope = {"type": "websocket", ACTOR: who.actor, "headers": [], "path": "/ws"}
        await sockets(scope, asyncio.Queue[Any]().get, take)
        assert (b"retry-after", b"30") in heard[0]["headers"]
        return int(heard[0]["status"])

    for number in range(share(MOST_LINES)):
        board.add(Line(ann.actor.through("test", f"line {number}")))
    assert await refused(ann) == 429
    for number in range(MOST_LINES - share(MOST_LINES)):
        board.add(Line(ben.actor.through("test", f"line {number}")))
    assert await refused(ben) == 503
    assert len(sockets) == MOST_LINES


async def test_a_revoked_key_closes_its_lines_before_anything_more_is_told(
    engine: Engine, app: ASGIApp, ann: Person
) -> None:
    await watch(engine, ann)
    other = await person(engine, "ann")
    revoked, kept = [await Caller(app, key).open() for key in (ann.key, other.key)]
    for line in (revoked, kept):
        await line.listen()
    await engine.access.revoke_key(ann.actor.credential)
    await engine.memories.remember(ann.actor, Draft("after that"))
    assert (await kept.next())["excerpt"] == "after that"
    await revoked.over()
    assert revoked.closed == 4401
    assert not [one for one in revoked.pending() if one["type"].startswith("memory")]
    silent = await Caller(app, other.key).open()
    await engine.access.revoke_key(other.actor.credential)
    silent.say({"type": "resume", "after": 0})
    await silent.over()
    assert silent.closed == 4401
    assert not [one for one in silent.pending() if one["type"].startswith("memory")]


async def test_a_revoked_key_closes_a_line_that_has_nothing_to_hear(engine: Engine, app: ASGIApp, ann: Person) -> None:
    line = await Caller(app, ann.key).open()
    await engine.access.revoke_key(ann.actor.credential)
    await line.over()
    assert line.closed == 4401


# What goes wrong


async def test_what_makes_no_sense_is_answered_and_changes_nothing(engine: Engine, app: ASGIApp, ann: Person) -> None:
    await watch(engine, ann)
    line = await Caller(app, ann.key).open()
    await line.listen()
    nonsense: list[Any] = [
        "",
        "{",
        "[" * 100_000,
        [1],
        None,
        {"type": "nothing"},
        {"type": ["hello"]},
        {"type": "resume", "after": -1},
        {"type": "resume", "after": True},
        {"type": "resume", "after": "1"},
        {"type": "resume", "after": 2**64},
        {"type": "ack"},
        {"type": "presence", "status": "asleep"},
        {"type": "presence", "displayName": "\ud800"},
        {"type": "presence", "user": "someone"},
    ]
    for message in nonsense:
        line.say(message)
        answer = await line.message()
        assert answer["type"] == "error", (message, answer)
        assert len(answer["message"]) < 500
    line.say_bytes(b"\x00\xff")
    assert (await line.message())["type"] == "error"
    line.say({"type": "ack", "eventNumber": 1})
    await engine.memories.remember(ann.actor, Draft("goes on"))
    assert (await line.message())["excerpt"] == "goes on"


async def test_a_client_that_takes_nothing_is_let_go_and_holds_nobody_up(engine: Engine, ann: Person) -> None:
    await watch(engine, ann)
    board = Switchboard(engine, patience=0.2)
    sockets = Sockets(engine, Settings(), Limits.of(Settings()), board)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await sockets({**scope, ACTOR: ann.actor}, receive, send)

    async with sockets.running():
        slow, quick = await Caller(app, "").open(), await Caller(app, "").open()
        for line in (slow, quick):
            await line.listen()
        last = slow.hello["through"]
        slow.takes.clear()
        for number in range(ROOM + 300):
            await engine.memories.remember(ann.actor, Draft(f"change {number}"))
            if number % 100 == 99:  # at the pace at which the other one hears
                for _ in range(100):
                    last_heard = await quick.next()
        assert last_heard["excerpt"] == f"change {ROOM + 299}"
        async with asyncio.timeout(PATIENCE):
            while slow.closed is None:
                await engine.memories.remember(ann.actor, Draft("another"))
        assert slow.closed == 1013
        again = await Caller(app, "").open()
        missed = [one["excerpt"] for one in await again.listen(last)]
        assert missed[: ROOM + 300] == [f"change {number}" for number in range(ROOM + 300)]
        await quick.hang_up()
        await again.hang_up()


async def test_who_says_too_much_is_told_to_wait(engine: Engine, ann: Person) -> None:
    async with application(engine, rate_limit=5) as app:
        line = await Caller(app, ann.key).open()
        for _ in range(10):
            line.say({"type": "heartbeat"})
        answers = [(await line.message())["type"] for _ in range(10)]
        assert set(answers) == {"pong", "error"}
        assert (await Caller(app, ann.key).open()).status == 429


async def test_when_the_server_stops_it_says_so(engine: Engine, ann: Person) -> None:
    async with application(engine) as app:
        line = await Caller(app, ann.key).open()
        await line.listen()
    assert line.closed == 1001
    await line.over()
    assert await engine.attendance.everyone() == {}
