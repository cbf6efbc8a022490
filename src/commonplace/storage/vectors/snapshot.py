"""A copy of the derived index on disk, stamped with the event it is true for, so that opening replays only the tail."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]

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


def save(arrays: Arrays, stamp: Stamp, path: Path) -> None:
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


def load(path: Path, store: str, fingerprint: str, made: Callable[[Stamp, Arrays], T]) -> T | None:
    """What is made of the copy, if there is one for this store and embedder and it is whole.

    It is derived, and a damaged one makes numpy raise nearly anything: whatever goes wrong discards it.
    """
    with (
        suppress(Exception),
        path.open("rb") as raw,  # opened here, because numpy leaves a damaged file open
        np.load(raw, allow_pickle=False) as file,
    ):
        form, of_store, of_embedder, event, mark = file["stamp"].tobytes().decode().split("\n")
        if (form, of_store, of_embedder) == (str(_FORM), store, fingerprint):
            arrays = {name: file[name] for name in file.files if name != "stamp"}
            return made(Stamp(of_store, of_embedder, int(event), mark), arrays)
    return None
