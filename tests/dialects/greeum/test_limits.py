"""사용 제한 and 에러 처리: what is too much, and how failures are told."""

from pathlib import Path

import apsw
import pytest

from commonplace.dialects.greeum import greeum
from commonplace.domain.errors import CommonplaceError, Conflict, EmbeddingFailed, Forbidden, Unauthenticated
from tests.damage import lose_table
from tests.dialects.conversation import ERROR_BODY, Conversation, unique
from tests.serving import Wire

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

MEGABYTE = 1024 * 1024
EVENT_STREAM = Wire("sse", "legacy")
"""Here answers come as events, and the client takes none of more than a megabyte; this one holds the text twice."""


def _filled(size: int) -> str:
    """A text of so many bytes, most of them in characters of three bytes."""
    start = unique() + " "
    return start + "가" * ((size - len(start)) // 3) + "x" * ((size - len(start)) % 3)


@behaviour("greeum.limits.content")
async def test_a_megabyte_is_kept_and_a_byte_more_is_refused(talk: Conversation, wire: Wire) -> None:
    content = _filled(MEGABYTE)
    assert len(content.encode()) == MEGABYTE
    added = await talk.call("add_memory", content=content, keywords=[], tags=[])
    if wire != EVENT_STREAM:
        assert (await talk.call("retrieve_memory", memory_id=added["id"]))["content"] == content
    assert "1048577 bytes" in await talk.invalid("add_memory", content=content + "x")
    await talk.call("delete_memory", memory_id=added["id"])


@behaviour("greeum.limits.short_term_content")
async def test_a_megabyte_for_a_while_is_kept_and_a_byte_more_is_refused(local: Conversation) -> None:
    content = _filled(MEGABYTE)
    added = await local.call("add_stm", content=content)
    assert (await local.call("retrieve_memory", memory_id=added["id"]))["content"] == content
    assert "1048577 bytes" in await local.invalid("add_stm", content=content + "x")


@behaviour("greeum.limits.keywords")
async def test_fifty_keywords_are_kept_and_one_more_is_refused(talk: Conversation) -> None:
    keywords = [f"키워드{number}" for number in range(51)]
    assert (await talk.call("add_memory", content=unique(), keywords=keywords[:50]))["keywords"] == keywords[:50]
    assert "keywords: has 51 entries; at most 50" in await talk.invalid(
        "add_memory", content=unique(), keywords=keywords
    )


@behaviour("greeum.limits.query")
async def test_a_query_of_twenty_thousand_characters_is_searched_and_a_longer_one_refused(local: Conversation) -> None:
    tools = {tool.name: tool for tool in (await local.client.list_tools()).tools}
    for tool, name in (("query_memory", "query"), ("search_time", "query"), ("generate_prompt", "user_input")):
        assert "at most 20,000 characters" in tools[tool].input_schema["properties"][name]["description"]
        await local.call(tool, **{name: "x" * 20_000})
        said = await local.invalid(tool, **{name: "x" * 20_001})
        assert f"{name}: is 20001 characters long; at most 20000 are allowed" in said


@behaviour("greeum.limits.tags")
async def test_twenty_tags_are_kept_and_one_more_is_refused(talk: Conversation) -> None:
    tags = [f"태그{number}" for number in range(21)]
    added = await talk.call("add_memory", content=unique(), tags=tags[:20])
    assert added["tags"] == tags[:20]
    assert "tags: has 21 entries; at most 20" in await talk.invalid("add_memory", content=unique(), tags=tags)
    assert "tags: has 21 entries; at most 20" in await talk.invalid("update_memory", memory_id=added["id"], tags=tags)


@behaviour("greeum.errors.body", "greeum.errors.invalid_parameter")
async def test_a_failure_is_a_tool_error_with_the_body_of_the_reference(talk: Conversation) -> None:
    body = await talk.refused("add_memory", content="x", importance=2)
    assert body["error"] == "잘못된 파라미터입니다"
    assert body["code"] == "INVALID_PARAMETER"
    assert body["details"] == "importance: must be a number from 0.0 to 1.0, not 2.0"


@behaviour("greeum.errors.memory_not_found")
async def test_a_memory_that_is_not_there_is_named(talk: Conversation) -> None:
    for tool in ("delete_memory", "forget_stm"):
        body = await talk.refused(tool, memory_id="block_999999999")
        assert (body["error"], body["code"]) == ("요청한 메모리를 찾을 수 없습니다", "MEMORY_NOT_FOUND")
        assert "block_999999999" in body["details"]


@behaviour("greeum.errors.storage_error")
async def test_a_store_that_fails_is_a_storage_error(local: Conversation, folder: Path) -> None:
    await local.call("add_memory", content="before")
    with apsw.Connection(str(folder / "commonplace.db")) as file:
        file.execute("DROP TABLE blocks")
    file.close()
    body = await local.refused("add_memory", content="after")
    assert body["code"] == "STORAGE_ERROR"
    assert body["details"]


@behaviour("greeum.query_memory.long_texts")
async def test_long_texts_are_cut_in_lists_and_whole_by_their_id(talk: Conversation) -> None:
    word = unique()
    long, short = f"{word} 가나다 " * 20_000, f"{word} short"
    for content in (long, short):
        await talk.call("add_memory", content=content, keywords=[], tags=[])
    hits = {hit["content"][: len(short)]: hit for hit in await talk.call("query_memory", query=word, limit=5)}
    cut = hits[long[: len(short)]]
    assert cut["truncated"] is True
    assert len(cut["content"].encode()) < 300_000
    assert long.startswith(cut["content"])
    assert "truncated" not in hits[short]
    for blocks in ((await talk.call("search_time", query=f"today {word}"))["blocks"],):
        assert sum(len(one["content"].encode()) for one in blocks) <= 300_000
    assert (await talk.call("retrieve_memory", memory_id=cut["id"]))["content"] == long


@behaviour("greeum.server_status.healthy")
async def test_a_write_that_failed_shows_in_the_status_until_one_succeeds(local: Conversation, folder: Path) -> None:
    await local.call("add_memory", content="before")
    file = apsw.Connection(str(folder / "commonplace.db"))
    file.execute("CREATE TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'out of order'); END")
    await local.refused("add_memory", content="refused")
    file.execute("DROP TRIGGER refuse")
    file.close()
    status = await local.call("server_status")
    assert (status["status"], status["storage"]["writable"]) == ("degraded", False)
    assert status["storage"]["reason"]
    await local.call("add_memory", content="kept")
    status = await local.call("server_status")
    assert (status["status"], status["storage"]) == ("healthy", {"writable": True, "reason": ""})


@behaviour("greeum.server_status.damaged")
@pytest.mark.parametrize(("table", "blocks"), [("events", None), ("unembedded", None), ("memories", 1)])
async def test_a_damaged_file_shows_in_the_status(
    local: Conversation, folder: Path, table: str, blocks: int | None
) -> None:
    await local.call("add_memory", content="before")
    lose_table(folder / "commonplace.db", table)
    status = await local.call("server_status")
    assert (status["status"], status["memory_stats"]["total_blocks"]) == ("degraded", blocks)
    assert "commonplace restore" in status["storage"]["reason"]


@behaviour("greeum.server_status.damaged", "greeum.query_memory.damaged")
async def test_what_a_search_meets_of_the_damage_shows_in_the_status(local: Conversation, folder: Path) -> None:
    await local.call("add_memory", content="약속은 금요일이다")
    lose_table(folder / "commonplace.db", "words_data")
    answer = await local.answer("query_memory", query="약속은 금요일이다")
    assert "약속은 금요일이다" in str(answer.content[0])
    assert "Part of the file is damaged" in str(answer.content[1])
    status = await local.call("server_status")
    assert status["status"] == "degraded"
    assert "commonplace restore" in status["storage"]["reason"]


@behaviour("greeum.errors.embedding_error", "greeum.errors.more_codes")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EmbeddingFailed("use", "no memory"), "EMBEDDING_ERROR"),
        (Forbidden("write", "add_memory"), "PERMISSION_DENIED"),
        (Unauthenticated(), "PERMISSION_DENIED"),
        (Conflict("memory", "block_1"), "CONFLICT"),
        (CommonplaceError(), "INTERNAL_ERROR"),
    ],
)
def test_every_error_has_its_code(error: CommonplaceError, code: str) -> None:
    body = greeum.refusal(error)
    assert isinstance(body, dict)
    assert set(body) == ERROR_BODY
    assert body["code"] == code
