"""What happens by itself: ended memories go, missing vectors come, uses are counted, copies and backups are made."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from commonplace.domain.errors import CommonplaceError, EmbeddingFailed, TextRefused
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.memory import Author, Memory
from commonplace.engine.access import LOCAL
from commonplace.engine.backups import Backups
from commonplace.engine.embedding import Embedding
from commonplace.engine.leases import held
from commonplace.engine.memories import Memories
from commonplace.engine.recall import Recall
from commonplace.ports import Clock, Prints, Reading, Statistics, Store, Transaction

logger = logging.getLogger(__name__)

PAUSE = 5.0
_BATCH = 16
_LEASE = timedelta(seconds=10)


class Upkeep:
    """The background of a serving process."""

    def __init__(
        self,
        store: Store,
        embedding: Embedding,
        memories: Memories,
        recall: Recall,
        clock: Clock,
        backups: Backups,
        chores: Sequence[Callable[[], Awaitable[object]]] = (),
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._memories = memories
        self._recall = recall
        self._clock = clock
        self._backups = backups
        self._chores = chores
        self._told: set[str] = set()
        """What has failed in this round: where the disk is full, everything does."""
        self._adopted_in: tuple[str | None] | None = None
        """In which history of the store its embedder was chosen by this process."""

    async def warm(self) -> None:
        """Load the model and the index before someone waits for them."""
        await asyncio.gather(self._embedding.warm(), self._store.read(lambda tx: tx.facts(())))
        await self._recall.rehearse()

    async def run(self) -> None:
        """Until cancelled: do what is due, rest, again."""
        await self._safely(self.warm)
        gc.freeze()  # what is loaded by now stays: the collector need not go through it again and again
        # Beside each other: a long text is embedded for minutes, and what was deleted must not wait for it.
        async with asyncio.TaskGroup() as both:
            both.create_task(self._again(self.tidy))
            both.create_task(self._again(self._embed_waiting))

    async def _again(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._safely(work)
            await asyncio.sleep(PAUSE)

    async def _embed_waiting(self) -> None:
        if self._store.writable:
            await self.embed_missing()

    async def _safely(self, work: Callable[[], Awaitable[object]]) -> None:
        """A failure here is logged and tried again later: neither callers nor what is due next must suffer for it."""
        try:
            await work()
        except CommonplaceError as error:
            if error.message not in self._told:
                logger.warning("upkeep: %s", error)
            self._told.add(error.message)
        except Exception:
            logger.exception("upkeep failed")

    async def once(self) -> None:
        """One round of everything."""
        await self._embed_waiting()
        await self.tidy()

    async def tidy(self) -> None:
        """One round of what takes no time."""
        self._told.clear()
        await self._safely(self._recall.flush_uses)
        if self._store.writable:
            for chore in (self._memories.sweep, *self._chores, self._backups.automatic):
                await self._safely(chore)
        await self._safely(self._store.settle)

    async def begin(self) -> None:
        """What should be known at the first call; should it fail, calls will tell."""
        await self._safely(self._adopt_embedder)
        self._embedding.chosen.set()

    async def _adopt_embedder(self) -> None:
        """Whoever starts last decides which embedder the store has; what that one has not seen waits for it.

        A store that was put back from a backup is a new start, and a text that was refused is asked for once more.
        """
        chosen = self._embedding.fingerprint
        by, history = await self._store.read(lambda tx: (tx.embedded().by, tx.meta("history")))
        if self._adopted_in != (history,) and self._store.writable:
            if by == chosen:
                await self._forgive_refused()
            else:
                reason, now = f"the embedder is now {self._embedding.name}", self._clock.now()
                await self._store.write(lambda tx: tx.choose_embedder(chosen, reason, now))
            by = chosen
        self._adopted_in = (history,)
        self._embedding.give_way("" if by in (None, chosen) else by)

    async def forgive(self) -> None:
        """Ask an embedder that has failed, or refused a text, again at the next occasion."""
        self._embedding.forgive()
        await self._forgive_refused()

    async def _forgive_refused(self) -> None:
        if await self.refused(1):
            await self._store.write(lambda tx: tx.forgive_refused())

    async def refused(self, limit: int) -> Sequence[Memory]:
        """Those whose text the embedder refuses, whoever asks."""
        return await self._store.read(lambda tx: tx.unembedded(limit, refused=True))

    async def embed_missing(self) -> int:
        """Embed what the chosen embedder has not seen, one process at a time; how many were done.

        A process whose embedder is not the chosen one leaves that to others: two would undo each other's work for ever.
        """
        await self._adopt_embedder()
        if not await self._store.read(self._waiting):
            return 0
        async with held(self._store, self._clock, "embedding", _LEASE) as alone:
            return await self._embed_all() if alone else 0

    async def _embed_all(self) -> int:
        done = 0
        try:
            while waiting := await self._store.read(self._waiting):
                for memory in waiting:
                    done += await self._embed(memory)
        except EmbeddingFailed as failure:
            logger.warning("%s", failure)
        return done

    def _waiting(self, tx: Reading) -> Sequence[Memory]:
        """Nothing once another process has chosen an embedder of its own."""
        return tx.unembedded(_BATCH) if tx.embedded().by == self._embedding.fingerprint else ()

    async def _embed(self, memory: Memory) -> bool:
        """Whether it has its vectors now. Where only this text is refused, the others have theirs all the same."""
        try:
            prints = await self._embedding.whole(memory.content)
        except TextRefused as refusal:
            logger.warning("%s has no vectors: %s", memory.id, refusal)
            reason = refusal.message
            await self._store.write(lambda tx: self._refuse(tx, memory, reason))
            return False
        await self._store.write(lambda tx: self._keep(tx, memory, prints))
        return True

    def _refuse(self, tx: Transaction, memory: Memory, reason: str) -> None:
        if tx.version_of(memory.number) == memory.version:
            tx.refuse_vectors(memory.number, reason, self._clock.now())

    def _keep(self, tx: Transaction, memory: Memory, prints: Prints) -> None:
        now = self._clock.now()
        if tx.version_of(memory.number) != memory.version:
            return  # deleted or changed while we were at it
        tx.put_vectors(memory.number, prints, now)
        by = Author(memory.author.user, LOCAL, "", "upkeep")
        tx.record(Happening(EventKind.EMBEDDED, now, by, memory.id, memory.number, memory.home))

    async def statistics(self) -> Statistics:
        """Of the whole store, whoever asks."""
        await self._embedding.until_chosen()
        now = self._clock.now()
        return await self._store.read(lambda tx: tx.statistics(now))
