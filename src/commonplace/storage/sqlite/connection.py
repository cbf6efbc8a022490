"""Opening the file, and saying in our own words what SQLite reports."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from commonplace.domain.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)

PATIENCE_MS = 60_000
"""How long a process waits for another one's write. Writes last milliseconds; this is for a stopped process."""

_KINDS: tuple[tuple[tuple[type[Exception], ...], type[StoreFailed]], ...] = (
    ((apsw.FullError,), StoreFull),
    ((apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError), StoreReadOnly),
    ((apsw.CorruptError, apsw.NotADBError), StoreCorrupt),
    ((apsw.BusyError, apsw.LockedError), StoreBusy),
    ((apsw.Error, OSError), StoreFailed),
)


@contextmanager
def speaking_plainly(path: Path) -> Iterator[None]:
    """Turn whatever SQLite raises into one of our errors."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise translated(error, path) from error


def translated(error: Exception, path: Path) -> StoreFailed:
    kind = next(ours for theirs, ours in _KINDS if isinstance(error, theirs))
    return kind(str(path), str(error) or type(error).__name__)


def connect(path: Path, *, writable: bool) -> apsw.Connection:
    """A connection with the promises of this store: durable, patient, forgetful of what is deleted."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writable else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(PATIENCE_MS)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA temp_store = MEMORY")
    if writable:
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


def connect_frozen(path: Path) -> apsw.Connection:
    """A connection to a file in a folder where not even the write-ahead log can be opened."""
    connection = apsw.Connection(
        f"{path.absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection
