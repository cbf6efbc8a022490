"""Turning texts into vectors for everyone who waits, in batches, and keeping count of what went wrong."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commonplace.domain.errors import EmbeddingFailed, TextRefused
from commonplace.domain.ranking import Scale
from commonplace.language.parts import parts
from commonplace.language.samples import ALIKE
from commonplace.language.terms import terms
from commonplace.ports import UNFINISHED, Embedder, Prints

if TYPE_CHECKING:
    from commonplace.ports import Vectors

PARTS_AT_ONCE = 24
"""A longer text is stored with these parts embedded; the others follow in the background."""
_LARGEST_BATCH = 64
_PARTING = 5.0
"""Seconds that closing waits for a call that is under way."""
_USUAL = Scale(unrelated=0.4, same=0.85)
_LONG = 20_000
"""Characters from which on cutting a text into terms would hold up the other callers."""
_TO_CHOOSE = 2.0
_SWIFT = 0.02
"""Seconds a text up to which an embedder is fast; the default one takes a few thousandths."""
_PLAIN = "warm"
_REST_AFTER_FAILURE = 15.0
"""Seconds in which a failed embedder is not asked again, so that storing does not wait for it every time."""


@dataclass(frozen=True, slots=True)
class _Request:
    """Texts, and where their vectors are awaited."""

    texts: Sequence[str]
    outcome: asyncio.Future[Vectors]

    def settle(self, settle: Callable[[Any], None], value: Vectors | EmbeddingFailed) -> None:
        """From another thread: a future of its own there, chained to this one, would cost as much as a short text."""
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            self.outcome.get_loop().call_soon_threadsafe(_settle, self.outcome, settle, value)


def _settle(outcome: asyncio.Future[Vectors], settle: Callable[[Any], None], value: Vectors | EmbeddingFailed) -> None:
    if not outcome.done():  # it may have been cancelled meanwhile
        settle(value)


class Embedding:
    """One thread asks the embedder; many callers wait for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failure: EmbeddingFailed | None = None
        self._failed_at = 0.0
        self._replaced: EmbeddingFailed | None = None
        self._length = 0
        self._turn = threading.Lock()
        """Held by the one thread that asks the embedder."""
        self._took = float("inf")
        self._scale = embedder.scale
        self.chosen = asyncio.Event()
        """Cleared by a process that serves, until it knows whose vectors its store goes by."""
        self.chosen.set()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def scale(self) -> Scale:
        """How the embedder's cosines read."""
        return self._scale or _USUAL

    @property
    def failure(self) -> str:
        """Why the last attempt failed; empty when it did not."""
        failure = self._replaced or self._failure
        return failure.message if failure else ""

    @property
    def waiting(self) -> int:
        """Requests that no batch has taken up yet."""
        return self._requests.qsize()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, or EmbeddingFailed."""
        if failure := self._replaced or self._rested_for():
            raise EmbeddingFailed(self.name, failure.reason)
        self._start()
        request = _Request(texts, asyncio.get_running_loop().create_future())
        self._requests.put(request)
        return await request.outcome

    @property
    def is_at_hand(self) -> bool:
        """Whether a thread that needs one short text embedded had better do that itself than hand it over and wait.

        So it is where nobody else is being served and the embedder was fast the last time: for a slow one, who reads
        would wait.
        """
        return self._took < _SWIFT and not self._turn.locked() and self._requests.empty()

    def embed_here(self, text: str) -> Vectors:
        """The vector of a text, made by the thread that asks, or EmbeddingFailed."""
        if self._replaced:
            raise EmbeddingFailed(self.name, self._replaced.reason)
        vector: Vectors = self._asked([text])[0]
        return vector

    async def prints(self, text: str) -> Prints:
        """Everything derived from a text. Without vectors, and saying why, where the embedder fails."""
        pieces = parts(text)
        words = terms(text) if len(text) < _LONG else await asyncio.to_thread(terms, text)
        try:
            vectors = await self.embed(pieces[:PARTS_AT_ONCE])
        except EmbeddingFailed as failure:
            refused = isinstance(failure, TextRefused)
            return Prints(words, None, self.fingerprint, unembedded=failure.message, refused=refused)
        return Prints(words, vectors, self.fingerprint, unembedded=UNFINISHED if len(pieces) > PARTS_AT_ONCE else "")

    async def whole(self, text: str) -> Prints:
        """As prints, but with all parts of a text however long it is; raises EmbeddingFailed."""
        import numpy as np

        pieces = parts(text)
        batches = [pieces[at : at + PARTS_AT_ONCE] for at in range(0, len(pieces), PARTS_AT_ONCE)]
        vectors = np.concatenate([await self.embed(batch) for batch in batches])
        return Prints((), vectors, self.fingerprint)

    async def warm(self) -> None:
        """Load the model before someone waits for it."""
        with suppress(EmbeddingFailed):  # kept in `failure`, where status answers show it
            await self.embed([_PLAIN])

    async def until_chosen(self) -> None:
        """For who tells how things are. Not for long: that the store cannot be read is to be told too."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_TO_CHOOSE):
                await self.chosen.wait()

    def give_way(self, other: str) -> None:
        """Only the vectors of another embedder count, which another process has chosen; empty: not any more."""
        reason = f"another process has chosen {other} for this store; start this one with the same embedder"
        self._replaced = EmbeddingFailed(self.name, reason) if other else None

    def _rested_for(self) -> EmbeddingFailed | None:
        """The failure after which it is not asked again yet."""
        return self._failure if time.monotonic() - self._failed_at < _REST_AFTER_FAILURE else None

    def forgive(self) -> None:
        """Ask a failed embedder again at the next occasion, without waiting."""
        self._failed_at = -_REST_AFTER_FAILURE

    def close(self) -> None:
        if self._thread:
            self._requests.put(None)
            self._thread.join(_PARTING)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="commonplace-embedder", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (first := self._requests.get()) is not None:
            batch = [first]
            while sum(len(r.texts) for r in batch) < _LARGEST_BATCH and not self._requests.empty():
                following = self._requests.get()
                if following is None:
                    self._requests.put(None)
                    break
                batch.append(following)
            self._answer([request for request in batch if not request.outcome.cancelled()])

    def _answer(self, batch: Sequence[_Request]) -> None:
        try:
            vectors = self._asked([text for request in batch for text in request.texts])
        except EmbeddingFailed as failure:
            self._refuse(batch, failure)
            return
        start = 0
        for request in batch:
            request.settle(request.outcome.set_result, vectors[start : start + len(request.texts)])
            start += len(request.texts)

    def _asked(self, texts: Sequence[str]) -> Vectors:
        """What the embedder says, or EmbeddingFailed; whoever else wants to ask it waits meanwhile."""
        with self._turn:
            if failure := self._rested_for():  # it came while these were waiting, and they need not wait as long again
                raise EmbeddingFailed(self.name, failure.reason)
            began = time.monotonic()
            try:
                vectors = self._embedded(texts)
                self._check_length(vectors.shape[1])
                with _of_any_text():
                    self._scale = self._scale or measured(self._embedder)
            except TextRefused:
                self._failure = None
                raise
            except Exception as error:
                raise self._failed(error) from error
            self._failure, self._took = None, (time.monotonic() - began) / max(len(texts), 1)
            return vectors

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """TextRefused where it is one of these that it does not take, and not every text."""
        try:
            return self._embedder.embed(texts)
        except TextRefused:
            with _of_any_text():
                self._embedder.embed([_PLAIN])
            raise

    def _failed(self, error: Exception) -> EmbeddingFailed:
        """As everyone is told of it, and kept for those who come next."""
        reason = error.reason if isinstance(error, EmbeddingFailed) else f"{type(error).__name__}: {error}"
        self._failure, self._failed_at = EmbeddingFailed(self.name, reason), time.monotonic()
        return self._failure

    def _refuse(self, batch: Sequence[_Request], failure: EmbeddingFailed) -> None:
        """Where a text is refused, those that came beside it are asked for without it."""
        for request in batch:
            if isinstance(failure, TextRefused) and len(batch) > 1:
                self._answer([request])
            else:
                request.settle(request.outcome.set_exception, type(failure)(self.name, failure.reason))

    def _check_length(self, length: int) -> None:
        """Vectors of two lengths cannot be compared."""
        if self._length not in (0, length):
            raise EmbeddingFailed(self.name, f"its vectors have {length} numbers now; they had {self._length} before")
        self._length = length


@contextmanager
def _of_any_text() -> Iterator[None]:
    """What refuses the plainest texts takes none: that is a failure."""
    try:
        yield
    except TextRefused as refusal:
        raise EmbeddingFailed(refusal.embedder, refusal.reason) from refusal


def measured(embedder: Embedder) -> Scale:
    """Read an embedder's cosines by sentences known to say the same and sentences known not to."""
    import numpy as np

    ones = embedder.embed([one for one, _ in ALIKE])
    others = embedder.embed([other for _, other in ALIKE])
    cosines = ones @ others.T
    same = float(np.median(np.diag(cosines)))
    unrelated = float(np.quantile(cosines[~np.eye(len(ALIKE), dtype=bool)], 0.99))
    # Should a model not tell them apart at all, the scale must still be one.
    same = min(max(same, 0.1), 0.99)
    return Scale(unrelated=min(max(unrelated, 0.01), same - 0.05), same=same)
