"""Whatever is done in whatever order, the store agrees with a dictionary."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from commonplace.domain.errors import NotFound
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.models.sentences import SentenceSummariser
from commonplace.ports import Transaction
from commonplace.storage.sqlite.store import SqliteStore
from tests.fakes import Clock, Embedder

T = TypeVar("T")

LETTERS = "abcÄéß 東京都の서울мир🧠́\"'*-^:()\n\u200f"
TEXTS = st.text(LETTERS, min_size=1, max_size=24).filter(lambda text: any(map(str.isalnum, text)))
TTLS = st.none() | st.integers(60, 86_400).map(lambda seconds: timedelta(seconds=seconds))
TAGS = st.lists(st.sampled_from(["a", "b", "日"]), unique=True, max_size=2).map(tuple)
CHOICE = st.integers(0, 10_000)


@dataclass
class Known:
    """A memory as the model has it."""

    content: str
    tags: tuple[str, ...]
    importance: float
    ends_at: datetime | None
    block: int | None
    before: list[str] = field(default_factory=list)


class StoreAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.clock, self.embedder = Clock(), Embedder()
        self.known: dict[MemoryId, Known] = {}
        self.gone: dict[MemoryId, str] = {}
        self.events = self.blocks = 0

    @initialize()
    def open(self) -> None:
        store = SqliteStore(self.folder, self.embedder.fingerprint)
        self.engine: Engine = Engine(store, self.embedder, self.clock, ZoneInfo("Asia/Seoul"), SentenceSummariser())
        self.owner = self.run(self.engine.access.local_owner)

    def run(self, verb: Callable[..., Awaitable[T]], *arguments: Any, **more: Any) -> T:
        async def done() -> T:
            return await verb(*arguments, **more)

        return self.runner.run(done())

    def teardown(self) -> None:
        self.run(self.engine.close)
        self.runner.close()
        shutil.rmtree(self.folder)

    @property
    def alive(self) -> dict[MemoryId, Known]:
        now = self.clock.now()
        return {i: m for i, m in self.known.items() if m.ends_at is None or m.ends_at > now}

    def chosen(self, choice: int) -> tuple[MemoryId, Known]:
        alive = list(self.alive.items())  # in the order they came: by their ids, a choice would mean another each time
        return alive[choice % len(alive)]

    # What is done

    @rule(content=TEXTS, tags=TAGS, importance=st.floats(0, 1), ttl=TTLS)
    def remember(self, content: str, tags: tuple[str, ...], importance: float, ttl: timedelta | None) -> None:
        draft = Draft(content, tags, importance=importance, ttl=ttl)
        memory = self.run(self.engine.memories.remember, self.owner, draft)
        ends_at = self.clock.now() + ttl if ttl else None
        self.known[memory.id] = Known(content, tags, importance, ends_at, None if ttl else self.blocks)
        self.blocks += 0 if ttl else 1
        self.events += 1

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE, content=TEXTS | st.none(), tags=TAGS | st.none())
    def revise(self, choice: int, content: str | None, tags: tuple[str, ...] | None) -> None:
        identifier, known = self.chosen(choice)
        change = Change(content=content, tags=tags, importance=0.25)
        memory = self.run(self.engine.memories.revise, self.owner, Reference(identifier), change)
        was = (known.content, known.tags, known.importance)
        known.tags = known.tags if tags is None else tags
        known.content = known.content if content is None else content
        known.importance = 0.25
        if was != (known.content, known.tags, known.importance):  # else nothing has happened
            known.before.append(was[0])
            self.events += 1
        assert memory.version == len(known.before) + 1

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE, ttl=TTLS)
    def set_end(self, choice: int, ttl: timedelta | None) -> None:
        identifier, known = self.chosen(choice)
        self.run(self.engine.memories.set_end, self.owner, Reference(identifier), ttl)
        known.ends_at = self.clock.now() + ttl if ttl else None
        if ttl is None and known.block is None:
            known.block, self.blocks = self.blocks, self.blocks + 1
        self.events += 1

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE)
    def forget(self, choice: int) -> None:
        identifier, known = self.chosen(choice)
        self.run(self.engine.memories.forget, self.owner, Reference(identifier))
        self.gone[identifier] = known.content
        del self.known[identifier]
        self.events += 1

    @rule()
    def sweep(self) -> None:
        over = [identifier for identifier in self.known if identifier not in self.alive]
        assert self.run(self.engine.memories.sweep) == len(over)
        for identifier in over:
            self.gone[identifier] = self.known.pop(identifier).content
        self.events += len(over)

    @rule(by=st.integers(1, 50_000))
    def time_passes(self, by: int) -> None:
        self.clock.advance(timedelta(seconds=by))

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE)
    def fail_in_the_middle(self, choice: int) -> None:
        """A transaction that erases, looks around and then fails: as if nothing had happened."""
        identifier, _ = self.chosen(choice)

        def spoilt(tx: Transaction) -> None:
            self.engine.memories._forget(tx, self.owner, Reference(identifier), None)
            tx.facts([1])
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            self.run(self.engine.store.write, spoilt)

    @rule()
    def reopen(self) -> None:
        self.run(self.engine.close)
        self.open()

    @rule()
    def vacuum(self) -> None:
        self.run(self.engine.store.vacuum)

    # What must be so

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE)
    def its_own_text_finds_it(self, choice: int) -> None:
        identifier, known = self.chosen(choice)
        found = self.run(self.engine.recall.recall, self.owner, Question(known.content, limit=1000))
        assert identifier in {hit.memory.id for hit in found.hits}

    @precondition(lambda self: self.gone)
    @rule(choice=CHOICE)
    def what_is_gone_is_not_found(self, choice: int) -> None:
        identifier, content = list(self.gone.items())[choice % len(self.gone)]
        found = self.run(self.engine.recall.recall, self.owner, Question(content, limit=1000))
        assert {hit.memory.id for hit in found.hits} <= self.alive.keys()
        with pytest.raises(NotFound):
            self.run(self.engine.memories.get, self.owner, Reference(identifier))

    @precondition(lambda self: self.alive)
    @rule(choice=CHOICE)
    def its_history_is_what_it_was(self, choice: int) -> None:
        identifier, known = self.chosen(choice)
        history = self.run(self.engine.memories.history, self.owner, Reference(identifier))
        assert [version.content for version in history] == known.before

    @invariant()
    def the_memories_are_the_known_ones(self) -> None:
        page = self.run(self.engine.memories.page, self.owner, 1000)
        assert page.total == len(page.memories) == len(self.alive)
        for memory in page.memories:
            known = self.alive[memory.id]
            assert (memory.content, memory.tags, memory.importance, memory.block) == (
                known.content,
                known.tags,
                known.importance,
                known.block,
            )

    @invariant()
    def the_chain_is_valid_and_events_have_no_gaps(self) -> None:
        verdict = self.run(self.engine.chain.verify, self.owner)
        assert (verdict.broken, verdict.total) == (None, self.blocks)
        events = self.run(self.engine.store.read, lambda tx: tx.events(0, 10_000))
        assert [event.number for event in events] == list(range(1, self.events + 1))

    @invariant()
    def the_index_is_the_store(self) -> None:
        self.run(self.engine.store.read, lambda tx: tx.facts(()))  # the next read brings it up to date
        figures = self.run(self.engine.upkeep.statistics)
        assert (figures.memories, figures.blocks, figures.cached) == (len(self.known), self.blocks, len(self.known))


TestStoreAgainstModel = StoreAgainstModel.TestCase
TestStoreAgainstModel.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
