"""Ties that came with an import or out of a backup are told and taken back like those made by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.domain.backup import Part
from commonplace.domain.collection import Kind
from commonplace.domain.event import EventKind
from commonplace.domain.history import Remedy
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.record import Bundle, Record, RecordedLink
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.ties import MOST_TOLD
from tests.engine.gardening import another
from tests.engine.undoing import House, housed

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)
ASSOCIATIONS = (Part.ASSOCIATIONS,)


@pytest.fixture
def house(engine: Engine, owner: Actor) -> House:
    return housed(engine, owner)


@dataclass(frozen=True)
class Three:
    """Memories of Tom's that were tied when the backup was made, and of which Sam puts the ties back."""

    house: House
    one: Memory
    two: Memory
    three: Memory

    async def ties(self) -> set[tuple[MemoryId, MemoryId, LinkKind, float]]:
        numbers = [memory.number for memory in (self.one, self.two, self.three)]
        links = await self.house.tom.engine.store.read(lambda tx: tx.links.leaving(numbers))
        return {(link.source, link.target, link.kind, link.strength) for link in links}

    async def tie(self, session: Actor, one: Memory, other: Memory, strength: float = 1.0) -> None:
        await self.house.tom.engine.links.connect(session, Reference(one.id), Reference(other.id), strength)

    async def put_back(self, *parts: Part) -> None:
        await self.house.sam.engine.backups.restore(self.house.sam.actor, "first", parts)


@pytest.fixture
async def three(house: House) -> Three:
    """Only the tie from two to three is left."""
    engine, tom = house.tom.engine, house.tom.actor
    kept = [await engine.memories.remember(tom, Draft(text)) for text in ("one", "two", "three")]
    found = Three(house, *kept)
    await found.tie(tom, found.one, found.two, 0.4)
    await found.tie(tom, found.one, found.three, 0.5)
    await found.tie(tom, found.two, found.three, 0.6)
    semantic = Link(found.two.id, found.one.id, LinkKind.SEMANTIC, 0.7, NOW)
    await engine.store.write(lambda tx: tx.links.add(semantic))
    await engine.backups.create(tom, "first")
    await engine.links.disconnect(tom, Reference(found.one.id), Reference(found.two.id))
    await engine.links.disconnect(tom, Reference(found.one.id), Reference(found.three.id))
    return found


async def test_ties_put_back_out_of_a_backup_are_told_with_both_ends(three: Three) -> None:
    await three.put_back(*ASSOCIATIONS)
    engine, sam = three.house.sam.engine, three.house.sam.actor
    told = [(one.event.kind, one.glimpse, one.other_glimpse) for one in await engine.history.changes(sam, "sam")]
    assert sorted(told) == [
        (EventKind.LINKED, "one", "three"),
        (EventKind.LINKED, "one", "two"),
        (EventKind.LINKED, "two", "one"),
    ]


async def test_ties_put_back_out_of_a_backup_are_taken_back_and_no_others(three: Three) -> None:
    before = await three.ties()
    await three.put_back(*ASSOCIATIONS)
    assert len(await three.ties()) == len(before) + 3
    assert await three.house.taken_back() == ["tie removed", "tie removed"], "of two memories at once"
    assert await three.ties() == before
    assert await three.house.taken_back() == []


async def test_a_tie_that_another_has_made_again_since_stays(three: Three) -> None:
    await three.put_back(*ASSOCIATIONS)
    await three.tie(three.house.tom.actor, three.three, three.one)
    confirmed = {tie for tie in await three.ties() if {tie[0], tie[1]} != {three.one.id, three.two.id}}
    (left,) = (await three.house.take_back()).left
    assert (left.subject, left.other, left.reason) == ("one", "three", "it was tied or untied later by someone else")
    assert await three.ties() == confirmed


async def test_what_taking_ties_back_did_is_taken_back_as_well(three: Three) -> None:
    await three.put_back(*ASSOCIATIONS)
    before = await three.ties()
    await three.house.take_back()
    again = House(three.house.sam, three.house.tom, three.house.person.during("second"))
    assert [step.remedy for step in (await again.take_back("person")).steps] == [Remedy.TIED] * 2
    assert await three.ties() == before


async def test_a_memory_put_back_with_its_ties_goes_with_them(three: Three) -> None:
    engine = three.house.tom.engine
    await engine.memories.forget(three.house.tom.actor, Reference(three.three.id))
    before = await three.ties()
    await three.put_back(Part.MEMORIES, Part.ASSOCIATIONS)
    assert len(await three.ties()) == 4
    assert (await three.house.taken_back()).count("removed") == 1
    assert await three.ties() == before


async def test_who_restores_ties_that_are_there_has_done_nothing(three: Three) -> None:
    await three.put_back(*ASSOCIATIONS)
    last = await three.house.tom.engine.events.last()
    again = three.house.tom.during("again")
    await again.engine.backups.restore(again.actor, "first", ASSOCIATIONS)
    assert await again.engine.events.last() == last


# An import


def uuid(number: int) -> str:
    return f"01890a5d-ac96-774b-bcce-{number:012x}"


def record(number: int) -> Record:
    return Record(uuid(number), f"brought {number}", "user", NOW, NOW)


def tie(one: str, other: str, kind: str = "manual", strength: float = 0.5) -> RecordedLink:
    return RecordedLink(one, other, kind, strength, NOW)


def bundle(records: Sequence[Record], *links: RecordedLink) -> Bundle:
    return Bundle(tuple(records), links=links, tied=True)


async def links(engine: Engine) -> set[tuple[str, str, str]]:
    found = await engine.store.read(lambda tx: tx.links.leaving(range(1000)))
    return {(link.source, link.target, link.kind.value) for link in found}


async def test_ties_that_a_later_page_brought_are_taken_back_with_it_alone(house: House) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    records = [record(number) for number in range(3)]
    await engine.archive.bring(tom, bundle(records, tie(uuid(0), uuid(1))))
    before = await links(engine)
    await engine.archive.bring(sam, bundle(records, tie(uuid(0), uuid(1)), tie(uuid(1), uuid(2), "semantic")))
    assert [step.other for step in (await house.take_back()).steps] == ["brought 2"]
    assert await links(engine) == before


async def test_an_import_with_ties_is_taken_back_whole(house: House) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    kinds = ("manual", "semantic", "derived_from")
    ties = [tie(uuid(2), uuid(number), kind) for number in range(2) for kind in kinds]
    await engine.archive.bring(sam, bundle([record(number) for number in range(3)], *ties))
    assert (await house.taken_back()).count("removed") == 3
    assert (await engine.memories.page(sam, 9)).total == 0


async def test_what_a_memory_that_stays_came_from_stays_with_it(house: House) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    ties = [tie(uuid(1), uuid(0), "derived_from"), tie(uuid(1), uuid(0))]
    await engine.archive.bring(sam, bundle([record(0), record(1)], *ties))
    await engine.memories.revise(tom, Reference(MemoryId(uuid(1))), Change(content="gone on with"))
    assert await house.taken_back() == ["tie removed", "left alone", "left alone"]
    assert await links(engine) == {(uuid(1), uuid(0), "derived_from")}


async def test_many_ties_of_a_memory_are_told_in_few_events_and_each_is_shown(house: House) -> None:
    engine, sam = house.sam.engine, house.sam.actor
    most = MOST_TOLD + 1
    await engine.archive.bring(house.tom.actor, bundle([record(number) for number in range(most + 1)]))
    last = await engine.events.last()
    ties = [tie(uuid(0), uuid(number)) for number in range(1, most + 1)]
    await engine.archive.bring(sam, bundle([record(number) for number in range(most + 1)], *ties))
    assert await engine.events.last() == last + 2
    assert len(await engine.history.changes(sam, "sam")) == most
    assert await house.taken_back() == ["tie removed"] * most
    assert await engine.events.last() == last + 4
    assert await links(engine) == set()


async def test_who_brings_a_tie_to_what_is_anothers_takes_it_back(house: House) -> None:
    engine, tom = house.tom.engine, house.tom.actor
    ben = await another(engine, "ben")
    place = (await engine.collections.found(tom, Kind.PROJECT, "maps")).collection.id
    await engine.collections.add_member(tom, Kind.PROJECT, place, "ben", Right.READ)
    shown = await engine.memories.remember(tom, Draft("shown", home=place))
    bringing = ben.during("bringing")
    report = await engine.archive.bring(bringing.actor, bundle([record(0)], tie(shown.id, uuid(0))))
    assert not report.untied
    (_, told) = await engine.history.changes(ben.actor, "bringing")
    assert (told.glimpse, told.other_glimpse) == ("brought 0", "shown")
    house = replace(house, person=ben.during("later"))
    steps = (await house.take_back("bringing")).steps
    assert [(step.remedy, step.subject, step.other) for step in steps] == [
        (Remedy.UNTIED, "brought 0", "shown"),
        (Remedy.REMOVED, "brought 0", None),
    ]
