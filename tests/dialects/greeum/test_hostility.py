"""Hostile values for every parameter of every tool, made from the listing itself."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import Tool

from tests.dialects.conversation import PATIENCE, Conversation, error_body
from tests.serving import WIRES, Served, Wire
from tests.transports.wire import HALF, answer_to_half

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

MEGABYTE = 1024 * 1024
CODES = {"INVALID_PARAMETER", "MEMORY_NOT_FOUND"}
VALID: dict[str, Any] = {
    "content": "memory",
    "query": "어제 memory",
    "memory_id": "999999999",
    "user_input": "memory",
    "text": "memory",
    "importance": 0.5,
}
DEEP: Any = "bottom"
for _ in range(60):
    DEEP = [DEEP, {"deeper": DEEP}] if _ < 3 else [DEEP]

NUL = "a\x00b"
TEXTS = (
    NUL,
    "",
    " \t\n",
    "\u200b",
    "\u200f\u202eevil\u202c\u200e",
    "\ufeff\ufffe\uffff",
    "\U0010ffff\u0301" * 50,
    "'; DROP TABLE memories; --",
    "../../etc/passwd",
    "%s%n{0}{content}$(id)`id`",
    'NOT AND OR NEAR( "* ^col:',
    "<script>alert(1)</script>",
    "어제" * 300,
)
LONG = ("어제" * 3000, "1" * 5000, "a " * 9000)
NUMBERS = (-1, 0, 1e308, -1e308, 5.0, 5e-324, 10**18, 2**63, 10**400, -(10**400))
OTHERS: tuple[Any, ...] = (
    True,
    False,
    [],
    {},
    [1],
    [None],
    [[]],
    ["\x00"],
    [""],
    ["x" * 201],
    {"a": 1},
    DEEP,
    "NaN",
    "Infinity",
)
HUGE = (*LONG, "x" * MEGABYTE, "x" * (MEGABYTE + 1), "가" * (MEGABYTE // 3 + 1))


def _attempts(tool: Tool) -> Iterator[dict[str, Any]]:
    parameters = tool.input_schema["properties"]
    required = {name: VALID[name] for name in tool.input_schema.get("required", ())}
    if tool.name == "update_memory":
        required["importance"] = 0.5
    yield {"unknown": 1, **required}
    yield {**required, "\u202e\u200b": None}
    yield {**required, "x" * 10_000: 1}
    for name in parameters:
        for value in (*TEXTS, *NUMBERS, *OTHERS):
            yield {**required, name: value}


async def _survives(talk: Conversation, tool: str, arguments: dict[str, Any]) -> None:
    """A proper result or a proper refusal. What was stored is deleted: other tests share the store."""
    with anyio.fail_after(PATIENCE):
        result = await talk.client.call_tool(tool, arguments)
    if result.is_error:
        assert error_body(result)["code"] in CODES, (tool, str(arguments)[:200], result.structured_content)
    elif tool in ("add_memory", "add_stm"):
        await talk.call("delete_memory", memory_id=(result.structured_content or {})["id"])


async def _all_attempts(talk: Conversation) -> list[tuple[str, dict[str, Any]]]:
    tools = (await talk.client.list_tools()).tools
    return [(tool.name, arguments) for tool in tools for arguments in _attempts(tool)]


@behaviour("greeum.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_tool(local: Conversation) -> None:
    for tool, arguments in await _all_attempts(local):
        await _survives(local, tool, arguments)
    assert (await local.call("server_status"))["status"] == "healthy"
    assert (await local.call("verify_chain"))["valid"]


@behaviour("greeum.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_wire(talk: Conversation, wire: Wire) -> None:
    # Each wire takes its share, so that together they carry every value once.
    for tool, arguments in (await _all_attempts(talk))[WIRES.index(wire) :: len(WIRES)]:
        await _survives(talk, tool, arguments)
    assert (await talk.call("server_status"))["status"] == "healthy"
    assert (await talk.call("verify_chain"))["valid"]


@behaviour("greeum.surface.hostile_input")
async def test_a_megabyte_for_any_text_is_answered(local: Conversation) -> None:
    for tool in (await local.client.list_tools()).tools:
        for name in tool.input_schema.get("required", ()):
            for value in HUGE:
                await _survives(local, tool.name, {name: value})


@behaviour("greeum.surface.hostile_input")
async def test_nul_is_refused_wherever_text_is_kept_or_searched(talk: Conversation) -> None:
    for tool, name in (
        ("add_memory", "content"),
        ("add_stm", "content"),
        ("query_memory", "query"),
        ("search_time", "query"),
        ("generate_prompt", "user_input"),
        ("extract_keywords", "text"),
        ("extract_tags", "text"),
    ):
        assert f"{name}: must not contain the character NUL" in await talk.invalid(tool, **{name: NUL})
    for name in ("tags", "keywords"):
        assert "NUL" in await talk.invalid("add_memory", content="x", **{name: [NUL]})


@behaviour("greeum.surface.hostile_input")
async def test_wrong_types_are_refused_for_every_parameter(talk: Conversation) -> None:
    wrong: dict[str, Any] = {"string": 5, "array": "x", "number": "0.5", "integer": "5", "boolean": "true"}
    for tool in (await talk.client.list_tools()).tools:
        required = {name: VALID[name] for name in tool.input_schema.get("required", ())}
        for name, schema in tool.input_schema["properties"].items():
            for kind in (one["type"] for one in schema.get("anyOf", [schema])):
                if kind != "null":
                    assert name in await talk.invalid(tool.name, **{**required, name: wrong[kind]})


@behaviour("greeum.surface.hostile_input")
async def test_a_negative_zero_is_a_zero(local: Conversation) -> None:
    await local.call("add_memory", content="negative zero", importance=-0.0)
    assert (await local.call("verify_chain"))["valid"]


@behaviour("greeum.surface.hostile_input")
@pytest.mark.parametrize("modern", [False, True])
def test_a_lone_surrogate_is_refused_by_the_tool(listening: Served, modern: bool) -> None:
    for tool, name in (("add_memory", "content"), ("query_memory", "query"), ("forget_stm", "memory_id")):
        result = answer_to_half(listening, "/greeum/mcp", tool, modern=modern, **{name: HALF})
        assert result["isError"]
        assert result["structuredContent"]["code"] == "INVALID_PARAMETER"
        assert result["structuredContent"]["details"].startswith(f"{name}: is not valid Unicode: a lone surrogate")
