"""add_stm, get_stm_memories, forget_stm, cleanup_expired_memories."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
from mcp.client.client import Client

from commonplace.dialects.greeum import greeum
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Conversation, unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

FIELDS = ["id", "content", "ttl_type", "importance", "timestamp", "expires_at", "remaining_seconds"]
MOMENT = timedelta(microseconds=1)


@behaviour("greeum.add_stm.answer", "greeum.add_stm.default_type")
async def test_a_short_term_memory_says_when_it_ends(talk: Conversation) -> None:
    content = unique()
    added = await talk.call("add_stm", content=content)
    assert list(added) == FIELDS
    assert (added["content"], added["ttl_type"]) == (content, "medium")
    life = datetime.fromisoformat(added["expires_at"]) - datetime.fromisoformat(added["timestamp"])
    assert life == timedelta(days=1)
    assert 86300 < added["remaining_seconds"] <= 86400


@behaviour("greeum.add_stm.unknown_type")
async def test_another_type_is_refused(talk: Conversation) -> None:
    for wrong in ("forever", "", "SHORT", 3600, True, ["short"]):
        assert "ttl_type" in await talk.invalid("add_stm", content=unique(), ttl_type=wrong)


@behaviour("greeum.add_stm.importance")
async def test_importance_is_a_half_or_what_was_given(talk: Conversation) -> None:
    assert (await talk.call("add_stm", content=unique()))["importance"] == 0.5
    assert (await talk.call("add_stm", content=unique(), importance=1))["importance"] == 1.0
    for wrong in (-0.5, 1.5, "1", True):
        assert "importance" in await talk.invalid("add_stm", content=unique(), importance=wrong)


@behaviour("greeum.add_stm.short", "greeum.add_stm.medium", "greeum.add_stm.long")
@pytest.mark.parametrize(
    ("ttl_type", "life"),
    [("short", timedelta(hours=1)), ("medium", timedelta(days=1)), ("long", timedelta(weeks=1))],
)
async def test_each_type_lives_its_time_and_not_longer(
    local: Conversation, clock: Clock, ttl_type: str, life: timedelta
) -> None:
    added = await local.call("add_stm", content="회의 메모", ttl_type=ttl_type)
    assert added["remaining_seconds"] == life.total_seconds()
    clock.advance(life - MOMENT)
    assert (await local.call("retrieve_memory", memory_id=added["id"]))["content"] == "회의 메모"
    assert (await local.call("query_memory", query="회의"))[0]["id"] == added["id"]
    clock.advance(MOMENT)
    assert await local.call("retrieve_memory", memory_id=added["id"]) is None
    assert await local.call("query_memory", query="회의") == []


@pytest.fixture
async def brief(engine: Engine, settings: Settings) -> AsyncIterator[Conversation]:
    chosen = Settings(data_dir=settings.data_dir, ttl_short=60, ttl_medium=120, ttl_long=180)
    async with Client(DialectServer(greeum, engine, chosen).server, mode="legacy") as client:
        yield Conversation(client)


@behaviour("greeum.add_stm.settings")
async def test_the_lives_are_settings(brief: Conversation) -> None:
    lives = [(await brief.call("add_stm", content=kind, ttl_type=kind)) for kind in ("short", "medium", "long")]
    assert [life["remaining_seconds"] for life in lives] == [60, 120, 180]
    assert [life["ttl_type"] for life in lives] == ["short", "medium", "long"]
    assert (await brief.call("server_status"))["config"]["ttl_long"] == 180


@behaviour("greeum.add_stm.no_block")
async def test_short_term_memory_does_not_lengthen_the_chain(local: Conversation) -> None:
    await local.call("add_stm", content="passing")
    verdict = await local.call("verify_chain")
    assert (verdict["valid"], verdict["total_blocks"]) == (True, 0)


@behaviour("greeum.get_stm_memories.answer")
async def test_the_newest_comes_first(talk: Conversation) -> None:
    older = await talk.call("add_stm", content=unique())
    newer = await talk.call("add_stm", content=unique())
    listed = await talk.call("get_stm_memories")
    assert set(listed) == {"memories", "total", "has_more"}
    assert [memory["id"] for memory in listed["memories"][:2]] == [newer["id"], older["id"]]
    assert all(list(memory) == FIELDS for memory in listed["memories"])


@behaviour("greeum.get_stm_memories.default_limit", "greeum.get_stm_memories.limit")
async def test_ten_are_listed_unless_another_limit_is_given(talk: Conversation) -> None:
    for _ in range(11):
        await talk.call("add_stm", content=unique())
    listed = await talk.call("get_stm_memories")
    assert len(listed["memories"]) == 10
    assert listed["total"] > 10
    assert listed["has_more"]
    everything = await talk.call("get_stm_memories", limit=1000)
    assert (len(everything["memories"]), everything["has_more"]) == (listed["total"], False)
    for wrong in (0, -1, 1001):
        assert "limit: must be from 1 to 1000" in await talk.invalid("get_stm_memories", limit=wrong)


@behaviour("greeum.get_stm_memories.ttl_type")
async def test_one_type_only(talk: Conversation) -> None:
    added = {kind: await talk.call("add_stm", content=unique(), ttl_type=kind) for kind in ("short", "medium", "long")}
    for kind, one in added.items():
        listed = await talk.call("get_stm_memories", ttl_type=kind)
        assert listed["memories"][0]["id"] == one["id"]
        assert {memory["ttl_type"] for memory in listed["memories"]} == {kind}
    assert "ttl_type" in await talk.invalid("get_stm_memories", ttl_type="forever")


@behaviour("greeum.get_stm_memories.active")
async def test_what_has_ended_is_not_listed(local: Conversation, clock: Clock) -> None:
    await local.call("add_stm", content="soon over", ttl_type="short")
    long = await local.call("add_stm", content="stays", ttl_type="long")
    clock.advance(timedelta(hours=1))
    listed = await local.call("get_stm_memories")
    assert ([memory["id"] for memory in listed["memories"]], listed["total"]) == ([long["id"]], 1)
    assert listed["memories"][0]["remaining_seconds"] == 604800 - 3600


@behaviour("greeum.forget_stm.gone")
async def test_forgetting_is_at_once(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_stm", content=word)
    forgotten = await talk.call("forget_stm", memory_id=added["id"])
    assert forgotten == {"id": added["id"], "deleted": True, "message": "단기 메모리가 삭제되었습니다"}
    assert await talk.call("retrieve_memory", memory_id=added["id"]) is None
    assert all(hit["content"] != word for hit in await talk.call("query_memory", query=word))


@behaviour("greeum.forget_stm.absent")
async def test_forgetting_what_is_not_there_is_not_found(talk: Conversation) -> None:
    added = await talk.call("add_stm", content=unique())
    await talk.call("forget_stm", memory_id=added["id"])
    for name in (added["id"], "01890a5d-ac96-774b-bcce-b302099a8057"):
        assert (await talk.refused("forget_stm", memory_id=name))["code"] == "MEMORY_NOT_FOUND"


@behaviour("greeum.forget_stm.long_term")
async def test_forgetting_does_not_touch_long_term_memory(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    for name in (added["id"], memory["memory_id"]):
        assert (await talk.refused("forget_stm", memory_id=name))["code"] == "MEMORY_NOT_FOUND"
    assert await talk.call("retrieve_memory", memory_id=added["id"]) == memory


@behaviour("greeum.cleanup_expired_memories.answer", "greeum.cleanup_expired_memories.living")
async def test_cleaning_up_removes_what_has_ended_and_says_how_many(local: Conversation, clock: Clock) -> None:
    for number in range(5):
        await local.call("add_stm", content=f"passing {number}", ttl_type="short")
    living = await local.call("add_stm", content="living", ttl_type="long")
    clock.advance(timedelta(hours=2))
    cleaned = await local.call("cleanup_expired_memories")
    assert cleaned == {"cleaned": 5, "message": "5개의 만료된 메모리가 정리되었습니다"}
    again = await local.call("cleanup_expired_memories")
    assert again == {"cleaned": 0, "message": "0개의 만료된 메모리가 정리되었습니다"}
    assert await local.call("retrieve_memory", memory_id=living["id"]) is not None


@behaviour("greeum.cleanup_expired_memories.answer")
async def test_cleaning_up_answers_on_every_wire(talk: Conversation) -> None:
    cleaned = await talk.call("cleanup_expired_memories")
    assert cleaned["message"] == f"{cleaned['cleaned']}개의 만료된 메모리가 정리되었습니다"
