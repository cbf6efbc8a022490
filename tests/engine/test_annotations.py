from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.annotation import AnnotationType, Remark, threads
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.annotations import MOST_SHOWN
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.engine.test_collections import ABSENT, at, keep, project, user
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

COMMENT, QUESTION, ANSWER = AnnotationType.COMMENT, AnnotationType.QUESTION, AnnotationType.ANSWER


async def say(
    engine: Engine, actor: Actor, about: Memory, text: str = "a remark", kind: AnnotationType = COMMENT
) -> Memory:
    return (await engine.annotations.annotate(actor, at(about), text, kind)).memory


async def reply(
    engine: Engine, actor: Actor, about: Memory, text: str = "a reply", kind: AnnotationType | None = None
) -> Memory:
    return (await engine.annotations.reply(actor, at(about), text, kind)).memory


async def said(engine: Engine, actor: Actor, about: Memory, **more: object) -> list[tuple[str, int]]:
    """The texts of a discussion with their depths."""
    discussion = await engine.annotations.of(actor, at(about), **more)  # type: ignore[arg-type]
    assert discussion.total == len(discussion.annotations)
    return [(one.memory.content, one.depth) for one in discussion.annotations]


async def test_an_annotation_is_a_memory_beside_the_one_it_is_about(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    made = await engine.annotations.annotate(owner, at(target), "why **so**?", QUESTION, "markdown")
    memory = await engine.memories.get(owner, at(made.memory))
    assert made.about == target.id
    assert (memory.content, memory.category, memory.content_type) == ("why **so**?", "annotation", "markdown")
    assert memory.metadata == {"annotationType": "question", "targetMemoryId": target.id, "threadId": memory.id}
    assert memory.home == target.home
    assert memory.author == owner.author
    (link,) = await engine.store.read(lambda tx: tx.links.of(memory.id))
    assert (link.source, link.target, link.kind) == (memory.id, target.id, LinkKind.ANNOTATES)


async def test_annotations_are_found_like_any_memory(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    made = await say(engine, owner, target, "marmalade trombones")
    hits = (await engine.recall.recall(owner, Question("marmalade trombones"))).hits
    assert hits[0].memory.id == made.id


async def test_threads_are_as_deep_as_the_talk(engine: Engine, owner: Actor, clock: Clock) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, "1")
    second = await say(engine, owner, target, "2")
    a = await reply(engine, owner, first, "1.1")
    await reply(engine, owner, second, "2.1")
    await reply(engine, owner, first, "1.2")
    clock.advance(timedelta(days=1))
    await reply(engine, owner, a, "1.1.1")
    expected = [("1", 0), ("1.1", 1), ("1.1.1", 2), ("1.2", 1), ("2", 0), ("2.1", 1)]
    assert await said(engine, owner, target) == expected
    assert await said(engine, owner, target, replies=False) == [("1", 0), ("2", 0)]
    assert await said(engine, owner, first) == [("1.1", 0), ("1.1.1", 1), ("1.2", 0)]


async def test_each_annotation_knows_what_it_answers_and_how_many_answer_it(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target)
    second = await reply(engine, owner, first)
    third = await reply(engine, owner, second)
    discussion = await engine.annotations.of(owner, at(target))
    assert [(one.memory.id, one.about, one.replies) for one in discussion.annotations] == [
        (first.id, target.id, 2),
        (second.id, first.id, 1),
        (third.id, second.id, 0),
    ]


async def test_replies_stay_in_their_thread_and_with_its_memory(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, kind=QUESTION)
    second = await reply(engine, owner, first)
    third = await say(engine, owner, second, "annotating a reply is replying", AnnotationType.CONCERN)
    for memory, before in ((second, first), (third, second)):
        assert memory.metadata["targetMemoryId"] == target.id
        assert memory.metadata["threadId"] == first.id
        assert memory.metadata["replyTo"] == before.id
    assert third.metadata["annotationType"] == "concern"


@pytest.mark.parametrize("kind", list(AnnotationType))
async def test_a_question_is_answered_and_anything_else_is_commented_on(
    engine: Engine, owner: Actor, kind: AnnotationType
) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, kind=kind)
    expected = "answer" if kind is QUESTION else "comment"
    assert (await reply(engine, owner, first)).metadata["annotationType"] == expected
    chosen = await reply(engine, owner, first, kind=AnnotationType.APPROVAL)
    assert chosen.metadata["annotationType"] == "approval"


async def test_a_kind_chooses_among_threads_and_brings_their_replies(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    question = await say(engine, owner, target, "q", QUESTION)
    comment = await say(engine, owner, target, "c")
    await reply(engine, owner, question, "a")
    await reply(engine, owner, comment, "cq", QUESTION)
    assert await said(engine, owner, target, kind=QUESTION) == [("q", 0), ("a", 1)]
    assert await said(engine, owner, target, kind=COMMENT) == [("c", 0), ("cq", 1)]
    assert await said(engine, owner, target, kind=ANSWER) == []


async def test_only_an_annotation_can_be_replied_to(engine: Engine, owner: Actor) -> None:
    plain = await keep(engine, owner, "the plan")
    anna = await user(engine, "anna")
    hidden = await say(engine, anna, await keep(engine, anna, "hers"))
    messages = []
    for reference in (at(plain), at(hidden), Reference(id=ABSENT)):  # type: ignore[arg-type]
        with pytest.raises(NotFound) as caught:
            await engine.annotations.reply(owner, reference, "text")
        assert caught.value.name == str(reference)
        messages.append(caught.value.what)
    assert messages == ["annotation"] * 3


async def test_what_cannot_be_seen_can_neither_be_annotated_nor_read_about(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    hers = await keep(engine, anna, "hers")
    for reference in (at(hers), Reference(id=ABSENT)):  # type: ignore[arg-type]
        with pytest.raises(NotFound):
            await engine.annotations.annotate(owner, reference, "text", COMMENT)
        with pytest.raises(NotFound):
            await engine.annotations.of(owner, reference)
    assert await said(engine, anna, hers) == []


async def test_who_shares_a_memory_shares_what_is_said_about_it(engine: Engine, owner: Actor) -> None:
    anna, bert, carla = [await user(engine, name) for name in ("anna", "bert", "carla")]
    home = await project(engine, anna, bert=Right.WRITE, carla=Right.READ)
    target = await keep(engine, anna, "the plan", home)
    first = await say(engine, bert, target, "from bert", QUESTION)
    await reply(engine, anna, first, "from anna")
    for reader in (anna, bert, carla):
        assert await said(engine, reader, target) == [("from bert", 0), ("from anna", 1)]
    with pytest.raises(NotFound):
        await engine.annotations.of(owner, at(target))


async def test_who_may_only_read_is_told_that_writing_is_missing(engine: Engine) -> None:
    anna, carla = [await user(engine, name) for name in ("anna", "carla")]
    target = await keep(engine, anna, "the plan", await project(engine, anna, carla=Right.READ))
    first = await say(engine, anna, target)
    for attempt in (
        engine.annotations.annotate(carla, at(target), "text", COMMENT),
        engine.annotations.reply(carla, at(first), "text"),
    ):
        with pytest.raises(Forbidden, match="write"):
            await attempt


async def test_a_key_that_only_reads_does_not_annotate(engine: Engine) -> None:
    reader = await user(engine, "dora", frozenset({Permission.READ}))
    with pytest.raises(Forbidden, match="write"):
        await engine.annotations.annotate(reader, Reference(id=ABSENT), "text", COMMENT)  # type: ignore[arg-type]


async def test_texts_are_checked(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target)
    for text in ("", " \n", "a\x00b", "\ud800", "x" * (1024 * 1024 + 1)):
        with pytest.raises(Invalid):
            await engine.annotations.annotate(owner, at(target), text, COMMENT)
        with pytest.raises(Invalid):
            await engine.annotations.reply(owner, at(first), text)
    assert await said(engine, owner, target) == [("a remark", 0)]


async def test_what_was_said_outlives_what_it_was_about(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target)
    second = await reply(engine, owner, first)
    await engine.memories.forget(owner, at(target))
    assert (await engine.memories.get(owner, at(first))).content == "a remark"
    assert await said(engine, owner, first) == [("a reply", 0)]
    assert (await reply(engine, owner, second, "still going")).metadata["threadId"] == first.id


async def test_what_has_ended_is_not_among_the_annotations(engine: Engine, owner: Actor, clock: Clock) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target)
    await engine.memories.set_end(owner, at(first), timedelta(hours=1))
    assert len(await said(engine, owner, target)) == 1
    clock.advance(timedelta(hours=1))
    assert await said(engine, owner, target) == []


async def test_an_annotation_in_a_session_ends_with_it(engine: Engine, owner: Actor) -> None:
    session = (await engine.collections.found(owner, Kind.SESSION, "s", length=timedelta(hours=2))).collection
    target = await engine.memories.remember(owner, Draft("the plan", home=session.id, ttl=timedelta(hours=2)))
    made = await say(engine, owner, await engine.memories.get(owner, at(target)))
    assert made.ephemeral
    assert made.ephemeral.ends_at == session.ends_at


async def test_an_annotation_that_names_other_memories_refers_to_them(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    target, other = await keep(engine, owner, "the plan"), await keep(engine, owner, "the other plan")
    hers = await keep(engine, anna, "hers")
    text = f"compare memories:{other.id}, [[{hers.id}]] and memories:{target.id}"
    made = await say(engine, owner, target, text)
    links = await engine.store.read(lambda tx: tx.links.of(made.id))
    assert {(link.kind, link.target) for link in links} == {
        (LinkKind.ANNOTATES, target.id),
        (LinkKind.REFERENCES, other.id),
    }


async def test_a_long_discussion_is_shown_in_part_and_counted_whole(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, "first")
    last = first
    for number in range(MOST_SHOWN + 5):
        last = await reply(engine, owner, last, f"reply {number}")
    discussion = await engine.annotations.of(owner, at(target))
    assert discussion.total == MOST_SHOWN + 6
    assert [one.depth for one in discussion.annotations] == list(range(MOST_SHOWN))
    assert discussion.annotations[0].replies == MOST_SHOWN + 5


async def test_metadata_that_someone_has_spoilt_does_no_harm(engine: Engine, owner: Actor) -> None:
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, kind=QUESTION)
    for spoilt in ({}, {"annotationType": ["x"]}, {"annotationType": 5}, {"annotationType": "comment", "threadId": {}}):
        await engine.memories.revise(owner, at(first), Change(metadata=spoilt))
        assert await said(engine, owner, target) == [("a remark", 0)]
        assert len(await said(engine, owner, target, kind=COMMENT)) == 1
    assert (await reply(engine, owner, first)).metadata["threadId"] == first.id


async def test_a_circle_of_annotations_ends(engine: Engine, owner: Actor, clock: Clock) -> None:
    """None is made here, but memories may come from elsewhere with any links."""
    target = await keep(engine, owner, "the plan")
    first = await say(engine, owner, target, "1")
    second = await reply(engine, owner, first, "2")
    for source, aim in ((target, second), (first, second)):
        link = Link(source.id, aim.id, LinkKind.ANNOTATES, 1.0, clock.now())
        await engine.store.write(lambda tx, link=link: tx.links.add(link))  # type: ignore[misc]
    assert await said(engine, owner, target) == [("1", 0), ("2", 1)]


def test_replies_are_counted_through_all_depths() -> None:
    remarks = [Remark(2, 1, "question"), Remark(3, 2, None), Remark(4, 3, None), Remark(5, 1, None), Remark(6, 9, None)]
    assert [(one.number, one.depth, one.replies) for one in threads(remarks, 1)] == [
        (2, 0, 2),
        (3, 1, 1),
        (4, 2, 0),
        (5, 0, 0),
    ]
    assert [one.number for one in threads(remarks, 1, QUESTION)] == [2, 3, 4]


def test_a_thread_may_be_longer_than_a_stack_is_deep() -> None:
    chain = [Remark(number, number - 1, None) for number in range(2, 20_000)]
    placed = threads(chain, 1)
    assert placed[-1].depth == 19_997
    assert placed[0].replies == 19_997
