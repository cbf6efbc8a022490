"""チーム共有."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import instant, quoted
from commonplace.domain.access import Permission, Right
from commonplace.domain.identifiers import UserId, is_uuid
from commonplace.domain.team import Mate, Role, Roster, Share, TeamId

MOST_TEAMS_LISTED = 100
MOST_MATES_LISTED = 1000
"""In one answer, over all teams; of each at least a few."""
MOST_SHARED_LISTED = 1000
_NAMED = 20
"""How many the words of an answer name; the object has all of them."""
_SHOWN = 60

Team = Annotated[str, Field(description="Team id, like teams:UUID")]
Person = Annotated[str, Field(description="A user's id, like users:UUID, or his name")]
Atlas = Annotated[str, Field(description="Atlas id, like atlas:UUID")]


class TeamMember(TypedDict):
    userId: str
    name: str
    role: str
    joinedAt: str


class TeamShown(TypedDict):
    """A team the user is in."""

    id: str
    name: str
    description: str
    role: str
    memberCount: int
    atlasCount: int
    members: list[TeamMember]
    hasMoreMembers: bool
    createdAt: str


class TeamList(TypedDict):
    teams: list[TeamShown]
    total: int
    hasMore: bool


class TeamInvited(TypedDict):
    teamId: str
    userId: str
    name: str
    role: str
    joinedAt: str
    alreadyMember: bool
    changed: bool


class TeamRemoved(TypedDict):
    teamId: str
    userId: str
    name: str
    removed: bool


class AtlasShared(TypedDict):
    atlasId: str
    name: str
    teamId: str
    teamName: str
    permission: str
    inheritChildren: bool
    sharedBy: str
    sharedAt: str


class AtlasUnshared(TypedDict):
    atlasId: str
    teamId: str
    unshared: bool


class SharedAtlas(TypedDict):
    """An atlas that was shared with the user, and how."""

    atlasId: str
    permission: str
    source: str
    teamId: NotRequired[str]
    teamName: NotRequired[str]
    name: str
    inheritChildren: bool
    owned: bool
    sharedAt: str


class SharedAtlasList(TypedDict):
    atlas: list[SharedAtlas]
    total: int
    hasMore: bool


@creo.writes
async def team_create(
    call: Call,
    name: Annotated[str, Field(description="Its name, in any script")],
    ownerId: Annotated[str, Field(description="Your own user id; an administrator may name anyone")],
    description: Annotated[str, Field(description="What the team is for")] = "",
) -> Answer[TeamShown]:
    """Make a team: users with whom atlases are shared together. Its owner is in it from the start."""
    made = await call.engine.teams.create(call.actor, name, description, _whose(call, "ownerId", ownerId))
    return Answer(_shown(made), text=f"✅ チームを作成しました: {_named(made)}")


@creo.reads
async def team_list(
    call: Call,
    userId: Annotated[str | None, Field(description="Your own user id; an administrator may name anyone")] = None,
) -> Answer[TeamList]:
    """The teams you are in, with their members, the newest first."""
    whose = _whose(call, "userId", userId)
    found, total = await call.engine.teams.all(call.actor, whose, MOST_TEAMS_LISTED, MOST_MATES_LISTED)
    lines = [f"- {_named(one)} [{one.membership.role}] メンバー{one.membership.mates}人" for one in found[:_NAMED]]
    words = "\n".join([f"チームは{total}件あります", *lines, *_rest(total)])
    return Answer({"teams": [_shown(one) for one in found], "total": total, "hasMore": len(found) < total}, text=words)


@creo.writes
async def team_invite(
    call: Call,
    teamId: Team,
    userId: Person,
    role: Annotated[Literal["admin", "member"], Field(description="An admin decides who is in the team")] = "member",
) -> Answer[TeamInvited]:
    """Let a user into a team, at once: what is shared with it he sees from now on. A member gets the role instead."""
    done = await call.engine.teams.invite(call.actor, _team(teamId), _person(userId), Role(role))
    changed = done.before is not done.mate.role
    answer: TeamInvited = {
        "teamId": f"teams:{done.team.id}",
        **_member(done.mate),
        "alreadyMember": done.before is not None,
        "changed": changed,
    }
    said = "役割を変更しました" if done.before else "メンバーを招待しました"
    words = f"✅ {said}" if changed else "すでにメンバーです"
    team = quoted(done.team.name, _SHOWN)
    return Answer(answer, text=f"{words}: {quoted(done.mate.name, _SHOWN)} [{done.mate.role}] → {team}")


@creo.destroys
async def team_remove(call: Call, teamId: Team, userId: Person) -> Answer[TeamRemoved]:
    """Let a user go from a team, or leave it yourself: what is shared with it is out of his sight at once."""
    team, gone = await call.engine.teams.remove(call.actor, _team(teamId), _person(userId))
    answer: TeamRemoved = {
        "teamId": f"teams:{team.id}",
        "userId": f"users:{gone.user}",
        "name": gone.name,
        "removed": True,
    }
    words = f"✅ メンバーを削除しました: {quoted(gone.name, _SHOWN)} ← {quoted(team.name, _SHOWN)}"
    return Answer(answer, text=words)


@creo.writes
async def share_atlas(
    call: Call,
    atlasId: Atlas,
    teamId: Team,
    permission: Annotated[
        Literal["read", "write", "admin"], Field(description="What its members may do there; each includes the last")
    ] = "read",
    inheritChildren: Annotated[bool, Field(description="Share what lies below it too")] = True,
    sharedBy: Annotated[str | None, Field(description="Your own user id")] = None,
) -> Answer[AtlasShared]:
    """Share an atlas that you govern with a team you are in: its members find what is in it. Again changes how."""
    _whose(call, "sharedBy", sharedBy)
    team, right = _team(teamId), Right(permission)
    atlas = ids.atlas("atlasId", atlasId)
    share = await call.engine.teams.share(call.actor, atlas, team, right, inheritChildren)
    return Answer(_given(share, call.actor.user), text=f"✅ Atlasを共有しました: {_passed(share)} [{permission}]")


@creo.destroys
async def unshare_atlas(call: Call, atlasId: Atlas, teamId: Team) -> Answer[AtlasUnshared]:
    """End sharing an atlas with a team: its members lose sight of it at once."""
    share = await call.engine.teams.unshare(call.actor, ids.atlas("atlasId", atlasId), _team(teamId))
    answer: AtlasUnshared = {
        "atlasId": f"atlas:{share.atlas.id}",
        "teamId": f"teams:{share.team.id}" if share.team else "",
        "unshared": True,
    }
    return Answer(answer, text=f"✅ Atlasの共有を解除しました: {_passed(share)}")


@creo.reads
async def list_shared_atlas(
    call: Call,
    userId: Annotated[str | None, Field(description="Your own user id; an administrator may name anyone")] = None,
) -> Answer[SharedAtlasList]:
    """The atlases shared with you, through which team and how, the latest first."""
    whose = _whose(call, "userId", userId)
    found, total = await call.engine.teams.shared(call.actor, whose, MOST_SHARED_LISTED)
    user = whose or call.actor.user
    answer: SharedAtlasList = {
        "atlas": [_received(share, user) for share in found],
        "total": total,
        "hasMore": len(found) < total,
    }
    return Answer(answer, text=_told(found, total))


def _whose(call: Call, field: str, value: str | None) -> UserId | None:
    """Whom an argument names: the caller, or for an administrator anyone."""
    administrator = Permission.ADMIN in call.actor.permissions
    return None if value is None else ids.caller(field, value, call.actor.user, administrator=administrator)


def _team(value: str) -> TeamId:
    return TeamId(ids.bare("teamId", value, "teams", "team"))


def _person(value: str) -> str:
    """A user's id, whichever way it is written, or else his name."""
    table, colon, rest = value.strip().rpartition(":")
    identifier = rest.strip("⟨⟩").lower()
    return identifier if is_uuid(identifier) and (not colon or table in ("users", "user")) else value


def _shown(roster: Roster) -> TeamShown:
    one = roster.membership
    return {
        "id": f"teams:{one.team.id}",
        "name": one.team.name,
        "description": one.team.description,
        "role": one.role.value,
        "memberCount": one.mates,
        "atlasCount": one.atlases,
        "members": [_member(mate) for mate in roster.mates],
        "hasMoreMembers": len(roster.mates) < one.mates,
        "createdAt": instant(one.team.created_at),
    }


def _member(mate: Mate) -> TeamMember:
    return {
        "userId": f"users:{mate.user}",
        "name": mate.name,
        "role": mate.role.value,
        "joinedAt": instant(mate.since),
    }


def _given(share: Share, by: UserId) -> AtlasShared:
    assert share.team
    return {
        "atlasId": f"atlas:{share.atlas.id}",
        "name": share.atlas.name,
        "teamId": f"teams:{share.team.id}",
        "teamName": share.team.name,
        "permission": share.right.value,
        "inheritChildren": share.inherited,
        "sharedBy": f"users:{by}",
        "sharedAt": instant(share.since),
    }


def _received(share: Share, user: UserId) -> SharedAtlas:
    shown: SharedAtlas = {
        "atlasId": f"atlas:{share.atlas.id}",
        "permission": share.right.value,
        "source": "team" if share.team else "user",
        "name": share.atlas.name,
        "inheritChildren": share.inherited,
        "owned": share.atlas.owner == user,
        "sharedAt": instant(share.since),
    }
    if share.team:
        shown["teamId"] = f"teams:{share.team.id}"
        shown["teamName"] = share.team.name
    return shown


def _told(shares: Sequence[Share], total: int) -> str:
    lines = [f"- {_passed(share)} [{share.right}] (ID: atlas:{share.atlas.id})" for share in shares[:_NAMED]]
    return "\n".join([f"共有されているAtlasは{total}件あります", *lines, *_rest(total)])


def _passed(share: Share) -> str:
    """What was shared, and with whom."""
    atlas = quoted(share.atlas.name, _SHOWN)
    return f"{atlas} → {quoted(share.team.name, _SHOWN)}" if share.team else atlas


def _named(roster: Roster) -> str:
    team = roster.membership.team
    return f"{quoted(team.name, _SHOWN)} (ID: teams:{team.id})"


def _rest(total: int) -> list[str]:
    return [f"…他{total - _NAMED}件"] if total > _NAMED else []
