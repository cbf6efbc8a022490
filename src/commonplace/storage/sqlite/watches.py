"""Wishes to hear of changes, and what there is to hear, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteWatchReading(Statements):
    """The WatchReading port."""


class SqliteWatchWriting(SqliteWatchReading):
    """The WatchWriting port."""
