"""The bank: read, listed, and made of the notes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import mcp_types as types
import pytest

from commonplace.domain.errors import ModelFailed
from commonplace.engine import Engine, Outside
from commonplace.models.sentences import SentenceSummariser
from commonplace.ports.completions import Completion
from commonplace.settings import Settings
from commonplace.storage.files import Connection, files_at
from commonplace.storage.sqlite.store import SqliteStore
from tests.dialects.conversation import unique
from tests.dialects.live.reference import CATEGORIES
from tests.dialects.live.speech import LiveConversation, on_disk, over_the_net, spoken_to, spoken_to_as
from tests.fakes import Clock, Embedder
from tests.serving import OWNER_KEY, Served

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

BRIEF = "# Brief\n\n概要 é\n"


class Model:
    """A model that says what it is told to, or nothing at all."""

    name = "stand-in"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def complete(self, system: str, user: str) -> Completion:
        self.questions.append(user)
        self.asked.set()
        await self.go_on.wait()
        if not self.answers:
            raise ModelFailed(self.name, "it has gone")
        return Completion(self.answers.pop(0), 1000)

    async def check(self) -> float:
        return 0.12


def plan(synthesis: str = "what is left", **files: str) -> str:
    entries = [{"filename": f"{name}.md", "content": text, "action": "create"} for name, text in files.items()]
    return json.dumps({"bank_files": entries, "synthesis": synthesis})


@asynccontextmanager
async def with_model(
    folder: Path, model: Model, longest: timedelta = timedelta(minutes=10), clock: Clock | None = None
) -> AsyncIterator[Engine]:
    """An engine that asks this model."""
    embedder = Embedder()
    outside = Outside(files_at("", folder / "spaces", Connection()), model, longest)
    store = SqliteStore(folder, embedder.fingerprint)
    engine = Engine(store, embedder, clock or Clock(), ZoneInfo("UTC"), SentenceSummariser(), outside=outside)
    yield engine
    await engine.close()


@dataclass
class Asking:
    """A conversation with a server that has a model."""

    model: Model
    engine: Engine
    clock: Clock
    talk: LiveConversation
    settings: Settings


@pytest.fixture
async def asking(folder: Path) -> AsyncIterator[Asking]:
    model, clock, settings = Model(), Clock(), Settings(data_dir=str(folder), timezone="UTC")
    async with with_model(folder, model, clock=clock) as engine, spoken_to(engine, settings) as talk:
        yield Asking(model, engine, clock, talk, settings)


async def _state(talk: LiveConversation, space: str) -> tuple[Any, ...]:
    """Everything that a consolidation changes."""
    told = await talk.call("space_summary", space_id=space)
    return told, await talk.notes(space), (await talk.call("space_export", space_id=space))["files_count"]


# Reading


@behaviour("live.bank_read.answer", "live.bank_read_all.answer", "live.bank_list.answer")
async def test_the_bank_is_read_file_by_file_and_as_a_whole(asking: Asking) -> None:
    talk, space = asking.talk, await asking.talk.space("alpha")
    asking.model.answers = [plan(projectbrief=BRIEF, 進捗="# 進捗\n")]
    await talk.note(space)
    await talk.call("bank_consolidate", space_id=space)
    size = len(BRIEF.encode())
    assert await talk.call("bank_read", space_id=space, filename="projectbrief.md") == {
        "status": "ok",
        "space_id": "alpha",
        "filename": "projectbrief.md",
        "content": BRIEF,
        "size": size,
        "last_modified": "2026-01-15T03:00:00Z",
    }
    whole = await talk.call("bank_read_all", space_id=space)
    assert whole["files"] == [
        {"filename": "projectbrief.md", "content": BRIEF, "size": size},
        {"filename": "進捗.md", "content": "# 進捗\n", "size": 9},
    ]
    assert (whole["file_count"], whole["total_size"]) == (2, size + 9)
    listed = await talk.call("bank_list", space_id=space)
    assert listed["files"][1] == {"filename": "進捗.md", "size": 9, "last_modified": "2026-01-15T03:00:00Z"}
    assert listed["file_count"] == 2


@behaviour("live.bank_read.missing")
async def test_a_file_that_is_not_in_the_bank_is_not_found(talk: LiveConversation) -> None:
    space = await talk.space()
    for name in ("x.md", "_rules.md", "../_rules.md", "../bank/x.md", "/etc/passwd", "", "日本.md"):
        status, message = await talk.refused("bank_read", space_id=space, filename=name)
        assert (status, message) == ("not_found", f"Fichier introuvable dans la bank : no bank file {name!r}")


@behaviour("live.bank_read_all.empty")
async def test_a_bank_without_files_is_empty(talk: LiveConversation) -> None:
    space = await talk.space()
    whole = await talk.call("bank_read_all", space_id=space)
    assert whole == {"status": "ok", "space_id": space, "files": [], "total_size": 0, "file_count": 0}
    listed = await talk.call("bank_list", space_id=space)
    assert listed == {"status": "ok", "space_id": space, "files": [], "file_count": 0}


# Consolidating


@behaviour("live.bank_consolidate.answer")
async def test_notes_become_a_bank_and_a_synthesis_and_are_gone(asking: Asking, outside: Path) -> None:
    talk, model = asking.talk, asking.model
    space = await talk.space("alpha")
    for category in CATEGORIES:
        await talk.note(space, category=category)
    model.answers = [plan("ce qui reste é", projectbrief=BRIEF, progress="# P\n")]
    assert await talk.call("bank_consolidate", space_id=space) == {
        "status": "ok",
        "space_id": "alpha",
        "notes_processed": 7,
        "notes_remaining": 0,
        "bank_files_updated": 0,
        "bank_files_created": 2,
        "bank_files_unchanged": 0,
        "synthesis_size": len("ce qui reste é".encode()),
        "llm_tokens_used": 1000,
        "duration_seconds": 0.0,
    }
    assert await talk.notes(space) == []
    await asking.engine.mirror.push()
    files = on_disk(outside)
    assert files["alpha/_synthesis.md"].decode() == "ce qui reste é"
    assert files["alpha/bank/projectbrief.md"].decode() == BRIEF
    assert [path for path in files if path.startswith("alpha/live/")] == ["alpha/live/.keep"]
    meta = json.loads(files["alpha/_meta.json"])
    assert (meta["last_consolidation"], meta["consolidation_count"]) == ("2026-01-15T03:00:00Z", 1)
    assert meta["total_notes_processed"] == 7


@behaviour("live.bank_consolidate.reads")
async def test_the_model_is_given_the_rules_the_synthesis_the_notes_and_the_bank(asking: Asking) -> None:
    talk, model = asking.talk, asking.model
    space = await talk.space(rules="# My very own rules")
    model.answers = [plan("the earlier synthesis", progress="# the bank so far\n"), plan()]
    await talk.note(space)
    await talk.call("bank_consolidate", space_id=space)
    await talk.note(space, "the older note")
    asking.clock.advance(timedelta(seconds=1))
    await talk.note(space, "the newer note")
    await talk.call("bank_consolidate", space_id=space)
    question = model.questions[-1]
    for words in ("# My very own rules", "the earlier synthesis", "# the bank so far", "the older note"):
        assert words in question
    assert question.index("the older note") < question.index("the newer note")


@behaviour("live.bank_consolidate.nothing")
async def test_without_notes_there_is_nothing_to_consolidate(talk: LiveConversation) -> None:
    space = await talk.space()
    assert await talk.call("bank_consolidate", space_id=space) == {
        "status": "ok",
        "notes_processed": 0,
        "message": "No new notes to consolidate",
    }


@behaviour("live.bank_consolidate.built_in")
async def test_without_a_model_notes_are_filed_by_the_rules(talk: LiveConversation) -> None:
    space, word = await talk.space(), unique()
    await talk.note(space, f"{word} est fini", category="progress", agent="cline-dev")
    done = await talk.call("bank_consolidate", space_id=space)
    assert (done["notes_processed"], done["llm_tokens_used"]) == (1, 0)
    text = (await talk.call("bank_read", space_id=space, filename="progress.md"))["content"]
    assert f"{word} est fini" in text
    assert "cline-dev" in text


@behaviour("live.bank_consolidate.remaining")
async def test_at_most_500_notes_are_worked_in_at_once_the_oldest_first(
    engine: Engine, local: LiveConversation, clock: Clock
) -> None:
    space, owner = await local.space(), await engine.access.local_owner()
    for number in range(502):
        await engine.notes.write(owner, space, "progress", f"note {number}", "a")
    done = await local.call("bank_consolidate", space_id=space)
    assert (done["notes_processed"], done["notes_remaining"]) == (500, 2)
    assert await local.notes(space) == ["note 501", "note 500"]
    done = await local.call("bank_consolidate", space_id=space)
    assert (done["notes_processed"], done["notes_remaining"]) == (2, 0)


@behaviour("live.bank_consolidate.progress")
async def test_progress_is_reported_to_the_client(local: LiveConversation) -> None:
    space = await local.space()
    await local.note(space)
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    await local.client.call_tool("bank_consolidate", {"space_id": space}, progress_callback=hear)
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]


@behaviour("live.bank_consolidate.own_notes")
async def test_a_token_that_writes_consolidates_its_own_notes_and_an_administrator_all(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    space, tokens = await local.space(), {name: await local.token(name=name) for name in ("ann", "ben")}
    for name, token in tokens.items():
        async with spoken_to_as(engine, settings, token) as agent:
            await agent.note(space, f"{name} by default")
            await agent.note(space, f"{name} under another name", agent=f"{name}-bot")
    await local.note(space, "for ann", agent="ann")
    async with spoken_to_as(engine, settings, tokens["ann"]) as ann:
        assert (await ann.call("bank_consolidate", space_id=space))["notes_processed"] == 3
    assert await local.notes(space) == ["ben under another name", "ben by default"]
    async with spoken_to_as(engine, settings, await local.token("read,write,admin")) as admin:
        assert (await admin.call("bank_consolidate", space_id=space))["notes_processed"] == 2


@behaviour("live.bank_consolidate.one_at_a_time")
async def test_while_one_runs_in_a_space_another_is_a_conflict_there_and_nowhere_else(asking: Asking) -> None:
    talk, model = asking.talk, asking.model
    space, other = await talk.space(), await talk.space()
    await talk.note(space)
    await talk.note(other)
    model.answers = [plan(progress="# P"), plan(progress="# P")]
    model.go_on.clear()
    async with spoken_to(asking.engine, asking.settings) as second, anyio.create_task_group() as group:
        group.start_soon(_consolidated, talk, space)
        await model.asked.wait()
        status, message = await second.refused("bank_consolidate", space_id=space)
        assert status == "conflict"
        assert message.startswith("Une consolidation est déjà en cours")
        model.asked.clear()
        group.start_soon(_consolidated, second, other)
        await model.asked.wait()
        await second.note(space, "written meanwhile")
        model.go_on.set()
    assert await talk.notes(space) == ["written meanwhile"]
    assert await talk.notes(other) == []


async def _consolidated(talk: LiveConversation, space: str) -> None:
    assert (await talk.call("bank_consolidate", space_id=space))["notes_processed"] == 1


@behaviour("live.bank_consolidate.failures")
@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([], "Le modèle n'a pas répondu, rien n'a été modifié"),
        (["no JSON", "{"], "Plan de consolidation refusé, rien n'a été modifié"),
        ([plan(**{"../../etc/passwd": "x"})] * 2, "Plan de consolidation refusé, rien n'a été modifié"),
        ([plan(progress="")] * 2, "Plan de consolidation refusé, rien n'a été modifié"),
        ([plan(progress="# x")] * 2, "Plan de consolidation refusé, rien n'a été modifié"),
    ],
    ids=["silent", "broken", "hostile", "emptied", "shrunk"],
)
async def test_a_failure_is_an_error_and_leaves_everything_as_it_was(
    asking: Asking, answers: list[str], words: str
) -> None:
    talk, model = asking.talk, asking.model
    space = await talk.space()
    await talk.note(space)
    model.answers = [plan(progress="# Progress\n" + "a line of it\n" * 50)]
    await talk.call("bank_consolidate", space_id=space)
    await talk.note(space)
    before = await _state(talk, space)
    model.answers = list(answers)
    status, message = await talk.refused("bank_consolidate", space_id=space)
    assert (status, message.partition(" : ")[0]) == ("error", words)
    assert await _state(talk, space) == before


@behaviour("live.bank_consolidate.second_try")
async def test_malformed_json_gets_a_second_try(asking: Asking) -> None:
    talk, model = asking.talk, asking.model
    space = await talk.space()
    await talk.note(space)
    model.answers = ["sorry, no", plan(progress="# P\n")]
    done = await talk.call("bank_consolidate", space_id=space)
    assert (done["notes_processed"], done["llm_tokens_used"]) == (1, 2000)


@behaviour("live.bank_consolidate.timeout")
async def test_a_model_that_does_not_answer_in_time_is_an_error(folder: Path) -> None:
    model, settings = Model(plan(progress="# P\n")), Settings(data_dir=str(folder), timezone="UTC")
    model.go_on.clear()
    async with (
        with_model(folder, model, timedelta(milliseconds=50)) as engine,
        spoken_to(engine, settings) as talk,
    ):
        space = await talk.space()
        await talk.note(space)
        before = await _state(talk, space)
        status, message = await talk.refused("bank_consolidate", space_id=space)
        assert status == "error"
        assert message.startswith("Le modèle n'a pas répondu, rien n'a été modifié")
        assert await _state(talk, space) == before
        model.go_on.set()
        assert (await talk.call("bank_consolidate", space_id=space))["notes_processed"] == 1


async def _lent(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    answer = types.TextContent(type="text", text=plan(progress="# by the client's model\n"))
    return types.CreateMessageResult(role="assistant", content=answer, model="lent")


@behaviour("live.bank_consolidate.sampling")
async def test_the_model_of_the_client_is_asked_where_it_lends_it(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, settings, sampling_callback=_lent) as talk:
        assert (await talk.call("system_health"))["services"]["llmaas"]["model"] == "sampling"
        space = await talk.space()
        await talk.note(space)
        assert (await talk.call("bank_consolidate", space_id=space))["notes_processed"] == 1
        (file,) = (await talk.call("bank_read_all", space_id=space))["files"]
        assert file["content"] == "# by the client's model\n"


@behaviour("live.bank_consolidate.sampling")
async def test_the_model_of_the_client_is_asked_over_http_too(listening: Served) -> None:
    async with over_the_net(listening, OWNER_KEY, sampling_callback=_lent) as talk:
        space = await talk.space()
        await talk.note(space)
        assert (await talk.call("bank_consolidate", space_id=space))["notes_processed"] == 1
        (file,) = (await talk.call("bank_read_all", space_id=space))["files"]
        assert file["content"] == "# by the client's model\n"
