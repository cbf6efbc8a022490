"""Where a copy is made or read: a hidden folder with a lock in it.

A killed process leaves the folder, but the system lets its lock go: what nobody works at any more is known by that.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from commonplace.domain.errors import StoreInUse
from commonplace.storage.sqlite.presence import LOCK_NAME, Presence, alone, is_anyone_here
from commonplace.storage.sqlite.store import UNFINISHED_REKEYING

STAGED = ".restoring-"
_ABANDONED_AFTER = 3600.0
"""Seconds without a write, for what has no lock: it was left before it got one, or by an earlier release."""
_BESIDE_THE_STORE = re.compile(rf"({re.escape(STAGED)}|{re.escape(UNFINISHED_REKEYING)})[0-9a-f]{{8}}(-\w+)?")
_AMONG_BACKUPS = re.compile(rf"(\.\w[\w.-]*\.|{re.escape(UNFINISHED_REKEYING)})[0-9a-f]{{8}}(-\w+)?")


class Workshop:
    """A new folder that nobody clears away before the end."""

    def __init__(self, place: Path, prefix: str) -> None:
        while True:
            self.folder = place / f"{prefix}{secrets.token_hex(4)}"
            self.folder.mkdir(mode=0o700)
            self._presence = Presence(self.folder)
            if self.folder.exists():
                return
            self._presence.end()  # between the making of the lock and the taking of it someone has cleared away

    def end(self) -> None:
        self._presence.end()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def workshop(place: Path, prefix: str) -> Iterator[Path]:
    shop = Workshop(place, prefix)
    try:
        yield shop.folder
    finally:
        shop.end()


def left_behind(folder: Path, place: Path) -> list[Path]:
    """What killed processes have left in the folder of the store and in that of its backups."""
    found = [*_matching(folder, _BESIDE_THE_STORE), *_matching(place, _AMONG_BACKUPS)]
    return [one for one in dict.fromkeys(found) if _is_abandoned(one)]


def clear_away(folder: Path, place: Path) -> None:
    """Remove it. Whoever does so has the folder open, so that no rekeying can be going on."""
    for one in left_behind(folder, place):
        with suppress(StoreInUse, apsw.Error, OSError):  # another process is here for the same, or it is not ours
            _discard(one)


def _matching(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if pattern.fullmatch(one.name))
    except OSError:  # there is no such folder, or it is closed to us
        return []


def _is_abandoned(one: Path) -> bool:
    if one.name.startswith(UNFINISHED_REKEYING):
        return True
    try:
        if _has_lock(one):
            return not is_anyone_here(one)
        return one.lstat().st_mtime < time.time() - _ABANDONED_AFTER
    except (apsw.Error, OSError):  # it is gone, or it is not ours
        return False


def _has_lock(one: Path) -> bool:
    return not one.is_symlink() and (one / LOCK_NAME).is_file()


def _discard(one: Path) -> None:
    if one.is_symlink() or not one.is_dir():
        one.unlink(missing_ok=True)
        return
    if not _has_lock(one):
        shutil.rmtree(one)
        return
    on_posix = os.name == "posix"
    with alone(one):
        shutil.rmtree(one, ignore_errors=not on_posix)
    if not on_posix:  # where a file that is open stays, the lock itself goes now
        shutil.rmtree(one)
