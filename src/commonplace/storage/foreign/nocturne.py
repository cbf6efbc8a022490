"""Nocturne Memory's SQLite file: tables `memories` (deprecated, migrated_to) and `paths`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.address import DEFAULT_DOMAIN, MAX_NAME_CHARS, RESERVED, Address
from commonplace.domain.arrival import Arrival, ArrivingPath, ArrivingText
from commonplace.domain.errors import Invalid
from commonplace.domain.unicode import normalised

SOURCE = "nocturne"

_NEEDED = {
    "memories": {"id", "content", "deprecated", "migrated_to", "created_at"},
    "paths": {"domain", "path", "memory_id", "priority", "disclosure"},
}
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_TOO_LATE = 9999
_DOMAIN = re.compile(r"[^\W\d_][\w+.-]*\Z")
_UNFIT = re.compile(r"[^\w+.-]+")


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    content: str
    successor: int | None
    at: datetime


def arrivals(file: Path) -> list[Arrival]:
    """Every memory of the file with its older versions and its paths."""
    with _opened(file) as connection:
        rows = {row.number: row for row in _memories(connection)}
        return list(_arrivals(rows, _paths(connection)))


def oddities(file: Path) -> list[str]:
    """What of the file cannot be brought, or not as it is written there."""
    with _opened(file) as connection:
        known = {row.number: row for row in _memories(connection)}
        odd = [f"memory {n}: its date cannot be read; taken as 1970" for n, r in known.items() if r.at == _UNKNOWN_TIME]
        paths = connection.execute("SELECT domain, path, memory_id, priority FROM paths ORDER BY domain, path")
        for domain, path, memory, priority in paths:
            odd += _odd_path(domain, path, memory, priority, known)
    return odd


def _odd_path(domain: Any, path: Any, memory: Any, priority: Any, known: Mapping[int, _Row]) -> Iterator[str]:
    where = f"{_text(domain)}://{_text(path)}"
    if memory not in known:
        yield f"{where}: left out: it leads to memory {memory}, which is not there"
    elif not _text(path).strip("/ "):
        yield f"{where}: left out: it has no name"
    elif str(_priority(priority)) != str(priority or 0):
        yield f"{where}: its priority {priority!r} is now {_priority(priority)}"
    if _domain(_text(domain)) != (_text(domain).strip().lower() or DEFAULT_DOMAIN):
        yield f"{where}: its domain is now {_domain(_text(domain))}"


@contextmanager
def _opened(file: Path) -> Iterator[apsw.Connection]:
    if not file.is_file():
        raise Invalid("file", f"{file} is not there, or is no file: name the SQLite file of Nocturne Memory")
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _check(connection, file)
            yield connection
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError) as error:
        raise Invalid("file", f"{file} cannot be read as an SQLite file: {error}") from error


def _check(connection: apsw.Connection, file: Path) -> None:
    for table, needed in _NEEDED.items():
        columns = {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        if missing := needed - columns:
            lacks = ", ".join(sorted(missing))
            raise Invalid("file", f"{file} is no store of Nocturne: its table {table!r} lacks {lacks}")


def _memories(connection: apsw.Connection) -> Iterator[_Row]:
    query = "SELECT id, content, migrated_to, created_at FROM memories ORDER BY id"
    for number, content, successor, at in connection.execute(query):
        yield _Row(number, _text(content), successor, _moment(at))


def _paths(connection: apsw.Connection) -> dict[int, list[ArrivingPath]]:
    found: dict[int, list[ArrivingPath]] = {}
    query = "SELECT domain, path, memory_id, priority, disclosure FROM paths ORDER BY domain, path"
    for domain, path, memory, priority, disclosure in connection.execute(query):
        names = tuple(name.strip() for name in normalised("NFC", _text(path)).split("/") if name.strip())
        if names:
            where = Address(_domain(_text(domain)), names)
            found.setdefault(memory, []).append(ArrivingPath(where, _priority(priority), _text(disclosure)))
    return found


def _text(value: Any) -> str:
    """Whatever SQLite gives; nothing here has a use for the character NUL."""
    written = value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)
    return written.replace("\x00", "")


def _domain(written: str) -> str:
    """The domain, or one with a name that can be one and is not the server's own."""
    name = written.strip().lower() or DEFAULT_DOMAIN
    if _DOMAIN.match(name) and name not in RESERVED:
        return name
    return "imported_" + _UNFIT.sub("_", name)[:MAX_NAME_CHARS]


def _priority(written: Any) -> int:
    try:
        return max(int(written or 0), 0)
    except (ValueError, OverflowError):
        return 0


def _arrivals(rows: Mapping[int, _Row], paths: Mapping[int, list[ArrivingPath]]) -> Iterator[Arrival]:
    """Rows that lead on to another are its older versions; a row that leads nowhere is the present state.

    Where rows lead in a circle, the newest of it is the present state.
    """
    before: dict[int, list[_Row]] = {}
    for row in rows.values():
        last = _last(row, rows)
        before.setdefault(last.number, []).append(row)
    for number, states in sorted(before.items()):
        ordered = sorted((row for row in states if row.number != number), key=lambda row: (row.at, row.number))
        texts = tuple(ArrivingText(row.content, row.at) for row in (*ordered, rows[number]))
        ways = tuple(way for row in states for way in paths.get(row.number, ()))
        yield Arrival(tuple(_origin(row) for row in (*ordered, rows[number])), texts, ways)


def _last(row: _Row, rows: Mapping[int, _Row]) -> _Row:
    way = {row.number: row}
    while row.successor is not None and row.successor in rows:
        row = rows[row.successor]
        if row.number in way:
            circle = list(way)[list(way).index(row.number) :]
            return rows[max(circle)]
        way[row.number] = row
    return row


def _origin(row: _Row) -> str:
    """By each of its states: a memory that was edited, or whose old states were removed, is still the same."""
    return hashlib.sha256(f"{row.number}\n{row.at.isoformat()}\n{row.content}".encode()).hexdigest()


def _moment(written: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(written).strip().replace(" ", "T", 1))
    except ValueError:
        return _UNKNOWN_TIME
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if _UNKNOWN_TIME.year <= moment.year < _TOO_LATE else _UNKNOWN_TIME
