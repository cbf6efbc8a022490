"""Notes: written by many at once, read, searched by the letter."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from mcp.client.client import Client
from mcp_types import Implementation

from commonplace.dialects.live import live
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import unique
from tests.dialects.live.reference import CATEGORIES
from tests.dialects.live.speech import LIVE, LiveConversation, on_disk, spoken_to_as
from tests.dialects.servers import Servers
from tests.fakes import Clock
from tests.serving import over_http

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

SECOND = timedelta(seconds=1)
AGENTS = 50
ROUNDS = 4


# Writing


@behaviour("live.live_note.answer")
async def test_a_note_is_told_as_the_reference_shows_it(local: LiveConversation) -> None:
    space = await local.space("projet-alpha")
    made = await local.note(space, "Le module fonctionne.", agent="cline-dev", tags="auth, module")
    assert re.fullmatch(r"20260115T030000_cline-dev_observation_[0-9a-f]{8}\.md", made.pop("filename"))
    assert made == {
        "status": "created",
        "space_id": space,
        "category": "observation",
        "agent": "cline-dev",
        "size": 157,
        "timestamp": "2026-01-15T03:00:00Z",
    }


@behaviour("live.live_note.file")
async def test_a_note_is_a_file_with_front_matter_as_the_reference_shows_it(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    space, text = await local.space("projet-alpha"), "Le module d'authentification fonctionne.\nLes tests passent."
    made = await local.note(space, text, agent="cline-dev", tags="auth, module")
    await engine.mirror.push()
    file = on_disk(outside)[f"projet-alpha/live/{made['filename']}"]
    assert file.decode() == (
        "---\n"
        'timestamp: "2026-01-15T03:00:00Z"\n'
        'agent: "cline-dev"\n'
        'category: "observation"\n'
        'tags: ["auth", "module"]\n'
        'space_id: "projet-alpha"\n'
        "---\n\n" + text
    )
    assert made["size"] == len(file)


@behaviour("live.live_note.categories")
async def test_the_seven_categories_are_taken_and_no_other(talk: LiveConversation) -> None:
    space = await talk.space()
    for category in CATEGORIES:
        made = await talk.note(space, category=category)
        assert made["category"] == category
        assert f"_{category}_" in made["filename"]
    for category in ("", "Observation", "bug", "todo ", "観察"):
        said = await talk.invalid("live_note", space_id=space, category=category, content="x")
        assert said.startswith("category: Input should be 'observation', 'decision'")
    assert len(await talk.notes(space)) == 7


@behaviour("live.live_note.content")
async def test_a_note_is_kept_to_the_letter(talk: LiveConversation) -> None:
    space = await talk.space()
    texts = [
        '{"build": "ok", "tests": [1, 2.0, null]}',
        "---\ntitle: not front matter\n---\n\nbody",
        "\n\n  begins with blanks and ends with them \n\n",
        "CRLF\r\nand\ttab",
        "e\u0301 ≠ é",
        "日本語のメモ・한국어 메모・中文笔记・مذكرة・Заметка・👩‍👩‍👧",
        "x" * 100_000,
    ]
    for text in texts:
        await talk.note(space, text)
    assert sorted(await talk.notes(space)) == sorted(texts)


@behaviour("live.live_note.empty")
async def test_an_empty_note_is_refused(talk: LiveConversation) -> None:
    space = await talk.space()
    for nothing in ("", " ", "\n\t\r\n", "\u200b\u00a0\u3000"):
        said = await talk.invalid("live_note", space_id=space, category="todo", content=nothing)
        assert said == "content: must not be empty"
    assert await talk.notes(space) == []


@behaviour("live.live_note.limits")
async def test_a_note_has_at_most_100_000_characters(talk: LiveConversation) -> None:
    space = await talk.space()
    said = await talk.invalid("live_note", space_id=space, category="todo", content="日" * 100_001)
    assert said == "content: is 100001 characters long; at most 100000 are allowed"
    await talk.note(space, "日" * 100_000)
    for given in ({"agent": "x" * 201}, {"tags": "x" * 201}, {"tags": ",".join(map(str, range(21)))}):
        (field,) = given
        assert (await talk.invalid("live_note", space_id=space, category="todo", content="x", **given)).startswith(field)


@behaviour("live.live_note.tags")
async def test_tags_stand_between_commas(talk: LiveConversation) -> None:
    space = await talk.space()
    await talk.note(space, tags=" auth ,,module, 日本語 ,auth,\u0065\u0301té,a b, ")
    (note,) = (await talk.call("live_read", space_id=space))["notes"]
    assert note["tags"] == ["auth", "module", "日本語", "été", "a b"]
    await talk.note(space, tags=" , ")
    assert (await talk.call("live_read", space_id=space, limit=1))["notes"][0]["tags"] == []


@behaviour("live.live_note.agent_default")
async def test_a_note_without_an_agent_is_from_the_token_that_wrote_it(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    space = await local.space()
    for name in ("agent-cline", "équipe 日本", "owner"):
        async with spoken_to_as(engine, settings, await local.token(name=name)) as agent:
            assert (await agent.note(space))["agent"] == name
            assert (await agent.note(space, agent=" "))["agent"] == name
            assert (await agent.note(space, agent="other"))["agent"] == "other"


@behaviour("live.live_note.agent_default")
@pytest.mark.parametrize(("name", "agent"), [("cline", "cline"), ("Claude ✳ デスク", "Claude ✳ デスク"), (" ", "agent")])
async def test_without_a_token_a_note_is_from_the_client(
    engine: Engine, settings: Settings, name: str, agent: str
) -> None:
    client = Client(
        DialectServer(live, engine, settings).server, mode="legacy", client_info=Implementation(name=name, version="1")
    )
    async with client:
        talk = LiveConversation(client)
        assert (await talk.note(await talk.space()))["agent"] == agent


@behaviour("live.live_note.agent_name")
async def test_an_agent_is_kept_whole_and_its_file_has_a_plain_name(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    space = await local.space()
    for agent, plain in (
        ("../../etc/passwd", "etcpasswd"),
        ("a_b-c.d e", "a_b-cde"),
        ("日本", "agent"),
        ("x" * 200, "x" * 64),
        ("line\nbreak: '---\"", "linebreak---"),
    ):
        made = await local.note(space, agent=agent)
        assert made["agent"] == agent
        assert made["filename"].split("T030000_")[1].rpartition("_observation_")[0] == plain
        assert (await local.call("live_read", space_id=space, agent=agent))["total"] == 1
    await engine.mirror.push()
    files = on_disk(outside / space / "live")
    assert len(files) == 6
    assert all("/" not in name for name in files)


@behaviour("live.live_note.front_matter")
async def test_whatever_is_in_a_tag_or_an_agent_is_read_back_by_a_yaml_parser(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    space = await local.space()
    agent = "---\n'one' \"two\" \\n: [x] {y} # z &a *b !c %d @e `f` | > \u2028\u0085\ufeff\x7f😀"
    tags = ["---", "a: b", '"quoted"', "'", "new\nline", "日本語", "#", "- x", "\\", "null", "1.0", "\u202e rtl"]
    made = await local.note(space, agent=agent, tags=",".join(tags))
    (read,) = (await local.call("live_read", space_id=space))["notes"]
    assert (read["agent"], read["tags"]) == (agent, tags)
    await engine.mirror.push()
    _, head, _ = on_disk(outside)[f"{space}/live/{made['filename']}"].decode().split("---\n", 2)
    found = yaml.safe_load(head)
    assert (found["agent"], found["tags"]) == (agent, tags)


@behaviour("live.live_note.concurrent")
async def test_fifty_agents_writing_at_once_lose_nothing(local: LiveConversation) -> None:
    space = await local.space()
    made: list[dict[str, Any]] = []

    async def work(number: int) -> None:
        for turn in range(ROUNDS):
            made.append(await local.note(space, f"{number}/{turn}", agent=f"agent-{number}"))

    async with anyio.create_task_group() as group:
        for number in range(AGENTS):
            group.start_soon(work, number)
    await _all_there(local, space, made)


@pytest.fixture
async def agents(servers: Servers) -> AsyncIterator[list[LiveConversation]]:
    """Fifty clients over HTTP, in both protocol eras, each with a connection of its own."""
    server = servers.chosen("greeum")
    async with AsyncExitStack() as stack:
        clients = [
            over_http(server, path=LIVE, era="legacy" if number % 2 else "2026-07-28") for number in range(AGENTS)
        ]
        yield [LiveConversation(await stack.enter_async_context(client)) for client in clients]


@behaviour("live.live_note.concurrent")
async def test_fifty_agents_writing_at_once_over_http_lose_nothing(agents: list[LiveConversation]) -> None:
    space = await agents[0].space()
    made: list[dict[str, Any]] = []

    async def work(number: int, agent: LiveConversation) -> None:
        for turn in range(ROUNDS):
            made.append(await agent.note(space, f"{number}/{turn}", agent=f"agent-{number}"))

    async with anyio.create_task_group() as group:
        for number, agent in enumerate(agents):
            group.start_soon(work, number, agent)
    await _all_there(agents[-1], space, made)


async def _all_there(talk: LiveConversation, space: str, made: list[dict[str, Any]]) -> None:
    """Each note once, under a name of its own, in an order that does not change and in which no agent's runs back."""
    found = await talk.call("live_read", space_id=space, limit=500)
    assert found["total"] == len(found["notes"]) == AGENTS * ROUNDS
    assert {note["filename"] for note in found["notes"]} == {one["filename"] for one in made}
    assert len({one["filename"] for one in made}) == AGENTS * ROUNDS
    order = [note["content"] for note in found["notes"]]
    assert set(order) == {f"{number}/{turn}" for number in range(AGENTS) for turn in range(ROUNDS)}
    assert [note["timestamp"] for note in found["notes"]] == sorted((n["timestamp"] for n in found["notes"]), reverse=True)
    for number in range(AGENTS):
        mine = [text for text in order if text.startswith(f"{number}/")]
        assert mine == [f"{number}/{turn}" for turn in reversed(range(ROUNDS))]
    assert await talk.notes(space, limit=500) == order
    assert await talk.notes(space, limit=7) == order[:7]


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
        "fini à 100% ce soir", "fini à 1000 ce soir", "snake_case_name", "snakeXcaseXname", "a.*b", "aXXb", "(group)[x]{1}^$|?+",
        "back\\slash", 'dit "oui"', "l'été", "OR AND NOT NEAR(x)", "col:umn*", "C:\\dir", "-- ; DROP TABLE", "two  blanks", "tab\there",
    ]  # fmt: skip
    for text in texts:
        await talk.note(space, text)
    for query in (
        "100%", "0%", "%", "_case_", "e_c", "_", ".*", "a.*b", "(group)", "[x]", "{1}", "^$|?+", "\\", "\\s", '"', '"oui"', "'",
        "l'é", "OR AND", "NEAR(x)", "col:umn*", "*", "C:\\", "--", ";", "  ", "\t", "\there", "two  b",
    ):  # fmt: skip
        if query.strip():
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
