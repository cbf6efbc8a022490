"""The verbs on a memory: remember, look, revise, forget, and what makes it end or stay."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.chain import dated, forge
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Conflict, Invalid, NotFound
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, MemoryId, uuid7
from commonplace.domain.link import Link
from commonplace.domain.memory import Author, Change, Draft, Ephemeral, Memory, Version
from commonplace.engine import trees
from commonplace.engine.access import changeable, own_labels, readable, require_writable
from commonplace.engine.associations import Found, associated
from commonplace.engine.embedding import Embedding
from commonplace.engine.shelves import check_not_lent, lodging
from commonplace.ports import Clock, Page, Prints, Reading, Store, Transaction

SWEEP_SIZE = 200
TIED = "tied"
"""In the event of a memory that came with its ties: none are to be looked for."""


@dataclass(frozen=True, slots=True)
class Reference:
    """How a caller names a memory: by its id, or by its block."""

    id: MemoryId | None = None
    block: int | None = None

    def __str__(self) -> str:
        return f"block_{self.block}" if self.id is None else self.id


class Memories:
    """Keeping and losing."""

    def __init__(self, store: Store, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._embedding = embedding
        self._clock = clock

    async def remember(self, actor: Actor, draft: Draft, *, associate: bool = False) -> Memory:
        """Keep a text, tied to what it brings to mind if asked. When this returns, it is on disk."""
        require(actor, Permission.WRITE)
        draft = checked(draft)
        prints = await self._embedding.prints(draft.content)
        ties = await self._store.read(lambda tx: self._ties(tx, actor, draft, prints)) if associate else None
        return await self._store.write(lambda tx: self.remember_in(tx, actor, draft, prints, ties))

    def _ties(self, tx: Reading, actor: Actor, draft: Draft, prints: Prints) -> Found:
        """Only to what is in the same collection: a tie must not tell one user what another has."""
        now = self._clock.now()
        among = Filter(frozenset({_home(tx, actor, draft)}) & readable(tx, actor, now).collections, now)
        vector = None if prints.vectors is None else prints.vectors[0]
        return associated(tx, actor.user, vector, prints.fingerprint, self._embedding.scale, among, now)

    def remember_in(
        self,
        tx: Transaction,
        actor: Actor,
        draft: Draft,
        prints: Prints,
        ties: Found | None = None,
        *,
        at: datetime | None = None,
        revised_at: datetime | None = None,
        identifier: MemoryId | None = None,
    ) -> Memory:
        """The same, as part of a larger change, perhaps of a text written at another time. The draft is checked.

        Without ties, not even none, they are found in the background.
        """
        now = self._clock.now()
        place = None if draft.home is None else lodging(tx, actor, _place(tx, draft.home), now)
        home = place.number if place else tx.home(actor.user)
        require_writable(tx, actor, home, now)
        memory = _drafted(actor, draft, home, at or now)
        if place:
            memory = replace(memory, collection=place.id, domain=place.domain)
        if identifier or revised_at:
            memory = replace(memory, id=identifier or memory.id, revised_at=revised_at or memory.revised_at)
        number = tx.add(memory, prints)
        block = None if memory.ephemeral else _appended(tx, memory, now)
        memory = replace(memory, number=number, block=block)
        for kind, target in draft.links:
            tx.links.add(Link(memory.id, target, kind, 1.0, now))
        if ties:
            _tie(tx, memory, ties, now)
        detail: dict[str, object] = {} if ties is None else {TIED: True}
        tx.record(_happening(EventKind.REMEMBERED, memory, actor.author, now, detail))
        return memory

    async def get(self, actor: Actor, reference: Reference) -> Memory:
        """One memory, or NotFound, which also stands for one the caller may not see."""
        now = self._clock.now()
        return await self._store.read(lambda tx: _found(tx, reference, readable(tx, actor, now)))

    async def page(
        self,
        actor: Actor,
        limit: int,
        *,
        offset: int = 0,
        ephemeral: bool | None = None,
        ttl_over: float | None = None,
        ttl_upto: float | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tags: tuple[str, ...] = (),
        categories: tuple[str, ...] = (),
        labels: tuple[str, ...] = (),
        importance_min: float | None = None,
        importance_max: float | None = None,
    ) -> Page:
        """The newest first."""
        now = self._clock.now()

        def work(tx: Reading) -> Page:
            chosen = replace(
                readable(tx, actor, now),
                ephemeral=ephemeral,
                ttl_over=ttl_over,
                ttl_upto=ttl_upto,
                since=since,
                until=until,
                tags=tags,
                categories=categories,
                labels=own_labels(tx, actor, labels),
                importance_min=importance_min,
                importance_max=importance_max,
            )
            return tx.page(chosen, limit, offset)

        return await self._store.read(work)

    async def latest(self, actor: Actor, limit: int, *, own: bool = False) -> Sequence[Memory]:
        """Those stored last, at once; or those of them that the actor itself wrote, by no key it has shared."""
        now, by = self._clock.now(), actor.user if own else None
        return await self._store.read(lambda tx: tx.latest(readable(tx, actor, now), limit, by))

    async def history(self, actor: Actor, reference: Reference) -> list[Version]:
        """What the memory was before each change, oldest first."""
        now = self._clock.now()

        def work(tx: Reading) -> list[Version]:
            return list(tx.versions(_found(tx, reference, readable(tx, actor, now)).id))

        return await self._store.read(work)

    async def embedding_of(self, actor: Actor, reference: Reference) -> list[float]:
        """The vector of the whole text; empty while there is none."""
        now = self._clock.now()

        def work(tx: Reading) -> list[float]:
            memory = _found(tx, reference, readable(tx, actor, now))
            vectors = tx.vectors(memory.number, self._embedding.fingerprint)
            return [] if vectors is None else [float(value) for value in vectors[0]]

        return await self._store.read(work)

    async def revise(
        self, actor: Actor, reference: Reference, change: Change, *, expected: int | None = None
    ) -> Memory:
        """Change what is named; what it was stays as a version. With an expected version, only if it is still that."""
        require(actor, Permission.WRITE)
        change = checked_change(change)
        prints = await self.prints_of(change)
        return await self._store.write(lambda tx: self.revise_in(tx, actor, reference, change, prints, expected))

    async def prints_of(self, change: Change) -> Prints | None:
        return None if change.content is None else await self._embedding.prints(change.content)

    def revise_in(
        self,
        tx: Transaction,
        actor: Actor,
        reference: Reference,
        change: Change,
        prints: Prints | None,
        expected: int | None = None,
        *,
        at: datetime | None = None,
    ) -> Memory:
        """The same, as part of a larger change. What sets everything to what it is already is none."""
        now = self._clock.now()
        memory = self.changing_in(tx, actor, reference)
        if expected is not None and memory.version != expected:
            raise Conflict("memory", str(reference))
        if memory.is_changed_by(change):
            self.put_change_in(tx, actor, memory, change, prints, at or now)
        return _found(tx, reference, changeable(tx, actor, now))

    def put_change_in(
        self, tx: Transaction, actor: Actor, memory: Memory, change: Change, prints: Prints | None, at: datetime
    ) -> None:
        """The same, to a memory that was found among what the actor may change."""
        tx.revise(memory, change, actor.author, at, prints)
        detail = {"fields": list(change.fields), "version": memory.version + 1}
        tx.record(_happening(EventKind.REVISED, memory, actor.author, self._clock.now(), detail))

    def everything_in(self, collection: int) -> Filter:
        """All memories of a collection, whoever asks: for the house itself."""
        return Filter(frozenset({collection}), datetime.min.replace(tzinfo=UTC))

    def seal_in(self, tx: Transaction, memory: Memory, now: datetime) -> Memory:
        """Give a memory that stays its block, if it has none."""
        return memory if memory.block is not None else replace(memory, block=_appended(tx, memory, now))

    def found_in(self, tx: Reading, reference: Reference, among: Filter) -> Memory:
        """One memory as part of a larger change, or NotFound."""
        return _found(tx, reference, among)

    def changing_in(self, tx: Reading, actor: Actor, reference: Reference, ephemeral: bool | None = None) -> Memory:
        """One that the actor may change: NotFound where it may not see it, Forbidden where it only sees it."""
        now = self._clock.now()
        memory = _found(tx, reference, replace(readable(tx, actor, now), ephemeral=ephemeral))
        require_writable(tx, actor, memory.home, now)
        return memory

    async def set_end(self, actor: Actor, reference: Reference, ttl: timedelta | None) -> Memory:
        """Let a memory end after a time from now, or, without one, let it stay."""
        require(actor, Permission.WRITE)
        if ttl is not None:
            limits.ttl(ttl)
        return await self._store.write(lambda tx: self._set_end(tx, actor, reference, ttl))

    def _set_end(self, tx: Transaction, actor: Actor, reference: Reference, ttl: timedelta | None) -> Memory:
        now = self._clock.now()
        self.put_end_in(tx, actor, self.changing_in(tx, actor, reference), Ephemeral(ttl, now + ttl) if ttl else None)
        return _found(tx, reference, changeable(tx, actor, now))

    def put_end_in(self, tx: Transaction, actor: Actor, memory: Memory, end: Ephemeral | None) -> None:
        """The same, for a certain moment, as part of a larger change."""
        now = self._clock.now()
        tx.set_end(memory.number, end)
        if end is None:
            memory = self.seal_in(tx, memory, now)
        kind = EventKind.EXTENDED if end else EventKind.PROMOTED
        tx.record(_happening(kind, memory, actor.author, now, _end_before(memory)))

    async def forget(self, actor: Actor, reference: Reference, *, ephemeral: bool | None = None) -> Memory:
        """Remove a memory for good: text, history, vectors, full text. Its block keeps the hashes."""
        require(actor, Permission.WRITE)
        return await self._store.write(lambda tx: self._forget(tx, actor, reference, ephemeral))

    def _forget(self, tx: Transaction, actor: Actor, reference: Reference, ephemeral: bool | None) -> Memory:
        now = self._clock.now()
        among = replace(readable(tx, actor, now), ephemeral=ephemeral)
        memory = _found(tx, reference, among)
        # Who wrote it may take it away, even where others decide what is written.
        if memory.author.user != actor.user:
            self.changing_in(tx, actor, reference, ephemeral)
            check_not_lent(tx, memory)
        self.erase_in(tx, memory, actor.author, now)
        return memory

    def erase_in(
        self, tx: Transaction, memory: Memory, by: Author, now: datetime, kind: EventKind = EventKind.FORGOTTEN
    ) -> None:
        """What stood below it stays, as orphans."""
        trees.let_go_of_children(tx, memory.number, now)
        tx.record(_happening(kind, memory, by, now))  # first, because those who watch it know it by its tags
        tx.erase(memory, now)

    async def sweep(self, actor: Actor | None = None) -> int:
        """Remove what has ended, everywhere or where the actor may; how many there were."""
        now, swept = self._clock.now(), 0
        if actor is None and not await self._store.read(lambda tx: tx.expired(None, now, 1)):
            return 0  # nothing to write, nothing to lock
        while True:
            count = await self._store.write(lambda tx: self._sweep(tx, actor, now))
            swept += count
            if count < SWEEP_SIZE:
                return swept

    def _sweep(self, tx: Transaction, actor: Actor | None, now: datetime) -> int:
        collections = None if actor is None else changeable(tx, actor, now).collections
        ended = tx.expired(collections, now, SWEEP_SIZE)
        for memory in ended:
            author = actor.author if actor else memory.author
            self.erase_in(tx, memory, author, now, EventKind.EXPIRED)
        return len(ended)


def _found(tx: Reading, reference: Reference, among: Filter) -> Memory:
    memory = None
    if reference.id:
        memory = tx.memory(reference.id, among)
    elif reference.block is not None:
        memory = tx.memory_at(reference.block, among)
    if memory is None:
        raise NotFound("memory", str(reference))
    return memory


def _home(tx: Reading, actor: Actor, draft: Draft) -> int:
    return tx.home(actor.user) if draft.home is None else _place(tx, draft.home).number


def _place(tx: Reading, collection: CollectionId) -> Collection:
    found = tx.collections.get(collection)
    if found is None:
        raise NotFound("collection", collection)
    return found


def _drafted(actor: Actor, draft: Draft, home: int, now: datetime) -> Memory:
    return Memory(
        number=0,
        id=MemoryId(uuid7(now, secrets.token_bytes(RANDOM_BYTES))),
        content=draft.content,
        content_type=draft.content_type,
        tags=draft.tags,
        keywords=draft.keywords,
        category=draft.category,
        importance=draft.importance,
        metadata=draft.metadata,
        collection=CollectionId(""),
        home=home,
        domain="user",
        author=actor.author,
        created_at=now,
        version=1,
        reviser=actor.author,
        revised_at=now,
        ephemeral=Ephemeral(draft.ttl, now + draft.ttl) if draft.ttl else None,
    )


def _tie(tx: Transaction, memory: Memory, ties: Found, now: datetime) -> None:
    """What has gone since it was found is left out."""
    numbers = {number for _, number in ties}
    there = {m.number: m.id for m in tx.memories(sorted(numbers), Filter(frozenset({memory.home}), now))}
    for (kind, number), strength in ties.items():
        if number in there:
            tx.links.add(Link(memory.id, there[number], kind, strength, now))


def _appended(tx: Transaction, memory: Memory, now: datetime) -> int:
    """The memory's block at the end of the chain."""
    timestamp = now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    block = forge(memory.id, memory.version, memory.content, timestamp, memory.importance, tx.head())
    block = dated(block, memory.created_at)
    tx.append(block)
    return block.index


def _end_before(memory: Memory) -> dict[str, object]:
    """What history needs to put an end back."""
    before = memory.ephemeral
    return {} if before is None else {"ttl": before.ttl.total_seconds(), "ended_at": before.ends_at.isoformat()}


def _happening(
    kind: EventKind, memory: Memory, by: Author, now: datetime, detail: dict[str, object] | None = None
) -> Happening:
    block = {} if memory.block is None else {"block": memory.block}
    return Happening(kind, now, by, memory.id, memory.number, memory.home, block | (detail or {}))


def checked(draft: Draft) -> Draft:
    """The draft in its kept form, or Invalid."""
    return replace(
        draft,
        content=limits.content(draft.content),
        tags=limits.tags(draft.tags),
        keywords=limits.keywords(draft.keywords),
        importance=limits.importance(draft.importance),
        metadata=limits.metadata(draft.metadata),
        category=limits.label("category", draft.category) if draft.category else "",
        ttl=None if draft.ttl is None else limits.ttl(draft.ttl),
    )


def checked_change(change: Change) -> Change:
    """The change in its kept form, or Invalid."""
    if not change.fields:
        raise Invalid("change", "there is nothing to change: give at least one field")
    return replace(
        change,
        content=None if change.content is None else limits.content(change.content),
        tags=None if change.tags is None else limits.tags(change.tags),
        keywords=None if change.keywords is None else limits.keywords(change.keywords),
        importance=None if change.importance is None else limits.importance(change.importance),
        metadata=None if change.metadata is None else limits.metadata(change.metadata),
        category=limits.label("category", change.category) if change.category else change.category,
    )
