"""Whatever is done to the tree in whatever order, it agrees with a plain model and stays a tree of aliases."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from commonplace.bootstrap import build
from commonplace.domain.address import PLACELESS, Address
from commonplace.domain.errors import AlreadyExists, Circular, Invalid, NotFound, Stranding
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Draft
from commonplace.domain.patch import patched
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.paths import Node, Signpost
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

T = TypeVar("T")

DOMAINS = ("core", "notes")
NAMES = st.sampled_from(["a", "b", "기억", "1", "7"])
CHOICE = st.integers(0, 10_000)
PRIORITY = st.integers(0, 3)
Place = str | MemoryId
"""The root of a domain, or the memory that has the children."""


@dataclass
class Kept:
    """A text and the words in it that stand nowhere else."""

    content: str
    words: list[str]


class TreeAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.clock, self.embedder = Clock(), Embedder()
        self.texts: dict[MemoryId, Kept] = {}
        self.edges: dict[tuple[Place, str], tuple[MemoryId, int]] = {}
        self.lost: set[MemoryId] = set()
        self.words = 0

    @initialize()
    def open(self) -> None:
        house = Settings(data_dir=str(self.folder))
        self.engine: Engine = build(house, model=self.embedder, clock=self.clock, zone=ZoneInfo("UTC"))
        self.owner = self.run(self.engine.access.local_owner).through("test", "s")

    def run(self, verb: Callable[..., Awaitable[T]], *arguments: Any, **more: Any) -> T:
        async def done() -> T:
            return await verb(*arguments, **more)

        return self.runner.run(done())

    def teardown(self) -> None:
        self.run(self.engine.close)
        self.runner.close()
        shutil.rmtree(self.folder)

    # The model

    def below(self, place: Place) -> dict[str, tuple[MemoryId, int]]:
        return {name: edge for (at, name), edge in self.edges.items() if at == place}

    def to(self, memory: MemoryId) -> list[tuple[Place, str]]:
        return [key for key, (target, _) in self.edges.items() if target == memory]

    def addresses(self) -> dict[Address, MemoryId]:
        """Every address from the roots down, through every alias."""
        found: dict[Address, MemoryId] = {}
        waiting: list[tuple[Address, Place]] = [(Address(domain), domain) for domain in DOMAINS]
        while waiting:
            above, place = waiting.pop()
            for name, (memory, _) in self.below(place).items():
                found[above.child(name)] = memory
                waiting.append((above.child(name), memory))
        return found

    def under(self, memory: MemoryId) -> set[MemoryId]:
        met, waiting = {memory}, [memory]
        while waiting:
            for child, _ in self.below(waiting.pop()).values():
                if child not in met:
                    met.add(child)
                    waiting.append(child)
        return met

    def rooted(self, without: tuple[Place, str] | None = None) -> set[MemoryId]:
        edges = {key: edge for key, edge in self.edges.items() if key != without}
        met: set[Place] = set(DOMAINS)
        while True:
            fresh = {memory for (place, _), (memory, _) in edges.items() if place in met} - met
            if not fresh:
                return {MemoryId(one) for one in met - set(DOMAINS)}
            met |= fresh

    def some_address(self, choice: int) -> Address:
        """One that exists: from a root, or by the id of any memory."""
        known = sorted(self.addresses(), key=str) + [Address(PLACELESS, (one,)) for one in self.texts]
        return known[choice % len(known)]

    def some_place(self, choice: int) -> tuple[Address, Place]:
        roots: list[tuple[Address, Place]] = [(Address(domain), domain) for domain in DOMAINS]
        known = roots + sorted(self.addresses().items(), key=lambda one: str(one[0]))
        return known[choice % len(known)]

    def memory_at(self, where: Address) -> MemoryId:
        return MemoryId(where.names[0]) if where.domain == PLACELESS else self.addresses()[where]

    def word(self) -> str:
        self.words += 1
        return f"q{self.words}z漢{self.words}字"

    # What is done

    @rule(choice=CHOICE, name=NAMES | st.none(), priority=PRIORITY)
    def plant(self, choice: int, name: str | None, priority: int) -> None:
        where, place = self.some_place(choice)
        word = self.word()
        draft, labels = Draft(f"holds {word}"), Signpost(priority)
        if name in self.below(place):
            with pytest.raises(AlreadyExists):
                self.run(self.engine.paths.plant, self.owner, where, draft, labels, name)
            return
        node: Node = self.run(self.engine.paths.plant, self.owner, where, draft, labels, name)
        numbers = [int(one) for one in self.below(place) if one.isdigit()]
        assert node.memory
        assert node.address == where.child(name or str(max(numbers, default=0) + 1))
        self.texts[node.memory.id] = Kept(draft.content, [word])
        self.edges[place, node.address.name] = (node.memory.id, priority)

    @rule()
    def remember_without_a_path(self) -> None:
        """As another dialect does."""
        word = self.word()
        memory = self.run(self.engine.memories.remember, self.owner, Draft(f"holds {word}"))
        self.texts[memory.id] = Kept(memory.content, [word])

    @precondition(lambda self: self.texts)
    @rule(at=CHOICE, name=NAMES, choice=CHOICE, priority=PRIORITY)
    def alias(self, at: int, name: str, choice: int, priority: int) -> None:
        where, place = self.some_place(at)
        target = self.some_address(choice)
        memory = self.memory_at(target)
        expected: type[Exception] | None = None
        if name in self.below(place):
            expected = AlreadyExists
        elif place in self.under(memory):
            expected = Circular
        if expected:
            with pytest.raises(expected):
                self.run(self.engine.paths.alias, self.owner, where.child(name), target, Signpost(priority))
            return
        self.run(self.engine.paths.alias, self.owner, where.child(name), target, Signpost(priority))
        self.edges[place, name] = (memory, priority)
        self.lost.discard(memory)

    @precondition(lambda self: self.addresses())
    @rule(choice=CHOICE)
    def prune(self, choice: int) -> None:
        addresses = sorted(self.addresses(), key=str)
        where = addresses[choice % len(addresses)]
        memory = self.addresses()[where]
        place: Place = where.domain if len(where.names) == 1 else self.addresses()[where.parent]
        key = (place, where.name)
        rooted = self.rooted(without=key)
        children = {child for child, _ in self.below(memory).values()}
        if memory not in rooted and not children <= rooted:
            with pytest.raises(Stranding) as refusal:
                self.run(self.engine.paths.prune, self.owner, where)
            assert len(refusal.value.stranded) == len(children - rooted)
            return
        self.run(self.engine.paths.prune, self.owner, where)
        del self.edges[key]
        if not self.to(memory):
            self.lost.add(memory)

    @precondition(lambda self: self.texts)
    @rule(choice=CHOICE, append=st.booleans())
    def edit(self, choice: int, append: bool) -> None:
        where = self.some_address(choice)
        kept, word = self.texts[self.memory_at(where)], self.word()
        seen = self.run(self.engine.paths.look, self.owner, where).memory
        assert seen
        content = f"{seen.content} {word}" if append else patched(seen.content, kept.words[0], word).content
        self.run(self.engine.paths.edit, self.owner, where, seen, content=content, signpost=Signpost())
        kept.words = [*kept.words, word] if append else [word, *kept.words[1:]]
        kept.content = content

    @precondition(lambda self: self.addresses())
    @rule(choice=CHOICE, priority=PRIORITY)
    def relabel(self, choice: int, priority: int) -> None:
        addresses = sorted(self.addresses(), key=str)
        where = addresses[choice % len(addresses)]
        seen = self.run(self.engine.paths.look, self.owner, where).memory
        self.run(self.engine.paths.edit, self.owner, where, seen, signpost=Signpost(priority))
        place: Place = where.domain if len(where.names) == 1 else self.addresses()[where.parent]
        self.edges[place, where.name] = (self.addresses()[where], priority)

    @precondition(lambda self: self.texts)
    @rule(choice=CHOICE)
    def forget(self, choice: int) -> None:
        """For good, as another dialect does."""
        memory = list(self.texts)[choice % len(self.texts)]
        self.run(self.engine.memories.forget, self.owner, Reference(memory))
        children = {child for child, _ in self.below(memory).values()}
        del self.texts[memory]
        self.lost.discard(memory)
        self.edges = {key: edge for key, edge in self.edges.items() if memory not in (key[0], edge[0])}
        self.lost |= {child for child in children if not self.to(child)}

    @precondition(lambda self: self.addresses())
    @rule(choice=CHOICE, name=NAMES)
    def what_is_nowhere_is_not_found(self, choice: int, name: str) -> None:
        where = self.some_place(choice)[0].child(name)
        if where not in self.addresses():
            with pytest.raises(NotFound):
                self.run(self.engine.paths.look, self.owner, where)
            with pytest.raises((NotFound, Invalid)):
                self.run(self.engine.paths.prune, self.owner, where)

    @rule()
    def reopen(self) -> None:
        self.run(self.engine.close)
        self.open()

    # What must be so

    @invariant()
    def every_address_leads_where_it_should_and_shows_the_same_children(self) -> None:
        addresses = self.addresses()
        for where, memory in (*addresses.items(), *((Address(PLACELESS, (one,)), one) for one in self.texts)):
            node = self.run(self.engine.paths.look, self.owner, where)
            assert node.memory
            assert (node.memory.id, node.memory.content) == (memory, self.texts[memory].content)
            below = sorted((priority, name, child) for name, (child, priority) in self.below(memory).items())
            assert [(b.path.priority, b.path.name, b.memory) for b in node.branches] == below
            assert node.total == len(below)
            listed = self.run(self.engine.paths.addresses, self.owner, node.memory, 1000)
            assert sorted(map(str, listed)) == sorted(str(one) for one, target in addresses.items() if target == memory)

    @invariant()
    def the_tree_has_no_circle_and_nobody_is_stranded(self) -> None:
        rooted = self.rooted()
        for memory in self.texts:
            assert all(memory not in self.under(child) for child, _ in self.below(memory).values())
        for place, _ in self.edges:
            assert place in DOMAINS or place in rooted or self._hangs_from_a_lost_one(MemoryId(place))

    def _hangs_from_a_lost_one(self, memory: MemoryId) -> bool:
        pathless = {one for one in self.texts if not self.to(one)}
        return any(memory in self.under(one) for one in pathless)

    @invariant()
    def every_text_is_reachable_or_listed(self) -> None:
        orphans, count = self.run(self.engine.paths.orphans, self.owner, 1000)
        assert {orphan.memory.id for orphan in orphans} == self.lost
        assert count == len(orphans) == len(self.lost)
        pathless, total = self.run(self.engine.paths.pathless, self.owner, 1000)
        assert {memory.id for memory in pathless} == {one for one in self.texts if not self.to(one)} >= self.lost
        assert total == len(pathless)
        assert all(one in self.rooted() or self._hangs_from_a_lost_one(one) for one in self.texts)

    @invariant()
    def the_outline_counts_every_reachable_path_once(self) -> None:
        outline = self.run(self.engine.paths.outline, self.owner, 10_000)
        rooted = self.rooted()
        assert outline.total == len(outline.entries)
        assert outline.total == sum(place in DOMAINS or place in rooted for place, _ in self.edges)
        addresses = self.addresses()
        assert {str(entry.address) for entry in outline.entries} <= set(map(str, addresses))
        recent = self.run(self.engine.paths.recent, self.owner, 1000)
        assert {node.memory.id for node in recent if node.memory} == {one for one in self.texts if self.to(one)}

    @invariant()
    def a_word_finds_the_memory_that_holds_it_and_no_other(self) -> None:
        for memory, word in self._latest_words():
            found = self.run(self.engine.literal.search, self.owner, word.upper(), 100)
            assert [match.memory.id for match in found.best] == [memory]
            assert found.total == 1
            where = found.best[0].address
            assert where.domain == PLACELESS or self.addresses()[where] == memory

    def _latest_words(self) -> Iterator[tuple[MemoryId, str]]:
        """Of some, the word that was written last: all of them after every step would take minutes."""
        for memory in list(self.texts)[-3:]:
            yield memory, self.texts[memory].words[-1]


TestTreeAgainstModel = TreeAgainstModel.TestCase
TestTreeAgainstModel.settings = settings(
    max_examples=15,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
