"""update_memory: patch, append, metadata, and reading first."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation

from commonplace.domain.address import address
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from tests.dialects.conversation import ProseConversation, error_sentence, unique
from tests.dialects.nocturne.tree import content, plant
from tests.dialects.servers import Servers
from tests.serving import OWNER_KEY, Era, Served, over_http, over_sse

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")


@behaviour("nocturne.update_memory.patch")
async def test_a_passage_is_replaced_or_deleted(talk: ProseConversation) -> None:
    uri = await plant(talk, content="I like tea.\n\nMuch.")
    said = await talk.call("update_memory", uri=uri, old_string="tea", new_string="coffee %_* 'x' \\1")
    assert said == f"Success: Memory at '{uri}' updated"
    assert await content(talk, uri) == "I like coffee %_* 'x' \\1.\n\nMuch."
    await talk.call("update_memory", uri=uri, old_string="\n\nMuch.", new_string="")
    assert await content(talk, uri) == "I like coffee %_* 'x' \\1."


@behaviour("nocturne.update_memory.unique")
async def test_a_passage_must_stand_there_exactly_once(talk: ProseConversation) -> None:
    uri = await plant(talk, content="aXa bXb aaa")
    refused = {
        "zzz": "old_string: was not found in the memory; read it again and copy the text as it stands.",
        "X": "old_string: was found 2 times; give more of the text around it, so that it is unique.",
        "aa": "old_string: was found 2 times; give more of the text around it, so that it is unique.",
        "x": "old_string: was not found in the memory; read it again and copy the text as it stands.",
    }
    for old, sentence in refused.items():
        assert await talk.refused("update_memory", uri=uri, old_string=old, new_string="!") == sentence
    assert await content(talk, uri) == "aXa bXb aaa"


@behaviour("nocturne.update_memory.both_strings")
async def test_a_patch_needs_both_strings_and_a_difference(talk: ProseConversation) -> None:
    uri = await plant(talk, content="text")
    needs = 'is required: a patch needs both old_string and new_string ("" deletes the passage).'
    assert await talk.refused("update_memory", uri=uri, old_string="text") == f"new_string: {needs}"
    assert await talk.refused("update_memory", uri=uri, new_string="text") == f"old_string: {needs}"
    assert "is the same as old_string" in await talk.refused(
        "update_memory", uri=uri, old_string="text", new_string="text"
    )
    assert "use append" in await talk.refused("update_memory", uri=uri, old_string="", new_string="x")
    assert "without any text" in await talk.refused("update_memory", uri=uri, old_string="text", new_string=" ")


@behaviour("nocturne.update_memory.forgiving")
@pytest.mark.parametrize(
    ("text", "old", "after"),
    [
        ("He said “hi” — twice.", 'said "hi" - twice', "He [x]."),
        ("a’b", "a'b", "[x]"),
        ("one  \ntwo\t\nthree", "one\ntwo", "[x]\t\nthree"),
        ("caf\u0065\u0301 au lait", "caf\u00e9", "[x] au lait"),
        ("line\r\nnext", "line\nnext", "[x]"),
    ],
)
async def test_small_differences_are_forgiven_where_one_place_is_meant(
    talk: ProseConversation, text: str, old: str, after: str
) -> None:
    uri = await plant(talk, content=text)
    said = await talk.call("update_memory", uri=uri, old_string=old, new_string="[x]")
    assert said == (
        f"Success: Memory at '{uri}' updated\n"
        "Note: old_string was not found to the letter, but in one place with other quotes, dashes or blanks."
    )
    assert await content(talk, uri) == after


@behaviour("nocturne.update_memory.forgiving")
async def test_nothing_is_forgiven_where_two_places_could_be_meant(talk: ProseConversation) -> None:
    uri = await plant(talk, content="a—b a–b")
    said = await talk.refused("update_memory", uri=uri, old_string="a-b", new_string="x")
    assert said == "old_string: was not found exactly, and 2 places are like it; copy the text as it stands."
    exact = await talk.call("update_memory", uri=uri, old_string="a–b", new_string="x")
    assert "Note" not in exact


@behaviour("nocturne.update_memory.append")
async def test_text_is_added_at_the_end_as_it_is(talk: ProseConversation) -> None:
    uri = await plant(talk, content="first")
    for more in ("\nsecond", " ", "셋"):
        await talk.call("update_memory", uri=uri, append=more)
    assert await content(talk, uri) == "first\nsecond 셋"
    assert await talk.refused("update_memory", uri=uri, append="") == "append: must not be empty."
    assert "1 MB" in await talk.refused("update_memory", uri=uri, append="x" * 1048576)


@behaviour("nocturne.update_memory.exclusive")
async def test_patch_and_append_exclude_each_other(talk: ProseConversation) -> None:
    uri = await plant(talk)
    for more in ({"old_string": "x", "new_string": "y"}, {"old_string": "x"}, {"new_string": "y"}):
        said = await talk.refused("update_memory", uri=uri, append="z", **more)
        assert said == "append: cannot be combined with old_string/new_string: patch or append, not both."
    said = await talk.refused("update_memory", uri=uri)
    assert said == "update_memory: there is nothing to change: give a patch, append, priority or disclosure."


@behaviour("nocturne.update_memory.no_replacement")
async def test_there_is_no_way_to_replace_a_whole_text_unseen(talk: ProseConversation) -> None:
    uri = await plant(talk, content="whole")
    said = await talk.refused("update_memory", uri=uri, content="other")
    assert "content: is not a parameter of update_memory" in said
    assert await content(talk, uri) == "whole"


@behaviour("nocturne.update_memory.metadata")
async def test_metadata_is_changed_alone_or_along_with_the_text(talk: ProseConversation) -> None:
    uri = await plant(talk, content="text", priority=5, disclosure="before")
    await talk.call("update_memory", uri=uri, priority=0)
    assert "Priority: 0\nDisclosure: before\n" in await talk.call("read_memory", uri=uri)
    await talk.call("update_memory", uri=uri, append="!", priority=4, disclosure="after")
    page = await talk.call("read_memory", uri=uri)
    assert "Priority: 4\nDisclosure: after\n" in page
    assert page.endswith("text!")
    await talk.call("update_memory", uri=uri, disclosure="")
    assert "Disclosure: (not set)" in await talk.call("read_memory", uri=uri)
    assert "priority: must be" in await talk.refused("update_memory", uri=uri, priority=-1, append="lost?")
    assert await content(talk, uri) == "text!"


@behaviour("nocturne.update_memory.not_found")
async def test_only_memories_can_be_updated(talk: ProseConversation) -> None:
    assert "not found" in await talk.refused("update_memory", uri=f"core://{unique()}", append="x")
    assert await talk.refused("update_memory", uri="core://", append="x") == (
        "uri: core:// is the root of a domain, which has no text."
    )


# Reading first


@asynccontextmanager
async def _session(server: Served, era: Era, name: str, key: str = OWNER_KEY) -> AsyncIterator[ProseConversation]:
    """A client with a name of its own."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as web:
        wire = streamable_http_client(server.url("/nocturne/mcp"), http_client=web)
        async with Client(wire, mode=era, client_info=Implementation(name=name, version="1")) as client:
            yield ProseConversation(client)


def _unread(uri: str) -> str:
    return f"Memory at '{uri}' was not read in this session. Call read_memory(\"{uri}\"), then repeat the update."


def _changed(uri: str) -> str:
    return f"Memory at '{uri}' has changed since you read it. Call read_memory(\"{uri}\"), then repeat the update."


@behaviour("nocturne.update_memory.read_first")
@pytest.mark.parametrize("era", ERAS)
async def test_what_a_session_has_not_read_it_cannot_change(listening: Served, era: Era) -> None:
    async with _session(listening, era, "maker") as maker, _session(listening, era, "other") as other:
        uri = await plant(maker, content="text")
        below = await plant(maker, uri)
        for change in ({"append": "!"}, {"priority": 3}, {"old_string": "text", "new_string": "x"}):
            assert await other.refused("update_memory", uri=uri, **change) == _unread(uri)
        await other.call("search_memory", query=uri)
        await other.call("read_memory", uri=below)
        assert await other.refused("update_memory", uri=uri, append="!") == _unread(uri)
        await other.call("read_memory", uri=uri)
        await other.call("update_memory", uri=uri, append="!")
        assert await content(maker, uri) == "text!"


@behaviour("nocturne.update_memory.changed_meanwhile")
@pytest.mark.parametrize("era", ERAS)
async def test_what_another_session_changed_must_be_read_again(listening: Served, era: Era) -> None:
    async with _session(listening, era, "maker") as maker, _session(listening, era, "other") as other:
        uri = await plant(maker, content="text")
        await other.call("read_memory", uri=uri)
        await maker.call("update_memory", uri=uri, append=" by maker")
        await maker.call("update_memory", uri=uri, append=" twice")
        assert await other.refused("update_memory", uri=uri, append=" by other") == _changed(uri)
        await other.call("read_memory", uri=uri)
        await other.call("update_memory", uri=uri, append=" by other")
        assert await maker.refused("update_memory", uri=uri, priority=9) == _changed(uri)
        assert await content(other, uri) == "text by maker twice by other"


@behaviour("nocturne.update_memory.sessions")
async def test_a_session_is_a_connection_or_in_the_modern_era_a_client_and_its_key(
    listening: Served, servers: Servers
) -> None:
    async with _session(listening, "2026-07-28", "same") as one, _session(listening, "2026-07-28", "same") as two:
        await two.call("update_memory", uri=await plant(one), append="known by the name of the client")
    async with _session(listening, "legacy", "same") as one, _session(listening, "legacy", "same") as two:
        uri = await plant(one)
        assert await two.refused("update_memory", uri=uri, append="x") == _unread(uri)
    server = servers.chosen("nocturne")
    async with over_sse(server) as first, over_sse(server) as second:
        uri = await plant(ProseConversation(first))
        assert await ProseConversation(second).refused("update_memory", uri=uri, append="x") == _unread(uri)


@behaviour("nocturne.update_memory.what_counts_as_read")
async def test_creating_reading_by_any_address_and_as_a_resource_count_as_reading(listening: Served) -> None:
    async with _session(listening, "legacy", "maker") as maker, _session(listening, "legacy", "other") as other:
        uri, alias = await plant(maker), f"notes://{unique()}"
        await maker.call("update_memory", uri=uri, append="created here")
        await maker.call("add_alias", new_uri=alias, target_uri=uri)
        await other.call("read_memory", uri=alias)
        await other.call("update_memory", uri=uri, append="read by its alias")
        await maker.read(uri)
        await maker.call("update_memory", uri=alias, append="read as a resource")


@behaviour("nocturne.update_memory.what_counts_as_read")
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_subscribing_is_not_reading(listening: Served) -> None:
    async with over_http(listening, path="/nocturne/mcp") as maker:
        uri = await plant(ProseConversation(maker))
    async with over_http(listening, path="/nocturne/mcp") as client:
        await client.subscribe_resource(uri)
        assert await ProseConversation(client).refused("update_memory", uri=uri, append="x") == _unread(uri)
    async with (
        _session(listening, "2026-07-28", "listener") as other,
        other.client.listen(resource_subscriptions=[uri]),
    ):
        assert await other.refused("update_memory", uri=uri, append="x") == _unread(uri)


@behaviour("nocturne.update_memory.compare_and_swap")
@pytest.mark.parametrize("era", ERAS)
async def test_of_two_patches_at_once_one_wins_and_the_other_is_told_to_read(listening: Served, era: Era) -> None:
    async with _session(listening, era, "one") as one, _session(listening, era, "two") as two:
        uri = await plant(one, content="start")
        for attempt in range(5):
            before = await content(one, uri)
            await two.call("read_memory", uri=uri)
            said = await _at_once((one, uri, f" one{attempt}"), (two, uri, f" two{attempt}"))
            (won,) = [word for word, answer in said.items() if not answer.is_error]
            (lost,) = [error_sentence(answer) for answer in said.values() if answer.is_error]
            assert "was changed by someone else" in lost or "has changed since you read it" in lost
            assert lost.endswith(f'Call read_memory("{uri}"), then repeat the update.')
            assert await content(one, uri) == before + won


async def _at_once(*changes: tuple[ProseConversation, str, str]) -> dict[str, CallToolResult]:
    """What each was answered who appended a word, all at the same moment."""
    answers: dict[str, CallToolResult] = {}

    async def append(talk: ProseConversation, uri: str, word: str) -> None:
        answers[word] = await talk.answer("update_memory", uri=uri, append=word)

    async with anyio.create_task_group() as tasks:
        for change in changes:
            tasks.start_soon(append, *change)
    return answers


@behaviour("nocturne.update_memory.compare_and_swap")
async def test_no_edit_is_lost_when_one_session_sends_many_at_once(talk: ProseConversation) -> None:
    uri = await plant(talk, content="start")
    said = await _at_once(*((talk, uri, f" w{number}") for number in range(8)))
    kept = [word.strip() for word, answer in said.items() if not answer.is_error]
    assert kept
    assert sorted((await content(talk, uri)).split()[1:]) == sorted(kept)


@behaviour("nocturne.update_memory.versions")
async def test_what_was_there_before_is_kept_with_who_changed_it(local: ProseConversation, engine: Engine) -> None:
    uri = await plant(local, content="first")
    await local.call("update_memory", uri=uri, old_string="first", new_string="second")
    owner = (await engine.access.local_owner()).through("test")
    memory = (await engine.paths.look(owner, address(uri))).memory
    assert memory
    states = await engine.history.states(owner, Reference(memory.id))
    assert [state.content for state in states] == ["first", "second"]
    assert [state.author.tool for state in states] == ["nocturne.create_memory", "nocturne.update_memory"]
    await engine.history.restore(owner, Reference(memory.id), 1)
    assert await content(local, uri) == "first"
