"""A copy of the derived index on disk, stamped with the event it is true for, so that opening replays only the tail."""

from __future__ import annotations

import os
import secrets
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from commonplace.storage.vectors.index import Index

_FORM = 1
"""Raised whenever the arrays change their meaning: older copies are then not read."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which store, which embedder, which event. The event's time tells a restored store from the one it was."""

    store: str
    fingerprint: str
    event: int
    event_at: int

    @property
    def text(self) -> str:
        return "\n".join((str(_FORM), self.store, self.fingerprint, str(self.event), str(self.event_at)))


def save(index: Index, stamp: Stamp, path: Path) -> None:
    """Write the copy beside the old one, then put it in its place."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        arrays: dict[str, Any] = index.arrays() | {"stamp": np.frombuffer(stamp.text.encode(), np.uint8)}
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            np.savez(file, **arrays)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path: Path, store: str, fingerprint: str, dimensions: int) -> tuple[Index, Stamp] | None:
    """The copy, if there is one for this store and embedder and it is whole. It is derived: any doubt discards it."""
    with (
        suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile),
        np.load(path, allow_pickle=False) as file,
    ):
        form, of_store, of_embedder, event, event_at = file["stamp"].tobytes().decode().split("\n")
        stamp = Stamp(of_store, of_embedder, int(event), int(event_at))
        if (form, of_store, of_embedder) == (str(_FORM), store, fingerprint):
            arrays = {name: file[name] for name in file.files if name != "stamp"}
            return Index.from_arrays(dimensions, stamp.event, arrays), stamp
    return None
