"""Which names and which pages are ours, and what the log says of the others."""

import logging
import socket
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from commonplace.settings import Settings
from commonplace.transports.guard import Guard
from commonplace.transports.sparing import WHILE, Sparing
from tests.serving import served
from tests.transports.test_limits import Time
from tests.transports.wire import bearer, post, request

SETTINGS = Settings(
    allowed_hosts=("Memory.example.org:8000", "any.example.org", "every.example.org:*"),
    allowed_origins=("https://app.example", "http://dev.example:3000", "http://every.example:*", "null"),
)


async def status(host: str = "localhost", *origins: str) -> int:
    """How a request with these headers is answered."""
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"host", host.encode()), *((b"origin", origin.encode()) for origin in origins)]
    scope = {"type": "http", "method": "GET", "path": "/health", "headers": headers}
    await Guard(PlainTextResponse("ok"), SETTINGS)(scope, receive, send)
    return int(told[0]["status"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("LOCALHOST", 200),
        ("[::1]:5", 200),
        ("memory.example.org:8000", 200),
        ("memory.example.org", 421),
        ("memory.example.org:8001", 421),
        ("any.example.org", 200),
        ("any.example.org:8443", 200),
        ("every.example.org:8443", 200),
        ("any.example.org.", 421),
        ("any.example.org:8443.evil.example", 421),
        ("evil.example@any.example.org", 421),
        ("localhost:8:0", 421),
        ("localhost:", 421),
        ("", 421),
    ],
)
async def test_a_host_is_ours_as_a_whole_or_not_at_all(host: str, expected: int) -> None:
    assert await status(host) == expected


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        (("http://localhost",), 200),
        (("https://[::1]:5",), 200),
        (("https://app.example",), 200),
        (("HTTPS://App.Example:443",), 200),
        (("http://app.example",), 403),
        (("https://app.example:8443",), 403),
        (("https://app.example.",), 403),
        (("https://app.example@evil.example",), 403),
        (("http://dev.example:3000",), 200),
        (("http://dev.example",), 403),
        (("http://every.example",), 200),
        (("http://every.example:9",), 200),
        (("http://every.example:9.evil.example",), 403),
        (("null",), 200),
        (("http://localhost", "http://evil.example"), 403),
    ],
)
async def test_a_page_is_ours_by_scheme_name_and_port(origins: tuple[str, ...], expected: int) -> None:
    assert await status("localhost", *origins) == expected


def test_a_flood_of_refused_requests_is_a_line_a_while_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    time = Time()
    logger = logging.Logger("flooded")
    logger.addHandler(caplog.handler)
    logger.addFilter(Sparing(time))
    for moment in range(300):
        time.now = 1000.0 + moment / 2
        logger.warning("refused: %s", moment)
        logger.info("told: %s", moment)
    said = [line for line in caplog.messages if line.startswith("refused")]
    every = int(2 * WHILE)
    between = f"({every - 1} more like it before)"
    assert said == ["refused: 0", f"refused: {every} {between}", f"refused: {2 * every} {between}"]
    assert len(caplog.messages) == 303


def test_strangers_cannot_fill_the_log(folder: Path) -> None:
    with served(folder) as server:
        for _ in range(50):
            assert post(server, request("ping"), bearer("") | {"Host": "evil.example"}).status_code == 421
            with socket.create_connection(("127.0.0.1", server.http_port), timeout=10) as line:
                line.sendall(b"nonsense\r\n\r\n")
                assert line.recv(1000).startswith(b"HTTP/1.1 400")
        server.process.terminate()
        _, said = server.process.communicate(timeout=30)
    assert said.count(b"WARNING") == 2
    assert b"evil.example" in said
