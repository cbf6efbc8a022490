"""Being told that a resource changed: in both eras, by this process or another, and only by what one may see."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceUpdatedNotification

from tests.serving import OWNER_KEY, PROGRAM, Served, environment, over_http, stdio
from tests.transports.wire import bearer, key_for, opened, post, request

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")]

PATIENCE = 15
QUIET = 1.0
"""Seconds without a word after which none will come: four looks at the store."""


class Heard:
    """The addresses a legacy client was told of."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._more = anyio.Event()

    async def __call__(self, message: Any) -> None:
        notification = getattr(message, "root", message)
        if isinstance(notification, ResourceUpdatedNotification):
            self.uris.append(str(notification.params.uri))
            self._more.set()
            self._more = anyio.Event()

    async def hears(self, uri: str) -> None:
        with anyio.fail_after(PATIENCE):
            while uri not in self.uris:
                await self._more.wait()

    async def nothing(self) -> None:
        self.uris.clear()
        await anyio.sleep(QUIET)
        assert self.uris == []


@asynccontextmanager
async def _subscriber(server: Served, transport: str, heard: Heard, key: str = OWNER_KEY) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"}
    if transport == "stdio":
        arguments = ["serve", "--data-dir", str(server.folder)]
        wire: Any = stdio_client(StdioServerParameters(command=PROGRAM, args=arguments, env=environment()))
        async with Client(wire, mode="legacy", message_handler=heard) as client:
            yield client
    elif transport == "sse":
        wire = sse_client(f"http://127.0.0.1:{server.sse_port}/sse", headers=headers)
        async with Client(wire, mode="legacy", message_handler=heard) as client:
            yield client
    else:
        async with httpx2.AsyncClient(headers=headers, timeout=60) as web:
            wire = streamable_http_client(server.url(), http_client=web)
            async with Client(wire, mode="legacy", message_handler=heard) as client:
                yield client


@pytest.mark.parametrize("transport", ["http", "sse", "stdio"])
async def test_a_legacy_subscriber_hears_of_changes_until_it_unsubscribes(server: Served, transport: str) -> None:
    heard = Heard()
    async with _subscriber(server, transport, heard) as client, over_http(server) as other:
        await client.subscribe_resource("stm_list://")
        await client.subscribe_resource("memory_chain")
        await client.call_tool("add_stm", {"content": "by the same"})
        await heard.hears("stm_list://")
        assert "memory_chain" not in heard.uris  # a short-term memory is in no block
        heard.uris.clear()
        await other.call_tool("add_memory", {"content": "by another"})
        await heard.hears("memory_chain")
        assert "stm_list://" not in heard.uris
        await client.unsubscribe_resource("stm_list://")
        await client.unsubscribe_resource("memory_chain")
        await other.call_tool("add_memory", {"content": "after"})
        await heard.nothing()


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_subscriber_hears_of_what_another_process_wrote(server: Served, era: Any) -> None:
    async with stdio(server.folder) as elsewhere:
        if era == "legacy":
            heard = Heard()
            async with _subscriber(server, "http", heard) as client:
                await client.subscribe_resource("memory_chain://")
                await elsewhere.call_tool("add_memory", {"content": "from elsewhere"})
                await heard.hears("memory_chain://")
        else:
            async with (
                over_http(server, era=era) as client,
                client.listen(resource_subscriptions=["memory_chain://"]) as told,
            ):
                await elsewhere.call_tool("add_memory", {"content": "from elsewhere"})
                await _hears(told, "memory_chain://")


async def _hears(told: Any, uri: str) -> None:
    with anyio.fail_after(PATIENCE):
        event = await anext(told)
    assert event.uri == uri


async def _silent(told: Any) -> None:
    with anyio.move_on_after(QUIET) as waiting:
        await anext(told)
    assert waiting.cancelled_caught


async def _settled(told: Any) -> None:
    """What was written just before may still be on its way."""
    with anyio.move_on_after(QUIET):
        async for _ in told:
            pass


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_a_modern_listener_hears_of_changes(server: Served, transport: str) -> None:
    over = stdio(server.folder, era="2026-07-28") if transport == "stdio" else over_http(server, era="2026-07-28")
    async with over as client, client.listen(resource_subscriptions=["stm_list"]) as told:
        await client.call_tool("add_stm", {"content": "by the same"})
        await _hears(told, "stm_list")


@pytest.mark.parametrize("form", ["memory_block://{id}", "memory_block/{id}", "memory_block://{index}"])
async def test_a_block_tells_of_its_own_changes_only(server: Served, form: str) -> None:
    async with over_http(server, era="2026-07-28") as client:
        made = [await client.call_tool("add_memory", {"content": f"block {number}"}) for number in range(2)]
        mine, other = (one.structured_content or {} for one in made)
        uri = form.format(id=mine["id"], index=mine["block_index"])
        async with client.listen(resource_subscriptions=[uri]) as told:
            await _settled(told)
            await client.call_tool("update_memory", {"memory_id": other["id"], "importance": 0.9})
            await _silent(told)
            await client.call_tool("update_memory", {"memory_id": mine["id"], "importance": 0.9})
            await _hears(told, uri)


async def test_nobody_hears_of_what_another_user_does(server: Served) -> None:
    key = await key_for(server.folder, "eavesdropper")
    heard = Heard()
    async with (
        over_http(server) as owner,
        _subscriber(server, "http", heard, key) as legacy,
        over_http(server, key=key, era="2026-07-28") as modern,
        modern.listen(resource_subscriptions=["stm_list://", "memory_chain://"]) as told,
    ):
        await legacy.subscribe_resource("stm_list://")
        await legacy.subscribe_resource("memory_chain://")
        await owner.call_tool("add_stm", {"content": "private"})
        await owner.call_tool("add_memory", {"content": "private"})
        await heard.nothing()
        await _silent(told)
        await legacy.call_tool("add_stm", {"content": "my own"})
        await heard.hears("stm_list://")


async def test_a_block_of_another_user_cannot_be_subscribed_to(server: Served) -> None:
    key = await key_for(server.folder, "subscriber")
    async with over_http(server) as owner, over_http(server, key=key) as stranger:
        block = (await owner.call_tool("add_memory", {"content": "private"})).structured_content or {}
        for uri in (f"memory_block://{block['id']}", "memory_block://block_999999999"):
            with pytest.raises(MCPError, match="Resource not found"):
                await stranger.subscribe_resource(uri)
    async with over_http(server, key=key, era="2026-07-28") as stranger:
        with anyio.fail_after(PATIENCE), pytest.raises(MCPError, match="Resource not found"):
            async with stranger.listen(resource_subscriptions=[f"memory_block://{block['id']}"]):
                pass


async def test_a_forgotten_memory_changes_the_short_term_list(server: Served) -> None:
    async with over_http(server, era="2026-07-28") as client:
        added = (await client.call_tool("add_stm", {"content": "brief"})).structured_content or {}
        async with client.listen(resource_subscriptions=["stm_list://"]) as told:
            await _settled(told)
            await client.call_tool("forget_stm", {"memory_id": added["id"]})
            await _hears(told, "stm_list://")


async def test_a_subscriber_that_does_not_read_does_not_keep_the_others_waiting(server: Served) -> None:
    session = opened(server)
    headers = bearer() | {"Mcp-Session-Id": session}
    for number in range(50):  # each spelling is told of by itself, and all of them fill the buffers in between
        subscribing = request("resources/subscribe", number + 10, uri="memory_chain://" + "/" * (20_000 + number))
        assert post(server, json.dumps(subscribing), headers).status_code == 200
    heard = Heard()
    with socket.create_connection(("127.0.0.1", server.http_port)) as deaf:
        lines = {"Host": "127.0.0.1", "Accept": "text/event-stream", **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if name != "Content-Type")
        deaf.sendall(f"GET /mcp HTTP/1.1\r\n{head}\r\n".encode())
        async with _subscriber(server, "http", heard) as client, over_http(server) as other:
            await client.subscribe_resource("memory_chain")
            for number in range(16):
                heard.uris.clear()
                await other.call_tool("add_memory", {"content": f"told to both {number}"})
                await heard.hears("memory_chain")
