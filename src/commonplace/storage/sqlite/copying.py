"""Whole files: opening a copy, making one, and looking whether it is sound."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NoReturn

import apsw

from commonplace.domain.backup import Contents
from commonplace.domain.chain import Block, check
from commonplace.domain.errors import (
    BackupBroken,
    ChainBroken,
    KeyNeeded,
    StoreCorrupt,
    StoreFailed,
    StoreForeign,
    StoreTooNew,
)
from commonplace.storage.sqlite.connection import naming_the_cause, translated
from commonplace.storage.sqlite.encryption import Form, address, form, key_missing, unlock, wrong_key
from commonplace.storage.sqlite.migrations import SEALED, check_readable, schema_version
from commonplace.storage.sqlite.reading import SqliteReading

_STRETCH = 4000
_NO_BACKUP = "it is not a backup of a store"
_NOT_WHOLE = "it is not a whole backup of a store: some of it is damaged or missing"
_DAMAGE = (apsw.SQLError, apsw.CorruptError, apsw.NotADBError)
"""What SQLite raises over a file that lacks pages, among them tables and indexes that it then does not know of."""
_CONTENTS = """
SELECT
    coalesce((SELECT value FROM meta WHERE key = 'store'), ''),
    (SELECT count(*) FROM memories),
    (SELECT coalesce(max(number), 0) FROM events),
    (SELECT count(*) FROM blocks),
    coalesce((SELECT hash FROM blocks ORDER BY number DESC LIMIT 1), '')
"""


@contextmanager
def opened(path: Path, key: str, *, writable: bool = False) -> Iterator[apsw.Connection]:
    """A file that nobody else uses, without logs beside it; a plain one opens whatever the key."""
    flags = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
    immutable = "" if writable else "?immutable=1"
    with closing(apsw.Connection(path.absolute().as_uri() + immutable, flags=flags | apsw.SQLITE_OPEN_URI)) as file:
        try:
            unlock(file, path, "" if form(path) is Form.PLAIN else key)
            file.execute("PRAGMA temp_store = MEMORY")
            file.execute("PRAGMA journal_mode = MEMORY" if writable else "PRAGMA query_only = ON").fetchall()
            file.execute("PRAGMA schema_version").fetchall()
        except apsw.NotADBError as error:
            raise _unreadable(path, key) from error
        with naming_the_cause(file):
            yield file


def _unreadable(path: Path, key: str) -> StoreFailed:
    if form(path) is not Form.ENCRYPTED:
        return BackupBroken(str(path), _NO_BACKUP)
    return wrong_key(path) if key else key_missing(path)


def made(path: Path) -> Path:
    """An empty file for its owner only."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def copy(source: apsw.Connection, target: Path, key: str) -> None:
    """What the source sees, into an empty file with the same key: one file, without logs, on the disk when done."""
    with opened(target, key, writable=True) as file:
        with file.backup("main", source, "main") as backup:
            backup.step(-1)
        file.execute("PRAGMA journal_mode = DELETE").fetchall()
    sync(target)


def convert(source: Path, old: str, target: Path, new: str) -> None:
    """The same content under another key, or under none."""
    with opened(source, old) as file:
        file.execute("PRAGMA query_only = OFF")
        file.execute("VACUUM INTO ?", (address(target, new),))
    sync(target)


def duplicate(source: Path, key: str, target: Path) -> None:
    """A copy under this key: byte by byte where it has that key already."""
    if form(source) is Form.PLAIN and key:
        convert(source, "", target, key)
        return
    with opened(source, key):  # before the work: does the key open it
        pass
    shutil.copyfile(source, target)
    sync(target)


def contents(file: apsw.Connection) -> Contents:
    store, memories, events, blocks, head = file.execute(_CONTENTS).get
    return Contents(store, schema_version(file), memories, events, blocks, head)


def inspected(path: Path, key: str, *, chain: bool = False) -> Contents:
    """Read a copy back, every page of it, and with `chain` every block; BackupBroken says what is wrong."""
    try:
        with opened(path, key) as file:
            check_readable(file, path)
            _check_whole(file, path)
            if chain:
                _check_chain(file, path)
            return contents(file)
    except (StoreTooNew, KeyNeeded):
        raise
    except (StoreCorrupt, StoreForeign) as foreign:
        raise BackupBroken(str(path), foreign.reason) from foreign
    except ChainBroken as broken:
        raise BackupBroken(str(path), broken.message) from broken
    except _DAMAGE as damage:
        raise BackupBroken(str(path), _NOT_WHOLE) from damage
    except (apsw.Error, OSError) as error:
        raise BackupBroken(str(path), translated(error, path).reason) from error


def _check_whole(file: apsw.Connection, path: Path) -> None:
    if not schema_version(file):  # SQLite takes an empty file for an empty database
        raise BackupBroken(str(path), f"{_NO_BACKUP}: it is empty")
    found = [str(row[0]) for row in file.execute("PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise BackupBroken(str(path), f"{_NOT_WHOLE} ({'; '.join(found)})")


class _EarlierReading(SqliteReading):
    """Of a copy in which revisions have no seals yet."""

    _witnesses = "early_witnesses"


def _check_chain(file: apsw.Connection, path: Path) -> None:
    kind = SqliteReading if schema_version(file) >= SEALED else _EarlierReading
    reading = kind(file, _no_index, path, "")
    last: Block | None = None
    while (reached := check(reading.witnesses(last.index if last else -1, _STRETCH), last)) is not last:
        last = reached
    if reading.unsealed():
        raise ChainBroken(last.index + 1 if last else 0, "a memory has no block: blocks were removed")


def _no_index() -> NoReturn:
    raise AssertionError("a copy is never searched")


def sync(path: Path) -> None:
    """Have the system write the file to the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_names(folder: Path) -> None:
    """The same for the names in a folder, where the system knows how."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
