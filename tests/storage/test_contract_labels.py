"""What every store promises about labels and categories: written once, run against each."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.identifiers import UserId
from commonplace.domain.label import Category, Label
from commonplace.domain.memory import Memory
from commonplace.ports import Transaction
from tests.storage.samples import NOW, House, ending, new_id

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


def label(owner: UserId, name: str, after: int = 0) -> Label:
    return Label(new_id(), owner, name, "#FF0000", NOW + timedelta(seconds=after))


def category(name: str, after: int = 0) -> Category:
    return Category(name, "what it is for", new_id(), NOW + timedelta(seconds=after))


async def labelled(house: House, *labels: Label) -> None:
    def work(tx: Transaction) -> None:
        for one in labels:
            tx.labels.add(one)

    await house.store.write(work)


async def categorised(house: House, memory: Memory, *names: str) -> None:
    await house.store.write(lambda tx: tx.labels.put_further(memory.number, names))


async def test_labels_come_back_as_they_were_given_in_the_order_they_were_made(house: House) -> None:
    second, first = label(house.ada, "緊急", 1), replace(label(house.ada, "重要"), color="")
    others = label(house.ben, "重要")
    await labelled(house, second, first, others)
    assert await house.store.read(lambda tx: tx.labels.all(house.ada)) == [first, second]
    assert await house.store.read(lambda tx: tx.labels.get(house.ada, first.id)) == first
    assert await house.store.read(lambda tx: tx.labels.get(house.ben, first.id)) is None
    assert await house.store.read(lambda tx: tx.labels.named(house.ben, "重要")) == others
    assert await house.store.read(lambda tx: tx.labels.named(house.ben, "緊急")) is None


async def test_one_user_cannot_have_two_labels_of_a_name(house: House) -> None:
    await labelled(house, label(house.ada, "twice"))
    with pytest.raises(Exception, match=r"UNIQUE|exists|duplicate"):
        await labelled(house, label(house.ada, "twice"))


async def test_a_changed_label_keeps_its_id_and_its_memories(house: House) -> None:
    memory, one = await house.keep("labelled"), label(house.ada, "before")
    await labelled(house, one)
    changed = replace(one, name="after", color="")
    await house.store.write(lambda tx: tx.labels.attach(one.id, memory.number, NOW))
    await house.store.write(lambda tx: tx.labels.change(changed))
    assert await house.store.read(lambda tx: tx.labels.on(memory.number, house.ada)) == [changed]


async def test_attaching_and_detaching_say_whether_they_changed_anything(house: House) -> None:
    memory, one = await house.keep("labelled"), label(house.ada, "a")
    await labelled(house, one)
    assert await house.store.write(lambda tx: tx.labels.attach(one.id, memory.number, NOW))
    assert not await house.store.write(lambda tx: tx.labels.attach(one.id, memory.number, NOW))
    assert await house.store.write(lambda tx: tx.labels.detach(one.id, memory.number))
    assert not await house.store.write(lambda tx: tx.labels.detach(one.id, memory.number))


async def test_the_labels_on_a_memory_are_one_owners_in_the_order_they_were_put_there(house: House) -> None:
    memory = await house.keep("labelled")
    first, second, others = label(house.ada, "a", 5), label(house.ada, "b"), label(house.ben, "c")
    await labelled(house, first, second, others)

    def work(tx: Transaction) -> None:
        for after, one in enumerate((first, second, others)):
            tx.labels.attach(one.id, memory.number, NOW + after * HOUR)

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.labels.on(memory.number, house.ada)) == [first, second]
    assert await house.store.read(lambda tx: tx.labels.on(memory.number, house.ben)) == [others]


async def test_uses_count_only_what_is_seen_and_has_not_ended(house: House) -> None:
    one, unused = label(house.ada, "a"), label(house.ada, "b")
    await labelled(house, one, unused)
    seen = await house.keep("seen")
    hidden = await house.keep("hidden", home=house.elsewhere)
    (ended,) = await house.keep_all(["ended"], ephemeral=ending(-HOUR, HOUR))

    def work(tx: Transaction) -> None:
        for number in (seen.number, hidden.number, ended):
            tx.labels.attach(one.id, number, NOW)

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.labels.uses(house.ada, house.ours)) == {one.id: 1}
    assert await house.store.read(lambda tx: tx.labels.uses(house.ada, house.all)) == {one.id: 2}
    assert await house.store.read(lambda tx: tx.labels.uses(house.ben, house.all)) == {}


async def test_a_filter_by_labels_lets_any_of_them_through(house: House) -> None:
    a, b = label(house.ada, "a"), label(house.ada, "b")
    await labelled(house, a, b)
    first, second, bare = [await house.keep(text) for text in ("one", "two", "three")]

    def work(tx: Transaction) -> None:
        tx.labels.attach(a.id, first.number, NOW)
        tx.labels.attach(b.id, second.number, NOW)
        assert tx.count(replace(house.ours, labels=(a.id, b.id))) == 2

    await house.store.write(work)
    assert await _passing(house, a.id) == {first.id}
    assert await _passing(house, a.id, b.id) == {first.id, second.id}
    assert await _passing(house, new_id()) == set()
    among = replace(house.ours, labels=(a.id,))
    assert await house.store.read(lambda tx: tx.memory(bare.id, among)) is None
    assert await house.store.read(lambda tx: tx.memory(first.id, among)) == first


async def _passing(house: House, *labels: str) -> set[str]:
    page = await house.store.read(lambda tx: tx.page(replace(house.ours, labels=labels), 10))
    assert page.total == len(page.memories)
    return {memory.id for memory in page.memories}


async def test_a_label_goes_from_every_memory_and_with_a_memory(house: House) -> None:
    one, other = label(house.ada, "a"), label(house.ada, "b")
    await labelled(house, one, other)
    memory, doomed = await house.keep("stays"), await house.keep("goes")

    def work(tx: Transaction) -> None:
        for number in (memory.number, doomed.number):
            tx.labels.attach(one.id, number, NOW)
            tx.labels.attach(other.id, number, NOW)

    await house.store.write(work)
    await house.store.write(lambda tx: tx.labels.remove(one.id))
    assert await house.store.read(lambda tx: tx.labels.on(memory.number, house.ada)) == [other]
    await house.forget(doomed)
    assert await house.store.read(lambda tx: tx.labels.uses(house.ada, house.all)) == {other.id: 1}


# Categories


async def test_categories_come_back_as_they_were_given_and_only_to_their_owner(house: House) -> None:
    second, first = category("後", 1), category("先")

    def work(tx: Transaction) -> None:
        for one in (second, first):
            tx.labels.add_category(one, house.ada)

    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.labels.categories(house.ada)) == [first, second]
    assert await house.store.read(lambda tx: tx.labels.categories(house.ben)) == []
    assert await house.store.read(lambda tx: tx.labels.category(house.ada, first.id)) == first
    assert await house.store.read(lambda tx: tx.labels.category(house.ben, first.id)) is None
    assert await house.store.read(lambda tx: tx.labels.category_named(house.ada, "後")) == second
    changed = replace(first, name="other", description="")
    await house.store.write(lambda tx: tx.labels.change_category(changed))
    await house.store.write(lambda tx: tx.labels.remove_category(second.id))
    assert await house.store.read(lambda tx: tx.labels.categories(house.ada)) == [changed]


async def test_further_categories_keep_their_order_and_are_replaced_as_a_whole(house: House) -> None:
    memory = await house.keep("categorised", category="first")
    await categorised(house, memory, "b", "a")
    assert await house.store.read(lambda tx: tx.labels.further(memory.number)) == ["b", "a"]
    await categorised(house, memory, "a", "c")
    assert await house.store.read(lambda tx: tx.labels.further(memory.number)) == ["a", "c"]
    await categorised(house, memory)
    assert await house.store.read(lambda tx: tx.labels.further(memory.number)) == []


async def test_a_memory_counts_once_for_each_category_it_bears(house: House) -> None:
    both = await house.keep("both", category="a")
    await categorised(house, both, "a", "b")
    await house.keep("b only", category="b")
    await house.keep("none")
    await house.keep_all(["ended"], category="b", ephemeral=ending(-HOUR, HOUR))
    hidden = await house.keep("hidden", category="c", home=house.elsewhere)
    await categorised(house, hidden, "b")
    ours = await house.store.read(lambda tx: tx.labels.category_counts(house.ours))
    assert list(ours.items()) == [("b", 2), ("a", 1)]
    everywhere = await house.store.read(lambda tx: tx.labels.category_counts(house.all))
    assert list(everywhere.items()) == [("b", 3), ("a", 1), ("c", 1)]


async def test_those_that_bear_a_category_are_found_by_their_first_and_their_further_ones(house: House) -> None:
    first = await house.keep("first", category="x")
    further = await house.keep("further", category="y")
    await categorised(house, further, "x")
    await categorised(house, first, "x")
    of_ben = await house.keep("of ben", category="x", author=house.author(house.ben))
    await house.keep("hidden", category="x", home=house.elsewhere)
    await house.keep_all(["ended"], category="x", ephemeral=ending(-HOUR, HOUR))
    everyone = [first.number, further.number, of_ben.number]
    assert await house.store.read(lambda tx: tx.labels.bearing("x", house.ours, 10)) == everyone
    assert await house.store.read(lambda tx: tx.labels.bearing("x", house.ours, 10, house.ada)) == everyone[:2]
    assert await house.store.read(lambda tx: tx.labels.bearing("x", house.ours, 1)) == everyone[:1]
    assert await house.store.read(lambda tx: tx.labels.bearing("", house.ours, 10, house.ben)) == []
    page = await house.store.read(lambda tx: tx.page(replace(house.ours, categories=("x",)), 10))
    assert {memory.number for memory in page.memories} == set(everyone)
