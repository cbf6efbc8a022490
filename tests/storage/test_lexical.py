"""Full text against FTS5's own bm25(), which ranks all that matches and asks the file for every length."""

import random
from collections.abc import Sequence

import pytest

from commonplace.language.terms import Term, query_terms
from commonplace.ports import Reading
from commonplace.storage.sqlite import lexical
from commonplace.storage.sqlite.reading import SqliteReading
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


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("gaps", [False, True])
async def test_the_scores_are_those_of_fts5(house: House, query: str, gaps: bool) -> None:
    kept = [await house.keep(text) for text in texts(60)]
    for memory in kept[5:50:5] if gaps else ():
        await house.forget(memory)
    terms = query_terms(query)
    found = await house.store.read(lambda tx: tx.lexical(terms, house.ours, 1000))
    assert dict(found.scores) == pytest.approx(await house.store.read(lambda tx: by_fts5(tx, terms)))


async def test_a_memory_that_repeats_a_word_without_end_does_not_hide_the_others(house: House) -> None:
    numbers = await house.keep_all(["zebra " * 2000, *["a zebra"] * 3])
    found = await house.store.read(lambda tx: tx.lexical(query_terms("zebra"), house.ours, 10))
    assert set(found.scores) == set(numbers)
