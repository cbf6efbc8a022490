"""Bringing a file to the newest schema, one numbered step at a time, under the file's own write lock."""

from importlib.resources import files
from pathlib import Path

import apsw

from commonplace.domain.errors import StoreCorrupt, StoreTooNew

APPLICATION_ID = 0x434F4D50
"""'COMP' in the file's header: how `file` and we ourselves know whose file it is."""


def steps() -> list[str]:
    """The SQL of each step, in order; the place in this list is the schema's version."""
    found = sorted((f for f in files(__package__).iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [f.read_text(encoding="utf-8") for f in found]


def schema_version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def check_readable(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that is someone else's or from a later release."""
    version = schema_version(connection)
    if version > len(steps()):
        raise StoreTooNew(str(path), f"its schema is {version}, this release knows {len(steps())}")
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise StoreCorrupt(str(path), "it is an SQLite file, but not one of Commonplace")
    if version and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt(str(path), "it is an SQLite file, but not one of Commonplace")


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Apply what is missing. Two processes that start at once do it once."""
    check_readable(connection, path)
    if schema_version(connection) == len(steps()):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _apply_missing(connection)
    except apsw.Error:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _apply_missing(connection: apsw.Connection) -> None:
    done = schema_version(connection)  # read again: another process may have been here before us
    for number, step in enumerate(steps()[done:], done + 1):
        connection.execute(step)
        connection.pragma("user_version", number)
    connection.pragma("application_id", APPLICATION_ID)
