"""A shared context: a place where several work together for a while, with what each has lent to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from commonplace.domain.collection import Collection, Member
from commonplace.domain.identifiers import UserId

MOST_INVITED = 50
"""How many may be invited at once."""


class Guest(StrEnum):
    """Who may be invited."""

    USER = "user"
    TEAM = "team"
    """Any member of it may join."""


@dataclass(frozen=True, slots=True)
class Invitee:
    """Whom a caller names: by id or name, perhaps saying which it is."""

    name: str
    written: str
    """Exactly as the caller wrote it."""
    kind: Guest | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """That a user, or any member of a team, may join a collection of his own accord."""

    collection: int
    guest: Guest
    subject: str
    by: UserId
    at: datetime


@dataclass(frozen=True, slots=True)
class Context:
    """A shared context as it stands to one caller."""

    collection: Collection
    owner_name: str
    joined: bool
    """Whether the caller is in it; else it was invited and may join."""
    members: Sequence[Member] = ()
    memories: int = 0
    """Not told to who has not joined."""
