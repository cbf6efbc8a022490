"""What questions mean: their vectors, made by whoever gets there fastest, those of the last few kept."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from commonplace.domain.errors import EmbeddingFailed
from commonplace.engine.embedding import Embedding
from commonplace.language.parts import gist

if TYPE_CHECKING:
    from commonplace.ports import Vectors

_LATELY = 64
"""How many questions keep their vectors: one prompt asks the same up to four times, and people ask again."""


class Meaning(NamedTuple):
    """A question's vector, or why there is none."""

    vector: Vectors | None
    failure: str = ""


class Meanings:
    """Asked from the loop and from the threads that read."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._lately: dict[str, Vectors] = {}
        self._door = threading.Lock()
        self._promised = False
        """Whether a thread that reads has the embedder to itself, or is about to."""

    async def of(self, question: str) -> Meaning:
        text = gist(question)
        return self._remembered(text) or await self._embedded(text)

    @asynccontextmanager
    async def promised(self, question: str) -> AsyncIterator[Callable[[], Meaning]]:
        """For a thread that goes on with it: where the embedder is at hand, that thread asks it itself.

        To hand a question to a thread and its vector back to the loop, only to hand it on to another thread, takes
        four turns where two do; on busy cores each may be waited for longer than the embedding takes. One at a time
        does so: of a crowd, the others are embedded together, and the threads that read stay free for reading.
        """
        text = gist(question)
        known = self._remembered(text)
        if known is None and not self._promised and self._embedding.is_at_hand:
            self._promised = True
            try:
                yield lambda: self._embedded_here(text)
            finally:
                self._promised = False
        else:
            meaning = known or await self._embedded(text)
            yield lambda: meaning

    async def _embedded(self, text: str) -> Meaning:
        try:
            return self._kept(text, (await self._embedding.embed([text]))[0])
        except EmbeddingFailed as failure:
            return Meaning(None, failure.message)

    def _embedded_here(self, text: str) -> Meaning:
        try:
            return self._kept(text, self._embedding.embed_here(text))
        except EmbeddingFailed as failure:
            return Meaning(None, failure.message)

    def _remembered(self, text: str) -> Meaning | None:
        with self._door:
            vector = self._lately.get(text)
        return None if vector is None else self._kept(text, vector)

    def _kept(self, text: str, vector: Vectors) -> Meaning:
        with self._door:
            self._lately.pop(text, None)
            self._lately[text] = vector  # at the end, so that what was asked for longest ago stands first
            if len(self._lately) > _LATELY:
                del self._lately[next(iter(self._lately))]
        return Meaning(vector)
