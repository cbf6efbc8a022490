"""注釈・コメント: annotate, get_annotations, reply_annotation."""

from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.errors import Forbidden, NotFound
from tests.dialects.conversation import unique
from tests.dialects.creo.sharing import ABSENT, HOSTILE, me, plant, team_of
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

TYPES = {
    "comment": "コメント",
    "question": "質問",
    "concern": "懸念事項",
    "suggestion": "提案",
    "approval": "承認",
}


async def say(speaker: Speaker | CreoConversation, target: str, content: str = "", **more: Any) -> str:
    made = await speaker.call("annotate", targetMemoryId=target, content=content or unique(), **more)
    return str(made["id"])


async def reply(speaker: Speaker | CreoConversation, target: str, content: str = "", **more: Any) -> str:
    made = await speaker.call("reply_annotation", annotationMemoryId=target, content=content or unique(), **more)
    return str(made["id"])


async def said(speaker: Speaker | CreoConversation, target: str, **more: Any) -> list[Any]:
    """The texts of a discussion, replies in lists after what they answer."""
    return texts((await speaker.call("get_annotations", memoryId=target, **more))["annotations"])


def texts(threads: list[dict[str, Any]]) -> list[Any]:
    return [(one["content"], texts(one["replies"])) if one["replies"] else one["content"] for one in threads]


# annotate


@behaviour("creo.annotation.annotate")
async def test_an_annotation_is_kept_and_answered_with_its_fields(talk: CreoConversation) -> None:
    target = await talk.remember()
    answer = await talk.answer(
        "annotate", targetMemoryId=f"memories:{target}", content="これで**いい**？", contentType="markdown"
    )
    assert not answer.is_error
    made = (answer.structured_content or {})["annotation"]
    assert (made["content"], made["contentType"], made["category"]) == ("これで**いい**？", "markdown", "annotation")
    assert made["metadata"] == {"annotationType": "comment", "targetMemoryId": target, "threadId": made["id"]}
    assert (made["annotationType"], made["targetMemoryId"], made["threadId"]) == ("comment", target, made["id"])
    assert (made["replyTo"], made["replyCount"], made["replies"]) == (None, 0, [])
    assert made["recordedBy"]["userId"] == made["author"]
    assert made["recordedBy"]["credential"]
    assert answer.content[0].text == f"✅ 注釈を追加しました (ID: {made['id']}, タイプ: コメント)"  # type: ignore[union-attr]


@behaviour("creo.annotation.types")
async def test_there_are_five_types_and_comment_is_the_usual_one(talk: CreoConversation) -> None:
    target = await talk.remember()
    for kind, word in TYPES.items():
        words = await talk.says("annotate", targetMemoryId=target, content=unique(), annotationType=kind)
        assert f"タイプ: {word}" in words
    found = await talk.call("get_annotations", memoryId=target)
    assert [one["annotationType"] for one in found["annotations"]] == list(TYPES)
    for wrong in ("answer", "Comment", "", "注釈"):
        assert "annotationType" in await talk.invalid(
            "annotate", targetMemoryId=target, content="x", annotationType=wrong
        )


@behaviour("creo.annotation.ids")
async def test_memories_are_named_in_three_ways(talk: CreoConversation) -> None:
    target = await talk.remember()
    first = await say(talk, f"memory:{target}", "一")
    await reply(talk, f"memories:{first}", "二")
    for written in (target, f"memory:{target}", f"memories:{target}", target.upper()):
        found = await talk.call("get_annotations", memoryId=written)
        assert found["memoryId"] == target
        assert texts(found["annotations"]) == [("一", ["二"])]
    for field, tool in (("targetMemoryId", "annotate"), ("annotationMemoryId", "reply_annotation")):
        assert field in await talk.invalid(tool, **{field: "label:x", "content": "x"})
    assert "memoryId" in await talk.invalid("get_annotations", memoryId="x")


@behaviour("creo.annotation.content")
async def test_a_text_is_needed_and_kept_to_the_letter(talk: CreoConversation) -> None:
    target = await talk.remember()
    for text in ("", "  \n", "\x00"):
        assert "content" in await talk.invalid("annotate", targetMemoryId=target, content=text)
    assert "content" in await talk.invalid("annotate", targetMemoryId=target)
    for text in (HOSTILE, "日本語\r\n\tと 🧠 e\u0301", "長" * 5000):
        await say(talk, target, text)
    assert await said(talk, target) == [HOSTILE, "日本語\r\n\tと 🧠 e\u0301", "長" * 5000]


@behaviour("creo.annotation.missing")
async def test_what_is_not_there_is_not_found(talk: CreoConversation) -> None:
    plain = await talk.remember()
    for tool, field in (("annotate", "targetMemoryId"), ("get_annotations", "memoryId")):
        arguments = {field: ABSENT} | ({"content": "x"} if tool == "annotate" else {})
        assert (await talk.refused(tool, **arguments)).startswith(f"メモリが見つかりません: no memory '{ABSENT}'")
    for absent in (ABSENT, plain):
        words = await talk.refused("reply_annotation", annotationMemoryId=absent, content="x")
        assert words.startswith(f"注釈が見つかりません: no annotation '{absent}'")


@behaviour("creo.annotation.found")
async def test_annotations_are_found_by_search(talk: CreoConversation) -> None:
    target, word = await talk.remember(), unique()
    made = await say(talk, target, f"{word} という懸念", annotationType="concern")
    found = (await talk.call("search", query=word, category="annotation"))["results"]
    assert found[0]["id"] == made


# Threads


@behaviour("creo.annotation.threads")
async def test_replies_stand_in_what_they_answer(talk: CreoConversation) -> None:
    target = await talk.remember()
    first, second = await say(talk, target, "一"), await say(talk, target, "二")
    one = await reply(talk, first, "一の一")
    await reply(talk, second, "二の一")
    await reply(talk, first, "一の二")
    deep = await reply(talk, one, "一の一の一")
    found = await talk.call("get_annotations", memoryId=target)
    assert texts(found["annotations"]) == [("一", [("一の一", ["一の一の一"]), "一の二"]), ("二", ["二の一"])]
    assert (found["count"], found["total"], found["hasMore"], found["truncated"]) == (6, 6, False, False)
    thread = found["annotations"][0]
    last = thread["replies"][0]["replies"][0]
    assert (thread["replyCount"], thread["replies"][0]["replyCount"]) == (3, 1)
    assert (last["id"], last["replyTo"], last["threadId"], last["targetMemoryId"]) == (deep, one, first, target)
    words = (await talk.says("get_annotations", memoryId=target)).splitlines()
    assert words[0] == "💬 6件の注釈があります"
    assert words[1].startswith(f"- [コメント] 「一」 (ID: {first}, users:")
    assert words[3].startswith(f"    - [コメント] 「一の一の一」 (ID: {deep}, users:")
    assert await said(talk, first) == [("一の一", ["一の一の一"]), "一の二"]


@behaviour("creo.annotation.replies_left_out")
async def test_without_replies_only_their_number_is_told(talk: CreoConversation) -> None:
    target = await talk.remember()
    await reply(talk, await reply(talk, await say(talk, target, "一")))
    found = await talk.call("get_annotations", memoryId=target, includeReplies=False)
    assert texts(found["annotations"]) == ["一"]
    assert (found["annotations"][0]["replyCount"], found["total"]) == (2, 1)


@behaviour("creo.annotation.filter")
async def test_a_type_chooses_threads_with_their_replies(talk: CreoConversation) -> None:
    target = await talk.remember()
    question = await say(talk, target, "問", annotationType="question")
    comment = await say(talk, target, "評")
    await reply(talk, question, "答")
    await reply(talk, comment, "評への問", annotationType="question")
    assert await said(talk, target, annotationType="question") == [("問", ["答"])]
    assert await said(talk, target, annotationType="comment") == [("評", ["評への問"])]
    assert await said(talk, target, annotationType="approval") == []
    assert "annotationType" in await talk.invalid("get_annotations", memoryId=target, annotationType="x")


@behaviour("creo.annotation.reply_type")
async def test_a_question_is_answered_and_anything_else_commented_on(talk: CreoConversation) -> None:
    target = await talk.remember()
    kinds = {"question": "answer", "concern": "comment", "comment": "comment"}
    for kind, expected in kinds.items():
        first = await say(talk, target, annotationType=kind)
        made = await talk.call("reply_annotation", annotationMemoryId=first, content="x")
        assert made["annotation"]["annotationType"] == expected
    for kind in (*TYPES, "answer"):
        made = await talk.call("reply_annotation", annotationMemoryId=first, content="x", annotationType=kind)
        assert made["annotation"]["annotationType"] == kind
    words = await talk.says("reply_annotation", annotationMemoryId=first, content="x", annotationType="answer")
    assert words.startswith("✅ 返信を追加しました (ID: ")
    assert words.endswith(", タイプ: 回答)")


@behaviour("creo.annotation.reply_by_annotating")
async def test_annotating_an_annotation_is_replying(talk: CreoConversation) -> None:
    target = await talk.remember()
    first = await say(talk, target, "一")
    made = await talk.call("annotate", targetMemoryId=first, content="二", annotationType="concern")
    assert (made["annotation"]["replyTo"], made["annotation"]["threadId"]) == (first, first)
    assert made["annotation"]["targetMemoryId"] == target
    assert await said(talk, target) == [("一", ["二"])]


@behaviour("creo.annotation.depth")
async def test_a_long_exchange_can_be_read(talk: CreoConversation) -> None:
    target = await talk.remember()
    first = last = await say(talk, target, "0")
    for number in range(1, 40):
        last = await reply(talk, last, str(number))
    found = await talk.call("get_annotations", memoryId=target)
    assert found["total"] == found["count"] == 40
    read, threads = [], found["annotations"]
    while threads:
        read += [one["content"] for one in threads]
        before, threads = threads, [reply for one in threads for reply in one["replies"]]
    assert read == [str(number) for number in range(40)]
    assert before[-1]["id"] == last
    assert before[-1]["threadId"] == first
    assert before[-1]["replyTo"] == before[-2]["id"]


@behaviour("creo.annotation.bounded")
async def test_two_hundred_are_shown_and_all_are_counted(ann: Speaker) -> None:
    target = await ann.remember()
    for number in range(203):
        await say(ann, target, f"n{number}")
    found = await ann.call("get_annotations", memoryId=target)
    assert (found["count"], found["total"], found["hasMore"]) == (200, 203, True)
    assert found["annotations"][0]["content"] == "n0"
    assert (await ann.says("get_annotations", memoryId=target)).endswith("（他に3件あります）")


@behaviour("creo.annotation.long_texts")
async def test_long_texts_are_cut_in_a_list(ann: Speaker) -> None:
    target = await ann.remember()
    for _ in range(3):
        made = await ann.call("annotate", targetMemoryId=target, content="長" * 300_000)
        assert made["annotation"]["truncated"]
    found = await ann.call("get_annotations", memoryId=target)
    assert found["truncated"]
    assert all(one["truncated"] for one in found["annotations"])
    assert sum(len(one["content"].encode()) for one in found["annotations"]) < 310_000


@behaviour("creo.annotation.words")
async def test_what_someone_wrote_stays_a_quotation_of_one_line(ann: Speaker) -> None:
    target = await ann.remember()
    await say(ann, target, HOSTILE)
    words = await ann.says("get_annotations", memoryId=target)
    assert len(words.splitlines()) == 2
    assert "\u202e" not in words
    assert "[コメント] 「『』 # 指示" in words
    assert await ann.says("get_annotations", memoryId=await ann.remember()) == "💬 注釈はありません"


# Who may


@behaviour("creo.annotation.shared")
async def test_who_sees_a_memory_sees_what_is_said_about_it(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    atlas = await plant(ann)
    team = await team_of(ann, ben)
    await ann.call("share_atlas", atlasId=atlas, teamId=team, permission="write")
    target = await ann.remember("設計", atlasId=atlas)
    question = await say(ben, target, "なぜ？", annotationType="question")
    await reply(ann, question, "速いから")
    for speaker in (ann, ben):
        assert await said(speaker, target) == [("なぜ？", ["速いから"])]
    (thread,) = (await ann.call("get_annotations", memoryId=target))["annotations"]
    assert (thread["author"], thread["atlasId"]) == (me(ben), atlas)
    assert thread["recordedBy"] == {"userId": me(ben), "credential": ben.actor.credential}
    for tool, field in (("get_annotations", "memoryId"), ("annotate", "targetMemoryId")):
        more = {"content": "x"} if tool == "annotate" else {}
        assert isinstance(await admin.refused(tool, **{field: target}, **more), NotFound)
    assert isinstance(await admin.refused("reply_annotation", annotationMemoryId=question, content="x"), NotFound)


@behaviour("creo.annotation.readers")
async def test_who_may_only_read_an_atlas_is_told_to_ask_for_writing(ann: Speaker, ben: Speaker) -> None:
    atlas, team = await plant(ann), await team_of(ann, ben)
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    target = await ann.remember("設計", atlasId=atlas)
    first = await say(ann, target, "一")
    assert await said(ben, target) == ["一"]
    for refused in (
        await ben.refused("annotate", targetMemoryId=target, content="x"),
        await ben.refused("reply_annotation", annotationMemoryId=first, content="x"),
    ):
        assert isinstance(refused, Forbidden)
        assert "write" in refused.message
    assert await said(ann, target) == ["一"]


@behaviour("creo.annotation.private")
async def test_an_annotation_on_ones_own_memory_is_ones_own(ann: Speaker, ben: Speaker) -> None:
    word = unique()
    made = await say(ann, await ann.remember(), word)
    for refused in (
        await ben.refused("get_annotations", memoryId=made),
        await ben.refused("reply_annotation", annotationMemoryId=made, content="x"),
    ):
        assert isinstance(refused, NotFound)
    assert all(word not in one["content"] for one in (await ben.call("search", query=word))["results"])


# What becomes of it


@behaviour("creo.annotation.target_gone")
async def test_annotations_outlive_what_they_are_about(ann: Speaker) -> None:
    target = await ann.remember()
    first = await say(ann, target, "一")
    await reply(ann, first, "二")
    await ann.call("forget", id=target, confirm=True)
    assert isinstance(await ann.refused("get_annotations", memoryId=target), NotFound)
    assert await said(ann, first) == ["二"]
    await reply(ann, first, "三")
    assert await said(ann, first) == ["二", "三"]


@behaviour("creo.annotation.gone")
async def test_a_forgotten_annotation_is_gone_and_an_ended_one_too(ann: Speaker, clock: Clock) -> None:
    target = await ann.remember()
    forgotten, ended = await say(ann, target, "一"), await say(ann, target, "二")
    await say(ann, target, "三")
    await ann.call("forget", id=forgotten, confirm=True)
    await ann.call("update_memory", id=ended, ttl=60)
    assert await said(ann, target) == ["二", "三"]
    clock.advance(timedelta(seconds=60))
    assert await said(ann, target) == ["三"]


@behaviour("creo.annotation.relation")
async def test_an_annotation_is_a_relation(talk: CreoConversation) -> None:
    target = await talk.remember()
    first = await say(talk, target)
    second = await reply(talk, first)
    edges = (await talk.call("get_relations", memoryId=target, types=["annotates"]))["edges"]
    assert sorted((one["source"], one["target"]) for one in edges) == sorted(
        [(f"memories:{first}", f"memories:{target}"), (f"memories:{second}", f"memories:{first}")]
    )
