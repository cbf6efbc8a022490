"""ログ: get_logs, search_logs."""

from datetime import timedelta

import pytest

from commonplace.domain.errors import Invalid
from commonplace.engine import Engine
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@behaviour("creo.log.get")
async def test_the_log_tells_who_did_what_when_and_to_which_memory(talk: CreoConversation) -> None:
    memory = await talk.remember()
    me, session = await talk.call("get_user"), (await talk.call("get_status"))["sessionId"]
    logs = (await talk.call("get_logs", limit=500))["logs"]
    (entry,) = [one for one in logs if one["subject"] == memory]
    assert (entry["tool"], entry["what"], entry["level"]) == ("creo.remember", "remembered", "info")
    assert (entry["userId"], entry["user"]) == (me["id"], "owner")
    assert (entry["credential"], entry["sessionId"], entry["times"]) == (me["credential"], session, 1)
    assert [one["timestamp"] for one in logs] == sorted((one["timestamp"] for one in logs), reverse=True)
    assert (await talk.says("get_logs")).startswith("📜 ログ: ")


@behaviour("creo.log.refusals")
async def test_refused_calls_are_warnings_with_the_kind_of_error_only(talk: CreoConversation) -> None:
    word = unique()
    await talk.refused("update_memory", id="01890a5d-ac96-774b-bcce-b302099a8057", content=word)
    await talk.invalid("remember", content=word, ttl=1)
    await talk.invalid("remember", content=word, nonsense=word)
    logs = (await talk.call("get_logs", level="warning"))["logs"]
    assert {one["level"] for one in logs} <= {"warning", "error"}
    told = {(one["tool"], one["what"]) for one in logs}
    assert {("creo.update_memory", "refused: NotFound"), ("creo.remember", "refused: Invalid")} <= told
    assert word not in str(logs)
    assert (await talk.call("search_logs", query=word))["total"] == 0


@behaviour("creo.log.reads")
async def test_reads_that_succeed_are_not_logged(local: CreoConversation) -> None:
    await local.call("get_status")
    await local.call("search", query="x")
    await local.call("get_logs")
    assert await local.call("get_logs") == {"logs": [], "total": 0, "hasMore": False}


@behaviour("creo.log.failures")
async def test_a_refusal_of_every_dialect_is_in_the_log(local: CreoConversation, engine: Engine) -> None:
    owner = await engine.access.local_owner()
    engine.doings.failed(owner.through("greeum.query_memory", "s"), RuntimeError("secret"))
    (entry,) = (await local.call("get_logs", level="error"))["logs"]
    assert (entry["tool"], entry["what"]) == ("greeum.query_memory", "failed: RuntimeError")


@behaviour("creo.log.levels")
async def test_a_level_means_that_and_graver(local: CreoConversation) -> None:
    await local.remember()
    await local.refused("forget", id="01890a5d-ac96-774b-bcce-b302099a8057", confirm=True)
    for level, total in (("debug", 2), ("info", 2), ("warn", 1), ("warning", 1), ("error", 0)):
        assert (await local.call("get_logs", level=level))["total"] == total
    assert "level" in await local.invalid("get_logs", level="loud")


@behaviour("creo.log.limits")
async def test_the_log_is_bounded_and_says_how_much_there_is(local: CreoConversation, clock: Clock) -> None:
    for _ in range(60):
        await local.remember()
        clock.advance(timedelta(seconds=1))
    logs = await local.call("get_logs")
    assert (len(logs["logs"]), logs["total"], logs["hasMore"]) == (50, 60, True)
    assert len((await local.call("get_logs", limit=500))["logs"]) == 60
    assert len((await local.call("search_logs", query="remember", limit=7))["logs"]) == 7
    for limit in (0, -1, 501, 10**30):
        assert "limit" in await local.invalid("get_logs", limit=limit)
        assert "limit" in await local.invalid("search_logs", query="x", limit=limit)


@behaviour("creo.log.search")
async def test_the_log_is_searched_literally_and_whatever_the_case(talk: CreoConversation) -> None:
    memory = await talk.remember()
    found = await talk.call("search_logs", query=memory.upper())
    assert [(one["subject"], one["what"]) for one in found["logs"]] == [(memory, "remembered")]
    assert found["total"] == 1
    for query in ("CREO.Remember", "remembered", "OWNER"):
        assert (await talk.call("search_logs", query=query))["total"] >= 1
    for query in ("%", "creo%remember", "\\", "' OR 1=1 --"):
        assert (await talk.call("search_logs", query=query))["total"] == 0
    for query in ("", " "):
        assert "query" in await talk.invalid("search_logs", query=query)


@behaviour("creo.log.accounts")
async def test_acts_on_the_account_are_in_the_log_without_secrets(talk: CreoConversation) -> None:
    made = await talk.call("generate_api_key")
    identifier = made["id"].partition(":")[2]
    (entry,) = (await talk.call("search_logs", query=identifier))["logs"]
    assert (entry["tool"], entry["what"]) == ("creo.generate_api_key", "key created")
    assert made["key"] not in str(await talk.call("get_logs", limit=500))


@behaviour("creo.log.own")
async def test_each_sees_its_own_log_and_administrators_all(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    memory = await ann.remember("secret words")
    assert (await ann.call("get_logs"))["total"] == 1
    for tool, more in (("get_logs", {}), ("search_logs", {"query": memory}), ("search_logs", {"query": "ann"})):
        assert (await ben.call(tool, **more))["total"] == 0
    everything = await admin.call("get_logs")
    logged = [(one["user"], one["subject"]) for one in everything["logs"] if one["what"] != "key created"]
    assert logged == [("ann", memory)]
    assert "secret words" not in str(everything)
    assert isinstance(await ben.refused("search_logs", query="\ud800"), Invalid)


@behaviour("creo.log.get")
async def test_the_words_count_what_they_leave_out(ann: Speaker) -> None:
    for _ in range(7):
        await ann.remember()
    answer = await ann.answer("get_logs", limit=3)
    assert answer.text.endswith(f"ほか {answer.value['total'] - 3} 件")
