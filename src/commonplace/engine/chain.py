"""The verb on the chain: verify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.chain import Block, check
from commonplace.domain.errors import ChainBroken
from commonplace.ports import Reading, Store

STRETCH = 4000
"""Blocks checked in one go, between two reports of progress."""

Progress = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The whole chain, recomputed."""

    total: int
    broken: ChainBroken | None = None

    @property
    def valid(self) -> bool:
        return self.broken is None


async def silent(done: int, total: int) -> None:
    return None


class Chain:
    """What was written first, and whether it still is what it was."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def verify(self, actor: Actor, progress: Progress = silent) -> Verdict:
        """Recompute every hash; names the first bad block."""
        require(actor, Permission.READ)
        head = await self._store.read(lambda tx: tx.head())
        total = head.index + 1 if head else 0
        try:
            await self._check_all(total, progress)
        except ChainBroken as broken:
            return Verdict(total, broken)
        return Verdict(total)

    async def _check_all(self, total: int, progress: Progress) -> None:
        last: Block | None = None
        while True:
            reached = await self._store.read(_stretch_after(last))
            if reached is last:
                break
            last = reached
            await progress(min(last.index + 1, total) if last else 0, total)
        if await self._store.read(lambda tx: tx.unsealed()):
            raise ChainBroken(last.index + 1 if last else 0, "a memory has no block: blocks were removed")

    async def head(self, actor: Actor) -> Block | None:
        require(actor, Permission.READ)
        return await self._store.read(lambda tx: tx.head())

    async def block(self, actor: Actor, index: int) -> Block | None:
        require(actor, Permission.READ)
        return await self._store.read(lambda tx: tx.block(index))


def _stretch_after(last: Block | None) -> Callable[[Reading], Block | None]:
    return lambda tx: check(tx.witnesses(last.index if last else -1, STRETCH), last)
