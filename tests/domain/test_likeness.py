"""What is shown for a closeness, and what is asked for by what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.likeness import ASKED, TEXTS, Guide

guides = pytest.mark.parametrize("guide", [ASKED, TEXTS])
closeness = st.floats(0, 1)


@pytest.mark.parametrize(
    ("guide", "closeness", "shown"),
    [
        (ASKED, 0.3, 0.5),
        (ASKED, 0.4, 0.7),
        (TEXTS, 0.5, 0.5),
        (TEXTS, 0.55, 0.7),
        (TEXTS, 0.9, 0.9),
        (ASKED, 0.95, 0.95),
        (ASKED, 0.0, 0.0),
        (ASKED, 1.0, 1.0),
    ],
)
def test_chance_reads_alike_whatever_is_compared(guide: Guide, closeness: float, shown: float) -> None:
    assert guide.similarity(closeness) == pytest.approx(shown)


@guides
@given(one=closeness, other=closeness)
def test_what_is_closer_is_never_shown_as_less(guide: Guide, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= guide.similarity(low) <= guide.similarity(high) + 1e-12 <= 1 + 2e-12


@guides
@given(close=closeness, least=closeness)
def test_whoever_asks_for_what_is_shown_gets_it_and_nothing_that_is_shown_as_less(
    guide: Guide, close: float, least: float
) -> None:
    shown = guide.similarity(close)
    if shown >= least:
        assert close >= guide.least(least)
    if round(shown, 4) < round(least, 4) - 1e-4:
        assert close < guide.least(least)


@guides
def test_what_is_shown_as_a_whole_one_passes_for_it(guide: Guide) -> None:
    assert guide.similarity(0.99999) < 1 == round(guide.similarity(0.99999), 4)
    assert guide.least(1.0) <= 0.99999


@guides
def test_nothing_is_too_far_for_who_asks_for_nothing(guide: Guide) -> None:
    assert guide.least(0.0) == 0
