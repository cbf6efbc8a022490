"""Embedders of optional packages that run on this machine. Their models may have to be downloaded once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.domain.errors import EmbeddingFailed
from commonplace.domain.ranking import Scale

if TYPE_CHECKING:
    from commonplace.ports import Vectors


class SentenceTransformer:
    """Any model of the sentence-transformers package, by name or by path."""

    scale: Scale | None = None

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"sentence-transformers:{model}"
        self.fingerprint = f"sentence-transformers/{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = self._loaded.encode(_clean(texts), normalize_embeddings=True, show_progress_bar=False)
        return vectors

    @cached_property
    def _loaded(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer as Model
        except ImportError as error:
            raise EmbeddingFailed(self.name, _missing("sentence-transformers")) from error
        return Model(self.model)


class FastEmbed:
    """Any model of the fastembed package, by name."""

    scale: Scale | None = None

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"fastembed:{model}"
        self.fingerprint = f"fastembed/{model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        vectors = np.asarray(list(self._loaded.embed(_clean(texts))), np.float32)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit

    @cached_property
    def _loaded(self) -> Any:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise EmbeddingFailed(self.name, _missing("fastembed")) from error
        return TextEmbedding(self.model)


def _clean(texts: Sequence[str]) -> list[str]:
    return [text.encode("utf-8", "ignore").decode() for text in texts]


def _missing(package: str) -> str:
    return f"the package {package} is not installed: pip install 'commonplace[{package}]'"
