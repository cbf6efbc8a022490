"""Work that one process at a time may do, and that another may take up soon after that one was killed."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from commonplace.domain.errors import StoreFailed
from commonplace.ports import Clock, Store

Hold = Callable[[timedelta], Awaitable[bool]]


@asynccontextmanager
async def held(store: Store, clock: Clock, name: str, term: timedelta) -> AsyncIterator[bool]:
    """Whether the work is ours alone: then it stays so until the end of the block, however long that takes."""
    hold = _holder(store, clock, name)
    if not await hold(term):
        yield False
        return
    renewing = asyncio.create_task(_renewed(hold, term))
    try:
        yield True
    finally:
        renewing.cancel()
        with suppress(StoreFailed):  # it ends by itself, and what was done within is done
            await asyncio.shield(hold(timedelta(0)))


def _holder(store: Store, clock: Clock, name: str) -> Hold:
    holder = secrets.token_hex(8)  # of this block: another one in the same process is someone else

    async def hold(term: timedelta) -> bool:
        now = clock.now()
        return await store.write(lambda tx: tx.lease(name, holder, now, now + term))

    return hold


async def _renewed(hold: Hold, term: timedelta) -> None:
    while True:
        await asyncio.sleep(term.total_seconds() / 3)
        with suppress(StoreFailed):  # there are two more tries before it ends
            await hold(term)
