"""Notes as files: whatever stands in a name or a tag is written as YAML and read back unchanged."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.bank import Category
from commonplace.domain.front_matter import FENCE, NoteText, file_name, note_text, plainly, split, written
from commonplace.domain.memory import MAX_LABEL_CHARS, MAX_TAGS

FIRST = datetime(1, 1, 2, tzinfo=UTC)
NOW = datetime(2026, 2, 20, 18, 5, 12, tzinfo=UTC)
NASTY = st.sampled_from(
    ["---", "----", "-\\u002d-", '"', "'", "\\", "\n", "\r\n", "\n---\n", ": ", " #", "[", "]", "{", "}", "&a", "*a",
     "!!python/object", "%", "@", "`", "|", ">", "~", "null", "true", "1.0", "0x1f", "2026-01-01", "=", "<<", "\x00",
     "\x07", "\x1b", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\u200b",
     "\u202e", "日本語", "é", "e\u0301", "😀", "\U0010ffff", "\t"]
)  # fmt: skip
WORDS = st.lists(st.one_of(NASTY, st.text(max_size=8)), max_size=8).map("".join)
MOMENTS = st.builds(
    lambda days, seconds: FIRST + timedelta(days=days, seconds=seconds),
    st.integers(0, 3_649_000),
    st.integers(0, 86_399),
)


def note(agent: str = "cline-dev", tags: tuple[str, ...] = (), content: str = "x", at: datetime = NOW) -> NoteText:
    return NoteText(agent, "observation", tags, at, content)


def read(text: str, name: str = "any.md") -> NoteText:
    """As another program would: what is between the fences is YAML."""
    head, content = split(text)
    return note_text(name, yaml.safe_load(head), content, datetime.min.replace(tzinfo=UTC))


def test_a_note_is_written_as_the_reference_shows_it() -> None:
    text = "Le module d'authentification fonctionne correctement.\nLes tests passent avec les tokens Bearer."
    assert written(note(tags=("auth", "module"), content=text), "projet-alpha") == (
        '---\ntimestamp: "2026-02-20T18:05:12Z"\nagent: "cline-dev"\ncategory: "observation"\n'
        'tags: ["auth", "module"]\nspace_id: "projet-alpha"\n---\n\n' + text
    )


@given(agent=WORDS, tags=st.lists(WORDS, max_size=6), content=WORDS)
def test_a_yaml_parser_reads_every_name_and_tag_unchanged(agent: str, tags: list[str], content: str) -> None:
    file = written(note(agent, tuple(tags), content), "alpha")
    head, below = split(file)
    assert yaml.safe_load(head) == {
        "timestamp": "2026-02-20T18:05:12Z",
        "agent": agent,
        "category": "observation",
        "tags": tags,
        "space_id": "alpha",
    }
    assert below == content


@given(agent=WORDS, tags=st.lists(WORDS, max_size=6), content=WORDS)
def test_whoever_looks_for_the_next_fence_anywhere_finds_the_right_one(
    agent: str, tags: list[str], content: str
) -> None:
    _, head, below = written(note(agent, tuple(tags), content), "alpha").split(FENCE, 2)
    assert yaml.safe_load(head)["agent"] == agent
    assert below == f"\n\n{content}"


@given(content=st.text(), at=MOMENTS)
def test_text_and_time_come_back(content: str, at: datetime) -> None:
    found = read(written(note(content=content, at=at), "alpha"))
    assert (found.content, found.at) == (content, at.replace(microsecond=0))


@given(agent=WORDS, tags=st.lists(WORDS, max_size=30))
def test_what_was_read_once_is_read_the_same_ever_after(agent: str, tags: list[str]) -> None:
    once = read(written(note(agent, tuple(tags)), "alpha"))
    assert read(written(once, "alpha")) == once


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes() | st.binary()
    | st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-14))]))
    | st.dates() | st.sampled_from(["\ud800", "a\x00b", "x" * 1000])
    | st.sampled_from(["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(
    head=st.fixed_dictionaries({}, optional=dict.fromkeys(("agent", "category", "tags", "timestamp"), VALUES)),
    name=st.text() | st.sampled_from(["20260220T180512_a_b_todo_0123abcd.md", "20269999T999999__todo_0123abcd.md"]),
)
def test_whatever_others_write_above_a_note_becomes_something_that_can_be_kept(head: dict[str, Any], name: str) -> None:
    found = note_text(name, head, "x", NOW)
    assert len(found.agent) <= MAX_LABEL_CHARS
    assert found.agent == found.agent.strip()
    assert len(found.tags) <= MAX_TAGS
    assert len(set(found.tags)) == len(found.tags)
    assert all(tag and len(tag) <= MAX_LABEL_CHARS and "\x00" not in tag for tag in found.tags)
    assert found.category in set(Category)
    assert found.at.tzinfo is not None
    assert written(found, "alpha").encode()


@pytest.mark.parametrize(
    ("head", "agent", "category", "tags"),
    [
        ({}, "cline_dev", "todo", ()),
        (
            {"agent": "ann", "category": "issue", "tags": ["a", 1, None, "", "a", [2], {"b": 3}]},
            "ann",
            "issue",
            ("a", "1"),
        ),
        ({"agent": None, "category": "bug", "tags": "a, b"}, "cline_dev", "observation", ()),
        ({"agent": ["x"], "category": ["todo"], "tags": {}}, "cline_dev", "todo", ()),
        ({"agent": 7, "category": "", "tags": [str(n) for n in range(30)]}, "7", "todo", tuple(map(str, range(20)))),
    ],
)
def test_what_the_head_does_not_say_is_taken_from_the_name(
    head: dict[str, Any], agent: str, category: str, tags: tuple[str, ...]
) -> None:
    found = note_text("20260220T180512_cline_dev_todo_a3f8b2c1.md", head, "x", datetime.min.replace(tzinfo=UTC))
    assert (found.agent, found.category, found.tags) == (agent, category, tags)
    assert found.at == NOW


def test_times_in_other_zones_are_the_same_instant() -> None:
    for told in ("2026-02-20T19:05:12+01:00", NOW.astimezone(timezone(timedelta(hours=9))), NOW.replace(tzinfo=None)):
        found = note_text("x.md", {"timestamp": told}, "x", datetime.min.replace(tzinfo=UTC))
        assert found.at == NOW
        assert 'timestamp: "2026-02-20T18:05:12Z"' in written(found, "alpha")


def test_aliases_that_stand_for_gigabytes_are_not_unfolded() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{one}: &{one} [{', '.join([f'*{before}'] * 9)}]" for before, one in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    head = yaml.safe_load("\n".join([*lines, "agent: *i", "tags: [*i, kept]", "timestamp: *i", "category: *i"]))
    found = note_text("x.md", head, "x", NOW)
    assert (found.agent, found.tags, found.at, found.category) == ("", ("kept",), NOW, "observation")


def test_text_without_a_head_is_all_text() -> None:
    for text in ("", "x", "--- \nno end", "-- -\n---\n", "\n---\nx\n---\n", "x\n---\ny\n---\nz"):
        assert split(text) == ("", text)


@given(st.text())
def test_a_head_that_is_no_yaml_is_read_line_by_line_without_a_fuss(head: str) -> None:
    assert all(isinstance(value, str | list) for value in plainly(head).values())


def test_a_plain_head_is_understood() -> None:
    assert plainly('agent: a: b\ntags: ["x", "y"]\n: z\n category :"todo"\ntags2: [x') == {
        "agent": "a: b",
        "tags": ["x", "y"],
        "category": "todo",
    }


@given(agent=st.text(), randomness=st.binary(min_size=4, max_size=4))
def test_a_file_name_is_plain_whatever_the_agent_is_called(agent: str, randomness: bytes) -> None:
    name = file_name(agent, "todo", NOW, randomness)
    stem, _, tail = name.rpartition("_todo_")
    assert tail == f"{randomness.hex()}.md"
    assert stem.startswith("20260220T180512_")
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
    assert len(name) <= 100
