import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.pictures.lettering import clean, cut, width, wrap
from tests.pictures.samples import HOSTILE

TEXTS = st.one_of(st.text(st.characters(exclude_categories=())), st.sampled_from(HOSTILE))
ROOMS = st.floats(0.0, 60.0)


@given(TEXTS)
def test_a_cleaned_text_is_one_line_of_what_can_be_written(text: str) -> None:
    shown = clean(text)
    assert shown == shown.strip()
    assert clean(shown) == shown
    shown.encode()
    assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in shown)
    assert not any(unicodedata.bidirectional(letter) in _REORDERING for letter in shown)


_REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(TEXTS, ROOMS)
def test_a_cut_text_fits(text: str, room: float) -> None:
    assert width(cut(text, room)) <= room or cut(text, room) == ""


@given(TEXTS, ROOMS)
def test_a_text_that_fits_is_not_cut(text: str, room: float) -> None:
    whole = clean(text)
    if width(whole) <= room:
        assert cut(text, room) == whole


@given(TEXTS, ROOMS, st.integers(1, 4))
def test_wrapped_lines_fit(text: str, room: float, lines: int) -> None:
    found = wrap(text, room, 1.0, lines)
    assert len(found) <= lines
    assert all(width(line) <= max(room, 1.35) for line in found)


def test_wide_letters_take_twice_the_room_of_narrow_ones() -> None:
    assert width("記憶") > 1.5 * width("ab")


@pytest.mark.parametrize("sign", "#&+<=>^~")
def test_signs_are_measured_wider_than_letters(sign: str) -> None:
    assert width(sign * 50) >= 50 * 0.838  # as they are in DejaVu Sans
    assert len(cut(sign * 50, 150, 12)) <= 15


def test_a_family_of_faces_takes_the_room_of_one() -> None:
    assert width("👩\u200d👩\u200d👧\u200d👦") < 1.5 * width("👩")
    assert width("สวัสดี") < width("สวสด") + 0.5


def test_words_are_not_broken() -> None:
    assert wrap("family matters", 6.0, 1.0, 2) == ["family", "matters"]
    assert wrap("記憶の地図", 3.1, 1.0, 2) == ["記憶の", "地図"]


def test_a_megabyte_costs_as_little_as_a_line() -> None:
    assert len(cut("\u0301" * 2**20, 10.0)) <= 3
    assert width(cut(" " * 2**20 + "x", 10.0)) <= 10.0
