"""セッション管理: get_session, get_status, end_session."""

from datetime import timedelta
from pathlib import Path

import pytest

from commonplace import __version__
from commonplace.dialects.creo.session import session_id
from commonplace.domain.errors import NotFound
from commonplace.engine import Engine
from commonplace.storage.sqlite.store import FILE_NAME
from tests.damage import lose_table
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

HOUR = timedelta(hours=1)


@behaviour("creo.session.status")
async def test_status_tells_who_is_calling_in_which_session_and_how_the_server_is(talk: CreoConversation) -> None:
    status = await talk.call("get_status")
    assert (status["status"], status["server"], status["version"]) == ("ok", "creo-memories", "3.0")
    assert status["release"] == __version__
    assert status["uptimeSeconds"] >= 0
    assert status["user"]["name"] == "owner"
    assert status["sessionId"].startswith("session:")
    assert status["embedder"]["ready"]
    assert status["storage"] == {"writable": True, "reason": ""}
    before = status["counts"]["memories"]
    await talk.remember(ttl=60)
    counts = (await talk.call("get_status"))["counts"]
    assert counts["memories"] > before
    assert counts["ephemeral"] >= 1
    assert f"セッション: {status['sessionId']}" in await talk.says("get_status")


@behaviour("creo.session.status_own")
async def test_status_counts_what_the_caller_sees_and_nothing_of_others(ann: Speaker, ben: Speaker) -> None:
    for _ in range(3):
        await ann.remember()
    await ann.remember(ttl=60)
    await ann.call("create_todo", content="x")
    status = await ann.call("get_status")
    assert status["counts"] == {"memories": 4, "ephemeral": 1, "openTodos": 1}
    status = await ben.call("get_status")
    assert status["counts"] == {"memories": 0, "ephemeral": 0, "openTodos": 0}
    assert "ann" not in str(status)


@behaviour("creo.session.status_trouble")
async def test_status_says_when_the_embedder_fails_and_never_where_the_data_lie(
    local: CreoConversation, embedder: Embedder, engine: Engine
) -> None:
    embedder.broken = "out of order"
    await local.remember("x")
    status = await local.call("get_status")
    assert status["status"] == "degraded"
    assert not status["embedder"]["ready"]
    assert "out of order" in status["embedder"]["reason"]
    assert engine.store.location not in str(status)


@behaviour("creo.session.status_damaged")
@pytest.mark.parametrize(
    ("table", "unreadable"),
    [("events", set()), ("meta", set()), ("memories", {"memories"}), ("todos_of", {"openTodos"}), ("users", {"name"})],
)
async def test_status_tells_of_a_damaged_file_and_of_what_cannot_be_read(
    local: CreoConversation, engine: Engine, folder: Path, table: str, unreadable: set[str]
) -> None:
    await local.remember("x")
    lose_table(folder / FILE_NAME, table)
    status = await local.call("get_status")
    assert status["status"] == "degraded"
    assert "part of the file is damaged" in status["storage"]["reason"]
    figures = status["counts"] | {"name": status["user"]["name"]}
    assert {what for what, figure in figures.items() if figure is None} == unreadable
    said = await local.says("get_status")
    assert "part of the file is damaged" in said
    assert ("読めません" in said) == bool(unreadable)
    assert engine.store.location not in str(status) + said


@behaviour("creo.session.get")
async def test_a_session_tells_what_it_did(talk: CreoConversation) -> None:
    session = (await talk.call("get_status"))["sessionId"]
    memory = await talk.remember(unique())
    await talk.call("update_memory", id=memory, tags=["x"])
    await talk.call("forget", id=memory, confirm=True)
    await talk.refused("forget", id=memory, confirm=True)
    told = await talk.call("get_session", sessionId=session)
    assert (told["id"], told["current"]) == (session, True)
    for kind in ("remembered", "revised", "forgotten"):
        assert told["changes"][kind] >= 1
    assert told["totalChanges"] == sum(told["changes"].values())
    assert told["refused"] >= 1
    assert {"creo.remember", "creo.update_memory", "creo.forget"} <= {one["tool"] for one in told["tools"]}
    assert told["startedAt"] <= told["lastActivityAt"]
    assert told["users"] == [(await talk.call("get_user"))["id"]]
    assert (await talk.call("get_session", sessionId="current"))["id"] == session
    assert "変更: " in await talk.says("get_session", sessionId="current")


@behaviour("creo.session.own")
async def test_a_session_of_another_is_as_unknown_as_none(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    await ann.remember()
    session = (await ann.call("get_status"))["sessionId"]
    for tool in ("get_session", "end_session"):
        refused = await ben.refused(tool, sessionId=session)
        absent = await ben.refused(tool, sessionId="session:nothing")
        assert isinstance(refused, NotFound)
        assert refused.message.replace(session, "session:nothing") == absent.message
    told = await admin.call("get_session", sessionId=session)
    assert (told["totalChanges"], told["current"]) == (1, False)
    assert isinstance(await admin.refused("end_session", sessionId=session), NotFound)


@behaviour("creo.session.ids")
async def test_ids_of_sessions_carry_any_name(ann: Speaker) -> None:
    for name in ("a/b c/2026-01-15", "日本語 / 100%", "a%2Fb", "\n\x00", "x:y"):
        speaker = Speaker(ann.engine, ann._settings, ann.actor.through("", name))
        status = await speaker.call("get_status")
        assert status["sessionId"] == session_id(name)
        assert status["sessionId"].isascii()
        told = await speaker.call("get_session", sessionId=status["sessionId"])
        assert (told["id"], told["current"]) == (status["sessionId"], True)


@behaviour("creo.session.client")
async def test_a_session_names_its_client_where_that_is_known(ann: Speaker) -> None:
    for name, client in (
        ("ann/Claude Code/2026-01-15", "Claude Code"),
        ("stdio/abc", "stdio"),
        ("ann/5b1a", None),
    ):
        speaker = Speaker(ann.engine, ann._settings, ann.actor.through("", name))
        assert (await speaker.call("get_session", sessionId="current"))["client"] == client


@behaviour("creo.session.end")
async def test_the_end_of_a_session_cleans_up_and_lists_what_was_not_promoted(
    local: CreoConversation, clock: Clock
) -> None:
    for _ in range(2):
        await local.remember(ttl=60)
    clock.advance(timedelta(seconds=60))
    lasting = [await local.remember(ttl=ttl) for ttl in (7200, 432000, 1800)]
    await local.remember("it stays")
    session = (await local.call("get_status"))["sessionId"]
    answer = await local.answer("end_session", sessionId=session)
    assert answer.content[0].text == (  # type: ignore[union-attr]
        "✅ セッションを終了しました\n"
        'cleanedUpExpired: "2件の期限切れメモリを削除"\n'
        "\n"
        "未昇格の一時メモリが 3 件あります:\n"
        f"1. ID: {lasting[0]} (残り 2時間)\n"
        f"2. ID: {lasting[1]} (残り 5日)\n"
        f"3. ID: {lasting[2]} (残り 30分)\n"
        "\n"
        "永続化したいものがあれば update_memory({ id, ttl: null }) で昇格できます。"
    )
    body = answer.structured_content or {}
    assert (body["cleanedUpExpired"], body["cleanedUp"], body["total"]) == ("2件の期限切れメモリを削除", 2, 3)
    assert [one["id"] for one in body["ephemeralMemories"]] == lasting
    assert (await local.call("get_session", sessionId=session))["endedAt"]


@behaviour("creo.session.end_nothing")
async def test_where_nothing_is_ephemeral_the_end_is_short(local: CreoConversation) -> None:
    await local.remember()
    assert await local.says("end_session", sessionId="current") == (
        '✅ セッションを終了しました\ncleanedUpExpired: "0件の期限切れメモリを削除"'
    )


@behaviour("creo.session.end_wires")
async def test_a_session_is_ended_over_every_wire(talk: CreoConversation) -> None:
    kept = await talk.remember(ttl=3600)
    session = (await talk.call("get_status"))["sessionId"]
    ended = await talk.call("end_session", sessionId=session)
    assert ended["sessionId"] == session
    assert ended["total"] >= 1
    assert (kept in {one["id"] for one in ended["ephemeralMemories"]}) or ended["hasMore"]
    await talk.remember("the connection goes on")


@behaviour("creo.session.end_bounded")
async def test_at_most_twenty_are_listed_and_the_others_counted(local: CreoConversation) -> None:
    for _ in range(23):
        await local.remember(ttl=3600)
    ended = await local.call("end_session", sessionId="current")
    assert (len(ended["ephemeralMemories"]), ended["total"], ended["hasMore"]) == (20, 23, True)
    assert "ほか 3 件" in await local.says("end_session", sessionId="current")


@behaviour("creo.session.end_own")
async def test_ending_a_session_touches_nothing_of_others(ann: Speaker, ben: Speaker, clock: Clock) -> None:
    await ann.remember(ttl=60)
    living = await ann.remember(ttl=7200)
    clock.advance(HOUR)
    ended = await ben.call("end_session", sessionId="current")
    assert (ended["cleanedUp"], ended["total"]) == (0, 0)
    assert (await ann.call("end_session", sessionId="current"))["cleanedUp"] == 1
    assert (await ann.call("end_session", sessionId="current"))["ephemeralMemories"][0]["id"] == living
