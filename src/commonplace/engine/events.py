"""What happened, for those who want to know as it happens: from this process or any other on the same store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.errors import StoreFailed
from commonplace.domain.event import Event
from commonplace.ports import Clock, Reading, Store

logger = logging.getLogger(__name__)

PAUSE = 0.25
"""Between two looks: what another process wrote is noticed within this time."""
_BATCH = 500


class Events:
    """The numbered record of the store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def last(self) -> int:
        return await self._store.read(lambda tx: tx.last_event())

    async def after(self, number: int) -> list[Event]:
        """All that followed, in order, for the house itself. What callers see goes through `visible`."""
        return await self._store.read(lambda tx: list(tx.events(number, _BATCH)))

    async def visible(self, actor: Actor, number: int) -> list[Event]:
        """All that followed in collections the actor may read."""
        require(actor, Permission.READ)

        def work(tx: Reading) -> list[Event]:
            within = reach(actor, Right.READ, tx.holdings(actor.user), self._clock.now())
            return [event for event in tx.events(number, _BATCH) if event.collection in within]

        return await self._store.read(work)

    async def may_see(self, actor: Actor, event: Event) -> bool:
        """Whether the event happened where the actor may read."""
        holdings = await self._store.read(lambda tx: tx.holdings(actor.user))
        return event.collection in reach(actor, Right.READ, holdings, self._clock.now())

    async def follow(self, after: int) -> AsyncIterator[Event]:
        """Every event from now on, without end. A store that cannot be read for a while is asked again."""
        while True:
            try:
                events = await self.after(after)
            except StoreFailed as failure:
                logger.warning("events: %s", failure)
                events = []
            for event in events:
                after = event.number
                yield event
            if not events:
                after = min(after, await self._last_known(after))
                await asyncio.sleep(PAUSE)

    async def _last_known(self, otherwise: int) -> int:
        """After a restore there may be fewer events than were seen: then those that come count from there."""
        try:
            return await self.last()
        except StoreFailed:
            return otherwise
