"""Teams, their members, and what was shared with them, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.access import Right
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.team import Mate, Membership, Role, Share, Team, TeamId


class TeamReading(Protocol):
    """Teams, their members, and what was shared with them."""

    def get(self, team: TeamId) -> Team | None: ...
    def role(self, team: TeamId, user: UserId) -> Role | None: ...
    def of_user(self, user: UserId, limit: int) -> Sequence[Membership]:
        """The teams a user is in, the newest first."""
        ...

    def count_of(self, user: UserId, role: Role | None = None) -> int: ...
    def mates(self, team: TeamId, limit: int) -> Sequence[Mate]:
        """Who is in a team: its owner, then those with a say, then the others, each as they came."""
        ...

    def count_mates(self, team: TeamId) -> int: ...
    def shares_of(self, atlas: int, limit: int) -> Sequence[Share]:
        """With which teams an atlas was shared."""
        ...

    def share(self, atlas: int, team: TeamId) -> Share | None: ...
    def shared_with(self, user: UserId, limit: int) -> Sequence[Share]:
        """What was shared with a user or one of his teams, the latest first."""
        ...

    def count_shared_with(self, user: UserId) -> int: ...


class TeamWriting(TeamReading, Protocol):
    """The same, to be changed."""

    def add(self, team: Team) -> None: ...
    def put_mate(self, team: TeamId, user: UserId, role: Role, by: UserId, at: datetime) -> None:
        """Let a user in; one who is in gets the role."""
        ...

    def remove_mate(self, team: TeamId, user: UserId) -> None: ...
    def grant(self, team: TeamId, atlas: int, right: Right, inherited: bool, by: UserId, at: datetime) -> None:
        """Share an atlas with a team; where it was, it is now shared like this."""
        ...

    def ungrant(self, team: TeamId, atlas: int) -> None: ...
