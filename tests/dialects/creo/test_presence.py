"""接続状態: update_presence, get_presence."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
FIELDS = {"connectionId", "userId", "displayName", "status", "currentFocus", "connectedAt", "lastSeenAt"}


async def acquaint(ann: Speaker, ben: Speaker) -> None:
    """Give them a place they share."""
    made = (await ann.engine.collections.found(ann.actor, Kind.ATLAS, "together")).collection
    now = ann.engine.clock.now()
    await ann.engine.store.write(lambda tx: tx.grant(ben.actor.user, made.number, Right.READ, ann.actor.user, now))


@behaviour("creo.presence.update")
async def test_a_connection_says_what_it_is_busy_with(talk: CreoConversation) -> None:
    memory, name = await talk.remember(), f"creo-lead {unique()}"
    focus = {"type": "memory", "targetId": memory, "description": "設計レビュー中"}
    shown = await talk.call("update_presence", currentFocus=focus, status="busy", displayName=name)
    assert set(shown) == FIELDS
    assert (shown["status"], shown["displayName"]) == ("busy", name)
    assert shown["currentFocus"] == {**focus, "targetId": f"memories:{memory}"}
    assert shown["userId"].startswith("users:")
    assert shown in (await talk.call("get_presence"))["connections"]
    assert (
        await talk.says("update_presence") == f"✅ プレゼンスを更新しました: {name} [busy] (memory 「設計レビュー中」)"
    )


@behaviour("creo.presence.partial")
async def test_what_is_left_out_stays(local: CreoConversation) -> None:
    first = await local.call("update_presence")
    assert (first["status"], first["currentFocus"], first["displayName"]) == ("active", None, "owner")
    await local.call("update_presence", currentFocus={"type": "search", "description": "探し物"})
    await local.call("update_presence", status="idle")
    last = await local.call("update_presence", displayName="lead")
    assert (last["status"], last["displayName"]) == ("idle", "lead")
    assert last["currentFocus"] == {"type": "search", "description": "探し物"}
    assert last["connectionId"] == first["connectionId"]


@behaviour("creo.presence.invalid")
async def test_what_makes_no_sense_is_refused(talk: CreoConversation) -> None:
    for arguments, said in (
        ({"status": "away"}, "status: "),
        ({"currentFocus": {}}, "currentFocus.type: is required"),
        ({"currentFocus": {"type": "sleep"}}, "currentFocus.type: "),
        ({"currentFocus": {"type": "memory", "targetId": "x"}}, "currentFocus.targetId: "),
        ({"currentFocus": {"type": "atlas", "targetId": f"memories:{ABSENT}"}}, "currentFocus.targetId: "),
        ({"currentFocus": {"type": "idle", "since": 1}}, "currentFocus: 'since' is not one of its fields"),
        ({"currentFocus": {"type": "idle", "description": "x" * 1001}}, "currentFocus: "),
        ({"displayName": " "}, "displayName: "),
        ({"displayName": "a\x00"}, "displayName: "),
    ):
        assert (await talk.invalid("update_presence", **arguments)).startswith(said), arguments
    assert (await talk.invalid("get_presence", userId="someone")).startswith("userId: ")


@behaviour("creo.presence.get")
async def test_those_who_are_here_are_listed(talk: CreoConversation) -> None:
    own = await talk.call("update_presence", currentFocus={"type": "idle"}, displayName="名前\n二行目", status="active")
    listed = await talk.call("get_presence")
    assert own in listed["connections"]
    assert (listed["total"], listed["hasMore"]) == (len(listed["connections"]), False)
    assert own in (await talk.call("get_presence", userId=own["userId"]))["connections"]
    assert (await talk.call("get_presence", userId=ABSENT))["connections"] == []
    words = await talk.says("get_presence")
    assert words.startswith(f"接続中のAgentは{listed['total']}件あります\n")
    assert "- 名前 二行目 [active] (idle)" in words


@behaviour("creo.presence.away")
async def test_silence_is_away_and_long_silence_is_gone(local: CreoConversation, clock: Clock, engine: Engine) -> None:
    async def statuses() -> list[str]:
        owner = await engine.access.local_owner()
        return [one.status.value for one in await engine.attendance.present(owner)]

    await local.call("update_presence", status="busy")
    clock.advance(timedelta(seconds=60))
    assert await statuses() == ["away"]
    clock.advance(timedelta(minutes=9))
    assert await statuses() == []


@behaviour("creo.presence.calls")
async def test_any_call_is_a_sign_of_life(local: CreoConversation, clock: Clock, engine: Engine) -> None:
    await local.remember("a text")
    await engine.attendance.keep()
    (here,) = (await local.call("get_presence"))["connections"]
    assert (here["status"], here["displayName"]) == ("active", "owner")
    clock.advance(timedelta(seconds=90))
    assert [one["status"] for one in (await local.call("get_presence"))["connections"]] == ["away"]
    await engine.attendance.keep()
    (back,) = (await local.call("get_presence"))["connections"]
    assert (back["status"], back["connectionId"]) == ("active", here["connectionId"])


@behaviour("creo.presence.sight")
async def test_only_those_who_share_something_see_each_other(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    for speaker in (ann, ben, admin):
        await speaker.call("update_presence")
    for speaker in (ann, ben, admin):
        listed = await speaker.call("get_presence")
        assert [one["userId"] for one in listed["connections"]] == [f"users:{speaker.actor.user}"]
    name = f"users:{ann.actor.user}"
    assert await ben.call("get_presence", userId=name) == await ben.call("get_presence", userId=ABSENT)
    await acquaint(ann, ben)
    assert (await ben.call("get_presence"))["total"] == 2
    assert [one["userId"] for one in (await ben.call("get_presence", userId=name))["connections"]] == [name]


@behaviour("creo.presence.team")
async def test_teammates_see_each_other(ann: Speaker, ben: Speaker) -> None:
    team = await ann.call("team_create", name="一緒に", ownerId=f"users:{ann.actor.user}")
    await ben.call("update_presence", displayName="ben")
    assert (await ann.call("get_presence"))["total"] == 0
    await ann.call("team_invite", teamId=team["id"], userId=f"users:{ben.actor.user}")
    assert [one["displayName"] for one in (await ann.call("get_presence"))["connections"]] == ["ben"]


@behaviour("creo.presence.veiled")
async def test_a_focus_on_what_another_may_not_see_is_shown_without_it(ann: Speaker, ben: Speaker) -> None:
    await acquaint(ann, ben)
    secret = await ann.remember("her own")
    for target in (secret, ABSENT):
        focus = {"type": "memory", "targetId": target, "description": "about it"}
        own = await ann.call("update_presence", currentFocus=focus)
        assert own["currentFocus"] == {**focus, "targetId": f"memories:{target}"}
        (seen,) = (await ben.call("get_presence", userId=f"users:{ann.actor.user}"))["connections"]
        assert seen["currentFocus"] == {"type": "memory"}
        assert "about it" not in await ben.says("get_presence")


@behaviour("creo.presence.permission")
async def test_presence_needs_a_key_that_is_whole(engine: Engine, settings: Settings, ann: Speaker) -> None:
    limited = Speaker(engine, settings, ann.actor.within(frozenset()))
    for tool in ("update_presence", "get_presence"):
        assert isinstance(await limited.refused(tool), Forbidden)
    reading = await enrolled(engine, settings, "ann", Permission.READ)
    assert isinstance(await reading.refused("update_presence"), Forbidden)
    assert (await reading.call("get_presence"))["total"] == 0
