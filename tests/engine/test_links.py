import threading
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Right
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.link import HALF_LIFE, LASTING, Link, LinkKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.ranking import Scale
from commonplace.engine import Engine
from commonplace.engine.embedding import Embedding
from commonplace.engine.links import FANOUT, IDLE, MOST_RELATED, Evoked
from commonplace.engine.recall import CLOSER, Question
from commonplace.ports import Transaction
from commonplace.settings import Settings
from tests.engine.test_collections import at, keep, project, user
from tests.fakes import Clock, Embedder
from tests.storage.peer import peers

pytestmark = pytest.mark.anyio

CATS = "grey cats sleep on the warm roof"
APART = timedelta(hours=1)


async def ties(engine: Engine, memory: Memory) -> dict[str, tuple[LinkKind, float]]:
    """The other ends of a memory's ties, with kind and strength."""
    links = await engine.store.read(lambda tx: tx.links.of(memory.id))
    return {
        link.target if link.source == memory.id else link.source: (link.kind, round(link.strength, 3)) for link in links
    }


async def store(engine: Engine, actor: Actor, text: str) -> Memory:
    return await engine.memories.remember(actor, Draft(text), associate=True)


async def test_a_text_is_tied_to_what_is_close_when_it_is_stored(engine: Engine, owner: Actor, clock: Clock) -> None:
    close = await store(engine, owner, CATS)
    await store(engine, owner, "invoice numbers for september")
    clock.advance(APART)
    found = await ties(engine, await store(engine, owner, f"{CATS} at noon"))
    assert found.keys() == {close.id}
    assert found[close.id][0] is LinkKind.SEMANTIC
    assert found[close.id][1] >= 0.7


async def test_a_text_is_tied_to_what_its_author_wrote_just_before(engine: Engine, owner: Actor, clock: Clock) -> None:
    words = ("ostriches", "marmalade", "trombones", "glaciers", "umbrellas")
    written = []
    for word in words:
        written.append(await store(engine, owner, word))
        clock.advance(timedelta(minutes=2))
    found = await ties(engine, await store(engine, owner, "pomegranates"))
    assert found == {
        written[4].id: (LinkKind.TEMPORAL, 0.32),
        written[3].id: (LinkKind.TEMPORAL, 0.12),
        written[2].id: (LinkKind.TEMPORAL, 0.053),
    }


async def test_no_tie_leads_out_of_a_collection_by_itself(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    await store(engine, anna, CATS)
    home = await project(engine, anna)
    shared = await engine.memories.remember(anna, Draft(CATS, home=home), associate=True)
    mine = await store(engine, owner, CATS)
    assert await ties(engine, shared) == await ties(engine, mine) == {}


async def test_memories_recalled_together_grow_closer(engine: Engine, owner: Actor, clock: Clock) -> None:
    one = await store(engine, owner, CATS)
    clock.advance(APART)
    other = await store(engine, owner, f"{CATS} at noon")
    before = (await ties(engine, other))[one.id][1]
    for _ in range(2):  # twice in one round counts once
        await engine.recall.recall(owner, Question(CATS))
    await engine.recall.flush_uses()
    assert (await ties(engine, other))[one.id][1] == pytest.approx(before + (1 - before) * CLOSER, abs=0.002)
    for _ in range(200):
        await engine.recall.recall(owner, Question(CATS))
        await engine.recall.flush_uses()
    assert (await ties(engine, other))[one.id][1] <= 1.0


async def test_ties_fade_unless_used_or_made_by_hand(engine: Engine, owner: Actor, clock: Clock) -> None:
    one = await store(engine, owner, CATS)
    clock.advance(APART)
    other = await store(engine, owner, f"{CATS} at noon")
    hand = await store(engine, owner, "an umbrella")
    await engine.links.connect(owner, at(one), at(hand), 0.9)

    async def strengths() -> dict[str, float]:
        found = await engine.links.related(owner, at(one), depth=1, limit=9)
        return {related.memory.id: related.reached.strength for related in found.related}

    fresh = await strengths()
    clock.advance(HALF_LIFE)
    faded = await strengths()
    assert faded[other.id] == pytest.approx(fresh[other.id] * (LASTING + (1 - LASTING) / 2), abs=0.01)
    assert faded[hand.id] == 0.9
    await engine.recall.recall(owner, Question(CATS))
    await engine.recall.flush_uses()
    assert (await strengths())[other.id] >= fresh[other.id]


async def test_weak_ties_that_nobody_used_for_a_year_go(engine: Engine, owner: Actor, clock: Clock) -> None:
    one, other = await keep(engine, owner, "one"), await keep(engine, owner, "other")
    now = clock.now()

    def tie(tx: Transaction) -> None:
        tx.links.add(Link(one.id, other.id, LinkKind.SEMANTIC, 0.05, now))
        tx.links.add(Link(one.id, other.id, LinkKind.TEMPORAL, 0.5, now))
        tx.links.add(Link(one.id, other.id, LinkKind.MANUAL, 0.05, now))

    await engine.store.write(tie)
    assert await engine.links.forget_faded() == 0
    clock.advance(IDLE + timedelta(days=1))
    assert (await engine.cleaning.waste()).faded_associations == 1
    assert await engine.links.forget_faded() == 1
    links = await engine.store.read(lambda tx: tx.links.of(one.id))
    assert {link.kind for link in links} == {LinkKind.TEMPORAL, LinkKind.MANUAL}


async def test_tying_by_hand_needs_leave_to_change_one_and_see_the_other(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.READ)
    shared, hers = await keep(engine, anna, "shared", home), await keep(engine, anna, "hers")
    his = await keep(engine, bert, "his")
    await engine.links.connect(bert, at(his), at(shared))
    with pytest.raises(Forbidden):
        await engine.links.connect(bert, at(shared), at(his))
    for one, other in ((his, hers), (hers, his)):
        with pytest.raises(NotFound):
            await engine.links.connect(bert, at(one), at(other))
    with pytest.raises(Invalid):
        await engine.links.connect(bert, at(his), at(his))
    with pytest.raises(Invalid):
        await engine.links.connect(bert, at(his), at(shared), 1.5)
    assert await engine.links.disconnect(bert, at(his), at(shared)) == 1
    with pytest.raises(NotFound):
        await engine.links.disconnect(bert, at(his), at(shared))


async def test_nobody_is_led_past_what_it_may_not_see(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.READ)
    first, last = await keep(engine, anna, "first", home), await keep(engine, anna, "last", home)
    between = await keep(engine, anna, "between")
    await engine.links.connect(anna, at(first), at(between))
    await engine.links.connect(anna, at(between), at(last))
    assert len((await engine.links.related(anna, at(first), depth=2, limit=9)).related) == 2
    assert await engine.links.related(bert, at(first), depth=5, limit=9) == Evoked(())


async def test_what_was_deleted_or_has_ended_comes_to_nobodys_mind(engine: Engine, owner: Actor, clock: Clock) -> None:
    hub, gone = await keep(engine, owner, "hub"), await keep(engine, owner, "gone")
    ending = await engine.memories.remember(owner, Draft("ending", ttl=timedelta(hours=1)))
    for other in (gone, ending):
        await engine.links.connect(owner, at(hub), at(other))
    await engine.memories.forget(owner, at(gone))
    assert [r.memory.id for r in (await engine.links.related(owner, at(hub), depth=1, limit=9)).related] == [ending.id]
    clock.advance(timedelta(hours=1))
    assert await engine.links.related(owner, at(hub), depth=1, limit=9) == Evoked(())


async def test_of_many_ties_the_strongest_are_followed(engine: Engine, owner: Actor, clock: Clock) -> None:
    hub = await keep(engine, owner, "hub")
    spokes = [await keep(engine, owner, f"spoke {number}") for number in range(300)]
    now = clock.now()

    def tie(tx: Transaction) -> None:
        for number, spoke in enumerate(spokes):
            tx.links.add(Link(hub.id, spoke.id, LinkKind.MANUAL, 1 - number / 1000, now))

    await engine.store.write(tie)
    found = await engine.links.related(owner, at(hub), depth=2, limit=10)
    assert [related.memory.id for related in found.related] == [spoke.id for spoke in spokes[:10]]
    everything = await engine.links.related(owner, at(hub), depth=1, limit=MOST_RELATED)
    assert [related.memory.id for related in everything.related] == [spoke.id for spoke in spokes[:MOST_RELATED]]


# In the background


async def discover(engine: Engine) -> None:
    while await engine.links.discover():
        continue


async def test_what_other_dialects_store_is_tied_in_the_background(engine: Engine, owner: Actor, clock: Clock) -> None:
    first = await keep(engine, owner, CATS)
    clock.advance(timedelta(minutes=5))
    second = await keep(engine, owner, "an umbrella")
    clock.advance(APART)
    third = await keep(engine, owner, f"{CATS} at noon")
    assert await ties(engine, third) == {}
    await discover(engine)
    assert (await ties(engine, third)).keys() == {first.id}
    assert (await ties(engine, second)) == {first.id: (LinkKind.TEMPORAL, 0.2)}
    assert await engine.links.discover() == 0


async def test_much_stored_at_once_is_tied_in_time_however_late_it_is_looked_at(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    words = [f"{letter * 7}ish" for letter in "abcdefghijkl"]
    kept = []
    for word in words:
        kept.append(await keep(engine, owner, word))
        clock.advance(timedelta(minutes=1))
    clock.advance(timedelta(days=1))
    await discover(engine)
    for number, memory in enumerate(kept):
        found = await ties(engine, memory)
        before, after = kept[max(number - 3, 0) : number], kept[number + 1 : number + 4]
        assert found.keys() == {one.id for one in (*before, *after)}
        assert {kind for kind, _ in found.values()} == {LinkKind.TEMPORAL}


async def test_as_many_close_ones_are_tied_as_at_once(engine: Engine, owner: Actor, clock: Clock) -> None:
    for number in range(6):
        await keep(engine, owner, f"{CATS} {number}")
        clock.advance(APART)
    last = await keep(engine, owner, CATS)
    await discover(engine)
    links = await engine.store.read(lambda tx: tx.links.of(last.id))
    assert len([link for link in links if link.source == last.id and link.kind is LinkKind.SEMANTIC]) == 5


async def test_a_rewritten_text_loses_the_ties_of_its_old_words_and_finds_new_ones(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    cats = await store(engine, owner, CATS)
    clock.advance(APART)
    changing = await store(engine, owner, f"{CATS} at noon")
    clock.advance(APART)
    invoices = await store(engine, owner, "invoice numbers for the month of september")
    assert (await ties(engine, changing)).keys() == {cats.id}
    await engine.memories.revise(owner, at(changing), Change(content="invoice numbers for the month of september too"))
    await discover(engine)
    assert (await ties(engine, changing)).keys() == {invoices.id}


async def test_a_moved_memory_loses_the_ties_of_its_old_place_and_finds_those_of_the_new_one(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    home = await project(engine, owner)
    there = await engine.memories.remember(owner, Draft(f"{CATS} there", home=home), associate=True)
    clock.advance(APART)
    before = await engine.memories.remember(owner, Draft("marmalade", home=home), associate=True)
    clock.advance(timedelta(minutes=5))
    stays, together = await store(engine, owner, CATS), await store(engine, owner, f"{CATS} together")
    moved = await store(engine, owner, f"{CATS} at noon")
    await engine.links.connect(owner, at(moved), at(hand := await keep(engine, owner, "an umbrella")))
    await discover(engine)
    assert (await ties(engine, moved)).keys() == {stays.id, together.id, hand.id}
    await engine.collections.move(owner, [at(moved), at(together)], home)
    await discover(engine)
    assert (await ties(engine, moved)).keys() == {there.id, before.id, together.id, hand.id}
    assert (await ties(engine, stays)).keys() == {hand.id}
    kinds = {link.kind for link in await engine.store.read(lambda tx: tx.links.between(moved.id, there.id))}
    assert kinds == {LinkKind.SEMANTIC}


async def test_a_move_to_where_a_memory_is_already_takes_no_tie(engine: Engine, owner: Actor, clock: Clock) -> None:
    one, other = await store(engine, owner, CATS), await store(engine, owner, f"{CATS} at noon")
    before = await ties(engine, one)
    assert before.keys() == {other.id}
    await engine.collections.move(owner, [at(one)], None)
    await discover(engine)
    assert await ties(engine, one) == before


async def test_discovery_does_not_undo_what_use_has_strengthened(engine: Engine, owner: Actor, clock: Clock) -> None:
    one = await store(engine, owner, "ostriches")
    clock.advance(timedelta(minutes=5))
    other = await store(engine, owner, "trombones")
    await engine.store.write(lambda tx: tx.links.strengthen(one.number, other.number, 0.5, clock.now()))
    before = await ties(engine, other)
    await discover(engine)
    assert await ties(engine, other) == before


async def test_what_another_embedder_sees_anew_keeps_the_ties_that_it_has(
    folder: Path, engine: Engine, owner: Actor, clock: Clock
) -> None:
    await engine.upkeep.begin()
    first, second = await keep(engine, owner, CATS), await keep(engine, owner, f"{CATS} again")
    clock.advance(APART)
    third = await keep(engine, owner, f"{CATS} at noon")
    await discover(engine)
    assert (await ties(engine, third)).keys() == {first.id, second.id}
    await engine.links.disconnect(owner, at(third), at(first))
    other = build(Settings(data_dir=str(folder), timezone="UTC"), model=Embedder("other", 32), clock=clock)
    assert await other.upkeep.embed_missing() == 3
    await discover(other)
    assert (await ties(other, third)).keys() == {second.id}
    await other.close()


async def test_who_was_killed_while_discovering_is_followed_by_another_within_seconds(
    engine: Engine, owner: Actor, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(engine, owner, CATS)
    at_it, killed = threading.Event(), threading.Event()
    scale = engine.embedding.scale

    def stand_still(embedding: Embedding) -> Scale:
        if not at_it.is_set():
            at_it.set()
            killed.wait()
        return scale

    monkeypatch.setattr(Embedding, "scale", property(stand_still))
    async with anyio.create_task_group() as group:
        group.start_soon(engine.links.discover)
        await anyio.to_thread.run_sync(at_it.wait)
        now = clock.now() + timedelta(seconds=11)
        by_another = await engine.links.discover()
        is_free = await engine.store.write(lambda tx: tx.lease("discovered", "the next", now, now))
        killed.set()
    assert (by_another, is_free) == (0, True)


async def test_two_processes_discover_once(folder: Path, engine: Engine, owner: Actor, clock: Clock) -> None:
    for number in range(5):
        await keep(engine, owner, f"{CATS} {number}")
    with peers(folder, "one", "other") as both:
        for peer in both:
            peer.tell("discover")
        looked = sorted(int(str(peer.answer())) for peer in both)
    assert looked == [0, 5]


async def test_whether_more_comes_to_mind_than_is_shown_is_told(engine: Engine, owner: Actor, clock: Clock) -> None:
    hub = await keep(engine, owner, "hub")
    spokes = [await keep(engine, owner, f"spoke {number}") for number in range(MOST_RELATED + 1)]
    now = clock.now()

    def tie(tx: Transaction) -> None:
        for spoke in spokes[:-1]:
            tx.links.add(Link(hub.id, spoke.id, LinkKind.MANUAL, 0.9, now))

    await engine.store.write(tie)
    for limit, more in ((1, True), (FANOUT, True), (MOST_RELATED - 1, True), (MOST_RELATED, False)):
        found = await engine.links.related(owner, at(hub), depth=2, limit=limit)
        assert (len(found.related), found.more) == (limit, more)
    await engine.links.connect(owner, at(hub), at(spokes[-1]))
    assert (await engine.links.related(owner, at(hub), depth=1, limit=MOST_RELATED)).more


async def test_what_is_tied_more_than_once_takes_no_place_of_another(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    hub = await keep(engine, owner, "hub")
    spokes = [await keep(engine, owner, f"spoke {number}") for number in range(FANOUT)]
    now = clock.now()

    def tie(tx: Transaction) -> None:
        for spoke in spokes:
            for kind in (LinkKind.MANUAL, LinkKind.SEMANTIC, LinkKind.TEMPORAL):
                tx.links.add(Link(hub.id, spoke.id, kind, 0.9, now))

    await engine.store.write(tie)
    for limit in (FANOUT - 1, FANOUT):
        found = await engine.links.related(owner, at(hub), depth=1, limit=limit)
        assert (len(found.related), found.more) == (limit, limit < FANOUT)
