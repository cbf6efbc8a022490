"""A patch changes the one passage it names, or nothing at all."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.domain.patch import Patched, patched


def forgiven(content: str, old: str, new: str = "NEW") -> str:
    patch = patched(content, old, new)
    assert patch.forgiven
    return patch.content


def refused(content: str, old: str, new: str = "NEW") -> str:
    with pytest.raises(Invalid) as refusal:
        patched(content, old, new)
    return f"{refusal.value.field} {refusal.value.reason}"


# Exactly


def test_the_passage_is_replaced_and_the_rest_stays() -> None:
    assert patched("I like tea.\n", "tea", "coffee") == Patched("I like coffee.\n", forgiven=False)
    assert patched("I like tea.", "I like tea.", "") == Patched("", forgiven=False)
    assert patched("a 漢字 b", "漢字", "한글").content == "a 한글 b"


def test_the_new_text_means_only_itself() -> None:
    assert patched("x old y", "old", r"\1 \g<0> $& old").content == r"x \1 \g<0> $& old y"


def test_a_passage_that_stands_there_twice_is_refused_with_the_count() -> None:
    assert "2 times" in refused("tea and tea", "tea")
    assert "3 times" in refused("a.a.a", "a")
    assert "old_string" in refused("tea and tea", "tea")


def test_places_that_overlap_are_two() -> None:
    assert "2 times" in refused("aaa", "aa")
    assert "2 times" in refused("abcabcab", "abcab")


def test_an_exact_place_wins_over_places_that_are_only_like_it() -> None:
    assert patched('“tea” and "tea"', '"tea"', "x") == Patched("“tea” and x", forgiven=False)


def test_nothing_to_find_and_nothing_to_change_are_refused() -> None:
    assert "old_string" in refused("text", "")
    assert "new_string" in refused("text", "text", "text")
    assert "not found" in refused("text", "missing")
    assert "not found" in refused("", "missing")


# Forgivingly


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("she said “yes” twice", 'said "yes" twice'),
        ('she said "yes" twice', "said “yes” twice"),
        ("don’t do it", "don't do"),
        ("1990–1995 — a time", "1990-1995 - a"),
        ("a\u00a0non-breaking\u202fspace", "a non-breaking space"),
        ("全角\u3000空白", "全角 空白"),
        ("one\ttab", "one tab"),
        ("first  \nsecond", "first\nsecond"),
        ("first\nsecond", "first \t\nsecond"),
        ("first\r\nsecond\r\nthird", "first\nsecond\nthird"),
        ("first\nsecond", "first\r\nsecond"),
        ("cafe\u0301 noir", "café noir"),
        ("café noir", "cafe\u0301 noir"),
        (unicodedata.normalize("NFD", "Tiếng Việt thế"), "Tiếng Việt"),
        (unicodedata.normalize("NFD", "한국어 기억"), "한국어"),
        (unicodedata.normalize("NFD", "がぎぐ"), "ぎ"),
        ("the price: 5 Å", "5 \u212b"),
    ],
)
def test_small_differences_are_forgiven_and_said(content: str, old: str) -> None:
    assert "NEW" in forgiven(content, old)


def test_marks_go_with_the_letter_they_stand_on() -> None:
    assert forgiven("cafe\u0301 bar", "café") == "NEW bar"
    assert forgiven(unicodedata.normalize("NFD", "x thế y"), "thế") == "x NEW y"
    assert forgiven(unicodedata.normalize("NFD", "한글"), "한") == "NEW" + unicodedata.normalize("NFD", "글")


def test_a_part_of_a_letter_is_no_place() -> None:
    assert "not found" in refused("cafe\u0301 “x”", '\u0301 "x"')
    assert "not found" in refused("“e\u0301”", '"e')


def test_blanks_behind_the_place_stay_where_they_are() -> None:
    assert forgiven("say “hi”   \nnext", 'say "hi"') == "NEW   \nnext"
    assert forgiven("first  \nsecond  \nthird", "first\nsecond") == "NEW  \nthird"


def test_a_blank_at_the_end_of_the_passage_is_forgiven_only_at_the_end_of_a_line() -> None:
    assert forgiven("the cat\nsat", "cat ") == "the NEW\nsat"
    assert forgiven("the cat", "cat  ") == "the NEW"
    assert forgiven("the “cat”\u00a0sat", '"cat" ') == "the NEWsat"
    assert "not found" in refused("concatenate", "cat ")
    assert "not found" in refused("the category", "cat ")


def test_two_places_that_are_like_it_are_refused_with_the_count() -> None:
    assert "2 places" in refused("“tea” and „tea‟", '"tea"')
    assert "not found" in refused("a  \n  b", " \t ")


def test_letters_case_and_inner_blanks_are_not_forgiven() -> None:
    assert "not found" in refused("Tea", "tea")
    assert "not found" in refused("green  tea", "green tea")
    assert "not found" in refused("naïve", "naive")


@pytest.mark.parametrize(
    "content",
    ["a" + " " * 1_000_000 + "b", "\u0301" * 300_000, "a\n" * 300_000, "\t" * 1_000_000, "“" * 300_000],
)
def test_a_hostile_text_is_searched_in_bounded_time(content: str) -> None:
    assert refused(content, "“missing”  ")


ALIKE = {
    "'": "'‘’‚‛",
    '"': '"“”„‟',
    "-": "-‐‑‒–—―−",
    " ": " \u00a0\u2007\u202f\u3000\t",
}
LETTERS = "abé漢한ế'\"- \n“—\u00a0\u0301\r"


@st.composite
def disguised(draw: st.DrawFn) -> tuple[str, str]:
    """A passage and another spelling of it that is to be forgiven."""
    passage = "<" + draw(st.text("xyé漢한ế'\"- ", max_size=10)) + ">"
    written = "".join(draw(st.sampled_from(ALIKE.get(char, char))) for char in passage)
    return passage, unicodedata.normalize(draw(st.sampled_from(["NFC", "NFD"])), written)


@given(st.text(LETTERS, max_size=20), disguised(), st.text(LETTERS, max_size=20), st.text(max_size=5))
def test_everything_outside_the_place_stays_to_the_letter(
    before: str, passage: tuple[str, str], after: str, new: str
) -> None:
    old, written = passage
    if old == new or after[:1] == "\u0301":
        return
    assert patched(before + written + after, old, new).content == before + new + after


@given(st.text(LETTERS, max_size=12), st.text(LETTERS, min_size=1, max_size=4), st.just("NEW"))
def test_a_patch_replaces_one_stretch_that_reads_like_the_passage(content: str, old: str, new: str) -> None:
    try:
        patch = patched(content, old, new)
    except Invalid:
        return
    start = patch.content.index(new)
    end = len(content) - (len(patch.content) - start - len(new))
    assert patch.content == content[:start] + new + content[end:]
    assert reading(content[start:end]) == reading(old)


def reading(text: str) -> str:
    """What is left of a text when everything that may be forgiven is gone."""
    same = {ord(other): char for char, others in ALIKE.items() for other in others}
    lines = unicodedata.normalize("NFC", text).translate(same).split("\n")
    return "\n".join(line.rstrip() for line in lines)
