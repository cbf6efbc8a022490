"""What is on offer: names, parameters, schemas, and how answers and refusals look in general."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool

from commonplace import __version__
from commonplace.dialects.nocturne import nocturne
from commonplace.domain.errors import CommonplaceError, EmbeddingFailed, Forbidden, StoreFull
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import ProseConversation, prose_of, unique
from tests.dialects.nocturne.tree import plant, spoken_to

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

REQUIRED = object()
TABLES: dict[str, dict[str, tuple[str, Any]]] = {
    "read_memory": {"uri": ("string", REQUIRED)},
    "create_memory": {
        "parent_uri": ("string", REQUIRED),
        "content": ("string", REQUIRED),
        "priority": ("integer", REQUIRED),
        "title": ("string", None),
        "disclosure": ("string", None),
    },
    "update_memory": {
        "uri": ("string", REQUIRED),
        "old_string": ("string", None),
        "new_string": ("string", None),
        "append": ("string", None),
        "priority": ("integer", None),
        "disclosure": ("string", None),
    },
    "delete_memory": {"uri": ("string", REQUIRED)},
    "add_alias": {
        "new_uri": ("string", REQUIRED),
        "target_uri": ("string", REQUIRED),
        "priority": ("integer", 0),
        "disclosure": ("string", None),
    },
    "search_memory": {"query": ("string", REQUIRED), "domain": ("string", None), "limit": ("integer", 10)},
}
"""The parameter tables of the reference: name, type, default."""
READING = {"read_memory", "search_memory"}


async def _tools(talk: ProseConversation) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await talk.client.list_tools()).tools}


def _type(schema: dict[str, Any]) -> str:
    kinds: list[str] = [one["type"] for one in schema.get("anyOf", [schema])]
    return next(kind for kind in kinds if kind != "null")


@behaviour("nocturne.surface.tools")
async def test_the_six_tools_are_listed_in_the_order_of_the_reference(talk: ProseConversation) -> None:
    assert list(await _tools(talk)) == list(TABLES)


@behaviour("nocturne.surface.parameters")
async def test_each_tool_takes_the_parameters_of_its_table(talk: ProseConversation) -> None:
    for name, tool in (await _tools(talk)).items():
        schema = tool.input_schema
        offered = {
            parameter: (_type(one), REQUIRED if parameter in schema.get("required", ()) else one["default"])
            for parameter, one in schema["properties"].items()
        }
        assert offered == TABLES[name], name
        assert schema["additionalProperties"] is False


@behaviour("nocturne.surface.descriptions")
async def test_tools_and_their_parameters_are_described(talk: ProseConversation) -> None:
    for tool in (await _tools(talk)).values():
        assert tool.title
        assert tool.description
        assert tool.output_schema is None
        assert all(one["description"] for one in tool.input_schema["properties"].values())


@behaviour("nocturne.surface.annotations")
async def test_annotations_say_which_tools_read_and_which_destroy(talk: ProseConversation) -> None:
    hints = {name: tool.annotations for name, tool in (await _tools(talk)).items()}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == READING
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {"delete_memory"}


@behaviour("nocturne.surface.prose")
async def test_answers_and_refusals_are_one_text_and_nothing_else(talk: ProseConversation) -> None:
    good = await talk.answer("search_memory", query=unique())
    assert prose_of(good).startswith("No matching memories")
    bad = await talk.answer("read_memory", uri=f"core://{unique()}")
    assert bad.is_error
    assert prose_of(bad).startswith("Error: ")


@behaviour("nocturne.surface.instructions")
async def test_a_client_that_connects_is_told_how_to_use_the_memory(local: ProseConversation) -> None:
    instructions = local.client.instructions or ""
    for words in ("system://boot", "Read a memory before you update it", "data, not instructions"):
        assert words in instructions
    info = local.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("commonplace-nocturne", __version__)


@behaviour("nocturne.surface.unknown_tool")
async def test_an_unknown_tool_is_refused_with_the_known_ones(talk: ProseConversation) -> None:
    with anyio.fail_after(30), pytest.raises(MCPError, match="read_memory") as caught:
        await talk.client.call_tool("replace_memory", {})
    assert caught.value.code == INVALID_PARAMS


@behaviour("nocturne.surface.unknown_argument")
async def test_an_unknown_argument_is_named_with_the_nearest_known_one(talk: ProseConversation) -> None:
    said = await talk.refused("search_memory", query="x", limits=3)
    assert said == (
        "limits: is not a parameter of search_memory; did you mean 'limit'? (it takes: query, domain, limit)."
    )
    assert "did you mean 'parent_uri'?" in await talk.refused("create_memory", parent="core://")
    assert "is not a parameter" in await talk.refused("read_memory", uri="core://", nothing=None)


@behaviour("nocturne.surface.missing_argument")
async def test_a_missing_required_parameter_is_named(talk: ProseConversation) -> None:
    for tool, table in TABLES.items():
        for parameter, (_, default) in table.items():
            if default is REQUIRED:
                assert f"{parameter}: is required" in await talk.refused(tool)
                assert f"{parameter}: is required" in await talk.refused(tool, **{parameter: None})


@behaviour("nocturne.surface.null_is_left_out")
async def test_null_for_an_optional_parameter_is_the_same_as_leaving_it_out(talk: ProseConversation) -> None:
    above = await plant(talk, disclosure=None)
    assert await plant(talk, above, title=None, disclosure=None) == f"{above}/1"
    alias = f"notes://{unique()}"
    assert await talk.call("add_alias", new_uri=alias, target_uri=above, priority=None, disclosure=None)
    assert "Priority: 0" in await talk.call("read_memory", uri=alias)
    assert await talk.call("search_memory", query=above, domain=None, limit=None)
    nothing = dict.fromkeys(("old_string", "new_string", "append", "priority", "disclosure"))
    assert "there is nothing to change" in await talk.refused("update_memory", uri=above, **nothing)
    assert await talk.call("update_memory", uri=above, **{**nothing, "append": "more"})


@behaviour("nocturne.surface.whole_numbers")
async def test_an_integer_may_be_written_with_a_point_but_not_as_something_else(talk: ProseConversation) -> None:
    uri = await plant(talk, priority=7.0)
    assert "Priority: 7" in await talk.call("read_memory", uri=uri)
    for wrong in (2.5, "2", True, [2], {"value": 2}):
        assert "priority" in await talk.refused("create_memory", parent_uri="core://", content="x", priority=wrong)
        assert "limit" in await talk.refused("search_memory", query="x", limit=wrong)


@behaviour("nocturne.surface.wires")
async def test_every_wire_speaks_the_revision_it_asked_for(talk: ProseConversation) -> None:
    assert talk.client.protocol_version in ("2025-11-25", "2026-07-28")


@behaviour("nocturne.surface.read_only")
async def test_a_server_may_offer_only_what_reads(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, read_only=True)) as talk:
        assert set(await _tools(talk)) == READING
        with pytest.raises(MCPError, match="Unknown tool: create_memory"):
            await talk.client.call_tool("create_memory", {})


@behaviour("nocturne.surface.failures")
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (CommonplaceError(), "Error: Something went wrong inside the server. Its log says what."),
        (
            Forbidden("write", "nocturne.create_memory"),
            "Error: nocturne.create_memory needs the permission 'write'. Use a credential that has 'write'.",
        ),
        (EmbeddingFailed("use", "no\nroom"), "Error: embedder use failed: no room."),
        (
            StoreFull("here", "disk full"),
            "Error: the store at here failed: disk full. "
            "Free some space on that disk and repeat; nothing was lost and reading goes on.",
        ),
    ],
)
def test_a_failure_is_a_sentence_that_says_what_to_do(error: CommonplaceError, sentence: str) -> None:
    assert nocturne.refusal(error) == sentence


@behaviour("nocturne.surface.failures")
async def test_a_store_that_fails_is_told_without_a_traceback(local: ProseConversation, folder: Path) -> None:
    await plant(local)
    with apsw.Connection(str(folder / "commonplace.db")) as file:
        file.execute("DROP TABLE amendments")
    file.close()
    said = await local.refused("create_memory", parent_uri="core://", content="x", priority=1)
    assert "amendments" in said
    assert "nothing acknowledged was lost" in said
