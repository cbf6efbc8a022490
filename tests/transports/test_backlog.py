"""Streamable HTTP: a client whose connection broke gets what it missed, and nobody else's."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from commonplace.transports.backlog import STANDING, Backlog, Room
from tests.serving import Served, over_http, served
from tests.transports.breaking import breaking
from tests.transports.wire import INITIALIZE, INITIALIZED, bearer, request

pytestmark = pytest.mark.anyio

RESUMABLE = {"MCP-Protocol-Version": "2025-11-25"}


def note(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method=text)


def answer(identifier: str) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=identifier, result={})


async def replayed(backlog: Backlog, last: str, expected: int) -> list[JSONRPCMessage]:
    """So many messages behind an id; fewer where the stream ends before."""
    got: list[JSONRPCMessage] = []
    with anyio.CancelScope() as scope, anyio.fail_after(10):

        async def receive(event: EventMessage) -> None:
            got.append(event.message)
            if len(got) == expected:
                scope.cancel()

        await backlog.replay_events_after(last, receive)
    return got


async def test_a_stream_is_replayed_without_the_messages_of_others() -> None:
    backlog = Backlog(Room())
    first = await backlog.store_event("1", None)
    await backlog.store_event("2", note("other"))
    await backlog.store_event("1", note("progress"))
    await backlog.store_event("1", answer("1"))
    await backlog.store_event("1", note("never"))
    assert await replayed(backlog, first, 9) == [note("progress"), answer("1")]


async def test_what_comes_while_a_client_catches_up_reaches_it_in_order() -> None:
    backlog = Backlog(Room())
    start = await backlog.store_event(STANDING, note("0"))
    got: list[str] = []
    async with anyio.create_task_group() as tasks:

        async def receive(event: EventMessage) -> None:
            await anyio.lowlevel.checkpoint()
            assert isinstance(event.message, JSONRPCNotification)
            got.append(event.message.method)
            if len(got) == 50:
                tasks.cancel_scope.cancel()

        tasks.start_soon(backlog.replay_events_after, start, receive)
        for number in range(1, 51):
            await backlog.store_event(STANDING, note(str(number)))
            if number % 7 == 0:
                await anyio.lowlevel.checkpoint()
    assert got == [str(number) for number in range(1, 51)]


async def test_the_oldest_goes_first_whosever_it_is() -> None:
    room = Room(most=3)
    one, other = Backlog(room), Backlog(room)
    first = await one.store_event("1", note("a"))
    second = await one.store_event("1", note("b"))
    for _ in range(2):
        await other.store_event("1", answer("1"))
    assert not one.holds_all_behind(0)
    assert one.holds_all_behind(1)
    await one.store_event("1", answer("1"))
    assert await replayed(one, first, 1) == []
    assert await replayed(one, second, 1) == []


async def test_a_large_message_makes_room_for_itself() -> None:
    backlog = Backlog(Room(size=100))
    start = await backlog.store_event(STANDING, note("0"))
    await backlog.store_event(STANDING, note("x" * 200))
    assert not backlog.holds_all_behind(0)
    await backlog.store_event(STANDING, note("small"))
    assert await replayed(backlog, start, 1) == [note("small")]


@pytest.mark.parametrize("last", ["", "r", "s", "s-1", "r99", "x1", "s" + "9" * 30, "s٣", "r1\x00"])
async def test_an_id_that_is_none_of_ours_brings_nothing(last: str) -> None:
    backlog = Backlog(Room())
    await backlog.store_event("1", answer("1"))
    assert await replayed(backlog, last, 1) == []


async def test_behind_the_answer_nothing_is_waited_for() -> None:
    backlog = Backlog(Room())
    last = await backlog.store_event("1", answer("1"))
    assert await replayed(backlog, last, 1) == []


# The program


async def said(web: httpx2.AsyncClient, url: str, message: dict[str, Any], headers: dict[str, str]) -> httpx2.Response:
    return await web.post(url, headers=headers, content=json.dumps(message))


async def greeted(web: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """The headers of a new session."""
    begun = await said(web, url, INITIALIZE, bearer())
    headers = bearer() | RESUMABLE | {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
    await said(web, url, INITIALIZED, headers)
    return headers


async def first_id(lines: Any) -> str:
    async for line in lines:
        if line.startswith("id: "):
            return str(line.removeprefix("id: "))
    raise AssertionError("no id came")


async def behind(web: httpx2.AsyncClient, url: str, headers: dict[str, str], last: str) -> dict[str, Any]:
    """The next message behind an event."""
    with anyio.fail_after(30):
        async with web.stream("GET", url, headers=headers | {"Last-Event-ID": last}) as again:
            assert again.status_code == 200
            async for line in again.aiter_lines():
                if line.startswith("data: {"):
                    message: dict[str, Any] = json.loads(line[6:])
                    return message
    raise AssertionError("the stream ended")


async def test_the_answer_to_a_call_whose_connection_broke_is_had_by_coming_back(server: Served) -> None:
    url = server.url("/mcp/greeum")
    body = json.dumps(request("tools/call", 7, name="add_memory", arguments={"content": "zaqbroken"}))
    async with httpx2.AsyncClient(timeout=30) as web:
        headers = await greeted(web, url)
        async with web.stream("POST", url, headers=headers, content=body) as call:
            last = await first_id(call.aiter_lines())
        answered = await behind(web, url, headers, last)
        assert (answered["id"], answered["result"]["isError"]) == (7, False)
        assert await behind(web, url, headers, last) == answered


async def test_a_notice_sent_while_nobody_listened_arrives_later(server: Served) -> None:
    url = server.url("/mcp/greeum")
    remember = request("tools/call", 2, name="add_memory", arguments={"content": "zaqnotice"})
    async with httpx2.AsyncClient(timeout=30) as web:
        headers = await greeted(web, url)
        await said(web, url, request("resources/subscribe", 1, uri="greeum://memory_chain"), headers)
        async with web.stream("GET", url, headers=headers) as listening:
            await said(web, url, remember, headers)
            with anyio.fail_after(30):
                last = await first_id(listening.aiter_lines())
        await said(web, url, remember, headers)
        assert (await behind(web, url, headers, last))["method"] == "notifications/resources/updated"


async def test_another_session_with_the_same_ids_is_not_replayed(server: Served) -> None:
    url = server.url("/mcp/greeum")
    async with httpx2.AsyncClient(timeout=30) as web:
        one, other = await greeted(web, url), await greeted(web, url)
        listed = await said(web, url, request("tools/list", 5), one)
        last = next(line[4:] for line in listed.text.splitlines() if line.startswith("id: "))
        assert (await behind(web, url, one, last))["id"] == 5
        await said(web, url, request("ping", 5), other)
        assert (await behind(web, url, other, last))["result"] == {}


async def test_a_session_over_http_ends_when_it_has_been_idle(folder: Path) -> None:
    with served(folder, "--session-timeout", "1") as server:
        async with httpx2.AsyncClient(timeout=30) as web:
            headers = await greeted(web, server.url())
            assert (await said(web, server.url(), request("ping"), headers)).status_code == 200
            with anyio.fail_after(30):
                while (await web.get(server.url("/health"), headers=bearer())).json()["sessions"]["http"]:
                    pass
            assert (await said(web, server.url(), request("ping"), headers)).status_code == 404


# A client of the SDK


def after_the_first_event(asked: bytes, data: bytes) -> int | None:
    """Once a tool was called, the mark that its stream begins still arrives, and nothing else."""
    mark = data.find(b"data: \r\n")
    ended = data.find(b"\r\n\r\n", mark) + 6  # with the line that ends the chunk
    return ended if b'"tools/call"' in asked and mark >= 0 else None


async def test_a_client_whose_call_is_cut_off_gets_its_answer_all_the_same(server: Served) -> None:
    async with breaking(server.http_port, after_the_first_event) as wire:
        cut_off = replace(server, http_port=wire.port)
        async with over_http(cut_off, path="/mcp/greeum") as client:
            answered = await client.call_tool("add_memory", {"content": "zaqcut in the middle"})
            assert not answered.is_error
        assert (wire.cuts, wire.resumed) == (1, 1)
    async with over_http(server, path="/mcp/greeum") as client:
        found = await client.call_tool("query_memory", {"query": "zaqcut"})
        assert str(found.structured_content).count("zaqcut in the middle") == 1
