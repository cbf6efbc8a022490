"""A model in a folder of this machine: which one it is, and what its files say about it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from commonplace.domain.errors import EmbeddingFailed

_ONNX = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")
_SAMPLES = 16
_SAMPLE = 4096
_POOLINGS = {
    "cls": "CLS",
    "pooling_mode_cls_token": "CLS",
    "mean": "MEAN",
    "pooling_mode_mean_tokens": "MEAN",
    "lasttoken": "LAST_TOKEN",
    "pooling_mode_lasttoken": "LAST_TOKEN",
}


def folder_of(model: str) -> Path | None:
    """The folder that a model's name means; None when it is the name of a published model."""
    try:
        path = Path(model).expanduser()
        if path.is_dir():
            return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    if path.is_absolute() or model.startswith((".", "~")):
        raise EmbeddingFailed(model, "there is no such folder")
    return None


def mark(folder: Path) -> str:
    """Another for another model, the same wherever the folder lies.

    Samples of the files, not all of them: models are gigabytes, and those of other weights differ everywhere.
    """
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if file.suffix != ".md" and file.is_file() and not any(part.startswith(".") for part in name.parts):
            digest.update(f"{name.as_posix()}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            _sample(file, digest)
    return digest.hexdigest()


def onnx_file(folder: Path) -> str:
    """The model in ONNX form, as a path in the folder."""
    found = [name for name in _ONNX if (folder / name).is_file()]
    if not found:
        raise EmbeddingFailed(str(folder), f"the folder has none of {', '.join(_ONNX)}")
    return found[0]


def pooling(folder: Path) -> str:
    """How the vectors of a text's words become one: as sentence-transformers writes it down, else their mean."""
    file = folder / "1_Pooling" / "config.json"
    if not file.is_file():
        return "MEAN"
    try:
        entries = dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise EmbeddingFailed(str(folder), f"{file.name} of 1_Pooling cannot be read: {error}") from error
    chosen = entries.get("pooling_mode") or [name for name in entries if _is_mode(name) and entries[name] is True]
    modes = [chosen] if isinstance(chosen, str) else list(chosen)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise EmbeddingFailed(str(folder), f"its pooling ({', '.join(map(str, modes)) or 'none'}) is not supported")
    return _POOLINGS[modes[0]]


def _is_mode(name: str) -> bool:
    return name.startswith("pooling_mode_")


def _sample(file: Path, digest: hashlib.blake2b) -> None:
    size = file.stat().st_size
    with file.open("rb") as opened:
        for at in range(0, size, max(size // _SAMPLES, 1)):
            opened.seek(at)
            digest.update(opened.read(_SAMPLE))
