"""What pictures are drawn from: many memories at once, their vectors and the ties between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from commonplace.domain.access import Actor
from commonplace.domain.link import Link
from commonplace.domain.memory import Memory
from commonplace.engine.access import readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.links import Links
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Clock, Reading, Store

if TYPE_CHECKING:
    from commonplace.ports import Vectors

MOST_TIES = 20_000


@dataclass(frozen=True, slots=True)
class View:
    """Memories as they lie beside each other."""

    memories: Sequence[Memory]
    vectors: Mapping[int, Vectors]
    links: Sequence[Link]
    total: int


class Views:
    """Looking at many memories at once."""

    def __init__(self, store: Store, memories: Memories, links: Links, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._links = links
        self._embedding = embedding
        self._clock = clock

    async def all(
        self, actor: Actor, most: int, *, since: datetime | None = None, until: datetime | None = None
    ) -> View:
        """The newest that the actor may see, within a time if one is given."""
        now = self._clock.now()

        def work(tx: Reading) -> View:
            page = tx.page(replace(readable(tx, actor, now), since=since, until=until), most)
            return self._view(tx, page.memories, page.total)

        return await self._store.read(work)

    async def around(self, actor: Actor, reference: Reference, *, depth: int, most: int) -> View:
        """A memory and what it brings to mind."""
        start = await self._memories.get(actor, reference)
        related = await self._links.related(actor, reference, depth=depth, limit=most)
        memories = [start, *(one.memory for one in related)]
        return await self._store.read(lambda tx: self._view(tx, memories, len(memories)))

    def _view(self, tx: Reading, memories: Sequence[Memory], total: int) -> View:
        numbers = [memory.number for memory in memories]
        vectors = tx.whole_vectors(numbers, self._embedding.fingerprint)
        return View(memories, vectors, tx.links.among(numbers, MOST_TIES), total)
