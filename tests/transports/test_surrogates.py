"""Half a character, which JSON can spell and no text may hold, over every wire, byte by byte."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
import pytest

from tests.serving import Served
from tests.transports.test_sse import stream
from tests.transports.wire import (
    ENVELOPE,
    HALF,
    INITIALIZE,
    INITIALIZED,
    Lines,
    bearer,
    lines,
    message_in,
    modern_headers,
    opened,
    post,
    request,
    spelled,
)

pytestmark = pytest.mark.anyio

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def modernised(message: dict[str, Any]) -> dict[str, Any]:
    return message | {"params": {"_meta": ENVELOPE, **message["params"]}}


@asynccontextmanager
async def over_stdio(server: Served, folder: Any) -> AsyncIterator[Ask]:
    async def ask(message: dict[str, Any]) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(said.ask, spelled(message))

    with lines(folder) as said:
        said.greet()
        yield ask


@asynccontextmanager
async def over_modern_stdio(server: Served, folder: Any) -> AsyncIterator[Ask]:
    def ask_in(said: Lines) -> Ask:
        return lambda message: anyio.to_thread.run_sync(said.ask, spelled(modernised(message)))

    with lines(folder) as said:
        yield ask_in(said)


@asynccontextmanager
async def over_http(server: Served, folder: Any) -> AsyncIterator[Ask]:
    session = opened(server)

    async def ask(message: dict[str, Any]) -> dict[str, Any]:
        return message_in(post(server, spelled(message), bearer() | {"Mcp-Session-Id": session}))

    yield ask


@asynccontextmanager
async def over_modern_http(server: Served, folder: Any) -> AsyncIterator[Ask]:
    async def ask(message: dict[str, Any]) -> dict[str, Any]:
        params = message["params"]
        headers = modern_headers(message["method"], params.get("name", params.get("uri", "")))
        return message_in(post(server, spelled(modernised(message)), headers))

    yield ask


@asynccontextmanager
async def over_sse(server: Served, folder: Any) -> AsyncIterator[Ask]:
    async with stream(server) as told:
        await told.ask(INITIALIZE)
        await told.send(INITIALIZED)

        async def ask(message: dict[str, Any]) -> dict[str, Any]:
            assert await told.send(spelled(message)) == 202
            return await told.answer()

        yield ask


WIRES = (over_stdio, over_modern_stdio, over_http, over_modern_http, over_sse)


@pytest.fixture(params=WIRES, ids=[wire.__name__ for wire in WIRES])
async def ask(request: pytest.FixtureRequest, server: Served, folder: Any, anyio_backend: str) -> AsyncIterator[Ask]:
    async with request.param(server, folder) as asking:
        yield asking


def call(identifier: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", identifier, name=tool, arguments=arguments)


async def blocks(ask: Ask) -> int:
    status = await ask(call(99, "server_status"))
    total: int = status["result"]["structuredContent"]["memory_stats"]["total_blocks"]
    return total


IN_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("add_memory", {"content": f"a{HALF}b"}, "content: is not valid Unicode: a lone surrogate stands at character 1"),
    ("add_memory", {"content": "x", "tags": ["y", HALF]}, "tags[1]: is not valid Unicode"),
    ("retrieve_memory", {"memory_id": HALF}, "memory_id: is not valid Unicode"),
    ("query_memory", {"query": f"{HALF}\U0001f600"}, "query: is not valid Unicode"),
    ("add_memory", {"content": {"deep": [{"down": HALF}]}}, "content.deep[0].down: is not valid Unicode"),
    ("server_status", {"unknown": HALF}, "unknown: is not valid Unicode"),
]


async def test_in_an_argument_it_is_refused_by_the_tool_under_the_name_it_has(ask: Ask) -> None:
    before = await blocks(ask)
    for number, (tool, arguments, named) in enumerate(IN_ARGUMENTS):
        answer = await ask(call(number, tool, **arguments))
        assert (answer["id"], answer["result"]["isError"]) == (number, True)
        body = answer["result"]["structuredContent"]
        assert body["code"] == "INVALID_PARAMETER"
        assert body["details"].startswith(named)
    assert await blocks(ask) == before


ELSEWHERE: dict[str, dict[str, Any]] = {
    "tool": call(7, HALF),
    "method": request(f"to{HALF}ls", 7),
    "address": request("resources/read", 7, uri=f"memory_block://{HALF}"),
    "meta": request("tools/call", 7, _meta=ENVELOPE | {HALF: HALF}, name="add_memory", arguments={"content": "x"}),
    "both": request("tools/call", 7, name="add_memory", arguments={"content": HALF}, _meta=ENVELOPE | {"x": HALF}),
}


async def test_elsewhere_it_is_an_error_of_the_message(ask: Ask) -> None:
    before = await blocks(ask)
    for message in ELSEWHERE.values():
        answer = await ask(message)
        assert answer["id"] == 7
        assert answer["error"]["code"] < 0
    assert await blocks(ask) == before


async def test_in_the_name_of_an_argument_it_is_refused(ask: Ask) -> None:
    for arguments in ({"content": "x", HALF: 1}, {"content": "x", "tags": {HALF: 1}}):
        answer = await ask(call(7, "add_memory", **arguments))
        assert (answer["id"], answer["result"]["isError"]) == (7, True)
        assert "has a name that is not valid Unicode" in answer["result"]["structuredContent"]["details"]


async def test_what_only_looks_like_it_is_kept_to_the_letter(ask: Ask) -> None:
    content = r"\ud800 and \\ud800 and " + "\U0001f600 \ud7a3 \ue000"
    added = (await ask(call(7, "add_memory", content=content)))["result"]["structuredContent"]
    read = await ask(call(8, "retrieve_memory", memory_id=added["id"]))
    assert read["result"]["structuredContent"]["content"] == content


async def test_a_client_whose_name_holds_it_is_refused_and_nothing_is_kept(server: Served) -> None:
    client = {"io.modelcontextprotocol/clientInfo": {"name": HALF, "version": "1"}}
    message = request("tools/call", 7, _meta=ENVELOPE | client, name="add_memory", arguments={"content": "x"})
    answer = post(server, spelled(message), modern_headers("tools/call", "add_memory"))
    assert (answer.status_code, answer.json()["id"]) == (400, 7)
    assert "lone surrogate" in answer.json()["error"]["message"]
