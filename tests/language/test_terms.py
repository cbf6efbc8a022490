"""Index terms: what a text is found by, in every script, and what full text makes of them."""

import unicodedata
from collections.abc import Sequence
from time import process_time

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.terms import LONGEST, Term, query_terms, terms

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* M* S* Co'"

ODD = [
    *("ſ", "ß", "ẞ", "ı", "İ", "ŉ", "ǰ", "ͅ", "ΐ", "Ω", "Å", "ﬁ", "ﬃ", "Ꭰ", "ꭰ", "Ꮿ", "ꮿ", "ა", "Ა", "𐐀", "Ꙁ", "ς", "Σ"),
    *("①", "⑳", "½", "²", "Ⅷ", "㍿", "㌔", "ｶﾞ", "ﾊﾟ", "Ａ１", "한", "ᄒ", "々", "〇", "ヽ", "゛", "ー", "・"),
    *("👩‍👩‍👧", "👍🏽", "❤️", "🇫🇷", "1️⃣", "\u166d", "葛\U000e0100", "\u0301", "e\u0301", "\u200d", "\ufe0f", "\ue000"),
    *("\x00", "\ud800", "\udfff", "\u202eabc", "हिन्दी", "สวัสดี", "עִבְרִית", "العَرَبِيَّة", "\U00010ffff", "＋", "℃", "™"),
]
any_text = st.text(st.one_of(st.characters(), st.sampled_from("aA1 -.'é食べ집・+#_")), max_size=40)


def tokens_of(words: Sequence[str]) -> list[str]:
    """What full text stores for the terms."""
    connection = apsw.Connection(":memory:")
    connection.execute(f'create virtual table t using fts5(x, content="", tokenize="{TOKENIZER}")')
    connection.execute("create virtual table v using fts5vocab(t, instance)")
    connection.execute("insert into t(rowid, x) values (1, ?)", (" ".join(words),))
    return [str(term) for (term,) in connection.execute('select term from v order by "offset"')]


def asked(query: str) -> list[str]:
    return [term.text + "*" * term.prefix for term in query_terms(query)]


def finds(query: str, text: str) -> bool:
    """Whether every term of the query stands in the text."""
    index = terms(text)
    return all(any(w.startswith(t.text) if t.prefix else w == t.text for w in index) for t in query_terms(query))


@pytest.mark.parametrize("text", ODD)
def test_full_text_keeps_every_term_of_odd_characters_as_one_token(text: str) -> None:
    words = terms(f"a{text}b {text} {text}{text}")
    assert tokens_of(words) == words


@given(any_text)
def test_full_text_keeps_every_term_as_one_token(text: str) -> None:
    words = terms(text)
    assert tokens_of(words) == words


def test_full_text_keeps_every_character_there_is() -> None:
    assigned = (chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs"))
    words = terms(" ".join(assigned))
    assert tokens_of(words) == words


@given(any_text)
def test_a_term_has_neither_blanks_nor_quotes_and_is_short(text: str) -> None:
    assert all(term and len(term) <= 4 * LONGEST and not set(term) & set(" \"'\n\t*()^:") for term in terms(text))


@given(any_text)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert finds(text, text)


@given(any_text)
def test_a_query_asks_for_nothing_twice(text: str) -> None:
    assert len(set(query_terms(text))) == len(query_terms(text))


@given(any_text)
def test_wide_letters_and_capitals_make_no_difference_to_ascii(text: str) -> None:
    plain = "".join(char for char in text if char.isascii() and char.isalnum()).lower()
    wide = "".join(chr(ord(char) + 0xFEE0) for char in plain)
    assert terms(wide) == terms(plain)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("paintings", "she painted a painting"),
        ("église", "Les ÉGLISES de Rome"),
        ("eglises", "l'église"),
        ("étudiant", "deux étudiantes"),
        ("national", "les archives nationales"),
        ("history", "a historical novel"),
        ("oeuvre", "les œuvres complètes"),
        ("straße", "STRASSE"),
        ("tiếng việt", "TIẾNG VIỆT"),
        ("GPT-5", "we tried GPT5"),
        ("gpt 5", "GPT-5 is here"),
        ("v2.0", "released as V2.0 today"),
        ("2.0", "version 2.0"),
        ("2023-05-08", "on 2023/05/08"),
        ("May 2023", "8 May, 2023"),
        ("C++", "written in C++."),
        ("C#", "C#, F# and more"),
        ("john.doe@example.org", "mail John.Doe@example.org now"),
        ("doe", "mail john.doe@example.org now"),
        ("case", "a snake_case name"),
        ("camel", "a CamelCase name"),
        ("camelcase", "a CamelCase name"),
        ("server", "HTTPServer"),
        ("富士山", "昨日富士山に登った"),
        ("山", "昨日富士山に登った"),
        ("山", "富士山。"),
        ("食べる", "ラーメンを食べる人"),
        ("東京2020", "2020年に東京で"),
        ("집", "우리집 주소"),
        ("서울", "서울에서 만났다"),
        ("ｶﾞｽ", "ガス"),
        ("葛\U000e0100城", "葛城市"),
        ("🎉", "done🎉🎉"),
        ("❤", "I ❤️ it"),
        ("👩", "👩‍👩‍👧"),
        ("привет", "ПРИВЕТ!"),
        ("co\u00adoperate", "cooperate"),
        ("resume\u0301", "résumé"),
    ],
)
def test_a_query_finds(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"), [("v2.0", "v20"), ("C++", "vitamin C"), ("1-2", "12"), ("京都", "東京 都市"), ("note", "not")]
)
def test_a_query_does_not_find(query: str, text: str) -> None:
    assert not finds(query, text)


def test_digits_stand_apart_from_the_letters_beside_them() -> None:
    assert terms("5月12日") == ["5", "月", "12", "日"]


def test_chinese_is_indexed_by_overlapping_pairs_and_the_last_character() -> None:
    assert terms("重庆大学。") == ["重庆", "庆大", "大学", "学"]


def test_repetition_is_kept() -> None:
    assert terms("tea tea tea") == ["tea", "tea", "tea"]


def test_one_character_asks_for_all_that_begins_with_it() -> None:
    assert query_terms("山") == [Term("山", prefix=True)]


def test_stop_words_are_dropped() -> None:
    assert asked("When did Caroline go to the group?") == ["carolin", "go", "group"]
    assert asked("Où est-ce que l'église se trouve ?") == ["eglis", "trouv"]


def test_korean_stop_words_are_dropped_as_whole_words_only() -> None:
    assert asked("일본 여행 때 숙소") == ["일본", "여행", "숙소"]
    assert asked("통증 때문에") == ["통증"]
    assert asked("때죽나무") == ["때죽", "죽나", "나무"]


def test_stop_words_are_kept_when_there_is_nothing_else() -> None:
    assert asked("to be or not to be") == ["to", "be", "or", "not"]
    assert asked("때문에") == ["때문", "문에"]
    assert asked("の") == ["の*"]


def test_a_word_that_is_grammar_in_another_language_is_kept() -> None:
    assert asked("red car") == ["red", "car"]
    assert asked("which car does my son drive?") == ["car", "son", "drive"]
    assert asked("qui a marqué le but ?") == ["marqu", "but"]


def test_who_won_is_about_winning() -> None:
    assert "won" in asked("who won the match")


def test_nothing_asks_for_nothing() -> None:
    assert query_terms(" ?!… ") == []
    assert terms("") == []


@pytest.mark.parametrize(
    "unit", ["a", "Aa", "a1", "1-", "a+", "a-", "é", "漢字かな", "word ", "🎉", "\u0301", "\x00", "\ud800", "A\u0301"]
)
def test_the_time_grows_with_the_length_only(unit: str) -> None:
    small, large = unit * (20_000 // len(unit)), unit * (320_000 // len(unit))
    terms(small)
    started = process_time()
    terms(small)
    between = process_time()
    terms(large)
    # Sixteen times the length: a quadratic step would take 256 times as long.
    assert process_time() - between < 64 * (between - started) + 0.3


@pytest.mark.parametrize("asking", ["언제야", "언제예요", "어디인가요", "뭐야", "며칠이야", "누구죠", "언제까지야"])
def test_what_korean_asks_with_tells_nothing_beside_other_words(asking: str) -> None:
    assert query_terms(f"데드라인 {asking}") == query_terms("데드라인")
    assert query_terms(asking)


@pytest.mark.parametrize("word", ["어디서든", "왜곡", "누구나", "뭐랄까", "얼마간"])
def test_words_that_only_begin_like_a_question_are_asked_for(word: str) -> None:
    assert len(query_terms(f"데드라인 {word}")) > len(query_terms("데드라인"))
