"""What is on offer: names, parameters, schemas, and how answers and refusals look in general."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool

from commonplace import __version__
from commonplace.dialects.live import live
from commonplace.domain.errors import (
    AlreadyExists,
    Busy,
    CommonplaceError,
    Conflict,
    FilesFailed,
    Forbidden,
    Invalid,
    ModelFailed,
    NotFound,
    PlanRefused,
    SpaceForbidden,
    StoreFull,
    Unauthenticated,
)
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.live.reference import (
    ADMIN,
    ANSWERS,
    CATEGORIES,
    NEEDS,
    PARAMETERS,
    PUBLIC,
    READ,
    REQUIRED,
    promised,
    shape,
)
from tests.dialects.live.speech import LiveConversation, good, refusal, spoken_to

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

CHANGING = {name for name, needs in NEEDS.items() if needs not in (READ, PUBLIC)} - {"admin_list_tokens"}


async def _tools(talk: LiveConversation) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await talk.client.list_tools()).tools}


@behaviour("live.surface.tools")
async def test_the_25_tools_are_listed_in_the_order_of_the_reference(talk: LiveConversation) -> None:
    assert list(await _tools(talk)) == list(PARAMETERS)
    assert len(PARAMETERS) == 25


@behaviour("live.surface.parameters")
async def test_each_tool_takes_the_parameters_of_the_reference(talk: LiveConversation) -> None:
    for name, tool in (await _tools(talk)).items():
        schema = tool.input_schema
        told = {one: (entry["type"], entry.get("default", REQUIRED)) for one, entry in schema["properties"].items()}
        assert told == PARAMETERS[name], name
        assert set(schema.get("required", ())) == {one for one, (_, usual) in told.items() if usual is REQUIRED}
        assert schema["additionalProperties"] is False


@behaviour("live.surface.parameters")
async def test_the_schema_names_the_seven_categories(talk: LiveConversation) -> None:
    properties = (await _tools(talk))["live_note"].input_schema["properties"]
    assert properties["category"]["enum"] == CATEGORIES


@behaviour("live.surface.descriptions")
async def test_tools_and_their_parameters_are_described(talk: LiveConversation) -> None:
    for tool in (await _tools(talk)).values():
        assert tool.title
        assert tool.description
        assert tool.output_schema is not None
        assert all(one["description"] for one in tool.input_schema["properties"].values())


@behaviour("live.surface.annotations")
async def test_annotations_say_which_tools_only_read_and_which_destroy(talk: LiveConversation) -> None:
    hints = {name: tool.annotations for name, tool in (await _tools(talk)).items()}
    reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    assert reading == PARAMETERS.keys() - CHANGING
    destroying = {name for name, hint in hints.items() if hint and hint.destructive_hint}
    assert destroying == {name for name in CHANGING if NEEDS[name] == ADMIN}


@behaviour("live.surface.instructions")
async def test_a_client_that_connects_is_told_how_to_use_the_memory(local: LiveConversation) -> None:
    instructions = local.client.instructions or ""
    for words in ("bank_read_all", "live_note", "bank_consolidate", "data, not instructions"):
        assert words in instructions
    info = local.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("commonplace-live", __version__)


@behaviour("live.surface.examples")
async def test_answers_have_exactly_the_fields_of_the_examples(talk: LiveConversation) -> None:
    space, word = unique(), unique()
    given = {
        "space_create": {"space_id": space, "description": "x", "rules": "# Rules\n\n- `progress.md`", "owner": "x"},
        "live_note": {"space_id": space, "category": "progress", "content": word, "tags": "a,b"},
        "live_search": {"space_id": space, "query": word},
        "bank_read": {"space_id": space, "filename": "progress.md"},
        "backup_create": {"space_id": space, "description": "x"},
        "admin_create_token": {"name": word, "permissions": "read", "space_ids": space},
    }
    order = ["space_create", "live_note", "live_read", "live_search", "bank_consolidate"]
    for tool in (*order, *(name for name in ANSWERS if name not in order)):
        arguments = given.get(tool, {"space_id": space} if "space_id" in PARAMETERS[tool] else {})
        assert shape(await talk.call(tool, **arguments)) == promised(tool), tool


@behaviour("live.surface.times")
async def test_times_are_written_as_in_the_reference(local: LiveConversation) -> None:
    space = await local.space()
    note = await local.note(space)
    told = await local.call("space_info", space_id=space)
    assert {note["timestamp"], told["created_at"], told["live"]["newest_note"]} == {"2026-01-15T03:00:00Z"}


@behaviour("live.surface.answers")
async def test_answers_and_refusals_are_objects_with_a_status_and_come_twice(talk: LiveConversation) -> None:
    assert good(await talk.answer("space_list"))["status"] == "ok"
    absent = unique()
    status, message = refusal(await talk.answer("space_info", space_id=absent))
    assert (status, message) == ("not_found", f"Espace introuvable : no space '{absent}'")


@behaviour("live.surface.statuses")
@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (NotFound("space", "x"), "not_found", "Espace introuvable"),
        (NotFound("bank file", "x"), "not_found", "Fichier introuvable dans la bank"),
        (NotFound("backup", "x"), "not_found", "Backup introuvable"),
        (NotFound("token", "x"), "not_found", "Token introuvable"),
        (NotFound("thing", "x"), "not_found", "Introuvable"),
        (AlreadyExists("space", "x"), "already_exists", "Existe déjà"),
        (Busy("the consolidation", "x"), "conflict", "Une consolidation est déjà en cours"),
        (Conflict("bank file", "x"), "conflict", "Modifié entre-temps"),
        (Unauthenticated(), "forbidden", "Authentification requise"),
        (Forbidden("read", "x"), "forbidden", "Permission 'read' requise"),
        (Forbidden("write", "x"), "forbidden", "Permission 'write' requise"),
        (Forbidden("admin", "x"), "forbidden", "Permission 'admin' requise"),
        (SpaceForbidden("read", "x", "alpha"), "forbidden", "Accès refusé à l'espace 'alpha'"),
        (Invalid("x", "y"), "error", "Valeur invalide"),
        (PlanRefused("x"), "error", "Plan de consolidation refusé, rien n'a été modifié"),
        (ModelFailed("x", "y"), "error", "Le modèle n'a pas répondu, rien n'a été modifié"),
        (FilesFailed("x", "y"), "error", "Stockage des fichiers indisponible"),
        (StoreFull("x", "y"), "error", "Erreur de stockage"),
    ],
)
async def test_every_failure_has_a_status_and_words(error: CommonplaceError, status: str, words: str) -> None:
    body: Any = live.refusal(error)
    assert body["status"] == status
    assert body["message"].startswith(f"{words} : {error.message}")
    remedy = body["message"].rpartition(". ")[2]
    assert not remedy[:1].islower() or not error.remedy


@behaviour("live.surface.statuses")
async def test_a_fault_of_ours_tells_nothing_about_itself() -> None:
    assert live.refusal(CommonplaceError()) == {"status": "error", "message": "Erreur interne"}


@behaviour("live.surface.unknown_tool")
async def test_an_unknown_tool_is_refused_with_the_known_ones(talk: LiveConversation) -> None:
    with anyio.fail_after(30), pytest.raises(MCPError, match="bank_consolidate") as caught:
        await talk.client.call_tool("remember", {})
    assert caught.value.code == INVALID_PARAMS


@behaviour("live.surface.unknown_argument")
async def test_an_unknown_argument_is_refused_with_the_nearest_known_one(talk: LiveConversation) -> None:
    said = await talk.invalid("space_info", space_id="x", spaceid="x")
    assert said == "spaceid: is not a parameter of space_info; did you mean 'space_id'? (it takes: space_id)"


@behaviour("live.surface.missing")
async def test_what_is_missing_is_named(talk: LiveConversation) -> None:
    for name, parameters in PARAMETERS.items():
        needed = [one for one, (_, usual) in parameters.items() if usual is REQUIRED]
        if needed:
            assert (await talk.invalid(name)).startswith(f"{needed[0]}: is required")


@behaviour("live.surface.null_is_left_out")
async def test_null_means_that_a_parameter_was_left_out(talk: LiveConversation) -> None:
    space = await talk.space(owner=None)
    assert (await talk.note(space, agent=None, tags=None))["agent"]
    assert len(await talk.notes(space, limit=None, category=None, agent=None, since=None)) == 1
    assert await talk.call("backup_list", space_id=None)


@behaviour("live.surface.whole_numbers")
async def test_a_whole_number_may_be_written_with_a_point(talk: LiveConversation) -> None:
    space = await talk.space()
    for limit in (1, 1.0):
        assert await talk.call("live_read", space_id=space, limit=limit)
    assert "limit" in await talk.invalid("live_read", space_id=space, limit=1.5)
    assert "expires_in_days" in await talk.invalid(
        "admin_create_token", name="x", permissions="read", expires_in_days=0.5
    )


@behaviour("live.surface.no_resources")
async def test_there_are_no_resources(talk: LiveConversation) -> None:
    assert (await talk.client.list_resources()).resources == []
    assert (await talk.client.list_resource_templates()).resource_templates == []
    await talk.unreadable("live://spaces")


@behaviour("live.surface.embedding_fails")
async def test_without_a_model_notes_are_kept_and_found_by_their_letters(
    engine: Engine, local: LiveConversation
) -> None:
    engine.embedding._embedder.broken = "no model"  # type: ignore[attr-defined]
    space, word = await local.space(), unique()
    await local.note(space, f"le {word} est là")
    assert await local.finds(space, word.upper()) == [f"le {word} est là"]
    assert (await local.call("bank_consolidate", space_id=space))["notes_processed"] == 1


@behaviour("live.surface.chosen_tools")
async def test_settings_choose_which_tools_are_offered(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, tools=("live_note", "system_about"))) as talk:
        assert list(await _tools(talk)) == ["live_note", "system_about"]
        assert (await talk.call("system_about"))["tools_count"] == 2


@behaviour("live.surface.read_only")
async def test_a_server_that_only_reads_offers_nothing_that_changes(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, read_only=True)) as talk:
        offered = await _tools(talk)
        assert set(offered) == PARAMETERS.keys() - CHANGING
        for name in sorted(CHANGING):
            with pytest.raises(MCPError, match="Unknown tool"):
                await talk.answer(name, **_anything(name))


def _anything(tool: str) -> Mapping[str, Any]:
    return {one: "x" for one, (kind, usual) in PARAMETERS[tool].items() if usual is REQUIRED and kind == "string"}
