"""Memories that a session moved go back to where they were before it, except where others have moved them since."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.collection import Kind
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from tests.engine.gardening import Gardener
from tests.engine.undoing import House, housed
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(engine: Engine, owner: Actor) -> House:
    return housed(engine, owner)


@pytest.fixture
async def garden(house: House) -> CollectionId:
    return await project(house, "garden")


@pytest.fixture
async def kept(house: House) -> Memory:
    made = await house.tom.engine.memories.remember(house.tom.actor, Draft("private"))
    return await house.tom.engine.memories.get(house.tom.actor, Reference(made.id))


async def project(house: House, name: str) -> CollectionId:
    return (await house.tom.engine.collections.found(house.tom.actor, Kind.PROJECT, name)).collection.id


async def move(who: Gardener, memory: Memory, to: CollectionId | None) -> None:
    await who.engine.collections.move(who.actor, [Reference(memory.id)], to)


async def place(house: House, memory: Memory) -> CollectionId:
    return (await house.person.engine.memories.get(house.person.actor, Reference(memory.id))).collection


async def test_a_move_is_taken_back(house: House, kept: Memory, garden: CollectionId) -> None:
    await move(house.sam, kept, garden)
    assert await house.taken_back() == ["moved back"]
    assert await place(house, kept) == kept.collection


async def test_a_memory_moved_twice_goes_back_in_one_step(house: House, kept: Memory, garden: CollectionId) -> None:
    await move(house.sam, kept, garden)
    await move(house.sam, kept, await project(house, "orchard"))
    assert await house.taken_back() == ["moved back"]
    assert await place(house, kept) == kept.collection


async def test_a_memory_that_is_where_it_was_is_not_moved(house: House, kept: Memory, garden: CollectionId) -> None:
    await move(house.sam, kept, garden)
    await move(house.sam, kept, None)
    assert await house.taken_back() == []


async def test_a_move_that_was_taken_back_is_no_move_by_another(
    house: House, kept: Memory, garden: CollectionId
) -> None:
    await move(house.sam, kept, garden)
    await house.taken_back()
    undone = await house.take_back()
    assert (undone.steps, undone.settled) == ((), 1)


async def test_a_memory_made_and_moved_is_removed_and_then_no_more_is_said_of_it(
    house: House, garden: CollectionId
) -> None:
    made = await house.sam.engine.memories.remember(house.sam.actor, Draft("made"))
    await move(house.sam, made, garden)
    assert await house.taken_back() == ["moved back", "removed"]
    undone = await house.take_back()
    assert (undone.steps, undone.settled) == ((), 1)


async def test_what_another_has_moved_since_stays_there_and_is_named(
    house: House, kept: Memory, garden: CollectionId
) -> None:
    orchard = await project(house, "orchard")
    await move(house.sam, kept, garden)
    await move(house.tom, kept, orchard)
    (left,) = (await house.take_back()).left
    assert left.reason == "it was moved later by someone else"
    assert await place(house, kept) == orchard


async def test_what_has_ended_with_the_session_it_was_moved_into_is_named(
    house: House, kept: Memory, clock: Clock
) -> None:
    engine, tom = house.tom.engine, house.tom.actor
    visit = (await engine.collections.found(tom, Kind.SESSION, "visit", length=timedelta(hours=1))).collection
    await move(house.sam, kept, visit.id)
    clock.advance(timedelta(hours=2))
    await engine.memories.sweep()
    (left,) = (await house.take_back()).left
    assert left.reason == "it has ended where it was moved to: it is gone for good"
