"""The whole tree at a glance: every path once, nearest to a root, as deep as there is room."""

from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.outline import Outline, Stem, outline


def stem(name: str, memory: int, below: int | str = "core", priority: int = 0) -> Stem:
    return Stem(
        below if isinstance(below, str) else "", None if isinstance(below, str) else below, name, memory, priority
    )


def shown(found: Outline) -> list[str]:
    return [str(entry.address) for entry in found.entries]


def test_an_empty_tree_has_an_empty_outline() -> None:
    assert outline([], 10) == Outline((), 0)


def test_each_path_is_followed_by_what_stands_below_it_in_the_order_of_priority_and_name() -> None:
    stems = [
        stem("late", 1, priority=9),
        stem("b", 2),
        stem("a", 3),
        stem("y", 4, 2, 1),
        stem("z", 5, 2, 0),
        stem("deep", 6, 5),
        stem("first", 7, "blog"),
    ]
    found = outline(stems, 100)
    assert shown(found) == [
        "blog://first",
        "core://a",
        "core://b",
        "core://b/z",
        "core://b/z/deep",
        "core://b/y",
        "core://late",
    ]
    assert (found.total, found.left_out) == (7, 0)


def test_children_of_an_alias_are_shown_once_and_the_alias_says_where() -> None:
    stems = [stem("a", 1), stem("b", 2, 1), stem("child", 3, 2), stem("alias", 2, "notes"), stem("again", 2, 1, 5)]
    found = outline(stems, 100)
    entries = {str(entry.address): entry for entry in found.entries}
    assert shown(found) == ["core://a", "core://a/b", "core://a/again", "notes://alias", "notes://alias/child"]
    assert entries["notes://alias"].shown_at is None
    assert str(entries["core://a/b"].shown_at) == str(entries["core://a/again"].shown_at) == "notes://alias"
    assert {entry.memory for entry in found.entries if "a" in entry.address.names[-1]} == {1, 2}


def test_an_alias_without_children_points_nowhere() -> None:
    found = outline([stem("a", 1), stem("b", 1)], 10)
    assert [entry.shown_at for entry in found.entries] == [None, None]


def test_of_a_larger_tree_only_the_levels_that_fit_are_shown_with_what_is_below() -> None:
    stems = [stem("a", 1), stem("b", 2), *(stem(f"c{n}", 10 + n, 1) for n in range(5)), stem("d", 99, 10)]
    found = outline(stems, 7)
    assert len(found.entries) == 7
    assert (found.total, found.left_out) == (8, 1)
    assert {str(e.address): e.deeper for e in found.entries if e.deeper} == {"core://a/c0": 1}
    shallow = outline(stems, 6)
    assert shown(shallow) == ["core://a", "core://b"]
    assert [entry.deeper for entry in shallow.entries] == [5, 0]
    assert shallow.left_out == 6


def test_a_first_level_that_does_not_fit_is_cut() -> None:
    found = outline([stem(f"{n:03}", n + 1) for n in range(50)], 10)
    assert shown(found) == [f"core://{n:03}" for n in range(10)]
    assert (found.total, found.left_out) == (50, 40)


def test_what_no_root_leads_to_is_not_in_the_outline() -> None:
    assert outline([stem("lost", 2, 77), stem("a", 1)], 10).total == 1


def test_a_hundred_thousand_paths_are_outlined() -> None:
    wide = [stem(f"top{n}", n + 1) for n in range(100)]
    below = [stem(f"n{n}", 1000 + n, n % 100 + 1, n % 7) for n in range(100_000)]
    found = outline([*wide, *below], 3000)
    assert (found.total, len(found.entries)) == (100_100, 100)
    assert sum(entry.deeper for entry in found.entries) == 100_000


EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.integers(0, 3)), max_size=40)


@given(EDGES, st.integers(1, 60))
def test_every_reachable_path_is_counted_once_and_shown_if_there_is_room(
    edges: list[tuple[int, int, int]], most: int
) -> None:
    # Only downwards, so that no circle arises; 0 is the root.
    stems = [
        stem(f"n{at}", high, low or "core", rank)
        for at, (one, other, rank) in enumerate(edges)
        for low, high in [sorted((one, other))]
        if low < high
    ]
    reached = {0}
    for one in sorted(stems, key=lambda one: one.parent or 0):
        if (one.parent or 0) in reached:
            reached.add(one.memory)
    reachable = [one for one in stems if (one.parent or 0) in reached]
    found = outline(stems, most)
    assert found.total == len(reachable)
    assert len(found.entries) <= most
    assert len(set(shown(found))) == len(found.entries)
    if most >= len(reachable):
        assert sorted((e.address.name, e.memory) for e in found.entries) == sorted(
            (o.name, o.memory) for o in reachable
        )
