"""What must not go back when a store becomes what a backup is: numbers given away, limits of keys, the audit trail."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import apsw

from commonplace.domain.credential import KEY_DELETED, Credential
from commonplace.domain.doing import KEPT_FOR
from commonplace.domain.identifiers import CollectionId
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.queries import queries

_IN_USE = "SELECT EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM doings)"
_STORE = "SELECT coalesce((SELECT value FROM meta WHERE key = 'store'), '')"
_RAISE = "UPDATE sqlite_sequence SET seq = max(seq, :seq) WHERE name = :name"
_ADD = """
INSERT INTO sqlite_sequence (name, seq)
SELECT :name, :seq WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)
"""
_LIMIT = """
UPDATE credentials
SET permissions = :permissions, collections = :collections, expires_at = :expires_at, revoked_at = :revoked_at
WHERE id = :id
"""
_DELETED = "SELECT subject FROM doings WHERE what = ?"
_DOINGS = "SELECT number, at, user, credential, session, tool, level, what, subject, times FROM doings ORDER BY number"
# The same number means the same doing, unless the two are of different stores: then it gets another.
_TELL = """
INSERT INTO doings (number, at, user, credential, session, tool, level, what, subject, times)
SELECT iif(EXISTS (SELECT 1 FROM doings WHERE number = ?1), NULL, ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
WHERE NOT EXISTS (
    SELECT 1
    FROM doings
    WHERE number = ?1
    AND (at, user, credential, session, tool, level, what, subject, times) = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
)
"""


def is_in_use(store: apsw.Connection) -> bool:
    """Whether anything was ever done here."""
    return bool(store.execute(_IN_USE).get)


def carry_over(before: apsw.Connection, file: apsw.Connection, at: datetime) -> None:
    """From the store as it is right before, into the copy that it becomes."""
    with file:
        for name, seq in before.execute("SELECT name, seq FROM sqlite_sequence"):
            file.execute(_RAISE, {"name": name, "seq": seq})
            file.execute(_ADD, {"name": name, "seq": seq})
        _limit(before, file, at)
        file.executemany(_TELL, before.execute(_DOINGS))


def _limit(before: apsw.Connection, file: apsw.Connection, at: datetime) -> None:
    same = before.execute(_STORE).get == file.execute(_STORE).get
    known = {credential.id: credential for credential in _credentials(before)}
    deleted = {subject for (subject,) in before.execute(_DELETED, (KEY_DELETED,))}
    for credential in _credentials(file):
        if credential.id in known:
            limited = narrowed(credential, known[credential.id], at)
        elif same and (credential.id in deleted or credential.created_at < at - KEPT_FOR):
            limited = _closed(credential, at)  # deleted, or so long ago that nobody knows any more
        else:  # of another store, or of a time that an earlier restore has undone
            continue
        if limited != credential:
            file.execute(_LIMIT, _bindings(limited))


def _credentials(store: apsw.Connection) -> list[Credential]:
    return [rows.credential(row) for row in store.execute(queries()["credentials"])]


def narrowed(credential: Credential, before: Credential, at: datetime) -> Credential:
    """It opens what both open, for as long as both do; what would open nothing is revoked."""
    permissions = credential.permissions & before.permissions
    collections = _common(credential.collections, before.collections)
    ends = _earliest(credential.expires_at, before.expires_at)
    revoked_at = credential.revoked_at or before.revoked_at
    if not permissions or (collections == () != credential.collections):
        return _closed(replace(credential, expires_at=ends, revoked_at=revoked_at), at)
    return replace(credential, permissions=permissions, collections=collections, expires_at=ends, revoked_at=revoked_at)


def _closed(credential: Credential, at: datetime) -> Credential:
    return replace(credential, revoked_at=credential.revoked_at or at)


def _common(
    one: tuple[CollectionId, ...] | None, other: tuple[CollectionId, ...] | None
) -> tuple[CollectionId, ...] | None:
    """None is everything."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(collection for collection in one if collection in other)


def _earliest(*ends: datetime | None) -> datetime | None:
    return min((end for end in ends if end), default=None)


def _bindings(credential: Credential) -> dict[str, Any]:
    opens = credential.collections
    return {
        "id": credential.id,
        "permissions": ",".join(sorted(credential.permissions)),
        "collections": None if opens is None else rows.as_json(opens),
        "expires_at": rows.maybe_micros(credential.expires_at),
        "revoked_at": rows.maybe_micros(credential.revoked_at),
    }
