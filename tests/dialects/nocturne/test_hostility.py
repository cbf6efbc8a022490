"""Hostile values for every parameter of every tool, made from the listing itself."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import Tool

from tests.dialects.conversation import PATIENCE, ProseConversation, error_sentence, prose_of, unique
from tests.dialects.greeum.test_hostility import HUGE, NUL, NUMBERS, OTHERS, TEXTS
from tests.dialects.nocturne.tree import content, plant
from tests.serving import WIRES, Served, Wire
from tests.transports.wire import HALF, answer_to_half

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ADDRESSES = (
    "://",
    "core:///",
    "core://////",
    "core://..",
    "core://../../etc/passwd",
    "core://%00",
    "core://%2e%2e%2f",
    "core://%ff%fe",
    "core://%",
    "core://a?b=c#d",
    "core:// ",
    "CORE://\u202e",
    "memory://",
    "memory://%27;--",
    "memory://01890a5d-ac96-774b-bcce-b302099a8057",
    "memory://01890a5d-ac96-774b-bcce-b302099a8057/x",
    "system://",
    "system://recent/-1",
    "system://recent/\u0661",
    "system://recent/1/2",
    "core://" + "a/" * 65 + "b",
    "core://" + "a/" * 4000,
    "가://나",
    "1core://x",
)
VALUES = (*TEXTS, *ADDRESSES, *NUMBERS, *OTHERS)


def _attempts(tool: Tool, valid: dict[str, Any]) -> Iterator[dict[str, Any]]:
    required = {name: valid[name] for name in tool.input_schema.get("required", ())}
    if tool.name == "update_memory":
        required["append"] = "."
    yield {"unknown": 1, **required}
    yield {**required, "\u202e\u200b": None}
    yield {**required, "x" * 10_000: 1}
    for name in tool.input_schema["properties"]:
        for value in VALUES:
            yield {**required, name: value}


async def _survives(talk: ProseConversation, tool: str, arguments: dict[str, Any]) -> None:
    """A proper answer or a proper refusal."""
    with anyio.fail_after(PATIENCE):
        result = await talk.client.call_tool(tool, arguments)
    if result.is_error:
        said = error_sentence(result)
        assert "inside the server" not in said, (tool, str(arguments)[:200])
    else:
        assert prose_of(result)


async def _all_attempts(talk: ProseConversation) -> list[tuple[str, dict[str, Any]]]:
    above = await plant(talk, "game://")
    valid = {
        "uri": above,
        "parent_uri": above,
        "target_uri": above,
        "new_uri": f"{above}/below",  # refused in the end: it would run in a circle
        "content": "x",
        "priority": 1,
        "query": unique(),
    }
    tools = (await talk.client.list_tools()).tools
    return [(tool.name, arguments) for tool in tools for arguments in _attempts(tool, valid)]


@behaviour("nocturne.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_tool(local: ProseConversation) -> None:
    for tool, arguments in await _all_attempts(local):
        await _survives(local, tool, arguments)
    assert await content(local, await plant(local, content="still here")) == "still here"


@behaviour("nocturne.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_wire(talk: ProseConversation, wire: Wire) -> None:
    # Each wire takes a share of its own; the test before has tried every value.
    for tool, arguments in (await _all_attempts(talk))[WIRES.index(wire) :: 3 * len(WIRES)]:
        await _survives(talk, tool, arguments)
    assert await content(talk, await plant(talk, content="still here")) == "still here"


@behaviour("nocturne.surface.hostile_input")
async def test_a_megabyte_for_any_text_is_answered(local: ProseConversation) -> None:
    above = await plant(local)
    valid = {"uri": above, "parent_uri": above, "target_uri": above, "new_uri": "notes://x", "content": "x"}
    for tool in (await local.client.list_tools()).tools:
        required = {n: {**valid, "priority": 1, "query": "x"}[n] for n in tool.input_schema.get("required", ())}
        for name, schema in tool.input_schema["properties"].items():
            if any(one.get("type") == "string" for one in schema.get("anyOf", [schema])):
                for value in HUGE:
                    await _survives(local, tool.name, {**required, name: value})


@behaviour("nocturne.surface.hostile_input")
async def test_nul_is_refused_wherever_text_is_kept_or_searched(talk: ProseConversation) -> None:
    uri = await plant(talk)
    for tool, name, more in (
        ("read_memory", "uri", {}),
        ("create_memory", "parent_uri", {"content": "x", "priority": 1}),
        ("create_memory", "content", {"parent_uri": "core://", "priority": 1}),
        ("create_memory", "title", {"parent_uri": "core://", "content": "x", "priority": 1}),
        ("create_memory", "disclosure", {"parent_uri": "core://", "content": "x", "priority": 1}),
        ("update_memory", "append", {"uri": uri}),
        ("update_memory", "old_string", {"uri": uri, "new_string": "x"}),
        ("update_memory", "new_string", {"uri": uri, "old_string": "x"}),
        ("update_memory", "disclosure", {"uri": uri}),
        ("add_alias", "new_uri", {"target_uri": uri}),
        ("add_alias", "target_uri", {"new_uri": "notes://x"}),
        ("add_alias", "disclosure", {"new_uri": f"notes://{unique()}", "target_uri": uri}),
        ("search_memory", "query", {}),
        ("search_memory", "domain", {"query": "x"}),
    ):
        said = await talk.refused(tool, **more, **{name: NUL})
        assert said == f"{name}: must not contain the character NUL (U+0000).", (tool, name)


@behaviour("nocturne.surface.hostile_input")
async def test_wrong_types_are_refused_for_every_parameter(talk: ProseConversation) -> None:
    wrong: dict[str, Any] = {"string": 5, "integer": "5"}
    for tool in (await talk.client.list_tools()).tools:
        for name, schema in tool.input_schema["properties"].items():
            for kind in (one["type"] for one in schema.get("anyOf", [schema])):
                if kind != "null":
                    assert name in await talk.refused(tool.name, **{name: wrong[kind]})


@behaviour("nocturne.surface.hostile_input")
@pytest.mark.parametrize("modern", [False, True])
def test_a_lone_surrogate_is_refused_by_the_tool(listening: Served, modern: bool) -> None:
    arguments = {"parent_uri": "core://", "content": HALF, "priority": 1}
    result = answer_to_half(listening, "/nocturne/mcp", "create_memory", modern=modern, **arguments)
    assert result["isError"]
    assert "content: is not valid Unicode" in result["content"][0]["text"]
