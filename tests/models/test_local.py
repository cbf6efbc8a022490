"""The adapters against stand-ins that take what sentence-transformers 5 and fastembed 0.9 take."""

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from commonplace.domain.errors import EmbeddingFailed
from commonplace.models.local import FastEmbed, SentenceTransformer


class Transformer:
    """Stands for sentence_transformers.SentenceTransformer."""

    def __init__(self, model_name_or_path: str) -> None:
        self.opened = model_name_or_path

    def encode(self, sentences: list[str], show_progress_bar: bool) -> Any:
        assert show_progress_bar is False, "stdout belongs to the protocol, and nobody watches"
        return np.array([[len(text.encode()) + 1.0, 0.0, 2.0] for text in sentences], np.float64)


class Pooling(Enum):
    CLS = "CLS"
    MEAN = "MEAN"


class Text:
    """Stands for fastembed.TextEmbedding."""

    known: list[dict[str, Any]]

    def __init__(self, model_name: str, specific_model_path: str | None = None) -> None:
        if model_name not in [entry["model"] for entry in self.known]:
            raise ValueError(f"Model {model_name} is not supported in TextEmbedding.")
        self.opened = specific_model_path

    @classmethod
    def list_supported_models(cls) -> list[dict[str, Any]]:
        return cls.known

    @classmethod
    def add_custom_model(cls, **entry: Any) -> None:
        assert entry.keys() == {"model", "pooling", "normalization", "sources", "dim", "model_file"}
        assert entry["model"] not in [other["model"] for other in cls.known], "already registered"
        cls.known.append(entry)

    def embed(self, documents: list[str]) -> Iterator[Any]:
        return (np.array([0.0, len(text.encode()) + 1.0], np.float32) for text in documents)


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    text = type("TextEmbedding", (Text,), {"known": [{"model": "named"}]})
    description = SimpleNamespace(ModelSource=lambda hf: hf, PoolingType=Pooling)
    for name, holds in {
        "sentence_transformers": SimpleNamespace(SentenceTransformer=Transformer),
        "fastembed": SimpleNamespace(TextEmbedding=text),
        "fastembed.common": SimpleNamespace(),
        "fastembed.common.model_description": description,
    }.items():
        module = ModuleType(name)
        vars(module).update(vars(holds))
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "cls"}')
    (folder / "model.onnx").write_bytes(b"weights")
    return folder


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("kind", [SentenceTransformer, FastEmbed])
def test_vectors_are_of_unit_length_whatever_the_text(kind: type[SentenceTransformer | FastEmbed]) -> None:
    vectors = kind("named").embed(["one", "", "\ud800", "\x00"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 1])


@pytest.mark.usefixtures("packages")
def test_a_folder_is_registered_once_with_what_its_files_say(folder: Path) -> None:
    for _ in range(2):
        FastEmbed(str(folder)).embed(["one"])
    _, entry = sys.modules["fastembed"].TextEmbedding.known
    assert (entry["model_file"], entry["pooling"]) == ("model.onnx", Pooling.CLS)


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("kind", [SentenceTransformer, FastEmbed])
def test_a_folder_that_is_not_there_is_told_when_it_is_used(
    kind: type[SentenceTransformer | FastEmbed], folder: Path
) -> None:
    missing = kind(str(folder / "missing"))
    assert "missing" in missing.fingerprint
    with pytest.raises(EmbeddingFailed, match="no such folder"):
        missing.embed(["one"])


@pytest.mark.parametrize("kind", [SentenceTransformer, FastEmbed])
def test_the_fingerprint_of_a_folder_is_its_content(kind: type[SentenceTransformer | FastEmbed], folder: Path) -> None:
    before = kind(str(folder)).fingerprint
    moved = folder.rename(folder.with_name("moved"))
    assert kind(str(moved)).fingerprint == before != kind("named").fingerprint
    (moved / "model.onnx").write_bytes(b"others!")
    assert kind(str(moved)).fingerprint != before
