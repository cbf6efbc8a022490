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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("아프리카 여행", ["여행"]),
        ("사랑니를 뽑았다", []),
        ("의사소통이 중요하다", ["중요"]),
        ("디스크 파티션을 나눴다", []),
        ("연결이 불안정하다", []),
        ("배우가 늦었다", []),
        ("배우고 싶다", ["학습"]),
        ("머리가 아프다", ["건강"]),
        ("아파트로 이사했다", ["집"]),
        ("사랑하는 사람", ["사랑"]),
        ("결혼기념일", ["사랑"]),
        ("책은 두껍다", ["책"]),
        ("책임이 크다", []),
    ],
)
def test_a_korean_word_that_only_begins_like_another_does_not_ask(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("맑은 국물이 좋다", []),
        ("맑은 날이다", ["날씨"]),
        ("눈이 많이 왔다", ["날씨"]),
        ("눈이 나빠졌다", []),
        ("보일러 고장", []),
        ("서버가 고장 났다", ["코드", "버그"]),
        ("화면이 깨졌다", []),
        ("화면 구성을 바꿨다", ["디자인"]),
        ("맑은", []),
    ],
)
def test_some_korean_words_ask_only_with_the_next(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


@pytest.mark.parametrize("topic", [name for name, entry in TOPICS.items() if "ko_but" in entry])
def test_what_only_begins_alike_begins_like_a_word_of_its_topic(topic: str) -> None:
    beginnings = tuple(TOPICS[topic]["ko"].split())
    assert [word for word in TOPICS[topic]["ko_but"].split() if not word.startswith(beginnings)] == []


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
