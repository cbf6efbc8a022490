"""Opening the file, and saying in our own words what SQLite reports."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreNowhere,
    StoreReadOnly,
)
from commonplace.language.scripts import fold
from commonplace.storage.sqlite.encryption import is_marked, misfit, unlock, wrong_key
from commonplace.storage.sqlite.ownership import refuse_stranger

PATIENCE_MS = 60_000
"""How long a process waits for another one's write. Writes last milliseconds; this is for a stopped process."""

_LOCKLESS = "unix-none"
_DECIPHERING = "multipleciphers-"
"""Before the name of a way to reach files, this makes another one that deciphers on the way."""

_KINDS: tuple[tuple[tuple[type[Exception], ...], type[StoreFailed]], ...] = (
    ((apsw.FullError,), StoreFull),
    ((apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError), StoreReadOnly),
    ((apsw.CorruptError, apsw.NotADBError), StoreCorrupt),
    ((apsw.BusyError, apsw.LockedError), StoreBusy),
    ((apsw.Error, OSError), StoreFailed),
)

_NO_WORDS = "not an error"
"""What SQLite has to say where only a code tells that something failed, as in copying."""

_SYSTEM_KINDS: dict[int, type[StoreFailed]] = {
    errno.ENOSPC: StoreFull,
    errno.EDQUOT: StoreFull,
    errno.EFBIG: StoreFull,
    errno.ENOTDIR: StoreNowhere,
    errno.EEXIST: StoreNowhere,
    errno.ENAMETOOLONG: StoreNowhere,
    errno.ELOOP: StoreNowhere,
    errno.EROFS: StoreReadOnly,
    errno.EACCES: StoreReadOnly,
    errno.EPERM: StoreReadOnly,
}


@contextmanager
def speaking_plainly(path: Path) -> Iterator[None]:
    """Turn whatever SQLite raises into one of our errors."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise translated(error, path) from error


def make_folder(folder: Path) -> None:
    """With those above it, to be entered by its owner only."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileNotFoundError as error:  # those above it are there: it is a file system that takes no folders
        raise StoreNowhere(str(folder), str(error)) from error


@contextmanager
def naming_the_cause(connection: apsw.Connection) -> Iterator[None]:
    """Where SQLite says no more than "disk I/O error", let the system say what it was: a quota, a broken disk."""
    try:
        yield
    except apsw.IOError as error:
        raise OSError(connection.system_errno, os.strerror(connection.system_errno)) from error


def translated(error: Exception, path: Path) -> StoreFailed:
    kind = next(ours for theirs, ours in _KINDS if isinstance(error, theirs))
    if isinstance(error, OSError):
        kind = _SYSTEM_KINDS.get(error.errno or 0, kind)
    return kind(str(path), _cause(error))


def _cause(error: Exception) -> str:
    if not isinstance(error, apsw.Error) or str(error) != _NO_WORDS:
        return str(error) or type(error).__name__
    return os.strerror(errno.ENOSPC) if isinstance(error, apsw.FullError) else type(error).__name__


def damaged(connection: apsw.Connection) -> str:
    """What is wrong with the file; empty when it is sound."""
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    except apsw.CorruptError as error:  # so damaged that it cannot be gone through
        return str(error)
    return "" if found == ["ok"] else "; ".join(found)


def connect(path: Path, *, writable: bool, key: str = "") -> apsw.Connection:
    """A connection with the promises of this store: durable, patient, forgetful of what is deleted."""
    if refusal := misfit(path, key):
        raise refusal
    if writable and not key and not is_marked(path):
        refuse_stranger(path)
    try:
        return _connected(path, key, writable=writable)
    except apsw.NotADBError:
        if not key:
            raise
    try:  # again: another process may have made the file, with a salt of its own, after we had looked at it
        return _connected(path, key, writable=writable)
    except apsw.NotADBError as error:
        raise wrong_key(path) from error


def _connected(path: Path, key: str, *, writable: bool) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writable else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(str(path), flags=flags)
    try:
        with naming_the_cause(connection):
            unlock(connection, path, key)
            _promise(connection, writable=writable)
    except BaseException:
        connection.close()
        raise
    return connection


def _promise(connection: apsw.Connection, *, writable: bool) -> None:
    connection.set_busy_timeout(PATIENCE_MS)
    # Else a statement is planned anew for the values of each run, which takes longer than running it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -6144")
    connection.execute("PRAGMA temp_store = MEMORY")
    if writable:
        _log_ahead(connection)
    _look_into_words(connection)
    can_fold(connection)


def can_fold(connection: apsw.Connection) -> None:
    """Let queries compare tags, however they are written."""
    connection.create_scalar_function("folded", _folded, 1, deterministic=True)


def _folded(*tag: Any) -> str:
    return fold(*tag)


def _look_into_words(connection: apsw.Connection) -> None:
    """Where each term of full text stands: a view of the index, not a table of its own, and so nothing to migrate."""
    connection.execute("CREATE VIRTUAL TABLE temp.word_places USING fts5vocab (main, words, instance)")


def _log_ahead(connection: apsw.Connection) -> None:
    """Two processes that make the file at once meet here, and for this step SQLite does not wait by itself."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def connect_frozen(path: Path, key: str = "") -> apsw.Connection:
    """A connection to a file in a folder where nothing can be written, not even the locks of the write-ahead log.

    What the last writer left in the log is read as well, if it left any.
    """
    if refusal := misfit(path, key):
        raise refusal
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    log = path.with_name(f"{path.name}-wal")
    frozen = not (log.exists() and log.stat().st_size and _LOCKLESS in apsw.vfs_names())
    if frozen:
        connection = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    else:
        vfs = _DECIPHERING + _LOCKLESS if key else _LOCKLESS
        connection = apsw.Connection(path.absolute().as_uri(), flags=flags, vfs=vfs)
    unlock(connection, path, key)
    if not frozen:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY")
    _look_into_words(connection)
    can_fold(connection)
    return connection
