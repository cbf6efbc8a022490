"""The memories as resources under their own addresses, and being told when one changes."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Resource, ResourceUpdatedNotification

from tests.dialects.conversation import PATIENCE, ProseConversation, unique
from tests.dialects.nocturne.tree import plant, pruned
from tests.serving import OWNER_KEY, Served, over_http

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")]
behaviour = pytest.mark.behaviour

NOCTURNE = "/nocturne/mcp"
_NOTICES_OF_PLANTING = 2
"""One of the memory, one of its path."""


async def _pages(talk: ProseConversation) -> AsyncIterator[list[Resource]]:
    cursor: str | None = None
    while True:
        listed = await talk.client.list_resources(cursor=cursor)
        yield listed.resources
        cursor = listed.next_cursor
        if cursor is None:
            return


@behaviour("nocturne.resources.listed", "nocturne.resources.pages")
async def test_every_path_is_listed_page_by_page(local: ProseConversation) -> None:
    above = await plant(local, title="日記", priority=0, disclosure="夜に")
    below = [await plant(local, above, "x", title=None, priority=3) for _ in range(104)]
    await local.call("add_alias", new_uri="notes://other", target_uri=above)
    pages = [page async for page in _pages(local)]
    assert [len(page) for page in pages] == [103, 6]
    system, entries = pages[0][:3], [*pages[0][3:], *pages[1]]
    assert [entry.uri for entry in system] == ["system://boot", "system://index", "system://recent"]
    assert [entry.name for entry in entries] == [above, *below, "notes://other"]
    first = entries[0]
    assert (first.uri, first.description) == ("core://%E6%97%A5%E8%A8%98", "夜に")
    assert first.annotations is not None
    assert (first.annotations.priority, first.mime_type) == (1.0, "text/plain")
    assert entries[1].annotations is not None
    assert entries[1].annotations.priority == 0.25
    for entry in entries[:2]:
        assert await local.read(entry.uri) == await local.call("read_memory", uri=entry.name)


@behaviour("nocturne.resources.pages")
async def test_a_cursor_that_was_never_given_is_refused(talk: ProseConversation) -> None:
    for cursor in ("x", "-1", "1" * 30, "٣"):
        with anyio.fail_after(PATIENCE), pytest.raises(MCPError) as caught:
            await talk.client.list_resources(cursor=cursor)
        assert caught.value.code == INVALID_PARAMS


@behaviour("nocturne.resources.templates")
async def test_templates_say_which_addresses_can_be_read(talk: ProseConversation) -> None:
    templates = (await talk.client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "system://recent/{count}",
        *(f"{domain}://{{+path}}" for domain in ("core", "writer", "game", "notes")),
        "memory://{id}",
    ]
    assert all(t.description and t.mime_type == "text/plain" for t in templates)


@behaviour("nocturne.resources.read")
async def test_a_resource_is_the_page_that_the_tool_shows(talk: ProseConversation) -> None:
    uri = await plant(talk, content="as a resource")
    itself = await pruned(talk, await plant(talk))
    pages = ("system://boot", "system://index", "system://recent", "system://recent/3")
    for address in (uri, uri.upper().replace(uri[7:].upper(), uri[7:]), itself, "core://", "memory://", *pages):
        assert await talk.read(address) == await talk.call("read_memory", uri=address), address


@behaviour("nocturne.resources.absent")
async def test_an_address_that_holds_nothing_is_not_found(talk: ProseConversation) -> None:
    for uri in (
        *(f"core://{unique()}", "nowhere://x", "system://what", "system://recent/0", "system://recent/x"),
        *("memory://x", "file:///etc/passwd", "core://a//b", "core://%00", ""),
    ):
        error = await talk.unreadable(uri)
        assert (error.code, error.message) == (INVALID_PARAMS, f"Resource not found: {uri}")


# Being told


class Heard:
    """The addresses that a subscriber was told of."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._more = anyio.Event()

    def add(self, uri: str) -> None:
        self.uris.append(uri)
        self._more.set()
        self._more = anyio.Event()

    async def __call__(self, message: Any) -> None:
        notification = getattr(message, "root", message)
        if isinstance(notification, ResourceUpdatedNotification):
            self.add(str(notification.params.uri))

    async def follow(self, told: Any) -> None:
        async for event in told:
            self.add(str(event.uri))

    async def hears_often(self, uri: str, times: int) -> None:
        with anyio.fail_after(PATIENCE):
            while self.uris.count(uri) < times:
                await self._more.wait()

    async def hears(self, *uris: str) -> None:
        with anyio.fail_after(PATIENCE):
            while not set(uris) <= set(self.uris):
                await self._more.wait()


@asynccontextmanager
async def _subscribed(server: Served, era: str, *uris: str) -> AsyncIterator[Heard]:
    """Someone who listens to these addresses and does nothing else."""
    heard = Heard()
    if era == "legacy":
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {OWNER_KEY}"}, timeout=60) as web:
            wire = streamable_http_client(server.url(NOCTURNE), http_client=web)
            async with Client(wire, mode="legacy", message_handler=heard) as client:
                for uri in uris:
                    await client.subscribe_resource(uri)
                yield heard
        return
    async with (
        over_http(server, era="2026-07-28", path=NOCTURNE) as client,
        client.listen(resource_subscriptions=list(uris)) as told,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(heard.follow, told)
        yield heard
        tasks.cancel_scope.cancel()


Change = Callable[[ProseConversation, Client, str], Awaitable[object]]


async def _patched(talk: ProseConversation, greeum: Client, uri: str) -> None:
    await talk.call("update_memory", uri=uri, append="!")


async def _relabelled(talk: ProseConversation, greeum: Client, uri: str) -> None:
    await talk.call("update_memory", uri=uri, priority=9)


async def _added_below(talk: ProseConversation, greeum: Client, uri: str) -> None:
    await plant(talk, uri)


async def _deleted(talk: ProseConversation, greeum: Client, uri: str) -> None:
    await talk.call("delete_memory", uri=uri)


async def _revised_elsewhere(talk: ProseConversation, greeum: Client, uri: str) -> None:
    found = await greeum.call_tool("update_memory", {"memory_id": await _id(talk, greeum, uri), "importance": 0.9})
    assert not found.is_error


async def _erased_elsewhere(talk: ProseConversation, greeum: Client, uri: str) -> None:
    assert not (await greeum.call_tool("delete_memory", {"memory_id": await _id(talk, greeum, uri)})).is_error


async def _id(talk: ProseConversation, greeum: Client, uri: str) -> str:
    text = (await talk.call("read_memory", uri=uri)).rpartition("\n")[2]
    hits = (await greeum.call_tool("query_memory", {"query": text})).structured_content or {}
    return str(next(hit["id"] for hit in hits["result"] if hit["content"] == text))


@behaviour("nocturne.resources.notices")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(
    "change", [_patched, _relabelled, _added_below, _deleted, _revised_elsewhere, _erased_elsewhere]
)
async def test_a_subscriber_is_told_of_every_kind_of_change(listening: Served, era: str, change: Change) -> None:
    async with over_http(listening, path=NOCTURNE) as client, over_http(listening) as greeum:
        talk = ProseConversation(client)
        above = await plant(talk, title=f"日_{unique()}")
        uri = await plant(talk, above, title="x")
        spelled = uri.replace("core://日", "CORE://%E6%97%A5") + "/"
        async with _subscribed(listening, era, spelled, above, "system://recent/7", "system://index") as heard:
            await change(talk, greeum, uri)
            told = {spelled, "system://recent/7", "system://index"}
            await heard.hears(*told, *([] if change is _added_below else [above]))


@behaviour("nocturne.resources.notices")
async def test_what_lies_below_an_alias_hears_when_the_alias_goes(listening: Served) -> None:
    async with over_http(listening, path=NOCTURNE) as client:
        talk = ProseConversation(client)
        uri, alias = await plant(talk), f"notes://{unique()}"
        below = await plant(talk, uri, title="below")
        await talk.call("add_alias", new_uri=alias, target_uri=uri)
        async with _subscribed(listening, "2026-07-28", f"{alias}/below") as heard:
            await talk.call("delete_memory", uri=alias)
            await heard.hears(f"{alias}/below")
        await talk.call("add_alias", new_uri=alias, target_uri=uri)
        async with _subscribed(listening, "2026-07-28", f"{alias}/below") as heard:
            await talk.call("delete_memory", uri=below)
            await heard.hears(f"{alias}/below")


@behaviour("nocturne.resources.notices")
async def test_nobody_is_told_of_what_happens_elsewhere_in_the_tree(listening: Served) -> None:
    async with over_http(listening, path=NOCTURNE) as client:
        talk = ProseConversation(client)
        uri, other, marker = [await plant(talk) for _ in range(3)]
        async with _subscribed(listening, "2026-07-28", uri, other, marker) as heard:
            for _ in range(_NOTICES_OF_PLANTING + 1):
                await talk.call("update_memory", uri=marker, append="!")
            await heard.hears_often(marker, _NOTICES_OF_PLANTING + 1)  # so the planting was told of, if it was
            heard.uris.clear()
            await talk.call("update_memory", uri=other, append="!")
            await talk.call("update_memory", uri=uri, append="!")
            await heard.hears(uri)
            assert [told for told in heard.uris if told != marker] == [other, uri]
