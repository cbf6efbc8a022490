"""Spaces: the form of their ids, the places of their files, what is known of them."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain import space as rule
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.space import FileKind, Place

REFERENCE = re.compile(r"^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$", re.ASCII)
FIRST = datetime(1, 1, 2, tzinfo=UTC)
SINCE = datetime(2026, 2, 20, 18, 0, tzinfo=UTC)
IDS = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}", fullmatch=True)
FILES = st.text(st.characters(codec="utf-8", exclude_characters="/"), max_size=20).map(lambda n: f"{n}.md")


def collection(**metadata: Any) -> Collection:
    return Collection(7, CollectionId("c"), "space", "project", "alpha", None, SINCE, None, metadata)


@given(st.text(max_size=70) | st.from_regex(r"[a-zA-Z0-9_-]{0,66}\n?", fullmatch=True))
def test_an_id_is_what_the_pattern_of_the_reference_says_without_a_line_break(value: str) -> None:
    good = REFERENCE.match(value) is not None and not value.endswith("\n")
    assert rule.is_space_id(value) == good
    if good:
        assert rule.space_id(value) == value
    else:
        with pytest.raises(Invalid):
            rule.space_id(value)


@given(IDS, FILES, st.sampled_from([FileKind.NOTE, FileKind.BANK]))
def test_a_file_of_a_space_has_one_path(space: str, name: str, kind: FileKind) -> None:
    path = rule.path_of(space, kind, name)
    assert rule.file_place(path) == Place(space, kind, name)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("alpha/_rules.md", Place("alpha", FileKind.RULES, "_rules.md")),
        ("alpha/_synthesis.md", Place("alpha", FileKind.SYNTHESIS, "_synthesis.md")),
        ("alpha/live/a.md", Place("alpha", FileKind.NOTE, "a.md")),
        ("alpha/bank/進捗.md", Place("alpha", FileKind.BANK, "進捗.md")),
        ("alpha/_meta.json", None),
        ("alpha/live/.keep", None),
        ("alpha/live/a.txt", None),
        ("alpha/live/b/a.md", None),
        ("alpha/bank", None),
        ("alpha/other/a.md", None),
        ("alpha/a.md", None),
        ("_system/tokens.json", None),
        ("_backups/alpha/2026-02-20T18-00-00/live/a.md", None),
        ("a b/live/a.md", None),
        ("", None),
        ("/", None),
    ],
)
def test_a_path_names_a_file_of_a_space_or_nothing(path: str, place: Place | None) -> None:
    assert rule.file_place(path) == place


@given(st.text())
def test_any_path_names_a_file_or_nothing(path: str) -> None:
    place = rule.file_place(path)
    assert place is None or rule.path_of(place.space, place.kind, place.name) == path


def test_meta_has_the_fields_of_the_reference_and_keeps_what_others_wrote() -> None:
    assert rule.meta(collection()) == {
        "space_id": "alpha",
        "description": "",
        "owner": "",
        "created_at": "2026-02-20T18:00:00Z",
        "last_consolidation": None,
        "consolidation_count": 0,
        "total_notes_processed": 0,
        "version": 1,
    }
    told = {
        **rule.meta(collection()),
        "description": "d",
        "owner": "o",
        "last_consolidation": "2026-02-20T16:00:00Z",
        "consolidation_count": 3,
        "total_notes_processed": 42,
        "version": 2,
        "theirs": {"kept": True},
    }
    assert rule.meta(replace(collection(), metadata=rule.metadata_from(told))) == told


TOLD = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=600)
    | st.sampled_from(["\ud800", "a\x00b"])
)
COUNTS = "consolidation_count total_notes_processed last_consolidation version"
KEYS = f"description owner {COUNTS} space_id created_at x".split()


@given(st.dictionaries(st.sampled_from([*KEYS, "\ud800"]), TOLD | st.lists(TOLD, max_size=3), max_size=6))
def test_whatever_others_wrote_about_a_space_becomes_something_that_can_be_kept(told: dict[str, Any]) -> None:
    meta = rule.meta(replace(collection(), metadata=rule.metadata_from(told)))
    assert json.dumps(meta, ensure_ascii=False, allow_nan=False).encode()
    assert isinstance(meta["description"], str)
    assert isinstance(meta["version"], int | str)
    assert isinstance(meta["consolidation_count"], int)
    assert isinstance(meta["last_consolidation"], str | None)
    assert meta["space_id"] == "alpha"
    assert meta["created_at"] == "2026-02-20T18:00:00Z"


@given(st.integers(0, 3_649_000), st.integers(0, 86_400_000_000 - 1), st.integers(-14, 14))
def test_a_time_is_written_in_utc_to_the_second(days: int, micros: int, hours: int) -> None:
    aware = (FIRST + timedelta(days=days, microseconds=micros)).astimezone(timezone(timedelta(hours=hours)))
    text = rule.stamp(aware)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)
    assert datetime.fromisoformat(text) == aware.replace(microsecond=0)


@pytest.mark.parametrize(
    ("check", "most"),
    [(rule.description, 500), (rule.owner, 200), (rule.rules, 50_000)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_limits_are_in_characters(check: Any, most: int) -> None:
    assert check("日" * most) == "日" * most
    with pytest.raises(Invalid, match=f"at most {most}"):
        check("x" * (most + 1))


def test_rules_say_something() -> None:
    for nothing in ("", " ", "\n\t"):
        with pytest.raises(Invalid):
            rule.rules(nothing)
