"""接続状態."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import flat, instant, quoted
from commonplace.domain.presence import Focus, Presence, Status

MOST_LISTED = 200
_TOLD = 20
"""How many the words of an answer name; the object has more of them."""
_GLIMPSE = 60


@with_config(ConfigDict(extra="forbid", strict=True))
class CurrentFocus(TypedDict):
    """What you are busy with."""

    type: Annotated[Literal["memory", "atlas", "search", "idle"], Field(description="What it is about")]
    targetId: NotRequired[Annotated[str | None, Field(description="Which one; hidden from who may not see it")]]
    description: NotRequired[Annotated[str | None, Field(description="In a few words")]]


class FocusShown(TypedDict):
    type: str
    targetId: NotRequired[str]
    description: NotRequired[str]


class PresenceShown(TypedDict):
    """A connection."""

    connectionId: str
    userId: str
    displayName: str
    status: str
    currentFocus: FocusShown | None
    connectedAt: str
    lastSeenAt: str


class PresenceList(TypedDict):
    connections: list[PresenceShown]
    total: int
    hasMore: bool


@creo.writes
async def update_presence(
    call: Call,
    currentFocus: Annotated[CurrentFocus | None, Field(description="What you are busy with")] = None,
    status: Annotated[Literal["active", "idle", "busy"] | None, Field(description="How you are")] = None,
    displayName: Annotated[str | None, Field(description="What others call you")] = None,
) -> Answer[PresenceShown]:
    """Tell those you share a team or an atlas with what you are doing. What is left out stays as it was."""
    focus = None if currentFocus is None else _focus(currentFocus)
    said = None if status is None else Status(status)
    found = await call.engine.attendance.update(call.actor, focus, said, displayName)
    return Answer(connection(found), text=f"✅ プレゼンスを更新しました: {_worded(found)}")


@creo.reads
async def get_presence(
    call: Call,
    userId: Annotated[str | None, Field(description="Only connections of this user, like users:UUID")] = None,
) -> Answer[PresenceList]:
    """Who is connected: you, and those you share a team or an atlas with. Away is who was silent for a minute."""
    whose = None if userId is None else ids.user("userId", userId)
    found = await call.engine.attendance.present(call.actor, whose)
    shown = found[:MOST_LISTED]
    lines = [f"- {_worded(one)}" for one in shown[:_TOLD]]
    rest = [f"… 他{len(found) - _TOLD}件"] if len(found) > _TOLD else []
    return Answer(
        {"connections": [connection(one) for one in shown], "total": len(found), "hasMore": len(shown) < len(found)},
        text="\n".join([f"接続中のAgentは{len(found)}件あります", *lines, *rest]),
    )


def connection(presence: Presence) -> PresenceShown:
    """One connection, as it is listed and as it is pushed."""
    return {
        "connectionId": presence.connection,
        "userId": f"users:{presence.user}",
        "displayName": presence.name,
        "status": presence.status.value,
        "currentFocus": _shown(presence.focus) if presence.focus else None,
        "connectedAt": instant(presence.connected_at),
        "lastSeenAt": instant(presence.seen_at),
    }


def _focus(given: CurrentFocus) -> Focus:
    target = (given.get("targetId") or "").strip()
    if target and given["type"] == "memory":
        target = f"memories:{ids.memory('currentFocus.targetId', target)}"
    elif target and given["type"] == "atlas":
        target = f"atlas:{ids.atlas('currentFocus.targetId', target)}"
    return Focus(given["type"], target, given.get("description") or "")


def _shown(focus: Focus) -> FocusShown:
    shown: FocusShown = {"type": focus.kind}
    if focus.target:
        shown["targetId"] = focus.target
    if focus.description:
        shown["description"] = focus.description
    return shown


def _worded(presence: Presence) -> str:
    focus = ""
    if presence.focus:
        about = f" {quoted(presence.focus.description, _GLIMPSE)}" if presence.focus.description else ""
        focus = f" ({presence.focus.kind}{about})"
    return f"{flat(presence.name, _GLIMPSE)} [{presence.status}]{focus}"


def _heard(call: Call) -> None:
    """Any call is a sign of life."""
    if not call.settings.read_only:
        call.engine.attendance.alive(call.actor)


creo.heard = _heard
