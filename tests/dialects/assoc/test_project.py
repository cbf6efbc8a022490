"""プロジェクト管理: create, list, get, add_member, remove_member, update, delete."""

import pytest

from commonplace.domain.access import Permission
from commonplace.engine import Engine
from tests.dialects.assoc.speech import AssocConversation

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
FIELDS = {"project_id", "name", "description", "owner_id", "role", "member_count", "memory_count", "created_at"}
LONG = "x" * 4001


async def _user(engine: Engine, name: str) -> str:
    made = await engine.access.create_key(f"key of {name}", frozenset({Permission.READ}), user=name)
    return str(made.credential.user)


@behaviour("assoc.project.create")
async def test_a_new_project_belongs_to_who_made_it(talk: AssocConversation) -> None:
    body = await talk.told("project", action="create", name=" AIプロジェクト ", description="機械学習研究")
    data = body["data"]
    assert body["message"] == f"プロジェクトを作成しました (ID: {data['project_id']})"
    assert set(data) == FIELDS
    assert (data["name"], data["description"], data["role"]) == ("AIプロジェクト", "機械学習研究", "editor")
    assert (data["member_count"], data["memory_count"]) == (1, 0)
    assert data["owner_id"] == (await talk.call("user", action="get_current"))["user_id"]


@behaviour("assoc.project.limits")
async def test_names_and_descriptions_have_limits(talk: AssocConversation) -> None:
    project = await talk.project()
    for action, more in (("create", {}), ("update", {"project_id": project})):
        for arguments, field in (
            ({"name": " "}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"name": "x", "description": LONG}, "description"),
        ):
            assert (await talk.invalid("project", action=action, **more, **arguments)).startswith(f"{field}: ")
    said = await talk.invalid("project", action="update", project_id=project)
    assert said == "name: 更新する内容がありません。name か description を指定してください"


@behaviour("assoc.project.list")
async def test_projects_are_listed_the_newest_first(local: AssocConversation) -> None:
    assert (await local.told("project", action="list"))["data"]["projects"] == []
    ids = [await local.project() for _ in range(2)]
    body = await local.told("project", action="list")
    assert body["message"] == "2件のプロジェクトがあります"
    assert [one["project_id"] for one in body["data"]["projects"]] == ids[::-1]
    assert (body["data"]["count"], body["data"]["total"], body["data"]["has_more"]) == (2, 2, False)
    assert (await local.call("project", action="list", role_filter="editor"))["count"] == 2
    assert (await local.call("project", action="list", role_filter="viewer"))["count"] == 0
    assert (await local.invalid("project", action="list", role_filter="owner")).startswith("role_filter: ")


@behaviour("assoc.project.get")
async def test_a_project_is_shown_with_its_members_and_figures(engine: Engine, local: AssocConversation) -> None:
    hanako = await _user(engine, "花子")
    project = await local.project(花子="viewer")
    await local.store(domain="project", project_id=project)
    body = await local.told("project", action="get", project_id=f"proj_{project}")
    assert body["message"] == "プロジェクトを取得しました"
    assert set(body["data"]) == {*FIELDS, "members"}
    assert (body["data"]["member_count"], body["data"]["memory_count"]) == (2, 1)
    assert await local.call("project", action="get", project_id=project.upper()) == body["data"]
    owner, other = body["data"]["members"]
    assert set(other) == {"user_id", "name", "role", "owner", "joined_at"}
    assert (owner["name"], owner["role"], owner["owner"]) == ("owner", "editor", True)
    assert (other["user_id"], other["name"], other["role"], other["owner"]) == (hanako, "花子", "viewer", False)


@behaviour("assoc.project.add_member")
async def test_a_member_is_added_by_name_or_id_with_a_role(engine: Engine, local: AssocConversation) -> None:
    hanako, project = await _user(engine, "花子"), await local.project()
    await _user(engine, "taro")
    body = await local.told("project", action="add_member", project_id=project, user_id=hanako, role="editor")
    assert body["message"] == "メンバーを追加しました (花子: editor)"
    assert (body["data"]["project_id"], body["data"]["user_id"], body["data"]["role"]) == (project, hanako, "editor")
    await local.call("project", action="add_member", project_id=project, user_id="taro", role="viewer")
    code, said = await local.refused("project", action="add_member", project_id=project, user_id="花子", role="viewer")
    assert (code, said) == (
        "MEMBER_EXISTS",
        "すでにメンバーです: '花子'。ロールを変えるには、remove_member のあとに add_member を実行してください",
    )
    code, _ = await local.refused("project", action="add_member", project_id=project, user_id="owner", role="viewer")
    assert code == "MEMBER_EXISTS"
    code, said = await local.refused("project", action="add_member", project_id=project, user_id="x", role="viewer")
    assert (code, said) == ("VALIDATION_ERROR", "ユーザーが見つかりません: 'x'。ユーザーのIDか名前を確認してください")
    said = await local.invalid("project", action="add_member", project_id=project, user_id="x", role="owner")
    assert said.startswith("role: 次のいずれかを指定してください: 'editor', 'viewer'")


@behaviour("assoc.project.remove_member")
async def test_a_member_is_removed_and_the_owner_stays(engine: Engine, local: AssocConversation) -> None:
    hanako = await _user(engine, "花子")
    project = await local.project(花子="viewer")
    body = await local.told("project", action="remove_member", project_id=project, user_id="花子")
    assert body["message"] == "メンバーを削除しました (花子)"
    assert body["data"] == {"project_id": project, "user_id": hanako}
    code, said = await local.refused("project", action="remove_member", project_id=project, user_id="花子")
    assert (code, said) == (
        "MEMBER_NOT_FOUND",
        "メンバーが見つかりません: '花子'。project の get でメンバーを確認してください",
    )
    said = await local.invalid("project", action="remove_member", project_id=project, user_id="owner")
    assert said == "user_id: 所有者は外せません。不要になったプロジェクトは delete で削除してください"


@behaviour("assoc.project.update")
async def test_an_update_changes_what_is_named(talk: AssocConversation) -> None:
    project = (await talk.call("project", action="create", name="before", description="d"))["project_id"]
    await talk.store(domain="project", project_id=project)
    body = await talk.told("project", action="update", project_id=project, name="after")
    assert body["message"] == "プロジェクトを更新しました"
    assert (body["data"]["name"], body["data"]["description"], body["data"]["memory_count"]) == ("after", "d", 1)
    await talk.call("project", action="update", project_id=project, description="")
    data = await talk.call("project", action="get", project_id=project)
    assert (data["name"], data["description"]) == ("after", "")


@behaviour("assoc.project.delete")
async def test_deleting_a_project_gives_its_memories_back(talk: AssocConversation) -> None:
    project = await talk.project()
    kept = await talk.store(domain="project", project_id=project)
    body = await talk.told("project", action="delete", project_id=project)
    assert body["data"] == {"project_id": project, "moved_memories": 1}
    assert body["message"] == "プロジェクトを削除しました。記憶1件は作成者のuserドメインに移しました"
    assert (await talk.get(kept))["domain"] == "user"
    assert (await talk.refused("project", action="get", project_id=project))[0] == "PROJECT_NOT_FOUND"


@behaviour("assoc.project.absent")
async def test_a_project_that_is_not_there_is_not_found(talk: AssocConversation) -> None:
    session = (await talk.call("user", action="create_session"))["session_id"]
    for project in (ABSENT, "proj_789", session, "x" * 5000):
        for action, more in (
            ("get", {}),
            ("add_member", {"user_id": "owner", "role": "viewer"}),
            ("remove_member", {"user_id": "owner"}),
            ("update", {"name": "x"}),
            ("delete", {}),
        ):
            code, said = await talk.refused("project", action=action, project_id=project, **more)
            assert code == "PROJECT_NOT_FOUND", (action, project)
            assert len(said) < 200
