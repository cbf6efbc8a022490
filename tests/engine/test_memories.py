from datetime import timedelta

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import MAX_CONTENT_BYTES, Change, Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


async def test_what_is_remembered_is_read_back_to_the_letter(engine: Engine, owner: Actor) -> None:
    draft = Draft(
        "  Décomposé: e\u0301 — 한글 漢字 \u202eRTL\n",
        tags=("b", "a"),
        keywords=("k2", "k1"),
        category="design",
        importance=0.25,
        metadata={"n": 1, "深": ["い"]},
        content_type="markdown",
    )
    kept = await engine.memories.remember(owner, draft)
    read = await engine.memories.get(owner, Reference(id=kept.id))
    assert (read.content, read.tags, read.keywords) == (draft.content, draft.tags, draft.keywords)
    assert (read.category, read.importance, read.metadata) == ("design", 0.25, {"n": 1, "深": ["い"]})
    assert (read.content_type, read.version, read.uses, read.domain) == ("markdown", 1, 0, "user")
    assert read.author == read.reviser == owner.author
    assert read == await engine.memories.get(owner, Reference(block=read.block))


async def test_a_change_keeps_what_was_before_as_a_version(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await engine.memories.remember(owner, Draft("first", tags=("old",), importance=0.1))
    reference = Reference(id=memory.id)
    clock.advance(timedelta(minutes=1))
    revised = await engine.memories.revise(owner.through("second"), reference, Change(content="second", tags=("new",)))
    await engine.memories.revise(owner.through("third"), reference, Change(importance=0.9))
    assert (revised.content, revised.tags, revised.importance, revised.version) == ("second", ("new",), 0.1, 2)
    first, second = await engine.memories.history(owner, reference)
    assert (first.number, first.content, first.tags, first.importance) == (1, "first", ("old",), 0.1)
    assert (second.number, second.content, second.tags, second.importance) == (2, "second", ("new",), 0.1)
    assert (first.author.tool, second.author.tool) == ("test", "second")
    assert first.made_at == memory.created_at
    assert second.made_at == memory.created_at + timedelta(minutes=1)


LABELLED = Draft("text", ("a", "b"), ("k",), "design", 0.5, {"n": 1, "deep": {"is": True}})


@pytest.mark.parametrize(
    "change",
    [
        Change(content="text"),
        Change(tags=("a", "b")),
        Change("text", ("a", "b"), ("k",), "design", 0.5, {"n": 1, "deep": {"is": True}}, "text"),
    ],
)
async def test_what_sets_everything_to_what_it_is_makes_no_version_and_tells_nobody(
    engine: Engine, owner: Actor, clock: Clock, change: Change
) -> None:
    kept = await engine.memories.remember(owner, LABELLED)
    memory = await engine.memories.get(owner, Reference(id=kept.id))
    before = await engine.events.last()
    clock.advance(timedelta(minutes=1))
    assert await engine.memories.revise(owner, Reference(id=memory.id), change) == memory
    assert await engine.memories.history(owner, Reference(id=memory.id)) == []
    assert await engine.events.last() == before


@pytest.mark.parametrize(
    "change",
    [
        Change(content="text "),
        Change(tags=("b", "a")),
        Change(tags=()),
        Change(keywords=()),
        Change(category=""),
        Change(importance=0.51),
        Change(metadata={"n": True, "deep": {"is": True}}),
        Change(metadata={}),
        Change(content_type="markdown"),
        Change(content="text", importance=0.0),
    ],
)
async def test_the_least_difference_is_a_change(engine: Engine, owner: Actor, change: Change) -> None:
    memory = await engine.memories.remember(owner, LABELLED)
    revised = await engine.memories.revise(owner, Reference(id=memory.id), change)
    assert revised.version == 2
    assert all(getattr(revised, name) == getattr(change, name) for name in change.fields)


async def test_after_a_change_the_new_text_is_found_and_the_old_is_not(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("the zebra sleeps"))
    await engine.memories.revise(owner, Reference(id=memory.id), Change(content="the giraffe sleeps"))
    giraffe = (await engine.recall.recall(owner, Question("giraffe"))).hits[0]
    zebra = (await engine.recall.recall(owner, Question("zebra"))).hits
    assert giraffe.memory.content == "the giraffe sleeps"
    assert all(hit.reasons["lexical"] == 0 for hit in zebra)


async def test_a_change_of_nothing_is_refused(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("x"))
    with pytest.raises(Invalid):
        await engine.memories.revise(owner, Reference(id=memory.id), Change())


async def test_what_ended_is_gone_at_that_instant_before_any_sweep(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await engine.memories.remember(owner, Draft("passing", ttl=timedelta(minutes=5)))
    clock.advance(timedelta(minutes=5) - timedelta(microseconds=1))
    assert (await engine.recall.recall(owner, Question("passing"))).hits
    clock.advance(timedelta(microseconds=1))
    with pytest.raises(NotFound):
        await engine.memories.get(owner, Reference(id=memory.id))
    assert not (await engine.recall.recall(owner, Question("passing"))).hits
    assert (await engine.memories.page(owner, 10)).total == 0
    assert await engine.memories.sweep() == 1
    assert await engine.memories.sweep() == 0


async def test_a_promoted_memory_stays_and_gets_its_block(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await engine.memories.remember(owner, Draft("maybe", ttl=timedelta(hours=1)))
    assert memory.block is None
    promoted = await engine.memories.set_end(owner, Reference(id=memory.id), None)
    assert promoted.block == 0
    clock.advance(timedelta(days=365))
    assert await engine.memories.sweep() == 0
    assert (await engine.memories.get(owner, Reference(block=0))).content == "maybe"
    assert (await engine.chain.verify(owner)).valid


async def test_a_permanent_memory_can_be_given_an_end(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await engine.memories.remember(owner, Draft("for now"))
    await engine.memories.set_end(owner, Reference(id=memory.id), timedelta(hours=1))
    clock.advance(timedelta(hours=2))
    assert await engine.memories.sweep() == 1
    assert (await engine.chain.verify(owner)).valid


async def test_forgetting_leaves_the_chain_valid(engine: Engine, owner: Actor) -> None:
    memories = [await engine.memories.remember(owner, Draft(f"number {n}")) for n in range(5)]
    await engine.memories.forget(owner, Reference(id=memories[2].id))
    with pytest.raises(NotFound):
        await engine.memories.get(owner, Reference(block=2))
    verdict = await engine.chain.verify(owner)
    assert (verdict.valid, verdict.total) == (True, 5)


async def test_every_deed_is_an_event_without_the_text(engine: Engine, owner: Actor, clock: Clock) -> None:
    kept = await engine.memories.remember(owner, Draft("quiet words"))
    passing = await engine.memories.remember(owner, Draft("quieter words", ttl=timedelta(hours=1)))
    await engine.memories.revise(owner, Reference(id=kept.id), Change(importance=0.9))
    await engine.memories.set_end(owner, Reference(id=kept.id), timedelta(hours=1))
    await engine.memories.set_end(owner, Reference(id=kept.id), None)
    await engine.memories.forget(owner, Reference(id=kept.id))
    clock.advance(timedelta(hours=1))
    await engine.memories.sweep(owner)
    events = await engine.events.visible(owner, 0)
    assert [event.kind for event in events] == [
        EventKind.REMEMBERED,
        EventKind.REMEMBERED,
        EventKind.REVISED,
        EventKind.EXTENDED,
        EventKind.PROMOTED,
        EventKind.FORGOTTEN,
        EventKind.EXPIRED,
    ]
    assert [event.number for event in events] == list(range(1, 8))
    assert events[-1].memory == passing.id
    assert all("words" not in repr(event.detail) for event in events)


async def test_links_are_written_with_the_memory(engine: Engine, owner: Actor) -> None:
    source = await engine.memories.remember(owner, Draft("source"))
    derived = await engine.memories.remember(owner, Draft("derived", links=((LinkKind.DERIVED_FROM, source.id),)))
    links = await engine.store.read(lambda tx: tx.links.of(source.id))
    assert [(link.source, link.target, link.kind) for link in links] == [(derived.id, source.id, LinkKind.DERIVED_FROM)]


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (Draft(""), "content"),
        (Draft(" \n "), "content"),
        (Draft("\u200b\u200b"), "content"),
        (Draft("nul \x00"), "content"),
        (Draft("lone \ud800"), "content"),
        (Draft("x" * (MAX_CONTENT_BYTES + 1)), "content"),
        (Draft("x", tags=tuple(map(str, range(21)))), "tags"),
        (Draft("x", tags=("",)), "tags"),
        (Draft("x", keywords=tuple(map(str, range(51)))), "keywords"),
        (Draft("x", importance=1.01), "importance"),
        (Draft("x", importance=float("nan")), "importance"),
        (Draft("x", ttl=timedelta(seconds=59)), "ttl"),
        (Draft("x", ttl=timedelta(days=31)), "ttl"),
    ],
)
async def test_what_cannot_be_kept_is_refused_by_name(engine: Engine, owner: Actor, draft: Draft, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        await engine.memories.remember(owner, draft)
    assert refusal.value.field == field
    assert (await engine.memories.page(owner, 1)).total == 0


async def test_labels_are_normalised_and_distinct(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("x", tags=("e\u0301", "é", " é ")))
    assert memory.tags == ("é",)
