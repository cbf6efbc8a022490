"""Who is here, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteAttendanceReading(Statements):
    """The AttendanceReading port."""


class SqliteAttendanceWriting(SqliteAttendanceReading):
    """The AttendanceWriting port."""
