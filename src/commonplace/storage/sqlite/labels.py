"""Labels and categories, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteLabelReading(Statements):
    """The LabelReading port."""


class SqliteLabelWriting(SqliteLabelReading):
    """The LabelWriting port."""
