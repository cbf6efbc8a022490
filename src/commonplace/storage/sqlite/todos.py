"""What users mean to do, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteTodoReading(Statements):
    """The TodoReading port."""


class SqliteTodoWriting(SqliteTodoReading):
    """The TodoWriting port."""
