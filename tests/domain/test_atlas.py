"""Trees of collections: what lies in what, and what someone may do with each."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Holding, Permission, Right, reach
from commonplace.domain.atlas import MAX_DEPTH, Forest, allows, check_place, rights
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Circular, Invalid
from commonplace.domain.identifiers import CollectionId, UserId

ANN, BEN = UserId("ann"), UserId("ben")
NOW = datetime(2026, 1, 15, tzinfo=UTC)
WRITES = frozenset({Permission.READ, Permission.WRITE})


def _actor(permissions: frozenset[Permission] = WRITES, limited_to: frozenset[CollectionId] | None = None) -> Actor:
    return Actor(ANN, "key", permissions, ZoneInfo("UTC"), limited_to=limited_to)


def _holding(number: int, owner: UserId = BEN, granted: Right | None = None) -> Holding:
    return Holding(number, CollectionId(f"c{number}"), "project", owner, granted)


def _atlas(number: int, parent: int | None = None, owner: UserId = ANN) -> Collection:
    return Collection(number, CollectionId(f"c{number}"), "atlas", "project", "", owner, NOW, parent=parent)


@st.composite
def _places(draw: st.DrawFn) -> dict[int, int | None]:
    """A forest whose parents come before their children, some of them unseen."""
    size = draw(st.integers(1, 30))
    every = {n: draw(st.none() | st.integers(1, n - 1)) if n > 1 else None for n in range(1, size + 1)}
    unseen = draw(st.sets(st.integers(1, size), max_size=size - 1))
    return {n: parent for n, parent in every.items() if n not in unseen}


def test_the_owner_governs_with_any_credential_that_writes() -> None:
    assert rights(_actor(), [_holding(1, ANN)]) == {1: Right.ADMIN}
    assert rights(_actor(frozenset({Permission.READ})), [_holding(1, ANN)]) == {1: Right.READ}


def test_the_best_of_several_grants_counts() -> None:
    held = [_holding(1, granted=right) for right in (Right.READ, Right.ADMIN, Right.WRITE)]
    assert rights(_actor(), held) == {1: Right.ADMIN}
    assert rights(_actor(), held[:1]) == {1: Right.READ}


def test_a_limited_credential_governs_nothing_and_sees_only_its_part() -> None:
    limited = _actor(limited_to=frozenset({CollectionId("c1")}))
    assert rights(limited, [_holding(1, ANN), _holding(2, ANN)]) == {1: Right.WRITE}


@given(
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from([ANN, BEN]), st.none() | st.sampled_from(list(Right)))),
    st.sets(st.sampled_from(list(ALL_PERMISSIONS))),
    st.none() | st.frozensets(st.sampled_from([CollectionId(f"c{n}") for n in range(1, 5)])),
)
def test_nothing_is_held_that_is_out_of_reach(
    held: list[tuple[int, UserId, Right | None]], permissions: set[Permission], limits: frozenset[CollectionId] | None
) -> None:
    actor, holdings = _actor(frozenset(permissions), limits), [_holding(*one) for one in held]
    has = rights(actor, holdings)
    assert has.keys() == reach(actor, Right.READ, holdings)
    assert {n for n, right in has.items() if allows(right, Right.WRITE)} <= reach(actor, Right.WRITE, holdings)


def test_rights_include_those_before_them() -> None:
    for held, wanted, allowed in (
        (Right.ADMIN, Right.READ, True),
        (Right.WRITE, Right.WRITE, True),
        (Right.READ, Right.WRITE, False),
        (None, Right.READ, False),
    ):
        assert allows(held, wanted) is allowed


@given(_places())
def test_everything_seen_is_below_exactly_one_root(places: dict[int, int | None]) -> None:
    forest = Forest(places)
    found = [n for root in forest.children(None) for n in forest.below(root)]
    assert sorted(found) == sorted(places)


@given(_places())
def test_what_is_below_comes_after_what_it_lies_in(places: dict[int, int | None]) -> None:
    forest = Forest(places)
    for root in forest.children(None):
        below = forest.below(root)
        assert all(below.index(places[n] or 0) < below.index(n) for n in below[1:])


@given(_places())
def test_a_tree_is_as_high_as_its_longest_way_down(places: dict[int, int | None]) -> None:
    forest = Forest(places)

    def height(number: int) -> int:
        return 1 + max((height(child) for child in forest.children(number)), default=0)

    assert all(forest.height(n) == height(n) for n in places)


def test_a_parent_that_is_not_seen_is_none() -> None:
    forest = Forest({3: 2, 5: 3})
    assert forest.children(None) == [3]
    assert (forest.parent(3), forest.parent(5)) == (None, 3)


def test_the_newest_come_first() -> None:
    assert Forest({1: None, 2: 1, 3: 1, 4: None}).children(None) == [4, 1]
    assert Forest({1: None, 2: 1, 3: 1}).children(1) == [3, 2]


def test_nothing_lies_below_itself() -> None:
    atlas, child = _atlas(1), _atlas(2, 1)
    with pytest.raises(Circular):
        check_place(atlas, child, [atlas], 2)
    with pytest.raises(Circular):
        check_place(atlas, atlas, [], 1)
    check_place(child, atlas, [], 1)


def test_a_tree_has_one_owner() -> None:
    with pytest.raises(Invalid):
        check_place(_atlas(1), _atlas(2, owner=BEN), [], 1)


def test_a_tree_is_so_deep_and_no_deeper() -> None:
    above = [_atlas(n) for n in range(10, 10 + MAX_DEPTH - 2)]
    check_place(None, _atlas(1), above, 1)
    with pytest.raises(Invalid):
        check_place(None, _atlas(1), above, 2)
