"""Bringing a file to the newest schema, one numbered step at a time, under the file's own write lock."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.chain import revision_seal
from commonplace.domain.errors import StoreTooNew
from commonplace.storage.sqlite.connection import can_fold
from commonplace.storage.sqlite.ownership import APPLICATION_ID, stranger

__all__ = ["APPLICATION_ID", "SEALED", "check_readable", "is_current", "migrate", "schema_version", "steps"]

SEALED = 9
"""From this step on revisions have seals."""


def steps() -> list[str]:
    """The SQL of each step, in order; the place in this list is the schema's version."""
    found = sorted((f for f in files(__package__).iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [f.read_text(encoding="utf-8") for f in found]


def schema_version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def is_current(connection: apsw.Connection) -> bool:
    return schema_version(connection) == len(steps())


def check_readable(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that is someone else's or from a later release."""
    version, refusal = stranger(connection, path)
    if refusal:
        raise refusal
    if version > len(steps()):
        raise StoreTooNew(str(path), f"its schema is {version}, this release knows {len(steps())}")


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Apply what is missing. Two processes that start at once do it once."""
    check_readable(connection, path)
    if is_current(connection):
        return
    try:
        connection.execute("BEGIN IMMEDIATE")
        check_readable(connection, path)  # again: another process may have been here before us
        _apply_missing(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _apply_missing(connection: apsw.Connection) -> None:
    done = schema_version(connection)
    connection.create_scalar_function("revision_seal", _revision_seal, 3, deterministic=True)
    can_fold(connection)
    for number, step in enumerate(steps()[done:], done + 1):
        connection.execute(step).fetchall()
        connection.pragma("user_version", number)
    connection.pragma("application_id", APPLICATION_ID)


def _revision_seal(*row: Any) -> str:
    return revision_seal(*row)
