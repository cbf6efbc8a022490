"""A memory together with what it names and brings to mind."""

from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import Conflict, Forbidden, Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CollectionId, MemoryId
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.derivations import Lasting
from commonplace.engine.memories import Reference
from commonplace.ports import Transaction
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

NOBODY = MemoryId("01890a5d-ac96-774b-bcce-b302099a8057")


async def user(engine: Engine, name: str, *permissions: Permission) -> Actor:
    allowed = frozenset(permissions or (Permission.READ, Permission.WRITE))
    made = await engine.access.create_key(f"{name}-key", allowed, user=name)
    return (await engine.access.authenticate(made.key)).through("test")


async def kept(engine: Engine, actor: Actor, content: str = "a text", **metadata: Any) -> Memory:
    return (await engine.derivations.remember(actor, Draft(content, metadata=metadata))).memory


async def revised(engine: Engine, actor: Actor, memory: Memory, **change: Any) -> Memory:
    done = await engine.derivations.revise(actor, Reference(id=memory.id), Change(**change))
    return done.memory


async def links(engine: Engine, memory: Memory) -> set[tuple[LinkKind, MemoryId]]:
    """Those that lead from a memory and follow from what it says."""
    found = await engine.store.read(lambda tx: tx.links.of(memory.id))
    kinds = (LinkKind.DERIVED_FROM, LinkKind.REFERENCES)
    return {(link.kind, link.target) for link in found if link.source == memory.id and link.kind in kinds}


# What it names


async def test_a_source_and_a_mention_become_links(engine: Engine, owner: Actor) -> None:
    source, other = await kept(engine, owner, "the source"), await kept(engine, owner, "another")
    memory = await kept(engine, owner, f"as [[{other.id}]] says", derivedFrom=f"memories:{source.id}")
    assert await links(engine, memory) == {(LinkKind.DERIVED_FROM, source.id), (LinkKind.REFERENCES, other.id)}


async def test_the_same_memory_may_be_source_and_mention(engine: Engine, owner: Actor) -> None:
    source = await kept(engine, owner)
    memory = await kept(engine, owner, f"from memory:{source.id}", derivedFrom=[source.id, source.id])
    assert await links(engine, memory) == {(LinkKind.DERIVED_FROM, source.id), (LinkKind.REFERENCES, source.id)}


async def test_an_unknown_mention_is_only_text(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, f"see memories:{NOBODY}")
    assert await links(engine, memory) == set()


async def test_an_unknown_source_is_refused_and_nothing_is_stored(engine: Engine, owner: Actor) -> None:
    with pytest.raises(NotFound) as caught:
        await kept(engine, owner, "never stored", derivedFrom=NOBODY)
    assert (caught.value.what, caught.value.name) == ("memory", NOBODY)
    assert (await engine.memories.page(owner, 10)).total == 0


async def test_what_another_user_has_is_as_unknown_as_what_never_was(engine: Engine, owner: Actor) -> None:
    ben = await user(engine, "ben")
    secret = await kept(engine, owner, "a secret")
    with pytest.raises(NotFound) as caught:
        await kept(engine, ben, "mine", derivedFrom=secret.id)
    with pytest.raises(NotFound) as absent:
        await kept(engine, ben, "mine", derivedFrom=NOBODY)
    assert str(caught.value).replace(secret.id, "") == str(absent.value).replace(NOBODY, "")
    assert await links(engine, await kept(engine, ben, f"see [[{secret.id}]]")) == set()


async def test_links_follow_what_a_memory_says(engine: Engine, owner: Actor) -> None:
    one, two, three = [await kept(engine, owner, text) for text in ("one", "two", "three")]
    memory = await kept(engine, owner, f"[[{one.id}]] and [[{two.id}]]", derivedFrom=one.id)
    await revised(engine, owner, memory, content=f"[[{two.id}]] and [[{three.id}]]")
    assert await links(engine, memory) == {
        (LinkKind.DERIVED_FROM, one.id), (LinkKind.REFERENCES, two.id), (LinkKind.REFERENCES, three.id),
    }  # fmt: skip
    await revised(engine, owner, memory, metadata={"derivedFrom": [three.id]})
    assert (LinkKind.DERIVED_FROM, three.id) in await links(engine, memory)
    assert (LinkKind.DERIVED_FROM, one.id) not in await links(engine, memory)
    await revised(engine, owner, memory, metadata={"derivedFrom": None}, content="nothing")
    assert await links(engine, memory) == set()


async def test_links_of_another_origin_stay(engine: Engine, owner: Actor) -> None:
    one, two = await kept(engine, owner, "one"), await kept(engine, owner, "two")
    memory = (await engine.derivations.remember(owner, Draft(f"[[{one.id}]]", links=()))).memory
    await engine.links.connect(owner, Reference(id=memory.id), Reference(id=two.id))
    await revised(engine, owner, memory, content="nothing")
    found = await engine.store.read(lambda tx: tx.links.of(memory.id))
    assert [(link.kind, link.target) for link in found if link.kind is LinkKind.MANUAL] == [(LinkKind.MANUAL, two.id)]


async def test_a_memory_that_names_itself_is_not_linked_to_itself(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner)
    await revised(engine, owner, memory, content=f"I am [[{memory.id}]]", metadata={"derivedFrom": memory.id})
    assert await links(engine, memory) == set()


async def test_a_source_that_has_gone_does_not_hinder_other_changes(engine: Engine, owner: Actor) -> None:
    source = await kept(engine, owner)
    memory = await kept(engine, owner, "from it", derivedFrom=source.id)
    await engine.memories.forget(owner, Reference(id=source.id))
    assert (await revised(engine, owner, memory, metadata={"more": 1})).metadata["more"] == 1


async def test_who_may_not_read_makes_no_links_and_is_reminded_of_nothing(engine: Engine, owner: Actor) -> None:
    there = await kept(engine, owner, "something to find")
    writer = await user(engine, "owner", Permission.WRITE)
    done = await engine.derivations.remember(writer, Draft(f"something to find [[{there.id}]]"))
    assert done.related == ()
    assert await links(engine, done.memory) == set()


# What it brings to mind


async def test_earlier_memories_that_are_alike_come_to_mind(engine: Engine, owner: Actor) -> None:
    for number in range(4):
        await kept(engine, owner, "the database is PostgreSQL" + "." * number)
    await kept(engine, owner, "cats sleep all day long")
    done = await engine.derivations.remember(owner, Draft("the database is PostgreSQL!"))
    assert len(done.related) == 3
    assert all(hit.similarity >= 0.6 for hit in done.related)
    assert done.memory.id not in {hit.memory.id for hit in done.related}
    assert {hit.memory.content[:8] for hit in done.related} == {"the data"}


async def test_nothing_of_others_comes_to_mind(engine: Engine, owner: Actor) -> None:
    await kept(engine, owner, "the database is PostgreSQL")
    ben = await user(engine, "ben")
    assert (await engine.derivations.remember(ben, Draft("the database is PostgreSQL"))).related == ()


async def test_what_has_ended_does_not_come_to_mind(engine: Engine, owner: Actor, clock: Clock) -> None:
    await engine.memories.remember(owner, Draft("the database is PostgreSQL", ttl=timedelta(minutes=1)))
    clock.advance(timedelta(minutes=1))
    assert (await engine.derivations.remember(owner, Draft("the database is PostgreSQL"))).related == ()


async def test_a_text_is_embedded_once(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    await kept(engine, owner)
    before = sum(embedder.batches)
    await kept(engine, owner, "one short text")
    assert sum(embedder.batches) == before + 1


async def test_without_a_model_a_memory_is_kept_all_the_same(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    embedder.broken = "no model"
    done = await engine.derivations.remember(owner, Draft("kept"))
    assert done.related == ()
    assert (await engine.memories.get(owner, Reference(id=done.memory.id))).content == "kept"


# Labels and places


async def test_labels_are_put_on_with_it_or_nothing_is_stored(engine: Engine, owner: Actor) -> None:
    label = await engine.labels.create(owner, "重要")
    memory = (await engine.derivations.remember(owner, Draft("labelled"), labels=(label.id,))).memory
    assert [one.id for one in (await engine.labels.of(owner, Reference(id=memory.id))).labels] == [label.id]
    ben = await user(engine, "ben")
    for unknown in (label.id, NOBODY):
        with pytest.raises(NotFound) as caught:
            await engine.derivations.remember(ben, Draft("never stored"), labels=(unknown,))
        assert caught.value.what == "label"
    assert (await engine.memories.page(ben, 10)).total == 0


async def test_a_key_for_a_part_knows_no_labels(engine: Engine, owner: Actor) -> None:
    label = await engine.labels.create(owner, "重要")
    with pytest.raises(Forbidden):
        await engine.derivations.remember(owner.within(frozenset()), Draft("x"), labels=(label.id,))


async def test_a_place_that_is_no_atlas_of_the_callers_is_not_found(engine: Engine, owner: Actor) -> None:
    ben = await user(engine, "ben")
    home = await engine.store.read(lambda tx: tx.collections.numbered(tx.home(owner.user)))
    assert home
    for unknown in (home.id, CollectionId(NOBODY)):
        with pytest.raises(NotFound) as caught:
            await engine.derivations.remember(ben, Draft("x", home=unknown))
        assert (caught.value.what, caught.value.name) == ("atlas", unknown)


# Changing


async def test_an_equal_text_is_neither_embedded_again_nor_a_new_version(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    memory = await kept(engine, owner, "the same")
    before = list(embedder.batches)
    assert (await revised(engine, owner, memory, content="the same")).version == 1
    assert (await revised(engine, owner, memory, content="the same", tags=("new",))).version == 2
    assert (await revised(engine, owner, memory, metadata={"a": 1})).version == 3
    assert embedder.batches == before
    await revised(engine, owner, memory, content="another")
    assert len(embedder.batches) == len(before) + 1


async def test_metadata_is_laid_over_what_is_there_and_null_takes_away(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, a=1, b={"deep": 1}, c=3)
    changed = await revised(engine, owner, memory, metadata={"b": {"other": 2}, "c": None, "d": 4})
    assert changed.metadata == {"a": 1, "b": {"other": 2}, "d": 4}


async def test_metadata_that_grow_too_large_are_refused(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, a="x" * 40_000)
    with pytest.raises(Invalid, match="metadata"):
        await revised(engine, owner, memory, metadata={"b": "x" * 40_000})


async def test_text_and_end_change_together_or_not_at_all(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner)
    at, last = Reference(id=memory.id), await engine.events.last()
    done = await engine.derivations.revise(owner, at, Change(content="new"), lasting=Lasting(timedelta(hours=1)))
    assert done.memory.content == "new"
    assert done.memory.ephemeral
    assert [event.kind for event in await engine.events.after(last)] == [EventKind.REVISED, EventKind.EXTENDED]
    with pytest.raises(NotFound):
        await engine.derivations.revise(owner, at, Change(metadata={"derivedFrom": NOBODY}), lasting=Lasting(None))
    assert (await engine.memories.get(owner, at)).ephemeral


async def test_a_memory_that_stays_is_not_promoted_again(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner)
    last = await engine.events.last()
    done = await engine.derivations.revise(owner, Reference(id=memory.id), Change(), lasting=Lasting(None))
    assert done.before.ephemeral is None
    assert await engine.events.last() == last


async def test_a_promoted_memory_gets_its_block(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("for a while", ttl=timedelta(hours=1)))
    assert memory.block is None
    await engine.derivations.revise(owner, Reference(id=memory.id), Change(), lasting=Lasting(None))
    assert (await engine.memories.get(owner, Reference(id=memory.id))).block is not None


async def test_changing_nothing_is_refused(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner)
    with pytest.raises(Invalid):
        await engine.derivations.revise(owner, Reference(id=memory.id), Change())


async def test_a_text_that_was_changed_meanwhile_is_a_conflict(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "first")

    def work(tx: Transaction) -> None:
        tx.revise(memory, Change(content="second"), owner.author, memory.created_at, None)
        engine.derivations._revise(tx, owner, Reference(id=memory.id), Change(content="first"), None, None)

    with pytest.raises(Conflict):
        await engine.store.write(work)
    assert (await engine.memories.get(owner, Reference(id=memory.id))).content == "first"


# The latest


async def test_the_latest_are_those_stored_last(engine: Engine, owner: Actor, clock: Clock) -> None:
    ben = await user(engine, "ben")
    await kept(engine, ben, "of another")
    ended = await engine.memories.remember(owner, Draft("ended", ttl=timedelta(minutes=1)))
    texts = [(await kept(engine, owner, f"text {number}")).content for number in range(4)]
    assert [memory.content for memory in await engine.memories.latest(owner, 3)] == texts[:0:-1]
    clock.advance(timedelta(minutes=1))
    assert ended.id not in {memory.id for memory in await engine.memories.latest(owner, 9)}
    assert [memory.content for memory in await engine.memories.latest(ben, 9)] == ["of another"]
    assert await engine.memories.latest(owner.within(frozenset()), 9) == []


async def test_the_latest_of_ones_own_are_told_from_those_of_others(engine: Engine, owner: Actor) -> None:
    everyones = await engine.collections.everyones()
    await engine.memories.remember(owner, Draft("for all to read", home=everyones))
    ben = await user(engine, "ben")
    mine = await kept(engine, ben, "mine")
    await engine.memories.remember(owner, Draft("later, for all to read", home=everyones))
    assert len(await engine.memories.latest(ben, 5)) == 3
    assert [memory.id for memory in await engine.memories.latest(ben, 5, own=True)] == [mine.id]


async def test_a_limited_key_puts_no_labels_of_its_user_on_what_it_keeps(engine: Engine, owner: Actor) -> None:
    atlas = (await engine.atlases.create(owner, Sketch("an atlas"))).collection.id
    label = await engine.labels.create(owner, "mine")
    limited, draft = owner.within(frozenset({atlas})), Draft("a text", home=atlas)
    with pytest.raises(Forbidden):
        await engine.derivations.remember(limited, draft, labels=(label.id,))
    assert (await engine.derivations.remember(limited, draft)).memory.content == "a text"
