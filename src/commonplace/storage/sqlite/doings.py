"""Who did what, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commonplace.domain.access import Actor
from commonplace.domain.doing import Doing, Level, Sought, Stretch
from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Author
from commonplace.storage.sqlite import literal, rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteDoingReading(Statements):
    """The DoingReading port."""

    def latest(self, sought: Sought, limit: int) -> Sequence[Doing]:
        found = [
            _doing(row) for name in _tables(sought) for row in self._all(name, limit=limit, **_bindings(sought, name))
        ]
        return sorted(found, key=lambda doing: doing.at, reverse=True)[:limit]

    def count(self, sought: Sought) -> int:
        return sum(self._single(f"count_{name}", **_bindings(sought, name)) for name in _tables(sought))

    def oldest(self) -> datetime | None:
        return rows.maybe_moment(self._single("oldest_doing"))

    def of_session(self, session: str, user: UserId | None) -> Sequence[Stretch]:
        return [_stretch(row) for row in self._all("stretches", session=session, user=user)]


class SqliteDoingWriting(SqliteDoingReading):
    """The DoingWriting port."""

    def note(self, actor: Actor, at: datetime, what: str, subject: str = "", level: str = "info") -> None:
        self.add(Doing(at, actor.author, what, subject, Level(level)))

    def add(self, doing: Doing) -> None:
        self._do(
            "note",
            at=rows.micros(doing.at),
            level=doing.level.value,
            what=doing.what,
            subject=doing.subject,
            times=doing.times,
            **rows.author_bindings(doing.by),
        )

    def prune(self, before: datetime) -> int:
        self._do("prune_doings", before=rows.micros(before))
        return self._connection.changes()


def _tables(sought: Sought) -> list[str]:
    """What users changed is never more than information."""
    whose = "_all" if sought.user is None else ""
    return [f"doings_by{whose}", *([f"events_by{whose}"] if sought.level is Level.INFO else [])]


def _bindings(sought: Sought, table: str) -> dict[str, Any]:
    patterns = literal.patterns(sought.passage) if sought.passage else {"pattern": None, "other": None}
    levels = {"levels": rows.as_json(sought.level.and_graver)} if table.startswith("doings") else {}
    return {**patterns, **levels, **({} if sought.user is None else {"user": sought.user})}


def _doing(row: Row) -> Doing:
    at, user, credential, session, tool, what, subject, level, name, times = row
    by = Author(user, credential, session, tool)
    return Doing(rows.moment(at), by, what, subject, Level(level), name or "", times)


def _stretch(row: Row) -> Stretch:
    user, tool, what, level, change, count, first, last = row
    return Stretch(user, tool, what, Level(level), bool(change), count, rows.moment(first), rows.moment(last))
