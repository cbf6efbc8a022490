"""記憶管理: figures, moving, deleting many, cleaning up."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.engine import Engine
from tests.dialects.assoc.speech import AssocConversation, refusal
from tests.dialects.conversation import unique
from tests.engine.test_collections import keep, project, user
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


@behaviour("assoc.stats.figures")
async def test_stats_are_figures_of_what_the_caller_may_see(local: AssocConversation, clock: Clock) -> None:
    empty = await local.call("memory_manage", action="stats")
    assert (empty["total_memories"], empty["average_importance"], empty["oldest"]) == (0, None, None)
    await local.store("one", tags=["a", "b"], category="c", importance=0.2)
    clock.advance(timedelta(days=1))
    await local.store("two", tags=["a"], importance=0.4, domain="global")
    body = await local.told("memory_manage", action="stats")
    assert body["message"] == "統計情報を取得しました"
    assert body["data"] == {
        "total_memories": 2,
        "by_domain": {"global": 1, "user": 1},
        "by_category": {"c": 1},
        "category_count": 1,
        "uncategorized": 1,
        "average_importance": 0.3,
        "access_count": 0,
        "oldest": "2026-01-15T03:00:00Z",
        "newest": "2026-01-16T03:00:00Z",
        "associations": {},
        "top_tags": [{"tag": "a", "count": 2}, {"tag": "b", "count": 1}],
        "places": [],
    }


@behaviour("assoc.stats.target")
async def test_stats_and_categories_of_one_domain_project_or_session(talk: AssocConversation) -> None:
    project, word = await talk.project(), unique()
    session = (await talk.call("user", action="create_session"))["session_id"]
    await talk.store(domain="project", project_id=project, category=f"{word} p")
    await talk.store(domain="session", category=f"{word} s")
    for more, category in (
        ({"target_domain": "project", "project_id": project}, f"{word} p"),
        ({"project_id": project}, f"{word} p"),
        ({"target_domain": "session"}, f"{word} s"),
        ({"session_id": session}, f"{word} s"),
    ):
        stats = await talk.call("memory_manage", action="stats", **more)
        assert (stats["total_memories"], stats["by_category"]) == (1, {category: 1})
        body = await talk.told("memory_manage", action="list_categories", **more)
        assert body["message"] == "1件のカテゴリがあります"
        assert body["data"]["categories"] == [{"category": category, "count": 1}]
    own = (await talk.call("memory_manage", action="stats", target_domain="user"))["by_category"]
    assert not {f"{word} p", f"{word} s"} & set(own)
    for action in ("stats", "list_categories", "export"):
        code, _ = await talk.refused("memory_manage", action=action, project_id=ABSENT)
        assert code == "PROJECT_NOT_FOUND"
        code, _ = await talk.refused("memory_manage", action=action, session_id=ABSENT)
        assert code == "SESSION_NOT_FOUND"


@behaviour("assoc.list_categories.counts")
async def test_categories_are_listed_with_their_counts_the_most_frequent_first(local: AssocConversation) -> None:
    for category in ("料理", "旅", "料理", ""):
        await local.store(category=category)
    assert await local.call("memory_manage", action="list_categories") == {
        "categories": [{"category": "料理", "count": 2}, {"category": "旅", "count": 1}],
        "count": 2,
        "total": 2,
        "has_more": False,
        "uncategorized": 1,
    }


@behaviour("assoc.change_domain.moves")
async def test_memories_move_to_another_domain(talk: AssocConversation) -> None:
    project, word = await talk.project(), unique()
    ids = [await talk.store(f"{word} {number}") for number in range(2)]
    body = await talk.told(
        "memory_manage", action="change_domain", memory_ids=ids, new_domain="project", project_id=project
    )
    assert body["message"] == "2件の記憶をprojectドメインに移しました"
    assert body["data"] == {"changed_count": 2, "memory_ids": ids, "new_domain": "project"}
    assert [(await talk.get(one))["project_id"] for one in ids] == [project, project]
    assert await talk.finds(word) == []
    assert sorted(await talk.finds(word, include_domains=["project"])) == sorted(ids)
    for domain in ("global", "user"):
        await talk.call("memory_manage", action="change_domain", memory_ids=[ids[0]], new_domain=domain)
        assert (await talk.get(ids[0]))["domain"] == domain


@behaviour("assoc.change_domain.all_or_none")
async def test_moving_is_all_or_none(talk: AssocConversation) -> None:
    project, kept = await talk.project(), await talk.store()
    for arguments, code in (
        ({"memory_ids": [kept, ABSENT], "project_id": project}, "MEMORY_NOT_FOUND"),
        ({"memory_ids": [kept], "project_id": ABSENT}, "PROJECT_NOT_FOUND"),
        ({"memory_ids": [kept]}, "VALIDATION_ERROR"),
        ({"memory_ids": [], "project_id": project}, "VALIDATION_ERROR"),
        ({"memory_ids": [str(n) for n in range(1001)], "project_id": project}, "VALIDATION_ERROR"),
    ):
        refused = await talk.refused("memory_manage", action="change_domain", new_domain="project", **arguments)
        assert refused[0] == code
    assert (await talk.get(kept))["domain"] == "user"


@behaviour("assoc.change_domain.sessions")
async def test_into_a_session_a_memory_ends_with_it_and_out_of_one_it_stays(
    local: AssocConversation, clock: Clock
) -> None:
    code, _ = await local.refused(
        "memory_manage", action="change_domain", memory_ids=[await local.store("x")], new_domain="session"
    )
    assert code == "SESSION_REQUIRED"
    await local.call("user", action="create_session")
    saved, lost = await local.store("saved", domain="session"), await local.store("lost")
    await local.call("memory_manage", action="change_domain", memory_ids=[lost], new_domain="session")
    assert (await local.get(lost))["expires_at"] is not None
    await local.call("memory_manage", action="change_domain", memory_ids=[saved], new_domain="user")
    assert (await local.get(saved))["expires_at"] is None
    clock.advance(timedelta(hours=24, minutes=2))
    assert (await local.get(saved))["content"] == "saved"
    assert (await local.refused("memory", action="get", memory_id=lost))[0] == "MEMORY_NOT_FOUND"


@behaviour("assoc.change_domain.moves")
async def test_what_is_there_already_is_not_moved_and_told_apart(local: AssocConversation, engine: Engine) -> None:
    kept, target = await local.store(), {"new_domain": "project", "project_id": await local.project()}
    there = await local.store(domain="project", project_id=target["project_id"])
    body = await local.told("memory_manage", action="change_domain", memory_ids=[kept, there], **target)
    assert body["message"] == "1件の記憶をprojectドメインに移しました (すでにそこにある記憶: 1件)"
    assert (body["data"]["changed_count"], body["data"]["memory_ids"]) == (1, [kept])
    migration = {"source_domain": "project", "target_domain": "project", "project_id": target["project_id"]}
    said = await local.says("admin", action="migrate_domain", migration_config=migration, force=True)
    assert said == "0件の記憶をprojectドメインに移しました (すでにそこにある記憶: 2件)"
    moved = [event for event in await engine.store.read(lambda tx: tx.events(0, 99)) if event.kind == "moved"]
    assert {event.memory for event in moved} == {kept}


@behaviour("assoc.change_domain.ends")
async def test_who_moves_a_lasting_memory_into_a_session_is_told_when_it_ends(
    local: AssocConversation, clock: Clock
) -> None:
    session = (await local.call("user", action="create_session"))["session_id"]
    clock.advance(timedelta(hours=1))
    lasting, end = await local.store("lasting"), "2026-01-16T03:00:00Z"
    told = f"(session_id: {session}。セッションの終了とともに、遅くとも {end} に削除されます)"
    config = {"source_domain": "user", "target_domain": "session"}
    body = await local.told("admin", action="migrate_domain", migration_config=config)
    assert (body["data"]["expires_at"], body["message"].endswith(told)) == (end, True)
    body = await local.told("memory_manage", action="change_domain", memory_ids=[lasting], new_domain="session")
    assert body["message"] == f"1件の記憶をsessionドメインに移しました {told}"
    assert body["data"]["expires_at"] == (await local.get(lasting))["expires_at"] == end


@behaviour("assoc.change_domain.authors")
async def test_who_gives_memories_back_to_their_authors_is_told_how_many_go_to_whom(
    local: AssocConversation, engine: Engine, owner: Actor
) -> None:
    anna = await user(engine, "anna")
    home = await project(engine, owner, anna=Right.WRITE)
    hers = [(await keep(engine, anna, f"hers {number}", home)).id for number in range(3)]
    mine, _ = [await local.store(text, domain="project", project_id=home) for text in ("mine", "other")]
    told = "(行き先は作成者のuserドメインで、移動後は本人だけが見られます: 'anna' 2件, 'owner' 1件)"
    move = {"action": "change_domain", "new_domain": "user"}
    body = await local.told("memory_manage", memory_ids=[mine, *hers[:2]], **move)
    assert body["message"] == f"3件の記憶をuserドメインに移しました {told}"
    shares = [(one["name"], one["user_id"], one["memory_count"]) for one in body["data"]["recipients"]]
    assert shares == [("anna", anna.user, 2), ("owner", owner.user, 1)]
    config = {"source_domain": "project", "target_domain": "user", "filter_criteria": {"project_id": home}}
    said = await local.says("admin", action="migrate_domain", migration_config=config)
    assert said.endswith("'anna' 1件, 'owner' 1件)")
    body = await local.told("admin", action="migrate_domain", migration_config=config, force=True)
    assert [one["memory_count"] for one in body["data"]["recipients"]] == [1, 1]
    alone = await local.store(domain="project", project_id=home)
    assert await local.says("memory_manage", memory_ids=[alone], **move) == "1件の記憶をuserドメインに移しました"
    again = await project(engine, owner, anna=Right.WRITE)
    await keep(engine, anna, "hers again", again)
    body = await local.told("project", action="delete", project_id=again)
    assert (body["data"]["moved_memories"], body["data"]["recipients"][0]["name"]) == (1, "anna")
    assert body["message"].endswith("移動後は本人だけが見られます: 'anna' 1件)")


@behaviour("assoc.change_domain.associations")
async def test_a_moved_memory_is_soon_tied_in_its_new_place_as_if_stored_there(
    local: AssocConversation, engine: Engine, clock: Clock
) -> None:
    project = await local.project()
    there = await local.store("grey cats sleep on the warm roof", domain="project", project_id=project)
    clock.advance(timedelta(hours=1))
    stays, moved = [await local.store(f"grey cats sleep on the warm roof {when}") for when in ("at noon", "at night")]
    target = {"new_domain": "project", "project_id": project}
    await local.call("memory_manage", action="change_domain", memory_ids=[moved], **target)
    await engine.links.discover()
    for one, others in ((moved, [(there, "semantic")]), (stays, [])):
        related = await local.call("memory", action="get_related", memory_id=one, depth=1)
        assert [(other["memory_id"], other["type"]) for other in related["related_memories"]] == others


@behaviour("assoc.batch_delete.answer")
async def test_many_are_deleted_at_once_and_what_is_not_there_is_named(talk: AssocConversation) -> None:
    ids = [await talk.store() for _ in range(3)]
    body = await talk.told("memory_manage", action="batch_delete", memory_ids=[*ids, ABSENT, ids[0], "nonsense"])
    assert body["message"] == "3件の記憶を削除しました (見つからない: 2件)"
    assert body["data"] == {
        "deleted_count": 3, "deleted": ids, "not_found": [ABSENT, "nonsense"], "denied": []
    }  # fmt: skip
    kept = await talk.store()
    assert await talk.says("memory_manage", action="batch_delete", memory_ids=[kept]) == "1件の記憶を削除しました"
    for ids in ([], [str(n) for n in range(1001)]):
        said = await talk.invalid("memory_manage", action="batch_delete", memory_ids=ids)
        assert said.startswith("memory_ids: ")


@behaviour("assoc.batch_delete.nothing")
async def test_deleting_nothing_of_what_was_named_is_an_error(talk: AssocConversation) -> None:
    ids = [ABSENT, *(f"nonsense {number}" for number in range(6))]
    body = refusal(await talk.answer("memory_manage", action="batch_delete", memory_ids=ids))
    assert body["data"] == {"deleted_count": 0, "deleted": [], "not_found": ids, "denied": []}
    named = ", ".join(map(repr, ids[:5]))
    assert body["error"] == {
        "code": "MEMORY_NOT_FOUND",
        "message": f"記憶が見つかりません: 何も削除しませんでした。見つからない記憶: {named} 他2件"
        "。memory の search で探して、IDを確認してください",
    }


@behaviour("assoc.batch_delete.once")
async def test_a_memory_that_is_named_twice_counts_once_however_its_id_is_written(local: AssocConversation) -> None:
    kept, other = await local.store("kept"), await local.store("other")
    ids = [kept, kept.upper(), f"mem_{kept}", f" {kept}", "block_0", other, ABSENT, ABSENT.upper(), "block_9"]
    target = {"new_domain": "project", "project_id": await local.project()}
    body = await local.told("memory_manage", action="change_domain", memory_ids=ids[:6], **target)
    assert body["message"] == "2件の記憶をprojectドメインに移しました"
    assert (body["data"]["changed_count"], body["data"]["memory_ids"]) == (2, [kept, other])
    body = await local.told("memory_manage", action="batch_delete", memory_ids=ids)
    assert body["message"] == "2件の記憶を削除しました (見つからない: 2件)"
    assert body["data"]["deleted"] == [kept, other]
    assert body["data"]["not_found"] == [ABSENT, "block_9"]


@behaviour("assoc.cleanup.sessions")
async def test_old_session_memories_are_cleaned_up(local: AssocConversation, clock: Clock) -> None:
    session = (await local.call("user", action="create_session"))["session_id"]
    mine = await local.store("mine")
    old = await local.store("old", domain="session")
    clock.advance(timedelta(hours=2))
    new = await local.store("new", domain="session")
    before = "2026-01-15T04:00:00Z"
    body = await local.told("memory_manage", action="cleanup", target_domain="session", cleanup_before=before)
    assert body["data"] == {"deleted_count": 1, "cleanup_before": before}
    assert body["message"] == "セッション記憶1件を削除しました"
    assert (await local.refused("memory", action="get", memory_id=old))[0] == "MEMORY_NOT_FOUND"
    assert (await local.get(new))["content"] == "new"
    body = await local.told("memory_manage", action="cleanup", session_id=session)
    assert body["data"]["deleted_count"] == 1
    assert (await local.get(mine))["content"] == "mine"


@behaviour("assoc.cleanup.sessions")
async def test_older_than_a_day_is_what_was_before_it_began(local: AssocConversation, clock: Clock) -> None:
    await local.call("user", action="create_session")
    await local.store("the evening before", domain="session")
    clock.advance(timedelta(hours=13))  # in Seoul it is one in the morning of the 16th
    new = await local.store("new", domain="session")
    data = await local.call("memory_manage", action="cleanup", cleanup_before="2026-01-16")
    assert data == {"deleted_count": 1, "cleanup_before": "2026-01-15T15:00:00Z"}
    assert (await local.get(new))["content"] == "new"


@behaviour("assoc.cleanup.limits")
async def test_cleaning_up_is_for_sessions_and_needs_to_know_how_far(talk: AssocConversation) -> None:
    for domain in ("global", "user", "project"):
        said = await talk.invalid("memory_manage", action="cleanup", target_domain=domain, cleanup_before="2024-01-01")
        assert said.startswith("target_domain: cleanup で削除できるのは session の記憶だけです")
    said = await talk.invalid("memory_manage", action="cleanup", cleanup_before="昨日")
    assert said == "cleanup_before: '昨日' は日時ではありません。2024-01-01T00:00:00Z のように指定してください"
    assert (await talk.invalid("memory_manage", action="cleanup", session_id=" ")).startswith("cleanup_before: action")
    code, _ = await talk.refused("memory_manage", action="cleanup", session_id=ABSENT)
    assert code == "SESSION_NOT_FOUND"
