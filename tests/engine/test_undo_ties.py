"""Ties that a session put on or took off are taken back with it, except for what others want as well."""

from dataclasses import dataclass

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.domain.collection import Kind
from commonplace.domain.event import EventKind
from commonplace.domain.history import Remedy
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from tests.engine.gardening import Gardener, another
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


@dataclass(frozen=True)
class Two:
    """Two memories of Tom's, tied and untied by whoever is named."""

    house: House
    one: Memory
    other: Memory

    async def tie(self, who: Gardener, strength: float = 1.0, *, back: bool = False) -> None:
        await who.engine.links.connect(who.actor, *self._ends(back), strength)

    async def untie(self, who: Gardener, *, back: bool = False) -> None:
        await who.engine.links.disconnect(who.actor, *self._ends(back))

    async def found(self, kind: LinkKind, strength: float) -> None:
        """As by the house itself."""
        link = Link(self.one.id, self.other.id, kind, strength, self.house.tom.engine.clock.now())
        await self.house.tom.engine.store.write(lambda tx: tx.links.add(link))

    async def ties(self) -> set[tuple[MemoryId, LinkKind, float]]:
        links = await self.house.tom.engine.store.read(lambda tx: tx.links.between(self.one.id, self.other.id))
        return {(link.source, link.kind, link.strength) for link in links}

    def _ends(self, back: bool) -> tuple[Reference, Reference]:
        one, other = Reference(self.one.id), Reference(self.other.id)
        return (other, one) if back else (one, other)


@pytest.fixture
async def two(house: House) -> Two:
    kept = [await house.tom.engine.memories.remember(house.tom.actor, Draft(text)) for text in ("one", "the other")]
    return Two(house, *kept)


def later(house: House, session: str) -> House:
    """Another person who takes back."""
    return House(house.sam, house.tom, house.person.during(session))


# What others want as well


@pytest.mark.parametrize("back", [False, True], ids=["the same way", "the other way"])
async def test_a_tie_that_another_session_has_made_again_stays_and_is_named(house: House, two: Two, back: bool) -> None:
    await two.tie(house.sam)
    await two.tie(house.tom, back=back)
    before = await two.ties()
    undone = await house.take_back()
    assert [(step.remedy, step.memory, step.subject, step.other) for step in undone.steps] == [
        (Remedy.LEFT, two.one.id, "one", "the other")
    ]
    assert undone.left[0].reason == "it was tied or untied later by someone else"
    assert await two.ties() == before


async def test_to_make_a_tie_again_is_told_as_the_doing_of_who_did_it(house: House, two: Two) -> None:
    await two.tie(house.sam)
    await two.tie(house.tom)
    told = [done.event.kind for done in await house.tom.engine.history.changes(house.tom.actor, "tom")]
    assert told == [EventKind.REMEMBERED, EventKind.REMEMBERED, EventKind.LINKED]


async def test_who_only_made_a_tie_again_takes_nothing_away_when_taken_back(house: House, two: Two) -> None:
    await two.tie(house.tom)
    await two.tie(house.sam)
    last = await house.person.engine.events.last()
    assert await house.taken_back() == []
    assert await two.ties() == {(two.one.id, LinkKind.MANUAL, 1.0)}
    assert await house.person.engine.events.last() == last


async def test_a_tie_that_the_same_session_has_made_twice_goes(house: House, two: Two) -> None:
    await two.tie(house.sam)
    await two.tie(house.sam)
    assert await house.taken_back() == ["tie removed"]
    assert await two.ties() == set()


async def test_what_another_did_before_a_session_changed_anything_is_no_obstacle(house: House, two: Two) -> None:
    await two.tie(house.tom)
    await two.tie(house.sam)
    await two.untie(house.tom)
    await two.tie(house.sam)
    assert await house.taken_back() == ["tie removed"]
    assert await two.ties() == set()


async def test_a_tie_that_another_has_taken_off_since_is_nothing_to_be_taken_back(house: House, two: Two) -> None:
    await two.tie(house.sam)
    await two.untie(house.tom)
    assert await house.taken_back() == []


async def test_a_tie_taken_off_that_another_has_made_anew_stays_his(house: House, two: Two) -> None:
    await two.tie(house.tom, 0.5)
    await two.untie(house.sam)
    await two.tie(house.tom, 0.8, back=True)
    assert await house.taken_back() == ["left alone"]
    assert await two.ties() == {(two.other.id, LinkKind.MANUAL, 0.8)}


async def test_a_memory_that_another_has_tied_stays_and_is_named(house: House, two: Two) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    links = ((LinkKind.MANUAL, two.one.id),)
    confirmed = await engine.memories.remember(sam, Draft("tied when it was stored", links=links))
    tied = await engine.memories.remember(sam, Draft("tied later"))
    named = await engine.memories.remember(sam, Draft("tied by what was stored later"))
    await engine.memories.remember(sam, Draft("tied by nobody else", links=links))
    await engine.links.connect(tom, Reference(confirmed.id), Reference(two.one.id))
    await engine.links.connect(tom, Reference(two.other.id), Reference(tied.id))
    await engine.memories.remember(tom, Draft("stored later", links=((LinkKind.MANUAL, named.id),)))
    undone = await house.take_back()
    assert {step.memory for step in undone.left} == {confirmed.id, tied.id, named.id}
    assert {step.reason for step in undone.left} == {"it was tied to others later by someone else"}
    assert [step.remedy.value for step in undone.steps].count("removed") == 1


async def test_a_memory_of_the_session_is_removed_whatever_the_session_did_to_its_ties(house: House, two: Two) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    made = await engine.memories.remember(sam, Draft("made", links=((LinkKind.MANUAL, two.one.id),)))
    await engine.links.disconnect(sam, Reference(made.id), Reference(two.one.id))
    await engine.links.connect(sam, Reference(two.other.id), Reference(made.id))
    assert (await house.taken_back())[-1] == "removed"


# What it was


async def test_a_tie_gets_its_strength_back(house: House, two: Two) -> None:
    await two.tie(house.tom, 0.4)
    await two.tie(house.sam, 0.9)
    assert await house.taken_back() == ["tie put back"]
    assert await two.ties() == {(two.one.id, LinkKind.MANUAL, 0.4)}


async def test_what_the_house_has_found_meanwhile_stays(house: House, two: Two) -> None:
    await two.tie(house.sam)
    await two.found(LinkKind.SEMANTIC, 0.7)
    await two.tie(house.sam)
    assert await house.taken_back() == ["tie removed"]
    assert await two.ties() == {(two.one.id, LinkKind.SEMANTIC, 0.7)}


async def test_what_the_house_has_found_again_keeps_its_strength(house: House, two: Two) -> None:
    await two.found(LinkKind.SEMANTIC, 0.7)
    await two.untie(house.sam)
    await two.found(LinkKind.SEMANTIC, 0.9)
    assert await house.taken_back() == []
    assert await two.ties() == {(two.one.id, LinkKind.SEMANTIC, 0.9)}


# Taking back what was taken back


@pytest.mark.parametrize("strength", [1.0, 0.3])
async def test_a_tie_removed_by_taking_back_comes_back_with_its_strength(
    house: House, two: Two, strength: float
) -> None:
    await two.tie(house.sam, strength)
    before = await two.ties()
    await house.take_back()
    assert [step.remedy for step in (await later(house, "second").take_back("person")).steps] == [Remedy.TIED]
    assert await two.ties() == before
    assert [step.remedy for step in (await later(house, "third").take_back("second")).steps] == [Remedy.UNTIED]
    assert await two.ties() == set()


async def test_ties_put_back_by_taking_back_go_again_whatever_their_kinds(house: House, two: Two) -> None:
    await two.tie(house.tom, 0.5)
    await two.found(LinkKind.SEMANTIC, 0.7)
    await two.found(LinkKind.TEMPORAL, 0.2)
    before = await two.ties()
    await two.untie(house.sam)
    assert await house.taken_back() == ["tie put back"]
    assert await two.ties() == before
    assert [step.remedy for step in (await later(house, "second").take_back("person")).steps] == [Remedy.UNTIED]
    assert await two.ties() == set()
    assert [step.remedy for step in (await later(house, "third").take_back("second")).steps] == [Remedy.TIED]
    assert await two.ties() == before


async def test_a_strength_put_back_by_taking_back_is_taken_back_too(house: House, two: Two) -> None:
    await two.tie(house.tom, 0.4)
    await two.tie(house.sam, 0.9)
    await house.take_back()
    await later(house, "second").take_back("person")
    assert await two.ties() == {(two.one.id, LinkKind.MANUAL, 0.9)}


async def test_what_taking_back_did_to_ties_is_told_as_its_own_session(house: House, two: Two) -> None:
    await two.tie(house.sam)
    await house.take_back()
    (done,) = await house.person.engine.history.changes(house.person.actor, "person")
    assert (done.event.kind, done.glimpse, done.other_glimpse) == (EventKind.UNLINKED, "one", "the other")


# Whose, and what is told


async def test_of_a_tie_both_ends_are_named_as_far_as_they_may_be_seen(house: House) -> None:
    engine, tom = house.tom.engine, house.tom.actor
    ben = await another(engine, "ben")
    place = (await engine.collections.found(tom, Kind.PROJECT, "maps")).collection.id
    await engine.collections.add_member(tom, Kind.PROJECT, place, "ben", Right.WRITE)
    shared = await engine.memories.remember(tom, Draft("shared", home=place))
    own, tied = [await engine.memories.remember(tom, Draft(text)) for text in ("of the owner alone", "tied before")]
    await engine.links.connect(tom, Reference(shared.id), Reference(tied.id))
    await engine.links.connect(house.sam.actor, Reference(shared.id), Reference(own.id))
    await engine.links.disconnect(house.sam.actor, Reference(shared.id), Reference(tied.id))
    planned = await engine.undo.plan(ben.during("later").actor, "sam")
    assert [(step.remedy, step.subject, step.other, step.reason) for step in planned.steps] == [
        (Remedy.LEFT, "shared", "", "what it was tied to is gone, or not yours to see"),
        (Remedy.UNTIED, "shared", "", ""),
    ]
    assert [(step.remedy, step.subject, step.other) for step in (await house.take_back()).steps] == [
        (Remedy.TIED, "shared", "tied before"),
        (Remedy.UNTIED, "shared", "of the owner alone"),
    ]


async def test_what_is_about_no_tie_has_no_other_end(house: House) -> None:
    await house.sam.plant("core://a", "made")
    assert {step.other for step in (await house.take_back()).steps} == {None}
