"""Embedders behind an OpenAI-compatible endpoint: OpenAI itself, Ollama, vLLM, LM Studio and their like."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.domain.errors import EmbeddingFailed, TextRefused
from commonplace.domain.ranking import Scale

if TYPE_CHECKING:
    from commonplace.ports import Vectors

MOST_DIMENSIONS = 2048
_TRIES = 3
_PATIENCE = 0.5
"""Seconds before the second try; doubled before each further one."""
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_REFUSED = frozenset({400, 413, 422})
"""What is answered to a text: other refusals are of the caller, the model or the address."""


@dataclass(frozen=True, kw_only=True)
class EndpointEmbedder:
    """Asks `POST {url}/embeddings` in batches, more than once if need be, each within a time limit for all tries."""

    label: str
    url: str
    model: str
    key: str = ""
    dimensions: int = 0
    timeout: float = 20.0
    batch: int = 64
    scale: Scale | None = None

    @property
    def name(self) -> str:
        return f"{self.label}:{self.model}"

    @property
    def fingerprint(self) -> str:
        return f"{self.label}/{self.model}/{self.dimensions or 'native'}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        clean = [text.encode("utf-8", "ignore").decode() or " " for text in texts]
        found = [row for at in range(0, len(clean), self.batch) for row in self._asked(clean[at : at + self.batch])]
        vectors = np.asarray(found, np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EmbeddingFailed(self.name, "the endpoint's answer does not hold one vector for each text")
        if not np.isfinite(vectors).all():
            raise EmbeddingFailed(self.name, "the endpoint's vectors hold numbers that are none (NaN or infinite)")
        if vectors.shape[1] > MOST_DIMENSIONS:
            raise EmbeddingFailed(self.name, f"its vectors have {vectors.shape[1]} numbers; at most {MOST_DIMENSIONS}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
        return unit

    @cached_property
    def _client(self) -> Any:
        import httpx2

        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return httpx2.Client(headers=headers)

    def _asked(self, texts: Sequence[str]) -> list[list[float]]:
        import httpx2

        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions:
            body["dimensions"] = self.dimensions
        reason, deadline = "", time.monotonic() + self.timeout
        for attempt in range(_TRIES):
            rest = _PATIENCE * 2 ** (attempt - 1) if attempt else 0.0
            left = deadline - time.monotonic() - rest
            if attempt and left <= 0:  # somebody waits, who was told how long it takes at most
                break
            time.sleep(rest)
            try:
                answer = self._client.post(f"{self.url.rstrip('/')}/embeddings", json=body, timeout=left)
            except httpx2.HTTPError as error:
                reason = f"{type(error).__name__} at {self.url}"
                continue
            if answer.status_code == 200:
                return self._read(answer)
            reason = f"{self.url} answered {answer.status_code}"
            if answer.status_code in _REFUSED:
                raise TextRefused(self.name, reason)
            if answer.status_code not in _RETRIED:
                break
        raise EmbeddingFailed(self.name, reason)

    def _read(self, answer: Any) -> list[list[float]]:
        try:
            rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
            return [[float(value) for value in row["embedding"]] for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingFailed(self.name, f"{self.url} gave an answer that is no list of embeddings") from error
