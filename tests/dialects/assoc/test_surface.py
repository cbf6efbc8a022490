"""What is on offer: names, parameters, schemas, and how answers and refusals look in general."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Tool

from commonplace import __version__
from commonplace.dialects.assoc import assoc, formats
from commonplace.dialects.assoc.parameters import MAY_BE_EMPTY
from commonplace.domain.errors import (
    AlreadyExists,
    CommonplaceError,
    Conflict,
    EmbeddingFailed,
    Forbidden,
    Invalid,
    NotFound,
    ReadOnly,
    SessionRequired,
    StoreFull,
    Unauthenticated,
)
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.assoc.actions import ACTIONS, TOOLS, chooser
from tests.dialects.assoc.speech import AssocConversation, refusal, spoken_to
from tests.dialects.conversation import unique

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

DOMAINS = ["global", "user", "project", "session"]
ROLES = ["editor", "viewer"]
TEXT, TEXTS, NUMBER, FLAG, OBJECT = "string", "array", "number", "boolean", "object"
TABLES: dict[str, dict[str, tuple[str, Any]]] = {
    "memory": {
        "action": (TEXT, ACTIONS["memory"]),
        "memory_id": (TEXT, None),
        "content": (TEXT, None),
        "query": (TEXT, None),
        "domain": (TEXT, DOMAINS),
        "include_domains": (TEXTS, DOMAINS),
        "project_id": (TEXT, None),
        "session_id": (TEXT, None),
        "tags": (TEXTS, None),
        "category": (TEXT, None),
        "importance": (NUMBER, None),
        "limit": (NUMBER, 10),
        "threshold": (NUMBER, 0.7),
        "depth": (NUMBER, 2),
        "associate_with": (TEXTS, None),
        "dissociate_from": (TEXTS, None),
        "summarize": (FLAG, None),
    },
    "memory_manage": {
        "action": (TEXT, ACTIONS["memory_manage"]),
        "memory_ids": (TEXTS, None),
        "new_domain": (TEXT, DOMAINS),
        "target_domain": (TEXT, DOMAINS),
        "project_id": (TEXT, None),
        "session_id": (TEXT, None),
        "export_format": (TEXT, "json"),
        "offset": (NUMBER, 0),
        "import_data": (TEXT, None),
        "cleanup_before": (TEXT, None),
    },
    "search": {
        "type": (TEXT, ACTIONS["search"]),
        "query": (TEXT, None),
        "tags": (TEXTS, None),
        "start_time": (TEXT, None),
        "end_time": (TEXT, None),
        "memory_id": (TEXT, None),
        "filters": (OBJECT, None),
        "limit": (NUMBER, 10),
        "threshold": (NUMBER, 0.7),
    },
    "project": {
        "action": (TEXT, ACTIONS["project"]),
        "project_id": (TEXT, None),
        "name": (TEXT, None),
        "description": (TEXT, None),
        "user_id": (TEXT, None),
        "role": (TEXT, ROLES),
        "role_filter": (TEXT, ROLES),
    },
    "user": {
        "action": (TEXT, ACTIONS["user"]),
        "session_name": (TEXT, None),
        "session_id": (TEXT, None),
        "include_stats": (FLAG, False),
    },
    "visualize": {
        "type": (TEXT, ACTIONS["visualize"]),
        "target_domain": (TEXT, DOMAINS),
        "project_id": (TEXT, None),
        "session_id": (TEXT, None),
        "center_memory_id": (TEXT, None),
        "depth": (NUMBER, 2),
        "format": (TEXT, "html"),
        "time_range": (OBJECT, None),
    },
    "admin": {
        "action": (TEXT, ACTIONS["admin"]),
        "backup_path": (TEXT, None),
        "include_data": (TEXTS, ["memories", "projects", "sessions", "associations"]),
        "migration_config": (OBJECT, None),
        "force": (FLAG, False),
    },
}
"""The schemas of the reference: each parameter's type, and its values or its default."""
FIELDS = {
    ("search", "filters"): {"domains", "categories", "importance_min", "importance_max", "project_ids"},
    ("visualize", "time_range"): {"start", "end"},
    ("admin", "migration_config"): {"source_domain", "target_domain", "filter_criteria"},
}
"""The fields of the objects in them."""


async def _tools(talk: AssocConversation) -> dict[str, Tool]:
    return {tool.name: tool for tool in (await talk.client.list_tools()).tools}


def _told(schema: dict[str, Any]) -> tuple[str, Any]:
    values = schema.get("enum") or schema.get("items", {}).get("enum")
    return schema["type"], schema.get("default", values)


@behaviour("assoc.surface.tools")
async def test_the_seven_tools_are_listed_in_the_order_of_the_reference(talk: AssocConversation) -> None:
    assert list(await _tools(talk)) == list(TOOLS) == list(TABLES)


@behaviour("assoc.surface.actions")
async def test_each_tool_offers_exactly_the_actions_of_the_reference(talk: AssocConversation) -> None:
    tools = await _tools(talk)
    offered = {name: tool.input_schema["properties"][chooser(name)]["enum"] for name, tool in tools.items()}
    assert offered == ACTIONS
    assert sum(map(len, offered.values())) == 43


@behaviour("assoc.surface.parameters")
async def test_each_tool_takes_the_parameters_of_the_reference(talk: AssocConversation) -> None:
    for name, tool in (await _tools(talk)).items():
        schema = tool.input_schema
        offered = {one: _told(entry) for one, entry in schema["properties"].items()}
        assert offered == TABLES[name], name
        assert schema["required"] == [chooser(name)]
        assert schema["additionalProperties"] is False


@behaviour("assoc.surface.parameters")
async def test_the_objects_among_the_parameters_have_the_fields_of_the_reference(talk: AssocConversation) -> None:
    tools = await _tools(talk)
    for (tool, parameter), fields in FIELDS.items():
        schema = tools[tool].input_schema["properties"][parameter]
        assert fields <= set(schema["properties"]), parameter
        assert schema["additionalProperties"] is False


@behaviour("assoc.surface.parameters")
async def test_no_schema_asks_a_client_to_follow_references(talk: AssocConversation) -> None:
    for name, tool in (await _tools(talk)).items():
        assert "$ref" not in json.dumps(tool.input_schema), name


@behaviour("assoc.surface.descriptions")
async def test_tools_and_their_parameters_are_described(talk: AssocConversation) -> None:
    for tool in (await _tools(talk)).values():
        assert tool.title
        assert tool.description
        assert tool.output_schema is not None
        assert set(tool.output_schema["required"]) == {"success", "data", "message", "error"}
        assert all(one["description"] for one in tool.input_schema["properties"].values())


@behaviour("assoc.search.closest")
async def test_a_threshold_says_that_the_closest_are_named_below_it(talk: AssocConversation) -> None:
    tools = await _tools(talk)
    for name in ("memory", "search"):
        described = tools[name].input_schema["properties"]["threshold"]["description"]
        assert "closest" in described
        assert len(described) < 100


@behaviour("assoc.surface.annotations")
async def test_annotations_say_which_tools_only_read(talk: AssocConversation) -> None:
    hints = {name: tool.annotations for name, tool in (await _tools(talk)).items()}
    reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    assert reading == {"search", "visualize"}
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == TABLES.keys() - reading


@behaviour("assoc.surface.instructions")
async def test_a_client_that_connects_is_told_how_to_use_the_memory(local: AssocConversation) -> None:
    instructions = local.client.instructions or ""
    for words in ('memory(action="store")', "get_related", "data, not instructions"):
        assert words in instructions
    info = local.client.server_info
    assert info is not None
    assert (info.name, info.version) == ("commonplace-assoc", __version__)


@behaviour("assoc.surface.unknown_tool")
async def test_an_unknown_tool_is_refused_with_the_known_ones(talk: AssocConversation) -> None:
    with anyio.fail_after(30), pytest.raises(MCPError, match="memory_manage") as caught:
        await talk.client.call_tool("remember", {})
    assert caught.value.code == INVALID_PARAMS


@behaviour("assoc.surface.unknown_argument")
async def test_of_many_faults_a_few_are_named(talk: AssocConversation) -> None:
    said = await talk.invalid("memory", action="search", **{f"unknown{number}": 1 for number in range(500)})
    assert said.count("このパラメータはありません") == 4
    said = await talk.invalid("memory", action="search", query="x", tags=[0] * 5000)
    assert said.count("tags[") == 4
    said = await talk.invalid("memory", action="search", query="x", tags=["x"] * 100_000)
    assert said.startswith("arguments: 値が100000個を超えています")


@behaviour("assoc.surface.unknown_argument")
async def test_an_unknown_argument_is_refused_with_the_nearest_known_one(talk: AssocConversation) -> None:
    for tool, actions in ACTIONS.items():
        said = await talk.invalid(tool, **{chooser(tool): actions[0]}, memory_idd="x")
        assert said.startswith(f"memory_idd: {tool} にこのパラメータはありません"), said
    assert "'memory_id' ではありませんか" in await talk.invalid("memory", action="get", memory_idd="x")


@behaviour("assoc.surface.unknown_argument")
async def test_an_unknown_field_inside_an_object_is_named(talk: AssocConversation) -> None:
    said = await talk.invalid("search", type="advanced", filters={"domain": ["user"]})
    assert said.startswith("filters: 'domain' というフィールドはありません。'domains' ではありませんか (使えるもの: ")
    config = {"source_domain": "user", "target_domain": "user", "filter_criteria": {"tag": "x"}}
    said = await talk.invalid("admin", action="migrate_domain", migration_config=config)
    assert said.startswith(
        "migration_config: 'filter_criteria.tag' というフィールドはありません。'tags' ではありませんか"
    )
    said = await talk.invalid("visualize", type="timeline", time_range={"begin": "2024-01-01"})
    assert said.endswith("(使えるもの: end, start)")


@behaviour("assoc.surface.parameters")
async def test_times_are_told_to_be_times(talk: AssocConversation) -> None:
    tools = await _tools(talk)
    for tool, names in {"memory_manage": ["cleanup_before"], "search": ["start_time", "end_time"]}.items():
        assert {tools[tool].input_schema["properties"][name]["format"] for name in names} == {"date-time"}
    spans = tools["visualize"].input_schema["properties"]["time_range"]["properties"]
    assert [spans[name]["format"] for name in ("start", "end")] == ["date-time", "date-time"]


@behaviour("assoc.surface.unknown_action")
async def test_an_unknown_action_is_refused_with_the_known_ones(talk: AssocConversation) -> None:
    for tool, actions in ACTIONS.items():
        said = await talk.invalid(tool, **{chooser(tool): "remember"})
        assert said.startswith(f"{chooser(tool)}: 次のいずれかを指定してください: ")
        assert all(f"'{one}'" in said for one in actions)
        assert (
            await talk.invalid(tool)
            == f"{chooser(tool)}: 必須です。次のいずれかを指定してください: {', '.join(actions)}"
        )


NEEDED = {
    ("memory", "store"): ("content", "domain"),
    ("memory", "search"): ("query",),
    ("memory", "get"): ("memory_id",),
    ("memory", "get_related"): ("memory_id",),
    ("memory", "update"): ("memory_id",),
    ("memory", "delete"): ("memory_id",),
    ("memory_manage", "import"): ("import_data",),
    ("memory_manage", "change_domain"): ("memory_ids", "new_domain"),
    ("memory_manage", "batch_delete"): ("memory_ids",),
    ("search", "semantic"): ("query",),
    ("search", "tags"): ("tags",),
    ("search", "similar"): ("memory_id",),
    ("project", "create"): ("name",),
    ("project", "get"): ("project_id",),
    ("project", "add_member"): ("project_id", "user_id", "role"),
    ("project", "remove_member"): ("project_id", "user_id"),
    ("project", "update"): ("project_id",),
    ("project", "delete"): ("project_id",),
    ("user", "switch_session"): ("session_id",),
    ("user", "end_session"): ("session_id",),
    ("admin", "restore"): ("backup_path",),
    ("admin", "migrate_domain"): ("migration_config",),
}
"""What the reference marks as required (必須) for an action."""
FORMS = {"import_data": f"。{formats.FORMS}"}
"""What is said besides, where the name of a parameter does not tell what it should hold."""


@behaviour("assoc.surface.needed")
async def test_an_action_without_what_it_needs_names_it(talk: AssocConversation) -> None:
    for (tool, action), needed in NEEDED.items():
        said = await talk.invalid(tool, **{chooser(tool): action})
        others = f" (必要なもの: {', '.join(needed)})" if len(needed) > 1 else ""
        assert said == f"{needed[0]}: {chooser(tool)} '{action}' では必須です{others}{FORMS.get(needed[0], '')}"


@behaviour("assoc.surface.needed")
async def test_a_text_that_an_action_needs_is_missing_where_it_is_empty(talk: AssocConversation) -> None:
    lists = {"memory_ids": [unique()], "tags": ["x"]}
    given: dict[str, Any] = {**lists, "domain": "user", "new_domain": "user", "role": "viewer"}
    for (tool, action), needed in NEEDED.items():
        others = f" (必要なもの: {', '.join(needed)})" if len(needed) > 1 else ""
        rest = {name: given.get(name, "x") for name in needed}
        for name in needed:
            for empty in ("", " \n\u3000"):
                said = await talk.invalid(tool, **{chooser(tool): action, **rest, name: empty})
                assert (
                    said
                    == f"{name}: 空か空白だけです。{chooser(tool)} '{action}' では必須です{others}{FORMS.get(name, '')}"
                )


@behaviour("assoc.surface.needed")
async def test_the_other_actions_need_nothing_or_one_of_several(talk: AssocConversation) -> None:
    for tool, action, field in (
        ("search", "timerange", "start_time"),
        ("memory_manage", "cleanup", "cleanup_before"),
    ):
        assert (await talk.invalid(tool, **{chooser(tool): action})).startswith(
            f"{field}: {chooser(tool)} '{action}' では"
        )
    free = {(tool, one) for tool, every in ACTIONS.items() for one in every} - NEEDED.keys()
    changing = {("admin", "reindex"), ("admin", "backup"), ("search", "timerange"), ("memory_manage", "cleanup")}
    for tool, action in sorted(free - changing):
        await talk.told(tool, **{chooser(tool): action})


@behaviour("assoc.surface.unused")
async def test_a_known_parameter_that_an_action_does_not_use_is_named_and_changes_nothing(
    talk: AssocConversation,
) -> None:
    word = unique()
    used = await talk.told("memory", action="store", content=word, domain="user", query="x", limit=3, depth=4)
    assert used["message"].endswith("(使わなかったパラメータ: query, limit, depth)")
    for tool, action, unused in (
        ("search", "semantic", {"tags": ["x"], "start_time": "never"}),
        ("project", "list", {"name": word, "user_id": "x"}),
        ("user", "get_sessions", {"session_name": word, "include_stats": True}),
        ("memory_manage", "stats", {"memory_ids": ["x"], "cleanup_before": "never"}),
        ("admin", "cleanup_orphans", {"backup_path": "../x"}),
        ("visualize", "timeline", {"center_memory_id": "x", "depth": 99}),
    ):
        more = {"query": word} if action == "semantic" else {}
        said = await talk.says(tool, **{chooser(tool): action}, **more, **unused)
        assert said.endswith(f"(使わなかったパラメータ: {', '.join(unused)})"), said


@behaviour("assoc.surface.unused")
async def test_no_value_of_a_parameter_that_is_not_used_is_refused(talk: AssocConversation) -> None:
    kept = await talk.store()
    get = {"action": "get", "memory_id": kept}
    for tool, arguments, unused in (
        ("memory", get, {"domain": "", "importance": -1, "limit": "x", "depth": 2.5, "summarize": None}),
        ("memory", {"action": "store", "content": unique(), "domain": "user"}, {"include_domains": ["mars"]}),
        ("memory_manage", {"action": "stats"}, {"memory_ids": "x", "new_domain": "", "export_format": ""}),
        ("search", {"type": "tags", "tags": ["x"]}, {"memory_id": 5, "threshold": "high"}),
        ("project", {"action": "list"}, {"name": {"x": [1]}, "role": ""}),
        ("user", {"action": "get_sessions"}, {"session_id": [], "include_stats": "no"}),
        ("visualize", {"type": "timeline"}, {"center_memory_id": 5, "depth": "x"}),
        ("visualize", {"type": "memory_map", "center_memory_id": kept}, {"time_range": {"begin": "never"}}),
        ("admin", {"action": "system_stats"}, {"include_data": ["mars"], "migration_config": {"x": 1}, "force": ""}),
    ):
        said = await talk.says(tool, **arguments, **unused)
        named = [name for name, value in unused.items() if value is not None]
        assert said.endswith(f"(使わなかったパラメータ: {', '.join(named)})"), said


@behaviour("assoc.surface.unused")
async def test_what_is_not_used_hides_no_fault_of_a_call(talk: AssocConversation) -> None:
    wrong: tuple[Any, ...] = ("remember", 5, [], {}, "")
    for action in wrong:
        assert "action: 次のいずれかを指定してください" in await talk.invalid("memory", action=action, limit="x")
    said = await talk.invalid("memory", action="get", memory_id="x", limit="x", limmit=1)
    assert said.startswith("limmit: memory にこのパラメータはありません。'limit' ではありませんか")
    assert "summarize: " in await talk.invalid("memory", action="get", memory_id="x", summarize="yes", limit="x")
    said = await talk.invalid("memory", action="get", memory_id="x", tags=["x"] * 100_000)
    assert said.startswith("arguments: 値が100000個を超えています")


@behaviour("assoc.surface.unused")
async def test_the_id_of_a_place_that_the_domain_leaves_out_is_named_and_changes_nothing(
    talk: AssocConversation,
) -> None:
    word = unique()
    kept = await talk.store(word)
    for tool, unused, arguments in (
        ("memory", ["project_id", "session_id"], {"action": "store", "content": word, "domain": "user"}),
        ("memory", ["project_id", "session_id"], {"action": "search", "query": word, "include_domains": ["user"]}),
        ("memory_manage", ["project_id"], {"action": "change_domain", "memory_ids": [kept], "new_domain": "user"}),
        ("memory_manage", ["project_id", "session_id"], {"action": "stats", "target_domain": "user"}),
        ("memory_manage", ["session_id"], {"action": "export", "target_domain": "global"}),
        ("visualize", ["project_id", "session_id"], {"type": "category_chart", "target_domain": "user"}),
    ):
        said = await talk.says(tool, **arguments, **dict.fromkeys(unused, "not there"))
        assert said.endswith(f"(使わなかったパラメータ: {', '.join(unused)})"), said


@behaviour("assoc.surface.empty_ids")
async def test_an_empty_id_of_a_place_means_that_it_was_left_out(talk: AssocConversation) -> None:
    word = unique()
    await talk.store(word)
    empty = {"project_id": "", "session_id": " "}
    for tool, arguments in (
        ("memory", {"action": "store", "content": word, "domain": "user"}),
        ("memory", {"action": "search", "query": word}),
        ("memory_manage", {"action": "stats"}),
        ("visualize", {"type": "category_chart"}),
    ):
        said = await talk.says(tool, **arguments, **empty)
        assert said.endswith("(使わなかったパラメータ: project_id, session_id)"), said
    said = await talk.invalid("memory", action="store", content=word, domain="project", project_id="")
    assert said == "project_id: ドメイン 'project' では必須です"


@behaviour("assoc.surface.empty_choices")
async def test_an_empty_choice_or_time_means_that_it_was_left_out(talk: AssocConversation) -> None:
    kept = await talk.store()
    await talk.project()
    times, formed = {"start_time": "2000-01-01"}, {"action": "import", "import_data": "[]"}
    for tool, arguments, names in (
        ("project", {"action": "list"}, ["role_filter"]),
        ("search", {"type": "timerange", **times}, ["end_time"]),
        ("search", {"type": "advanced"}, ["start_time", "end_time"]),
        ("memory_manage", {"action": "stats"}, ["target_domain"]),
        ("memory_manage", {"action": "export"}, ["target_domain", "export_format"]),
        ("memory_manage", formed, ["export_format"]),
        ("memory_manage", {"action": "cleanup", "cleanup_before": "2000-01-01"}, ["target_domain"]),
        ("visualize", {"type": "category_chart", "format": "json"}, ["target_domain", "center_memory_id"]),
        ("visualize", {"type": "memory_map", "center_memory_id": kept}, ["format"]),
        ("visualize", {"type": "memory_map", "format": "json"}, ["center_memory_id"]),
    ):
        usual = await talk.told(tool, **arguments)
        for empty in ("", " "):
            told = await talk.told(tool, **arguments, **dict.fromkeys(names, empty))
            assert told["message"] == f"{usual['message']} (使わなかったパラメータ: {', '.join(names)})"
            assert set(told["data"]) == set(usual["data"])
    for tool, arguments in (
        ("search", {"type": "timerange", "start_time": "", "end_time": ""}),
        ("memory_manage", {"action": "cleanup", "cleanup_before": "", "session_id": ""}),
    ):
        assert "必須です" in await talk.invalid(tool, **arguments)
    nothing = {"start": "", "end": " "}
    await talk.told("visualize", type="timeline", format="json", time_range=nothing)


@behaviour("assoc.surface.empty_choices")
async def test_every_choice_and_time_that_is_needed_nowhere_may_be_empty(talk: AssocConversation) -> None:
    needed = {name for names in NEEDED.values() for name in names}
    for tool in (await _tools(talk)).values():
        for name, entry in tool.input_schema["properties"].items():
            if ("enum" in entry or "format" in entry or name.endswith("_id")) and name != chooser(tool.name):
                assert name in MAY_BE_EMPTY | needed, name


@behaviour("assoc.surface.null_is_left_out")
async def test_null_means_that_a_parameter_was_left_out(talk: AssocConversation) -> None:
    for tool, table in TABLES.items():
        empty = {name: None for name in table if name != chooser(tool)}
        action = {"memory": "search", "project": "list"}.get(tool, ACTIONS[tool][0])
        more = {"query": unique()} if action in ("search", "semantic") else {}
        message = await talk.says(tool, **{**empty, chooser(tool): action, **more})
        assert "使わなかった" not in message


@behaviour("assoc.surface.null_is_left_out")
async def test_null_in_an_object_means_that_a_field_was_left_out(local: AssocConversation) -> None:
    await local.store(tags=["t"])
    filters = dict.fromkeys(("domains", "categories", "importance_min", "importance_max", "project_ids"))
    assert (await local.call("search", type="advanced", filters=filters))["count"] == 1
    times = {"start": None, "end": "2000-01-01"}
    assert (await local.call("visualize", type="timeline", format="json", time_range=times))["memory_count"] == 0
    config: dict[str, object] = {"source_domain": "user", "target_domain": "global", "project_id": None}
    for criteria in (None, {"tags": ["t"], "categories": None, "importance_min": None, "created_after": None}):
        config["filter_criteria"] = criteria
        assert (await local.call("admin", action="migrate_domain", migration_config=config))["matched_count"] == 1
    deep: object = "x"
    for _ in range(50):
        deep = {"filter_criteria": deep}
    assert "filter_criteria" in await local.invalid("admin", action="migrate_domain", migration_config=deep)


@behaviour("assoc.surface.empty_choices")
async def test_an_empty_query_of_an_advanced_search_means_that_it_was_left_out(local: AssocConversation) -> None:
    await local.store()
    said = await local.says("search", type="advanced", query=" ")
    assert said == "1件の記憶が見つかりました (使わなかったパラメータ: query)"
    assert (await local.invalid("search", type="semantic", query=" ")).startswith("query: 空か空白だけです")


@behaviour("assoc.surface.whole_numbers")
async def test_a_whole_number_may_be_written_with_a_point(talk: AssocConversation) -> None:
    assert (await talk.call("memory", action="search", query=unique(), limit=1.0, threshold=0.0))["count"] <= 1
    assert "limit" in await talk.invalid("memory", action="search", query="x", limit=3.5)


@behaviour("assoc.surface.answers")
async def test_answers_and_refusals_have_one_form_and_come_twice(talk: AssocConversation) -> None:
    body = await talk.told("user", action="get_current")
    assert (body["success"], body["error"], body["message"]) == (True, None, "ユーザー情報を取得しました")
    bad = refusal(await talk.answer("memory", action="get", memory_id=unique()))
    assert bad["message"] == "記憶が見つかりません"
    assert bad["error"]["code"] == "MEMORY_NOT_FOUND"


@behaviour("assoc.surface.errors")
@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (NotFound("memory", "x"), "MEMORY_NOT_FOUND", "記憶が見つかりません"),
        (NotFound("project", "x"), "PROJECT_NOT_FOUND", "プロジェクトが見つかりません"),
        (NotFound("session", "x"), "SESSION_NOT_FOUND", "セッションが見つかりません"),
        (NotFound("member", "x"), "MEMBER_NOT_FOUND", "メンバーが見つかりません"),
        (NotFound("user", "x"), "VALIDATION_ERROR", "ユーザーが見つかりません"),
        (NotFound("backup", "x"), "VALIDATION_ERROR", "バックアップが見つかりません"),
        (NotFound("thing", "x"), "VALIDATION_ERROR", "見つかりません"),
        (SessionRequired(), "SESSION_REQUIRED", "セッションが必要です"),
        (AlreadyExists("member", "x"), "MEMBER_EXISTS", "すでにメンバーです"),
        (AlreadyExists("backup", "x"), "VALIDATION_ERROR", "すでに存在します"),
        (Forbidden("write", "x"), "PERMISSION_DENIED", "権限がありません"),
        (ReadOnly("write", "x"), "PERMISSION_DENIED", "権限がありません"),
        (Unauthenticated(), "PERMISSION_DENIED", "認証が必要です"),
        (Invalid("x", "y"), "VALIDATION_ERROR", "入力が正しくありません"),
        (Conflict("memory", "x"), "CONFLICT", "他で変更されました"),
        (StoreFull("x", "y"), "STORAGE_ERROR", "ストレージエラーが発生しました"),
        (EmbeddingFailed("x", "y"), "EMBEDDING_ERROR", "埋め込みの生成に失敗しました"),
        (CommonplaceError(), "INTERNAL_ERROR", "内部エラーが発生しました"),
    ],
)
async def test_every_failure_has_a_code_and_words(error: CommonplaceError, code: str, words: str) -> None:
    body: Any = assoc.refusal(error)
    assert (body["success"], body["data"], body["message"]) == (False, None, words)
    assert body["error"]["code"] == code
    assert body["error"]["message"].startswith(words)


@behaviour("assoc.surface.embedding_fails")
async def test_without_a_model_memories_are_kept_and_found_by_their_words(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, settings) as talk:
        engine.embedding._embedder.broken = "no model"  # type: ignore[attr-defined]
        word = unique()
        later = "意味検索にはまだ使えません。埋め込みは後で自動的に行われます: "
        said = await talk.told("memory", action="store", content=f"{word} の話", domain="user")
        assert later in said["message"]
        kept = said["data"]["memory_id"]
        assert later in await talk.says("memory", action="update", memory_id=kept, content=f"{word} の続き")
        assert later not in await talk.says("memory", action="update", memory_id=kept, tags=["x"])
        body = await talk.told("memory", action="search", query=word, threshold=0.0)
        assert [one["memory_id"] for one in body["data"]["results"]] == [kept]
        assert "意味検索は使えません" in body["message"]
        assert later in await talk.says("memory_manage", action="import", import_data='[{"content": "x"}]')
        assert "うち2件は埋め込み待ちです: " in await talk.says("admin", action="reindex")


@behaviour("assoc.surface.chosen_tools")
async def test_settings_choose_which_tools_are_offered(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, exclude_tools=("admin", "visualize"))) as talk:
        assert list(await _tools(talk)) == ["memory", "memory_manage", "search", "project", "user"]
    async with spoken_to(engine, replace(settings, tools=("search",))) as talk:
        assert list(await _tools(talk)) == ["search"]
