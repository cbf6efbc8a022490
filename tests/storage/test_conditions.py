"""Masks that are remembered are those that would be made anew."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commonplace.storage.vectors.columns import Columns
from commonplace.storage.vectors.conditions import NEVER, Conditions, Sieve, passing

ENDS = st.one_of(st.just(NEVER), st.integers(0, 30))
ROWS = st.lists(st.tuples(ENDS, st.integers(1, 3), st.booleans(), st.integers(0, 10)), max_size=12)
CONDITIONS = st.builds(
    Conditions,
    collections=st.sampled_from([(), (1,), (1, 3), tuple(range(1, 12))]),
    now=st.integers(0, 30),
    since=st.none() | st.integers(0, 10),
    importance_min=st.none() | st.just(0.5),
    categories=st.sampled_from([(), (7,)]),
    ephemeral=st.none() | st.booleans(),
)


def columns(rows: list[tuple[int, int, bool, int]]) -> Columns:
    ends, collections, alive, created = np.asarray(rows, np.int64).reshape(-1, 4).T
    return Columns(
        number=np.arange(len(rows), dtype=np.int64),
        ends=ends,
        collection=collections.astype(np.int32),
        alive=alive.astype(np.bool_),
        created=created,
        importance=created / 10,
        category=np.where(created > 5, 7, 0),
    )


@given(ROWS, st.lists(CONDITIONS, max_size=25))
def test_a_remembered_mask_is_the_one_that_would_be_made(
    rows: list[tuple[int, int, bool, int]], asked: list[Conditions]
) -> None:
    sieve, memories = Sieve(), columns(rows)
    for conditions in asked:
        assert sieve.passing(memories, conditions).tolist() == passing(memories, conditions).tolist()


def test_a_mask_is_remembered_until_one_of_those_let_through_ends() -> None:
    sieve, memories = Sieve(), columns([(20, 1, True, 0), (10, 2, True, 0), (NEVER, 1, True, 0)])
    first = sieve.passing(memories, Conditions((1,), 5))
    assert sieve.passing(memories, Conditions((1,), 19)) is first
    assert sieve.passing(memories, Conditions((1,), 20)).tolist() == [False, False, True]
    assert sieve.passing(memories, Conditions((1,), 4)).tolist() == [True, False, True]  # the clock was set back


def test_what_the_store_answered_is_not_remembered() -> None:
    sieve, memories = Sieve(), columns([(NEVER, 1, True, 0), (NEVER, 1, True, 0)])
    for numbers, expected in (([0], [True, False]), ([1], [False, True])):
        conditions = Conditions((1,), 5, numbers=np.asarray(numbers, np.int64))
        assert sieve.passing(memories, conditions).tolist() == expected


def test_after_a_change_masks_are_made_anew() -> None:
    sieve, memories = Sieve(), columns([(NEVER, 1, True, 0)])
    assert sieve.passing(memories, Conditions((1,), 5)).tolist() == [True]
    memories["alive"][:] = False
    sieve.forget()
    assert sieve.passing(memories, Conditions((1,), 5)).tolist() == [False]
