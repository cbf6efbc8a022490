"""One house: what one dialect stores, the others find, within what the caller may see."""

import pytest

from tests.dialects.assoc.speech import ASSOC, AssocConversation
from tests.dialects.conversation import Conversation, ProseConversation, unique
from tests.dialects.creo.speech import CREO, CreoConversation
from tests.serving import Served, over_http
from tests.transports.wire import key_for

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOCTURNE = "/nocturne/mcp"


async def _contents(client: CreoConversation, query: str) -> list[str]:
    return [one["content"] for one in (await client.call("search", query=query, limit=20))["results"]]


@behaviour("creo.dialects.found_by_others")
async def test_what_is_remembered_here_is_found_by_the_other_dialects(listening: Served) -> None:
    async with (
        over_http(listening, path=CREO) as client,
        over_http(listening) as greeum,
        over_http(listening, path=ASSOC) as assoc,
        over_http(listening, path=NOCTURNE) as nocturne,
    ):
        word = unique()
        text = f"灯台守の{word}は扉を緑に塗る"
        kept = await CreoConversation(client).remember(text, category="design", tags=["灯台"])
        hits = await Conversation(greeum).call("query_memory", query=text)
        assert text in [hit["content"] for hit in hits]
        assert kept in await AssocConversation(assoc).finds(text)
        assert word in (await ProseConversation(nocturne).call("search_memory", query=word)).partition("\n")[2]
        assert (await Conversation(greeum).call("verify_chain"))["valid"]
        await CreoConversation(client).call("forget", id=kept, confirm=True)
        hits = await Conversation(greeum).call("query_memory", query=text)
        assert text not in [hit["content"] for hit in hits]
        assert (await Conversation(greeum).call("verify_chain"))["valid"]


@behaviour("creo.dialects.finds_others")
async def test_what_other_dialects_store_is_found_and_changed_here(listening: Served) -> None:
    async with (
        over_http(listening, path=CREO) as client,
        over_http(listening) as greeum,
        over_http(listening, path=ASSOC) as assoc,
    ):
        talk, words = CreoConversation(client), [unique() for _ in range(2)]
        await Conversation(greeum).call("add_memory", content=f"{words[0]} from greeum", tags=["t"])
        await AssocConversation(assoc).store(f"{words[1]} from assoc", tags=["t"])
        for word, source in zip(words, ("greeum", "assoc"), strict=True):
            (found,) = [
                one for one in (await talk.call("search", query=word))["results"] if one["content"].startswith(word)
            ]
            assert found["content"] == f"{word} from {source}"
            await talk.call("update_memory", id=found["id"], content=f"{word} from both")
        hits = await Conversation(greeum).call("query_memory", query=words[0])
        assert f"{words[0]} from both" in [hit["content"] for hit in hits]


@behaviour("creo.dialects.ephemeral")
async def test_short_term_memories_of_others_are_ephemeral_here(listening: Served) -> None:
    async with over_http(listening, path=CREO) as client, over_http(listening) as greeum:
        talk, word = CreoConversation(client), unique()
        await Conversation(greeum).call("add_stm", content=word, ttl_type="short")
        (found,) = [one for one in (await talk.call("search", query=word))["results"] if one["content"] == word]
        assert found["ephemeral"]["ttl"] == 3600
        assert (await talk.call("update_memory", id=found["id"], ttl=None))["promoted"] is True


@behaviour("creo.dialects.members_only")
async def test_an_atlas_is_seen_by_its_owner_alone_in_every_dialect(listening: Served) -> None:
    keys = {who: await key_for(listening.folder, unique()) for who in ("owner", "stranger")}
    word = unique()
    async with over_http(listening, path=CREO, key=keys["owner"]) as client:
        talk = CreoConversation(client)
        atlas = (await talk.call("create_atlas", name="mine"))["id"]
        await talk.remember(f"{word} in an atlas", atlasId=atlas)
    for who, sees in (("owner", True), ("stranger", False)):
        async with over_http(listening, path=CREO, key=keys[who]) as client:
            assert (f"{word} in an atlas" in await _contents(CreoConversation(client), word)) is sees
        async with over_http(listening, key=keys[who]) as greeum:
            hits = await Conversation(greeum).call("query_memory", query=word)
            assert (f"{word} in an atlas" in [hit["content"] for hit in hits]) is sees
        async with over_http(listening, path=NOCTURNE, key=keys[who]) as nocturne:
            told = (await ProseConversation(nocturne).call("search_memory", query=word)).partition("\n")[2]
            assert (word in told) is sees
