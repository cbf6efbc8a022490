"""Time phrases of five languages, against fixed clocks."""

import time
from datetime import UTC, datetime, timedelta
from unicodedata import normalize
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.domain.timephrase import LANGUAGES, TimePhrase, detect
from tests.domain.timephrase_tables import FIGURES, TABLES

SEOUL, PARIS = ZoneInfo("Asia/Seoul"), ZoneInfo("Europe/Paris")
WEDNESDAY = datetime(2024, 5, 15, 14, 30, tzinfo=SEOUL)


def rows(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(phrase, span) for phrases, span in table.items() for phrase in phrases.split("|")]


def written(found: TimePhrase | None) -> str:
    """The range as the tables write it: whole days without their times."""
    assert found is not None
    start, end = (moment.replace(tzinfo=None).isoformat() for moment in (found.start, found.end))
    if start.endswith("T00:00:00") and end.endswith("T23:59:59") and found.start.year > 1:
        start, end = start[:10], end[:10]
        return start if start == end else f"{start}..{end}"
    return f"{start}..{end}"


@pytest.mark.parametrize(("phrase", "span"), [row for table in (*TABLES.values(), FIGURES) for row in rows(table)])
def test_a_phrase_is_found_whole_and_means_its_range(phrase: str, span: str) -> None:
    found = detect(phrase, WEDNESDAY)
    assert written(found) == span
    assert found is not None
    assert (found.expression, found.rest) == (phrase, "")


@pytest.mark.parametrize(
    ("language", "phrase", "span"), [(code, *row) for code, table in TABLES.items() for row in rows(table)]
)
def test_a_phrase_is_found_when_its_language_is_named(language: str, phrase: str, span: str) -> None:
    assert written(detect(phrase, WEDNESDAY, language)) == span


@pytest.mark.parametrize(
    ("query", "expression", "rest"),
    [
        ("어제의 회의록", "어제", "회의록"),
        ("지난주에 만난 사람", "지난주", "만난 사람"),
        ("김대리가 3일 전에 한 말", "3일 전", "김대리가 한 말"),
        ("지난주회의", "지난주", "회의"),
        ("2024년 1월 1일에  회의", "2024년 1월 1일", "회의"),
        ("today의 meeting", "today", "meeting"),
        ("notes from yesterday", "yesterday", "notes"),
        ("yesterday's meeting", "yesterday", "meeting"),
        ("What did I say yesterday?", "yesterday", "What did I say?"),
        ("Yesterday, we talked", "Yesterday", "we talked"),
        ("the budget in March", "March", "the budget"),
        ("we met on Monday  about cats", "Monday", "we met about cats"),
        ("(yesterday)", "yesterday", ""),
        ("sales from 2020 to 2022 in Asia", "from 2020 to 2022", "sales in Asia"),
        ("昨日の会議", "昨日", "会議"),
        ("작년 말레이시아 여행", "작년", "말레이시아 여행"),
        ("지난달 말에 산 책", "지난달 말", "산 책"),
        ("去年底的会议", "去年底", "会议"),
        ("去年初中同学", "去年", "初中同学"),
        ("先月末の会議", "先月末", "会議"),
        ("今日は会議がある", "今日", "会議がある"),
        ("昨天的会议", "昨天", "会议"),
        ("三天前天气", "三天前", "天气"),
        ("réunion de la semaine dernière", "la semaine dernière", "réunion"),
        ("budget du 5 mars", "5 mars", "budget"),
        ("vacances en mai", "mai", "vacances"),
    ],
)
def test_the_rest_of_the_query_has_no_dangling_words(query: str, expression: str, rest: str) -> None:
    found = detect(query, WEDNESDAY)
    assert found is not None
    assert (found.expression, found.rest) == (expression, rest)


FALSE_FRIENDS = """
I know nothing|snowfall|the hierarchy|you may go|this may be|march on|second opinion|a sec|Sundays|mondaymorning
sun cream|sat down|24 hours in a day|1.5 hours ago|the last word|2 to 5|v2024.01.01|call 010-2024-0101|room 2024|1/2 cup
at 3pm|mais oui|mon ami|mars est une planète|des lundis|hierarchie|un an
2/3 of users|rated 4/5 stars|score 9/10|10/10 would recommend|12/20 en maths|24/7|support 24/7
from 1/3 to 1/2|1/16 scale|on 24/7|before 9/11|conv-26/10
Python 3.11|3.11 release|Postgres 11.17 upgrade|version 24.3.5|24.3.5 버전|24.3.5|pages 11-17
6.25 전쟁|3/4 분기 실적|1/3에 해당|10/20/30 rule|50/30/20
2/30|a/11/17|11/17/b|16/9 aspect ratio|until 9/10 of the tank|le 1/3 des utilisateurs
la veille technologique|la veille de Noël|mise en veille
오늘날의 기술|최근접 이웃|6일 전쟁|3년 전략|5년 전망|이번 주제|다음 주소|이번 주문|아까운 시간|내일채움공제|3일간|월드컵
오늘의집에서 산 소파|금주 섭취|금주를 결심|금연과 금주
この間に終わる|ここの間|今日は|今日は、元気|今日本で|明日香さん|最近傍探索|3日前後|五月雨|1990年代|日本
今日头条|三年前端经验|看一下周报|马上周末|以后天天|每周一次|第3天后|基本周期|文明天下|五月天
先天后天|先天和后天|后天的努力|后天环境的影响|上周游|在网上周游世界
2월 30일|13월 1일|2024-02-30|2024-13-01|0000-01-01|February 30|30 février|2月30日|2023년 2월 29일
-3 days ago|(-3 days ago)|−3일 전|-3日前|il y a -3 jours|이 일 전에 한 이야기|백일 전시회|二三十天前|十几天前
Q3 revenue|until the second quarter of the game|does this fall back to|this Spring Boot project
a été dernier|a été 2024 fois|3분기 실적|봄 여름 가을 겨울|여름에|三季度|夏天|第3四半期|夏に
999999 years ago|999999년 전|999999日前|in 999999 years|||,,,
"""


@pytest.mark.parametrize("query", [query for query in FALSE_FRIENDS.replace("\n", "|").split("|") if query])
def test_words_that_only_look_like_a_time_are_none(query: str) -> None:
    assert detect(query, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("지금 지난주 회의 알려줘", "지난주"),
        ("recently I saw what we did last year", "last year"),
        ("in 2023 or on 2024-01-01", "2024-01-01"),
        ("yesterday or 3 days ago", "3 days ago"),
        ("오늘 그제", "오늘"),
    ],
)
def test_of_several_phrases_the_most_precise_then_the_longest_then_the_first_is_taken(
    query: str, expression: str
) -> None:
    found = detect(query, WEDNESDAY)
    assert found is not None
    assert found.expression == expression


@pytest.mark.parametrize(
    ("now", "phrase", "span"),
    [
        ("2024-01-10", "올겨울|이번 겨울|this winter|cet hiver|今年の冬", "2023-12-01..2024-02-29"),
        ("2024-01-10", "last winter|지난겨울", "2022-12-01..2023-02-28"),
        ("2024-01-10", "last quarter|上季度", "2023-10-01..2023-12-31"),
        ("2024-07-01", "last summer|지난 여름", "2023-06-01..2023-08-31"),
        ("2024-07-01", "this summer|この夏", "2024-06-01..2024-08-31"),
        ("2024-09-01", "last summer|this summer", "2024-06-01..2024-08-31"),
        ("2024-11-18", "next quarter|다음 분기", "2025-01-01..2025-03-31"),
    ],
)
def test_seasons_and_quarters_turn_with_the_year(now: str, phrase: str, span: str) -> None:
    today = datetime.fromisoformat(now).replace(hour=12, tzinfo=PARIS)
    assert {written(detect(one, today)) for one in phrase.split("|")} == {span}


def test_a_named_language_shuts_out_the_words_of_others_but_not_figures() -> None:
    assert detect("yesterday", WEDNESDAY, "ko") is None
    assert detect("어제", WEDNESDAY, "en") is None
    for language in LANGUAGES:
        assert written(detect("2024-01-01", WEDNESDAY, language)) == "2024-01-01"


def test_the_order_of_day_and_month_is_the_language_s() -> None:
    assert written(detect("01/02/2024", WEDNESDAY, "en")) == "2024-01-02"
    assert written(detect("01/02/2024", WEDNESDAY, "fr")) == "2024-02-01"
    assert written(detect("réunion du 01/02/2024", WEDNESDAY)) == "2024-02-01"


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what did we say on 11/17?", "2023-11-17"),
        ("meeting notes 11/17", "2023-11-17"),
        ("11/17 (Fri) standup", "2023-11-17"),
        ("notes from 3/5/24", "2024-03-05"),
        ("réunion du 17/11", "2023-11-17"),
        ("réunion du 5/3/24", "2024-03-05"),
        ("3/15 회의 내용", "2024-03-15"),
        ("1/15에 만난 사람", "2024-01-15"),
        ("11.17 회의록", "2023-11-17"),
        ("24.3.5 회의|24/3/5 회의|'24.3.5 회의|24. 3. 5. 회의|회의록 24.03.05|지난번 24.3.5 회의", "2024-03-05"),
        ("3/15の会議|3/15に決めたこと|3/15的会议", "2024-03-15"),
        ("24/3/5の会議", "2024-03-05"),
    ],
)
def test_a_date_without_a_year_or_half_of_it_is_read_where_words_say_it_is_one(query: str, day: str) -> None:
    assert {written(detect(each, WEDNESDAY)) for each in query.split("|")} == {day}


def test_an_unknown_language_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match="auto, ko, en, ja, zh, fr"):
        detect("어제", WEDNESDAY, "xx")


def test_a_clock_without_a_zone_is_refused() -> None:
    with pytest.raises(Invalid, match="time zone"):
        detect("어제", WEDNESDAY.replace(tzinfo=None))


def test_decomposed_letters_are_read_and_kept_as_written() -> None:
    query = normalize("NFD", "어제 réunion")
    found = detect(query, WEDNESDAY)
    assert found is not None
    assert found.expression == normalize("NFD", "어제")
    assert found.rest == normalize("NFD", "réunion")


@pytest.mark.parametrize(("year", "middle"), [(2024, "2024-02-29"), (2023, "2023-02-28")])
def test_a_month_before_the_last_of_march_is_the_last_of_february(year: int, middle: str) -> None:
    found = detect("한 달 전", datetime(year, 3, 31, 12, tzinfo=SEOUL))
    assert found is not None
    assert (found.start + timedelta(days=15)).date().isoformat() == middle


@pytest.mark.parametrize(
    ("query", "hours"), [("today", 23), ("hier", 24), ("2024-10-27", 25), ("this week", 167), ("2024-03-31 02:30", 0)]
)
def test_days_are_calendar_days_when_the_clocks_change(query: str, hours: int) -> None:
    found = detect(query, datetime(2024, 3, 31, 12, tzinfo=PARIS))
    assert found is not None
    length = found.end.astimezone(UTC) - found.start.astimezone(UTC)
    assert length == (timedelta(hours=hours, seconds=-1) if hours else timedelta(seconds=59))


def test_hours_ago_are_real_hours_when_the_clocks_change() -> None:
    found = detect("il y a 3 heures", datetime(2024, 3, 31, 4, tzinfo=PARIS))
    assert written(found) == "2024-03-30T23:30:00..2024-03-31T00:30:00"
    found = detect("3 hours ago", datetime(2024, 10, 27, 4, tzinfo=PARIS))
    assert written(found) == "2024-10-27T01:30:00..2024-10-27T02:30:00"


def test_the_zone_decides_which_day_yesterday_is() -> None:
    late = datetime(2024, 1, 1, 23, 30, tzinfo=UTC)
    assert written(detect("어제", late)) == "2023-12-31"
    assert written(detect("어제", late.astimezone(SEOUL))) == "2024-01-01"


def test_a_word_at_the_end_of_what_is_looked_at_is_not_cut_into_a_phrase() -> None:
    assert detect("a" * 1990 + " " + "yesterdays", WEDNESDAY) is None
    assert detect("x" * 3000 + " yesterday", WEDNESDAY) is None


@pytest.mark.parametrize("text", ["a", " ", "1 ", "昨日から", "from march ", "一", "\ud800", "1-", "어제 ", "the "])
def test_a_megabyte_costs_no_more_than_a_page(text: str) -> None:
    began = time.perf_counter()
    detect(text * (1_000_000 // len(text)), WEDNESDAY)
    assert time.perf_counter() - began < 2


WORDS = sorted({word for table in (*TABLES.values(), FIGURES) for phrase, _ in rows(table) for word in phrase.split()})
SENTENCES = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=9)
CLOCKS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(lambda moment: moment.replace(tzinfo=PARIS))  # noqa: DTZ001


@given(SENTENCES, st.sampled_from(["", " "]), CLOCKS, st.sampled_from(["auto", *LANGUAGES]))
def test_whatever_is_found_is_a_range_that_stands_in_the_query(
    words: list[str], space: str, now: datetime, language: str
) -> None:
    query = space.join(words)
    found = detect(query, now, language)
    if found:
        assert found.start.astimezone(UTC) <= found.end.astimezone(UTC)
        assert found.expression
        assert found.expression in query
        assert found.start.tzinfo is found.end.tzinfo is now.tzinfo


@given(st.text())
def test_any_text_is_read_without_complaint(query: str) -> None:
    detect(query, WEDNESDAY)


@given(CLOCKS, st.integers(-400, 400))
def test_yesterday_moves_with_today(now: datetime, days: int) -> None:
    here, there = detect("yesterday", now), detect("yesterday", now + timedelta(days=days))
    assert here is not None
    assert there is not None
    assert there.start.date() - here.start.date() == timedelta(days=days)
