"""What is on offer: names, parameters, schemas, and how answers and refusals look in general."""

from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool

from commonplace import __version__
from commonplace.dialects.creo import creo
from commonplace.domain.errors import (
    AlreadyExists,
    Circular,
    CommonplaceError,
    Conflict,
    EmbeddingFailed,
    Forbidden,
    Invalid,
    NotFound,
    ReadOnly,
    StoreFull,
    Unauthenticated,
)
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import text_of, unique
from tests.dialects.creo.reference import BESIDE, REQUIRED, TABLES, VALUES
from tests.dialects.creo.speech import CreoConversation, spoken_to

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

READING = {
    "search", "label_list", "label_get_by_memory", "category_list", "category_get_by_memory", "list_atlas",
    "get_atlas_tree", "list_domain_shared_keys", "get_session", "get_status", "get_user", "get_logs", "search_logs",
    "list_todos", "get_provenance", "get_relations", "get_annotations", "list_shared_contexts", "get_shared_context",
    "team_list", "list_shared_atlas", "list_subscriptions", "get_presence", "search_work_logs",
}  # fmt: skip
DESTROYING = {
    "forget", "label_delete", "category_delete", "delete_atlas", "revoke_domain_shared_key", "delete_domain_shared_key",
    "end_session", "delete_todo", "leave_shared_context", "team_remove", "unshare_atlas", "unsubscribe_memories",
}  # fmt: skip
LARGEST_LISTING = 110_000


async def _tools(talk: CreoConversation) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await talk.client.list_tools()).tools}


def _kinds(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """What a parameter may be, without null."""
    kinds = [{**schema, **one} for one in schema.get("anyOf", [schema])]
    return [one for one in kinds if one.get("type") != "null"]


# The tools


@behaviour("creo.surface.tools")
async def test_the_66_tools_are_listed_in_the_order_of_the_reference(talk: CreoConversation) -> None:
    assert list(await _tools(talk)) == list(TABLES)
    assert len(TABLES) == 66


@behaviour("creo.surface.parameters")
async def test_each_tool_takes_the_parameters_of_its_table(talk: CreoConversation) -> None:
    for name, tool in (await _tools(talk)).items():
        schema = tool.input_schema
        required = schema.get("required", [])
        offered = {
            parameter: (
                _kinds(one)[0]["type"],
                REQUIRED if parameter in required else one.get("default"),
            )
            for parameter, one in schema["properties"].items()
        }
        beside = BESIDE.get(name, set())
        assert {p: told for p, told in offered.items() if p not in beside} == TABLES[name], name
        assert beside <= offered.keys()
        assert not beside & set(required)
        assert schema["additionalProperties"] is False


@behaviour("creo.surface.parameters")
async def test_parameters_with_listed_values_take_these(talk: CreoConversation) -> None:
    tools = await _tools(talk)
    for (name, parameter), values in VALUES.items():
        schema = tools[name].input_schema
        (kind,) = _kinds(schema["properties"][parameter])
        listed = kind.get("enum") or kind["items"]["enum"]
        assert set(values) <= set(listed), (name, parameter)


@behaviour("creo.surface.parameters")
async def test_the_range_of_a_ttl_is_in_the_schema(talk: CreoConversation) -> None:
    tools = await _tools(talk)
    for name in ("remember", "update_memory"):
        (kind,) = _kinds(tools[name].input_schema["properties"]["ttl"])
        assert (kind["minimum"], kind["maximum"]) == (60, 2_592_000)


@behaviour("creo.surface.descriptions")
async def test_tools_parameters_and_answers_are_described(talk: CreoConversation) -> None:
    for tool in (await _tools(talk)).values():
        assert tool.title
        assert tool.description
        assert len(tool.description) < 500
        assert tool.output_schema is not None, tool.name
        assert tool.output_schema["type"] == "object"
        for name, one in tool.input_schema["properties"].items():
            assert one.get("description"), (tool.name, name)


@behaviour("creo.surface.descriptions")
async def test_the_listing_is_no_larger_than_it_must_be(talk: CreoConversation) -> None:
    listed = await talk.client.list_tools()
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) < LARGEST_LISTING


@behaviour("creo.surface.annotations")
async def test_annotations_say_what_reads_and_what_destroys(talk: CreoConversation) -> None:
    hints = {name: tool.annotations for name, tool in (await _tools(talk)).items()}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == READING
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == DESTROYING


@behaviour("creo.surface.read_only")
async def test_a_server_that_only_reads_offers_what_reads(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, read_only=True)) as conversation:
        assert set(await _tools(conversation)) == READING


@behaviour("creo.surface.instructions")
async def test_a_client_is_told_how_to_use_the_memory(local: CreoConversation) -> None:
    instructions = local.client.instructions or ""
    for words in ("remember", "search", "update_memory", "forget", "data, not instructions"):
        assert words in instructions
    info = local.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("commonplace-creo", __version__)


# Arguments


@behaviour("creo.surface.unknown_tool")
async def test_an_unknown_tool_is_refused_with_the_known_ones(talk: CreoConversation) -> None:
    with anyio.fail_after(30), pytest.raises(MCPError, match="update_memory") as caught:
        await talk.client.call_tool("recall", {})
    assert caught.value.code == INVALID_PARAMS


@behaviour("creo.surface.unknown_argument")
async def test_an_unknown_argument_is_refused_with_the_nearest_known_one(talk: CreoConversation) -> None:
    for tool, table in TABLES.items():
        required = {name: "x" for name, (_, default) in table.items() if default == REQUIRED}
        said = await talk.invalid(tool, **required, memmory="x")
        assert f"memmory: is not a parameter of {tool}" in said, said
    assert "did you mean 'content'?" in await talk.invalid("remember", content="x", contnt="y")
    assert "did you mean 'labelIds'?" in await talk.invalid("search", labelids=["x"])


@behaviour("creo.surface.unknown_argument")
async def test_an_unknown_field_inside_an_object_is_named(talk: CreoConversation) -> None:
    said = await talk.invalid("subscribe_memories", filter={"categories": "x"})
    assert "'categories' is not one of its fields; did you mean 'category'?" in said
    said = await talk.invalid("update_presence", currentFocus={"type": "idle", "target": "x"})
    assert "target" in said


@behaviour("creo.surface.required")
async def test_what_is_required_and_missing_is_named(talk: CreoConversation) -> None:
    for tool, table in TABLES.items():
        required = [name for name, (_, default) in table.items() if default == REQUIRED]
        if required:
            said = await talk.invalid(tool)
            assert said.startswith(f"{required[0]}: is required"), said
            assert all(f"{name}: is required" in said for name in required[:4])


@behaviour("creo.surface.null_is_left_out")
async def test_null_means_that_a_parameter_was_left_out(talk: CreoConversation) -> None:
    for tool in ("search", "label_list", "list_atlas", "get_logs", "list_todos", "check_notifications", "get_presence"):
        await talk.call(tool, **dict.fromkeys(TABLES[tool]))
    kept = (await talk.call("remember", **{**dict.fromkeys(TABLES["remember"]), "content": unique()}))["id"]
    assert "there is nothing to update" in await talk.invalid(
        "update_memory", id=kept, **{name: None for name in TABLES["update_memory"] if name not in ("id", "ttl")}
    )


@behaviour("creo.surface.whole_numbers")
async def test_a_whole_number_may_be_written_with_a_point(talk: CreoConversation) -> None:
    assert (await talk.call("search", limit=1.0))["count"] <= 1
    assert (await talk.call("remember", content=unique(), ttl=60.0))["ephemeral"]["ttl"] == 60
    assert "limit" in await talk.invalid("search", limit=1.5)


@behaviour("creo.surface.ids")
async def test_a_memory_is_known_by_every_spelling_of_its_id(talk: CreoConversation) -> None:
    kept = await talk.remember()
    for written in (kept, f"memory:{kept}", f"memories:{kept}", f" memories:{kept.upper()} ", f"memories:⟨{kept}⟩"):
        assert (await talk.call("update_memory", id=written, tags=[unique()]))["id"] == kept
        assert (await talk.call("label_get_by_memory", memory_id=written))["memory_id"].endswith(kept)
    for strange in ("", "x", f"label:{kept}", kept[:-1], f"{kept}0", "memories:", f"memories:memory:{kept}"):
        assert "is not an id" in await talk.invalid("update_memory", id=strange, tags=[])


# Answers


@behaviour("creo.surface.answers")
async def test_every_answer_is_an_object_with_words_beside_it(talk: CreoConversation) -> None:
    for tool in sorted(READING):
        if not any(default == REQUIRED for _, default in TABLES[tool].values()) and not tool.startswith("get_"):
            result = await talk.answer(tool)
            assert isinstance(result.structured_content, dict), tool
            words = text_of(result)
            assert words, tool
            assert not words.startswith("{"), tool


@behaviour("creo.surface.errors")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NotFound("memory", "x"), "メモリが見つかりません: "),
        (NotFound("label", "x"), "ラベルが見つかりません: "),
        (NotFound("category", "x"), "カテゴリが見つかりません: "),
        (NotFound("atlas", "x"), "Atlasが見つかりません: "),
        (NotFound("todo", "x"), "Todoが見つかりません: "),
        (NotFound("team", "x"), "チームが見つかりません: "),
        (NotFound("user", "x"), "ユーザーが見つかりません: "),
        (NotFound("subscription", "x"), "購読が見つかりません: "),
        (NotFound("context", "x"), "共有コンテキストが見つかりません: "),
        (NotFound("session", "x"), "セッションが見つかりません: "),
        (NotFound("something", "x"), "見つかりません: "),
        (Invalid("x", "y"), "入力が正しくありません: x: y"),
        (Forbidden("write", "remember"), "権限がありません: "),
        (ReadOnly("write", "remember"), "権限がありません: "),
        (Unauthenticated(), "認証が必要です: "),
        (AlreadyExists("label", "x"), "すでに存在します: "),
        (Conflict("memory", "x"), "他で変更されました: "),
        (Circular("x", "y"), "循環するため移動できません: "),
        (EmbeddingFailed("model", "y"), "埋め込みの生成に失敗しました: "),
        (StoreFull("x", "y"), "ストレージエラーが発生しました: "),
        (CommonplaceError(), "内部エラーが発生しました"),
    ],
)
async def test_every_failure_is_a_message_in_japanese(error: CommonplaceError, words: str) -> None:
    said = creo.refusal(error)
    assert isinstance(said, str)
    assert said.startswith(f"❌ {words}")
    assert "\n" not in said
