"""The older SSE transport: signs of life, limits, and coming back to a session."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from commonplace.dialects.greeum import greeum
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.backlog import Room
from commonplace.transports.mcp import DialectServer
from commonplace.transports.sse import Session
from tests.serving import Served, over_sse, served
from tests.transports.wire import INITIALIZE, INITIALIZED, bearer, key_for, request

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Event:
    kind: str
    data: str
    id: str

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.data)
        return message


class Stream:
    """An SSE stream as a browser reads it."""

    def __init__(self, web: httpx2.AsyncClient, response: httpx2.Response, base: str) -> None:
        self._web = web
        self._lines = response.aiter_lines()
        self._base = base
        self.status = response.status_code
        self.address = ""
        self.last = ""

    async def event(self) -> Event | None:
        """The next event; a comment is one of kind `:`; None at the end."""
        fields = {"event": "message", "data": "", "id": ""}
        with anyio.fail_after(30):
            async for line in self._lines:
                if not line:
                    self.last = fields["id"] or self.last
                    return Event(fields["event"], fields["data"], fields["id"])
                name, _, value = line.partition(": ")
                fields[name or "event"] = value if name else ":"
        return None

    async def send(self, message: bytes | str | dict[str, Any], key: str = "") -> int:
        headers = bearer(key) if key else bearer()
        content = json.dumps(message) if isinstance(message, dict) else message
        answer = await self._web.post(self._base + self.address, headers=headers, content=content)
        return answer.status_code

    async def answer(self) -> dict[str, Any]:
        while event := await self.event():
            if event.kind == "message":
                return event.message
        raise AssertionError("the stream ended")

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert await self.send(message) == 202
        return await self.answer()


@asynccontextmanager
async def stream(server: Served, last: str = "", key: str = "") -> AsyncIterator[Stream]:
    base = f"http://127.0.0.1:{server.sse_port}"
    headers = (bearer(key) if key else bearer()) | ({"Last-Event-ID": last} if last else {})
    async with httpx2.AsyncClient(timeout=30) as web, web.stream("GET", f"{base}/sse", headers=headers) as response:
        opened = Stream(web, response, base)
        if opened.status == 200:
            first = await opened.event()
            assert first is not None
            assert first.kind == "endpoint"
            opened.address = first.data
        yield opened


def call(identifier: int, content: str) -> dict[str, Any]:
    return request("tools/call", identifier, name="add_memory", arguments={"content": content})


@pytest.fixture(scope="module")
def pulsing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    options = ("--dialect", "greeum", "--sse-heartbeat", "0.2", "--sse-max-connections", "3")
    with served(tmp_path_factory.mktemp("sse"), *options) as server:
        yield server


async def test_a_stream_shows_that_it_lives(pulsing: Served) -> None:
    async with stream(pulsing) as opened:
        for _ in range(2):
            beat = await opened.event()
            assert beat is not None
            assert beat.kind == ":"


async def test_beyond_the_limit_a_client_is_told_to_come_back(pulsing: Served) -> None:
    async with stream(pulsing), stream(pulsing), stream(pulsing):
        base = f"http://127.0.0.1:{pulsing.sse_port}/sse"
        async with httpx2.AsyncClient() as web:
            refused = await web.get(base, headers=bearer())
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
    async with over_sse(pulsing) as client:
        assert await client.list_tools()


async def test_what_was_answered_while_the_connection_was_broken_is_not_lost(pulsing: Served) -> None:
    async with stream(pulsing) as opened:
        assert "result" in await opened.ask(INITIALIZE)
        await opened.send(INITIALIZED)
        last, address = opened.last, opened.address
    async with httpx2.AsyncClient(timeout=30) as web:
        for number in range(3):
            body = json.dumps(call(number, f"zaqaway {number}"))
            sent = await web.post(f"http://127.0.0.1:{pulsing.sse_port}{address}", headers=bearer(), content=body)
            assert sent.status_code == 202
    async with stream(pulsing, last) as again:
        assert again.address == address
        answers = [await again.answer() for _ in range(3)]
        assert sorted(answer["id"] for answer in answers) == [0, 1, 2]
        assert "result" in await again.ask(request("tools/list", "after"))


async def test_a_stream_is_gone_on_with_behind_the_last_event_that_arrived(pulsing: Served) -> None:
    async with stream(pulsing) as opened:
        await opened.ask(INITIALIZE)
        await opened.send(INITIALIZED)
        await opened.ask(request("ping", "first"))
        after_first = opened.last
        await opened.ask(request("ping", "second"))
    async with stream(pulsing, after_first) as again:
        assert (await again.answer())["id"] == "second"
        assert (await again.ask(request("ping", "third")))["id"] == "third"


async def test_who_comes_back_too_late_or_to_anothers_session_gets_a_new_one(pulsing: Served) -> None:
    mine, mine_too = [await key_for(pulsing.folder, "ann", name=name) for name in ("one", "two")]
    stranger = await key_for(pulsing.folder, "stranger")
    async with stream(pulsing, key=mine) as opened:
        await opened.send(INITIALIZE, mine)
        await opened.answer()
        for key in (mine_too, stranger):
            assert await opened.send(request("ping"), key) == 404
            async with stream(pulsing, opened.last, key) as other:
                assert other.address != opened.address
    for unknown in ("0" * 32 + ".1", "nonsense", opened.last + "0" * 5, opened.last.replace(".", ".-")):
        async with stream(pulsing, unknown) as other:
            assert other.address != opened.address


async def test_where_there_is_no_room_the_session_that_is_longest_away_gives_way(folder: Path) -> None:
    left, stayed = [], []
    with served(folder, "--sse-heartbeat", "0.1", "--sse-max-connections", "3") as server:
        for _ in range(5):
            async with stream(server) as opened:
                left.append((opened.last, opened.address))
        for last, address in reversed(left):
            async with stream(server, last) as again:
                stayed.append(again.address == address)
    assert stayed == [True, True, True, True, False]


async def test_who_is_away_for_long_finds_no_session_any_more(engine: Engine, folder: Path) -> None:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    session = Session(("owner", "key"), Room(), 3600, awaited=0.1)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.run, DialectServer(greeum, engine, settings))
            session.left()  # and so it ends


async def test_a_session_ends_when_it_has_been_idle(folder: Path) -> None:
    with served(folder, "--dialect", "greeum", "--session-timeout", "1", "--sse-heartbeat", "0.1") as server:
        async with stream(server) as opened:
            await opened.ask(INITIALIZE)
            while await opened.event():
                pass
            assert await opened.send(request("ping")) == 404


async def test_what_is_no_message_is_answered_on_the_stream_under_its_id(pulsing: Served) -> None:
    async with stream(pulsing) as opened:
        await opened.ask(INITIALIZE)
        for sent, code in (
            ('{"jsonrpc": "2.0", "id": 7}', -32600),
            (r'{"jsonrpc": "2.0", "id": 7, "method": "\ud800"}', -32700),
            (b'{"jsonrpc": "2.0", "id": 7, "method": "\xff"}', -32700),
        ):
            assert await opened.send(sent) == 202
            answer = await opened.answer()
            assert (answer["id"], answer["error"]["code"]) == (7, code)
        assert (await opened.ask(request("ping", 8)))["result"] == {}


async def test_only_get_and_post_are_known(pulsing: Served) -> None:
    async with httpx2.AsyncClient() as web:
        answer = await web.delete(f"http://127.0.0.1:{pulsing.sse_port}/sse", headers=bearer())
        assert answer.status_code == 405
        plain = bearer() | {"Content-Type": "text/plain"}
        url = f"http://127.0.0.1:{pulsing.sse_port}/sse?session_id=x"
        assert (await web.post(url, headers=plain, content="{}")).status_code == 400
