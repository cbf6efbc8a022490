"""Whose file it is, found out without changing a byte of it."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import apsw

from commonplace.domain.errors import StoreCorrupt, StoreFailed, StoreForeign

APPLICATION_ID = 0x434F4D50
"""'COMP' in the file's header: how `file` and we ourselves know whose file it is."""

_LOOK = """
SELECT
    user_version,
    application_id,
    (SELECT count(*) FROM sqlite_schema),
    (SELECT count(*) FROM sqlite_schema WHERE name IN ('memories', 'blocks', 'events'))
FROM pragma_user_version, pragma_application_id
"""


def stranger(connection: apsw.Connection, path: Path) -> tuple[int, StoreFailed | None]:
    """The version of its schema, and what is to be said of a file that is not ours."""
    # One statement, so that another process cannot migrate the file between two looks at it.
    version, owner, tables, known = connection.execute(_LOOK).get
    if not ((owner != APPLICATION_ID) if version else tables):
        return version, None
    if known:
        return version, StoreCorrupt(str(path), "it holds memories, but not the mark of a store")
    return version, StoreForeign(str(path), "it is an SQLite file, but not one of Commonplace")


def refuse_stranger(path: Path) -> None:
    """Before a file is opened to be written: to open it as we do would change its header already."""
    with suppress(apsw.Error):  # whoever opens it for good is told what is the matter
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            _, refusal = stranger(connection, path)
        if refusal:
            raise refusal
