"""Keeping a memory together with what it names: its sources, what it refers to, its labels, what it brings to mind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, require, require_whole
from commonplace.domain.errors import Conflict, Invalid, NotFound
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Draft, Ephemeral, Memory
from commonplace.domain.mention import checked_sources, mentioned, sources
from commonplace.engine.access import own_labels, readable
from commonplace.engine.atlases import held
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked, checked_change
from commonplace.engine.recall import Hit, Recall
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

MOST_BROUGHT_TO_MIND = 3
LIKE_ENOUGH = 0.6
"""From this similarity on, an earlier memory is shown beside a new one."""
MOST_LABELS = 100


@dataclass(frozen=True, slots=True)
class Remembered:
    """A new memory, and earlier ones that it brings to mind."""

    memory: Memory
    related: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long a memory is to last from now on; without a time, for good."""

    ttl: timedelta | None


@dataclass(frozen=True, slots=True)
class Revised:
    """A memory after a change, and what it was."""

    memory: Memory
    before: Memory


class Derivations:
    """Links here follow from what a memory says: they come, change and go with its text and its metadata."""

    def __init__(self, store: Store, memories: Memories, recall: Recall, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._recall = recall
        self._embedding = embedding
        self._clock = clock

    async def remember(self, actor: Actor, draft: Draft, *, labels: tuple[str, ...] = ()) -> Remembered:
        """Keep a text with its links and labels, all or none; and what was there already that is like it."""
        require(actor, Permission.WRITE)
        if labels:
            require_whole(actor)
        draft, labels = checked(draft), limits.labels("labelIds", labels, MOST_LABELS)
        checked_sources(draft.metadata)
        prints = await self._embedding.prints(draft.content)
        related = await self._recall.reminded(actor, prints, limit=MOST_BROUGHT_TO_MIND, least=LIKE_ENOUGH)
        return Remembered(await self._store.write(lambda tx: self._remember(tx, actor, draft, prints, labels)), related)

    def _remember(self, tx: Transaction, actor: Actor, draft: Draft, prints: Prints, labels: tuple[str, ...]) -> Memory:
        if draft.home is not None:
            held(tx, actor, draft.home, Right.WRITE)
        own_labels(tx, actor, labels)
        links = tuple(self._new_links(tx, actor, None, draft.content, draft.metadata))
        memory = self._memories.remember_in(tx, actor, replace(draft, links=links), prints)
        for label in labels:
            tx.labels.attach(label, memory.number, memory.created_at)
        return memory

    async def revise(
        self,
        actor: Actor,
        reference: Reference,
        change: Change,
        *,
        lasting: Lasting | None = None,
    ) -> Revised:
        """Change what is named, and how long it lasts, in one go.

        Metadata is laid over what is there, an entry of None takes one away. A text that stays the same is not
        embedded again.
        """
        require(actor, Permission.WRITE)
        if not change.fields and lasting is None:
            raise Invalid("change", "there is nothing to change: give at least one field")
        if lasting and lasting.ttl is not None:
            limits.ttl(lasting.ttl)
        change = checked_change(change) if change.fields else change
        checked_sources(change.metadata or {})
        prints = await self._prints(actor, reference, change)
        return await self._store.write(lambda tx: self._revise(tx, actor, reference, change, prints, lasting))

    async def _prints(self, actor: Actor, reference: Reference, change: Change) -> Prints | None:
        if change.content is None:
            return None
        before = await self._memories.get(actor, reference)
        return None if before.content == change.content else await self._embedding.prints(change.content)

    def _revise(
        self,
        tx: Transaction,
        actor: Actor,
        reference: Reference,
        change: Change,
        prints: Prints | None,
        lasting: Lasting | None,
    ) -> Revised:
        before = self._memories.changing_in(tx, actor, reference)
        change = _applied(before, change)
        if change.content is not None and prints is None:
            raise Conflict("memory", str(reference))  # it was the same text a moment ago
        after = before
        if change.fields:
            after = self._memories.revise_in(tx, actor, reference, change, prints if change.content else None)
            self._relink(tx, actor, before, after)
        if lasting and (lasting.ttl or after.ephemeral):
            end = Ephemeral(lasting.ttl, self._clock.now() + lasting.ttl) if lasting.ttl else None
            self._memories.put_end_in(tx, actor, after, end)
            after = replace(after, ephemeral=end)
        return Revised(after, before)

    # Links

    def _relink(self, tx: Transaction, actor: Actor, before: Memory, after: Memory) -> None:
        """What the memory named and names no longer goes; links that did not come from its words stay."""
        gone = [
            *((LinkKind.DERIVED_FROM, one) for one in sources(before.metadata) - sources(after.metadata)),
            *((LinkKind.REFERENCES, one) for one in mentioned(before.content) - mentioned(after.content)),
        ]
        for kind, target in gone:
            tx.links.remove(after.id, target, kind)
        for kind, target in self._new_links(tx, actor, before, after.content, after.metadata):
            tx.links.keep(Link(after.id, target, kind, 1.0, after.revised_at))

    def _new_links(
        self, tx: Reading, actor: Actor, before: Memory | None, content: str, metadata: Mapping[str, Any]
    ) -> list[tuple[LinkKind, MemoryId]]:
        """Only to what the actor may see: an unknown source is refused, an id in a text may be anything."""
        derived = sources(metadata) - (sources(before.metadata) if before else frozenset())
        named = mentioned(content) - (mentioned(before.content) if before else frozenset())
        itself = before.id if before else None
        seen = self._seen(tx, actor, derived | named) if derived or named else frozenset()
        for missing in sorted(derived - seen):
            raise NotFound("memory", missing)
        found = [*((LinkKind.DERIVED_FROM, i) for i in derived), *((LinkKind.REFERENCES, i) for i in named & seen)]
        return sorted((kind, target) for kind, target in found if target != itself)

    def _seen(self, tx: Reading, actor: Actor, wanted: frozenset[MemoryId]) -> frozenset[MemoryId]:
        if Permission.READ not in actor.permissions:
            return frozenset()
        among = readable(tx, actor, self._clock.now())
        return frozenset(identifier for identifier in wanted if tx.memory(identifier, among))


def _applied(before: Memory, change: Change) -> Change:
    """What of a change is one, with its metadata laid over what is there."""
    content = None if change.content == before.content else change.content
    if change.metadata is None:
        return replace(change, content=content)
    merged = {**before.metadata, **change.metadata}
    kept = {key: value for key, value in merged.items() if value is not None}
    return replace(change, content=content, metadata=limits.metadata(kept))
