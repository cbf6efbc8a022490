"""作業ログ: record_work_log, search_work_logs."""

from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.access import Permission
from commonplace.domain.errors import Forbidden, NotFound
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.sharing import ABSENT, HOSTILE, me
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

TYPES = {
    "message": "メッセージ",
    "question": "質問",
    "answer": "回答",
    "decision": "決定事項",
    "progress": "進捗報告",
    "error": "エラー報告",
    "review": "レビュー",
}


async def tell(speaker: Speaker | CreoConversation, content: str = "", **more: Any) -> str:
    arguments = {"workLogType": "message", "sender": "creo-w1"} | more
    return str((await speaker.call("record_work_log", content=content or unique(), **arguments))["id"])


async def found(speaker: Speaker | CreoConversation, **more: Any) -> list[str]:
    return [one["id"] for one in (await speaker.call("search_work_logs", **more))["workLogs"]]


# record_work_log


@behaviour("creo.work_log.record")
async def test_a_work_log_is_kept_with_all_that_was_said(talk: CreoConversation) -> None:
    answer = await talk.answer(
        "record_work_log",
        content="DB設計について質問",
        workLogType="question",
        sender="creo-w1",
        receiver="creo-lead",
        threadId="thread-123",
        project="creo-memories",
        issueRef="#129",
        contentType="markdown",
    )
    assert not answer.is_error
    made: dict[str, Any] = answer.structured_content or {}
    log = made["workLog"]
    assert made["id"] == log["id"]
    assert (log["content"], log["category"], log["contentType"]) == ("DB設計について質問", "work_log", "markdown")
    names = {
        "workLogType": "question",
        "sender": "creo-w1",
        "receiver": "creo-lead",
        "threadId": "thread-123",
        "project": "creo-memories",
        "issueRef": "#129",
    }
    assert log["metadata"] == names
    assert {name: log[name] for name in names} == names
    assert log["sharedContextId"] is None
    expected = f"✅ 作業ログを記録しました (ID: {log['id']}, 質問, creo-w1 → creo-lead)"
    assert answer.content[0].text == expected  # type: ignore[union-attr]


@behaviour("creo.work_log.required")
async def test_content_type_and_sender_are_needed(talk: CreoConversation) -> None:
    whole = {"content": "x", "workLogType": "message", "sender": "w"}
    for missing in whole:
        given = {name: value for name, value in whole.items() if name != missing}
        assert missing in await talk.invalid("record_work_log", **given)
        assert missing in await talk.invalid("record_work_log", **whole | {missing: " "})
    for name in ("sender", "receiver", "threadId", "project", "issueRef"):
        assert name in await talk.invalid("record_work_log", **whole | {name: "x" * 201})
    assert "contentType" in await talk.invalid("record_work_log", **whole, contentType="html")


@behaviour("creo.work_log.types")
async def test_there_are_seven_types(talk: CreoConversation) -> None:
    project = unique()
    for kind, word in TYPES.items():
        words = await talk.says("record_work_log", content="x", workLogType=kind, sender="w", project=project)
        assert f", {word}, w)" in words
        listed = (await talk.call("search_work_logs", project=project, workLogType=kind))["workLogs"]
        assert [one["workLogType"] for one in listed] == [kind]
    assert "workLogType" in await talk.invalid("record_work_log", content="x", workLogType="note", sender="w")


@behaviour("creo.work_log.author")
async def test_the_true_author_stands_beside_the_sender(ann: Speaker, ben: Speaker) -> None:
    context = (await ann.call("create_shared_context", name="部屋", invite=[me(ben)]))["id"]
    await ben.call("join_shared_context", contextId=context)
    await tell(ben, "私はcreo-leadです", sender="creo-lead", sharedContextId=context)
    (log,) = (await ann.call("search_work_logs", sender="creo-lead"))["workLogs"]
    assert (log["sender"], log["author"]) == ("creo-lead", me(ben))
    assert log["recordedBy"] == {"userId": me(ben), "credential": ben.actor.credential}
    words = await ann.says("search_work_logs", sender="creo-lead")
    assert f"記録者: {me(ben)} ({ben.actor.credential})" in words


@behaviour("creo.work_log.context")
async def test_in_a_shared_context_all_who_are_in_it_find_it(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    context = (await ann.call("create_shared_context", name="部屋", invite=[me(ben)]))["id"]
    await ben.call("join_shared_context", contextId=context)
    made = await tell(ann, "共有の記録", sharedContextId=context)
    (log,) = (await ben.call("search_work_logs", query="共有の記録"))["workLogs"]
    assert (log["id"], log["sharedContextId"]) == (made, context)
    opened = await ben.call("get_shared_context", contextId=context)
    assert [one["id"] for one in opened["memories"]] == [made]
    assert await found(admin) == []


@behaviour("creo.work_log.context_missing")
async def test_a_context_one_is_not_in_is_not_found(ann: Speaker, ben: Speaker, clock: Clock) -> None:
    context = (await ann.call("create_shared_context", name="部屋", ttlSeconds=60))["id"]
    for wanted in (context, ABSENT):
        refused = await ben.refused(
            "record_work_log", content="x", workLogType="message", sender="w", sharedContextId=wanted
        )
        assert isinstance(refused, NotFound)
        assert refused.what == "context"
    clock.advance(timedelta(seconds=60))
    over = await ann.refused("record_work_log", content="x", workLogType="message", sender="w", sharedContextId=context)
    assert isinstance(over, NotFound)


@behaviour("creo.work_log.context_ids")
async def test_contexts_are_named_in_two_ways(talk: CreoConversation) -> None:
    context = (await talk.call("create_shared_context", name=unique()))["id"]
    for written in (context, context.removeprefix("shared_contexts:")):
        made = await talk.call(
            "record_work_log", content="x", workLogType="message", sender="w", sharedContextId=written
        )
        assert made["workLog"]["sharedContextId"] == context
    wrong = {"content": "x", "workLogType": "message", "sender": "w", "sharedContextId": "atlas:x"}
    assert "sharedContextId" in await talk.invalid("record_work_log", **wrong)
    missing = wrong | {"sharedContextId": ABSENT}
    assert (await talk.refused("record_work_log", **missing)).startswith("共有コンテキストが見つかりません")


# search_work_logs


@behaviour("creo.work_log.search")
async def test_logs_are_found_by_meaning(talk: CreoConversation) -> None:
    project = unique()
    schema = await tell(talk, "データベースの設計はPostgreSQLにした", project=project)
    lunch = await tell(talk, "昼ごはんはうどんを食べた", project=project)
    await talk.remember("データベースの設計はPostgreSQLにした", metadata={"project": project})
    answer = await talk.call("search_work_logs", query="DBの設計", project=project)
    assert [one["id"] for one in answer["workLogs"]] == [schema, lunch]
    assert answer["workLogs"][0]["similarity"] > answer["workLogs"][1]["similarity"]
    assert (answer["count"], answer["total"], answer["hasMore"]) == (2, 2, False)
    words = (await talk.says("search_work_logs", query="DBの設計", project=project)).splitlines()
    assert words[0] == "📋 2件の作業ログが見つかりました"
    assert words[1] == "1. [メッセージ] creo-w1: 「データベースの設計はPostgreSQLにした」"
    assert words[2].startswith(f"   ID: {schema} | 記録者: users:")
    assert "類似度: " in words[2]


@behaviour("creo.work_log.filters")
async def test_filters_must_all_hold(talk: CreoConversation) -> None:
    project = unique()
    one = await tell(talk, project=project, sender="w1", receiver="lead", threadId=f"{project}-t")
    two = await tell(talk, project=project, sender="lead", receiver="w1", workLogType="answer", threadId=f"{project}-t")
    three = await tell(talk, project=project, sender="w1", receiver="w2")
    assert await found(talk, project=project) == [three, two, one]
    assert await found(talk, project=project, sender="w1") == [three, one]
    assert await found(talk, project=project, receiver="w1") == [two]
    assert await found(talk, project=project, workLogType="answer") == [two]
    assert await found(talk, threadId=f"{project}-t", sender="w1", receiver="lead") == [one]
    assert await found(talk, project=project, sender="w1", workLogType="answer") == []
    for query in ("x", project):
        assert await found(talk, query=query, project=f"{project}-other") == []
    assert await talk.says("search_work_logs", project=unique()) == "📋 作業ログが見つかりませんでした"


@behaviour("creo.work_log.exact")
async def test_names_are_compared_to_the_letter_in_one_spelling(talk: CreoConversation) -> None:
    project = unique()
    made = await tell(talk, project=f"{project} プロジェクト", sender="e\u0301tienne")
    assert await found(talk, project=f" {project} フ\u309aロシ\u3099ェクト ", sender="étienne") == [made]
    assert await found(talk, project=project) == await found(talk, project=f"{project} プロジェクト", sender="E") == []


@behaviour("creo.work_log.newest")
async def test_without_a_query_the_newest_come_first_and_a_thread_from_its_beginning(
    ann: Speaker, clock: Clock
) -> None:
    made = []
    for _ in range(4):
        made.append(await tell(ann, threadId="t"))
        clock.advance(timedelta(minutes=1))
    assert await found(ann) == await found(ann, query="  ") == made[::-1]
    assert await found(ann, threadId="t") == made
    assert await found(ann, threadId="t", limit=2) == made[:2]
    answer = await ann.call("search_work_logs", limit=3)
    assert (answer["count"], answer["total"], answer["hasMore"]) == (3, 4, True)
    assert "similarity" not in answer["workLogs"][0]


@behaviour("creo.work_log.limit")
async def test_twenty_are_shown_unless_said_otherwise(ann: Speaker) -> None:
    for _ in range(25):
        await tell(ann, "同じ話")
    for arguments in ({}, {"query": "同じ話"}):
        answer = await ann.call("search_work_logs", **arguments)
        assert (answer["count"], answer["total"], answer["hasMore"]) == (20, 25, True)
        assert (await ann.call("search_work_logs", limit=100, **arguments))["count"] == 25
    assert (await ann.says("search_work_logs", limit=1)).endswith(
        "（他にもあります。limitを増やすか条件を絞ってください）"
    )


@behaviour("creo.work_log.limits")
async def test_the_limit_is_from_one_to_a_hundred(talk: CreoConversation) -> None:
    for limit in (0, 101, -1, 1.5):
        assert "limit" in await talk.invalid("search_work_logs", limit=limit)
    for name in ("sender", "receiver", "project", "threadId"):
        assert name in await talk.invalid("search_work_logs", **{name: " "})
    assert "workLogType" in await talk.invalid("search_work_logs", workLogType="x")


@behaviour("creo.work_log.recall")
async def test_a_filter_costs_no_recall(ann: Speaker) -> None:
    wanted = await tell(ann, "設計の話、遠くから", sender="rare")
    for number in range(150):
        await tell(ann, f"設計の話 {number}", sender="busy")
    assert await found(ann, query="設計の話", sender="rare", limit=1) == [wanted]


@behaviour("creo.work_log.private")
async def test_work_logs_are_ones_own(ann: Speaker, ben: Speaker) -> None:
    await tell(ann, "秘密の話")
    for arguments in ({}, {"query": "秘密の話"}, {"sender": "creo-w1"}):
        answer = await ben.call("search_work_logs", **arguments)
        assert (answer["workLogs"], answer["total"], answer["hasMore"]) == ([], 0, False)


@behaviour("creo.work_log.memory")
async def test_a_work_log_is_a_memory_like_any_other(talk: CreoConversation) -> None:
    word = unique()
    made = await tell(talk, word)
    assert (await talk.call("search", query=word, category="work_log"))["results"][0]["id"] == made
    await talk.call("update_memory", id=made, metadata={"sender": f"{word}-new"})
    assert await found(talk, sender=f"{word}-new") == [made]
    await talk.call("forget", id=made, confirm=True)
    assert await found(talk, sender=f"{word}-new") == []


@behaviour("creo.work_log.words")
async def test_what_someone_wrote_stays_a_quotation_of_one_line(ann: Speaker) -> None:
    await tell(ann, HOSTILE, sender="a\nb\u202e", receiver="「」\r\n# 指示")
    words = await ann.says("search_work_logs")
    assert len(words.splitlines()) == 3
    assert "\u202e" not in words
    assert words.splitlines()[1].startswith("1. [メッセージ] a b → 「」 # 指示: 「『』 # 指示")


@behaviour("creo.work_log.long_texts")
async def test_long_texts_are_cut_in_a_list(ann: Speaker) -> None:
    for _ in range(3):
        await tell(ann, "長" * 300_000)
    answer = await ann.call("search_work_logs")
    assert answer["truncated"]
    assert all(one["truncated"] for one in answer["workLogs"])


@behaviour("creo.work_log.wordless")
async def test_without_a_model_words_still_find_and_it_is_said(ann: Speaker, embedder: Embedder) -> None:
    made = await tell(ann, "schema of the database")
    embedder.broken = "gone"
    assert await found(ann, query="database") == [made]
    assert "意味検索は使えません" in await ann.says("search_work_logs", query="database")


@behaviour("creo.work_log.spoilt")
async def test_metadata_that_someone_has_spoilt_does_no_harm(ann: Speaker) -> None:
    made = await tell(ann)
    await ann.call("update_memory", id=made, metadata={"sender": [1], "workLogType": {"a": 1}, "receiver": 5})
    (log,) = (await ann.call("search_work_logs"))["workLogs"]
    assert (log["sender"], log["workLogType"], log["receiver"]) == (None, None, None)
    assert "[作業ログ] ?: " in await ann.says("search_work_logs")


@behaviour("creo.work_log.read_only")
async def test_a_key_that_only_reads_records_nothing(engine: Engine, settings: Settings) -> None:
    reader = await enrolled(engine, settings, "rita", Permission.READ)
    refused = await reader.refused("record_work_log", content="x", workLogType="message", sender="w")
    assert isinstance(refused, Forbidden)
    assert "write" in refused.message
    assert await found(reader) == []
