"""Hostile values for every parameter of every tool, made from the listing itself."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp_types import Tool

from tests.dialects.conversation import unique
from tests.dialects.greeum.test_hostility import HUGE, NUL, NUMBERS, OTHERS, TEXTS
from tests.dialects.live.speech import LIVE, LiveConversation, good, refusal
from tests.serving import WIRES, Served, Wire
from tests.transports.wire import HALF, answer_to_half

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

PATHS = (
    "../../etc/passwd", "/etc/passwd", "..\\..\\x", "a/../b", ".", "..", "x/2026-02-20T18-00-00/../../y", "C:\\x",
    "_system/tokens.json", "file:///etc/passwd", "%2e%2e%2f", "x\n.md", "CON.md", "a" * 300 + ".md", "*",
    "sha256:" + "f" * 64, "," * 5000,
)  # fmt: skip
DATES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-20T18:00:00Z" * 50, "٢٠٢٦-٠٢-٢٠")
VALUES = (*TEXTS, *NUMBERS, *OTHERS, *PATHS, *DATES)


def _attempts(tool: Tool, valid: dict[str, Any]) -> Iterator[dict[str, Any]]:
    parameters = tool.input_schema["properties"]
    required = {name: valid[name] for name in valid if name in parameters}
    yield {**required, "unknown": 1}
    yield {**required, "\u202e\u200b": None}
    yield from ({**required, name: value} for name in parameters for value in VALUES)


async def _all_attempts(talk: LiveConversation) -> list[tuple[str, dict[str, Any]]]:
    space = await talk.space()
    await talk.note(space, "hostile neighbours")
    valid = {
        "space_id": space,
        "description": "x",
        "rules": "# R",
        "category": "todo",
        "content": "x",
        "query": "hostile",
        "filename": "x.md",
        "backup_id": f"{space}/2026-02-20T18-00-00",
        "name": "x",
        "permissions": "read",
        "token_hash": "0" * 64,
    }
    tools = (await talk.client.list_tools()).tools
    return [(tool.name, arguments) for tool in tools for arguments in _attempts(tool, valid)]


async def _survives(talk: LiveConversation, tool: str, arguments: dict[str, Any]) -> None:
    """A proper answer or a proper refusal."""
    result = await talk.answer(tool, **arguments)
    if not result.is_error:
        good(result)
    else:
        status, message = refusal(result)
        assert message != "Erreur interne", (tool, str(arguments)[:300])
        assert status in ("error", "not_found", "already_exists"), (tool, str(arguments)[:300], message)


@behaviour("live.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_tool(local: LiveConversation) -> None:
    for tool, arguments in await _all_attempts(local):
        await _survives(local, tool, arguments)
    assert (await local.call("system_health"))["status"] == "ok"


@behaviour("live.surface.hostile_input")
async def test_no_value_of_any_parameter_upsets_a_wire(talk: LiveConversation, wire: Wire) -> None:
    # Each wire takes a share of its own; the test before has tried every value.
    for tool, arguments in (await _all_attempts(talk))[WIRES.index(wire) :: 8 * len(WIRES)]:
        await _survives(talk, tool, arguments)
    assert (await talk.call("system_health"))["status"] == "ok"


@behaviour("live.surface.hostile_input")
async def test_a_megabyte_for_any_text_is_answered(local: LiveConversation) -> None:
    space = await local.space()
    for tool, name, more in (
        ("space_create", "space_id", {"description": "x", "rules": "x"}),
        ("space_create", "description", {"space_id": "a", "rules": "x"}),
        ("space_create", "rules", {"space_id": "a", "description": "x"}),
        ("space_create", "owner", {"space_id": "a", "description": "x", "rules": "x"}),
        ("space_delete", "space_id", {"confirm": False}),
        ("live_note", "content", {"space_id": space, "category": "todo"}),
        ("live_note", "category", {"space_id": space, "content": "x"}),
        ("live_note", "agent", {"space_id": space, "category": "todo", "content": "x"}),
        ("live_note", "tags", {"space_id": space, "category": "todo", "content": "x"}),
        ("live_read", "space_id", {}),
        ("live_read", "category", {"space_id": space}),
        ("live_read", "agent", {"space_id": space}),
        ("live_read", "since", {"space_id": space}),
        ("live_search", "query", {"space_id": space}),
        ("bank_read", "filename", {"space_id": space}),
        ("backup_create", "description", {"space_id": space}),
        ("backup_list", "space_id", {}),
        ("backup_restore", "backup_id", {"confirm": True}),
        ("backup_delete", "backup_id", {"confirm": False}),
        ("backup_download", "backup_id", {}),
        ("admin_create_token", "name", {"permissions": "read"}),
        ("admin_create_token", "permissions", {"name": "x"}),
        ("admin_create_token", "space_ids", {"name": "x", "permissions": "read"}),
        ("admin_revoke_token", "token_hash", {}),
        ("admin_update_token", "token_hash", {"permissions": "read"}),
        ("admin_update_token", "space_ids", {"token_hash": "0" * 64}),
        ("admin_update_token", "permissions", {"token_hash": "0" * 64}),
    ):
        for value in HUGE:
            await _survives(local, tool, {name: value, **more})


@behaviour("live.surface.hostile_input")
async def test_nul_is_refused_wherever_text_is_kept_or_sought(talk: LiveConversation) -> None:
    space = await talk.space()
    for tool, name, more in (
        ("space_create", "description", {"space_id": unique(), "rules": "x"}),
        ("space_create", "rules", {"space_id": unique(), "description": "x"}),
        ("space_create", "owner", {"space_id": unique(), "description": "x", "rules": "x"}),
        ("live_note", "content", {"space_id": space, "category": "todo"}),
        ("live_note", "agent", {"space_id": space, "category": "todo", "content": "x"}),
        ("live_note", "tags", {"space_id": space, "category": "todo", "content": "x"}),
        ("live_read", "agent", {"space_id": space}),
        ("live_search", "query", {"space_id": space}),
        ("bank_read", "filename", {"space_id": space}),
        ("backup_create", "description", {"space_id": space}),
        ("admin_create_token", "name", {"permissions": "read"}),
    ):
        said = await talk.invalid(tool, **{**more, name: NUL})
        assert said == f"{name}: must not contain the character NUL (U+0000)", tool


@behaviour("live.surface.hostile_input")
async def test_wrong_types_are_refused_for_every_parameter(talk: LiveConversation) -> None:
    wrong: dict[str, Any] = {"string": 5, "integer": "5", "boolean": "true"}
    for tool in (await talk.client.list_tools()).tools:
        for name, schema in tool.input_schema["properties"].items():
            assert name in await talk.invalid(tool.name, **{name: wrong[schema["type"]]})


@behaviour("live.surface.hostile_input")
@pytest.mark.parametrize("modern", [False, True])
def test_a_lone_surrogate_is_refused_by_the_tool(listening: Served, modern: bool) -> None:
    for tool, arguments in (
        ("live_note", {"space_id": "x", "category": "todo", "content": HALF}),
        ("live_read", {"space_id": "x", "agent": HALF}),
        ("bank_read", {"space_id": HALF, "filename": HALF}),
        ("admin_create_token", {"name": HALF, "permissions": "read"}),
    ):
        result = answer_to_half(listening, LIVE, tool, modern=modern, **arguments)
        assert result["isError"]
        assert "is not valid Unicode: a lone surrogate" in result["content"][0]["text"]
