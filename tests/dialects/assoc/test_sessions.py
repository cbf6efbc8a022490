"""Whose current session it is: that of a connection, whoever else has the same key or the same folder."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.dialects.assoc.speech import ASSOC, AssocConversation
from tests.dialects.conversation import unique
from tests.dialects.servers import Servers
from tests.serving import Served, Wire, over_http, stdio

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NAMELESS = Wire("http", "2026-07-28")
"""Here connections have no ids: clients that are alike share what is current."""


@asynccontextmanager
async def agent(wire: Wire, servers: Servers, folder: Path) -> AsyncIterator[AssocConversation]:
    """One of several that have the same key, or start servers of their own on the same folder."""
    client = stdio(folder, "--dialect", "assoc", era=wire.era) if wire.transport == "stdio" else None
    async with client or servers.connected("assoc", wire) as connected:
        yield AssocConversation(connected)


async def current(talk: AssocConversation) -> str | None:
    session = (await talk.call("user", action="get_current"))["current_session"]
    return session["session_name"] if session else None


@behaviour("assoc.user.current_session", "assoc.user.shared_session")
async def test_agents_with_one_key_or_folder_do_not_work_in_each_others_sessions(
    wire: Wire, servers: Servers, tmp_path: Path
) -> None:
    alike = wire == NAMELESS
    one_name, other_name = unique(), unique()
    async with agent(wire, servers, tmp_path) as one, agent(wire, servers, tmp_path) as other:
        ones = (await one.call("user", action="create_session", session_name=one_name))["session_id"]
        assert await current(other) == (one_name if alike else None)
        others = (await other.call("user", action="create_session", session_name=other_name))["session_id"]
        assert await current(one) == (other_name if alike else one_name)
        kept = await one.call("memory", action="store", content=unique(), domain="session")
        assert kept["session_id"] == (others if alike else ones)
        if not alike:
            await other.call("user", action="end_session", session_id=others)
            assert (await one.get(kept["memory_id"]))["session_id"] == ones
            assert await current(other) is None


@behaviour("assoc.user.shared_session")
async def test_clients_without_ids_of_their_own_are_kept_apart_by_a_header_of_choice(listening: Served) -> None:
    async def talking(value: str, name: str) -> str | None:
        async with over_http(listening, era="2026-07-28", path=ASSOC, **{"Mcp-Session-Id": value}) as client:
            talk = AssocConversation(client)
            before = await current(talk)
            await talk.call("user", action="create_session", session_name=name)
            return before

    first, second = unique(), unique()
    assert [await talking(one, one) for one in (first, second, first)] == [None, None, first]


@behaviour("assoc.store.session_required", "assoc.user.current_session")
async def test_who_comes_back_is_told_which_sessions_are_open_and_goes_on_in_one(tmp_path: Path) -> None:
    async with stdio(tmp_path, "--dialect", "assoc") as client:
        made = [
            await AssocConversation(client).call("user", action="create_session", session_name=f"agent {number}")
            for number in range(6)
        ]
    async with stdio(tmp_path, "--dialect", "assoc") as client:
        talk = AssocConversation(client)
        code, said = await talk.refused("memory", action="store", content="x", domain="session")
        assert code == "SESSION_REQUIRED"
        listed = ", ".join(f"'{one['session_name']}' (ID: {one['session_id']})" for one in made[:0:-1])
        assert said == (
            "セッションが必要です: 現在のセッションがありません。"
            "user の create_session で作成するか、switch_session で切り替えるか、session_id を指定してください。"
            f"開いているセッション: {listed} 他1件"
        )
        await talk.call("user", action="switch_session", session_id=made[2]["session_id"])
        kept = await talk.told("memory", action="store", content="x", domain="session")
        assert kept["data"]["session_id"] == made[2]["session_id"]
