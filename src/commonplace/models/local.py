"""Embedders of optional packages that run on this machine. Their models may have to be downloaded once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.domain.errors import EmbeddingFailed
from commonplace.domain.ranking import Scale
from commonplace.models import folder
from commonplace.models.loading import Loading

if TYPE_CHECKING:
    from commonplace.ports import Vectors


class SentenceTransformer:
    """Any model of the sentence-transformers package, by name or by folder."""

    scale: Scale | None = None

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"sentence-transformers:{model}"
        self._loading = Loading(self.name, self._load)

    @cached_property
    def fingerprint(self) -> str:
        return f"sentence-transformers/{_identity(self.model)}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return _unit(self._loading.model().encode(_clean(texts), show_progress_bar=False))

    def _load(self) -> Any:
        path = folder.folder_of(self.model)
        try:
            from sentence_transformers import SentenceTransformer as Model
        except ImportError as error:
            raise EmbeddingFailed(self.name, _missing("sentence-transformers")) from error
        return Model(str(path or self.model))


class FastEmbed:
    """Any model of the fastembed package by name, or a folder with a model in ONNX form."""

    scale: Scale | None = None

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"fastembed:{model}"
        self._loading = Loading(self.name, self._load)

    @cached_property
    def fingerprint(self) -> str:
        return f"fastembed/{_identity(self.model)}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return _unit(list(self._loading.model().embed(_clean(texts))))

    def _load(self) -> Any:
        path = folder.folder_of(self.model)
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise EmbeddingFailed(self.name, _missing("fastembed")) from error
        if path is None:
            return TextEmbedding(self.model)
        return TextEmbedding(_registered(path), specific_model_path=str(path))


def _registered(path: Path) -> str:
    """The name under which fastembed knows the model of a folder from now on."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = f"folder:{folder.mark(path)}"
    if not any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType(folder.pooling(path)),
            normalization=True,
            sources=ModelSource(hf=name),  # required, and not asked: the files are there
            dim=0,  # required too; the model itself knows
            model_file=folder.onnx_file(path),
        )
    return name


def _identity(model: str) -> str:
    """What the vectors depend on: a folder's content, not its place."""
    try:
        path = folder.folder_of(model)
        return f"folder:{folder.mark(path)}" if path else model
    except (EmbeddingFailed, OSError):
        return model  # told when it is loaded, so that the memories can be read meanwhile


def _clean(texts: Sequence[str]) -> list[str]:
    return [text.encode("utf-8", "ignore").decode() for text in texts]


def _unit(found: Any) -> Vectors:
    import numpy as np

    vectors = np.asarray(found, np.float32)
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _missing(package: str) -> str:
    return f"the package {package} is not installed: pip install 'commonplace[{package}]'"
