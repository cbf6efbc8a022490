"""Hostile values for every parameter of every action, made from the listing itself."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp_types import Tool

from commonplace.dialects.assoc import assoc
from tests.dialects.assoc.actions import chooser
from tests.dialects.assoc.speech import ASSOC, AssocConversation, good, refusal
from tests.dialects.conversation import PATIENCE, unique
from tests.dialects.greeum.test_hostility import HUGE, NUL, NUMBERS, OTHERS, TEXTS
from tests.serving import WIRES, Served, Wire
from tests.transports.wire import HALF, answer_to_half

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

OBJECTS: tuple[Any, ...] = (
    {"start": NUL},
    {"start": 5},
    {"domains": [NUL]},
    {"project_ids": [NUL, "x" * 5000]},
    {"categories": [NUL]},
    {"importance_min": 1e308},
    {"source_domain": "user", "target_domain": "session", "filter_criteria": {"tags": [NUL]}},
    {"filter_criteria": {"created_after": NUL}},
)
VALUES = (*TEXTS, *NUMBERS, *OTHERS, *OBJECTS, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")
CODES = {
    "MEMORY_NOT_FOUND", "PROJECT_NOT_FOUND", "SESSION_NOT_FOUND", "SESSION_REQUIRED", "MEMBER_EXISTS",
    "MEMBER_NOT_FOUND", "PERMISSION_DENIED", "VALIDATION_ERROR",
}  # fmt: skip
SPARED = {("admin", "restore"), ("admin", "backup"), ("admin", "reindex")}
"""Tried with what is missing only: each would take its time, and their paths are tested elsewhere."""


def _attempts(tool: Tool, valid: dict[str, Any]) -> Iterator[dict[str, Any]]:
    parameters = tool.input_schema["properties"]
    chosen = chooser(tool.name)
    for turn, action in enumerate(parameters[chosen]["enum"]):
        if (tool.name, action) in SPARED:
            yield {chosen: action, "backup_path": NUL}
            continue
        required = {chosen: action, **{name: valid[name] for name in valid if name in parameters}}
        yield {**required, "unknown": 1}
        yield {**required, "\u202e\u200b": None}
        # A parameter is read the same way for every action: together they try every value.
        for at, name in enumerate(parameters):
            for value in VALUES[(turn + at) % 3 :: 3]:
                yield {**required, name: value}


async def _all_attempts(talk: AssocConversation) -> list[tuple[str, dict[str, Any]]]:
    kept = await talk.store("hostile neighbours")
    valid = {
        "memory_id": kept,
        "content": "x",
        "query": "hostile",
        "domain": "user",
        "format": "json",
        "memory_ids": ["01890a5d-ac96-774b-bcce-b302099a8057"],
        "new_domain": "user",
        "import_data": "[]",
        "cleanup_before": "2000-01-01",
        "tags": ["x"],
        "start_time": "2100-01-01",
        "name": "x",
        "project_id": "01890a5d-ac96-774b-bcce-b302099a8057",
        "session_id": "01890a5d-ac96-774b-bcce-b302099a8057",
    }
    tools = (await talk.client.list_tools()).tools
    return [(tool.name, arguments) for tool in tools for arguments in _attempts(tool, valid)]


async def _survives(talk: AssocConversation, tool: str, arguments: dict[str, Any]) -> None:
    """A proper answer or a proper refusal."""
    with anyio.fail_after(PATIENCE):
        result = await talk.client.call_tool(tool, arguments)
    if not result.is_error:
        good(result)
    else:
        assert refusal(result)["error"]["code"] in CODES, (tool, str(arguments)[:300], result.structured_content)


@behaviour("assoc.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_an_action(local: AssocConversation) -> None:
    for tool, arguments in await _all_attempts(local):
        if tool != "visualize":
            await _survives(local, tool, arguments)
    assert (await local.call("admin", action="health_check"))["troubles"] == []


@behaviour("assoc.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_picture(local: AssocConversation) -> None:
    for tool, arguments in await _all_attempts(local):
        if tool == "visualize":
            await _survives(local, tool, arguments)


@behaviour("assoc.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_wire(talk: AssocConversation, wire: Wire) -> None:
    # Each wire takes a share of its own; the tests before have tried every value.
    for tool, arguments in (await _all_attempts(talk))[WIRES.index(wire) :: 8 * len(WIRES)]:
        await _survives(talk, tool, arguments)
    assert (await talk.call("admin", action="health_check"))["status"] == "healthy"


@behaviour("assoc.surface.hostile_input")
async def test_a_megabyte_for_any_text_is_answered(local: AssocConversation) -> None:
    kept = await local.store()
    for tool, action, name, more in (
        ("memory", "store", "content", {"domain": "user"}),
        ("memory", "store", "category", {"domain": "user", "content": "x"}),
        ("memory", "store", "project_id", {"domain": "project", "content": "x"}),
        ("memory", "update", "content", {"memory_id": kept}),
        ("memory", "update", "category", {"memory_id": kept}),
        ("memory", "search", "query", {}),
        ("memory", "get", "memory_id", {}),
        ("memory_manage", "import", "import_data", {}),
        ("memory_manage", "cleanup", "cleanup_before", {}),
        ("search", "semantic", "query", {}),
        ("search", "timerange", "start_time", {}),
        ("project", "create", "name", {}),
        ("project", "create", "description", {"name": "x"}),
        ("user", "create_session", "session_name", {}),
        ("user", "end_session", "session_id", {}),
        ("visualize", "memory_map", "center_memory_id", {}),
        ("admin", "backup", "backup_path", {}),
    ):
        for value in HUGE:
            await _survives(local, tool, {chooser(tool): action, name: value, **more})


@behaviour("assoc.surface.hostile_input")
async def test_nul_is_refused_wherever_text_is_kept_or_searched(talk: AssocConversation) -> None:
    kept = await talk.store()
    for tool, action, name, more in (
        ("memory", "store", "content", {"domain": "user"}),
        ("memory", "store", "category", {"domain": "user", "content": "x"}),
        ("memory", "update", "content", {"memory_id": kept}),
        ("memory", "update", "category", {"memory_id": kept}),
        ("memory", "search", "query", {}),
        ("memory", "search", "category", {"query": "x"}),
        ("search", "semantic", "query", {}),
        ("project", "create", "name", {}),
        ("project", "create", "description", {"name": "x"}),
    ):
        said = await talk.invalid(tool, **{chooser(tool): action, **more, name: NUL})
        assert said == f"{name}: NUL文字 (U+0000) は使えません", (tool, action)
    for tool, action, more in (
        ("memory", "store", {"content": "x", "domain": "user"}),
        ("memory", "update", {"memory_id": kept}),
        ("memory", "search", {"query": "x"}),
        ("search", "tags", {}),
    ):
        assert "NUL" in await talk.invalid(tool, **{chooser(tool): action, **more, "tags": [NUL]})


def _using(tool: Tool, name: str) -> dict[str, Any]:
    """What chooses an action that uses a parameter."""
    chosen, middle = chooser(tool.name), {"center_memory_id": "x"} if tool.name == "visualize" else {}
    actions = tool.input_schema["properties"][chosen]["enum"]
    calls: list[dict[str, Any]] = [{**middle, chosen: action} for action in actions]
    return next(call for call in calls if name not in assoc.tools[tool.name].unused({**call, name: 5}))


@behaviour("assoc.surface.hostile_input")
async def test_wrong_types_are_refused_for_every_parameter(talk: AssocConversation) -> None:
    wrong: dict[str, Any] = {
        "string": 5, "integer": "5", "number": "0.5", "boolean": "true", "array": "x", "object": "x"
    }  # fmt: skip
    for tool in (await talk.client.list_tools()).tools:
        for name, schema in tool.input_schema["properties"].items():
            value = wrong[schema.get("type", "object")]
            said = await talk.invalid(tool.name, **{**_using(tool, name), name: value})
            assert f"{name}: " in said
            assert "を指定してください" in said


@behaviour("assoc.surface.hostile_input")
@pytest.mark.parametrize("modern", [False, True])
def test_a_lone_surrogate_is_refused_by_the_tool(listening: Served, modern: bool) -> None:
    for arguments in (
        {"action": "store", "content": HALF, "domain": "user"},
        {"action": "get", "memory_id": HALF},
        {"action": "search", "query": unique(), "category": HALF, "tags": [HALF]},
    ):
        result = answer_to_half(listening, ASSOC, "memory", modern=modern, **arguments)
        assert result["isError"]
        assert "正しいUnicodeではありません: 位置" in result["content"][0]["text"]
