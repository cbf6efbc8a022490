"""ユーザー管理: who is calling, and keys of one's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import flat, instant, quoted
from commonplace.domain import limits

MOST_TEAMS = 100
LONGEST_DAYS = 3650
_SHOWN = 80


class TeamShown(TypedDict):
    id: str
    name: str
    role: str


class UserShown(TypedDict):
    id: str
    name: str
    createdAt: str
    credential: str
    permissions: list[str]
    limitedTo: list[str] | None
    teams: list[TeamShown]
    timeZone: str


class ApiKey(TypedDict):
    id: str
    name: str
    key: str
    permissions: list[str]
    createdAt: str
    expiresAt: str | None


@creo.reads
async def get_user(call: Call) -> Answer[UserShown]:
    """Who you are: id, name, teams, time zone, and what this credential allows."""
    actor = call.actor
    user = await call.engine.access.user(actor)
    answer: UserShown = {
        "id": f"users:{user.id}",
        "name": user.name,
        "createdAt": instant(user.created_at),
        "credential": actor.credential,
        "permissions": sorted(actor.permissions),
        "limitedTo": None if actor.limited_to is None else [f"atlas:{one}" for one in sorted(actor.limited_to)[:100]],
        "teams": await _teams(call),
        "timeZone": str(actor.zone),
    }
    words = [f"👤 {flat(user.name, _SHOWN)} (ID: {answer['id']})", f"権限: {', '.join(answer['permissions'])}"]
    if answer["teams"]:
        words.append("チーム: " + ", ".join(flat(one["name"], _SHOWN) for one in answer["teams"][:20]))
    words.append(f"タイムゾーン: {answer['timeZone']}")
    return Answer(answer, text="\n".join(words))


async def _teams(call: Call) -> list[TeamShown]:
    """Not for a key that opens only a part: who its user works with is no part of that."""
    if call.actor.limited_to is not None:
        return []
    found, _ = await call.engine.teams.all(call.actor, None, MOST_TEAMS, 0)
    mine = [one.membership for one in found]
    return [{"id": f"teams:{one.team.id}", "name": one.team.name, "role": one.role.value} for one in mine]


@creo.writes
async def generate_api_key(
    call: Call,
    name: Annotated[str, Field(description="What the key is called; made up where left out")] = "",
    expiresInDays: Annotated[Whole | None, Field(description="Days after which it opens nothing, 1 to 3650")] = None,
) -> Answer[ApiKey]:
    """Make an API key for yourself with the permissions you have now. The key is shown this once."""
    if expiresInDays is not None:
        limits.within("expiresInDays", expiresInDays, 1, LONGEST_DAYS)
    lasting = None if expiresInDays is None else timedelta(days=expiresInDays)
    made = await call.engine.keys.generate(call.actor, name, lasting)
    credential = made.credential
    answer: ApiKey = {
        "id": f"api_key:{credential.id}",
        "name": credential.name,
        "key": made.key,
        "permissions": sorted(credential.permissions),
        "createdAt": instant(credential.created_at),
        "expiresAt": instant(credential.expires_at) if credential.expires_at else None,
    }
    words = [
        f"✅ APIキーを生成しました: {quoted(credential.name, _SHOWN)}",
        f"キー: {made.key}",
        "このキーは一度だけ表示されます。安全な場所に保管してください。",
    ]
    return Answer(answer, text="\n".join(words))
