"""ユーザー・セッション管理."""

from datetime import timedelta

import pytest

from commonplace.engine import Engine
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
SESSION = {"session_id", "session_name", "memory_count", "current", "created_at", "expires_at"}


@behaviour("assoc.user.get_current")
async def test_a_caller_learns_who_it_is(local: AssocConversation) -> None:
    body = await local.told("user", action="get_current")
    assert body["message"] == "ユーザー情報を取得しました"
    assert set(body["data"]) == {
        "user_id", "name", "credential", "permissions", "time_zone", "current_session", "created_at"
    }  # fmt: skip
    assert (body["data"]["name"], body["data"]["current_session"]) == ("owner", None)
    assert body["data"]["permissions"] == ["admin", "read", "write"]
    session = await local.call("user", action="create_session", session_name="夜")
    await local.store(domain="session")
    data = await local.call("user", action="get_current", include_stats=True)
    assert data["current_session"] == session | {"memory_count": 1}
    assert data["stats"]["total_memories"] == 1
    assert "stats" not in await local.call("user", action="get_current", include_stats=False)


@behaviour("assoc.user.get_projects")
async def test_a_caller_sees_the_projects_it_is_in(local: AssocConversation) -> None:
    project = await local.project()
    await local.store(domain="project", project_id=project)
    body = await local.told("user", action="get_projects")
    assert body["message"] == "1件のプロジェクトに参加しています"
    (listed,) = body["data"]["projects"]
    assert (listed["project_id"], listed["role"]) == (project, "editor")
    assert not {"memory_count", "member_count"} & listed.keys()
    (listed,) = (await local.call("user", action="get_projects", include_stats=True))["projects"]
    assert (listed["memory_count"], listed["member_count"]) == (1, 1)


@behaviour("assoc.user.create_session")
async def test_a_new_session_is_the_current_one_and_lives_a_day(local: AssocConversation) -> None:
    body = await local.told("user", action="create_session", session_name=" 開発セッション2024 ")
    data = body["data"]
    assert body["message"] == f"セッションを作成しました (ID: {data['session_id']})"
    assert set(data) == SESSION
    assert (data["session_name"], data["memory_count"], data["current"]) == ("開発セッション2024", 0, True)
    assert (data["created_at"], data["expires_at"]) == ("2026-01-15T03:00:00Z", "2026-01-16T03:00:00Z")
    unnamed = await local.call("user", action="create_session")
    assert unnamed["session_name"] == "セッション 2026-01-15 12:00"
    assert (await local.call("user", action="create_session", session_name=""))["session_name"] == unnamed[
        "session_name"
    ]
    said = await local.invalid("user", action="create_session", session_name="x" * 201)
    assert said == "session_name: 201文字あります。200文字以内にしてください"


@behaviour("assoc.user.get_sessions")
async def test_sessions_are_listed_the_newest_first(local: AssocConversation) -> None:
    first, second = [await local.call("user", action="create_session") for _ in range(2)]
    await local.store(domain="session", session_id=first["session_id"])
    body = await local.told("user", action="get_sessions")
    assert body["message"] == "2件のセッションがあります"
    assert body["data"]["sessions"] == [second, first | {"memory_count": 1, "current": False}]
    assert (body["data"]["count"], body["data"]["total"], body["data"]["has_more"]) == (2, 2, False)


@behaviour("assoc.user.switch_session")
async def test_the_current_session_is_switched(local: AssocConversation) -> None:
    first = await local.call("user", action="create_session")
    await local.store(domain="session")
    await local.call("user", action="create_session")
    for name in (f"sess_{first['session_id']}", first["session_id"].upper()):
        body = await local.told("user", action="switch_session", session_id=name)
        assert (body["message"], body["data"]) == ("セッションを切り替えました", first | {"memory_count": 1})
    kept = await local.store(domain="session")
    assert (await local.get(kept))["session_id"] == first["session_id"]


@behaviour("assoc.user.end_session")
async def test_ending_a_session_removes_its_memories(talk: AssocConversation) -> None:
    word = unique()
    session = (await talk.call("user", action="create_session"))["session_id"]
    lost = [await talk.store(f"{word} {number}", domain="session") for number in range(2)]
    saved = await talk.store(f"{word} saved", domain="session")
    await talk.call("memory_manage", action="change_domain", memory_ids=[saved], new_domain="user")
    body = await talk.told("user", action="end_session", session_id=f"sess_{session}")
    assert body["data"] == {"session_id": session, "deleted_memories": 2}
    assert body["message"] == "セッションを終了しました。記憶2件を削除しました"
    assert await talk.finds(word, include_domains=["user", "session"]) == [saved]
    for one in lost:
        assert (await talk.refused("memory", action="get", memory_id=one))[0] == "MEMORY_NOT_FOUND"
    assert session not in [one["session_id"] for one in (await talk.call("user", action="get_sessions"))["sessions"]]


@behaviour("assoc.user.sessions_end")
async def test_after_a_day_a_session_is_over_with_its_memories(
    engine: Engine, local: AssocConversation, clock: Clock
) -> None:
    session = (await local.call("user", action="create_session"))["session_id"]
    kept = await local.store("soon gone", domain="session")
    clock.advance(timedelta(hours=23, minutes=59))
    assert (await local.get(kept))["content"] == "soon gone"
    clock.advance(timedelta(minutes=1))
    assert (await local.refused("memory", action="get", memory_id=kept))[0] == "MEMORY_NOT_FOUND"
    assert (await local.call("user", action="get_current"))["current_session"] is None
    assert (await local.refused("memory", action="store", content="x", domain="session"))[0] == "SESSION_REQUIRED"
    for action in ("switch_session", "end_session"):
        assert (await local.refused("user", action=action, session_id=session))[0] == "SESSION_NOT_FOUND"
    await engine.upkeep.once()
    assert (await local.call("admin", action="cleanup_orphans"))["ended_sessions"] == 0


@behaviour("assoc.user.absent_session")
async def test_a_session_that_is_not_there_is_not_found(talk: AssocConversation) -> None:
    project = await talk.project()
    for session in (ABSENT, "sess_456", project, "x" * 5000):
        for action in ("switch_session", "end_session"):
            code, said = await talk.refused("user", action=action, session_id=session)
            assert code == "SESSION_NOT_FOUND"
            assert len(said) < 200
