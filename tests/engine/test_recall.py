from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.domain.access import Actor
from commonplace.domain.errors import Invalid, StoreFailed
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.recall import ARM, Question
from commonplace.storage.sqlite.store import FILE_NAME
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio


async def keep(engine: Engine, owner: Actor, *texts: str) -> None:
    for text in texts:
        await engine.memories.remember(owner, Draft(text))


async def contents(engine: Engine, owner: Actor, question: Question) -> list[str]:
    return [hit.memory.content for hit in (await engine.recall.recall(owner, question)).hits]


async def test_an_empty_store_answers_with_nothing(engine: Engine, owner: Actor) -> None:
    assert await contents(engine, owner, Question("anything")) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京都の会議は中止になった", "会議"),
        ("天气很好", "气"),
        ("회의가 연기되었다", "연기"),
        ("La réunion est reportée", "reunion"),
        ("deploy v2.0 with GPT-5", "GPT-5"),
        ("call find_user_by_id()", "user"),
        ("prix: 50% de remise", "50%"),
        ("🚀 launch day", "🚀"),
    ],
)
async def test_the_literal_word_is_found_first_in_any_script(
    engine: Engine, owner: Actor, text: str, query: str
) -> None:
    await keep(engine, owner, "another thing entirely", "그 밖의 것", "まったく別の話", text)
    assert (await contents(engine, owner, Question(query)))[0] == text


async def test_where_nothing_is_close_what_has_a_word_is_the_closest(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the giraffe eats hay, straw, apples, pears, plums and cherries", "a song")
    found = await engine.recall.recall(
        owner, Question("zebra okapi lion tiger panda koala lemur giraffe", 3, 0.7, closest=3)
    )
    assert (found.hits, [hit.memory.content[:11] for hit in found.closest]) == ((), ["the giraffe"])


@pytest.mark.parametrize("words", [1, 500, 20_000])
@pytest.mark.parametrize("query", ["okapi", "東"])
async def test_the_only_memory_with_a_word_is_first_and_related_however_long_it_is(
    engine: Engine, owner: Actor, query: str, words: int
) -> None:
    long = " ".join(f"word{number % 997}" for number in range(words))
    await keep(engine, owner, *(f"note {number} of another thing" for number in range(30)), f"{long} {query} {long}")
    best = (await engine.recall.recall(owner, Question(query))).hits[0]
    assert query in best.memory.content
    assert best.similarity >= 0.7


async def test_query_text_is_always_literal(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "plain words")
    for query in ('"', "NEAR(a b)", "a OR b", "words*", "^words", "terms:words", "-words", "(", "' --", "\\"):
        await engine.recall.recall(owner, Question(query))


async def test_filters_hold(engine: Engine, owner: Actor, clock: Clock) -> None:
    start = clock.now()
    for day in range(5):
        draft = Draft(f"report {day}", importance=day / 10, tags=(f"day{day}",), category="a" if day % 2 else "b")
        await engine.memories.remember(owner, draft)
        clock.advance(timedelta(days=1))
    await engine.memories.remember(owner, Draft("report passing", ttl=timedelta(days=1)))
    found = await contents(engine, owner, Question("report", importance_min=0.3))
    assert set(found) == {"report 3", "report 4", "report passing"}
    found = await contents(engine, owner, Question("report", since=start + timedelta(days=2), ephemeral=False))
    assert set(found) == {"report 2", "report 3", "report 4"}
    assert await contents(engine, owner, Question("report", tags=("day1", "nowhere"))) == ["report 1"]
    assert set(await contents(engine, owner, Question("report", categories=("a",)))) == {"report 1", "report 3"}
    assert await contents(engine, owner, Question("report", ephemeral=True)) == ["report passing"]


async def test_each_hit_explains_its_place(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the lighthouse keeper", "a bakery in the harbour")
    hit = (await engine.recall.recall(owner, Question("lighthouse"))).hits[0]
    assert set(hit.reasons) == {"vector", "lexical", "neighbours", "importance", "recency", "use"}
    assert hit.score == pytest.approx(sum(hit.reasons.values()))
    assert hit.reasons["lexical"] > 0
    assert 0 <= hit.similarity <= 1


async def test_what_stands_beside_a_hit_is_lifted(engine: Engine, owner: Actor) -> None:
    rest = "of old grey stones, walls, nets and boats in a winter storm, far from any town"
    texts = ("the keeper of the lighthouse", f"ppp keeper {rest}", *(f"filler {n}" for n in range(20)))
    await keep(engine, owner, "qqq", *texts, f"rrr keeper {rest}")
    found = await engine.recall.recall(owner, Question("lighthouse keeper", 50))
    hits = {hit.memory.content: hit for hit in found.hits}
    assert hits[f"ppp keeper {rest}"].reasons["neighbours"] > 0
    assert hits[f"rrr keeper {rest}"].reasons["neighbours"] == 0
    assert hits["qqq"].reasons["neighbours"] == 0


async def test_what_is_like_a_memory_is_not_what_stands_beside_it(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "a red boat in the harbour", "a red kite", *(f"filler {n}" for n in range(20)))
    first = (await engine.recall.recall(owner, Question("boat", 1))).hits[0].memory
    found = await engine.recall.like(owner, first, Question(first.content, 3, threshold=0.99, closest=1))
    assert (found.hits, [hit.memory.content for hit in found.closest]) == ((), ["a red kite"])
    found = await engine.recall.like(owner, first, Question(first.content, 30))
    assert all(hit.reasons["neighbours"] == 0 for hit in found.hits)
    assert first.content not in {hit.memory.content for hit in found.hits}


async def test_near_duplicates_are_folded_where_asked(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the cat sat on the mat", "the cat sat on the mat", "the cat ran away")
    assert len(await contents(engine, owner, Question("cat mat"))) == 3
    assert len(await contents(engine, owner, Question("cat mat", fold=True))) == 2


async def test_a_threshold_cuts_by_similarity(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the lighthouse keeper", "a bakery in the harbour")
    assert await contents(engine, owner, Question("the lighthouse keeper", threshold=0.9)) == ["the lighthouse keeper"]


@pytest.mark.parametrize("limit", [3, ARM, ARM + 5])
async def test_whether_more_was_found_than_is_shown_is_known_exactly(engine: Engine, owner: Actor, limit: int) -> None:
    await keep(engine, owner, *(f"note number {number}" for number in range(limit)))
    assert not (await engine.recall.recall(owner, Question("note number", limit))).more
    await keep(engine, owner, "a note number as well")
    found = await engine.recall.recall(owner, Question("note number", limit))
    assert (len(found.hits), found.more) == (limit, True)
    assert not (await engine.recall.recall(owner, Question("note number", limit + 1))).more


async def test_only_what_is_close_enough_is_more(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the lighthouse keeper", "a bakery in the harbour", "the lighthouse keeper again")
    for limit, threshold, more in ((1, 0.9, True), (2, 0.9, False), (2, 0.0, True), (1, 1.0, False)):
        question = Question("the lighthouse keeper", limit, threshold)
        assert (await engine.recall.recall(owner, question)).more is more, question
    nothing = await engine.recall.recall(owner, Question("zzyzx", 1, 0.9, closest=1))
    assert not nothing.more


async def test_more_counts_neither_the_memory_it_is_compared_with_nor_what_says_the_same(
    engine: Engine, owner: Actor
) -> None:
    await keep(engine, owner, *["the cat sat on the mat"] * 3, "the cat ran away")
    first = (await engine.recall.recall(owner, Question("mat", 1))).hits[0].memory
    for limit in (2, 3):
        found = await engine.recall.like(owner, first, Question(first.content, limit))
        assert (len(found.hits), found.more) == (limit, limit < 3)
    for limit in (1, 2):
        found = await engine.recall.recall(owner, Question("cat mat", limit, fold=True))
        assert (len(found.hits), found.more) == (limit, limit < 2)


async def test_what_is_not_shown_is_not_used(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, *(f"note number {number}" for number in range(3)))
    assert (await engine.recall.recall(owner, Question("note number", 2))).more
    await engine.recall.flush_uses()
    kept = (await engine.memories.page(owner, 10)).memories
    assert sorted(memory.uses for memory in kept) == [0, 1, 1]


async def test_without_the_embedder_search_is_lexical_and_says_so(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await keep(engine, owner, "the lighthouse keeper")
    embedder.broken = "out of order"
    found = await engine.recall.recall(owner, Question("lighthouse"))
    assert [hit.memory.content for hit in found.hits] == ["the lighthouse keeper"]
    assert "out of order" in found.reach.lexical_only


async def test_a_sentence_deep_in_a_long_text_is_found(engine: Engine, owner: Actor) -> None:
    filler = "The rain in the valley went on and on without an end. "
    long = filler * 9000 + "A violet submarine waits under the ice. " + filler * 9000
    assert 900_000 < len(long) < 1_048_576
    await keep(engine, owner, "something short", long)
    await engine.upkeep.embed_missing()
    hit = (await engine.recall.recall(owner, Question("violet submarine under the ice"))).hits[0]
    assert hit.memory.content == long
    assert hit.reasons["vector"] > 0.2  # the vector of that part, not of the whole


async def test_a_look_counts_at_once_and_is_written_once_also_where_writing_fails_first(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    await keep(engine, owner, "the lighthouse keeper")
    (kept,) = (await engine.memories.page(owner, 10)).memories
    assert [engine.recall.used(kept).uses for _ in range(3)] == [1, 2, 3]
    file = apsw.Connection(str(folder / FILE_NAME))
    file.execute("CREATE TRIGGER no BEFORE INSERT ON uses BEGIN SELECT raise(ABORT, 'no'); END")
    with pytest.raises(StoreFailed):
        await engine.recall.flush_uses()
    file.execute("DROP TRIGGER no")
    file.close()
    assert engine.recall.used(kept).uses == 4
    for _ in range(2):
        await engine.recall.flush_uses()
    (kept,) = (await engine.memories.page(owner, 10)).memories
    assert (kept.uses, engine.recall.used(kept).uses) == (4, 5)


async def test_what_was_recalled_counts_as_used(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "the lighthouse keeper")
    for _ in range(3):
        await engine.recall.recall(owner, Question("lighthouse"))
    await engine.recall.flush_uses()
    hit = (await engine.recall.recall(owner, Question("lighthouse"))).hits[0]
    assert hit.memory.uses == 3
    assert hit.reasons["use"] > 0
    assert hit.memory.version == 1


async def test_an_impossible_question_is_refused(engine: Engine, owner: Actor) -> None:
    for question in (Question(""), Question(" "), Question("x", 0), Question("x" * 20_001), Question("\x00")):
        with pytest.raises(Invalid):
            await engine.recall.recall(owner, question)


async def test_a_time_phrase_finds_that_time_in_the_callers_zone(engine: Engine, owner: Actor, clock: Clock) -> None:
    # 15 January, noon in Seoul; the 14th there began at 15:00 UTC of the 13th.
    times = {
        "day before": datetime(2026, 1, 13, 14, 59, tzinfo=UTC),
        "yesterday, first minute": datetime(2026, 1, 13, 15, 0, tzinfo=UTC),
        "yesterday, last second": datetime(2026, 1, 14, 14, 59, 59, 900_000, tzinfo=UTC),
        "today": datetime(2026, 1, 14, 15, 0, tzinfo=UTC),
    }
    now = clock.now()
    for text, at in times.items():
        clock.advance(at - clock.now())
        await keep(engine, owner, text)
    clock.advance(now - clock.now())
    moment = await engine.recall.recall_time(owner, "어제", language="auto", margin=timedelta(0), limit=50)
    assert [m.content for m in moment.memories] == ["yesterday, last second", "yesterday, first minute"]
    assert moment.phrase is not None
    assert moment.phrase.expression == "어제"
    wide = await engine.recall.recall_time(owner, "어제", language="ko", margin=timedelta(hours=12), limit=50)
    assert wide.total == 4


async def test_the_rest_of_a_time_question_ranks(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "lunch with Kim", "budget meeting notes", "walk in the park")
    moment = await engine.recall.recall_time(
        owner, "today budget meeting", language="auto", margin=timedelta(0), limit=50
    )
    assert moment.memories[0].content == "budget meeting notes"
    assert moment.total == 3


async def test_without_a_time_phrase_it_is_an_ordinary_search(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "I know the lighthouse")
    moment = await engine.recall.recall_time(owner, "know", language="auto", margin=timedelta(0), limit=50)
    assert moment.phrase is None
    assert [m.content for m in moment.memories] == ["I know the lighthouse"]


async def test_an_ordinary_search_counts_one_more_only_where_there_is_more(engine: Engine, owner: Actor) -> None:
    await keep(engine, owner, "I know the lighthouse", "I know the harbour")
    for limit, total in ((1, 2), (2, 2), (3, 2)):
        moment = await engine.recall.recall_time(owner, "know", language="auto", margin=timedelta(0), limit=limit)
        assert (len(moment.memories), moment.total) == (min(limit, 2), total)


async def test_what_was_asked_lately_is_not_embedded_again(engine: Engine, owner: Actor, embedder: Embedder) -> None:
    await keep(engine, owner, "the okapi is shy")
    embedder.batches.clear()
    first = await contents(engine, owner, Question("okapi"))
    assert await contents(engine, owner, Question("okapi", threshold=0.1)) == first == ["the okapi is shy"]
    assert embedder.batches == [1]
    for number in range(64):
        await contents(engine, owner, Question(f"question {number}"))
    assert len(embedder.batches) == 65
    await contents(engine, owner, Question("okapi"))
    assert len(embedder.batches) == 66


async def test_a_question_that_could_not_be_embedded_is_tried_again(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    embedder.broken = "out of order"
    assert (await engine.recall.recall(owner, Question("okapi"))).reach.lexical_only
    embedder.broken = ""
    engine.embedding.forgive()
    assert (await engine.recall.recall(owner, Question("okapi"))).reach.lexical_only == ""


@pytest.mark.parametrize("rest", ["", " about the harbour"])
async def test_what_is_of_the_time_itself_comes_before_what_is_only_within_the_margin(
    engine: Engine, owner: Actor, clock: Clock, rest: str
) -> None:
    await keep(engine, owner, *(f"of that day {number}" for number in range(3)))
    clock.advance(timedelta(hours=14))  # 02:00 in Seoul, so that much of this day is within the margin
    await keep(engine, owner, *(f"the harbour {number}" for number in range(60)))
    moment = await engine.recall.recall_time(
        owner, f"yesterday{rest}", language="en", margin=timedelta(hours=12), limit=50
    )
    assert (len(moment.memories), moment.total) == (50, 63)
    assert {memory.content for memory in moment.memories[:3]} == {f"of that day {number}" for number in range(3)}


@pytest.mark.parametrize(
    "query", ["데드라인이 언제야?", "데드라인 언제까지예요?", "데드라인은", "what about the deadline, zebra?"]
)
async def test_in_a_small_store_a_word_that_no_memory_has_does_not_outweigh_those_it_has(
    engine: Engine, owner: Actor, query: str
) -> None:
    deadlines = "프로젝트 X의 데드라인이 2월 15일로 연기되었다", "the deadline was moved"
    await keep(engine, owner, *deadlines, "점심으로 김치찌개를 먹었다")
    best = (await engine.recall.recall(owner, Question(query))).hits[0]
    assert best.memory.content in deadlines
    assert best.similarity >= 0.3


async def test_of_a_very_long_question_the_beginning_and_the_end_are_embedded(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    await keep(engine, owner, "the okapi is shy")
    for question in ("okapi " + "x" * 19_000, "x" * 19_000 + " okapi"):
        hit = (await engine.recall.recall(owner, Question(question, words=False))).hits[0]
        assert hit.reasons["vector"] > 0
    between = "x" * 9000 + " okapi " + "x" * 9000
    assert (await engine.recall.recall(owner, Question(between, words=False))).hits[0].similarity < 0.2
