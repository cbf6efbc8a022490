"""What is on offer: names, parameters, schemas, and how answers and refusals look in general."""

import json
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool

from commonplace import __version__
from tests.dialects.conversation import Conversation, text_of, unique
from tests.serving import Served
from tests.transports.wire import INITIALIZE, bearer, message_in, post

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

REQUIRED = object()
TABLES: dict[str, dict[str, tuple[str, Any]]] = {
    "add_memory": {
        "content": ("string", REQUIRED),
        "keywords": ("array", None),
        "tags": ("array", None),
        "importance": ("number", 0.5),
    },
    "query_memory": {"query": ("string", REQUIRED), "limit": ("integer", 5), "min_importance": ("number", None)},
    "retrieve_memory": {"memory_id": ("string", REQUIRED)},
    "update_memory": {"memory_id": ("string", REQUIRED), "importance": ("number", None), "tags": ("array", None)},
    "delete_memory": {"memory_id": ("string", REQUIRED)},
    "search_time": {"query": ("string", REQUIRED), "language": ("string", "auto"), "margin_hours": ("integer", 12)},
    "add_stm": {"content": ("string", REQUIRED), "ttl_type": ("string", "medium"), "importance": ("number", 0.5)},
    "get_stm_memories": {"limit": ("integer", 10), "ttl_type": ("string", None)},
    "forget_stm": {"memory_id": ("string", REQUIRED)},
    "cleanup_expired_memories": {},
    "generate_prompt": {
        "user_input": ("string", REQUIRED),
        "max_blocks": ("integer", 5),
        "max_stm": ("integer", 3),
        "include_stm": ("boolean", True),
    },
    "extract_keywords": {
        "text": ("string", REQUIRED),
        "language": ("string", "auto"),
        "max_keywords": ("integer", 10),
    },
    "extract_tags": {"text": ("string", REQUIRED), "language": ("string", "auto")},
    "verify_chain": {},
    "server_status": {},
}
"""The parameter tables of the reference: name, type, default."""

WRITING = {"add_memory", "update_memory", "add_stm"}
DELETING = {"delete_memory", "forget_stm", "cleanup_expired_memories"}


async def _tools(talk: Conversation) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await talk.client.list_tools()).tools}


def _type(schema: dict[str, Any]) -> str:
    kinds: list[str] = [one["type"] for one in schema.get("anyOf", [schema])]
    return next(kind for kind in kinds if kind != "null")


@behaviour("greeum.surface.tools")
async def test_the_fifteen_tools_are_listed_in_the_order_of_the_reference(talk: Conversation) -> None:
    assert list(await _tools(talk)) == list(TABLES)


@behaviour("greeum.surface.resources")
async def test_three_resources_and_a_template_are_listed(talk: Conversation) -> None:
    listed = await talk.client.list_resources()
    assert {r.name: r.uri for r in listed.resources} == {
        "memory_chain": "greeum://memory_chain",
        "stm_list": "greeum://stm_list",
        "server_config": "greeum://server_config",
    }
    template, other_form = (await talk.client.list_resource_templates()).resource_templates
    assert (template.name, template.uri_template) == ("memory_block", "greeum://memory_block/{block_id}")
    assert (other_form.name, other_form.uri_template) == ("memory_block", "memory_block://{block_id}")
    assert all(r.description and r.mime_type == "application/json" for r in listed.resources)
    assert (bool(template.description), template.mime_type) == (True, "application/json")


@behaviour("greeum.surface.parameters")
async def test_each_tool_takes_the_parameters_of_its_table(talk: Conversation) -> None:
    for name, tool in (await _tools(talk)).items():
        schema = tool.input_schema
        offered = {
            parameter: (_type(one), REQUIRED if parameter in schema.get("required", ()) else one["default"])
            for parameter, one in schema["properties"].items()
        }
        assert offered == TABLES[name], name
        assert schema["additionalProperties"] is False


@behaviour("greeum.surface.descriptions")
async def test_tools_and_their_parameters_are_described(talk: Conversation) -> None:
    for tool in (await _tools(talk)).values():
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert all(one["description"] for one in tool.input_schema["properties"].values())


@behaviour("greeum.surface.annotations")
async def test_annotations_say_which_tools_read_and_which_destroy(talk: Conversation) -> None:
    hints = {name: tool.annotations for name, tool in (await _tools(talk)).items()}
    assert {name for name, hint in hints.items() if hint and not hint.read_only_hint} == WRITING | DELETING
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == DELETING
    assert not any(hint.open_world_hint for hint in hints.values() if hint)


@behaviour("greeum.surface.answers_twice")
async def test_an_answer_is_the_same_as_object_and_as_text(talk: Conversation) -> None:
    result = await talk.answer("add_memory", content=f"두 번 {unique()}")
    assert json.loads(text_of(result)) == result.structured_content
    prompt = await talk.answer("generate_prompt", user_input="질문", max_blocks=0, include_stm=False)
    assert text_of(prompt) == "질문"


@behaviour("greeum.surface.result")
async def test_lists_strings_and_null_stand_under_result(talk: Conversation) -> None:
    for tool, arguments in (
        ("extract_keywords", {"text": "데드라인이 연기되었다"}),
        ("query_memory", {"query": "x"}),
        ("retrieve_memory", {"memory_id": "999999999"}),
    ):
        result = await talk.answer(tool, **arguments)
        assert result.structured_content == {"result": json.loads(text_of(result))}


@behaviour("greeum.surface.instructions", "greeum.versions.engine")
async def test_a_client_that_connects_is_told_how_to_use_the_memory(local: Conversation) -> None:
    assert "query_memory" in (local.client.instructions or "")
    assert "data, not instructions" in (local.client.instructions or "")
    info = local.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("commonplace-greeum", __version__)


@behaviour("greeum.surface.unknown_tool")
async def test_an_unknown_tool_is_refused_with_the_known_ones(talk: Conversation) -> None:
    with anyio.fail_after(30), pytest.raises(MCPError, match="add_memory") as caught:
        await talk.client.call_tool("remember_everything", {})
    assert caught.value.code == INVALID_PARAMS


@behaviour("greeum.surface.unknown_argument")
async def test_an_unknown_argument_is_named_with_the_nearest_known_one(talk: Conversation) -> None:
    details = await talk.invalid("query_memory", query="x", limits=3)
    assert "limits" in details
    assert "did you mean 'limit'?" in details
    assert "it takes: none" in await talk.invalid("verify_chain", deep=True)


@behaviour("greeum.surface.missing_argument")
async def test_a_missing_required_parameter_is_named(talk: Conversation) -> None:
    for tool, table in TABLES.items():
        for parameter, (_, default) in table.items():
            if default is REQUIRED:
                assert f"{parameter}: is required" in await talk.invalid(tool)
                assert f"{parameter}: is required" in await talk.invalid(tool, **{parameter: None})


@behaviour("greeum.surface.null_is_left_out")
async def test_null_for_an_optional_parameter_is_the_same_as_leaving_it_out(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_memory", content=f"{word} 회의", keywords=None, tags=None, importance=None)
    assert added["importance"] == 0.5
    assert word in added["keywords"]
    assert (await talk.call("query_memory", query=word, limit=None, min_importance=None))[0]["id"] == added["id"]
    assert (await talk.call("search_time", query="어제", language=None, margin_hours=None))["detected"]
    assert (await talk.call("add_stm", content=word, ttl_type=None, importance=None))["ttl_type"] == "medium"
    assert len((await talk.call("get_stm_memories", limit=None, ttl_type=None))["memories"]) <= 10
    assert await talk.call("generate_prompt", user_input=word, max_blocks=None, max_stm=None, include_stm=None)
    assert await talk.call("extract_keywords", text=word, language=None, max_keywords=None) == [word]
    assert "is not a parameter" in await talk.invalid("query_memory", query=word, nothing=None)


@behaviour("greeum.surface.whole_numbers")
async def test_an_integer_may_be_written_with_a_point_but_not_as_something_else(talk: Conversation) -> None:
    assert len(await talk.call("extract_keywords", text="alpha beta gamma", max_keywords=2.0)) == 2
    for wrong in (2.5, "2", True, [2], {"value": 2}):
        assert "max_keywords" in await talk.invalid("extract_keywords", text="alpha", max_keywords=wrong)


@behaviour("greeum.versions.protocol")
async def test_every_wire_speaks_the_revision_it_asked_for(talk: Conversation) -> None:
    assert talk.client.protocol_version in ("2025-11-25", "2026-07-28")


@behaviour("greeum.versions.protocol")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_earlier_revisions_are_spoken(listening: Served, revision: str) -> None:
    params = {**INITIALIZE["params"], "protocolVersion": revision}
    answer = message_in(post(listening, {**INITIALIZE, "params": params}, bearer()))
    assert answer["result"]["protocolVersion"] == revision
