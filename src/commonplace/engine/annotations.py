"""The verbs on annotations: memories that speak about another memory, in threads."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from commonplace.domain import annotation
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.annotation import AnnotationType, is_annotation, noted, reply_type, threads
from commonplace.domain.collection import Kind
from commonplace.domain.errors import NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, MemoryId, uuid7
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Draft, Memory
from commonplace.engine.access import readable
from commonplace.engine.collections import session_ttl
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked
from commonplace.engine.relations import referred
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

MOST_SHOWN = 200
MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Annotation:
    """A memory about another: which, how deep in its thread, and how many replies stand below it."""

    memory: Memory
    about: MemoryId
    depth: int = 0
    replies: int = 0


@dataclass(frozen=True, slots=True)
class Discussion:
    """What is said about a memory, the oldest first, each remark followed by its replies; how many there are in all."""

    annotations: tuple[Annotation, ...]
    total: int


class Annotations:
    """Speaking about memories. Who may write where one lives may speak about it; who sees it sees what was said."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    async def annotate(
        self, actor: Actor, target: Reference, content: str, kind: AnnotationType, content_type: str = "text"
    ) -> Annotation:
        """Say something about a memory; about an annotation, it is a reply."""
        require(actor, Permission.WRITE)
        draft = checked(Draft(content, category=annotation.CATEGORY, content_type=content_type))
        prints = await self._embedding.prints(draft.content)

        def work(tx: Transaction) -> Annotation:
            found = self._memories.found_in(tx, target, readable(tx, actor, self._clock.now()))
            return self._keep(tx, actor, found, draft, prints, kind)

        return await self._store.write(work)

    async def reply(
        self, actor: Actor, reference: Reference, content: str, kind: AnnotationType | None = None
    ) -> Annotation:
        """Answer an annotation. A question is answered; anything else is commented on, unless the author says more."""
        require(actor, Permission.WRITE)
        draft = checked(Draft(content, category=annotation.CATEGORY))
        prints = await self._embedding.prints(draft.content)

        def work(tx: Transaction) -> Annotation:
            found = self._annotation(tx, actor, reference)
            return self._keep(tx, actor, found, draft, prints, kind or reply_type(found.metadata))

        return await self._store.write(work)

    async def of(
        self, actor: Actor, reference: Reference, *, kind: AnnotationType | None = None, replies: bool = True
    ) -> Discussion:
        """What is said about a memory: of the threads only those that begin with a kind, where one is given."""
        now = self._clock.now()

        def work(tx: Reading) -> Discussion:
            among = readable(tx, actor, now)
            target = self._memories.found_in(tx, reference, among)
            placed = threads(tx.links.remarks(target.number, among, MOST_COUNTED), target.number, kind)
            chosen = [one for one in placed if replies or one.depth == 0]
            first = chosen[:MOST_SHOWN]
            memories = {memory.number: memory for memory in tx.memories([one.number for one in first], among)}
            known = {target.number: target.id} | {number: memory.id for number, memory in memories.items()}
            said = (Annotation(memories[o.number], known[o.about], o.depth, o.replies) for o in first)
            return Discussion(tuple(said), len(chosen))

        return await self._store.read(work)

    def _annotation(self, tx: Reading, actor: Actor, reference: Reference) -> Memory:
        found = tx.memory(reference.id, readable(tx, actor, self._clock.now())) if reference.id else None
        if found is None or not is_annotation(found.metadata):
            raise NotFound("annotation", str(reference))
        return found

    def _keep(
        self, tx: Transaction, actor: Actor, target: Memory, draft: Draft, prints: Prints, kind: AnnotationType
    ) -> Annotation:
        """In the target's own collection, so that whoever sees the one sees the other, and nobody else."""
        now = self._clock.now()
        own = MemoryId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        named = referred(tx, draft.content, readable(tx, actor, now))
        links = ((LinkKind.ANNOTATES, target.id), *(link for link in named if link[1] != target.id))
        home = tx.collections.numbered(target.home)
        draft = replace(
            draft,
            links=links,
            home=target.collection,
            metadata=noted(kind, own, target.id, target.metadata),
            ttl=session_ttl(home, now) if home and home.kind == Kind.SESSION else None,
        )
        return Annotation(self._memories.remember_in(tx, actor, draft, prints, identifier=own), target.id)
