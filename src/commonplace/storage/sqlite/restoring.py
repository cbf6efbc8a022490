"""Putting a backup back: made ready beside the store, then taken over in one transaction, under everyone's eyes."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from commonplace.domain.backup import Contents
from commonplace.domain.errors import StoreFailed
from commonplace.storage.sqlite.connection import connect
from commonplace.storage.sqlite.copying import contents, duplicate, made, opened, sync_names
from commonplace.storage.sqlite.migrations import migrate
from commonplace.storage.sqlite.presence import alone
from commonplace.storage.sqlite.store import make_file

_STAGED = ".restoring-"
_ABANDONED_AFTER = 3600.0
_BRIEFLY_MS = 200
_RAISE = "UPDATE sqlite_sequence SET seq = max(seq, :seq) WHERE name = :name"
_ADD = """
INSERT INTO sqlite_sequence (name, seq)
SELECT :name, :seq WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)
"""
_REVOKE = "UPDATE credentials SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL"


def pour(source: Path, target: Path, key: str) -> Contents:
    """Make the store what the backup is. Whoever has it open sees the old state until the new one is there, whole."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_file(target)
    with closing(connect(target, writable=True, key=key)) as live, _staged(source, target.parent, key) as ready:
        with opened(ready, key, writable=True) as file:
            _carry_over(live, file)
            found = contents(file)
        with opened(ready, key) as file:
            _overwrite(live, file, target)
    return found


def replace(source: Path, target: Path, key: str, aside: Path) -> None:
    """Put the backup in the place of files that cannot be opened. Nobody may have them open."""
    with alone(target.parent), _staged(source, target.parent, key) as ready:
        aside.mkdir(mode=0o700)
        log, shared = (target.with_name(target.name + suffix) for suffix in ("-wal", "-shm"))
        shutil.copy2(target, aside / target.name)
        for file in (log, shared):  # a log that outlived its file would be applied to the new one
            if file.exists():
                shutil.copy2(file, aside / file.name)
                file.unlink()
        ready.replace(target)
        sync_names(target.parent)


@contextmanager
def _staged(source: Path, folder: Path, key: str) -> Iterator[Path]:
    """A copy in the newest form, under the store's own key, with a history of its own."""
    _clear_away(folder)
    ready = made(folder / f"{_STAGED}{secrets.token_hex(4)}")
    try:
        duplicate(source, key, ready)
        with opened(ready, key, writable=True) as file:
            migrate(file, source)
            # Derived indexes everywhere see by this that the numbers of events have another meaning now.
            file.execute("INSERT OR REPLACE INTO meta VALUES ('history', ?)", (secrets.token_hex(16),))
            file.execute("DELETE FROM leases")
        yield ready
    finally:
        ready.unlink(missing_ok=True)


def _carry_over(live: apsw.Connection, file: apsw.Connection) -> None:
    """What must not go back: numbers that were given away, and keys that were revoked."""
    if not live.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'credentials'").get:
        return
    numbers = live.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    revoked = live.execute("SELECT id, revoked_at FROM credentials WHERE revoked_at IS NOT NULL").fetchall()
    with file:
        for name, seq in numbers:
            file.execute(_RAISE, {"name": name, "seq": seq})
            file.execute(_ADD, {"name": name, "seq": seq})
        for credential, at in revoked:
            file.execute(_REVOKE, {"id": credential, "at": at})


def _overwrite(live: apsw.Connection, file: apsw.Connection, target: Path) -> None:
    """Every page in one transaction: it is in the log, whole, or it has not happened."""
    with live.backup("main", file, "main") as backup:
        if not backup.step(-1):
            raise StoreFailed(str(target), "the backup could not be put back in one go")
    live.set_busy_timeout(_BRIEFLY_MS)
    with suppress(apsw.BusyError):  # the log is as large as the store now; if others read, a later writer empties it
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _clear_away(folder: Path) -> None:
    for left in folder.glob(f"{_STAGED}*"):
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < time.time() - _ABANDONED_AFTER:
                left.unlink()
