"""Another key for the store and its backups, or none: each file is rewritten beside itself, then put in its place."""

from __future__ import annotations

import secrets
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from commonplace.domain.backup import SUFFIX
from commonplace.domain.errors import BackupBroken, CommonplaceError, Invalid, NotFound, RekeyUnfinished, StoreFailed
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.changeover import check_finishes, interrupted, noted, way_of
from commonplace.storage.sqlite.connection import connect, speaking_plainly
from commonplace.storage.sqlite.copying import contents, convert, inspected, opened, sync_names
from commonplace.storage.sqlite.encryption import Form, form
from commonplace.storage.sqlite.presence import alone
from commonplace.storage.sqlite.store import FILE_NAME, UNFINISHED_REKEYING
from commonplace.storage.sqlite.workshops import clear_away
from commonplace.storage.vectors import snapshot


@dataclass(slots=True)
class Rekeyed:
    """What was done: the names of the backups, and of those that neither key opens, why."""

    backups: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


def rekey(folder: Path, place: Path, old: str, new: str) -> Rekeyed:
    """The backups first and the store last. Repeating it after an interruption finishes it, however far it came."""
    path = folder / FILE_NAME
    if form(path) is Form.EMPTY:
        raise NotFound("store in the folder", str(folder))
    before = interrupted(folder)
    if old == new and not before:
        raise Invalid("rekey", "the new key is the old one")
    with alone(folder), speaking_plainly(path):
        check_finishes(folder, new)
        is_done = _opens(path, new)
        if not is_done:
            _fold(path, old)
        clear_away(folder, place)
        with noted(folder, place, before if old == new else way_of(old, new), new):
            done = _rekey_backups(folder, place, old, new)
            if not is_done:
                _rewrite(path, old, new)
            for copy in snapshot.copies(folder):
                copy.unlink(missing_ok=True)
    return done


def _fold(path: Path, key: str) -> None:
    """Bring what is in the log into the file, and the log away: the file alone is then everything."""
    with closing(connect(path, writable=True, key=key)) as live:
        if live.execute("PRAGMA journal_mode = DELETE").get != "delete":
            raise StoreFailed(str(path), "its log could not be emptied")


def _rewrite(path: Path, old: str, new: str) -> None:
    unfinished = path.with_name(f"{UNFINISHED_REKEYING}{secrets.token_hex(4)}")
    try:
        unfinished.touch(0o600)
        convert(path, old, unfinished, new)
        with opened(path, old) as before:
            expected = contents(before)
        if inspected(unfinished, new) != expected:
            raise BackupBroken(str(unfinished), "what was read back is not what was written")
        unfinished.replace(path)
        sync_names(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _rekey_backups(folder: Path, place: Path, old: str, new: str) -> Rekeyed:
    before, after = SqliteVault(folder, place, old), SqliteVault(folder, place, new)
    done = Rekeyed()
    for file in sorted(file for file in place.glob(f"*{SUFFIX}") if not before.is_store(file)):
        try:
            if not _opens(file, new):
                before.verified(file.stem)
                _rewrite(file, old, new)
                done.backups.append(file.stem)
            after.describe_again(file.stem)
        except (CommonplaceError, apsw.Error, OSError) as error:
            done.left[file.stem] = error.reason if isinstance(error, RekeyUnfinished) else str(error)
    return done


def _opens(file: Path, key: str) -> bool:
    """Whether this is already the file's key: a plain file has none."""
    if (form(file) is Form.PLAIN) == bool(key):
        return False
    try:
        with opened(file, key):
            return True
    except StoreFailed:
        return False
