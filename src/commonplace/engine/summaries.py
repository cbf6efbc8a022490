"""Summaries on request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from commonplace.ports import Summariser

USUAL_CHARS = 300
_MOST_READ = 200_000


class Summaries:
    """Long texts made short, by whatever summariser is chosen."""

    def __init__(self, summariser: Summariser) -> None:
        self._summariser = summariser

    @property
    def name(self) -> str:
        return self._summariser.name

    async def of(self, texts: Iterable[str], most_chars: int = USUAL_CHARS) -> str:
        """What several texts say, in one; beside other work, because a model may take its time."""
        whole = "\n".join(texts)[:_MOST_READ]
        return await asyncio.to_thread(self._summariser.summarise, whole, most_chars) if whole else ""
