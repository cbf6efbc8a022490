"""What is done to the whole file at once: it is rewritten without what was deleted, or its indexes are built anew."""

import apsw

from commonplace.storage.sqlite.queries import queries


def reindex(connection: apsw.Connection) -> None:
    """Of the terms that are kept; those of tags and categories are made anew when it is the upkeep's turn."""
    connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    connection.execute("INSERT INTO letters (letters) VALUES ('rebuild')")
    connection.execute("INSERT INTO names (names) VALUES ('rebuild')")
    connection.execute(queries()["doubt_words"])


def vacuum(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.execute("INSERT INTO letters (letters) VALUES ('optimize')")
    connection.execute("INSERT INTO names (names) VALUES ('optimize')")
    connection.execute("VACUUM")
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    if busy:
        raise apsw.BusyError("another process is reading what is to be removed")
