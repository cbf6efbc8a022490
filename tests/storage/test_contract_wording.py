"""What every store promises about tags and categories in full text: written once, run against each."""

from typing import Any

import pytest

from commonplace.domain.memory import Change, Memory
from commonplace.language.terms import query_terms
from tests.storage.samples import NOW, House

pytestmark = pytest.mark.anyio


async def found(house: House, query: str) -> set[int]:
    hits = await house.store.read(lambda tx: tx.lexical(query_terms(query), house.ours, 100))
    return set(hits.scores)


async def changed(house: House, memory: Memory, **fields: Any) -> None:
    change = Change(**fields)
    prints = None if change.content is None else house.prints(change.content)
    await house.store.write(lambda tx: tx.revise(memory, change, memory.author, NOW, prints))


@pytest.mark.parametrize(
    "query", ["logistics", "Logistic", "緊急", "緊", "operations", "東京", "配送", "shipment urgent"]
)
async def test_a_memory_is_found_by_the_words_of_its_tags_and_of_its_category(house: House, query: str) -> None:
    await house.keep("a text of something else", tags=("other",), category="another")
    tags = ("logistics", "緊急", "東京の配送", "urgent_call")
    memory = await house.keep("Call Hiroshi about the shipment", tags=tags, category="operations")
    assert await found(house, query) == {memory.number}


async def test_who_has_all_that_was_asked_for_in_text_and_tags_has_all_of_it(house: House) -> None:
    memory = await house.keep("the shipment", tags=("緊急",), category="operations")
    hits = await house.store.read(lambda tx: tx.lexical(query_terms("緊急 shipment operations"), house.ours, 9))
    assert hits.words == {memory.number: pytest.approx(hits.asked)}


async def test_a_tag_whose_words_stand_in_the_text_adds_nothing(house: House) -> None:
    plain = await house.keep("the zebra crosses the river")
    tagged = await house.keep("the zebra crosses the river", tags=("Zebra", "zebras crossing"), category="river")
    hits = await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 9))
    assert hits.scores[plain.number] == hits.scores[tagged.number]


async def test_a_change_of_tags_or_category_is_one_in_full_text_and_the_text_stays_in_it(house: House) -> None:
    memory = await house.keep("the shipment", tags=("緊急",), category="operations")
    await changed(house, memory, tags=("calm",))
    memory = await house.store.read(lambda tx: tx.memories([memory.number], house.ours)[0])
    assert await found(house, "緊急") == set()
    assert await found(house, "calm") == await found(house, "operations") == await found(house, "shipment") != set()
    await changed(house, memory, category="")
    assert await found(house, "operations") == set()
    assert await found(house, "calm") == await found(house, "shipment") == {memory.number}


async def test_a_changed_text_keeps_its_tags_in_full_text(house: House) -> None:
    memory = await house.keep("the zebra", tags=("savannah",), category="animals")
    await changed(house, memory, content="a savannah without them")
    assert await found(house, "zebra") == set()
    assert await found(house, "animals") == await found(house, "savannah") == {memory.number}
    memory = await house.store.read(lambda tx: tx.memories([memory.number], house.ours)[0])
    await changed(house, memory, content="a desert", tags=())
    assert await found(house, "savannah") == set()
    assert await found(house, "desert") == {memory.number}


async def test_further_categories_are_found_too(house: House) -> None:
    memory = await house.keep("the shipment", category="operations")
    await house.store.write(lambda tx: tx.labels.put_further(memory.number, ["abroad", "港"]))
    for query in ("abroad", "港", "operations", "shipment"):
        assert await found(house, query) == {memory.number}
    await house.store.write(lambda tx: tx.labels.put_further(memory.number, ["港"]))
    assert await found(house, "abroad") == set()
    await changed(house, memory, content="the cargo")
    assert await found(house, "港") == await found(house, "cargo") == {memory.number}


async def test_with_a_memory_its_tags_go_from_full_text(house: House) -> None:
    memory = await house.keep("the shipment", tags=("緊急",), category="operations")
    await house.forget(memory)
    for query in ("緊急", "operations", "shipment"):
        assert await found(house, query) == set()
    assert await house.store.check() == ""


@pytest.mark.parametrize("passage", ["緊急", "緊", "急"])
async def test_a_passage_is_sought_in_texts_and_not_in_tags(house: House, passage: str) -> None:
    text = await house.keep("緊急の電話")
    for _ in range(3):
        await house.keep("a call", tags=("緊急",), category="緊急")
    assert await house.store.read(lambda tx: tx.paths.containing(passage, house.ours, 2)) == [text.number]


async def test_after_everything_was_built_anew_tags_are_found(house: House) -> None:
    memory = await house.keep("the shipment", tags=("緊急",), category="operations")
    await house.store.reindex()
    for _ in range(2):
        for query in ("緊急", "operations", "shipment"):
            assert await found(house, query) == {memory.number}
        await house.store.settle()
