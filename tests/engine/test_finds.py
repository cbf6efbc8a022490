"""What a note's file says is understood whatever stands in its head."""

from datetime import UTC, datetime

import pytest

from commonplace.engine.finds import Found, Understood, understood
from commonplace.ports.files import Held

PATH = "alpha/live/20260115T030000_bob_issue_0123abcd.md"
MODIFIED = datetime(2026, 3, 1, tzinfo=UTC)


def said(head: str) -> Understood:
    found = understood(Found(PATH, Held(f"---\n{head}\n---\n\nfrom bob".encode(), "tag", MODIFIED)))
    assert isinstance(found, Understood)
    return found


@pytest.mark.parametrize(
    "value",
    [
        "!!bool maybe",
        "!!int ''",
        "!!timestamp x",
        "!!float x",
        "!!binary x",
        "!!null x",
        "!!set x",
        "!!omap [x]",
        "!!x y",
    ],
)
@pytest.mark.parametrize("key", ["agent", "category", "tags", "timestamp", "more"])
def test_a_value_that_is_not_what_its_tag_says_spoils_no_other(key: str, value: str) -> None:
    found = said(f"tags: [kept]\n{key}: {value}\nmore: x" if key != "tags" else f"tags: {value}")
    assert found.note.content == "from bob"
    assert found.note.tags == (("kept",) if key != "tags" else found.note.tags)


@pytest.mark.parametrize("value", ["", "~", "null"])
def test_what_is_left_open_is_taken_from_the_name(value: str) -> None:
    note = said(f"agent: {value}\ncategory: {value}\ntimestamp: {value}").note
    assert (note.agent, note.category, note.at) == ("bob", "issue", datetime(2026, 1, 15, 3, tzinfo=UTC))


def test_names_that_look_like_other_values_are_read_as_they_stand() -> None:
    note = said('agent: 007\ntags: [no, 1.0, 2026-01-01, "null", 0x1f]').note
    assert (note.agent, note.tags) == ("007", ("no", "1.0", "2026-01-01", "null", "0x1f"))


@pytest.mark.parametrize(
    "told",
    ["2026-02-20T18:05:12Z", "2026-02-20 18:05:12", '"2026-02-20T19:05:12+01:00"', "2026-02-20T18:05:12.0+00:00"],
)
def test_a_time_is_read_quoted_or_not(told: str) -> None:
    assert said(f"timestamp: {told}").note.at == datetime(2026, 2, 20, 18, 5, 12, tzinfo=UTC)
