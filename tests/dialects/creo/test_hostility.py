"""Hostile values for every parameter of every tool, made from the listing itself."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import Tool

from tests.dialects.conversation import PATIENCE, text_of, unique
from tests.dialects.creo.speech import CREO, CreoConversation
from tests.dialects.greeum.test_hostility import HUGE, NUL, NUMBERS, OTHERS, TEXTS
from tests.serving import WIRES, Served, Wire
from tests.transports.wire import HALF, answer_to_half

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057"
OBJECTS: tuple[Any, ...] = (
    {"category": NUL},
    {"atlasId": 5},
    {"tags": ["x" * 5000, NUL]},
    {"type": "memory", "targetId": NUL},
    {"type": NUL},
    {"derivedFrom": [NUL]},
    {"derivedFrom": {"a": 1}},
    {NUL: NUL},
    {"n": 10**400},
)
DATES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30")
IDS = (f"memories:{NOBODY}", f"label:{NOBODY}", f"atlas:{NOBODY.upper()}", "memories:⟨⟩", ":" * 300)
VALUES = (*TEXTS, *NUMBERS, *OTHERS, *OBJECTS, *DATES, *IDS)


def _attempts(tool: Tool, valid: dict[str, Any], turn: int) -> Iterator[dict[str, Any]]:
    parameters = tool.input_schema["properties"]
    required = {name: valid.get(name, NOBODY) for name in tool.input_schema.get("required", ())}
    required |= {"id": valid[tool.name]} if tool.name in valid else {}
    yield {**required, "unknown": 1}
    yield {**required, "\u202e\u200b": None}
    yield {**required, "x" * 10_000: 1}
    # Parameters of a name are read alike by most tools: together they try every value.
    for at, name in enumerate(parameters):
        for value in VALUES[(turn + at) % 2 :: 2]:
            yield {**required, name: value}


async def _all_attempts(talk: CreoConversation) -> list[tuple[str, dict[str, Any]]]:
    memory = await talk.remember("hostile neighbours")
    valid: dict[str, Any] = {
        "memory_id": memory,
        "memoryId": memory,
        "targetMemoryId": memory,
        "content": "x",
        "query": "hostile",
        "name": "x",
        "confirm": False,
        "category_ids": ["design"],
        "workLogType": "message",
        "sender": "agent",
        "update_memory": memory,
        "update_todo": (await talk.call("create_todo", content="x"))["id"],
        "update_atlas": (await talk.call("create_atlas", name=unique()))["id"],
        "label_update": (await talk.call("label_create", name=unique()))["id"],
        "category_update": (await talk.call("category_create", name=unique()))["id"],
    }
    tools = (await talk.client.list_tools()).tools
    return [(tool.name, given) for turn, tool in enumerate(tools) for given in _attempts(tool, valid, turn)]


async def _survives(talk: CreoConversation, tool: str, arguments: dict[str, Any]) -> None:
    """A proper answer or a proper refusal."""
    with anyio.fail_after(PATIENCE):
        result = await talk.client.call_tool(tool, arguments)
    words = text_of(result)
    if result.is_error:
        assert words.startswith("❌ "), (tool, str(arguments)[:300], words[:300])
        assert "内部エラー" not in words, (tool, str(arguments)[:300])
        assert "\n" not in words, (tool, str(arguments)[:300], words[:300])
        assert len(words) < 2000
    assert "Traceback" not in words


async def _is_well(talk: CreoConversation) -> None:
    word = unique()
    kept = await talk.remember(word)
    assert kept in [one["id"] for one in (await talk.call("search", query=word))["results"]]


@behaviour("creo.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_tool(local: CreoConversation) -> None:
    for tool, arguments in await _all_attempts(local):
        await _survives(local, tool, arguments)
    await _is_well(local)


@behaviour("creo.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_wire(talk: CreoConversation, wire: Wire) -> None:
    # Each wire takes a share of its own; the test before has tried every value.
    for tool, arguments in (await _all_attempts(talk))[WIRES.index(wire) :: 10 * len(WIRES)]:
        await _survives(talk, tool, arguments)
    await _is_well(talk)


@behaviour("creo.surface.hostile_input")
async def test_a_megabyte_for_any_text_is_answered(local: CreoConversation) -> None:
    tools = (await local.client.list_tools()).tools
    for turn, tool in enumerate(tools):
        required = dict.fromkeys(tool.input_schema.get("required", ()), NOBODY)
        for name, schema in tool.input_schema["properties"].items():
            if any(one.get("type") == "string" for one in schema.get("anyOf", [schema])):
                await _survives(local, tool.name, {**required, name: HUGE[turn % len(HUGE)]})
    for value in HUGE:
        await _survives(local, "remember", {"content": value})
        await _survives(local, "search", {"query": value})
    await _is_well(local)


@behaviour("creo.surface.hostile_input")
async def test_nul_is_refused_wherever_text_is_kept_or_searched(talk: CreoConversation) -> None:
    kept = await talk.remember()
    for tool, name, more in (
        ("remember", "content", {}),
        ("remember", "category", {"content": "x"}),
        ("update_memory", "content", {"id": kept}),
        ("update_memory", "category", {"id": kept}),
        ("search", "query", {}),
        ("search", "category", {}),
        ("label_create", "name", {}),
        ("category_create", "name", {}),
        ("create_atlas", "name", {}),
        ("create_todo", "content", {}),
        ("create_shared_context", "name", {}),
    ):
        said = await talk.invalid(tool, **{**more, name: NUL})
        assert said == f"{name}: must not contain the character NUL (U+0000)", tool
    for tool, more in (("remember", {"content": "x"}), ("update_memory", {"id": kept}), ("search", {})):
        assert "NUL" in await talk.invalid(tool, **{**more, "tags": [NUL]})


@behaviour("creo.surface.hostile_input")
async def test_wrong_types_are_refused_for_every_parameter(talk: CreoConversation) -> None:
    wrong: dict[str, Any] = {
        "string": 5, "integer": "5", "number": "0.5", "boolean": "true", "array": "x", "object": "x"
    }  # fmt: skip
    for tool in (await talk.client.list_tools()).tools:
        required = dict.fromkeys(tool.input_schema.get("required", ()), NOBODY)
        for name, schema in tool.input_schema["properties"].items():
            for kind in schema.get("anyOf", [schema]):
                if kind.get("type") != "null":
                    value = wrong[kind.get("type", "object")]
                    assert name in await talk.invalid(tool.name, **{**required, name: value}), tool.name


@behaviour("creo.surface.hostile_input")
@pytest.mark.parametrize("modern", [False, True])
def test_a_lone_surrogate_is_refused_by_the_tool(listening: Served, modern: bool) -> None:
    for tool, arguments in (
        ("remember", {"content": HALF}),
        ("remember", {"content": "x", "metadata": {"k": HALF}}),
        ("search", {"query": HALF}),
        ("label_create", {"name": HALF}),
        ("update_memory", {"id": HALF, "tags": [HALF]}),
    ):
        result = answer_to_half(listening, CREO, tool, modern=modern, **arguments)
        assert result["isError"]
        assert "is not valid Unicode: a lone surrogate" in result["content"][0]["text"]
