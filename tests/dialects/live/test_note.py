"""Notes: written by many at once, kept to the letter, shown as files."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
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
from tests.dialects.live.reference import CATEGORIES
from tests.dialects.live.speech import LIVE, LiveConversation, on_disk, spoken_to_as
from tests.dialects.servers import Servers
from tests.serving import over_http

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

AGENTS = 50
ROUNDS = 4


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
    await talk.clear(space)


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
        assert (await talk.invalid("live_note", space_id=space, category="todo", content="x", **given)).startswith(
            field
        )
    await talk.clear(space)


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
@pytest.mark.parametrize(
    ("name", "agent"), [("cline", "cline"), ("Claude ✳ デスク", "Claude ✳ デスク"), (" ", "agent")]
)
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
        written = [await local.note(space, f"{number}/{turn}", agent=f"agent-{number}") for turn in range(ROUNDS)]
        made.extend(written)

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
        written = [await agent.note(space, f"{number}/{turn}", agent=f"agent-{number}") for turn in range(ROUNDS)]
        made.extend(written)

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
    assert [note["timestamp"] for note in found["notes"]] == sorted(
        (n["timestamp"] for n in found["notes"]), reverse=True
    )
    for number in range(AGENTS):
        mine = [text for text in order if text.startswith(f"{number}/")]
        assert mine == [f"{number}/{turn}" for turn in reversed(range(ROUNDS))]
    assert await talk.notes(space, limit=500) == order
    assert await talk.notes(space, limit=7) == order[:7]
