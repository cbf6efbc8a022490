"""Removing what nobody needs any more: memories and sessions that have ended, ties that have faded."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.engine.collections import Collections
from commonplace.engine.links import IDLE, LEAST_KEPT, Links
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Store


@dataclass(frozen=True, slots=True)
class Waste:
    """What could go, counted."""

    expired_memories: int
    ended_sessions: int
    faded_associations: int


class Cleaning:
    """What happens by itself sooner or later, on request at once."""

    def __init__(self, store: Store, memories: Memories, collections: Collections, links: Links, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._collections = collections
        self._links = links
        self._clock = clock

    async def waste(self) -> Waste:
        now = self._clock.now()
        counted = await self._store.read(lambda tx: tx.waste(now, LEAST_KEPT, now - IDLE))
        return Waste(*counted)

    async def clean(self) -> Waste:
        """Remove it; what there was."""
        found = await self.waste()
        await self._memories.sweep()
        while await self._collections.sweep():
            continue
        await self._links.forget_faded()
        return found
