"""What a session did to a memory, and whether it can be taken back."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from commonplace.domain.history import Comparison, Turn, Verdict, before_session, restoring, same, turns
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


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("wrong", "right", ("wrong", "right")),
        ("wrong", "", ("wrong", "")),
        ("a\nwrong", "a", ("a wrong", "a")),
        ("one\n", "one", (r"'one\n'", "'one'")),
        ("x" * 100, "y" * 60, ("x" * 60 + "…", "y" * 60)),
        ("x" * 100 + "wrong", "x" * 100 + "right", ("…" + "x" * 20 + "wrong", "…" + "x" * 20 + "right")),
        ("x" * 100 + " and more", "x" * 100, ("…" + "x" * 20 + " and more", "…" + "x" * 20)),
    ],
)
def test_of_two_texts_is_shown_where_they_differ(old: str, new: str, shown: tuple[str, str]) -> None:
    one, other = (replace(states("s:")[0], content=text) for text in (old, new))
    assert turns(Comparison(one, other)) == (Turn("content", *shown),)


def test_whatever_differs_is_shown_and_keywords_only_where_the_text_is_the_same() -> None:
    one = states("s:one")[0]
    other = replace(one, tags=(), importance=1.0, keywords=("q", "r"))
    told = (Turn("tags", "t", ""), Turn("keywords", "k", "q, r"), Turn("importance", "0.5", "1.0"))
    assert turns(Comparison(one, other)) == told
    assert [turn.name for turn in turns(Comparison(one, replace(other, content="two")))] == [
        "content",
        "tags",
        "importance",
    ]
