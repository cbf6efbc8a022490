"""What is done to the whole file at once: it is rewritten without what was deleted, or its indexes are built anew."""

import apsw


def reindex(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    connection.execute("INSERT INTO letters (letters) VALUES ('rebuild')")
    connection.execute("INSERT INTO names (names) VALUES ('rebuild')")


def vacuum(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.execute("INSERT INTO letters (letters) VALUES ('optimize')")
    connection.execute("INSERT INTO names (names) VALUES ('optimize')")
    connection.execute("VACUUM")
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
    if busy:
        raise apsw.BusyError("another process is reading what is to be removed")
