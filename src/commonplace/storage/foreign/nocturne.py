"""Nocturne Memory's SQLite file: tables `memories` (deprecated, migrated_to) and `paths`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.address import address
from commonplace.domain.arrival import Arrival, ArrivingPath, ArrivingText
from commonplace.domain.errors import Invalid

SOURCE = "nocturne"

_NEEDED = {
    "memories": {"id", "content", "deprecated", "migrated_to", "created_at"},
    "paths": {"domain", "path", "memory_id", "priority", "disclosure"},
}
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    content: str
    successor: int | None
    at: datetime


def arrivals(file: Path) -> list[Arrival]:
    """Every memory of the file with its older versions and its paths."""
    if not file.is_file():
        raise Invalid("file", f"{file} is not there, or is no file")
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _check(connection, file)
            rows = {row.number: row for row in _memories(connection)}
            paths = _paths(connection)
        finally:
            connection.close()
    except apsw.Error as error:
        raise Invalid("file", f"{file} cannot be read as an SQLite file: {error}") from error
    return list(_arrivals(rows, paths))


def _check(connection: apsw.Connection, file: Path) -> None:
    for table, needed in _NEEDED.items():
        columns = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        if missing := needed - columns:
            lacks = ", ".join(sorted(missing))
            raise Invalid("file", f"{file} is no store of Nocturne: its table {table!r} lacks {lacks}")


def _memories(connection: apsw.Connection) -> Iterator[_Row]:
    query = "SELECT id, content, migrated_to, created_at FROM memories ORDER BY id"
    for number, content, successor, at in connection.execute(query):
        yield _Row(number, str(content), successor, _moment(at))


def _paths(connection: apsw.Connection) -> dict[int, list[ArrivingPath]]:
    found: dict[int, list[ArrivingPath]] = {}
    query = "SELECT domain, path, memory_id, priority, disclosure FROM paths ORDER BY domain, path"
    for domain, path, memory, priority, disclosure in connection.execute(query):
        where = address(f"{domain or 'core'}://{path}", "path")
        arriving = ArrivingPath(where, max(int(priority or 0), 0), str(disclosure or ""))
        found.setdefault(memory, []).append(arriving)
    return found


def _arrivals(rows: Mapping[int, _Row], paths: Mapping[int, list[ArrivingPath]]) -> Iterator[Arrival]:
    """Rows that lead on to another are its older versions; a row that leads nowhere is the present state."""
    before: dict[int, list[_Row]] = {}
    for row in rows.values():
        last = _last(row, rows)
        before.setdefault(last.number, []).append(row)
    for number, states in sorted(before.items()):
        ordered = sorted((row for row in states if row.number != number), key=lambda row: (row.at, row.number))
        texts = tuple(ArrivingText(row.content, row.at) for row in (*ordered, rows[number]))
        ways = tuple(way for row in states for way in paths.get(row.number, ()))
        yield Arrival(_origin(rows[number], ordered), texts, ways)


def _last(row: _Row, rows: Mapping[int, _Row]) -> _Row:
    met = {row.number}
    while row.successor is not None and row.successor in rows and row.successor not in met:
        row = rows[row.successor]
        met.add(row.number)
    return row


def _origin(last: _Row, older: list[_Row]) -> str:
    """By its first state: a memory that was edited after an earlier import is still the same."""
    first = older[0] if older else last
    return hashlib.sha256(f"{first.number}\n{first.at.isoformat()}\n{first.content}".encode()).hexdigest()


def _moment(written: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(written).strip().replace(" ", "T", 1))
    except ValueError:
        return _UNKNOWN_TIME
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
