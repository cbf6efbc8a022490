"""Tags: topics and moods in the language of the text."""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.language.tags import tags

TOPICS = tomllib.loads(files("commonplace.language").joinpath("topics.toml").read_text("utf-8"))
LANGUAGES = ["ko", "en", "ja", "zh", "fr"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("프로젝트 X의 데드라인이 2월 15일로 연기되었다", ["마감", "프로젝트"]),
        ("중요한 회의가 있다", ["중요", "회의"]),
        ("오늘 친구를 만나서 행복했다", ["친구", "기쁨"]),
        ("책을 샀다", ["책"]),
        ("Urgent: fix the login bug before the meeting", ["bug", "important", "meeting"]),
        ("I am so grateful to my sister", ["family", "grateful"]),
        ("昨日は家族と旅行して楽しかった", ["旅行", "家族", "喜び"]),
        ("締め切りが心配です", ["締め切り", "心配"]),
        ("我很担心下周的考试", ["学习", "担心"]),
        ("项目截止日期推迟了", ["截止", "项目"]),
        ("La réunion avec l'équipe était fatigante, je suis épuisée", ["fatigue", "réunion", "travail"]),
        ("Le médecin m'a donné un médicament", ["santé"]),
        ("", []),
        ("Lorem ipsum", []),
    ],
)
def test_a_text_is_tagged_in_its_own_language(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


def test_a_given_language_names_the_tags() -> None:
    assert tags("프로젝트 X의 데드라인이 연기되었다", "en") == ["deadline", "project"]
    assert tags("The meeting is about a bug", "ko") == ["회의", "버그"]


@pytest.mark.parametrize("text", ["I am not happy", "Je ne suis pas content", "我不开心", "안 행복"])
def test_a_mood_denied_is_no_mood(text: str) -> None:
    assert tags(text) == []


def test_what_is_said_more_often_comes_first_then_the_order_of_the_table() -> None:
    assert tags("music, music and a book") == ["music", "book"]
    assert tags("a book and music") == ["music", "book"]


def test_words_are_matched_whole() -> None:
    assert tags("The captain bookmarked a carpet") == []


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(Invalid, match="language"):
        tags("text", "xx")


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_topic_has_a_name_and_words_in_every_language(topic: str, language: str) -> None:
    entry = TOPICS[topic]
    assert entry["name"][language]
    words = entry[language].split()
    assert words
    assert all(word == word.casefold() for word in words)
    assert len(words) == len(set(words))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_topics_share_a_name(language: str) -> None:
    names = [entry["name"][language] for entry in TOPICS.values()]
    assert len(names) == len(set(names))


@given(st.text(), st.sampled_from(["auto", *LANGUAGES]), st.integers(-1, 10))
def test_tags_are_distinct_and_no_more_than_asked_for(text: str, language: str, limit: int) -> None:
    found = tags(text, language, limit)
    assert len(found) == len(set(found)) <= max(limit, 0)
    assert found == tags(text, language, limit)


@pytest.mark.parametrize("unit", ["가", "a", "a ", "漢", "あ", "\u0301\u0316", "\ud800", "l'", "not happy "])
def test_a_million_characters_of_anything_are_tagged_in_bounded_time(unit: str) -> None:
    assert isinstance(tags(unit * (1_000_000 // len(unit))), list)
