"""The pieces of a text that are embedded."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.parts import HEAD, parts

pieces = st.lists(
    st.sampled_from(["Word ", "mot. ", "句子。", "長い文", "한국어 ", "!?", "\n", "x" * 70, "é", "🎉"]), max_size=200
)


def letters(text: str) -> str:
    return "".join(text.split())


def test_a_short_text_is_one_piece() -> None:
    assert parts("  I like green tea. ") == ["I like green tea."]


def test_an_empty_text_is_one_empty_piece() -> None:
    assert parts(" \n ") == [""]


def test_a_long_text_has_its_head_first() -> None:
    text = "The first sentence is here. " * 100
    assert parts(text)[0] == text[:HEAD]


def test_parts_end_where_sentences_end() -> None:
    text = "One sentence of middling length stands here, as an example. " * 12
    assert all(part.endswith(".") for part in parts(text)[1:])


def test_japanese_parts_end_where_sentences_end() -> None:
    text = "昨日は友達と一緒に富士山に登りました。" * 20
    assert all(part.endswith("。") for part in parts(text)[1:])


def test_without_sentences_parts_end_at_blanks() -> None:
    text = "word " * 200
    assert all(set(part.split()) == {"word"} for part in parts(text)[1:])


def test_a_long_text_is_cut_finer_so_that_a_sentence_does_not_drown() -> None:
    sentence = "The key of the summer house lies under the blue flower pot. "
    assert max(map(len, parts(sentence * 100)[1:])) > 200
    assert {part.count("key") for part in parts(sentence * 200)[1:]} <= {1, 2}


def test_without_blanks_parts_end_anywhere() -> None:
    assert [len(part) for part in parts("x" * 600)[1:]] == [260, 226, 114]
    assert [len(part) for part in parts("字" * 300)[1:]] == [110, 110, 80]


@pytest.mark.parametrize("length", range(255, 300, 3))
def test_no_part_is_a_mere_word_at_the_end(length: int) -> None:
    text = ("words of all kinds stand here, one beside another " * 9)[:length] + " zebra"
    assert all(len(part) > 60 for part in parts(text)[1:])


@given(pieces)
def test_the_parts_hold_the_whole_text_in_order(words: list[str]) -> None:
    text = "".join(words)
    found = parts(text)
    assert letters("".join(found[1:] or found)) == letters(text)


@given(pieces)
def test_no_part_is_blank_or_too_long(words: list[str]) -> None:
    found = parts("".join(words))
    assert len(found[0]) <= HEAD
    assert all(part == part.strip() and 0 < len(part) <= 260 for part in found[1:])


@given(st.text())
def test_any_text_has_pieces(text: str) -> None:
    assert parts(text)


@pytest.mark.parametrize("unit", ["a", "字", ". ", "!", "\n", "\u0301", "\ud800", "a.\n"])
def test_the_time_grows_with_the_length_only(unit: str) -> None:
    small, large = unit * (20_000 // len(unit)), unit * (320_000 // len(unit))
    started = process_time()
    parts(small)
    between = process_time()
    parts(large)
    assert process_time() - between < 64 * (between - started) + 0.3
