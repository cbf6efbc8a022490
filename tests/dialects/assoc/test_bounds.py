"""What a schema says of how much may be given is what is taken, and no more; only of what a call uses."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from mcp_types import Tool

from tests.dialects.assoc.speech import AssocConversation, refusal
from tests.dialects.conversation import unique

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

KEPT = "the id of a memory"
STORE = {"action": "store", "content": "x", "domain": "user"}
SEARCH = {"action": "search", "query": "x"}
MIGRATION = {"source_domain": "user", "target_domain": "global"}
USING: dict[tuple[str, str], dict[str, Any]] = {
    ("memory", "content"): STORE,
    ("memory", "query"): SEARCH,
    ("memory", "tags"): STORE,
    ("memory", "category"): STORE,
    ("memory", "importance"): STORE,
    ("memory", "limit"): SEARCH,
    ("memory", "threshold"): SEARCH,
    ("memory", "depth"): {"action": "get_related", "memory_id": KEPT},
    ("memory", "associate_with"): {"action": "update", "memory_id": KEPT},
    ("memory", "dissociate_from"): {"action": "update", "memory_id": KEPT},
    ("memory_manage", "memory_ids"): {"action": "batch_delete"},
    ("memory_manage", "offset"): {"action": "export"},
    ("search", "query"): {"type": "semantic"},
    ("search", "tags"): {"type": "tags"},
    ("search", "filters"): {"type": "advanced"},
    ("search", "limit"): {"type": "semantic", "query": "x"},
    ("search", "threshold"): {"type": "semantic", "query": "x"},
    ("project", "name"): {"action": "create"},
    ("project", "description"): {"action": "create", "name": "x"},
    ("user", "session_name"): {"action": "create_session"},
    ("visualize", "depth"): {"type": "memory_map", "center_memory_id": KEPT, "format": "json"},
    ("admin", "migration_config"): {"action": "migrate_domain", "migration_config": MIGRATION},
}
"""Of each parameter that has bounds, a call that uses it."""
Told = tuple[tuple[str, ...], str, int]
"""Where a bound stands, which it is, and how much."""
_BOUNDS = ("minimum", "maximum", "maxLength", "maxItems")


def told(tool: Tool) -> list[Told]:
    return list(_inside(tool.input_schema, ()))


def _inside(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Told]:
    yield from ((path, name, schema[name]) for name in _BOUNDS if name in schema)
    for name, inner in schema.get("properties", {}).items():
        yield from _inside(inner, (*path, name))


def value(bound: str, size: int, beyond: int) -> Any:
    """As much as there may be, or so much more."""
    if bound == "maxLength":
        return "x" * (size + beyond)
    if bound == "maxItems":
        return [f"x{number}" for number in range(size + beyond)]
    return size - beyond if bound == "minimum" else size + beyond


def calling(tool: str, path: tuple[str, ...], given: Any, kept: str) -> dict[str, Any]:
    call = {name: kept if one is KEPT else one for name, one in USING[tool, path[0]].items()}
    for step in reversed(path[1:]):
        given = {step: given}
    beside = call.get(path[0], {}) if path[1:] else {}
    return {**call, path[0]: beside | given if beside else given}


@behaviour("assoc.surface.bounds")
async def test_what_is_beyond_a_bound_that_is_told_is_refused_by_name(talk: AssocConversation) -> None:
    kept = await talk.store()
    for tool in (await talk.client.list_tools()).tools:
        for path, bound, size in told(tool):
            call = calling(tool.name, path, value(bound, size, 1), kept)
            assert (await talk.invalid(tool.name, **call)).startswith(f"{'.'.join(path)}: "), (tool.name, path, bound)


@behaviour("assoc.surface.bounds")
async def test_what_is_at_a_bound_that_is_told_is_taken(local: AssocConversation) -> None:
    kept = await local.store()
    for tool in (await local.client.list_tools()).tools:
        for path, bound, size in told(tool):
            result = await local.answer(tool.name, **calling(tool.name, path, value(bound, size, 0), kept))
            code = refusal(result)["error"]["code"] if result.is_error else ""
            assert code in ("", "MEMORY_NOT_FOUND", "PROJECT_NOT_FOUND"), (tool.name, path, bound)


@behaviour("assoc.surface.bounds")
async def test_the_bounds_of_what_an_action_uses_are_told(talk: AssocConversation) -> None:
    tools = (await talk.client.list_tools()).tools
    assert {(tool.name, path[0]) for tool in tools for path, _, _ in told(tool)} == set(USING)


@behaviour("assoc.surface.bounds")
async def test_a_bound_is_none_for_who_does_not_use_the_parameter(talk: AssocConversation) -> None:
    calls: dict[str, dict[str, Any]] = {
        "memory": {"action": "get", "memory_id": await talk.store()},
        "memory_manage": {"action": "list_categories"},
        "search": {"type": "timerange", "start_time": "2020-01-01"},
        "project": {"action": "list"},
        "user": {"action": "get_sessions"},
        "visualize": {"type": "category_chart", "format": "json"},
        "admin": {"action": "system_stats"},
    }
    for tool in (await talk.client.list_tools()).tools:
        call = calls[tool.name]
        for path, bound, size in told(tool):
            if path[0] not in ("limit", "filters") or tool.name != "search":  # which each search uses
                beyond = calling(tool.name, path, value(bound, size, 1), unique())[path[0]]
                said = await talk.says(tool.name, **call, **{path[0]: beyond})
                assert said.endswith(f"(使わなかったパラメータ: {path[0]})"), (tool.name, path)
