"""A copy of the derived index on disk, stamped with the event it is true for, so that opening replays only the tail."""

from __future__ import annotations

import os
import secrets
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.storage.vectors.index import PREFIXES, Index

_FORM = 3
"""Raised whenever the arrays change their meaning: older copies are then not read."""
_ABANDONED_AFTER = 3600.0
"""Seconds; writing a copy takes less than one."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which store, which embedder, which event. The event's mark tells a restored store from the one it was."""

    store: str
    fingerprint: str
    event: int
    mark: str

    @property
    def text(self) -> str:
        return "\n".join((str(_FORM), self.store, self.fingerprint, str(self.event), self.mark))


@dataclass(frozen=True, slots=True)
class Copy:
    """What was copied: the index, and the arrays that its owner had put beside it."""

    stamp: Stamp
    index: Index
    beside: Mapping[str, NDArray[Any]]


def save(arrays: Mapping[str, NDArray[Any]], stamp: Stamp, path: Path) -> None:
    """Write the copy beside the old one, then put it in its place."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    stamped: dict[str, Any] = {**arrays, "stamp": np.frombuffer(stamp.text.encode(), np.uint8)}
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            np.savez(file, **stamped)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    _clear_away(path)


def _clear_away(path: Path) -> None:
    """Remove what processes that were killed while writing have left; one that still writes is younger."""
    latest = path.stat().st_mtime
    for unfinished in path.parent.glob(f".{path.name}.*"):
        with suppress(FileNotFoundError):
            if unfinished.stat().st_mtime < latest - _ABANDONED_AFTER:
                unfinished.unlink()


def copies(folder: Path) -> list[Path]:
    """The copies in a folder, and what was to become one."""
    return [*folder.glob("index-*.npz"), *folder.glob(".index-*.npz.*")]


def load(path: Path, store: str, fingerprint: str, dimensions: int) -> Copy | None:
    """The copy, if there is one for this store and embedder and it is whole. It is derived: any doubt discards it."""
    with (
        suppress(OSError, ValueError, KeyError, EOFError, RuntimeError, struct.error, zlib.error, zipfile.BadZipFile),
        path.open("rb") as raw,  # opened here, because numpy leaves a damaged file open
        np.load(raw, allow_pickle=False) as file,
    ):
        form, of_store, of_embedder, event, mark = file["stamp"].tobytes().decode().split("\n")
        stamp = Stamp(of_store, of_embedder, int(event), mark)
        if (form, of_store, of_embedder) == (str(_FORM), store, fingerprint):
            arrays = {name: file[name] for name in file.files if name != "stamp"}
            index = Index.from_arrays(dimensions, stamp.event, arrays)
            return Copy(stamp, index, {name: array for name, array in arrays.items() if not name.startswith(PREFIXES)})
    return None
