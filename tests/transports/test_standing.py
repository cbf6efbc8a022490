"""Streams that stay open: they end with what opened them, and whoever shows himself anew goes on."""

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import httpx2
import pytest
from starlette.types import Message, Receive, Scope, Send

from commonplace.domain.access import Actor
from commonplace.domain.identifiers import UserId
from commonplace.engine.access import Access
from commonplace.transports.mcp import ACTOR
from commonplace.transports.standing import Standing
from tests.serving import PROGRAM, Served, served
from tests.transports.test_cli_programs import run
from tests.transports.test_sse import stream
from tests.transports.test_tokens import SECRET, token
from tests.transports.wire import INITIALIZE, bearer, key_for, modern_headers, opened, post, request, revoke

pytestmark = pytest.mark.anyio
LISTENING = request("subscriptions/listen", modern=True, notifications={"toolsListChanged": True})


@asynccontextmanager
async def listening(server: Served, kind: str, key: str) -> AsyncIterator[httpx2.Response]:
    """A stream that stays open."""
    method, url, headers, body = "GET", server.url(), bearer(key), ""
    if kind == "session":
        headers |= {"Mcp-Session-Id": opened(server, key)}
    elif kind == "listen":
        method, headers, body = "POST", modern_headers("subscriptions/listen", key=key), json.dumps(LISTENING)
    else:
        url = f"http://127.0.0.1:{server.sse_port}/sse"
    async with (
        httpx2.AsyncClient(timeout=30) as web,
        web.stream(method, url, headers=headers, content=body) as response,
    ):
        assert response.status_code == 200
        yield response


async def end(response: httpx2.Response) -> None:
    """Until the server has said that there is no more."""
    with anyio.fail_after(30):
        async for _ in response.aiter_raw():
            pass


@pytest.fixture(scope="module")
def listened_to(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One of their own: once somebody listens, a server tells subscribers a little late."""
    with served(tmp_path_factory.mktemp("standing")) as server:
        yield server


async def test_streams_end_with_the_key_that_opened_them_and_those_of_others_do_not(listened_to: Served) -> None:
    server, name = listened_to, "soon revoked"
    going, staying = await key_for(server.folder, "ann", name=name), await key_for(server.folder, "ann", name="kept")
    async with (
        listening(server, "session", staying) as kept,
        listening(server, "session", going) as one,
        listening(server, "listen", going) as two,
        listening(server, "sse", going) as three,
    ):
        await revoke(server.folder, name)
        for ended in (one, two, three):
            await end(ended)
        with anyio.move_on_after(0.1) as waiting:
            await end(kept)
        assert waiting.cancelled_caught


async def test_who_comes_back_with_a_renewed_token_goes_on_in_the_same_session(folder: Path) -> None:
    run(PROGRAM, "keys", "create", "jays", "--user", "jay", "--data-dir", str(folder))
    with served(folder, COMMONPLACE_JWT_SECRET=SECRET) as server:
        expiring, renewed = token(exp=int(time.time()) + 3), token()
        async with stream(server, key=expiring) as before:
            assert await before.send(INITIALIZE, expiring) == 202
            await before.answer()
            while await before.event():
                pass
            assert await before.send(request("ping", "meanwhile"), renewed) == 202
            async with stream(server, before.last, renewed) as after:
                assert after.address == before.address
                assert (await after.answer())["id"] == "meanwhile"


async def test_no_credential_takes_all_streams(folder: Path) -> None:
    options = ("--max-connections", "8", "--sse-max-connections", "3", "--trusted-proxies", "127.0.0.1")
    with served(folder, *options) as server:
        ann, bert = await key_for(folder, "ann"), await key_for(folder, "bert")
        async with stream(server, key=ann), stream(server, key=ann), stream(server, key=ann) as last:
            sse = f"http://127.0.0.1:{server.sse_port}/sse"
            refused = httpx2.get(sse, headers=bearer(ann))
            assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)
            async with stream(server, last.last, ann) as again:
                assert again.address == last.address  # who comes back may be noticed before what broke
                async with stream(server, key=bert) as other:
                    assert other.status == 200
                    assert httpx2.get(sse, headers=bearer(bert)).status_code == 503


async def test_strangers_have_no_stream(server: Served) -> None:
    refused = post(server, LISTENING, modern_headers("subscriptions/listen", key=""), "/live/mcp")
    assert refused.status_code == 403


class Failing(Access):
    """Fails in a way that nobody has thought of, and then tells that the credential is gone."""

    def __init__(self) -> None:
        self.looks = 0

    async def is_current(self, actor: Actor) -> bool:
        self.looks += 1
        if self.looks == 1:
            raise KeyError("unthought of")
        return False


async def test_a_failed_look_ends_neither_the_watch_nor_the_server() -> None:
    access = Failing()
    standing = Standing(access, every=0.05)

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.disconnect"

    async def heard() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def told(message: Message) -> None:
        raise AssertionError(message)

    actor = Actor(UserId("ann"), "key", frozenset(), ZoneInfo("UTC"))
    scope: Scope = {"type": "http", "method": "GET", "headers": [], "path": "/mcp", ACTOR: actor}
    with anyio.fail_after(60):
        async with standing.running():
            await standing.kept(waiting)(scope, heard, told)
    assert access.looks == 3
