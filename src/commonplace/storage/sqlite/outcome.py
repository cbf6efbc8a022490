"""Where a loop awaits what a thread does for it.

A future of the standard pool, chained to one of the loop, keeps so many books (a condition, its callbacks) that handing
a read over and back would take as long as a short read itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any


class Outcome:
    """Made in the loop, awaited there, settled from the thread."""

    __slots__ = ("_future", "_loop")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()

    def __await__(self) -> Generator[Any, None, Any]:
        return self._future.__await__()

    @property
    def wanted(self) -> bool:
        """Whether anyone still waits for it."""
        return not self._future.cancelled()

    def give(self, value: Any) -> None:
        self._settle(self._future.set_result, value)

    def refuse(self, error: BaseException) -> None:
        self._settle(self._future.set_exception, error)

    def _settle(self, settle: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            self._loop.call_soon_threadsafe(self._settled, settle, value)

    def _settled(self, settle: Callable[[Any], None], value: Any) -> None:
        if not self._future.done():  # it may have been cancelled meanwhile
            settle(value)
