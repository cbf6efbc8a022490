"""The verbs on work logs: what agents tell each other, kept and found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.domain import limits, work_log
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.collection import Kind
from commonplace.domain.errors import NotFound
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Draft, Memory
from commonplace.domain.work_log import Address
from commonplace.engine.access import readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, checked
from commonplace.engine.recall import FAR, Hit, Question, Reach, Recall
from commonplace.engine.relations import referred
from commonplace.ports import Clock, Page, Reading, Store, Transaction

MOST_LISTED = 100
_CATEGORIES = (work_log.CATEGORY,)


@dataclass(frozen=True, slots=True)
class Found:
    """Some work logs; how many answer to the same names; and how far the search went."""

    memories: tuple[Memory, ...]
    total: int
    similarities: Sequence[float] = ()
    reach: Reach = FAR


class WorkLogs:
    """A work log is a memory whose metadata says who told whom. Its author is who wrote it, whatever it says."""

    def __init__(self, store: Store, memories: Memories, recall: Recall, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._recall = recall
        self._embedding = embedding
        self._clock = clock

    async def record(
        self,
        actor: Actor,
        content: str,
        address: Address,
        *,
        context: CollectionId | None = None,
        content_type: str = "text",
    ) -> Memory:
        """Keep what one agent told another, among the writer's own memories or in a shared context."""
        require(actor, Permission.WRITE)
        metadata = address.metadata
        kept = Draft(content, category=work_log.CATEGORY, metadata=metadata, content_type=content_type, home=context)
        draft = checked(kept)
        prints = await self._embedding.prints(draft.content)

        def work(tx: Transaction) -> Memory:
            if context is not None:
                self._check_context(tx, actor, context)
            named = () if Permission.READ not in actor.permissions else referred(tx, content, self._seen(tx, actor))
            return self._memories.remember_in(tx, actor, replace(draft, links=named), prints)

        return await self._store.write(work)

    async def search(self, actor: Actor, address: Address, query: str | None = None, limit: int = 20) -> Found:
        """Those that bear these names; with a query the closest first, else the newest, in a thread the oldest."""
        require(actor, Permission.READ)
        limits.within("limit", limit, 1, MOST_LISTED)
        names = tuple(address.metadata.items())
        if query is not None:
            return await self._close(actor, names, query, limit)
        page = await self._store.read(lambda tx: self._page(tx, actor, names, limit, first=address.thread is not None))
        return Found(page.memories, page.total)

    async def _close(self, actor: Actor, names: tuple[tuple[str, str], ...], query: str, limit: int) -> Found:
        recalled = await self._recall.recall(actor, Question(query, limit, categories=_CATEGORIES, metadata=names))
        total = await self._store.read(lambda tx: tx.count(self._among(tx, actor, names)))
        hits: tuple[Hit, ...] = recalled.hits
        memories = tuple(hit.memory for hit in hits)
        similarities = [hit.similarity for hit in hits]
        return Found(memories, max(total, len(hits)), similarities, recalled.reach)

    def _page(self, tx: Reading, actor: Actor, names: tuple[tuple[str, str], ...], limit: int, *, first: bool) -> Page:
        among = self._among(tx, actor, names)
        if not first:
            return tx.page(among, limit)
        total = tx.count(among)
        page = tx.page(among, min(limit, total), max(total - limit, 0))
        return replace(page, memories=page.memories[::-1])

    def _among(self, tx: Reading, actor: Actor, names: tuple[tuple[str, str], ...]) -> Filter:
        return replace(self._seen(tx, actor), categories=_CATEGORIES, metadata=names)

    def _seen(self, tx: Reading, actor: Actor) -> Filter:
        return readable(tx, actor, self._clock.now())

    def _check_context(self, tx: Reading, actor: Actor, context: CollectionId) -> None:
        found = tx.collections.get(context)
        seen = found is not None and found.number in self._seen(tx, actor).collections
        if found is None or not seen or found.kind != Kind.CONTEXT or found.is_over(self._clock.now()):
            raise NotFound(Kind.CONTEXT.value, context)
