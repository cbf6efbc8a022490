"""What pictures are drawn from: many memories at once, their vectors and the ties between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from commonplace.domain.access import Actor
from commonplace.domain.filter import Filter
from commonplace.domain.link import Link
from commonplace.domain.memory import Memory
from commonplace.engine.access import readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.links import Links
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Bond, Clock, Crowd, Reading, Store

if TYPE_CHECKING:
    from commonplace.ports import Vectors

MOST_TIES = 20_000
MOST_TAGS = 100
LISTED = 5
_TURNS = 62


@dataclass(frozen=True, slots=True)
class View:
    """Memories as they lie beside each other."""

    memories: Sequence[Memory]
    vectors: Mapping[int, Vectors]
    links: Sequence[Link]
    total: int


@dataclass(frozen=True, slots=True)
class Census:
    """Everything that may be seen in figures, and the memories that stand out."""

    crowd: Crowd
    bonds: Sequence[Bond] = ()
    tags: Sequence[tuple[str, int]] = ()
    latest: Sequence[Memory] = ()
    most_used: Sequence[Memory] = ()
    most_important: Sequence[Memory] = ()
    spread: Sequence[Memory] = ()
    """All, or of each time the most important."""

    @property
    def total(self) -> int:
        return len(self.crowd.numbers)


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

    async def counted(
        self,
        actor: Actor,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        ties: bool = False,
        lists: bool = False,
        most: int = 0,
    ) -> Census:
        """All that the actor may see, however many, in figures; on demand with ties, lists, and so many memories."""
        now = self._clock.now()

        def work(tx: Reading) -> Census:
            among = replace(readable(tx, actor, now), since=since, until=until)
            census = Census(tx.crowd(among))
            if ties:
                census = replace(census, bonds=tx.bonds(census.crowd))
            if most:
                census = replace(census, spread=tx.memories(_spread(census.crowd, most), among))
            return _listed(tx, among, census) if lists else census

        return await self._store.read(work)

    async def around(self, actor: Actor, reference: Reference, *, depth: int, most: int) -> View:
        """A memory and what it brings to mind."""
        start = await self._memories.get(actor, reference)
        evoked = await self._links.related(actor, reference, depth=depth, limit=most)
        memories = [start, *(one.memory for one in evoked.related)]
        return await self._store.read(lambda tx: self._view(tx, memories, len(memories)))

    def _view(self, tx: Reading, memories: Sequence[Memory], total: int) -> View:
        numbers = [memory.number for memory in memories]
        vectors = tx.whole_vectors(numbers, self._embedding.fingerprint)
        return View(memories, vectors, tx.links.among(numbers, MOST_TIES), total)


def _listed(tx: Reading, among: Filter, census: Census) -> Census:
    import numpy as np

    crowd = census.crowd
    used = np.flatnonzero(crowd.uses)
    by_use = used[np.lexsort((crowd.numbers[used], crowd.created[used], -crowd.uses[used]))]
    by_weight = np.lexsort((crowd.numbers, crowd.created, -crowd.uses, -crowd.importance))
    by_time = np.lexsort((-crowd.numbers, -crowd.created))
    used_most, heaviest, latest = (
        tx.memories(crowd.numbers[order[:LISTED]].tolist(), among) for order in (by_use, by_weight, by_time)
    )
    tags = tx.tags(crowd, MOST_TAGS)
    return replace(census, tags=tags, latest=latest, most_used=used_most, most_important=heaviest)


def _spread(crowd: Crowd, most: int) -> Sequence[int]:
    """All where there are not more, else the most important of each of many equal parts of the time they span."""
    import numpy as np

    if len(crowd.numbers) <= most:
        return crowd.numbers.tolist()  # type: ignore[no-any-return]
    first, span = int(crowd.created.min()), int(np.ptp(crowd.created)) + 1
    turns = min(_TURNS, most)
    turn = (crowd.created - first) // (span // turns + 1)
    order = np.lexsort((crowd.numbers, -crowd.importance, turn))
    starts = np.searchsorted(turn[order], np.arange(turns))
    rank = np.arange(len(order)) - starts[turn[order]]
    return crowd.numbers[order[rank < most // turns]].tolist()  # type: ignore[no-any-return]
