"""システム管理 / restore, include_data: a part of a backup, and what is told of it."""

from datetime import timedelta

import pytest

from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.assoc.test_admin import ALL, BACKUP
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

TOLD = {"outcome", "notices", "notices_total", "notices_left_out"}


@behaviour("assoc.admin.restore_part")
async def test_a_part_of_a_backup_is_put_back_beside_what_is_newer(local: AssocConversation) -> None:
    project = await local.project()
    gone = await local.store("灯台守は眠る", domain="project", project_id=project, tags=["海"], importance=0.9)
    changed = await local.store("穏やかな海", associate_with=[gone])
    await local.call("admin", action="backup", backup_path="good")
    await local.call("memory", action="delete", memory_id=gone)
    await local.call("memory", action="update", memory_id=changed, content="嵐の海")
    await local.call("project", action="delete", project_id=project)
    newer = await local.store("新しい記憶")
    part = {"action": "restore", "backup_path": "good", "include_data": ["associations", "projects", "memories"]}
    said = await local.invalid("admin", **part)
    assert said.startswith("force: restore は対象の種類をバックアップの内容に戻します。")
    body = await local.told("admin", **part, force=True)
    assert body["message"] == (
        "バックアップから復元しました (good): 復元 3件、変更を元に戻した記憶 1件"
        "。現状のままの内容や、元と異なる点は notices を確認してください"
        f" (復元前の状態のバックアップ: {body['data']['safety_backup']})"
    )
    data = body["data"]
    counts = {f"restored_{what}": data.pop(f"restored_{what}") for what in ALL}
    assert counts == {
        "restored_memories": 2, "restored_projects": 1, "restored_sessions": 0, "restored_associations": 1
    }  # fmt: skip
    assert set(data) == {*BACKUP, *TOLD, "includes", "safety_backup"}
    assert data["includes"] == ["memories", "projects", "associations"]
    assert await local.finds("灯台守は眠る", include_domains=["project"]) == [gone]
    memory = await local.get(gone)
    assert (memory["project_id"], memory["tags"], memory["importance"]) == (project, ["海"], 0.9)
    assert memory["metadata"] == {}
    assert (await local.get(changed))["content"] == "穏やかな海"
    assert (await local.get(newer))["content"] == "新しい記憶"
    again = await local.call("admin", **part, force=True)
    assert {again[f"restored_{what}"] for what in ALL} == {0}
    await local.call("admin", action="restore", backup_path=data["safety_backup"], force=True)
    assert (await local.get(changed))["content"] == "嵐の海"


@behaviour("assoc.admin.restore_id")
async def test_a_deleted_memory_comes_back_under_its_id_as_often_as_it_goes(local: AssocConversation) -> None:
    kept = await local.store("灯台守は眠る")
    await local.call("admin", action="backup", backup_path="good")
    for _ in range(2):
        await local.call("memory", action="delete", memory_id=kept)
        part = {"backup_path": "good", "include_data": ["memories"], "force": True}
        done = await local.call("admin", action="restore", **part)
        assert done["outcome"] == {"memories": {"put_back": 1}}
        assert (done["notices"], done["notices_total"]) == ([], 0)
        assert (await local.get(kept))["content"] == "灯台守は眠る"
    assert (await local.call("admin", action="health_check"))["status"] == "healthy"


@behaviour("assoc.admin.restore_told")
async def test_what_stays_as_it_is_or_came_back_otherwise_is_told(local: AssocConversation) -> None:
    renamed, gone = await local.project(), await local.project()
    changed, ours = (
        await local.store("穏やかな海"),
        await local.store("灯台守は眠る", domain="project", project_id=gone),
    )
    far = await local.store("遠い島")
    await local.call("memory", action="update", memory_id=changed, associate_with=[far])
    await local.call("admin", action="backup", backup_path="good")
    await local.call("memory", action="update", memory_id=changed, content="嵐の海", tags=["夜"])
    await local.call("memory", action="delete", memory_id=far)
    await local.call("project", action="update", project_id=renamed, name="新しい名前")
    await local.call("project", action="delete", project_id=gone)
    restore = {"action": "restore", "backup_path": "good", "force": True}
    body = await local.told("admin", **restore, include_data=["projects", "associations"])
    outcome = body["data"]["outcome"]
    assert outcome["projects"] == {"put_back": 1, "kept_newer": 1}
    assert outcome["associations"]["end_gone"] >= 1
    assert body["message"].startswith("バックアップから復元しました (good): 復元 1件、")
    assert "新しいため現状のまま 1件" in body["message"]
    projects = [one for one in body["data"]["notices"] if one["kind"] == "projects"]
    assert projects == [
        {
            "kind": "projects", "project_id": renamed, "result": "kept_newer",
            "restored_fields": [], "different": ["name"],
            "reason": "バックアップ後に変わっています。name は現状のままです",
        },
        {
            "kind": "projects", "project_id": gone, "result": "put_back",
            "restored_fields": [], "different": ["memories"],
            "reason": "中にあった記憶の一部は戻っていません (今ある場所にそのままか、削除されています)",
        },
    ]  # fmt: skip
    loose = next(one for one in body["data"]["notices"] if one["kind"] == "associations")
    assert {loose["from_memory_id"], loose["to_memory_id"]} >= {far}
    assert loose["reason"] == "一方の記憶がここにないため、関連を復元していません"
    data = await local.call("admin", **restore, include_data=["memories"])
    assert data["outcome"] == {"memories": {"put_back": 1, "changed_back": 1, "kept_newer": 1}}
    notices = {one["memory_id"]: one for one in data["notices"]}
    assert notices[changed]["restored_fields"] == ["content", "tags"]
    assert notices[changed]["reason"] == (
        "バックアップ後に変わった content, tags を元に戻しました。変更後の版は履歴に残っています"
    )
    assert (notices[ours]["result"], notices[ours]["different"]) == ("kept_newer", ["domain"])
    body = await local.told("admin", action="restore", backup_path="good", include_data=["sessions"], force=True)
    assert body["message"] == "バックアップから復元しました (good): 対象はありません"


@behaviour("assoc.admin.restore_bounded")
async def test_what_is_told_by_name_is_bounded_and_its_number_is_true(local: AssocConversation) -> None:
    ids = [await local.store(f"記憶 {number}") for number in range(60)]
    await local.call("admin", action="backup", backup_path="good")
    for one in ids:
        await local.call("memory", action="update", memory_id=one, category="後")
    part = {"backup_path": "good", "include_data": ["memories"], "force": True}
    data = await local.call("admin", action="restore", **part)
    assert data["outcome"] == {"memories": {"changed_back": 60}}
    assert (len(data["notices"]), data["notices_total"], data["notices_left_out"]) == (50, 60, 10)


@behaviour("assoc.admin.restore_told")
async def test_what_is_over_or_went_with_its_session_is_told(local: AssocConversation, clock: Clock) -> None:
    session = (await local.call("user", action="create_session"))["session_id"]
    tonight = await local.store("今夜だけ", domain="session")
    await local.call("admin", action="backup", backup_path="good")
    await local.call("user", action="end_session", session_id=session)
    restore = {"action": "restore", "backup_path": "good", "force": True}
    data = await local.call("admin", **restore, include_data=["memories"])
    (told,) = data["notices"]
    assert (told["memory_id"], told["result"]) == (tonight, "session_gone")
    assert "include_data に sessions を加えると" in told["reason"]
    clock.advance(timedelta(days=2))
    data = await local.call("admin", **restore, include_data=["memories", "sessions"])
    assert data["outcome"] == {"memories": {"over": 1}, "sessions": {"over": 1}}


@behaviour("assoc.admin.restore_part")
async def test_a_session_is_put_back_alone(local: AssocConversation) -> None:
    made = await local.call("user", action="create_session")
    tonight = await local.store("今夜だけ", domain="session")
    await local.call("admin", action="backup", backup_path="good")
    await local.call("user", action="end_session", session_id=made["session_id"])
    restore = {"action": "restore", "backup_path": "good", "force": True}
    assert (await local.call("admin", **restore, include_data=["sessions"]))["restored_sessions"] == 1
    assert (await local.call("admin", **restore, include_data=["memories"]))["restored_memories"] == 1
    assert (await local.get(tonight))["session_id"] == made["session_id"]


@behaviour("assoc.admin.restore_part")
async def test_only_what_a_backup_holds_can_be_named(local: AssocConversation) -> None:
    await local.call("admin", action="backup", backup_path="good")
    said = await local.invalid("admin", action="restore", backup_path="good", force=True, include_data=["weather"])
    assert said.startswith("include_data")
