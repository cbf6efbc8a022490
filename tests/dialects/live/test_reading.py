"""Notes: read, the newest first, and searched by the letter."""

from datetime import timedelta

import pytest

from commonplace.engine import Engine
from tests.dialects.conversation import unique
from tests.dialects.live.speech import LiveConversation
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

SECOND = timedelta(seconds=1)


# Reading


@behaviour("live.live_read.answer")
async def test_notes_are_read_as_the_reference_shows_them(local: LiveConversation) -> None:
    space = await local.space()
    made = await local.note(space, "Le module.", agent="cline-dev", tags="auth,module")
    assert await local.call("live_read", space_id=space) == {
        "status": "ok",
        "space_id": space,
        "notes": [
            {
                "filename": made["filename"],
                "timestamp": "2026-01-15T03:00:00Z",
                "agent": "cline-dev",
                "category": "observation",
                "tags": ["auth", "module"],
                "content": "Le module.",
            }
        ],
        "total": 1,
        "has_more": False,
    }


@behaviour("live.live_read.newest_first")
async def test_the_newest_note_comes_first(local: LiveConversation, clock: Clock) -> None:
    space = await local.space()
    for number in range(6):
        await local.note(space, str(number))
        clock.advance(SECOND * (number % 2))  # every other pair within the same second
    assert await local.notes(space) == list("543210")


@behaviour("live.live_read.limit")
async def test_limit_is_50_and_at_most_500_with_the_true_total(engine: Engine, local: LiveConversation) -> None:
    space, owner = await local.space(), await engine.access.local_owner()
    for number in range(501):
        await engine.notes.write(owner, space, "todo", f"note {number}", "a")
    found = await local.call("live_read", space_id=space)
    assert (len(found["notes"]), found["total"], found["has_more"]) == (50, 501, True)
    found = await local.call("live_read", space_id=space, limit=500)
    assert (len(found["notes"]), found["total"], found["has_more"]) == (500, 501, True)
    found = await local.call("live_search", space_id=space, query="note")
    assert (len(found["notes"]), found["total"], found["has_more"]) == (20, 501, True)
    for tool, more in (("live_read", {}), ("live_search", {"query": "x"})):
        for limit in (0, -1, 501):
            said = await local.invalid(tool, space_id=space, limit=limit, **more)
            assert said == f"limit: must be from 1 to 500, not {limit}"


@behaviour("live.live_read.filters")
async def test_notes_are_chosen_by_category_and_agent(talk: LiveConversation) -> None:
    space = await talk.space()
    for category, agent in (("todo", "ann"), ("todo", "ben"), ("issue", "ann"), ("issue", "日本")):
        await talk.note(space, f"{category} {agent}", category=category, agent=agent)
    assert await talk.notes(space, category="todo") == ["todo ben", "todo ann"]
    assert await talk.notes(space, agent="ann") == ["issue ann", "todo ann"]
    assert await talk.notes(space, agent="日本", category="issue") == ["issue 日本"]
    assert await talk.notes(space, agent="an") == []
    found = await talk.call("live_read", space_id=space, agent="ann", limit=1)
    assert (found["total"], found["has_more"]) == (2, True)


@behaviour("live.live_read.filters")
async def test_a_category_that_does_not_exist_is_refused(talk: LiveConversation) -> None:
    said = await talk.invalid("live_read", space_id=await talk.space(), category="bug")
    assert said == "category: 'bug' is not one of observation, decision, todo, insight, question, progress, issue"


@behaviour("live.live_read.since")
async def test_since_leaves_out_what_is_older(local: LiveConversation, clock: Clock) -> None:
    space = await local.space()
    for number in range(4):
        await local.note(space, str(number))
        clock.advance(timedelta(hours=1))
    for since, left in (
        ("2026-01-15T05:00:00Z", "32"),
        ("2026-01-15T05:00:01Z", "3"),
        ("2026-01-15T14:00:00+09:00", "32"),
        ("2026-01-15T05:00:00", "32"),
        ("2026-01-15", "3210"),
        ("2026-01-16", ""),
        ("0001-01-01", "3210"),
        ("9999-12-31T23:59:59Z", ""),
    ):
        assert "".join(await local.notes(space, since=since)) == left, since
    found = await local.call("live_read", space_id=space, since="2026-01-15T05:00:00Z", limit=1)
    assert (found["total"], found["has_more"]) == (2, True)


@behaviour("live.live_read.since")
async def test_whoever_asks_since_the_last_time_he_saw_misses_nothing(local: LiveConversation, clock: Clock) -> None:
    space = await local.space()
    seen: set[str] = set()
    for number in range(5):
        await local.note(space, str(number))
        newest = (await local.call("live_read", space_id=space))["notes"][0]["timestamp"]
        clock.advance(timedelta(milliseconds=400))
        seen |= set(await local.notes(space, since=newest))
    assert seen == set("01234")


@behaviour("live.live_read.since")
async def test_since_that_is_no_date_is_refused(talk: LiveConversation) -> None:
    space = await talk.space()
    for since in ("hier", "2026-13-01", "2026-02-30", "18:00", "now", "١٥ يناير", "0001-01-01T00:00:00+14:00"):
        said = await talk.invalid("live_read", space_id=space, since=since)
        assert said.startswith("since: ")
        assert since in said


@behaviour("live.live_read.bounded")
async def test_an_answer_is_never_more_than_a_client_can_take(talk: LiveConversation) -> None:
    space = await talk.space()
    for _ in range(2):
        await talk.note(space, "日" * 100_000)
    found = await talk.call("live_read", space_id=space)
    assert (len(found["notes"]), found["total"], found["has_more"]) == (1, 2, True)
    await talk.clear(space)


@behaviour("live.live_read.bounded")
async def test_what_an_answer_takes_is_counted_as_it_is_sent(local: LiveConversation) -> None:
    for text, shown in (("x" * 100_000, 4), ('"\n' * 50_000, 1), ("é" * 100_000, 2), ("\x01y" * 50_000, 1)):
        space = await local.space()
        for _ in range(5):
            await local.note(space, text)
        found = await local.call("live_read", space_id=space)
        assert (len(found["notes"]), found["total"], found["has_more"]) == (shown, 5, True), text[:2]


# Searching


@behaviour("live.live_search.answer")
async def test_a_search_answers_as_reading_does(talk: LiveConversation) -> None:
    space, word = await talk.space(), unique()
    await talk.note(space, "nothing of it")
    await talk.note(space, f"first {word}")
    await talk.note(space, f"second {word}")
    found = await talk.call("live_search", space_id=space, query=word)
    assert [note["content"] for note in found["notes"]] == [f"second {word}", f"first {word}"]
    read = await talk.call("live_read", space_id=space)
    assert found == {**read, "notes": read["notes"][:2], "total": 2}
    found = await talk.call("live_search", space_id=space, query=word, limit=1)
    assert (len(found["notes"]), found["total"], found["has_more"]) == (1, 2, True)
    found = await talk.call("live_search", space_id=space, query=unique())
    assert (found["notes"], found["total"], found["has_more"]) == ([], 0, False)


@behaviour("live.live_search.literal")
async def test_nothing_in_a_query_means_anything_but_itself(talk: LiveConversation) -> None:
    space = await talk.space()
    texts = [
        "fini à 100% ce soir", "fini à 1000 ce soir", "snake_case_name", "snakeXcaseXname", "a.*b", "aXXb",
        "(group)[x]{1}^$|?+", "back\\slash", 'dit "oui"', "l'été", "OR AND NOT NEAR(x)", "col:umn*", "C:\\dir",
        "-- ; DROP TABLE", "two  blanks", "tab\there",
    ]  # fmt: skip
    for text in texts:
        await talk.note(space, text)
    for query in (
        "100%", "0%", "%", "_case_", "e_c", "_", ".*", "a.*b", "(group)", "[x]", "{1}", "^$|?+", "\\", "\\s", '"',
        '"oui"', "'", "l'é", "OR AND", "NEAR(x)", "col:umn*", "*", "C:\\", "--", ";", "\there", "two  b",
    ):  # fmt: skip
        assert await talk.finds(space, query) == [text for text in reversed(texts) if query in text], query


@behaviour("live.live_search.case")
@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("L'ÉTÉ à la Mer", ["été", "ÉTÉ", "Été", "é", "É", "l'é", "À", "MER", "m"]),
        ("Он сказал ЙОД", ["он", "ОН", "Он", "о", "О", "ЙОД", "йод", "йо", "СКАЗАЛ"]),
        ("ΟΔΟΣ και Άλφα", ["οδο", "ΟΔΟ", "άλ", "ΆΛ", "άλφα", "Κ"]),
        ("cafe\u0301 crème", ["café", "CAFÉ", "é", "É", "cafe\u0301", "fé"]),
        ("İstanbul ve Iğdır", ["stanbul", "ve", "I\u011f", "ığ".upper()]),
        ("Straße", ["straße", "STRAßE", "ß"]),
        ("東京タワーで会議", ["東", "東京", "京タ", "タワー", "会議", "議", "で"]),
        ("회의는 내일입니다", ["회", "회의", "내일", "의는", "입니다"]),
        ("ＡＢＣ全角", ["ＡＢＣ", "ａｂｃ", "全", "Ｃ全"]),
        ("مرحبا بالعالم", ["مر", "م", "مرحبا"]),
        ("emoji 👩‍👩‍👧 😀!", ["😀", "👩‍👩‍👧", "😀!"]),
        ("x", ["x", "X"]),
    ],
)
async def test_case_is_nothing_to_a_search_in_any_script_and_at_any_length(
    local: LiveConversation, text: str, queries: list[str]
) -> None:
    space = await local.space()
    await local.note(space, text)
    await local.note(space, "zzz")
    for query in queries:
        assert await local.finds(space, query) == [text], query


@behaviour("live.live_search.empty")
async def test_an_empty_query_is_refused(talk: LiveConversation) -> None:
    space = await talk.space()
    for query in ("", " ", "\n\t", "\u3000"):
        assert await talk.invalid("live_search", space_id=space, query=query) == "query: must not be empty"


@behaviour("live.live_search.within")
async def test_a_search_finds_notes_of_its_space_and_nothing_else(talk: LiveConversation) -> None:
    here, there, word = await talk.space(), await talk.space(), unique()
    await talk.note(there, f"{word} there")
    await talk.note(here, f"{word} worked in", category="progress")
    await talk.call("bank_consolidate", space_id=here)
    assert await talk.finds(here, word) == []
    await talk.note(here, "the word is in the tags and the agent only", agent=word, tags=word)
    assert await talk.finds(here, word) == []
    await talk.note(here, f"{word} here")
    assert await talk.finds(here, word) == [f"{word} here"]
