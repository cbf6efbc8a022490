"""Pages of a store that are lost on the disk."""

from pathlib import Path

import apsw

_PAGE = 4096


def lose_table(file: Path, table: str) -> None:
    """Its first page, which leads to all others; then a change elsewhere, so that nobody goes by what he remembers."""
    _lose(file, "SELECT rootpage FROM sqlite_schema WHERE name = ?", table)


def lose_part(file: Path, table: str) -> None:
    """A page in the middle of it, with some of its rows."""
    _lose(file, "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", table)


def _lose(file: Path, query: str, table: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    pages = [int(str(row[0])) for row in connection.execute(query, (table,))]
    with file.open("r+b") as raw:
        raw.seek((pages[len(pages) // 2] - 1) * _PAGE)
        raw.write(b"\xff" * _PAGE)
    connection.execute("INSERT INTO meta (key, value) VALUES ('other', '')")
    connection.close()
