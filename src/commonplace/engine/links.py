"""The verbs on links: what a memory brings to mind, tying and untying, and finding new ties in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.activation import Reached, spread
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.event import Event, EventKind
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import FADING, Link, LinkKind, Tie
from commonplace.domain.memory import Change, Memory
from commonplace.engine.access import readable
from commonplace.engine.associations import associated
from commonplace.engine.embedding import Embedding
from commonplace.engine.leases import held
from commonplace.engine.memories import TIED, Memories, Reference, checked_change
from commonplace.engine.ties import Retie, loose, retie_in
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_RELATED = 200
DEEPEST = 5
FANOUT = 50
"""How many of a memory's strongest ties are followed."""
LEAST_KEPT = 0.1
"""A tie that the house found and nobody used goes when it is weaker than this."""
IDLE = timedelta(days=365)
_DISCOVERED = "discovered"
_BATCH = 100
_AT_ONCE = 8
"""How many are looked at in one view and tied in one write: each by itself would wait for the disk."""
_LEASE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Updated:
    """A memory after a change of it and its ties, and whether it was one."""

    memory: Memory
    changed: bool


@dataclass(frozen=True, slots=True)
class Related:
    """A memory that came to mind, how, and by way of which others."""

    memory: Memory
    reached: Reached
    path: tuple[MemoryId, ...]


@dataclass(frozen=True, slots=True)
class Evoked:
    """What a memory brought to mind, the strongest first; and whether the limit left something out."""

    related: tuple[Related, ...]
    more: bool = False


class Links:
    """Associations."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    async def related(self, actor: Actor, reference: Reference, *, depth: int, limit: int) -> Evoked:
        """What the memory brings to mind, the strongest first."""
        limits.within("depth", depth, 1, DEEPEST)
        limits.within("limit", limit, 1, MOST_RELATED)
        start = await self._memories.get(actor, reference)
        now = self._clock.now()
        return await self._store.read(lambda tx: _related(tx, start, readable(tx, actor, now), depth, limit))

    async def of(self, actor: Actor, reference: Reference) -> Sequence[Tie]:
        """The strongest ties of a memory to what the actor may see."""
        memory = await self._memories.get(actor, reference)
        now = self._clock.now()
        return await self._store.read(lambda tx: tx.links.near(memory.number, readable(tx, actor, now), MOST_RELATED))

    async def connect(self, actor: Actor, one: Reference, other: Reference, strength: float = 1.0) -> None:
        """Tie two memories by hand. Who may change one of them and see the other may do it."""
        require(actor, Permission.WRITE)
        limits.importance(strength, "strength")
        await self._store.write(lambda tx: self._connect(tx, actor, one, other, strength))

    async def revise(
        self,
        actor: Actor,
        one: Reference,
        change: Change,
        *,
        tied: Sequence[Reference] = (),
        untied: Sequence[Reference] = (),
    ) -> Updated:
        """Change what is named of a memory, which may be nothing, tie it to others and untie it: all of it, or none."""
        require(actor, Permission.WRITE)
        change = checked_change(change) if change.fields else change
        prints = await self._memories.prints_of(change)

        def work(tx: Transaction) -> Updated:
            before = self._memories.changing_in(tx, actor, one)
            if change.fields:
                self._memories.revise_in(tx, actor, one, change, prints)
            for other in untied:
                self._disconnect(tx, actor, one, other)
            for other in tied:
                self._connect(tx, actor, one, other)
            after = self._memories.changing_in(tx, actor, one)
            return Updated(after, bool(tied or untied or after.version != before.version))

        return await self._store.write(work)

    def _connect(self, tx: Transaction, actor: Actor, one: Reference, other: Reference, strength: float = 1.0) -> None:
        now = self._clock.now()
        source = self._memories.changing_in(tx, actor, one)
        target = self._memories.found_in(tx, other, readable(tx, actor, now))
        if source.id == target.id:
            raise Invalid("other", "a memory cannot be tied to itself")
        link = Link(source.id, target.id, LinkKind.MANUAL, strength, now)
        retie_in(tx, actor, source, [Retie(target.id, on=[link])], now)

    async def disconnect(self, actor: Actor, one: Reference, other: Reference) -> int:
        """Untie two memories; how many ties there were."""
        require(actor, Permission.WRITE)
        return await self._store.write(lambda tx: self._disconnect(tx, actor, one, other))

    def _disconnect(self, tx: Transaction, actor: Actor, one: Reference, other: Reference) -> int:
        now = self._clock.now()
        source = self._memories.changing_in(tx, actor, one)
        target = self._memories.found_in(tx, other, readable(tx, actor, now))
        ties = loose(tx, source.id, target.id)
        if not ties:
            raise NotFound("tie to", target.id, "get_related with depth 1 shows what it is tied to")
        retie_in(tx, actor, source, [Retie(target.id, off=ties)], now)
        return len(ties)

    async def among(self, actor: Actor, memories: Sequence[Memory], limit: int) -> Sequence[Link]:
        """The ties between these memories, which the actor has seen."""
        require(actor, Permission.READ)
        return await self._store.read(lambda tx: tx.links.among([m.number for m in memories], limit))

    # In the background

    async def discover(self) -> int:
        """Tie what was stored, rewritten or moved meanwhile, a little at a time; how many events were looked at."""
        if not await self._store.read(_undiscovered):
            return 0
        async with held(self._store, self._clock, _DISCOVERED, _LEASE) as alone:
            return await self._discovered() if alone else 0

    async def _discovered(self) -> int:
        events = await self._store.read(_undiscovered)  # anew: another process may have been here before the lease
        texts = [event for event in events if _is_new(event)]
        first, last = texts[:-_AT_ONCE], texts[-_AT_ONCE:]
        for start in range(0, len(first), _AT_ONCE):
            chunk = first[start : start + _AT_ONCE]
            await self._tie(chunk, chunk[-1].number)
        if events:
            await self._tie(last, events[-1].number)
        return len(events)

    async def forget_faded(self) -> int:
        before = self._clock.now() - IDLE
        return await self._store.write(lambda tx: tx.links.drop_faded(LEAST_KEPT, before))

    async def _tie(self, events: Sequence[Event], reached: int) -> None:
        """Within each memory's own collection: a tie must not tell one user what another has."""
        looked = await self._store.read(lambda tx: [self._look(tx, event) for event in events]) if events else []

        def work(tx: Transaction) -> None:
            for stale, found in looked:
                for link in stale:
                    tx.links.remove(link.source, link.target, link.kind)
                for link in found:
                    tx.links.keep(link)
            tx.set_meta(_DISCOVERED, str(reached))

        await self._store.write(work)

    def _look(self, tx: Reading, event: Event) -> tuple[list[Link], list[Link]]:
        """Ties that a new text or a new place made stale, and ties that are missing."""
        now = self._clock.now()
        among = Filter(frozenset({event.collection}), now)
        memory = tx.memory(event.memory, among)
        if memory is None:
            return [], []
        if event.kind is EventKind.MOVED:
            return _left_behind(tx, memory, among), self._missing(tx, memory, among)
        close = [link for link in tx.links.of(memory.id) if link.kind is LinkKind.SEMANTIC]
        if event.kind is EventKind.REVISED:
            return close, self._missing(tx, memory, among)
        if any(link.source == memory.id for link in close):
            return [], []
        return [], self._missing(tx, memory, replace(among, until=memory.created_at))

    def _missing(self, tx: Reading, memory: Memory, among: Filter) -> list[Link]:
        user, at, number = memory.author.user, memory.created_at, memory.number
        vectors = tx.vectors(number, self._embedding.fingerprint)
        vector = None if vectors is None else vectors[0]
        found = associated(
            tx, user, vector, self._embedding.fingerprint, self._embedding.scale, among, at, itself=number
        )
        there = Filter(among.collections, among.now)
        others = {one.number: one.id for one in tx.memories([number for _, number in found], there)}
        known = {(link.source, link.kind) for link in tx.links.of(memory.id) if link.kind is LinkKind.TEMPORAL}
        return [
            Link(memory.id, others[number], kind, strength, among.now)
            for (kind, number), strength in found.items()
            if number in others and (others[number], kind) not in known
        ]


def _undiscovered(tx: Reading) -> Sequence[Event]:
    return tx.events(int(tx.meta(_DISCOVERED) or 0), _BATCH)


def _related(tx: Reading, start: Memory, among: Filter, depth: int, limit: int) -> Evoked:
    wanted = limit + 1  # one more tells whether there is more

    def near(number: int) -> Sequence[Tie]:
        return _nearest(tx, number, among, wanted) if number == start.number else tx.links.near(number, among, FANOUT)

    everything = spread(start.number, near, among.now, depth=depth, limit=wanted)
    reached = everything[:limit]
    numbers = {number for one in reached for number in one.path}
    memories = {memory.number: memory for memory in tx.memories(sorted(numbers), among)}
    related = [
        Related(memories[one.number], one, tuple(memories[n].id if n in memories else start.id for n in one.path))
        for one in reached
        if one.number in memories
    ]
    return Evoked(tuple(related), len(everything) > limit)


def _nearest(tx: Reading, number: int, among: Filter, wanted: int) -> Sequence[Tie]:
    """Ties to so many memories, where there are so many: one may be tied by its meaning, its time and by hand."""
    take = max(FANOUT, wanted)
    while True:
        ties = tx.links.near(number, among, take)
        if len(ties) < take or len({tie.other for tie in ties}) >= wanted:
            return ties
        take *= 2


def _left_behind(tx: Reading, memory: Memory, among: Filter) -> list[Link]:
    """What the house has tied it to and is not where the memory is now."""
    found = [link for link in tx.links.of(memory.id) if link.kind in FADING]
    others = {end for link in found for end in (link.source, link.target)}
    gone = {other for other in others if tx.memory(other, among) is None}
    return [link for link in found if {link.source, link.target} & gone]


def _is_new(event: Event) -> bool:
    """Whether it brings a text that has no ties yet, or not those of its place."""
    if event.kind is EventKind.MOVED:
        before, after = (int(event.detail[end]) for end in ("from", "to"))
        return before != after and event.collection == after  # the old place is told of it too
    if event.kind is EventKind.REVISED:
        return "content" in event.detail.get("fields", ())
    return event.kind is EventKind.EMBEDDED or (event.kind is EventKind.REMEMBERED and TIED not in event.detail)
