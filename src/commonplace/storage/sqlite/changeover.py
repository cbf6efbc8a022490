"""A change of keys that has begun: noted beside the store and among its backups until it has ended.

Each file has the former key or the new one, whole; but whoever was interrupted, and meets both, must be told why.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from commonplace.domain.errors import KeyNeeded, KeyUnneeded, RekeyUnfinished, StoreFailed

NAME = ".key-change"


def way_of(old: str, new: str) -> str:
    """What is done to the encryption."""
    if not old:
        return "on"
    return "over" if new else "off"


@contextmanager
def noted(folder: Path, place: Path, way: str) -> Iterator[None]:
    """The note outlives a process that is killed, and whatever else goes wrong."""
    for one in (folder, place):
        if one.is_dir():
            (one / NAME).write_text(f"{way}\n", encoding="ascii")
    yield
    for one in (place, folder):
        (one / NAME).unlink(missing_ok=True)


def interrupted(folder: Path) -> str:
    """Which way the keys were being changed; empty where all is done."""
    with suppress(OSError, ValueError):
        way = (folder / NAME).read_text(encoding="ascii").strip()
        return way if way in RekeyUnfinished.WAYS else ""
    return ""


def explained(path: Path, refusal: KeyNeeded | KeyUnneeded) -> StoreFailed:
    """A key that does not fit, where that is no slip of whoever gave it."""
    way = interrupted(path.parent)
    return RekeyUnfinished(str(path), refusal.reason, way) if way else refusal
