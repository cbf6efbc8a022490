"""What a session did to a memory, and whether it can be taken back."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from commonplace.domain.history import Comparison, Verdict, before_session, restoring, same
from commonplace.domain.identifiers import MemoryId, UserId
from commonplace.domain.memory import Author, Version

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def states(*told: str) -> list[Version]:
    """`session:content` each, oldest first."""
    found = []
    for number, one in enumerate(told, 1):
        session, _, content = one.partition(":")
        author = Author(UserId("ann"), "key", session, "test")
        found.append(Version(MemoryId("m"), number, content, "text", ("t",), ("k",), "c", 0.5, {"a": 1}, author, NOW))
    return found


def verdict(*told: str) -> str:
    found = before_session(states(*told), "s")
    return found.obstacle or (found.before.content if found.before else "made here")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (("s:one",), "made here"),
        (("s:one", "s:two"), "made here"),
        (("x:one", "s:two"), "one"),
        (("x:one", "s:two", "s:three"), "one"),
        (("x:one", "y:two", "s:three"), "two"),
    ],
)
def test_what_only_the_session_changed_goes_back_to_what_was_before(told: tuple[str, ...], expected: str) -> None:
    assert verdict(*told) == expected


@pytest.mark.parametrize(
    "told", [("s:one", "x:two"), ("x:one", "s:two", "x:three"), ("x:one", "s:two", "x:three", "s:four")]
)
def test_what_someone_else_changed_later_is_an_obstacle(told: tuple[str, ...]) -> None:
    assert "changed later" in verdict(*told)


def test_what_is_again_as_it_was_needs_nothing_more() -> None:
    told = states("x:one", "s:two", "y:one")
    assert before_session(told, "s") == Verdict(told[-1])


def test_what_was_made_and_made_the_same_by_another_is_still_theirs() -> None:
    assert "changed later" in verdict("s:one", "x:two", "s:one", "x:one")


def test_a_comparison_names_what_differs_and_shows_the_lines() -> None:
    old, new = states("x:a\nb\nc", "x:a\nB\nc")
    comparison = Comparison(old, replace(new, tags=("u",), importance=0.9))
    assert comparison.fields == ("content", "tags", "importance")
    assert comparison.lines() == ["--- version 1", "+++ version 2", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]
    assert Comparison(old, old).lines() == []
    assert same(old, replace(old, number=9, author=new.author))


@pytest.mark.parametrize(("old", "new"), [("a\n", "a"), ("a", "a\r"), ("a\u2028b", "a\nb")])
def test_no_difference_is_hidden_in_the_ends_of_lines(old: str, new: str) -> None:
    assert Comparison(*states(f"x:{old}", f"x:{new}")).lines()


def test_restoring_sets_everything_a_version_holds() -> None:
    (version,) = states("x:one")
    change = restoring(version)
    assert len(change.fields) == 7
    assert all(getattr(change, name) == getattr(version, name) for name in change.fields)
