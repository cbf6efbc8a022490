import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.summary import summary

TOPICS = {
    "english": (
        "The harbour committee chose the new crane. ",
        "The crane of the harbour is tall. ",
        "Lunch was late. ",
    ),
    "japanese": ("港の委員会は新しいクレーンを選んだ。", "港のクレーンはとても高い。", "昼食は遅かった。"),
    "korean": ("항구 위원회는 새 크레인을 골랐다. ", "항구의 크레인은 아주 높다. ", "점심은 늦었다. "),
    "chinese": ("港口委员会选择了新的起重机。", "港口的起重机非常高。", "午饭吃晚了。"),
    "french": ("Le comité du port a choisi la grue. ", "La grue du port est haute. ", "Le repas fut tardif. "),
}


@pytest.mark.parametrize("language", TOPICS)
def test_a_summary_is_made_of_the_sentences_that_say_most_in_their_order(language: str) -> None:
    first, second, aside = TOPICS[language]
    short = summary(first + aside + second, len(first) + len(second) + 2)
    assert short in (f"{first.strip()} {second.strip()}", first + second)
    assert short.index(first.strip()) < short.index(second.strip())
    assert aside.strip() not in short


def test_a_sentence_that_is_repeated_comes_once_and_leaves_its_room_to_the_others() -> None:
    again = "The harbour committee met again and talked about the new crane of the harbour. "
    facts = ["The deadline is the third of May.", "The budget is forty thousand euros."]
    short = summary(again * 3 + facts[0] + " " + again * 3 + facts[1])
    assert short == f"{again}{facts[0]} {facts[1]}"
    assert summary(again * 50) == again.strip()
    assert facts[0] in summary(again * 500 + facts[0]), "nor do the repeats count where only so many are looked at"


def test_a_stop_within_a_number_or_an_address_ends_no_sentence() -> None:
    said = "The server at 10.0.0.1 runs version 2.2.2 of it."
    assert said in summary(f"{said} " + "Lunch was late and long. Nobody minded that at all. " * 20)


def test_a_short_text_is_its_own_summary() -> None:
    assert summary("  A short\n text. ") == "A short text."
    assert summary("") == ""


def test_one_long_sentence_is_cut() -> None:
    assert summary("x" * 1000, 10) == "x" * 9 + "…"
    assert len(summary("word " * 200 + ". " + "other " * 200, 50)) <= 50


@given(st.text(), st.integers(2, 400))
def test_any_text_has_a_summary_within_its_length_the_same_every_time(text: str, most: int) -> None:
    short = summary(text, most)
    assert len(short) <= most
    assert short == summary(text, most)


@pytest.mark.parametrize(
    "text",
    [
        "\x00" * 1000,
        "\ud800 x. " * 1000,
        "." * 1_000_000,
        "a." * 500_000,
        "漢。" * 300_000,
        "\n" * 1_000_000,
        "…」" * 300_000,
    ],
)
def test_hostile_texts_are_summarised_too(text: str) -> None:
    assert len(summary(text)) <= 300
