"""Full text against FTS5's own bm25(), which ranks all that matches and asks the file for every length."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commonplace.language.terms import Term, query_terms
from commonplace.ports import Reading
from commonplace.storage.sqlite import lexical
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.reading import SqliteReading
from commonplace.storage.sqlite.store import SqliteStore
from tests.storage.samples import House

pytestmark = pytest.mark.anyio

WORDS = "garden meeting server invoice 東京 会議 서울 회의 café réunion v2.0 the of".split()
QUERIES = [
    "garden",
    "meeting server invoice",
    "東京の会議",
    "京",
    "회의 garden",
    "v2.0 café",
    "the of",
    "server nowhere",
]


def texts(number: int) -> list[str]:
    chance = random.Random(11)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(number)]


def by_fts5(tx: Reading, terms: Sequence[Term]) -> dict[int, float]:
    assert isinstance(tx, SqliteReading)
    expression = " OR ".join(lexical.Counted(term, 0).expression for term in terms)
    return dict(tx._connection.execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (expression,)))


def pieces(tx: Reading) -> dict[str, int]:
    """Of how many each index of full text consists."""
    assert isinstance(tx, SqliteReading)
    return Counter(name for name, _ in tx._connection.execute(queries()["full_text_pieces"]))


async def scatter(house: House) -> int:
    """Write one by one until the words are in more pieces than are left alone."""
    for text in texts(500):
        await house.keep(text)
        found = (await house.store.read(pieces))["words"]
        if found > 8:
            return found
    raise AssertionError("it merges by itself")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("gaps", [False, True])
async def test_the_scores_are_those_of_fts5(house: House, query: str, gaps: bool) -> None:
    kept = [await house.keep(text) for text in texts(120)]
    for memory in kept[5:50:5] if gaps else ():
        await house.forget(memory)
    terms = query_terms(query)
    found = await house.store.read(lambda tx: tx.lexical(terms, house.ours, 1000))
    assert dict(found.scores) == pytest.approx(await house.store.read(lambda tx: by_fts5(tx, terms)))


async def test_in_a_small_store_a_word_weighs_as_in_one_of_a_hundred(house: House) -> None:
    await house.keep_all(["a zebra", "a horse"])
    found = await house.store.read(lambda tx: tx.lexical(query_terms("zebra nowhere"), house.ours, 9))
    assert found.asked == pytest.approx(lexical.idf(1, 100) + lexical.idf(0, 100))


@pytest.mark.parametrize("query", QUERIES)
async def test_the_scores_are_the_same_once_frequent_words_are_counted(house: House, query: str) -> None:
    await house.keep_all(texts(2 * lexical.FREQUENT))
    terms = query_terms(query)
    before = await house.store.read(lambda tx: tx.lexical(terms, house.ours, 1000))
    await house.store.settle()
    after = await house.store.read(lambda tx: tx.lexical(terms, house.ours, 1000))
    assert dict(after.scores) == pytest.approx(dict(before.scores))
    assert dict(after.scores) == pytest.approx(await house.store.read(lambda tx: by_fts5(tx, terms)))


async def test_what_came_after_the_words_were_counted_is_found(house: House) -> None:
    await house.keep_all(["a zebra"] * (2 * lexical.FREQUENT))
    await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 1))
    await house.store.settle()
    late = await house.keep("a zebra, and a newt")
    found = await house.store.read(lambda tx: tx.lexical(query_terms("zebra newt"), house.ours, 1000))
    assert max(found.scores, key=found.scores.__getitem__) == late.number
    assert len(found.scores) == 2 * lexical.FREQUENT + 1


async def test_how_frequent_words_are_is_kept_with_the_copy_of_the_index_but_not_the_words(
    house: House, tmp_path: Path
) -> None:
    number = 2 * lexical.FREQUENT
    await house.keep_all(["a zebra"] * number)
    await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 1))
    await house.store.settle()
    await house.store.close()
    (copy,) = tmp_path.rglob("index-*.npz")
    with np.load(copy) as arrays:
        counts = lexical.Counts.from_arrays(arrays)
    assert not counts.outdated(number)
    assert counts.known(Term("zebra"), number) == number
    assert b"zebra" not in copy.read_bytes()


async def test_a_start_takes_the_count_of_words_from_the_copy(house: House) -> None:
    number = 2 * lexical.FREQUENT
    await house.keep_all(["a zebra"] * number)
    await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 1))
    await house.store.settle()
    await house.store.close()
    again = SqliteStore(Path(house.store.location), house.embedder.fingerprint)
    try:
        await again.read(lambda tx: tx.facts(()))
        assert again._following().counts.known(Term("zebra"), number) == number
    finally:
        await again.close()


async def test_a_copy_without_the_count_of_words_is_not_read(house: House, tmp_path: Path) -> None:
    kept = await house.keep_all(["a zebra"] * (2 * lexical.FREQUENT))
    await house.store.read(lambda tx: tx.facts(()))
    await house.store.close()
    (copy,) = tmp_path.rglob("index-*.npz")
    with np.load(copy) as arrays:
        others = {name: arrays[name] for name in arrays.files if not name.startswith("word_")}
    np.savez(copy, **others)
    again = SqliteStore(Path(house.store.location), house.embedder.fingerprint)
    try:
        found = await again.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 1000))
        assert set(found.scores) == set(kept)
    finally:
        await again.close()


async def test_the_only_memory_with_a_word_counts_for_much_however_long_it_is(house: House) -> None:
    await house.keep_all(texts(100))
    long = await house.keep(" ".join(["some words", *texts(300), "okapi", *texts(300)]))
    found = await house.store.read(lambda tx: tx.lexical(query_terms("okapi"), house.ours, 10))
    assert found.scores[long.number] > found.asked / 2


async def test_full_text_in_many_pieces_is_merged_into_one(house: House) -> None:
    await scatter(house)
    found = await house.store.read(lambda tx: tx.lexical(query_terms("garden 東京"), house.ours, 100))
    await house.store.settle()
    assert (await house.store.read(pieces))["words"] == 1
    again = await house.store.read(lambda tx: tx.lexical(query_terms("garden 東京"), house.ours, 100))
    assert dict(again.scores) == pytest.approx(dict(found.scores))
    assert await house.store.check() == ""


async def test_a_few_small_pieces_beside_a_large_one_stay_as_they_are(house: House) -> None:
    await house.keep_all([" ".join(f"{part}{number}{'unlike' * 6}" for part in range(60)) for number in range(700)])
    await house.store.settle()
    before = await scatter(house)
    await house.store.settle()
    assert (await house.store.read(pieces))["words"] == before


async def test_a_memory_that_repeats_a_word_without_end_does_not_hide_the_others(house: House) -> None:
    numbers = await house.keep_all(["zebra " * 2000, *["a zebra"] * 3])
    found = await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 10))
    assert set(found.scores) == set(numbers)
