"""update_memory: what is named changes, and how long a memory lasts."""

from datetime import timedelta

import pytest

from commonplace.dialects.creo import ids
from commonplace.domain.errors import Forbidden, NotFound
from tests.dialects.conversation import text_of, unique
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.dialects.creo.test_memory import NOBODY, among_newest
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@behaviour("creo.memory.update")
async def test_what_is_named_changes_and_the_rest_stays(talk: CreoConversation) -> None:
    kept = await talk.call("remember", content=unique(), category="design", tags=["a", "b"], metadata={"a": 1, "b": 2})
    before = kept["memory"]
    changed = await talk.call("update_memory", id=f"memories:{kept['id']}", tags=["c"], metadata={"b": 3, "c": 4})
    memory = changed["memory"]
    assert changed["id"] == kept["id"]
    assert "promoted" not in changed
    assert memory == {
        **before, "tags": ["c"], "metadata": {"a": 1, "b": 3, "c": 4}, "version": 2, "updatedAt": memory["updatedAt"],
    }  # fmt: skip
    assert memory["createdAt"] == before["createdAt"]
    assert await talk.says("update_memory", id=kept["id"], content=unique()) == "メモリを更新しました"


@behaviour("creo.memory.same")
async def test_what_is_there_already_is_no_change(talk: CreoConversation) -> None:
    kept = await talk.call("remember", content=unique(), tags=["a"], metadata={"a": 1})
    same = {"id": kept["id"], "content": kept["memory"]["content"], "tags": ["a"], "metadata": {"a": 1}}
    assert (await talk.call("update_memory", **same))["memory"] == kept["memory"]
    assert await talk.says("update_memory", **same) == "メモリはすでにその内容です。変更はありません"


@behaviour("creo.memory.update")
async def test_every_field_can_be_changed(talk: CreoConversation) -> None:
    kept = await talk.remember(category="design", tags=["a"])
    word = unique()
    memory = (
        await talk.call(
            "update_memory", id=kept, content=word, contentType="markdown", category="learning", tags=[], metadata={}
        )
    )["memory"]
    assert (memory["content"], memory["contentType"], memory["category"], memory["tags"]) == (
        word, "markdown", "learning", [],
    )  # fmt: skip
    assert [one["id"] for one in (await talk.call("search", query=word, limit=1))["results"]] == [kept]
    assert (await talk.call("update_memory", id=kept, category=""))["memory"]["category"] is None


@behaviour("creo.memory.update")
async def test_an_entry_of_metadata_that_is_null_goes(talk: CreoConversation) -> None:
    kept = await talk.remember(metadata={"a": 1, "b": 2})
    changed = await talk.call("update_memory", id=kept, metadata={"a": None})
    assert changed["memory"]["metadata"] == {"b": 2}


@behaviour("creo.memory.reembedding")
async def test_only_a_changed_text_is_embedded_again(local: CreoConversation, embedder: Embedder) -> None:
    kept = await local.remember("a text")
    before = len(embedder.batches)
    await local.call("update_memory", id=kept, content="a text", tags=["x"], category="y", metadata={"z": 1}, ttl=60)
    assert len(embedder.batches) == before
    await local.call("update_memory", id=kept, content="another text")
    assert len(embedder.batches) == before + 1
    assert (await local.call("search", query="another text"))["results"][0]["id"] == kept


@behaviour("creo.memory.nothing")
async def test_an_update_of_nothing_is_refused_with_what_there_is(talk: CreoConversation) -> None:
    kept = await talk.remember()
    said = await talk.invalid("update_memory", id=kept)
    for name in ("content", "contentType", "category", "tags", "metadata", "ttl"):
        assert name in said


@behaviour("creo.memory.promote")
async def test_a_ttl_of_null_keeps_a_memory_for_good(local: CreoConversation, clock: Clock) -> None:
    kept = await local.remember("worth keeping", ttl=60)
    result = await local.answer("update_memory", id=kept, ttl=None)
    assert result.structured_content
    assert result.structured_content["promoted"] is True
    assert "ephemeral" not in result.structured_content["memory"]
    assert text_of(result) == "メモリを永続化（昇格）しました"
    clock.advance(timedelta(days=40))
    assert await among_newest(local, kept)


@behaviour("creo.memory.promote")
async def test_what_stays_already_is_not_promoted(talk: CreoConversation) -> None:
    kept = await talk.remember()
    result = await talk.answer("update_memory", id=kept, ttl=None)
    assert result.structured_content
    assert result.structured_content["promoted"] is False
    assert text_of(result) == "メモリはすでに永続化されています"
    assert result.structured_content["memory"]["version"] == 1


@behaviour("creo.memory.extend")
async def test_a_ttl_is_set_from_now_on_whatever_there_was(local: CreoConversation, clock: Clock) -> None:
    brief, lasting = await local.remember("brief", ttl=60), await local.remember("lasting")
    clock.advance(timedelta(seconds=30))
    for kept in (brief, lasting):
        result = await local.answer("update_memory", id=kept, ttl=172_800)
        assert result.structured_content
        end = result.structured_content["memory"]["ephemeral"]
        assert end == {"ttl": 172_800, "expiresAt": "2026-01-17T03:00:30.000Z", "remaining": "残り 2日"}
        assert text_of(result) == "メモリのTTLを更新しました（172800秒）"
        assert "promoted" not in result.structured_content
    clock.advance(timedelta(days=2))
    assert (await local.call("search"))["total"] == 0


@behaviour("creo.memory.extend")
async def test_without_a_ttl_the_end_stays_as_it_is(local: CreoConversation) -> None:
    kept = await local.call("remember", content="for an hour", ttl=3600)
    changed = await local.call("update_memory", id=kept["id"], tags=["x"])
    assert changed["memory"]["ephemeral"]["expiresAt"] == kept["ephemeral"]["expiresAt"]
    words = await local.says("update_memory", id=kept["id"], content="new", ttl=60)
    assert words.splitlines() == ["メモリを更新しました", "メモリのTTLを更新しました（60秒）"]
    for ttl in (59, 2_592_001, 0, -1):
        assert "ttl" in await local.invalid("update_memory", id=kept["id"], ttl=ttl)


@behaviour("creo.memory.not_yours")
async def test_a_memory_of_another_user_is_as_absent_as_none(ann: Speaker, ben: Speaker) -> None:
    kept = await ann.remember("mine alone")
    for tool, more in (("update_memory", {"content": "x"}), ("update_memory", {"ttl": None}), ("forget", {})):
        words = set()
        for identifier in (kept, NOBODY):
            confirmed = {"confirm": True} if tool == "forget" else {}
            refused = await ben.refused(tool, id=identifier, **more, **confirmed)
            assert isinstance(refused, NotFound)
            words.add(refused.message.replace(identifier, "ID"))
        assert len(words) == 1
    assert (await among_newest(ann, kept) or {})["content"] == "mine alone"


@behaviour("creo.memory.not_yours")
async def test_a_missing_memory_is_said_to_be_missing(talk: CreoConversation) -> None:
    for tool, more in (("update_memory", {"content": "x"}), ("forget", {"confirm": True})):
        assert (await talk.refused(tool, id=NOBODY, **more)).startswith("メモリが見つかりません: ")
        assert "id" in await talk.invalid(tool, id="not an id", **more)


@behaviour("creo.memory.readers")
async def test_who_may_only_read_a_memory_is_told_so(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    everyones = await admin.engine.collections.everyones()
    kept = await admin.remember("for all to read")
    assert await admin.engine.collections.move(admin.actor, [ids.memory("id", kept)], everyones)
    assert await among_newest(ben, kept)
    assert isinstance(await ben.refused("update_memory", id=kept, content="x"), Forbidden)
    assert isinstance(await ben.refused("forget", id=kept, confirm=True), Forbidden)
