"""Every tool and action against every kind of caller. A tool or an action without a row here fails the suite."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.domain.access import Permission
from tests.dialects.assoc.actions import chooser
from tests.dialects.assoc.speech import AssocConversation, good, refusal
from tests.dialects.conversation import unique
from tests.dialects.servers import Servers
from tests.serving import Served, over_http, served
from tests.transports.wire import bearer, key_for, post, request

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

CALLERS = ("founder", "admin", "reader", "editor", "viewer", "stranger", "read_only")
"""The founder of a project; an administrator outside it; a key of the founder that only reads; the project's editor and
viewer; a user outside it; and the founder again, on a server that only reads (there the administrator, for `admin`)."""
OK, DENIED, FAULT = "ok", "PERMISSION_DENIED", "VALIDATION_ERROR"
NO_MEMORY, NO_PROJECT, NO_SESSION = "MEMORY_NOT_FOUND", "PROJECT_NOT_FOUND", "SESSION_NOT_FOUND"
MISSED = {
    NO_MEMORY: ("shared", "private", "fleeting", "common"),
    NO_PROJECT: ("project",),
    NO_SESSION: ("session",),
}
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"

Outcomes = tuple[str, str, str, str, str, str, str]
EVERYONE: Outcomes = (OK,) * 7
CHANGES: Outcomes = (OK, OK, DENIED, OK, OK, OK, DENIED)
"""Anyone with a key that writes."""
GOVERNS: Outcomes = (DENIED, OK, DENIED, DENIED, DENIED, DENIED, OK)
OVERRULES: Outcomes = (DENIED, OK, DENIED, DENIED, DENIED, DENIED, DENIED)


def _sees(absent: str) -> Outcomes:
    """Members of the project."""
    return (OK, absent, OK, OK, OK, absent, OK)


def _edits(absent: str) -> Outcomes:
    """Editors of the project."""
    return (OK, absent, DENIED, OK, DENIED, absent, DENIED)


def _founds(absent: str) -> Outcomes:
    """Its founder."""
    return (OK, absent, DENIED, DENIED, DENIED, absent, DENIED)


def _owns(absent: str, reads: str = DENIED) -> Outcomes:
    """Of what is a user's own."""
    return (OK, absent, reads, absent, absent, absent, reads)


@dataclass(frozen=True)
class Row:
    """An action with arguments, in which `$name` stands for something on the stage, and what comes of it by caller."""

    tool: str
    action: str
    outcomes: Outcomes
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reads(self) -> bool:
        return self.outcomes[CALLERS.index("reader")] == OK

    def __str__(self) -> str:
        return f"{self.tool}.{self.action}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


IN_PROJECT = {"project_id": "$project"}
FILTERED = {"filters": {"project_ids": ["$project"]}}
ENTRY = json.dumps([{"content": "$word", "domain": "project", "project_id": "$project"}])
COMMON_ENTRY = json.dumps([{"content": "$word", "domain": "global"}])
FAULTY_TOO = json.dumps([{"content": "$word", "domain": "global"}, {"content": ""}])
MOVE = {"migration_config": {"source_domain": "user", "target_domain": "global"}}
ROWS = (
    Row("memory", "store", CHANGES, {"content": "$word", "domain": "user"}),
    Row("memory", "store", OVERRULES, {"content": "$word", "domain": "global"}),
    Row("memory", "store", _edits(NO_PROJECT), {"content": "$word", "domain": "project", **IN_PROJECT}),
    Row("memory", "store", _owns(NO_SESSION), {"content": "$word", "domain": "session", "session_id": "$session"}),
    Row("memory", "store", _owns(NO_MEMORY), {"content": "$word", "domain": "user", "associate_with": ["$private"]}),
    Row("memory", "search", EVERYONE, {"query": "$word"}),
    Row("memory", "search", _sees(NO_PROJECT), {"query": "$word", **IN_PROJECT}),
    Row("memory", "search", _owns(NO_SESSION, OK), {"query": "$word", "session_id": "$session"}),
    Row("memory", "get", _sees(NO_MEMORY), {"memory_id": "$shared"}),
    Row("memory", "get", _owns(NO_MEMORY, OK), {"memory_id": "$private"}),
    Row("memory", "get", _owns(NO_MEMORY, OK), {"memory_id": "$fleeting"}),
    Row("memory", "get", EVERYONE, {"memory_id": "$common"}),
    Row("memory", "get_related", _sees(NO_MEMORY), {"memory_id": "$shared"}),
    Row("memory", "get_related", _owns(NO_MEMORY, OK), {"memory_id": "$private"}),
    Row("memory", "update", _edits(NO_MEMORY), {"memory_id": "$shared", "content": "$word"}),
    Row("memory", "update", _owns(NO_MEMORY), {"memory_id": "$private", "content": "$word"}),
    Row("memory", "update", OVERRULES, {"memory_id": "$common", "content": "$word"}),
    Row("memory", "update", _edits(NO_MEMORY), {"memory_id": "$shared", "associate_with": ["$common"]}),
    Row("memory", "delete", _edits(NO_MEMORY), {"memory_id": "$shared"}),
    Row("memory", "delete", _owns(NO_MEMORY), {"memory_id": "$private"}),
    Row("memory", "delete", _owns(NO_MEMORY), {"memory_id": "$fleeting"}),
    Row("memory", "delete", OVERRULES, {"memory_id": "$common"}),
    Row("memory_manage", "stats", EVERYONE),
    Row("memory_manage", "stats", _sees(NO_PROJECT), IN_PROJECT),
    Row("memory_manage", "export", _sees(NO_PROJECT), IN_PROJECT),
    Row("memory_manage", "import", CHANGES, {"import_data": '[{"content": "$word"}]'}),
    Row("memory_manage", "import", OVERRULES, {"import_data": COMMON_ENTRY}),
    Row("memory_manage", "import", (OK, FAULT, DENIED, OK, DENIED, FAULT, DENIED), {"import_data": ENTRY}),
    Row("memory_manage", "import", (FAULT, FAULT, DENIED, FAULT, FAULT, FAULT, DENIED), {"import_data": FAULTY_TOO}),
    Row(  # writing in a project is no right to carry things out of it
        "memory_manage", "change_domain", (OK, NO_MEMORY, DENIED, DENIED, DENIED, NO_MEMORY, DENIED),
        {"memory_ids": ["$shared"], "new_domain": "user"},
    ),
    Row("memory_manage", "change_domain", _owns(NO_MEMORY), {"memory_ids": ["$private"], "new_domain": "user"}),
    Row("memory_manage", "change_domain", OVERRULES, {"memory_ids": ["$common"], "new_domain": "global"}),
    Row(
        "memory_manage", "change_domain", (OK, NO_PROJECT, DENIED, NO_MEMORY, DENIED, NO_PROJECT, DENIED),
        {"memory_ids": ["$private"], "new_domain": "project", **IN_PROJECT},
    ),
    Row("memory_manage", "batch_delete", _edits(NO_MEMORY), {"memory_ids": ["$shared"]}),
    Row("memory_manage", "batch_delete", _owns(NO_MEMORY), {"memory_ids": ["$private"]}),
    Row(
        "memory_manage", "batch_delete", (OK, OK, DENIED, OK, DENIED, DENIED, DENIED),
        {"memory_ids": ["$shared", "$private", "$common"]},
    ),
    Row("memory_manage", "cleanup", _owns(NO_SESSION), {"session_id": "$session"}),
    Row("memory_manage", "cleanup", CHANGES, {"cleanup_before": "2000-01-01"}),
    Row("memory_manage", "list_categories", _sees(NO_PROJECT), IN_PROJECT),
    Row("search", "semantic", _sees(NO_PROJECT), {"query": "$word", **FILTERED}),
    Row("search", "tags", _sees(NO_PROJECT), {"tags": ["x"], **FILTERED}),
    Row("search", "timerange", _sees(NO_PROJECT), {"start_time": "2020-01-01", **FILTERED}),
    Row("search", "advanced", _sees(NO_PROJECT), FILTERED),
    Row("search", "similar", _sees(NO_MEMORY), {"memory_id": "$shared"}),
    Row("search", "similar", _owns(NO_MEMORY, OK), {"memory_id": "$private"}),
    Row("project", "create", CHANGES, {"name": "$word"}),
    Row("project", "list", EVERYONE),
    Row("project", "get", _sees(NO_PROJECT), IN_PROJECT),
    Row("project", "add_member", _founds(NO_PROJECT), {**IN_PROJECT, "user_id": "$stranger", "role": "editor"}),
    Row(
        "project", "remove_member", (OK, NO_PROJECT, DENIED, OK, DENIED, NO_PROJECT, DENIED),  # an editor may leave
        {**IN_PROJECT, "user_id": "$editor"},
    ),
    Row("project", "update", _edits(NO_PROJECT), {**IN_PROJECT, "name": "$word"}),
    Row("project", "delete", _founds(NO_PROJECT), IN_PROJECT),
    Row("user", "get_current", EVERYONE),
    Row("user", "get_projects", EVERYONE),
    Row("user", "get_sessions", EVERYONE),
    Row("user", "create_session", CHANGES),
    Row("user", "switch_session", _owns(NO_SESSION), {"session_id": "$session"}),
    Row("user", "end_session", _owns(NO_SESSION), {"session_id": "$session"}),
    Row("visualize", "memory_map", _sees(NO_MEMORY), {"center_memory_id": "$shared", "format": "json"}),
    Row("visualize", "memory_map", _sees(NO_PROJECT), {**IN_PROJECT, "format": "json"}),
    Row("visualize", "stats_dashboard", _sees(NO_PROJECT), {**IN_PROJECT, "format": "json"}),
    Row("visualize", "domain_graph", _sees(NO_PROJECT), {**IN_PROJECT, "format": "json"}),
    Row("visualize", "timeline", _sees(NO_PROJECT), {**IN_PROJECT, "format": "json"}),
    Row("visualize", "category_chart", _owns(NO_SESSION, OK), {"session_id": "$session", "format": "json"}),
    Row("admin", "health_check", GOVERNS),
    Row("admin", "system_stats", GOVERNS),
    Row("admin", "backup", OVERRULES, {"backup_path": "$word"}),
    Row("admin", "restore", (DENIED, FAULT, DENIED, DENIED, DENIED, DENIED, DENIED), {"backup_path": "x"}),
    Row("admin", "reindex", OVERRULES),
    Row("admin", "cleanup_orphans", OVERRULES),
    Row("admin", "migrate_domain", OVERRULES, MOVE),
)  # fmt: skip


@dataclass(frozen=True)
class House:
    """The callers, with their names and with what they are called."""

    server: Served
    talks: Mapping[str, AssocConversation]
    names: Mapping[str, str]

    def of(self, caller: str, tool: str) -> AssocConversation:
        return self.talks["ruler" if (caller, tool) == ("read_only", "admin") else caller]


@pytest.fixture(scope="module")
async def house(servers: Servers, anyio_backend: str) -> AsyncIterator[House]:
    server = servers.chosen("assoc")
    names = {caller: unique() for caller in ("founder", "editor", "viewer", "stranger")}
    keys = {caller: await key_for(server.folder, name) for caller, name in names.items()}
    keys["reader"] = await key_for(server.folder, names["founder"], Permission.READ, name=unique())
    async with AsyncExitStack() as stack:
        reading = stack.enter_context(served(server.folder, "--dialect", "assoc", "--read-only"))
        clients = {caller: over_http(server, key=key) for caller, key in keys.items()}
        clients |= {"admin": over_http(server), "ruler": over_http(reading)}
        clients["read_only"] = over_http(reading, key=keys["founder"])
        talks = {caller: AssocConversation(await stack.enter_async_context(one)) for caller, one in clients.items()}
        yield House(server, talks, names)


async def _staged(house: House, wanted: str = "$project $session $shared $private $common") -> dict[str, str]:
    """A project of the founder with an editor and a viewer, and memories in every domain, as far as they are wanted."""
    founder = house.talks["founder"]
    stage = {"stranger": house.names["stranger"], "editor": house.names["editor"], "word": unique()}
    if "$project" in wanted or "$shared" in wanted:
        members = {house.names["editor"]: "editor", house.names["viewer"]: "viewer"}
        stage["project"] = await founder.project(**members)
    if "$session" in wanted or "$fleeting" in wanted:
        stage["session"] = (await founder.call("user", action="create_session"))["session_id"]
    if "$shared" in wanted:
        stage["shared"] = await founder.store(domain="project", project_id=stage["project"])
    if "$private" in wanted:
        stage["private"] = await founder.store()
    if "$fleeting" in wanted:
        stage["fleeting"] = await founder.store(domain="session")
    if "$common" in wanted:
        stage["common"] = await house.talks["admin"].store(domain="global")
    return stage


def _filled(value: Any, stage: Mapping[str, str]) -> Any:
    text = json.dumps(value)
    for name, real in stage.items():
        text = text.replace(f"${name}", real)
    return json.loads(text)


async def _outcome(talk: AssocConversation, row: Row, stage: Mapping[str, str]) -> tuple[str, str]:
    """`ok` or the code of the refusal, and its words."""
    arguments = {chooser(row.tool): row.action, **_filled(dict(row.arguments), stage)}
    result = await talk.answer(row.tool, **arguments)
    if not result.is_error:
        good(result)
        return OK, ""
    problem = refusal(result)["error"]
    return problem["code"], problem["message"]


@behaviour("assoc.permissions.complete")
async def test_every_action_of_every_tool_has_a_row(house: House) -> None:
    listed = (await house.talks["admin"].client.list_tools()).tools
    offered = {(t.name, one) for t in listed for one in t.input_schema["properties"][chooser(t.name)]["enum"]}
    assert offered == {(row.tool, row.action) for row in ROWS}


@behaviour("assoc.permissions.matrix", "assoc.permissions.indistinguishable", "assoc.import.denied")
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_each_caller_gets_what_the_table_says(house: House, row: Row) -> None:
    wanted = json.dumps(dict(row.arguments))
    stage = await _staged(house, wanted)
    for caller, expected in sorted(zip(CALLERS, row.outcomes, strict=True), key=lambda pair: pair[1] == OK):
        talk = house.of(caller, row.tool)
        code, said = await _outcome(talk, row, stage)
        assert code == expected, (caller, said)
        if code in MISSED:
            hidden = {name: stage[name] for name in MISSED[code] if name in stage}
            nothing = await _outcome(talk, row, {**stage, **dict.fromkeys(hidden, ABSENT)})
            for real in hidden.values():
                said = said.replace(real, ABSENT)
            assert nothing == (code, said), caller
        if code == OK and not row.reads:
            stage = await _staged(house, wanted)  # what was there may be gone


@behaviour("assoc.permissions.batch_delete")
async def test_deleting_many_takes_only_what_the_caller_may_delete(house: House) -> None:
    for caller, expected in (
        ("stranger", ([], ["private", "shared"], ["common"])),
        ("viewer", ([], ["private"], ["common", "shared"])),
        ("editor", (["shared"], ["private"], ["common"])),
        ("founder", (["private", "shared"], [], ["common"])),
    ):
        stage = await _staged(house)
        ids = {stage[name]: name for name in ("shared", "private", "common")}
        answer = await house.talks[caller].answer("memory_manage", action="batch_delete", memory_ids=list(ids))
        data = (good(answer) if expected[0] else refusal(answer))["data"]
        told = tuple(sorted(ids[one] for one in data[part]) for part in ("deleted", "not_found", "denied"))
        assert told == expected, caller
        if caller == "viewer":
            problem = refusal(answer)["error"]
            assert problem["code"] == DENIED
            assert "何も削除しませんでした。削除する権限がない記憶: " in problem["message"]
            assert "作成者か所有者に依頼してください。memory の search で探して" in problem["message"]


@behaviour("assoc.permissions.author")
async def test_who_wrote_a_memory_may_delete_it_even_as_a_viewer(house: House) -> None:
    founder, editor = house.talks["founder"], house.talks["editor"]
    name = house.names["editor"]
    project = await founder.project(**{name: "editor"})
    mine = await editor.store(domain="project", project_id=project)
    await founder.call("project", action="remove_member", project_id=project, user_id=name)
    assert (await editor.refused("memory", action="delete", memory_id=mine))[0] == NO_MEMORY
    await founder.call("project", action="add_member", project_id=project, user_id=name, role="viewer")
    assert (await editor.refused("memory", action="update", memory_id=mine, content="x"))[0] == DENIED
    await editor.call("memory", action="delete", memory_id=mine)


@behaviour("assoc.permissions.roles")
async def test_who_lacks_a_role_is_told_of_roles_and_not_of_permissions_of_keys(house: House) -> None:
    project = (await _staged(house))["project"]
    viewer, editor = house.talks["viewer"], house.talks["editor"]
    stored = {"action": "store", "content": "x", "domain": "project", "project_id": project}
    assert await viewer.refused("memory", **stored) == (
        DENIED,
        "権限がありません: assoc.memory には、このプロジェクトでの editor ロールが必要です。"
        "プロジェクトの所有者に editor への変更を依頼してください",
    )
    for arguments in ({"action": "delete"}, {"action": "add_member", "user_id": "x", "role": "viewer"}):
        assert await editor.refused("project", project_id=project, **arguments) == (
            DENIED,
            "権限がありません: これはプロジェクトの所有者だけが行えます。プロジェクトの所有者に依頼してください",
        )


@behaviour("assoc.permissions.members")
async def test_what_is_in_a_project_is_found_by_its_members_only(house: House) -> None:
    stage, word = await _staged(house), unique()
    await house.talks["editor"].store(f"{word} の計画", domain="project", project_id=stage["project"], tags=[word])
    await house.talks["founder"].store(f"{word} の日記", tags=[word])
    everything = {"domains": ["global", "user", "project", "session"]}
    for caller, seen in (("founder", 2), ("reader", 2), ("editor", 1), ("viewer", 1), ("stranger", 0), ("admin", 0)):
        talk = house.talks[caller]
        found = await talk.call("search", type="advanced", tags=[word], filters=everything)
        assert found["total"] == seen, caller
        assert len(await talk.finds(word, include_domains=everything["domains"])) == seen
        for tool, action, more in (
            ("memory_manage", "export", {"target_domain": "project"}),
            ("visualize", "memory_map", {"target_domain": "project", "format": "json"}),
        ):
            told = json.dumps(await talk.call(tool, **{chooser(tool): action}, **more), ensure_ascii=False)
            assert (word in told) == bool(seen), (caller, action)


@behaviour("assoc.permissions.related")
async def test_ties_lead_nobody_to_what_it_may_not_see(house: House) -> None:
    stage = await _staged(house)
    founder, viewer = house.talks["founder"], house.talks["viewer"]
    await founder.call("memory", action="update", memory_id=stage["shared"], associate_with=[stage["private"]])
    seen = await founder.call("memory", action="get_related", memory_id=stage["shared"])
    assert stage["private"] in [one["memory_id"] for one in seen["related_memories"]]
    seen = await viewer.call("memory", action="get_related", memory_id=stage["shared"], depth=5)
    assert seen["related_memories"] == []
    stats = await viewer.call("memory_manage", action="stats", project_id=stage["project"])
    assert stats["associations"] == {}
    drawn = await viewer.call("visualize", type="memory_map", center_memory_id=stage["shared"], format="json")
    assert stage["private"] not in drawn["content"]


@behaviour("assoc.permissions.imported_ties")
async def test_an_import_ties_only_what_it_brings(house: House) -> None:
    stage, stranger = await _staged(house), house.talks["stranger"]
    mine = await stranger.store()
    ties = [
        {"from_memory_id": one, "to_memory_id": other, "type": "manual", "strength": 1.0}
        for one, other in ((stage["shared"], stage["private"]), (mine, stage["common"]), (stage["common"], mine))
    ]
    await stranger.call(
        "memory_manage", action="import", import_data=json.dumps({"memories": [], "associations": ties})
    )
    for talk, one, other in (
        (house.talks["founder"], stage["shared"], stage["private"]),
        (stranger, stage["common"], mine),
        (stranger, mine, stage["common"]),
    ):
        near = await talk.call("memory", action="get_related", memory_id=one, depth=1, limit=200)
        assert other not in [found["memory_id"] for found in near["related_memories"]]


@behaviour("assoc.permissions.imported_ids")
async def test_an_import_under_another_users_ids_takes_nothing_from_him(house: House) -> None:
    stage, founder, stranger = await _staged(house), house.talks["founder"], house.talks["stranger"]
    word = unique()
    data = json.dumps([{"memory_id": stage["private"], "content": word}])
    report = await stranger.call("memory_manage", action="import", import_data=data)
    assert report["imported_count"] == 1
    assert report["report"][0]["memory_id"] != stage["private"]
    assert await founder.finds(word) == []
    again = await stranger.call("memory_manage", action="import", import_data=data)
    assert (again["imported_count"], again["skipped_count"]) == (0, 1)
    for place in (stage["project"], stage["session"]):
        kind = "project" if place == stage["project"] else "session"
        bundle = {
            "memories": [{"content": word, "domain": kind, f"{kind}_id": place}],
            "places": [{"id": place, "kind": kind, "name": "mine", "ends_at": "2100-01-01"}],
        }
        said = await stranger.invalid("memory_manage", action="import", import_data=json.dumps(bundle))
        assert f"見つかりません: '{place}'。ここ" in said
        assert "ここで作成して" in said  # as if it were not there
        assert ("add_member で editor として" in said) == (kind == "project")


@behaviour("assoc.permissions.listing")
async def test_callers_are_offered_and_told_of_the_tools_they_may_use(house: House) -> None:
    for caller, talk in house.talks.items():
        offered = {tool.name for tool in (await talk.client.list_tools()).tools}
        everyones = {"memory", "memory_manage", "search", "project", "user", "visualize"}
        assert offered == everyones | ({"admin"} if caller in ("admin", "ruler") else set())
        with pytest.raises(MCPError) as caught:
            await talk.client.call_tool("remember", {})
        assert set(caught.value.message.partition("This server has: ")[2].split(", ")) == offered


@behaviour("assoc.permissions.read_only_server")
async def test_a_server_that_only_reads_says_so(house: House) -> None:
    code, said = await house.talks["read_only"].refused("memory", action="store", content="x", domain="user")
    assert (code, said) == (
        DENIED,
        "権限がありません: このサーバーは読み取り専用のため、action 'store' は実行できません。"
        "`--read-only` を付けずに起動したサーバーを使ってください",
    )
    backups = house.server.folder / "backups"
    before = sorted(backups.glob("*"))
    assert "action 'backup'" in (await house.talks["ruler"].refused("admin", action="backup"))[1]
    assert sorted(backups.glob("*")) == before
    code, said = await house.talks["reader"].refused("memory", action="store", content="x", domain="user")
    assert said == "権限がありません: assoc.memory には write 権限が必要です。write 権限のあるキーを使ってください"


@behaviour("assoc.permissions.no_credential")
async def test_without_a_credential_nothing_is_answered(house: House) -> None:
    for row in {(row.tool, row.action): row for row in ROWS}.values():
        body = request("tools/call", name=row.tool, arguments={chooser(row.tool): row.action})
        for key in ("", "cp_nobody"):
            answer = post(house.server, body, bearer(key))
            assert answer.status_code == 401
            assert set(answer.json()) == {"jsonrpc", "id", "error"}


@behaviour("assoc.permissions.sessions_per_key")
async def test_each_key_works_in_a_session_of_its_own(house: House) -> None:
    founder = house.talks["founder"]
    session = await founder.call("user", action="create_session")
    second = await key_for(house.server.folder, house.names["founder"], name=unique())
    async with over_http(house.server, key=second) as client:
        talk = AssocConversation(client)
        assert (await talk.call("user", action="get_current"))["current_session"] is None
        listed = await talk.call("user", action="get_sessions")
        assert session["session_id"] in [one["session_id"] for one in listed["sessions"]]
