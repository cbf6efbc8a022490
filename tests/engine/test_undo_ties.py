"""Ties that a session put on or took off are taken back with it, except for what others want as well."""

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from tests.engine.undoing import House, housed

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(engine: Engine, owner: Actor) -> House:
    return housed(engine, owner)


async def test_a_tie_made_by_hand_is_taken_back(house: House) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    one = await engine.memories.remember(house.tom.actor, Draft("one"))
    other = await engine.memories.remember(house.tom.actor, Draft("quite another"))
    await engine.links.connect(sam, Reference(one.id), Reference(other.id))
    assert await house.taken_back() == ["tie removed"]
    assert not await engine.links.of(sam, Reference(one.id))


async def test_a_tie_taken_off_is_put_back_whether_it_was_made_or_found(house: House) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    one = Reference((await engine.memories.remember(house.tom.actor, Draft("one"))).id)
    other = await engine.memories.remember(house.tom.actor, Draft("quite another"))
    found = await engine.memories.remember(house.tom.actor, Draft("quite another thing"), associate=True)
    await engine.links.connect(house.tom.actor, one, Reference(other.id))
    before = await engine.links.of(sam, Reference(found.id))
    await engine.links.disconnect(sam, one, Reference(other.id))
    await engine.links.disconnect(sam, Reference(found.id), Reference(other.id))
    assert await house.taken_back() == ["tie put back", "tie put back"]
    (tie,) = [tie for tie in await engine.links.of(sam, one) if tie.other == other.number]
    assert (tie.kind, tie.strength) == (LinkKind.MANUAL, 1.0)
    assert await engine.links.of(sam, Reference(found.id)) == before
    assert await house.taken_back() == []


async def test_a_tie_that_was_there_already_stays_when_it_was_made_again(house: House) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    one = Reference((await engine.memories.remember(house.tom.actor, Draft("one"))).id)
    other = Reference((await engine.memories.remember(house.tom.actor, Draft("quite another"))).id)
    await engine.links.connect(house.tom.actor, one, other)
    await engine.links.connect(sam, one, other)
    await engine.memories.remember(sam, Draft("his own"))
    assert await house.taken_back() == ["removed"]
    assert [tie.kind for tie in await engine.links.of(sam, one)] == [LinkKind.MANUAL]


@pytest.mark.parametrize("was", [True, False])
async def test_a_tie_is_as_it_was_however_often_it_was_made_and_taken_off(house: House, was: bool) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    one = Reference((await engine.memories.remember(house.tom.actor, Draft("one"))).id)
    other = Reference((await engine.memories.remember(house.tom.actor, Draft("quite another"))).id)
    if was:
        await engine.links.connect(house.tom.actor, one, other)
        await engine.links.disconnect(sam, one, other)
    await engine.links.connect(sam, one, other)
    await engine.links.disconnect(sam, other, one)
    await house.taken_back()
    assert [tie.kind for tie in await engine.links.of(sam, one)] == [LinkKind.MANUAL] * was
