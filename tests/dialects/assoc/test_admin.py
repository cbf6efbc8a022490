"""システム管理: health, figures, backup and restore, rebuilding, cleaning, moving domains."""

from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.engine import Engine
from tests.damage import lose_table
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
ALL = ["memories", "projects", "sessions", "associations"]
BACKUP = {"backup_path", "created_at", "size_bytes", "encrypted", "sha256", "memories"}


@behaviour("assoc.admin.health_check")
async def test_a_healthy_system_says_so(talk: AssocConversation) -> None:
    body = await talk.told("admin", action="health_check")
    assert body["message"] == "システムは正常です"
    data = body["data"]
    assert set(data) == {"status", "storage", "embedding", "last_backup", "troubles", "checked_at"}
    assert (data["status"], data["troubles"], data["storage"]["writable"]) == ("healthy", [], True)


@behaviour("assoc.admin.health_check")
async def test_writing_between_two_looks_is_no_damage(local: AssocConversation) -> None:
    for _ in range(5):
        await local.store()
        assert (await local.call("admin", action="health_check"))["troubles"] == []


@behaviour("assoc.admin.health_check")
async def test_a_long_text_that_is_still_being_embedded_is_no_trouble(local: AssocConversation) -> None:
    await local.store(content="\n\n".join(f"The lighthouse keeper wrote line {n} of his log." for n in range(2000)))
    body = await local.told("admin", action="health_check")
    assert body["message"] == "システムは正常です"
    assert body["data"]["embedding"]["pending"] == 1


@behaviour("assoc.admin.health_check")
async def test_a_failing_embedder_is_told_of_beside_a_long_text(engine: Engine, local: AssocConversation) -> None:
    await local.store(content="\n\n".join(f"The lighthouse keeper wrote line {n} of his log." for n in range(2000)))
    engine.embedding._embedder.broken = "out of order"  # type: ignore[attr-defined]
    await local.store()
    troubles = (await local.call("admin", action="health_check"))["troubles"]
    assert len(troubles) == 1
    assert "out of order" in troubles[0]


@behaviour("assoc.admin.health_check")
async def test_what_is_wrong_is_told(engine: Engine, local: AssocConversation) -> None:
    engine.embedding._embedder.broken = "out of order"  # type: ignore[attr-defined]
    await local.store()
    body = await local.told("admin", action="health_check")
    assert body["data"]["status"] == "degraded"
    assert body["data"]["embedding"]["pending"] == 1
    assert body["message"].startswith("注意が必要です: ")
    assert "out of order" in body["message"]


@behaviour("assoc.admin.health_check")
async def test_a_memory_whose_text_the_embedder_refuses_is_named(engine: Engine, local: AssocConversation) -> None:
    engine.embedding._embedder.unwanted = "odd"  # type: ignore[attr-defined]
    kept = await local.call("memory", action="store", content="an odd one", domain="user")
    body = await local.told("admin", action="health_check")
    assert body["data"]["status"] == "degraded"
    assert body["data"]["embedding"]["pending"] == 0
    assert f"対象の記憶1件: {kept['memory_id']}" in body["message"]


@behaviour("assoc.admin.health_check")
@pytest.mark.parametrize("table", ["words_data", "vectors", "memories", "unembedded"])
async def test_a_damaged_file_is_told_however_bad_it_is(local: AssocConversation, folder: Path, table: str) -> None:
    await local.store()
    lose_table(folder / "commonplace.db", table)
    body = await local.told("admin", action="health_check")
    assert body["data"]["status"] == "degraded"
    assert body["data"]["storage"]["damage"]
    assert "commonplace restore" in body["message"]


@behaviour("assoc.admin.health_check")
async def test_what_could_not_be_written_last_is_not_called_writable(local: AssocConversation, folder: Path) -> None:
    await local.store()
    lose_table(folder / "commonplace.db", "words_data")
    await local.refused("memory", action="store", content="refused", domain="user")
    assert not (await local.call("admin", action="health_check"))["storage"]["writable"]


@behaviour("assoc.admin.system_stats")
async def test_the_system_is_shown_in_figures(local: AssocConversation) -> None:
    await local.store()
    body = await local.told("admin", action="system_stats")
    assert body["message"] == "システム統計を取得しました"
    assert {"memories", "blocks", "events", "bytes", "unembedded", "backups", "visible"} <= body["data"].keys()
    assert (body["data"]["memories"], body["data"]["visible"]["total_memories"]) == (1, 1)


@behaviour("assoc.admin.backup")
async def test_a_backup_is_made_under_a_name_or_the_time(local: AssocConversation) -> None:
    await local.store()
    body = await local.told("admin", action="backup", backup_path="昨日の")
    assert set(body["data"]) == {*BACKUP, "includes"}
    assert (body["data"]["backup_path"], body["data"]["memories"], body["data"]["includes"]) == ("昨日の", 1, ALL)
    assert body["message"] == "バックアップを作成しました (昨日の)"
    code, said = await local.refused("admin", action="backup", backup_path="昨日の")
    assert (code, said) == ("VALIDATION_ERROR", "すでに存在します: バックアップ '昨日の'。別の名前を指定してください")
    assert (await local.call("admin", action="backup"))["backup_path"] == "20260115-120000"
    stats = await local.call("admin", action="system_stats")
    assert stats["backups"] == 2
    assert stats["latest_backup_memories"] == dict.fromkeys(stats["latest_backups"], 1)
    assert (await local.call("admin", action="health_check"))["last_backup"]["memories"] == 1


@behaviour("assoc.admin.backup_for")
async def test_a_backup_for_some_kinds_puts_back_these_beside_what_is_newer(local: AssocConversation) -> None:
    project = await local.project()
    kept = await local.store("before")
    body = await local.told("admin", action="backup", backup_path="places", include_data=["sessions", "projects"])
    assert body["data"]["includes"] == ["projects", "sessions"]
    assert "projects, sessions" in body["message"]
    assert "使わなかった" not in body["message"]
    later = await local.store("after")
    await local.call("memory", action="update", memory_id=kept, content="changed")
    await local.call("project", action="delete", project_id=project)
    said = await local.invalid("admin", action="restore", backup_path="places")
    assert "ストア全体" not in said
    done = await local.call("admin", action="restore", backup_path="places", force=True)
    assert (done["includes"], done["restored_projects"]) == (["projects", "sessions"], 1)
    assert [(await local.get(one))["content"] for one in (kept, later)] == ["changed", "after"]
    named = {"backup_path": "places", "include_data": ["memories"], "force": True}
    assert (await local.call("admin", action="restore", **named))["restored_memories"] == 1
    assert (await local.get(kept))["content"] == "before"


@behaviour("assoc.admin.backup_for")
async def test_a_backup_for_all_kinds_is_of_everything_and_one_for_none_is_refused(local: AssocConversation) -> None:
    await local.call("admin", action="backup", backup_path="all", include_data=ALL[::-1])
    later = await local.store("after")
    await local.call("admin", action="restore", backup_path="all", force=True)
    assert (await local.refused("memory", action="get", memory_id=later))[0] == "MEMORY_NOT_FOUND"
    for action in ("backup", "restore"):
        said = await local.invalid("admin", action=action, backup_path="all", include_data=[], force=True)
        assert said.startswith("include_data: 何も指定されていません")


@behaviour("assoc.admin.backup_paths")
async def test_a_backup_never_leaves_its_folder(engine: Engine, local: AssocConversation) -> None:
    for path in ("../x", "/etc/passwd", "a/b", "..", "x\x00", "~/x", "C:\\x", " ", "x" * 300):
        for action, force in (("backup", None), ("restore", True)):
            code, _ = await local.refused("admin", action=action, backup_path=path, force=force)
            assert code == "VALIDATION_ERROR", path
    inside = f"{engine.backups.location}/inside.db"
    assert (await local.call("admin", action="backup", backup_path=inside))["backup_path"] == "inside"


@behaviour("assoc.admin.restore")
async def test_a_backup_is_put_back_as_a_whole(local: AssocConversation) -> None:
    kept = await local.store("before")
    await local.call("admin", action="backup", backup_path="good")
    later = await local.store("after")
    said = await local.invalid("admin", action="restore", backup_path="good")
    assert said == (
        "force: restore はストア全体を置き換えます (現在の記憶 2件 → バックアップの記憶 1件)。"
        "実行するには force: true を指定してください"
    )
    assert (await local.get(later))["content"] == "after"
    body = await local.told("admin", action="restore", backup_path="good", force=True)
    assert set(body["data"]) == {*BACKUP, "restored_memories", "memories_before", "includes", "safety_backup"}
    assert body["data"]["includes"] == ALL
    assert body["message"] == (
        "バックアップから復元しました (good): 復元前の記憶 2件 → バックアップの記憶 1件"
        f" (復元前の状態のバックアップ: {body['data']['safety_backup']})"
    )
    assert (body["data"]["memories_before"], body["data"]["restored_memories"]) == (2, 1)
    assert (await local.get(kept))["content"] == "before"
    assert (await local.refused("memory", action="get", memory_id=later))[0] == "MEMORY_NOT_FOUND"
    await local.call("admin", action="restore", backup_path=body["data"]["safety_backup"], force=True)
    assert (await local.get(later))["content"] == "after"


@behaviour("assoc.admin.restore_absent")
async def test_a_backup_that_is_not_there_is_missed_with_force_and_without(local: AssocConversation) -> None:
    await local.call("admin", action="backup", backup_path="good")
    for more in ({}, {"include_data": ["memories"]}):
        for force in (None, False, True):
            refused = await local.refused("admin", action="restore", backup_path="absent", force=force, **more)
            assert refused == (
                "VALIDATION_ERROR",
                "バックアップが見つかりません: 'absent'。admin の system_stats で名前を確認してください",
            )


@behaviour("assoc.admin.reindex")
async def test_the_index_is_built_anew(local: AssocConversation) -> None:
    kept = await local.store("found again")
    body = await local.told("admin", action="reindex")
    assert body["data"] == {"memories": 1, "indexed": 1, "embedded_now": 0, "pending_before": 0}
    assert body["message"] == "1件の記憶の索引を作り直しました"
    assert await local.finds("found again") == [kept]


@behaviour("assoc.admin.reindex")
async def test_a_mended_embedder_is_asked_at_once(engine: Engine, local: AssocConversation) -> None:
    embedder = engine.embedding._embedder
    embedder.broken = "out of order"  # type: ignore[attr-defined]
    await local.store()
    body = await local.told("admin", action="reindex")
    assert (body["data"]["embedded_now"], body["data"]["pending_before"]) == (0, 1)
    assert "out of order" in body["message"]
    embedder.broken = ""  # type: ignore[attr-defined]
    body = await local.told("admin", action="reindex")
    assert (body["data"]["embedded_now"], body["message"]) == (1, "1件の記憶の索引を作り直しました")


@behaviour("assoc.admin.cleanup_orphans")
async def test_what_is_over_is_counted_and_removed_only_by_force(local: AssocConversation, clock: Clock) -> None:
    await local.call("user", action="create_session")
    await local.store(domain="session")
    clock.advance(timedelta(days=2))
    body = await local.told("admin", action="cleanup_orphans")
    waste = {"expired_memories": 1, "ended_sessions": 1, "faded_associations": 0}
    assert body["data"] == {**waste, "removed": False}
    assert body["message"] == "削除対象を数えました。削除するには force: true を指定してください"
    body = await local.told("admin", action="cleanup_orphans", force=True)
    assert (body["data"], body["message"]) == ({**waste, "removed": True}, "孤立データを削除しました")
    for force in (False, True):
        body = await local.told("admin", action="cleanup_orphans", force=force)
        assert body["data"] == {**dict.fromkeys(waste, 0), "removed": False}
        assert body["message"] == "削除対象はありません。何も削除していません"


@behaviour("assoc.admin.migrate_domain")
async def test_a_domain_is_moved_only_by_force(talk: AssocConversation) -> None:
    source, target = await talk.project(), await talk.project()
    tag = unique()
    moved = await talk.store(domain="project", project_id=source, tags=[tag], category="c", importance=0.9)
    stays = await talk.store(domain="project", project_id=source, tags=["other"], importance=0.1)
    config = {
        "source_domain": "project",
        "target_domain": "project",
        "project_id": target,
        "filter_criteria": {
            "project_id": source, "tags": [f" {tag}"], "categories": ["c"], "importance_min": 0.5,
            "importance_max": 1.0, "created_after": "2020-01-01", "created_before": "2100-01-01",
        },
    }  # fmt: skip
    body = await talk.told("admin", action="migrate_domain", migration_config=config)
    assert body["message"] == "1件が対象です。移行するには force: true を指定してください"
    assert (body["data"]["matched_count"], body["data"]["migrated_count"]) == (1, 0)
    assert (await talk.get(moved))["project_id"] == source
    body = await talk.told("admin", action="migrate_domain", migration_config=config, force=True)
    assert body["message"] == "1件の記憶をprojectドメインに移しました"
    assert body["data"] == {
        "source_domain": "project", "target_domain": "project", "matched_count": 1, "migrated_count": 1
    }  # fmt: skip
    assert ((await talk.get(moved))["project_id"], (await talk.get(stays))["project_id"]) == (target, source)


@behaviour("assoc.admin.migrate_days")
async def test_after_a_day_is_from_its_beginning_on_and_before_a_day_until_then(
    local: AssocConversation, clock: Clock
) -> None:
    clock.advance(timedelta(hours=13))  # in Seoul it is one in the morning of the 16th
    await local.store()
    for criteria, count in (
        ({"created_after": "2026-01-16"}, 1),
        ({"created_after": "2026-01-17"}, 0),
        ({"created_before": "2026-01-16"}, 0),
        ({"created_before": "2026-01-17"}, 1),
    ):
        config = {"source_domain": "user", "target_domain": "global", "filter_criteria": criteria}
        data = await local.call("admin", action="migrate_domain", migration_config=config)
        assert data["matched_count"] == count, criteria


@behaviour("assoc.admin.migrate_invalid")
async def test_a_migration_must_say_from_where_to_where(talk: AssocConversation) -> None:
    for config, said in (
        ({}, "migration_config: source_domain と target_domain が必須です"),
        ({"source_domain": "user"}, "migration_config: source_domain と target_domain が必須です"),
        (
            {"source_domain": "user", "target_domain": "user"},
            "migration_config: source_domain と target_domain がどちらも",
        ),
        (
            {"source_domain": "team", "target_domain": "user"},
            "migration_config.source_domain: 次のいずれかを指定してください: ",
        ),
        (
            {"source_domain": "user", "target_domain": "project"},
            "migration_config.project_id: ドメイン 'project' では必須です",
        ),
        (
            {"source_domain": "user", "target_domain": "global", "filter_criteria": {"importance_min": 5}},
            "migration_config.filter_criteria.importance_min: 0.0から1.0",
        ),
        (
            {
                "source_domain": "user",
                "target_domain": "global",
                "filter_criteria": {"importance_min": 0.9, "importance_max": 0.1},
            },
            "migration_config.filter_criteria.importance_min: migration_config.filter_criteria.importance_max より",
        ),
        (
            {
                "source_domain": "user",
                "target_domain": "global",
                "filter_criteria": {"created_after": "2025-01-01", "created_before": "2024-01-01"},
            },
            "migration_config.filter_criteria.created_after: migration_config.filter_criteria.created_before より後",
        ),
        (
            {"source_domain": "user", "target_domain": "global", "filter_criteria": {"project_id": ABSENT}},
            "migration_config.filter_criteria.project_id: source_domain が 'project' のときだけ指定できます",
        ),
        (
            {"source_domain": "user", "target_domain": "global", "filter_criteria": {"created_after": "soon"}},
            "migration_config.filter_criteria.created_after: 'soon' は日時ではありません",
        ),
    ):
        assert (await talk.invalid("admin", action="migrate_domain", migration_config=config)).startswith(said)
    config = {"source_domain": "user", "target_domain": "project", "project_id": ABSENT}
    for force in (False, True):
        code, _ = await talk.refused("admin", action="migrate_domain", migration_config=config, force=force)
        assert code == "PROJECT_NOT_FOUND"
