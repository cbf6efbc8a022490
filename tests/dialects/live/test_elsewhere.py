"""The same token in the other dialects: within its permissions and its spaces, and nowhere else."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import Connection, Conversation, ProseConversation, text_of, unique
from tests.dialects.creo.speech import CreoConversation
from tests.dialects.live.speech import LiveConversation, over_the_net
from tests.serving import OWNER_KEY, Served, over_http

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@dataclass(frozen=True)
class Elsewhere:
    """One token in all dialects."""

    creo: CreoConversation
    assoc: AssocConversation
    greeum: Conversation
    nocturne: ProseConversation
    live: LiveConversation

    async def finds(self, query: str, word: str) -> dict[str, bool]:
        """Whether each dialect finds a text that holds the word twice, with a query; the answers may repeat that."""
        everywhere = {"include_domains": ["global", "user", "project", "session"], "threshold": 0.0}
        answers: dict[str, tuple[Connection, str, dict[str, Any]]] = {
            "assoc": (self.assoc, "memory", {"action": "search", "query": query, **everywhere}),
            "greeum": (self.greeum, "query_memory", {"query": query}),
            "creo": (self.creo, "search", {"query": query}),
            "nocturne": (self.nocturne, "search_memory", {"query": word}),
        }
        found = {}
        for dialect, (talk, tool, arguments) in answers.items():
            result = await talk.answer(tool, **arguments)
            assert not result.is_error, text_of(result)
            found[dialect] = f"{word} {word}" in text_of(result)
        return found

    async def writes(self, word: str) -> dict[str, bool]:
        """Whether it may keep something of its own in each dialect."""
        text, place = f"{word} {word}", {"parent_uri": "core://", "priority": 1, "title": word, "disclosure": "x"}
        answers: dict[str, tuple[Connection, str, dict[str, Any]]] = {
            "assoc": (self.assoc, "memory", {"action": "store", "content": text, "domain": "user"}),
            "greeum": (self.greeum, "add_memory", {"content": text}),
            "creo": (self.creo, "remember", {"content": text}),
            "nocturne": (self.nocturne, "create_memory", {"content": text, **place}),
        }
        return {d: not (await talk.answer(tool, **given)).is_error for d, (talk, tool, given) in answers.items()}


Entering = Callable[[str], Awaitable[Elsewhere]]


@pytest.fixture(scope="module")
async def admin(listening: Served, anyio_backend: str) -> AsyncIterator[LiveConversation]:
    async with over_the_net(listening, OWNER_KEY) as conversation:
        yield conversation


@pytest.fixture
async def elsewhere(listening: Served) -> AsyncIterator[Entering]:
    """Opens all dialects with a token."""
    async with AsyncExitStack() as stack:

        async def entered(token: str) -> Elsewhere:
            names = ("creo", "assoc", "greeum", "nocturne", "live")
            opened = [over_http(listening, key=token, path=f"/{name}/mcp") for name in names]
            clients = [await stack.enter_async_context(one) for one in opened]
            creo, assoc, greeum, nocturne, live = clients
            return Elsewhere(
                CreoConversation(creo),
                AssocConversation(assoc),
                Conversation(greeum),
                ProseConversation(nocturne),
                LiveConversation(live),
            )

        yield entered


EVERYWHERE = dict.fromkeys(("assoc", "greeum", "creo", "nocturne"), True)
NOWHERE = dict.fromkeys(EVERYWHERE, False)


@behaviour("live.elsewhere.finds")
async def test_a_note_is_found_in_every_dialect_by_whoever_may_go_into_its_space(
    admin: LiveConversation, elsewhere: Entering
) -> None:
    here, there, word = await admin.space(), await admin.space(), unique()
    await admin.note(here, f"{word} {word}: the deadline was moved to Friday")
    meaning = "when is the due date?"
    for token, query, found in (
        (await admin.token("read", here), meaning, EVERYWHERE),
        (await admin.token("read"), word, EVERYWHERE),
        (await admin.token("read,write", there), meaning, NOWHERE),
        (await admin.token("read,write", there), word, NOWHERE),
    ):
        agent = await elsewhere(token)
        assert await agent.finds(query, word) == found


@behaviour("live.elsewhere.finds")
async def test_a_note_is_found_by_its_meaning_in_the_domain_of_projects(
    admin: LiveConversation, elsewhere: Entering
) -> None:
    space = await admin.space()
    await admin.note(space, "The deadline of the release was moved to Friday.")
    for text in ("Lunch is served at noon.", "The printer is out of paper.", "Ann likes tea."):
        await admin.note(space, text)
    agent = await elsewhere(await admin.token("read", space))
    data = await agent.assoc.call(
        "memory", action="search", query="release date", include_domains=["project"], threshold=0.0
    )
    assert data["results"][0]["content"] == "The deadline of the release was moved to Friday."
    found = await agent.greeum.call("query_memory", query="release date")
    assert "deadline" in json.dumps(found[0] if isinstance(found, list) else found)


@behaviour("live.elsewhere.nothing_else")
async def test_a_limited_token_finds_nothing_outside_its_spaces(admin: LiveConversation, elsewhere: Entering) -> None:
    space, word = await admin.space(), unique()
    owner = await elsewhere(OWNER_KEY)
    assert await owner.writes(word) == EVERYWHERE
    await admin.note(await admin.space(), f"{word} {word} in another space")
    await owner.assoc.call("memory", action="store", content=f"{word} {word} for all", domain="global")
    agent = await elsewhere(await admin.token("read,write,admin", space))
    assert await agent.finds(word, word) == NOWHERE
    await agent.live.note(space, f"{word} {word} in its own")
    assert await agent.finds(word, word) == EVERYWHERE


@behaviour("live.elsewhere.writes")
async def test_a_limited_token_writes_nowhere_else(admin: LiveConversation, elsewhere: Entering) -> None:
    space = await admin.space()
    for permissions in ("read", "read,write", "read,write,admin"):
        agent = await elsewhere(await admin.token(permissions, space))
        assert await agent.writes(unique()) == NOWHERE


@behaviour("live.elsewhere.permissions")
async def test_a_token_for_all_spaces_keeps_its_own_in_every_dialect_as_far_as_it_may_write(
    admin: LiveConversation, elsewhere: Entering
) -> None:
    reader = await elsewhere(await admin.token("read"))
    assert await reader.writes(unique()) == NOWHERE
    word = unique()
    writer = await elsewhere(await admin.token("read,write"))
    assert await writer.writes(word) == EVERYWHERE
    assert await writer.finds(word, word) == EVERYWHERE
    other = await elsewhere(await admin.token("read,write"))
    assert await other.finds(word, word) == NOWHERE


@behaviour("live.elsewhere.governs")
async def test_a_limited_administrator_governs_nothing_elsewhere(admin: LiveConversation, elsewhere: Entering) -> None:
    agent = await elsewhere(await admin.token("read,write,admin", await admin.space()))
    for action in ("health_check", "system_stats", "backup", "reindex", "cleanup_orphans"):
        assert (await agent.assoc.answer("admin", action=action)).is_error, action
