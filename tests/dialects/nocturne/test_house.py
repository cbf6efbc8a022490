"""One house: keys and users, the other dialects, and a server that is killed."""

import re
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from commonplace.domain.access import Permission
from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import children, content, plant
from tests.serving import Era, Served, over_http, served
from tests.transports.wire import key_for

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOCTURNE = "/nocturne/mcp"
_ID = re.compile(r"memory://[0-9a-f-]{36}")


async def _value(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.structured_content
    body = result.structured_content or {}
    return body["result"] if set(body) == {"result"} else body


@behaviour("nocturne.access.read_only_keys")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_reading_key_sees_and_uses_only_tools_that_read(listening: Served, era: Era) -> None:
    user = unique()
    reading = await key_for(listening.folder, user, Permission.READ)
    writing = await key_for(listening.folder, user, name=f"{user} writing")
    async with (
        over_http(listening, key=writing, path=NOCTURNE) as one,
        over_http(listening, key=reading, era=era, path=NOCTURNE) as two,
    ):
        writer, reader = ProseConversation(one), ProseConversation(two)
        uri = await plant(writer, content="for both")
        assert await content(reader, uri) == "for both"
        assert {tool.name for tool in (await two.list_tools()).tools} == {"read_memory", "search_memory"}
        for tool, arguments in (
            ("create_memory", {"parent_uri": uri, "content": "x", "priority": 1}),
            ("update_memory", {"uri": uri, "append": "x"}),
            ("delete_memory", {"uri": uri}),
            ("add_alias", {"new_uri": "notes://x", "target_uri": uri}),
        ):
            said = await reader.refused(tool, **arguments)
            assert said == f"nocturne.{tool} needs the permission 'write'. Use a credential that has 'write'."


@behaviour("nocturne.access.users")
async def test_users_never_see_each_others_trees(listening: Served) -> None:
    keys = [await key_for(listening.folder, unique()) for _ in range(2)]
    async with (
        over_http(listening, key=keys[0], path=NOCTURNE) as one,
        over_http(listening, key=keys[1], path=NOCTURNE) as two,
    ):
        anna, bert = ProseConversation(one), ProseConversation(two)
        word = unique()
        uri = await plant(anna, content=f"secret {word}", title=word)
        itself = _ID.findall(await anna.call("delete_memory", uri=await plant(anna, content=f"lost {word}")))[0]
        for address in (uri, itself, f"{uri}/x"):
            assert f"URI '{address}' not found" in await bert.refused("read_memory", uri=address)
            assert (await bert.unreadable(address)).message == f"Resource not found: {address}"
        assert "not found" in await bert.refused("update_memory", uri=uri, append="x")
        assert "not found" in await bert.refused("delete_memory", uri=uri)
        assert "not found" in await bert.refused("add_alias", new_uri="notes://x", target_uri=uri)
        assert "not found" in await bert.refused("add_alias", new_uri="notes://x", target_uri=itself)
        assert "does not exist" in await bert.refused("create_memory", parent_uri=uri, content="x", priority=1)
        pages = ["core://", "memory://", "system://boot", "system://index", "system://recent/100"]
        shown = [await bert.call("read_memory", uri=page) for page in pages]
        shown += [await bert.call("search_memory", query="secret"), str(await two.list_resources())]
        assert not [page for page in shown if word in page]
        same = await plant(bert, content="his own", title=word)
        assert (same, await content(bert, same), await content(anna, uri)) == (uri, "his own", f"secret {word}")


@behaviour("nocturne.dialects.found_by_others")
async def test_what_is_created_here_is_found_by_greeum(listening: Served) -> None:
    async with over_http(listening, path=NOCTURNE) as client, over_http(listening) as greeum:
        text = f"The lighthouse keeper {unique()} paints the door green"
        uri = await plant(ProseConversation(client), content=text)
        hits = await _value(greeum, "query_memory", query=text)
        assert hits[0]["content"] == text
        await ProseConversation(client).call("update_memory", uri=uri, old_string="green", new_string="purple")
        assert (await _value(greeum, "query_memory", query=text))[0]["content"] == text.replace("green", "purple")
        assert (await _value(greeum, "verify_chain"))["valid"]


@behaviour("nocturne.dialects.given_a_path")
async def test_a_memory_of_another_dialect_is_read_by_its_id_and_given_a_path(listening: Served) -> None:
    async with over_http(listening, path=NOCTURNE) as client, over_http(listening) as greeum:
        talk = ProseConversation(client)
        text = unique()
        added = await _value(greeum, "add_memory", content=text)
        identity = (await _value(greeum, "retrieve_memory", memory_id=added["id"]))["memory_id"]
        assert await content(talk, f"memory://{identity}") == text
        assert f"- memory://{identity}  [#" in await talk.call("search_memory", query=text)
        uri = f"notes://{text}"
        await talk.call("add_alias", new_uri=uri, target_uri=f"memory://{identity}", priority=2)
        assert await content(talk, uri) == text
        await talk.call("update_memory", uri=uri, append=" more")
        assert (await _value(greeum, "retrieve_memory", memory_id=added["id"]))["content"] == f"{text} more"


@behaviour("nocturne.dialects.erased")
async def test_what_greeum_deletes_is_gone_here_and_its_children_are_kept(listening: Served) -> None:
    async with over_http(listening, path=NOCTURNE) as client, over_http(listening) as greeum:
        talk = ProseConversation(client)
        text, child = unique(), unique()
        uri = await plant(talk, content=text)
        below = await plant(talk, uri, child, title="below")
        await plant(talk, below, "grandchild", title="deep")
        (hit,) = [hit for hit in await _value(greeum, "query_memory", query=text) if hit["content"] == text]
        await _value(greeum, "delete_memory", memory_id=hit["id"])
        assert "not found" in await talk.refused("read_memory", uri=uri)
        assert "not found" in await talk.refused("read_memory", uri=below)
        listed = await talk.call("read_memory", uri="memory://")
        (itself,) = re.findall(rf"- URI: (\S+)  was: {below}\n", listed)
        assert await content(talk, itself) == child
        assert await content(talk, f"{itself}/deep") == "grandchild"
        await talk.call("add_alias", new_uri=f"notes://{child}", target_uri=itself)
        assert await children(talk, f"notes://{child}") == [f"notes://{child}/deep"]


@behaviour("nocturne.durability.killed")
async def test_what_was_acknowledged_survives_a_server_that_is_killed(folder: Path) -> None:
    acknowledged: dict[str, str] = {}
    with served(folder, "--dialect", "nocturne") as server:
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(_create_until_killed, server, number, acknowledged)
            with anyio.fail_after(60):
                while len(acknowledged) < 40:
                    await anyio.sleep(0.01)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(timeout=10)
            tasks.cancel_scope.cancel()
    with served(folder, "--dialect", "nocturne") as server:
        async with over_http(server) as client, over_http(server, path="/greeum/mcp") as greeum:
            talk = ProseConversation(client)
            assert {uri: await content(talk, uri) for uri in acknowledged} == acknowledged
            numbers = [int(uri.rpartition("/")[2]) for uri in await children(talk, "core://")]
            assert sorted(numbers) == list(range(1, len(numbers) + 1))
            for uri in await children(talk, "core://"):
                assert await content(talk, uri)
            assert (await _value(greeum, "verify_chain"))["valid"]
            assert await plant(talk, title=None) == f"core://{len(numbers) + 1}"


async def _create_until_killed(server: Served, client_number: int, acknowledged: dict[str, str]) -> None:
    try:
        async with over_http(server) as client:
            talk = ProseConversation(client)
            for number in range(10_000):
                text = f"text {client_number}.{number}"
                acknowledged[await plant(talk, content=text, title=None)] = text
    except Exception:
        if server.process.poll() is None:
            raise
