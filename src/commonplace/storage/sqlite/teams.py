"""Teams, their members, what was shared with them, and invitations, in SQLite."""

from __future__ import annotations

from commonplace.storage.sqlite.statements import Statements


class SqliteTeamReading(Statements):
    """The TeamReading port."""


class SqliteTeamWriting(SqliteTeamReading):
    """The TeamWriting port."""
