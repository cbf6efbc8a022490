"""Ranking: what decides the order, what may only nudge it, and how close a memory is in itself."""

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.domain.ranking import (
    CLEARLY,
    DEFAULT,
    Beside,
    Contest,
    Evidence,
    Ranked,
    Scale,
    Standing,
    boosts,
    closeness,
    folded,
)

SCALE = Scale(unrelated=0.45, same=0.93)
BOOST = DEFAULT.importance + DEFAULT.recency + DEFAULT.use
ASKED = 10.0


class Candidate(NamedTuple):
    """All there is to know about one row."""

    row: int
    cosine: float | None
    lexical: float
    importance: float = 0.5
    age_days: float = 0.0
    uses: int = 0
    whole: float | None = None

    @property
    def standing(self) -> Standing:
        return Standing(self.importance, self.age_days, self.uses)


cosines = st.floats(-1, 1)
maybe_cosines = st.none() | cosines
bm25 = st.just(0.0) | st.floats(0, 20)
candidates = st.builds(
    Candidate,
    row=st.integers(0, 30),
    cosine=maybe_cosines,
    lexical=bm25,
    importance=st.floats(0, 1),
    age_days=st.floats(0, 10_000),
    uses=st.integers(0, 10_000),
    whole=maybe_cosines,
)
found = st.lists(candidates, max_size=12, unique_by=lambda one: one.row)
neighbourhoods = st.dictionaries(st.integers(0, 30), st.lists(st.integers(0, 30), max_size=4), max_size=12)


def ranked(
    *some: Candidate,
    asked: float = ASKED,
    neighbours: dict[int, list[int]] | None = None,
    limit: int | None = None,
    least: float = 0.0,
) -> list[Ranked]:
    evidence = Evidence(
        {one.row: one.cosine for one in some if one.cosine is not None},
        {one.row: one.whole for one in some if one.whole is not None},
        {one.row: one.lexical for one in some if one.lexical or one.cosine is None},
        asked,
    )
    standing = {one.row: one.standing for one in some}
    mutual = mutually(neighbours or {})

    def look_up(rows: Sequence[int]) -> dict[int, Standing]:
        return {row: standing[row] for row in rows if row in standing}

    def look_around(rows: Sequence[int]) -> Beside:
        return Beside({row: mutual[row] for row in rows if row in mutual})

    return Contest(evidence, look_around, look_up, scale=SCALE).best(limit, least)


def mutually(neighbours: dict[int, list[int]]) -> dict[int, list[int]]:
    """As the store knows them: of two neighbours each names the other."""
    found: dict[int, set[int]] = {}
    for row, others in neighbours.items():
        for other in others:
            found.setdefault(row, set()).add(other)
            found.setdefault(other, set()).add(row)
    return {row: sorted(others) for row, others in found.items()}


def among(some: list[Candidate], neighbours: dict[int, list[int]]) -> dict[int, list[int]]:
    """Of these neighbours those that are there."""
    known = {one.row for one in some}
    return {row: [other for other in others if other in known] for row, others in neighbours.items() if row in known}


def nothing_beside(rows: Sequence[int]) -> Beside:
    return Beside()


def order(*some: Candidate, asked: float = ASKED, neighbours: dict[int, list[int]] | None = None) -> list[int]:
    return [one.row for one in ranked(*some, asked=asked, neighbours=neighbours)]


def test_the_order_goes_by_bm25_and_the_closeness_by_the_words() -> None:
    long, short = 1, 2
    evidence = Evidence(
        {long: 0.2, short: 0.2}, {}, {long: 4.0, short: 6.0}, ASKED, {long: 0.98 * ASKED, short: ASKED / 2}
    )
    best = Contest(evidence, nothing_beside, lambda rows: dict.fromkeys(rows, Standing()), scale=SCALE).best()
    assert [one.row for one in best] == [short, long]
    assert best[1].closeness > 0.7 > best[0].closeness


def test_meaning_and_words_together_beat_either() -> None:
    assert order(Candidate(1, 0.45, 0), Candidate(2, 0.45, 5), Candidate(3, 0.3, 5)) == [2, 3, 1]


def test_a_shared_word_lifts_nothing_above_what_is_clearly_closer_by_its_meaning() -> None:
    answer, misled, hint = Candidate(1, 0.6, 0), Candidate(2, 0.1, 4), Candidate(3, 0.5, 4)
    assert order(answer, misled) == [1, 2]
    assert order(answer, hint) == [3, 1]  # with its words it is about as close
    assert order(answer, misled._replace(cosine=None)) == [2, 1]  # nothing is known against it


def test_what_has_every_word_comes_before_the_closest_meaning() -> None:
    assert order(Candidate(1, 0.92, 0), Candidate(2, 0.1, ASKED)) == [2, 1]


def test_words_that_are_held_back_still_tell_those_apart_that_have_them() -> None:
    assert order(*(Candidate(row, 0.1, row) for row in (3, 1, 4, 2)), Candidate(9, 0.7, 0)) == [9, 4, 3, 2, 1]


@given(found)
def test_only_what_is_about_as_close_or_has_every_word_comes_before_the_closest_meaning(some: list[Candidate]) -> None:
    known = {one.row: one._replace(whole=None) for one in some if one.cosine is not None}
    closest = max(known.values(), key=lambda one: one.cosine or 0.0, default=Candidate(0, 0.0, 0))
    enough = closeness(closest.cosine, 0.0, SCALE) - CLEARLY - 1e-9
    before = takewhile(lambda one: one.row != closest.row, ranked(*known.values()))
    assert all(one.closeness >= enough or known[one.row].lexical >= ASKED * 0.99 for one in before)


def test_without_vectors_the_words_decide() -> None:
    assert order(Candidate(1, None, 2), Candidate(2, None, 9), Candidate(3, None, 5)) == [2, 3, 1]


def test_without_words_the_meaning_decides() -> None:
    assert order(Candidate(1, 0.2, 0), Candidate(2, 0.9, 0), Candidate(3, 0.5, 0), asked=0) == [2, 3, 1]


def test_a_memory_not_embedded_yet_is_still_found_by_its_words() -> None:
    assert order(Candidate(1, 0.4, 1), Candidate(2, None, 9), Candidate(3, 0.5, 2))[0] == 2


def test_words_that_no_memory_has_leave_the_decision_to_the_meaning() -> None:
    by_word, by_meaning = Candidate(1, 0.1, 2), Candidate(2, 0.5, 0)
    assert order(by_word, by_meaning, asked=2) == [1, 2]
    assert order(by_word, by_meaning, asked=20) == [2, 1]


def test_of_two_equal_parts_the_one_in_the_closer_text_comes_first() -> None:
    assert order(Candidate(1, 0.6, 0, whole=0.2), Candidate(2, 0.6, 0, whole=0.5)) == [2, 1]


def test_the_neighbour_of_a_good_match_comes_before_a_stranger() -> None:
    match, answer, stranger = Candidate(1, 0.6, 8), Candidate(2, 0.2, 0), Candidate(9, 0.3, 0)
    assert order(match, answer, stranger) == [1, 9, 2]
    assert order(match, answer, stranger, neighbours={2: [1]}) == [1, 2, 9]


def test_a_neighbour_that_no_search_has_found_is_lifted_by_a_good_match() -> None:
    evidence = Evidence({1: 0.6, 9: 0.3}, {}, {1: 8.0}, ASKED)
    beside = Beside({1: [2, 3]}, {2: 0.2}, {})  # the third has no vector
    found = Contest(evidence, lambda rows: beside, lambda rows: dict.fromkeys(rows, Standing()), scale=SCALE).best()
    assert [one.row for one in found] == [1, 3, 2, 9]
    assert [one.closeness for one in found[1:3]] == [0, closeness(0.2, 0, SCALE)]


def test_only_rows_that_lead_by_themselves_are_looked_around() -> None:
    evidence = Evidence({row: row / 100 for row in range(100)}, {}, {}, 0.0)
    looked_around: list[int] = []

    def look_around(rows: Sequence[int]) -> Beside:
        looked_around.extend(rows)
        return Beside()

    Contest(evidence, look_around, lambda rows: dict.fromkeys(rows, Standing()), scale=SCALE).best(3)
    assert looked_around[:3] == [99, 98, 97]
    assert len(looked_around) < 10


def test_what_is_related_by_its_own_meaning_comes_before_what_is_only_lent() -> None:
    match, beside, translated = Candidate(1, 0.6, ASKED), Candidate(2, 0.2, 0), Candidate(9, SCALE.related, 0)
    hardly = translated._replace(cosine=SCALE.unrelated)
    assert order(match, beside, translated, neighbours={2: [1]}) == [1, 9, 2]
    assert order(match, beside, hardly, neighbours={2: [1]}) == [1, 2, 9]


def test_a_text_that_has_nothing_of_it_is_not_lifted_by_its_neighbours() -> None:
    match, beside, hint = Candidate(1, 0.8, 9), Candidate(2, 0.05, 0), Candidate(9, 0.4, 0)
    assert order(match, beside, hint, neighbours={2: [1]}) == [1, 9, 2]
    assert order(match, beside._replace(lexical=0.5), hint, neighbours={2: [1]}) == [1, 2, 9]


def test_an_unrelated_neighbour_lends_nothing() -> None:
    _, alone = ranked(Candidate(1, 0.45, 0), Candidate(2, 0.2, 0), neighbours={2: [1]})
    assert alone.reasons["neighbours"] == pytest.approx(0)


def test_near_duplicates_side_by_side_stay_behind_the_match_itself() -> None:
    match, like, likewise = Candidate(9, 1.0, 10), Candidate(1, 0.9, 8.5), Candidate(2, 0.9, 8.5)
    assert order(match, like, likewise, neighbours={1: [2], 2: [1]}) == [9, 1, 2]


@given(found, neighbourhoods)
def test_what_is_lent_lifts_nothing_above_the_best(some: list[Candidate], beside: dict[int, list[int]]) -> None:
    beside = among(some, beside)
    plain = [one._replace(importance=0.5, age_days=0.0, uses=0) for one in some]
    highest = max((one.score for one in ranked(*plain)), default=0.0)
    assert all(one.score <= max(highest, 0.0) + 1e-6 for one in ranked(*plain, neighbours=beside))


def test_to_say_it_twice_or_shorter_is_no_better_than_to_say_it() -> None:
    itself, twice, shorter = Candidate(9, 1.0, 7), Candidate(1, 0.95, 15), Candidate(2, 0.95, 11)
    evidence = Evidence(
        {one.row: one.cosine or 0.0 for one in (itself, twice, shorter)},
        {},
        {one.row: one.lexical for one in (itself, twice, shorter)},
        ASKED,
        dict.fromkeys((9, 1, 2), ASKED),
    )
    found = Contest(evidence, nothing_beside, lambda rows: dict.fromkeys(rows, Standing()), scale=SCALE).best()
    assert [one.row for one in found] == [9, 1, 2]
    assert {one.reasons["lexical"] for one in found} == {DEFAULT.lexical}


def test_equal_candidates_stand_in_the_order_of_their_rows() -> None:
    assert order(*(Candidate(row, 0.5, 1) for row in (5, 3, 9))) == [3, 5, 9]


def test_a_limit_takes_the_best() -> None:
    some = [Candidate(row, row / 10, 0) for row in range(10)]
    assert [one.row for one in ranked(*some, asked=0, limit=3)] == [9, 8, 7]


@given(found, neighbourhoods, st.integers(1, 12))
def test_a_limit_takes_what_the_whole_list_begins_with(
    some: list[Candidate], beside: dict[int, list[int]], limit: int
) -> None:
    beside = among(some, beside)
    assert ranked(*some, neighbours=beside, limit=limit) == ranked(*some, neighbours=beside)[:limit]


@given(found, neighbourhoods, st.integers(1, 12), st.floats(0, 1))
def test_a_threshold_leaves_those_that_are_as_close(
    some: list[Candidate], beside: dict[int, list[int]], limit: int, least: float
) -> None:
    beside = among(some, beside)
    close = [one for one in ranked(*some, neighbours=beside) if one.closeness >= least]
    assert ranked(*some, neighbours=beside, limit=limit, least=least) == close[:limit]


@given(candidates)
def test_a_threshold_leaves_what_is_exactly_as_close(one: Candidate) -> None:
    [found] = ranked(one)
    assert ranked(one, least=found.closeness) == [found]


def test_only_rows_that_boosts_could_bring_to_the_top_are_looked_up() -> None:
    evidence = Evidence({row: row / 100 for row in range(100)}, {}, {}, 0.0)
    looked_up: list[int] = []

    def look_up(rows: Sequence[int]) -> dict[int, Standing]:
        looked_up.extend(rows)
        return dict.fromkeys(rows, Standing())

    assert [one.row for one in Contest(evidence, nothing_beside, look_up, scale=SCALE).best(3)] == [99, 98, 97]
    assert len(looked_up) < 10


@given(found, neighbourhoods, st.just(0.0) | st.floats(0.1, 50))
def test_the_reasons_add_up_to_the_score(some: list[Candidate], beside: dict[int, list[int]], asked: float) -> None:
    for one in ranked(*some, asked=asked, neighbours=beside):
        assert sum(one.reasons.values()) == pytest.approx(one.score)


@given(found, neighbourhoods)
def test_every_candidate_is_ranked_once_and_best_first(some: list[Candidate], beside: dict[int, list[int]]) -> None:
    result = ranked(*some, neighbours=beside)
    assert sorted(one.row for one in result) == sorted(one.row for one in some)
    assert all(a.score >= b.score for a, b in pairwise(result))


@given(found, neighbourhoods)
def test_the_order_of_the_candidates_does_not_matter(some: list[Candidate], beside: dict[int, list[int]]) -> None:
    assert ranked(*some, neighbours=beside) == ranked(*reversed(some), neighbours=beside)


@given(st.builds(Standing, st.floats(-9, 9), st.floats(-9, 1e9), st.integers(-9, 10**9)))
def test_boosts_are_small_and_never_harm(one: Standing) -> None:
    assert 0 <= sum(boosts(one)) <= BOOST + 1e-9 <= 0.12 + 2e-9


@given(candidates, st.floats(0, 1), st.floats(0, 1000), st.integers(0, 1000))
def test_more_important_newer_and_more_used_never_ranks_lower(
    one: Candidate, importance: float, days: float, uses: int
) -> None:
    better = one._replace(
        importance=max(importance, one.importance), age_days=one.age_days - days, uses=one.uses + uses
    )
    assert all(b >= a for a, b in zip(boosts(one.standing), boosts(better.standing), strict=True))


@given(candidates, candidates)
def test_a_popular_memory_never_buries_a_better_match(popular: Candidate, match: Candidate) -> None:
    popular, match = popular._replace(row=1), match._replace(row=2)
    boost = {one.row: sum(boosts(one.standing)) for one in (popular, match)}
    plain = {one.row: one.score - boost[one.row] for one in ranked(popular, match)}
    if plain[2] - plain[1] > BOOST + 1e-6:
        assert order(popular, match) == [2, 1]


@given(candidates, candidates)
def test_a_better_neighbour_never_harms(one: Candidate, other: Candidate) -> None:
    one, other = one._replace(row=1), other._replace(row=2)
    alone = {r.row: r.score for r in ranked(one, other)}
    together = {r.row: r.score for r in ranked(one, other, neighbours={1: [2]})}
    assert all(together[row] >= alone[row] for row in (1, 2))


@given(found, neighbourhoods)
def test_closeness_comes_from_the_memory_itself(some: list[Candidate], beside: dict[int, list[int]]) -> None:
    by_row = {one.row: one for one in some}
    for one in ranked(*some, neighbours=beside):
        itself = by_row[one.row]
        assert one.closeness == closeness(itself.cosine, itself.lexical / ASKED, SCALE)


@given(cosines, cosines, st.floats(0, 2), st.floats(0, 2))
def test_closeness_grows_with_the_evidence(a: float, b: float, c: float, d: float) -> None:
    low, high = closeness(min(a, b), min(c, d), SCALE), closeness(max(a, b), max(c, d), SCALE)
    assert 0 <= low <= high + 1e-12 <= 1 + 2e-12


@given(st.floats(0, 2), st.floats(0, 2))
def test_closeness_by_words_alone_grows_with_them(a: float, b: float) -> None:
    assert 0 <= closeness(None, min(a, b), SCALE) <= closeness(None, max(a, b), SCALE) <= 1


@pytest.mark.parametrize(
    ("cosine", "coverage", "low", "high"),
    [
        (1.0, 0.0, 1.0, 1.0),  # the same text
        (0.995, 0.0, 0.97, 1.0),  # the same text, after rounding
        (0.93, 0.0, 0.9, 0.91),  # a near-duplicate
        (0.7, 0.0, 0.7, 0.9),  # a paraphrase
        (0.44, 0.0, 0.0, 0.5),  # nothing in common
        (0.2, 0.3, 0.0, 0.5),  # a stray word in common
        (0.1, 1.0, 0.7, 0.9),  # a rare word, literally
        (None, 1.0, 0.7, 0.9),
        (None, 0.0, 0.0, 0.0),
    ],
)
def test_closeness_means_the_same_for_every_text(
    cosine: float | None, coverage: float, low: float, high: float
) -> None:
    assert low <= closeness(cosine, coverage, SCALE) <= high


@pytest.mark.parametrize(("unrelated", "same"), [(0.9, 0.5), (0.5, 0.5), (-0.1, 0.9), (0.4, 1.0)])
def test_a_scale_that_measures_nothing_is_refused(unrelated: float, same: float) -> None:
    with pytest.raises(Invalid):
        Scale(unrelated, same)


def test_near_duplicates_are_folded_into_the_best() -> None:
    result = ranked(*(Candidate(row, 0.9 - row / 10, 0) for row in range(6)))

    def same_evenness(a: int, b: int) -> float:
        return 1.0 if a % 2 == b % 2 else 0.0

    assert [one.row for one in folded(result, same_evenness, 0.95)] == [0, 1]


def test_folding_stops_when_it_has_enough() -> None:
    result = ranked(*(Candidate(row, 0.9 - row / 10, 0) for row in range(6)))
    assert [one.row for one in folded(result, lambda a, b: 0.0, 0.95, limit=2)] == [0, 1]
