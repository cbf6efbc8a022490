"""Teams, their members, what was shared with them, and invitations, in the store."""

from __future__ import annotations

from typing import Protocol


class TeamReading(Protocol):
    """Teams, their members, what was shared with them, and invitations."""


class TeamWriting(TeamReading, Protocol):
    """The same, to be changed."""
