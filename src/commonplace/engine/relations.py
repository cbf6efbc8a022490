"""The verbs on provenance and relations between memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor
from commonplace.domain.collection import Kind
from commonplace.domain.errors import NotFound
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, MemoryId
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Memory
from commonplace.domain.mention import mentioned
from commonplace.domain.relation import RELATIONS, Edge, Surroundings, shown, surroundings
from commonplace.engine.access import readable
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Clock, Reading, Store

MOST_NODES = 100
MOST_EDGES = 200
DEEPEST = 10
MOST_EXPLORED = 5000
"""How many memories are looked at; where there are more, the totals are what there is at least."""
_MOST_FOLLOWED = 20_000
"""How many links are followed in one step."""


@dataclass(frozen=True, slots=True)
class Relation:
    """That one memory has a relation to another."""

    source: MemoryId
    target: MemoryId
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class Graph:
    """Memories and how they are related, as many as can be looked at, with the size of the whole."""

    memories: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    total: int
    total_relations: int
    whole: bool
    """Whether the totals are exact; there are at least as many in any case."""


class Relations:
    """What came from what, what speaks about what. Nobody learns of a memory by it that he may not see."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    async def around(self, actor: Actor, reference: Reference, kinds: Iterable[LinkKind], depth: int) -> Graph:
        """What is related to a memory, in so many steps, in either direction."""
        wanted = _wanted(kinds, depth)

        def work(tx: Reading) -> Graph:
            among = readable(tx, actor, self._clock.now())
            start = self._memories.found_in(tx, reference, among)
            around = _reached(tx, [start.number], wanted, among, depth)
            return _drawn(tx, around, among, len(around.numbers))

        return await self._store.read(work)

    async def within(self, actor: Actor, atlas: CollectionId, kinds: Iterable[LinkKind], depth: int) -> Graph:
        """The same for all memories of a collection and of those below it; those without relations come last."""
        wanted = _wanted(kinds, depth)
        now = self._clock.now()
        return await self._store.read(lambda tx: _within(tx, actor, atlas, wanted, depth, now))


def referred(tx: Reading, content: str, among: Filter) -> tuple[tuple[LinkKind, MemoryId], ...]:
    """The memories that a new text names, as far as its author may see them."""
    seen = (one for one in sorted(mentioned(content)) if tx.memory(one, among))
    return tuple((LinkKind.REFERENCES, one) for one in seen)


def _wanted(kinds: Iterable[LinkKind], depth: int) -> tuple[LinkKind, ...]:
    limits.within("depth", depth, 1, DEEPEST)
    chosen = frozenset(kinds)
    return tuple(kind for kind in RELATIONS if kind in chosen)


def _within(
    tx: Reading, actor: Actor, atlas: CollectionId, kinds: Sequence[LinkKind], depth: int, now: datetime
) -> Graph:
    among = readable(tx, actor, now)
    found = tx.collections.get(atlas)
    if found is None or found.kind != Kind.ATLAS or found.number not in among.collections:
        raise NotFound(Kind.ATLAS.value, atlas)
    here = Filter(frozenset(c.number for c in tx.collections.below([atlas])) & among.collections, now)
    linked = tx.links.linked(here.collections, kinds, among, MOST_EXPLORED)
    around = _reached(tx, linked, kinds, among, depth)
    page = tx.page(here, MOST_NODES + min(len(linked), MOST_NODES))
    apart = tuple(memory.number for memory in page.memories if memory.number not in around.numbers)
    total = len(around.numbers) + page.total - len(linked)
    return _drawn(tx, replace(around, numbers=around.numbers + apart), among, total)


def _reached(tx: Reading, starts: Sequence[int], kinds: Sequence[LinkKind], among: Filter, depth: int) -> Surroundings:
    def touching(numbers: Sequence[int], limit: int) -> Sequence[Edge]:
        return tx.links.touching(numbers, kinds, among, limit)

    return surroundings(starts, touching, depth=depth, most=MOST_EXPLORED, most_edges=_MOST_FOLLOWED)


def _drawn(tx: Reading, around: Surroundings, among: Filter, total: int) -> Graph:
    numbers, edges = shown(around, MOST_NODES, MOST_EDGES)
    memories = tuple(tx.memories(numbers, among))
    ids = {memory.number: memory.id for memory in memories}
    relations = tuple(Relation(ids[edge.source], ids[edge.target], edge.kind) for edge in edges)
    return Graph(memories, relations, total, len(around.edges), around.whole)
