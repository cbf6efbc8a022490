"""A change of keys that has begun: noted beside the store and among its backups until it has ended.

Each file has the former key or the new one, whole; but whoever was interrupted, and meets both, must be told why.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from commonplace.domain.errors import KeyNeeded, KeyUnneeded, RekeyUnfinished, StoreFailed

NAME = ".key-change"
_SALT = 16
_ROUNDS = 100_000
_MARK = re.compile("[0-9a-f]{32}:[0-9a-f]{64}")


def way_of(old: str, new: str) -> str:
    """What is done to the encryption."""
    if not old:
        return "on"
    return "over" if new else "off"


@contextmanager
def noted(folder: Path, place: Path, way: str, new: str) -> Iterator[None]:
    """The note outlives a process that is killed, and whatever else goes wrong. One that is there stays as it is."""
    for one in (folder, place):
        if one.is_dir() and not interrupted(one):
            (one / NAME).write_text(f"{way}\n{_mark(new, secrets.token_bytes(_SALT))}\n", encoding="ascii")
    yield
    for one in (place, folder):
        (one / NAME).unlink(missing_ok=True)


def interrupted(folder: Path) -> str:
    """Which way the keys were being changed; empty where all is done."""
    way = _lines(folder)[0]
    return way if way in RekeyUnfinished.WAYS else ""


def check_finishes(folder: Path, new: str) -> None:
    """That the key is the one which the files were getting: with another one, those that have it would be lost."""
    way, mark = _lines(folder)
    salt, _, _ = mark.partition(":")
    meant = mark == _mark(new, bytes.fromhex(salt)) if mark else bool(new) == (way != "off")
    if way in RekeyUnfinished.WAYS and not meant:
        raise RekeyUnfinished(str(folder), "this is not the change that was begun", way)


def _mark(key: str, salt: bytes) -> str:
    """By which a key is known again, and which tells no more of it than the files that it opens."""
    mixed = hashlib.pbkdf2_hmac("sha256", key.encode("utf-8", "surrogateescape"), salt, _ROUNDS)
    return f"{salt.hex()}:{mixed.hex()}"


def _lines(folder: Path) -> tuple[str, str]:
    """What the note says: the way, and the mark of the new key."""
    with suppress(OSError, ValueError):
        way, _, mark = (folder / NAME).read_text(encoding="ascii").partition("\n")
        return way.strip(), mark.strip() if _MARK.fullmatch(mark.strip()) else ""
    return "", ""


def explained(path: Path, refusal: KeyNeeded | KeyUnneeded) -> StoreFailed:
    """A key that does not fit, where that is no slip of whoever gave it."""
    way = interrupted(path.parent)
    return RekeyUnfinished(str(path), refusal.reason, way) if way else refusal
