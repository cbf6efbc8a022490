"""The verbs on teams: found them, choose who is in them, share trees with them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, require, require_whole
from commonplace.domain.atlas import allows, rights
from commonplace.domain.collection import described
from commonplace.domain.credential import User
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, UserId, uuid7
from commonplace.domain.team import (
    MOST_MATES,
    MOST_TEAMS,
    Mate,
    Membership,
    Role,
    Roster,
    Share,
    Team,
    TeamId,
)
from commonplace.engine.atlases import held
from commonplace.ports import Clock, Reading, Store, Transaction

_LEAST_LISTED = 20
"""How many of each team are listed at least, however many teams there are."""


@dataclass(frozen=True, slots=True)
class Invited:
    """Someone who is in a team now, and what he was before."""

    team: Team
    mate: Mate
    before: Role | None


class Teams:
    """Who works together. Being let into a team needs no consent, as with projects; everyone may leave."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    # Who is in

    async def create(self, actor: Actor, name: str, description: str = "", owner: UserId | None = None) -> Roster:
        """A new team with its owner in it: who asks, or whom an administrator names."""
        require(actor, Permission.WRITE)
        require_whole(actor)
        name, description = limits.label("name", name), described(description)

        def work(tx: Transaction) -> Roster:
            now = self._clock.now()
            user = _whose(tx, actor, owner)
            if tx.teams.count_of(user.id, Role.OWNER) >= MOST_TEAMS:
                raise Invalid("ownerId", f"has {MOST_TEAMS} teams already, which is as many as one may own")
            team = Team(TeamId(uuid7(now, secrets.token_bytes(RANDOM_BYTES))), name, description, now)
            tx.teams.add(team)
            tx.teams.put_mate(team.id, user.id, Role.OWNER, actor.user, now)
            tx.doings.note(actor, now, "team created", team.id)
            return Roster(Membership(team, Role.OWNER, 1, 0), [Mate(user.id, user.name, Role.OWNER, now)])

        return await self._store.write(work)

    async def all(self, actor: Actor, user: UserId | None, most: int, most_mates: int) -> tuple[Sequence[Roster], int]:
        """The teams a user is in, with those in them, the newest first; and how many there are."""
        require(actor, Permission.READ)
        require_whole(actor)

        def work(tx: Reading) -> tuple[Sequence[Roster], int]:
            whose = _whose(tx, actor, user).id
            found = tx.teams.of_user(whose, most)
            share = max(_LEAST_LISTED, most_mates // max(len(found), 1))
            return [Roster(one, tx.teams.mates(one.team.id, share)) for one in found], tx.teams.count_of(whose)

        return await self._store.read(work)

    async def invite(self, actor: Actor, team: TeamId, user: str, role: Role) -> Invited:
        """Let a user in, by id or name, at once; one who is in gets the role. For the owner and admins of the team."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Invited:
            now = self._clock.now()
            found = _governed(tx, actor, team)
            who = acquainted(tx, actor, user)
            before = tx.teams.role(team, who.id)
            _check_invitation(tx, team, before, role)
            tx.teams.put_mate(team, who.id, role, actor.user, now)
            if before is not role:
                what = "team member changed" if before else "team member invited"
                tx.doings.note(actor, now, what, f"{team}/{who.id}")
            return Invited(found, _mate(tx.teams.mates(team, MOST_MATES), who.id), before)

        return await self._store.write(work)

    async def remove(self, actor: Actor, team: TeamId, user: str) -> tuple[Team, Mate]:
        """Let a user go: the owner and admins of the team decide, and everyone may leave. The owner stays."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> tuple[Team, Mate]:
            found, _ = _joined(tx, actor, team)
            mate = _mate(tx.teams.mates(team, MOST_MATES), limits.label("userId", user))
            if mate.user != actor.user:
                _governed(tx, actor, team)
            if mate.role is Role.OWNER:
                raise Invalid("userId", "the owner of a team cannot be removed from it")
            tx.teams.remove_mate(team, mate.user)
            tx.doings.note(actor, self._clock.now(), "team member removed", f"{team}/{mate.user}")
            return found, mate

        return await self._store.write(work)

    # What is shared

    async def share(self, actor: Actor, atlas: CollectionId, team: TeamId, right: Right, inherited: bool) -> Share:
        """Give a team the caller is in a right on an atlas the caller governs; where it has one, this instead."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Share:
            now = self._clock.now()
            found = held(tx, actor, atlas, Right.READ)
            joined, _ = _joined(tx, actor, team)
            held(tx, actor, atlas, Right.ADMIN)
            tx.teams.grant(team, found.number, right, inherited, actor.user, now)
            tx.doings.note(actor, now, "atlas shared", f"{found.id}/{team}")
            return tx.teams.share(found.number, team) or Share(found, right, inherited, now, joined)

        return await self._store.write(work)

    async def unshare(self, actor: Actor, atlas: CollectionId, team: TeamId) -> Share:
        """Take a right back: for who governs the atlas, and for the owner and admins of the team."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Share:
            found = held(tx, actor, atlas, Right.READ)
            governs = allows(rights(actor, tx.holdings(actor.user))[found.number], Right.ADMIN)
            share, role = tx.teams.share(found.number, team), tx.teams.role(team, actor.user)
            if role is None and not (governs and share):
                raise NotFound("team", team)  # whether there is one is not told
            if not governs and not (role and role.governs):
                raise Forbidden("atlas:admin", actor.tool)
            if share is None:
                raise NotFound("share", team)
            tx.teams.ungrant(team, found.number)
            tx.doings.note(actor, self._clock.now(), "atlas unshared", f"{found.id}/{team}")
            return share

        return await self._store.write(work)

    async def shared(self, actor: Actor, user: UserId | None, most: int) -> tuple[Sequence[Share], int]:
        """What was shared with a user, directly or through a team, the latest first; and how many there are."""
        require(actor, Permission.READ)
        require_whole(actor)

        def work(tx: Reading) -> tuple[Sequence[Share], int]:
            whose = _whose(tx, actor, user).id
            return tx.teams.shared_with(whose, most), tx.teams.count_shared_with(whose)

        return await self._store.read(work)


def _whose(tx: Reading, actor: Actor, user: UserId | None) -> User:
    """The user that is meant: the caller, or for an administrator anyone."""
    wanted = user or actor.user
    found = tx.user(wanted)
    if found is None or (wanted != actor.user and Permission.ADMIN not in actor.permissions):
        raise NotFound("user", wanted)
    return found


def _joined(tx: Reading, actor: Actor, team: TeamId) -> tuple[Team, Role]:
    """A team the actor is in, and as what; NotFound also where it is in none of that id."""
    found, role = tx.teams.get(team), tx.teams.role(team, actor.user)
    if found is None or role is None:
        raise NotFound("team", team)
    return found, role


def _governed(tx: Reading, actor: Actor, team: TeamId) -> Team:
    found, role = _joined(tx, actor, team)
    if not role.governs:
        raise Forbidden("team:admin", actor.tool)
    return found


def _mate(mates: Sequence[Mate], user: str) -> Mate:
    """The one of this id, or else of this name."""
    found = [one for one in mates if one.user == user] or [one for one in mates if one.name == user]
    if not found:
        raise NotFound("member", user)
    return found[0]


def acquainted(tx: Reading, actor: Actor, name: str) -> User:
    """A user by his id, which only he can have told; by name only one whom the actor has met in a team.

    Whoever could name everyone could draw everyone into a team, and learn who is here. Administrators know all.
    """
    name = limits.label("userId", name)
    found = tx.user(UserId(name))
    named = None if found else tx.user_named(name)
    if named and (Permission.ADMIN in actor.permissions or named.id == actor.user or _has_met(tx, actor, named)):
        found = named
    if found is None:
        raise NotFound("user", name, "give the id, which only the user can tell you, or a name from a team of yours")
    return found


def _has_met(tx: Reading, actor: Actor, other: User) -> bool:
    return any(tx.teams.role(one.team.id, other.id) for one in tx.teams.of_user(actor.user, MOST_MATES))


def _check_invitation(tx: Reading, team: TeamId, before: Role | None, role: Role) -> None:
    if role is Role.OWNER:
        raise Invalid("role", "a team has one owner; invite as admin or member")
    if before is Role.OWNER:
        raise Invalid("userId", "is the owner of the team and stays that")
    count = tx.teams.count_mates(team)
    if before is None and count >= MOST_MATES:
        raise Invalid("teamId", f"has {count} members, which is as many as a team may have")
