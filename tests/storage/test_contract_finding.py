"""What every store promises about finding: written once, run against each."""

import asyncio
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from commonplace.domain.errors import EmbeddingFailed
from commonplace.domain.event import EventKind
from commonplace.domain.filter import Filter
from commonplace.domain.memory import Change, Memory
from commonplace.language.scripts import fold
from commonplace.language.terms import Term, query_terms, terms
from commonplace.ports import Embedded, LexicalHits, Prints, Reading, Transaction
from tests.storage.samples import NOW, House, Spoilt, Vectors, close_to, ending, only, random_units

pytestmark = pytest.mark.anyio

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
EVERY = 10_000


async def asked(house: House, query: str, among: Filter | None = None, limit: int = EVERY) -> LexicalHits:
    terms = query_terms(query)
    return await house.store.read(lambda tx: tx.lexical(terms, among or house.ours, limit))


async def numbers_for(house: House, query: str, among: Filter | None = None) -> set[int]:
    return set((await asked(house, query, among)).scores)


# Full text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("京", {0, 1, 2}),
        ("東京", {0, 2}),
        ("都", {1}),
        ("서", {3}),
        ("서울", {3}),
        ("会議", {2}),
        ("北京", set()),
        ("zurich", {4}),
        ("ZÜRICH", {4}),
        ("🧠", {5}),
        ("meeting", {5}),
    ],
)
async def test_words_of_any_script_are_found_from_one_character_on(
    house: House, query: str, expected: set[int]
) -> None:
    texts = ["東京で会った", "京都", "東京の会議", "서울에서 만났다", "a flat in Zürich", "meetings 🧠"]
    numbers = await house.keep_all(texts)
    assert await numbers_for(house, query) == {numbers[place] for place in expected}


async def test_a_character_that_begins_several_terms_of_one_memory_is_no_stumbling_block(house: House) -> None:
    (number,) = await house.keep_all(["日本日曜日中日光"])
    hits = await asked(house, "日")
    assert set(hits.scores) == {number}


LITERALS = [
    '" OR * NEAR( - ^ :',
    '"',
    "''",
    "a AND b",
    "terms:alpha",
    "alpha*",
    "NEAR(alpha beta)",
    "{alpha}",
    "(",
    "\\",
]


@pytest.mark.parametrize("query", LITERALS)
async def test_what_a_query_holds_is_never_an_operator(house: House, query: str) -> None:
    await house.keep_all(["alpha beta", "or near", "gamma"])
    assert (await asked(house, query)).asked >= 0.0


@pytest.mark.parametrize("text", ['al"pha', '" OR "', "alpha* OR beta", "^alpha", "a:b", "NEAR("])
async def test_nor_is_what_a_term_holds(house: House, text: str) -> None:
    await house.keep_all(["alpha beta"])
    for term in (Term(text), Term(text, prefix=True)):
        found = await house.store.read(lambda tx, term=term: tx.lexical([term], house.ours, 9))  # type: ignore[misc]
        assert isinstance(found, LexicalHits)


async def test_the_rarer_word_weighs_more_and_the_limit_keeps_the_best(house: House) -> None:
    await house.keep_all(["common words here"] * 20)
    rare, both = await house.keep_all(["a zebra stands here", "zebra zebra common"])
    hits = await asked(house, "zebra common", limit=2)
    assert set(hits.scores) == {rare, both}
    assert hits.scores[both] > hits.scores[rare] > 0
    assert hits.asked > 0


async def test_a_word_of_nobody_is_found_nowhere(house: House) -> None:
    await house.keep_all(["alpha"])
    assert await numbers_for(house, "omega") == set()
    assert (await house.store.read(lambda tx: tx.lexical([], house.ours, 9))).scores == {}


async def test_full_text_follows_changes_and_deletions(house: House) -> None:
    memory, other = await house.keep("alpha"), await house.keep("alpha omega")
    await house.store.write(
        lambda tx: tx.revise(memory, Change(content="beta"), memory.author, NOW, house.prints("beta"))
    )
    assert await numbers_for(house, "alpha") == {other.number}
    assert await numbers_for(house, "beta") == {memory.number}
    await house.forget(other)
    assert await numbers_for(house, "alpha") == set()
    assert await numbers_for(house, "omega") == set()


async def test_words_in_very_many_memories_are_answered_by_the_newest_and_by_those_with_both(house: House) -> None:
    plain = Prints(terms("omnis"), None, "")
    drafts = [house.drafted("omnis") for _ in range(6500)]

    def work(tx: Transaction) -> list[int]:
        return [house.put(tx, draft, plain).number for draft in drafts]

    numbers = await house.store.write(work)
    (both,) = await house.keep_all(["omnis and zebra"])
    (bens,) = await house.store.write(lambda tx: [house.put(tx, house.drafted("omnis", home=house.elsewhere)).number])
    frequent = await asked(house, "omnis", limit=50)
    assert list(frequent.scores) == [both, *numbers[:-50:-1]]
    assert await numbers_for(house, "omnis zebra") == {both}
    only_bens = replace(house.ours, collections=frozenset({house.elsewhere}))
    assert await numbers_for(house, "omnis", only_bens) == {bens}
    assert await numbers_for(house, "omnis zebra", only_bens) == {bens}, "a filter must not cost a find"


# Filters, against a plain reading of what they mean


def passes(memory: Memory, among: Filter) -> bool:
    ttl = memory.ephemeral.ttl.total_seconds() if memory.ephemeral else None
    return all(
        (
            memory.home in among.collections,
            memory.ephemeral is None or memory.ephemeral.ends_at > among.now,
            among.since is None or memory.created_at >= among.since,
            among.until is None or memory.created_at <= among.until,
            among.importance_min is None or memory.importance >= among.importance_min,
            among.importance_max is None or memory.importance <= among.importance_max,
            not among.tags or bool({fold(tag) for tag in among.tags} & {fold(tag) for tag in memory.tags}),
            not among.categories or memory.category in among.categories,
            among.ephemeral is None or among.ephemeral == (memory.ephemeral is not None),
            among.ttl_over is None or (ttl is not None and ttl > among.ttl_over),
            among.ttl_upto is None or (ttl is not None and ttl <= among.ttl_upto),
        )
    )


def crowd(house: House, size: int) -> list[Memory]:
    """Memories that differ in everything a filter can ask for."""
    chance = random.Random(7)
    ends = [None, None, ending(HOUR), ending(DAY), ending(-HOUR, HOUR)]
    return [
        house.drafted(
            f"word {place}",
            home=chance.choice([house.home, house.home, house.elsewhere, house.common]),
            created_at=NOW - chance.randrange(60) * HOUR,
            importance=chance.choice([0.0, 0.1, 0.3, 0.1 + 0.2, 0.7, 1.0]),
            tags=tuple(chance.sample(["a", "A", "b", "c", "日"], chance.randrange(3))),
            category=chance.choice(["", "x", "y"]),
            ephemeral=chance.choice(ends),
        )
        for place in range(size)
    ]


FILTERS: list[Callable[[Filter], Filter]] = [
    lambda f: f,
    lambda f: replace(f, collections=frozenset()),
    lambda f: replace(f, since=NOW - DAY, until=NOW - 6 * HOUR),
    lambda f: replace(f, since=NOW - DAY),
    lambda f: replace(f, until=NOW - 59 * HOUR),
    lambda f: replace(f, importance_min=0.3, importance_max=0.7),
    lambda f: replace(f, importance_max=0.3),
    lambda f: replace(f, tags=("a",)),
    lambda f: replace(f, tags=("日", "b"), categories=("x",)),
    lambda f: replace(f, tags=("Ｂ",), categories=("x",)),
    lambda f: replace(f, categories=("", "y")),
    lambda f: replace(f, categories=("none",)),
    lambda f: replace(f, ephemeral=True),
    lambda f: replace(f, ephemeral=False, tags=("c",)),
    lambda f: replace(f, ttl_over=3600.0),
    lambda f: replace(f, ttl_upto=3600.0, tags=("a", "b")),
    lambda f: replace(f, now=NOW + 2 * HOUR),
    lambda f: replace(f, tags=("a",), since=NOW - 2 * DAY, importance_min=0.1, ephemeral=False, categories=("x", "y")),
]


async def test_filters_let_through_what_they_say_and_never_cost_a_find(house: House) -> None:
    drafts = crowd(house, 400)
    vectors = random_units(400, 64, seed=1)
    query = random_units(1, 64, seed=2)[0]
    pairs = list(zip(drafts, vectors, strict=True))

    def work(tx: Transaction) -> list[Memory]:
        return [house.put(tx, draft, house.prints(draft.content, vector[None])) for draft, vector in pairs]

    kept = await house.store.write(work)
    for narrowed in FILTERS:
        among = narrowed(house.ours)
        expected = [memory for memory in kept if passes(memory, among)]
        await _same_everywhere(house, among, expected, query, vectors @ query, kept)


async def _same_everywhere(
    house: House, among: Filter, expected: list[Memory], query: Vectors, cosines: Vectors, kept: list[Memory]
) -> None:
    numbers = [m.number for m in sorted(expected, key=lambda m: (m.created_at, m.number), reverse=True)]
    page = await house.store.read(lambda tx: tx.page(among, EVERY))
    assert ([m.number for m in page.memories], page.total) == (numbers, len(numbers))
    assert await house.store.read(lambda tx: tx.count(among)) == len(numbers)
    assert await numbers_for(house, "word", among) == set(numbers)
    every = [m.number for m in kept]
    assert {m.number for m in await house.store.read(lambda tx: tx.memories(every, among))} == set(numbers)

    def scanned(tx: Reading) -> tuple[dict[int, float], dict[int, float]]:
        scan = tx.scan(query, house.embedder.fingerprint, among)
        return dict(scan.best(10)), dict(scan.of(every).best)

    best, of = await house.store.read(scanned)
    exact = {m.number: float(cosines[place]) for place, m in enumerate(kept) if m in expected}
    nearest = sorted(exact, key=lambda n: -exact[n])[:10]
    assert close_to(best, {n: exact[n] for n in nearest})
    assert list(best) == sorted(best, key=lambda n: (-best[n], n))
    assert close_to(of, exact, 0.01)


async def test_the_views_inside_a_transaction_go_with_it_when_it_fails(house: House) -> None:
    memory = await house.keep("alpha", importance=0.5)
    query = house.embedder.embed(["omega"])[0]

    def seen(tx: Reading) -> tuple[set[int], int, float]:
        best = tx.scan(query, house.embedder.fingerprint, house.ours).best(5)
        return set(best), tx.count(house.ours), tx.facts([memory.number])[memory.number].importance

    def change(tx: Transaction) -> None:
        house.put(tx, house.drafted("omega"))
        tx.revise(memory, Change(importance=0.9), memory.author, NOW, None)
        house.happened(tx, EventKind.REVISED, memory)
        found, count, importance = seen(tx)
        assert (len(found), count, importance) == (2, 2, 0.9)
        raise ZeroDivisionError

    before = await house.store.read(seen)
    with pytest.raises(ZeroDivisionError):
        await house.store.write(change)
    assert await house.store.read(seen) == before == ({memory.number}, 1, 0.5)
    other = await house.keep("psi")  # gets the numbers that the failed one had
    assert await house.store.read(seen) == ({memory.number, other.number}, 2, 0.5)


# Meaning


async def test_a_memory_counts_by_the_best_of_its_parts(house: House) -> None:
    units = random_units(4, 64, seed=3)
    long = await house.keep("long", prints=house.prints("long", units[:3]))
    short = await house.keep("short", prints=house.prints("short", units[3:]))

    def work(tx: Reading) -> dict[int, float]:
        return dict(tx.scan(units[2], house.embedder.fingerprint, house.ours).best(2))

    expected = {long.number: 1.0, short.number: float(units[3] @ units[2])}
    assert close_to(await house.store.read(work), expected)


async def test_vectors_come_back_as_they_were_written_and_follow_changes(house: House) -> None:
    units = random_units(5, 64, seed=4)
    fingerprint = house.embedder.fingerprint
    memory = await house.keep("text", prints=house.prints("text", units[:3]))

    async def vectors(fingerprint: str = fingerprint) -> Vectors | None:
        return await house.store.read(lambda tx: tx.vectors(memory.number, fingerprint))

    found = await vectors()
    assert found is not None
    np.testing.assert_allclose(found, units[:3], atol=1e-3)
    assert await vectors("another") is None
    whole = await house.store.read(lambda tx: tx.whole_vectors([memory.number, 99], fingerprint))
    np.testing.assert_allclose(whole[memory.number], units[0], atol=1e-3)
    await house.store.write(
        lambda tx: tx.revise(memory, Change(content="t"), memory.author, NOW, house.prints("t", units[3:4]))
    )
    found = await vectors()
    assert found is not None
    np.testing.assert_allclose(found, units[3:4], atol=1e-3)


async def test_vectors_of_two_embedders_are_never_compared(house: House) -> None:
    old = Prints(["old"], random_units(1, 32, seed=5), "other/32")
    await house.keep("old", prints=old)
    new = await house.keep("new")
    query = house.embedder.embed(["new"])[0]

    def best(tx: Reading, vector: Vectors, fingerprint: str) -> set[int]:
        return set(tx.scan(vector, fingerprint, house.ours).best(5))

    fingerprint = house.embedder.fingerprint
    assert await house.store.read(lambda tx: best(tx, query, fingerprint)) == {new.number}
    assert await house.store.read(lambda tx: best(tx, query, "unknown")) == set()
    assert await house.store.read(lambda tx: len(best(tx, random_units(1, 32, seed=6)[0], "other/32"))) == 1


async def test_a_model_that_changes_the_length_of_its_vectors_costs_no_text_and_no_search(house: House) -> None:
    fingerprint = house.embedder.fingerprint
    kept = await house.keep("as before")
    longer = Prints(["longer"], random_units(1, 96, seed=7), fingerprint)
    odd = await house.keep("longer", prints=longer)
    assert await house.store.read(lambda tx: [m.id for m in tx.unembedded(9)]) == [odd.id]
    query = house.embedder.embed(["as before"])[0]
    best = await house.store.read(lambda tx: tx.scan(query, fingerprint, house.ours).best(9))
    assert set(best) == {kept.number}
    with pytest.raises(EmbeddingFailed, match="96"):
        await house.store.write(lambda tx: tx.put_vectors(odd.number, longer, NOW))


async def test_what_the_embedder_has_not_seen_is_listed_until_it_has(house: House) -> None:
    fingerprint = house.embedder.fingerprint
    blind = await house.keep("blind", prints=Prints(["blind"], None, fingerprint, unembedded="no model"))
    seen = await house.keep("seen")
    assert await house.store.read(lambda tx: [m.id for m in tx.unembedded(9)]) == [blind.id]
    await house.store.write(lambda tx: tx.put_vectors(blind.number, house.prints("blind"), NOW))
    assert await house.store.read(lambda tx: tx.unembedded(9)) == []
    assert await house.store.read(lambda tx: tx.embedded()) == Embedded(None, whole=True)
    await house.store.write(lambda tx: tx.choose_embedder(fingerprint, "the first", NOW))
    assert await house.store.read(lambda tx: tx.embedded()) == Embedded(fingerprint, whole=True)
    await house.store.write(lambda tx: tx.choose_embedder("next/32", "another model", NOW))
    assert await house.store.read(lambda tx: tx.embedded()) == Embedded("next/32", whole=False)
    assert await house.store.read(lambda tx: [m.id for m in tx.unembedded(1)]) == [blind.id]
    assert await house.store.read(lambda tx: tx.statistics(NOW).unembedded_reason) == "another model"
    late = await house.keep("by the former embedder")
    assert await house.store.read(lambda tx: [m.id for m in tx.unembedded(9)]) == [blind.id, seen.id, late.id]
    assert await house.store.read(lambda tx: tx.vectors(late.number, fingerprint)) is None


# Neighbours, facts, uses


def beside(kept: Sequence[Memory], place: int, among: Filter) -> list[int]:
    """Two on each side, by the same author in the same collection within an hour."""
    here = kept[place]

    def near(other: Memory) -> bool:
        return (
            passes(other, among)
            and (other.home, other.author.user) == (here.home, here.author.user)
            and abs(other.created_at - here.created_at) <= HOUR
        )

    before = [m.number for m in kept[max(place - 8, 0) : place] if near(m)]
    after = [m.number for m in kept[place + 1 : place + 9] if near(m)]
    return before[-2:] + after[:2]


async def test_neighbours_were_written_just_before_and_after_by_the_same_one(house: House) -> None:
    chance = random.Random(3)
    people: list[dict[str, Any]] = [
        {"home": house.home, "author": house.author()},
        {"home": house.common, "author": house.author()},
        {"home": house.elsewhere, "author": house.author(house.ben)},
    ]
    drafts, at = [], NOW - 10 * DAY
    for place in range(80):
        at += chance.choice([timedelta(minutes=1), timedelta(minutes=20), 2 * HOUR])
        drafts.append(house.drafted(f"n {place}", created_at=at, **chance.choice(people)))
    kept = await house.store.write(lambda tx: [house.put(tx, draft) for draft in drafts])
    expected = {m.number: beside(kept, place, house.ours) for place, m in enumerate(kept)}
    numbers = [m.number for m in kept]
    found = await house.store.read(lambda tx: tx.neighbours([*numbers, 999], house.ours))
    assert {number: list(them) for number, them in found.items()} == expected
    assert all(number in found[other] for number, them in found.items() for other in them)


async def test_facts_hold_importance_time_and_uses(house: House) -> None:
    memory = await house.keep("used", importance=0.3, created_at=NOW - DAY)
    await house.store.write(lambda tx: tx.count_uses({memory.number: 2, 999: 1}, NOW))
    await house.store.write(lambda tx: tx.count_uses({memory.number: 3}, NOW + HOUR))
    facts = (await house.store.read(lambda tx: tx.facts([memory.number, 999])))[memory.number]
    assert (facts.importance, facts.created, facts.uses) == (0.3, (NOW - DAY).timestamp(), 5)
    used = await house.store.read(lambda tx: only(tx, memory.number, house.ours))
    assert (used.uses, used.used_at) == (5, NOW + HOUR)


async def test_a_word_of_nearly_all_memories_is_found_when_some_have_gone(house: House) -> None:
    numbers = await house.keep_all([f"fact {number}" for number in range(400)])
    await house.store.settle()  # counts frequent words
    assert await numbers_for(house, "fact")
    for memory in await house.store.read(lambda tx: tx.memories(numbers[:3], house.ours)):
        await house.forget(memory)
    for query in ("fact", "fact 7", "fact fac"):
        assert await numbers_for(house, query) <= set(numbers[3:])
        assert await numbers_for(house, query)


async def test_a_search_goes_on_while_another_has_written_what_may_yet_be_undone(house: House) -> None:
    numbers = await house.keep_all([f"note {number}" for number in range(3)])
    looked, written, looked_again = (threading.Event() for _ in range(3))

    def look(tx: Reading) -> Mapping[int, Sequence[int]]:
        tx.neighbours(numbers, house.ours)
        looked.set()
        written.wait(10)
        try:
            return tx.neighbours(numbers, house.ours)
        finally:
            looked_again.set()

    def write(tx: Transaction) -> None:
        looked.wait(10)
        for number in range(20):
            house.put(tx, house.drafted(f"another {number}"))
        tx.neighbours(numbers, house.ours)  # brings the index up to what is not yet certain
        written.set()
        looked_again.wait(10)
        raise Spoilt

    found, undone = await asyncio.gather(house.store.read(look), house.store.write(write), return_exceptions=True)
    assert isinstance(undone, Spoilt)
    assert found == {numbers[0]: numbers[1:], numbers[1]: [numbers[0], numbers[2]], numbers[2]: numbers[:2]}


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Python", "PYTHON"),
        ("straße", "STRASSE"),
        ("ｶﾌｪ", "カフェ"),
        ("Ｃ＋＋", "c++"),
        ("e\u0301t\u00e9", "\u00c9T\u00c9"),
    ],
)
async def test_a_tag_is_found_however_it_is_written_and_kept_as_it_was(house: House, written: str, asked: str) -> None:
    memory = await house.keep("tagged", tags=(written,))
    await house.keep("with another", tags=("other",))
    among = replace(house.ours, tags=(asked,))
    (found,) = (await house.store.read(lambda tx: tx.page(among, EVERY))).memories
    assert (found.number, found.tags) == (memory.number, (written,))
    await house.store.write(lambda tx: tx.revise(found, Change(tags=("Renamed",)), found.author, NOW, None))
    assert (await house.store.read(lambda tx: tx.page(among, EVERY))).total == 0
    renamed = replace(house.ours, tags=("renamed",))
    assert (await house.store.read(lambda tx: tx.page(renamed, EVERY))).total == 1
