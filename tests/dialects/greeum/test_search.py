"""query_memory and search_time."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.dialects.conversation import Conversation, unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOON = datetime.fromisoformat("2024-01-02T12:00:00+09:00")
"""The day after the one in the reference's example, in Seoul."""


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@behaviour("greeum.query_memory.answer")
async def test_a_found_memory_has_the_fields_of_the_reference(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_memory", content=f"{word} 데드라인", keywords=["k"], tags=["t"], importance=0.9)
    hit = (await talk.call("query_memory", query=word))[0]
    assert isinstance(hit.pop("similarity"), float)
    del added["block_index"]
    assert hit == {**added, "content": f"{word} 데드라인"}


@behaviour("greeum.query_memory.meaning")
async def test_a_question_in_other_words_and_languages_finds_the_memory(talk: Conversation) -> None:
    added = await talk.call("add_memory", content="고양이는 매일 아침 우유를 마신다")
    for query in ("what does the cat drink", "猫は朝に何を飲みますか", "고양이 음료"):
        assert added["id"] in [hit["id"] for hit in await talk.call("query_memory", query=query)]


@behaviour("greeum.query_memory.best_first")
async def test_the_closest_comes_first(talk: Conversation) -> None:
    word = unique()
    await talk.call("add_memory", content="비가 오는 날에는 우산이 필요하다")
    close = await talk.call("add_memory", content=f"The budget of {word} was approved by the board")
    hits = await talk.call("query_memory", query=f"budget of {word} approved", limit=20)
    assert hits[0]["id"] == close["id"]
    assert all(0 <= hit["similarity"] <= 1 for hit in hits)
    assert hits[0]["similarity"] > 0.7


@behaviour("greeum.query_memory.default_limit", "greeum.query_memory.limit")
async def test_five_are_returned_unless_another_limit_is_given(talk: Conversation) -> None:
    word = unique()
    for number in range(7):
        await talk.call("add_memory", content=f"{word} number {number}")
    assert len(await talk.call("query_memory", query=word)) == 5
    assert len(await talk.call("query_memory", query=word, limit=7)) == 7
    assert len(await talk.call("query_memory", query=word, limit=1)) == 1
    for wrong in (0, -1, 1001, 10**400):
        assert "limit: must be from 1 to 1000" in await talk.invalid("query_memory", query=word, limit=wrong)


@behaviour("greeum.query_memory.min_importance")
async def test_min_importance_leaves_out_the_less_important(talk: Conversation) -> None:
    word = unique()
    for importance in (0.2, 0.6, 0.9):
        await talk.call("add_memory", content=f"{word} {importance}", importance=importance)
    hits = await talk.call("query_memory", query=word, min_importance=0.6)
    assert {hit["importance"] for hit in hits if word in hit["content"]} == {0.6, 0.9}
    assert all(hit["importance"] >= 0.6 for hit in hits)


@behaviour("greeum.query_memory.min_importance_bounds")
async def test_min_importance_goes_from_zero_to_one(talk: Conversation) -> None:
    assert await talk.call("query_memory", query="x", min_importance=1) is not None
    for wrong in (-0.1, 1.1, "1", True):
        assert "min_importance" in await talk.invalid("query_memory", query="x", min_importance=wrong)


@behaviour("greeum.query_memory.short_term")
async def test_a_living_short_term_memory_is_found(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_stm", content=f"remind me of {word}")
    hit = (await talk.call("query_memory", query=word))[0]
    assert (hit["id"], hit["expires_at"]) == (added["id"], added["expires_at"])


@behaviour("greeum.query_memory.empty_query")
async def test_a_blank_query_is_refused(talk: Conversation) -> None:
    assert "query: must not be empty" in await talk.invalid("query_memory", query=" \n")


@behaviour("greeum.query_memory.nothing_stored")
async def test_an_empty_memory_answers_with_an_empty_list(local: Conversation) -> None:
    assert await local.call("query_memory", query="anything") == []


# Times


def _range(first: str, last: str) -> dict[str, str]:
    return {"from": first, "to": last}


@behaviour("greeum.search_time.answer")
async def test_a_time_search_answers_with_the_fields_of_the_reference(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_memory", content=f"{word} 회의")
    found = await talk.call("search_time", query=f"오늘 {word}")
    assert found["detected"] is True
    assert found["time_expression"] == "오늘"
    assert set(found["search_range"]) == set(found["searched_range"]) == {"from", "to"}
    assert found["blocks"][0] == await talk.call("retrieve_memory", memory_id=added["id"])
    assert set(found) == {
        *("detected", "time_expression", "search_range", "searched_range", "blocks", "total", "has_more"),
    }


@behaviour("greeum.search_time.example")
async def test_yesterday_is_the_whole_calendar_day_where_the_caller_is(local: Conversation) -> None:
    found = await local.call("search_time", query="어제")
    assert found["time_expression"] == "어제"
    assert found["search_range"] == _range("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z")


async def _stored_at(local: Conversation, clock: Clock, moment: str, content: str) -> None:
    clock.advance(datetime.fromisoformat(moment) - clock.now())
    await local.call("add_memory", content=content)


async def _contents(local: Conversation, **arguments: Any) -> set[str]:
    return {block["content"] for block in (await local.call("search_time", **arguments))["blocks"]}


@behaviour("greeum.search_time.margin", "greeum.search_time.default_margin")
async def test_the_margin_widens_the_day_on_both_sides(local: Conversation, clock: Clock) -> None:
    for moment in ("2023-12-31T11:59:59", "2023-12-31T12:00:00", "2024-01-01T00:00:00", "2024-01-01T23:59:59"):
        await _stored_at(local, clock, f"{moment}+09:00", moment)
    for moment in ("2024-01-02T00:00:00", "2024-01-02T11:59:59", "2024-01-02T12:00:00"):
        await _stored_at(local, clock, f"{moment}+09:00", moment)
    day = {"2024-01-01T00:00:00", "2024-01-01T23:59:59"}
    assert await _contents(local, query="어제", margin_hours=0) == day
    widened = day | {"2023-12-31T12:00:00", "2024-01-02T00:00:00", "2024-01-02T11:59:59"}
    assert await _contents(local, query="어제", margin_hours=12) == widened
    assert await _contents(local, query="어제") == widened
    found = await local.call("search_time", query="어제")
    assert found["search_range"] == _range("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z")
    assert found["searched_range"] == _range("2023-12-31T03:00:00Z", "2024-01-02T02:59:59Z")


@behaviour("greeum.search_time.margin_bounds")
async def test_an_absurd_margin_is_refused(talk: Conversation) -> None:
    assert (await talk.call("search_time", query="어제", margin_hours=0))["detected"]
    for wrong in (-1, 10**9, 10**400, 0.5, "12", True):
        assert "margin_hours" in await talk.invalid("search_time", query="어제", margin_hours=wrong)


@behaviour("greeum.search_time.language")
async def test_a_language_reads_its_own_phrases_only(talk: Conversation) -> None:
    for query, language in (("어제 회의", "ko"), ("meeting yesterday", "en")):
        other = {"ko": "en", "en": "ko"}[language]
        assert (await talk.call("search_time", query=query, language=language))["detected"]
        assert (await talk.call("search_time", query=query, language="auto"))["detected"]
        assert (await talk.call("search_time", query=query))["detected"]
        assert not (await talk.call("search_time", query=query, language=other))["detected"]


@behaviour("greeum.search_time.unknown_language")
async def test_an_unknown_language_is_refused(talk: Conversation) -> None:
    for wrong in ("klingon", "", "KOR"):
        details = await talk.invalid("search_time", query="어제", language=wrong)
        assert "auto, ko, en, ja, zh, fr" in details
    for language in ("ja", "zh", "fr"):
        assert not (await talk.call("search_time", query="어제", language=language))["detected"]


DOCUMENTED = {
    "어제": ("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z"),
    "오늘": ("2024-01-01T15:00:00Z", "2024-01-02T14:59:59Z"),
    "그저께": ("2023-12-30T15:00:00Z", "2023-12-31T14:59:59Z"),
    "지난주": ("2023-12-24T15:00:00Z", "2023-12-31T14:59:59Z"),
    "3일 전": ("2023-12-29T15:00:00Z", "2023-12-30T14:59:59Z"),
    "yesterday": ("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z"),
    "today": ("2024-01-01T15:00:00Z", "2024-01-02T14:59:59Z"),
    "last week": ("2023-12-24T15:00:00Z", "2023-12-31T14:59:59Z"),
    "3 days ago": ("2023-12-29T15:00:00Z", "2023-12-30T14:59:59Z"),
    "2024년 1월 1일": ("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z"),
    "2024-01-01": ("2023-12-31T15:00:00Z", "2024-01-01T14:59:59Z"),
}


@behaviour("greeum.search_time.korean", "greeum.search_time.english", "greeum.search_time.dates")
async def test_the_documented_phrases_are_calendar_true(local: Conversation) -> None:
    for phrase, (first, last) in DOCUMENTED.items():
        for query in (phrase, f"{phrase} 프로젝트 회의", f"회의 ({phrase})"):
            found = await local.call("search_time", query=query)
            assert (found["time_expression"], found["search_range"]) == (phrase, _range(first, last)), query


MORE = (
    "방금|조금 전|그제|저번 주|지난달|작년|재작년|30초 전|5분 전|2시간 전|2주 전|3개월 전|두 달 전|1년 전|최근|며칠 전|"
    "내일|모레|다음 주|3일 후|3월 5일|just now|the day before yesterday|last month|last year|2 hours ago|"
    "a few days ago|in 3 days|last Monday|昨日|先週|3日前|昨天|上周|3天前|hier|la semaine dernière|il y a 3 jours|"
    "2024/01/01|2024.1.1|Jan 1, 2024|1 January 2024"
)


@behaviour("greeum.search_time.more_phrases")
async def test_many_more_phrases_are_understood(local: Conversation) -> None:
    for phrase in MORE.split("|"):
        found = await local.call("search_time", query=f"{phrase}")
        assert (found["detected"], found.get("time_expression")) == (True, phrase)
    without_year = await local.call("search_time", query="3월 5일")
    assert without_year["search_range"] == _range("2023-03-04T15:00:00Z", "2023-03-05T14:59:59Z")


@behaviour("greeum.search_time.whole_words")
async def test_phrases_are_whole_words_in_any_case(talk: Conversation) -> None:
    assert (await talk.call("search_time", query="What happened YESTERDAY?"))["time_expression"] == "YESTERDAY"
    for query in ("I know Todayama", "yesterdays", "nowhere"):
        assert not (await talk.call("search_time", query=query))["detected"], query


@behaviour("greeum.search_time.ranked")
async def test_the_rest_of_the_query_ranks_the_blocks(talk: Conversation) -> None:
    word = unique()
    wanted = await talk.call("add_memory", content=f"{word} 예산 승인")
    await talk.call("add_memory", content="점심으로 국수를 먹었다")
    found = await talk.call("search_time", query=f"today {word}")
    assert found["blocks"][0]["id"] == wanted["id"]
    assert len(found["blocks"]) > 1


@behaviour("greeum.search_time.nothing_detected")
async def test_without_a_phrase_it_is_an_ordinary_search(talk: Conversation) -> None:
    word = unique()
    added = await talk.call("add_memory", content=f"{word} 예산")
    found = await talk.call("search_time", query=f"{word} 예산")
    assert found["detected"] is False
    assert found["blocks"][0]["id"] == added["id"]
    assert not {"time_expression", "search_range", "searched_range"} & set(found)


@behaviour("greeum.search_time.bounded")
async def test_fifty_blocks_at_most_with_their_true_total(local: Conversation) -> None:
    for number in range(52):
        await local.call("add_memory", content=f"note {number}", keywords=[], tags=[])
    found = await local.call("search_time", query="오늘")
    assert (len(found["blocks"]), found["total"], found["has_more"]) == (50, 52, True)


@behaviour("greeum.search_time.short_term")
async def test_short_term_memories_of_that_time_are_among_the_blocks(local: Conversation, clock: Clock) -> None:
    added = await local.call("add_stm", content="passing")
    clock.advance(timedelta(minutes=1))
    (block,) = (await local.call("search_time", query="오늘"))["blocks"]
    assert (block["id"], block["expires_at"]) == (added["id"], added["expires_at"])


@behaviour("greeum.query_memory.reasons")
async def test_each_hit_explains_itself(local: Conversation) -> None:
    added = await local.call("add_memory", content="the lighthouse keeper counts the ships")
    asked: Any = {"commonplace/reasons": True}
    result = await local.client.call_tool("query_memory", {"query": "lighthouse keeper"}, meta=asked)
    (why,) = (result.meta or {})["commonplace/reasons"]
    assert why.pop("id") == added["id"]
    assert why["vector"] > 0 < why["lexical"]
    assert why.pop("score") == pytest.approx(sum(why.values()), abs=0.001)
    assert set(why) == {"vector", "lexical", "neighbours", "importance", "recency", "use"}
    assert (await local.answer("query_memory", query="lighthouse keeper")).meta is None
