"""People who share: a team, who is in it, and what was shared with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from commonplace.domain.access import Right
from commonplace.domain.collection import Collection
from commonplace.domain.identifiers import UserId

TeamId = NewType("TeamId", str)

MOST_MATES = 1000
"""How many one team may have."""
MOST_TEAMS = 200
"""How many one user may own."""


class Role(StrEnum):
    """What a member of a team may do there."""

    OWNER = "owner"
    """Made the team, or had it made; stays in it."""
    ADMIN = "admin"
    MEMBER = "member"

    @property
    def governs(self) -> bool:
        """Whether it decides who is in the team, and may end what was shared with it."""
        return self is not Role.MEMBER


@dataclass(frozen=True, slots=True)
class Team:
    """Some users, who are given rights together."""

    id: TeamId
    name: str
    description: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Mate:
    """A user in a team."""

    user: UserId
    name: str
    role: Role
    since: datetime


@dataclass(frozen=True, slots=True)
class Membership:
    """A team as it stands to one user in it, in figures."""

    team: Team
    role: Role
    mates: int
    atlases: int


@dataclass(frozen=True, slots=True)
class Roster:
    """A team with those in it, as far as they are listed."""

    membership: Membership
    mates: Sequence[Mate]


@dataclass(frozen=True, slots=True)
class Share:
    """An atlas that was shared, with a team or, without one, with a user himself."""

    atlas: Collection
    right: Right
    inherited: bool
    """Whether what lies below it is shared along."""
    since: datetime
    team: Team | None = None
