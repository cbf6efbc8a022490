"""Who did what, beside the events of memories, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteDoingReading(Statements):
    """The DoingReading port."""


class SqliteDoingWriting(SqliteDoingReading):
    """The DoingWriting port."""
