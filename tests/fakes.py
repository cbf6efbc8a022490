"""Stand-ins for what tests must control: the time and the model. Everything else in the tests is the real thing."""

import hashlib
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from commonplace.domain.errors import EmbeddingFailed, TextRefused
from commonplace.domain.ranking import Scale
from commonplace.language.terms import terms

if TYPE_CHECKING:
    from commonplace.ports import Vectors


class Clock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now += by


class Embedder:
    """Texts with the same words get the same vector. Fails on demand."""

    scale = Scale(unrelated=0.3, same=0.9)

    def __init__(self, name: str = "fake", dimensions: int = 64) -> None:
        self.name = name
        self.fingerprint = f"{name}/{dimensions}"
        self.dimensions = dimensions
        self.broken = ""
        self.unwanted: str | None = None
        """Texts with these words are refused."""
        self.asked = threading.Event()
        self.answers = threading.Event()
        """Cleared, whoever asks has to wait."""
        self.answers.set()
        self.batches: list[int] = []

    def embed(self, texts: Sequence[str]) -> "Vectors":
        self.asked.set()
        self.answers.wait()
        if self.broken:
            raise EmbeddingFailed(self.name, self.broken)
        self.batches.append(len(texts))
        if self.unwanted is not None and any(self.unwanted in text for text in texts):
            raise TextRefused(self.name, "unwanted")
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> "Vectors":
        vector = np.full(self.dimensions, 1e-3, np.float32)
        for term in terms(text)[:2000]:
            digest = hashlib.blake2b(term.encode("utf-8", "ignore"), digest_size=8).digest()
            vector[int.from_bytes(digest[:4]) % self.dimensions] += 1.0 if digest[4] % 2 else -1.0
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit
