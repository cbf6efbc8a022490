"""The names of bank files, and what a note is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.bank import MAX_NAME_CHARS, BankFile, Category, Plan, filename, same
from commonplace.domain.errors import Invalid


@pytest.mark.parametrize(
    "name",
    [
        "activeContext.md",
        "進捗.md",
        "결정 사항.md",
        "décisions.md",
        "2026-02.md",
        "a..b.md",
        "हिन्दी.md",
        "_x.md",
        "a-b_c.d.md",
    ],
)
def test_a_plain_name_of_any_script_is_kept(name: str) -> None:
    assert filename(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".md",
        "..md",
        "notes",
        "notes.MD",
        "notes.md ",
        " notes.md",
        "notes .md",
        "../notes.md",
        "a/b.md",
        "a\\b.md",
        "/etc/x.md",
        ".hidden.md",
        "a\x00.md",
        "a\n.md",
        "a\u202e.md",
        "a:b.md",
        "a*.md",
        "😀.md",
        "\ud800.md",
        "con.md",
        "NUL.x.md",
        "a" * MAX_NAME_CHARS + ".md",
        "漢" * 100 + ".md",
    ],
)
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        filename(name)
    assert refusal.value.field == "filename"


def test_a_name_is_kept_in_one_spelling() -> None:
    name = unicodedata.normalize("NFD", "décisions.md")
    assert filename(name) == "décisions.md"
    assert same(name) == same("DÉCISIONS.MD")


def test_the_longest_names_are_kept() -> None:
    assert filename("a" * (MAX_NAME_CHARS - 3) + ".md")
    assert filename("漢" * 79 + ".md")


@given(st.text(st.characters(codec=None), max_size=200), st.sampled_from(["", ".md"]))
def test_a_name_is_kept_or_refused_whatever_it_is(stem: str, ending: str) -> None:
    try:
        kept = filename(stem + ending)
    except Invalid:
        return
    assert filename(kept) == kept
    assert not set(kept) & set('/\\:*?"<>|\x00')
    assert len(kept.encode()) < 255


def test_there_are_seven_categories() -> None:
    assert [*Category] == "observation decision todo insight question progress issue".split()


def test_a_plan_writes_what_it_creates_and_what_it_updates() -> None:
    new, old = BankFile("a.md", "a"), BankFile("b.md", "b")
    assert Plan((new,), (old,), 0, "").writes == (new, old)
