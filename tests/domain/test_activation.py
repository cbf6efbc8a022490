from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.activation import LEAST, spread
from commonplace.domain.link import FADING, HALF_LIFE, LASTING, LinkKind, Tie

NOW = datetime(2026, 1, 15, tzinfo=UTC)
Edges = dict[tuple[int, int], float]

edges = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]),
    st.floats(0.0, 1.0),
    max_size=20,
)


def ties(edges: Edges) -> dict[int, list[Tie]]:
    """The ties of each memory, seen from both ends, the strongest first."""
    found: dict[int, list[Tie]] = {}
    for (one, other), strength in edges.items():
        found.setdefault(one, []).append(Tie(other, LinkKind.MANUAL, strength, NOW, None))
        found.setdefault(other, []).append(Tie(one, LinkKind.MANUAL, strength, NOW, None))
    return {number: sorted(those, key=lambda tie: -tie.strength) for number, those in found.items()}


def strongest_walks(edges: Edges, start: int, depth: int) -> dict[int, float]:
    """By trying every way of every length."""
    best: dict[int, float] = {}
    walks: list[tuple[tuple[int, ...], float]] = [((start,), 1.0)]
    for _ in range(depth):
        longer = []
        for walk, strength in walks:
            for (one, other), weight in edges.items():
                for here, there in ((one, other), (other, one)):
                    if here == walk[-1] and there not in walk and strength * weight >= LEAST:
                        longer.append(((*walk, there), strength * weight))
        walks = longer
        for walk, strength in walks:
            best[walk[-1]] = max(best.get(walk[-1], 0.0), strength)
    return best


@given(edges, st.integers(1, 4))
def test_activation_is_that_of_the_strongest_way(edges: Edges, depth: int) -> None:
    near = ties(edges)
    reached = spread(0, lambda number: near.get(number, []), NOW, depth=depth, limit=100)
    expected = strongest_walks(edges, 0, depth)
    assert {one.number: one.strength for one in reached} == pytest.approx(expected)


@given(edges, st.integers(1, 4))
def test_the_way_shown_is_one_and_has_the_strength_it_says(edges: Edges, depth: int) -> None:
    near = ties(edges)
    for one in spread(0, lambda number: near.get(number, []), NOW, depth=depth, limit=100):
        assert (one.path[0], one.path[-1], len(one.path)) == (0, one.number, one.depth + 1)
        assert len(set(one.path)) == len(one.path)
        strength = 1.0
        for pair in pairwise(one.path):
            strength *= edges.get(pair, edges.get(pair[::-1], 0.0))
        assert one.strength == pytest.approx(strength)


@given(edges, st.integers(1, 3), st.integers(1, 10))
def test_the_strongest_come_first_and_no_more_than_asked_for(edges: Edges, depth: int, limit: int) -> None:
    near = ties(edges)

    def ask(limit: int) -> list[int]:
        found = spread(0, lambda number: near.get(number, []), NOW, depth=depth, limit=limit)
        assert [one.strength for one in found] == sorted((one.strength for one in found), reverse=True)
        return [one.number for one in found]

    assert ask(limit) == ask(100)[:limit]


def test_a_longer_way_wins_where_it_is_stronger() -> None:
    near = ties({(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.5})
    reached = {one.number: one for one in spread(0, near.__getitem__, NOW, depth=2, limit=9)}
    assert (reached[2].path, reached[2].depth) == ((0, 1, 2), 2)
    reached = {one.number: one for one in spread(0, near.__getitem__, NOW, depth=1, limit=9)}
    assert reached[2].path == (0, 2)


def test_the_kind_is_that_of_the_last_tie() -> None:
    def near(number: int) -> Sequence[Tie]:
        kinds = {0: (1, LinkKind.SEMANTIC), 1: (2, LinkKind.TEMPORAL)}
        return [Tie(kinds[number][0], kinds[number][1], 0.9, NOW, None)] if number in kinds else []

    assert [one.kind for one in spread(0, near, NOW, depth=2, limit=9)] == [LinkKind.SEMANTIC, LinkKind.TEMPORAL]


def test_a_memory_without_ties_brings_nothing_to_mind() -> None:
    assert spread(0, lambda number: [], NOW, depth=5, limit=9) == []


@given(st.sampled_from(LinkKind), st.floats(0.0, 1.0), st.floats(0, 5000), st.floats(0, 5000))
def test_what_was_found_fades_with_time_and_what_was_said_stays(
    kind: LinkKind, strength: float, sooner: float, later: float
) -> None:
    tie = Tie(1, kind, strength, NOW, None)
    first, second = (tie.strength_at(NOW + timedelta(days=days)) for days in sorted((sooner, later)))
    assert strength * LASTING - 1e-9 <= second <= first <= strength
    if kind not in FADING:
        assert first == second == strength


def test_half_of_what_can_fade_is_gone_after_ninety_days_and_use_brings_it_back() -> None:
    tie = Tie(1, LinkKind.SEMANTIC, 0.8, NOW, None)
    assert tie.strength_at(NOW) == pytest.approx(0.8)
    assert tie.strength_at(NOW + HALF_LIFE) == pytest.approx(0.8 * (LASTING + (1 - LASTING) / 2))
    used = Tie(1, LinkKind.SEMANTIC, 0.8, NOW, NOW + HALF_LIFE)
    assert used.strength_at(NOW + HALF_LIFE) == pytest.approx(0.8)
    assert used.strength_at(NOW - HALF_LIFE) == pytest.approx(0.8), "a clock that went back makes nothing stronger"
