"""Who has the folder open: everyone shares a lock, and who must be alone takes it whole.

A killed process leaves nothing behind, because the system lets its locks go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from commonplace.domain.errors import StoreInUse

LOCK_NAME = "commonplace.lock"
_PATIENCE_MS = 600_000
"""For whoever opens the folder while it is rewritten."""
_BRIEFLY_MS = 1000


class Presence:
    """This process is here. Where no lock can be made, nothing can be rewritten either."""

    def __init__(self, folder: Path) -> None:
        self._connection: apsw.Connection | None = None
        with suppress(apsw.CantOpenError, apsw.ReadOnlyError, OSError):
            self._connection = _lock(folder)
            self._connection.set_busy_timeout(_PATIENCE_MS)
            self._connection.execute("BEGIN")
            self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()

    def end(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def present(folder: Path) -> Iterator[None]:
    presence = Presence(folder)
    try:
        yield
    finally:
        presence.end()


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else is here, and nobody comes before the end of the block."""
    with closing(_lock(folder)) as connection:
        connection.set_busy_timeout(_BRIEFLY_MS)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except apsw.BusyError as busy:
            raise StoreInUse(str(folder), "a server or another command has the folder open") from busy
        yield


def is_anyone_here(folder: Path) -> bool:
    """Whether another process has the folder open at this moment."""
    if not (folder / LOCK_NAME).exists():
        return False
    try:
        with alone(folder):
            return False
    except StoreInUse:
        return True
    except apsw.FullError:  # the disk is full, but what the lock would write it writes only when it is alone
        return False


def _lock(folder: Path) -> apsw.Connection:
    path = folder / LOCK_NAME
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    return apsw.Connection(str(path))
