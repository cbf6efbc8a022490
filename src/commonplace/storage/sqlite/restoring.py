"""Putting a backup back: made ready beside the store, then taken over in one transaction, under everyone's eyes."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from commonplace.domain.backup import Contents
from commonplace.domain.errors import StoreFailed
from commonplace.storage.sqlite.connection import connect, make_folder
from commonplace.storage.sqlite.copying import contents, duplicate, made, opened, sync_names
from commonplace.storage.sqlite.migrations import migrate
from commonplace.storage.sqlite.presence import alone
from commonplace.storage.sqlite.store import FILE_NAME, make_file
from commonplace.storage.sqlite.workshops import STAGED, workshop

_BRIEFLY_MS = 200

Handover = Callable[[apsw.Connection, apsw.Connection], None]
"""What is done between the old state and the new one: it reads the one and may still change the other."""


def pour(source: Path, target: Path, key: str, handover: Handover) -> Contents:
    """Make the store what the backup is. Whoever has it open sees the old state until the new one is there, whole."""
    make_folder(target.parent)
    make_file(target)
    with closing(connect(target, writable=True, key=key)) as live:
        migrate(live, target)
        with _staged(source, target.parent, key) as ready, opened(ready, key, writable=True) as file:
            found = _overwrite(live, file, target, lambda: _handed_over(target, key, file, handover))
        _empty_log(live)
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
    with workshop(folder, STAGED) as shop:
        ready = made(shop / FILE_NAME)
        duplicate(source, key, ready)
        with opened(ready, key, writable=True) as file:
            migrate(file, source)
            # Derived indexes everywhere see by this that the numbers of events have another meaning now.
            file.execute("INSERT OR REPLACE INTO meta VALUES ('history', ?)", (secrets.token_hex(16),))
            file.execute("DELETE FROM leases")
        yield ready


def _overwrite(live: apsw.Connection, file: apsw.Connection, target: Path, prepare: Callable[[], Contents]) -> Contents:
    """Every page in one transaction: it is in the log, whole, or it has not happened."""
    with live.backup("main", file, "main") as backup:
        # No page yet, but the lock: who writes waits from here on, so that what is kept of the old state is the last
        # of it. The transaction cannot begin in another way: SQLite pours nothing into one that has begun already.
        backup.step(0)
        found = prepare()
        if not backup.step(-1):
            raise StoreFailed(str(target), "the backup could not be put back in one go")
    return found


def _handed_over(target: Path, key: str, file: apsw.Connection, handover: Handover) -> Contents:
    with closing(connect(target, writable=False, key=key)) as before:
        handover(before, file)
    return contents(file)


def _empty_log(live: apsw.Connection) -> None:
    """It is as large as the store now; if others read, a later writer empties it."""
    live.set_busy_timeout(_BRIEFLY_MS)
    with suppress(apsw.BusyError):
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
