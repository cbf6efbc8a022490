"""Large answers over streamable HTTP come as plain JSON where nothing else is told."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from starlette.types import Message, Receive, Scope, Send

from commonplace.transports.plain import LARGE, PlainWhenLarge
from tests.serving import Served
from tests.transports.wire import bearer, message_in, opened, post, request

pytestmark = pytest.mark.anyio

POST: Scope = {"type": "http", "method": "POST"}
STREAM: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"text/event-stream; charset=utf-8"), (b"mcp-session-id", b"x")],
}
PRIMING = b"id: r1\r\ndata: \r\nretry: 1000\r\n\r\n"
LONG_TEXT = json.dumps({"text": "x" * LARGE}).encode()
LONG = b"id: r2\r\nevent: message\r\ndata: " + LONG_TEXT + b"\r\n\r\n"
SHORT = b'event: message\r\ndata: {"text": "x"}\r\n\r\n'
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


def streamed(*events: bytes) -> list[Message]:
    return [STREAM, *({"type": "http.response.body", "body": event, "more_body": True} for event in events), END]


async def _nothing() -> Message:
    raise AssertionError("nothing is asked for")


async def sent(messages: Sequence[Message], scope: Scope = POST) -> list[Message]:
    """What becomes of an answer."""
    got: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    async def send(message: Message) -> None:
        got.append(message)

    await PlainWhenLarge(app)(scope, _nothing, send)
    return got


@pytest.mark.parametrize("events", [(LONG,), (PRIMING, LONG)], ids=["alone", "primed"])
async def test_a_large_answer_alone_is_plain(events: tuple[bytes, ...]) -> None:
    start, body = await sent(streamed(*events))
    assert dict(start["headers"]) == {
        b"mcp-session-id": b"x",
        b"content-type": b"application/json",
        b"content-length": str(len(LONG_TEXT)).encode(),
    }
    assert body == {"type": "http.response.body", "body": LONG_TEXT}


@pytest.mark.parametrize(
    "events",
    [(), (PRIMING,), (SHORT,), (PRIMING, SHORT), (SHORT, LONG), (LONG, SHORT), (LONG, LONG), (PRIMING, SHORT, LONG)],
)
async def test_everything_else_goes_on_as_it_came(events: tuple[bytes, ...]) -> None:
    assert await sent(streamed(*events)) == streamed(*events)


async def test_other_answers_and_other_requests_go_on_as_they_came() -> None:
    answer: list[Message] = [{**STREAM, "headers": [(b"content-type", b"application/json")]}, END]
    assert await sent(answer) == answer
    assert await sent(streamed(LONG), {**POST, "method": "GET"}) == streamed(LONG)


async def test_a_client_does_not_wait_long_for_the_beginning() -> None:
    begun, got = anyio.Event(), list[Message]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        first, primed, *others = streamed(PRIMING, LONG)
        await send(first)
        await send(primed)
        await begun.wait()
        for message in others:
            await send(message)

    async def send(message: Message) -> None:
        got.append(message)
        if len(got) == 2:
            begun.set()

    with anyio.fail_after(30):
        await PlainWhenLarge(app, patience=0)(POST, _nothing, send)
    assert got == streamed(PRIMING, LONG)


async def test_a_client_of_the_older_era_gets_a_megabyte_as_json_and_less_as_events(server: Served) -> None:
    headers = bearer() | {"Mcp-Session-Id": opened(server), "MCP-Protocol-Version": "2025-11-25"}

    def called(tool: str, **arguments: Any) -> Any:
        return post(server, request("tools/call", 7, name=tool, arguments=arguments), headers)

    content = "가" * 300_000
    added = called("add_memory", content=content, keywords=[], tags=[])
    assert added.headers["content-type"].startswith("text/event-stream")
    assert added.text.startswith("id: r")
    read = called("retrieve_memory", memory_id=message_in(added)["result"]["structuredContent"]["id"])
    assert read.headers["content-type"] == "application/json"
    assert (read.json()["id"], read.json()["result"]["structuredContent"]["content"]) == (7, content)
