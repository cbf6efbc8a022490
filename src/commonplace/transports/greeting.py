"""The instructions a client gets when it connects, written for who is calling, in both protocol eras."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from commonplace.dialects._dialect import Call
from commonplace.domain.errors import CommonplaceError

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
PATIENCE = 2.0
"""Seconds that a client waits for its greeting at most; then it gets what everyone gets."""
_HANDSHAKES = ("initialize", "server/discover")


class Greeting:
    """Stands in the way of handshakes and puts the caller's own instructions into the answers."""

    def __init__(self, words: Callable[[Call], Awaitable[str]], called: Callable[[Context], Awaitable[Call]]) -> None:
        self._words = words
        self._called = called

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in _HANDSHAKES or not isinstance(result, dict):
            return result
        fresh = {"ttlMs": 0, "cacheScope": "private"} if ctx.method == "server/discover" else {}
        words = await self._instructions(ctx)
        return {**result, **fresh, **({"instructions": words} if words else {})}

    async def _instructions(self, context: Context) -> str:
        """Empty where there is no time or no way to tell: nobody is kept from connecting for want of a greeting."""
        try:
            with anyio.move_on_after(PATIENCE):
                return await self._words(await self._called(context))
            logger.warning("the instructions were not ready in time")
        except CommonplaceError as error:
            logger.warning("the instructions could not be written: %s", error)
        except Exception:
            logger.exception("the instructions could not be written")
        return ""
