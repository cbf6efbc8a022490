"""add_memory, retrieve_memory, update_memory, delete_memory."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from mcp_types import INVALID_PARAMS

from tests.dialects.conversation import Conversation, unique

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "block_999999999"
SCRIPTS = "  첫째 줄\n\tçà et là  — 日本語テスト، العربية \u200f\u200d👩‍👩‍👧 e\u0301\r\n끝  "


@behaviour("greeum.add_memory.answer")
async def test_adding_answers_with_the_fields_of_the_reference(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    assert list(added) == ["id", "block_index", "timestamp", "keywords", "tags", "importance"]


@behaviour("greeum.add_memory.id")
async def test_the_id_is_made_of_the_block_index(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    assert added["id"] == f"block_{added['block_index']}"


@behaviour("greeum.add_memory.timestamp")
async def test_the_timestamp_is_now_in_utc(talk: Conversation) -> None:
    timestamp = (await talk.call("add_memory", content=unique()))["timestamp"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", timestamp)
    assert abs(datetime.fromisoformat(timestamp) - datetime.now(UTC)) < timedelta(minutes=1)


@behaviour("greeum.add_memory.example")
async def test_the_example_of_the_reference_gives_back_what_it_was_given(talk: Conversation) -> None:
    added = await talk.call(
        "add_memory",
        content="프로젝트 X의 데드라인이 2월 15일로 연기되었다",
        keywords=["프로젝트X", "데드라인", "연기"],
        tags=["important", "deadline"],
        importance=0.9,
    )
    assert added["keywords"] == ["프로젝트X", "데드라인", "연기"]
    assert added["tags"] == ["important", "deadline"]
    assert added["importance"] == 0.9


@behaviour("greeum.add_memory.content")
async def test_content_is_kept_to_the_letter(talk: Conversation) -> None:
    content = SCRIPTS + unique() + "  "
    added = await talk.call("add_memory", content=content)
    assert (await talk.call("retrieve_memory", memory_id=added["id"]))["content"] == content


@behaviour("greeum.add_memory.empty_content")
@pytest.mark.parametrize("blank", ["", " ", "\n\t\u3000"])
async def test_blank_content_is_refused(talk: Conversation, blank: str) -> None:
    assert "content: must not be empty" in await talk.invalid("add_memory", content=blank)


@behaviour("greeum.add_memory.keywords", "greeum.add_memory.tags")
@pytest.mark.parametrize("field", ["keywords", "tags"])
async def test_labels_keep_their_order_trimmed_composed_and_each_once(talk: Conversation, field: str) -> None:
    decomposed = unicodedata.normalize("NFD", "회의")
    labels = [" 중요 ", decomposed, "重要", "été", "회의", "Ελλάδα", "중요"]
    added = await talk.call("add_memory", content=unique(), **{field: labels})
    assert added[field] == ["중요", "회의", "重要", "été", "Ελλάδα"]


@behaviour("greeum.add_memory.extracted_keywords")
async def test_keywords_are_extracted_where_none_are_given(talk: Conversation) -> None:
    content = "프로젝트의 데드라인이 연기되었다"
    added = await talk.call("add_memory", content=content)
    assert "데드라인" in added["keywords"]
    assert added["keywords"] == await talk.call("extract_keywords", text=content)


@behaviour("greeum.add_memory.extracted_tags")
async def test_tags_are_extracted_where_none_are_given(talk: Conversation) -> None:
    content = "내일 프로젝트 회의가 있다"
    added = await talk.call("add_memory", content=content)
    assert added["tags"]
    assert added["tags"] == await talk.call("extract_tags", text=content)


@behaviour("greeum.add_memory.empty_lists")
async def test_empty_lists_stay_empty(talk: Conversation) -> None:
    added = await talk.call("add_memory", content="프로젝트 회의", keywords=[], tags=[])
    assert (added["keywords"], added["tags"]) == ([], [])


@behaviour("greeum.add_memory.importance")
async def test_importance_goes_from_zero_to_one(talk: Conversation) -> None:
    for given in (0.0, 0, 0.8, 1, 1.0):
        assert (await talk.call("add_memory", content=unique(), importance=given))["importance"] == given
    for wrong in (-0.01, 1.01, 5, "0.5", True, [0.5]):
        assert "importance" in await talk.invalid("add_memory", content=unique(), importance=wrong)


@behaviour("greeum.add_memory.default_importance")
async def test_importance_is_a_half_where_none_is_given(talk: Conversation) -> None:
    assert (await talk.call("add_memory", content=unique()))["importance"] == 0.5


@behaviour("greeum.add_memory.index")
async def test_blocks_are_numbered_from_zero_without_gaps(local: Conversation) -> None:
    first = await local.call("add_memory", content="one")
    second = await local.call("add_memory", content="two")
    await local.call("add_stm", content="passing")
    await local.call("delete_memory", memory_id=second["id"])
    third = await local.call("add_memory", content="three")
    assert [first["block_index"], second["block_index"], third["block_index"]] == [0, 1, 2]


# Looking one up


@behaviour("greeum.retrieve_memory.block_id", "greeum.retrieve_memory.block_index", "greeum.retrieve_memory.memory_id")
async def test_a_memory_is_retrieved_by_any_of_its_names(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    for name in (str(added["block_index"]), f" {added['id']} ", memory["memory_id"], memory["memory_id"].upper()):
        assert await talk.call("retrieve_memory", memory_id=name) == memory


@behaviour("greeum.retrieve_memory.answer")
async def test_a_retrieved_memory_has_what_was_stored(talk: Conversation) -> None:
    content = unique()
    added = await talk.call("add_memory", content=content, tags=["t"], keywords=["k"], importance=0.25)
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    assert len(memory.pop("memory_id")) == 36
    assert memory == {**added, "content": content}


@behaviour("greeum.retrieve_memory.absent")
async def test_a_memory_that_is_not_there_is_null(talk: Conversation) -> None:
    for name in (ABSENT, "999999999", "01890a5d-ac96-774b-bcce-b302099a8057"):
        assert await talk.call("retrieve_memory", memory_id=name) is None


@behaviour("greeum.retrieve_memory.short_term")
async def test_a_short_term_memory_is_retrieved_while_it_lives(talk: Conversation) -> None:
    added = await talk.call("add_stm", content=unique())
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    assert (memory["id"], memory["content"]) == (added["id"], added["content"])
    assert memory["expires_at"] == added["expires_at"]
    assert "block_index" not in memory


@behaviour("greeum.retrieve_memory.malformed")
@pytest.mark.parametrize("name", ["", "nonsense", "block_", "block_-1", "-1", "1.5", "block_①", "9" * 40])
async def test_what_names_no_memory_is_refused(talk: Conversation, name: str) -> None:
    assert "give block_12, 12, or the id of a memory" in await talk.invalid("retrieve_memory", memory_id=name)


# Changing one


@behaviour("greeum.update_memory.importance")
async def test_a_new_importance_leaves_the_tags(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique(), tags=["a"])
    await talk.call("update_memory", memory_id=added["id"], importance=0.9)
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    assert (memory["importance"], memory["tags"]) == (0.9, ["a"])


@behaviour("greeum.update_memory.tags")
async def test_new_tags_replace_the_old_ones(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique(), tags=["a", "b"], importance=0.3)
    await talk.call("update_memory", memory_id=added["id"], tags=["c"])
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    assert (memory["importance"], memory["tags"]) == (0.3, ["c"])
    assert (await talk.call("update_memory", memory_id=added["id"], tags=[]))["tags"] == []


@behaviour("greeum.update_memory.names", "greeum.update_memory.answer")
async def test_an_update_answers_with_the_memory_as_it_is_now(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    by_id = await talk.call("update_memory", memory_id=added["id"], importance=0.1, tags=["x"])
    assert (by_id["importance"], by_id["tags"]) == (0.1, ["x"])
    by_index = await talk.call("update_memory", memory_id=str(added["block_index"]), importance=0.2)
    assert by_index == await talk.call("retrieve_memory", memory_id=added["id"])


@behaviour("greeum.update_memory.bounds")
async def test_a_refused_update_changes_nothing(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique(), tags=["a"])
    before = await talk.call("retrieve_memory", memory_id=added["id"])
    await talk.invalid("update_memory", memory_id=added["id"], importance=1.5, tags=["b"])
    await talk.invalid("update_memory", memory_id=added["id"], importance=0.9, tags=[f"t{n}" for n in range(21)])
    assert await talk.call("retrieve_memory", memory_id=added["id"]) == before


@behaviour("greeum.update_memory.nothing")
async def test_an_update_of_nothing_is_refused(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    assert "give a new importance, new tags, or both" in await talk.invalid("update_memory", memory_id=added["id"])


@behaviour("greeum.update_memory.absent")
async def test_updating_what_is_not_there_is_not_found(talk: Conversation) -> None:
    assert (await talk.refused("update_memory", memory_id=ABSENT, importance=0.5))["code"] == "MEMORY_NOT_FOUND"


@behaviour("greeum.update_memory.chain")
async def test_an_update_leaves_the_chain_as_it_was(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique(), importance=0.4)
    before = await talk.read(f"memory_block://{added['id']}")
    await talk.call("update_memory", memory_id=added["id"], importance=0.9, tags=["new"])
    after = await talk.read(f"memory_block://{added['id']}")
    assert (after["hash"], after["previous_hash"]) == (before["hash"], before["previous_hash"])
    assert (await talk.call("verify_chain"))["valid"]


# Losing one


@behaviour("greeum.delete_memory.answer")
async def test_deleting_names_the_block(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    deleted = await talk.call("delete_memory", memory_id=added["id"])
    assert deleted == {"id": added["id"], "deleted": True, "message": "메모리가 삭제되었습니다"}


@behaviour("greeum.delete_memory.gone")
async def test_a_deleted_memory_is_found_nowhere(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_memory", content=f"secret {word}")
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    await talk.call("delete_memory", memory_id=str(added["block_index"]))
    assert await talk.call("retrieve_memory", memory_id=added["id"]) is None
    assert await talk.call("retrieve_memory", memory_id=memory["memory_id"]) is None
    assert all(word not in hit["content"] for hit in await talk.call("query_memory", query=word, limit=50))
    assert all(word not in block["content"] for block in (await talk.call("search_time", query="오늘"))["blocks"])
    assert word not in await talk.call("generate_prompt", user_input="secret?", max_blocks=50)
    assert (await talk.unreadable(f"memory_block://{added['id']}")).code == INVALID_PARAMS


@behaviour("greeum.delete_memory.twice")
async def test_deleting_what_is_not_there_is_not_found(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    await talk.call("delete_memory", memory_id=added["id"])
    for name in (added["id"], ABSENT):
        assert (await talk.refused("delete_memory", memory_id=name))["code"] == "MEMORY_NOT_FOUND"


@behaviour("greeum.delete_memory.chain")
async def test_a_deletion_leaves_the_chain_valid_and_as_long(local: Conversation) -> None:
    for number in range(3):
        await local.call("add_memory", content=f"memory {number}")
    await local.call("delete_memory", memory_id="1")
    verdict = await local.call("verify_chain")
    assert (verdict["valid"], verdict["total_blocks"]) == (True, 3)
