"""Teams, their members, and what was shared with them, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from commonplace.domain.access import Right
from commonplace.domain.identifiers import UserId
from commonplace.domain.team import Mate, Membership, Role, Share, Team, TeamId
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.collections import collection_of
from commonplace.storage.sqlite.statements import Row, Statements

_COLLECTION = 10
"""How many columns of a share are its collection's."""


class SqliteTeamReading(Statements):
    """The TeamReading port."""

    def get(self, team: TeamId) -> Team | None:
        row = self._one("team", id=team)
        return _team(row) if row else None

    def role(self, team: TeamId, user: UserId) -> Role | None:
        row = self._one("team_role", team=team, user=user)
        return Role(row[0]) if row else None

    def of_user(self, user: UserId, limit: int) -> Sequence[Membership]:
        found = self._all("teams_of", user=user, limit=limit)
        return [Membership(_team(row[:4]), Role(row[4]), row[5], row[6]) for row in found]

    def count_of(self, user: UserId, role: Role | None = None) -> int:
        return int(self._single("count_teams_of", user=user, role=role.value if role else None))

    def mates(self, team: TeamId, limit: int) -> Sequence[Mate]:
        found = self._all("mates", team=team, limit=limit)
        return [Mate(UserId(row[0]), row[1], Role(row[2]), rows.moment(row[3])) for row in found]

    def count_mates(self, team: TeamId) -> int:
        return int(self._single("count_mates", team=team))

    def shares_of(self, atlas: int, limit: int) -> Sequence[Share]:
        return [_share(row) for row in self._all("shares_of", atlas=atlas, team=None, limit=limit)]

    def share(self, atlas: int, team: TeamId) -> Share | None:
        row = self._one("shares_of", atlas=atlas, team=team, limit=1)
        return _share(row) if row else None

    def shared_with(self, user: UserId, limit: int) -> Sequence[Share]:
        return [_share(row) for row in self._all("shared_with", user=user, limit=limit)]

    def count_shared_with(self, user: UserId) -> int:
        return int(self._single("count_shared_with", user=user))


class SqliteTeamWriting(SqliteTeamReading):
    """The TeamWriting port."""

    def add(self, team: Team) -> None:
        created_at = rows.micros(team.created_at)
        self._do("add_team", id=team.id, name=team.name, description=team.description, created_at=created_at)

    def put_mate(self, team: TeamId, user: UserId, role: Role, by: UserId, at: datetime) -> None:
        self._do("put_mate", team=team, user=user, role=role.value, by=by, at=rows.micros(at))

    def remove_mate(self, team: TeamId, user: UserId) -> None:
        self._do("remove_mate", team=team, user=user)

    def grant(self, team: TeamId, atlas: int, right: Right, inherited: bool, by: UserId, at: datetime) -> None:
        how = {"access": right.value, "inherited": int(inherited)}
        self._do("grant_team", team=team, atlas=atlas, by=by, at=rows.micros(at), **how)

    def ungrant(self, team: TeamId, atlas: int) -> None:
        self._do("ungrant_team", team=team, atlas=atlas)


def _team(row: Row) -> Team:
    return Team(TeamId(row[0]), row[1], row[2], rows.moment(row[3]))


def _share(row: Row) -> Share:
    access, inherited, since, *team = row[_COLLECTION:]
    shared_with = _team(tuple(team)) if team[0] else None
    return Share(collection_of(row[:_COLLECTION]), Right(access), bool(inherited), rows.moment(since), shared_with)
