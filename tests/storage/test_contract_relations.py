"""What every store promises about relations, threads and metadata: written once, run against each."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.annotation import Remark
from commonplace.domain.filter import Filter
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Memory
from commonplace.domain.relation import RELATIONS, Edge
from tests.storage.samples import NOW, House, ending
from tests.storage.test_plans import plan

pytestmark = pytest.mark.anyio

DERIVED, ANNOTATES, REFERENCES = RELATIONS


async def link(house: House, source: Memory, target: Memory, kind: LinkKind = DERIVED) -> Edge:
    await house.store.write(lambda tx: tx.links.add(Link(source.id, target.id, kind, 1.0, NOW)))
    return Edge(source.number, target.number, kind)


async def touching(house: House, *memories: Memory, kinds: tuple[LinkKind, ...] = RELATIONS, limit: int = 100) -> Any:
    numbers = [memory.number for memory in memories]
    return await house.store.read(lambda tx: tx.links.touching(numbers, kinds, house.ours, limit))


async def test_links_are_found_from_either_end_once(house: House) -> None:
    one, two, three = [await house.keep(text) for text in ("one", "two", "three")]
    first, second = await link(house, two, one), await link(house, three, two, REFERENCES)
    await link(house, three, one, LinkKind.SEMANTIC)
    assert await touching(house, one) == [first]
    assert await touching(house, two) == [second, first]
    assert await touching(house, one, two, three) == [second, first]
    assert await touching(house, two, kinds=(REFERENCES,)) == [second]
    assert await touching(house, two, limit=1) == [second]
    assert await touching(house) == []


async def test_links_to_what_may_not_be_seen_or_has_ended_are_not_found(house: House) -> None:
    one = await house.keep("one")
    hidden = await house.keep("hidden", home=house.elsewhere)
    over = await house.keep("over", ephemeral=ending(timedelta(hours=1)))
    for other in (hidden, over):
        await link(house, one, other)
        await link(house, other, one, REFERENCES)
    among = replace(house.ours, now=NOW + timedelta(hours=1))
    assert await house.store.read(lambda tx: tx.links.touching([one.number], RELATIONS, among, 10)) == []
    assert await house.store.read(lambda tx: tx.links.linked([house.home], RELATIONS, among, 10)) == []


async def test_the_linked_memories_of_a_collection(house: House) -> None:
    one, two, three, alone = [await house.keep(text) for text in ("one", "two", "three", "alone")]
    hidden = await house.keep("hidden", home=house.elsewhere)
    common = await house.keep("common", home=house.common)
    await link(house, one, two)
    await link(house, three, hidden)
    await link(house, common, one, REFERENCES)

    async def linked(collections: set[int], among: Filter, limit: int = 10, *kinds: LinkKind) -> Any:
        wanted = kinds or RELATIONS
        return await house.store.read(lambda tx: tx.links.linked(collections, wanted, among, limit))

    assert await linked({house.home}, house.ours) == [two.number, one.number]
    assert await linked({house.home}, house.all) == [three.number, two.number, one.number]
    assert await linked({house.common}, house.ours) == [common.number]
    assert await linked({house.home}, house.ours, 1) == [two.number]
    assert await linked({house.home}, house.ours, 10, REFERENCES) == [one.number]
    assert await linked(set(), house.ours) == []
    assert alone.number not in await linked({house.home}, house.all)


async def test_remarks_come_with_what_they_are_about_the_oldest_first(house: House) -> None:
    target = await house.keep("target")
    late = await house.keep("late", created_at=NOW + timedelta(hours=1), metadata={"annotationType": "question"})
    early = await house.keep("early")
    reply = await house.keep("reply", created_at=NOW + timedelta(hours=2), metadata={"annotationType": 5})
    hidden = await house.keep("hidden", home=house.elsewhere)
    behind = await house.keep("behind")
    for source, aim in ((late, target), (early, target), (reply, early), (hidden, early), (behind, hidden)):
        await link(house, source, aim, ANNOTATES)
    await link(house, behind, target, REFERENCES)

    async def remarks(limit: int = 100) -> Any:
        return await house.store.read(lambda tx: tx.links.remarks(target.number, house.ours, limit))

    assert await remarks() == [
        Remark(early.number, target.number, None),
        Remark(late.number, target.number, "question"),
        Remark(reply.number, early.number, 5),
    ]
    assert len(await remarks(1)) == 1


async def test_a_circle_of_remarks_is_read_once(house: House) -> None:
    one, two = await house.keep("one"), await house.keep("two")
    await link(house, one, two, ANNOTATES)
    await link(house, two, one, ANNOTATES)
    found = await house.store.read(lambda tx: tx.links.remarks(one.number, house.ours, 100))
    assert sorted(found) == [Remark(one.number, two.number, None), Remark(two.number, one.number, None)]


# Metadata as a filter


async def test_metadata_must_say_all_that_is_asked_for_to_the_letter(house: House) -> None:
    one = await house.keep("alpha one", category="log", metadata={"sender": "w1", "project": "p"})
    two = await house.keep("alpha two", category="log", metadata={"sender": "w1", "project": 'q"$.x'})
    await house.keep("alpha three", metadata={"sender": ["w1"], "n": 5})
    await house.keep("alpha four", home=house.elsewhere, metadata={"sender": "w1"})

    async def listed(*pairs: tuple[str, str], **more: Any) -> set[int]:
        among = replace(house.ours, metadata=pairs, **more)
        page = await house.store.read(lambda tx: tx.page(among, 10))
        numbers = {memory.number for memory in page.memories}
        assert page.total == await house.store.read(lambda tx: tx.count(among)) == len(numbers)
        in_file = await house.store.write(lambda tx: {m.number for m in tx.memories(sorted(numbers), among)})
        assert in_file == numbers
        assert {number for number in numbers if await passes(number, among)} == numbers
        return numbers

    async def passes(number: int, among: Filter) -> bool:
        return bool(await house.store.read(lambda tx: tx.memories([number], among)))

    assert await listed(("sender", "w1")) == {one.number, two.number}
    assert await listed(("sender", "w1"), ("project", "p")) == {one.number}
    assert await listed(("project", 'q"$.x')) == {two.number}
    assert await listed(("sender", "w1"), categories=("log",)) == {one.number, two.number}
    assert await listed(("sender", "w1"), categories=("other",)) == set()
    assert await listed(("n", "5")) == await listed(("absent", "")) == await listed(("sender", "W1")) == set()


async def test_a_write_sees_its_own_metadata(house: House) -> None:
    """Within a transaction the index is behind: the file itself must answer."""
    drafted = house.drafted("fresh", metadata={"sender": "w1"}, category="log")
    among = replace(house.ours, metadata=(("sender", "w1"),), categories=("log",))
    page = await house.store.write(lambda tx: (house.put(tx, drafted), tx.page(among, 10))[1])
    assert (page.total, [memory.content for memory in page.memories]) == (1, ["fresh"])


# How they go about it


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize("name", ["links_around", "links_between", "links_touching", "remarks_on", "linked_within"])
async def test_links_are_looked_up_from_where_one_is(folder: Path, name: str) -> None:
    steps = plan(folder, name)
    assert any(step.startswith("SEARCH l USING") for step in steps), steps
    assert not any(step.startswith(("SCAN l", "SCAN m", "SCAN o", "SEARCH m USING INDEX")) for step in steps), steps


@pytest.mark.usefixtures("house")
async def test_of_metadata_only_that_of_the_category_is_read(folder: Path) -> None:
    steps = plan(folder, "described")
    assert any("memories_by_category" in step for step in steps), steps
