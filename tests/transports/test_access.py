"""Keys over the network: who gets in, what each may do, and that users never meet."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from commonplace.domain.access import Permission
from commonplace.domain.errors import Unauthenticated
from tests.serving import OWNER_KEY, PROGRAM, Served, environment, over_http, over_sse, served
from tests.transports.wire import bearer, key_for, message_in, modern_headers, opened, post, request, revoke

READING = {
    *("query_memory", "retrieve_memory", "search_time", "get_stm_memories", "generate_prompt"),
    *("extract_keywords", "extract_tags", "verify_chain", "server_status"),
}


def _status(server: Served, headers: dict[str, str]) -> int:
    sent = {**modern_headers("tools/list", key=""), **headers}
    return int(post(server, request("tools/list", modern=True), sent).status_code)


def _sse_status(server: Served, headers: dict[str, str]) -> int:
    with httpx2.stream("GET", f"http://127.0.0.1:{server.sse_port}/sse", headers=headers, verify=False) as response:
        return response.status_code


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": OWNER_KEY},
        {"Authorization": f"Basic {OWNER_KEY}"},
        {"X-API-Key": "wrong"},
        {"X-API-Key": ""},
        {"Cookie": f"key={OWNER_KEY}"},
    ],
)
def test_without_a_valid_key_nothing_is_served(server: Served, headers: dict[str, str]) -> None:
    refused = post(server, request("tools/list", modern=True), {**modern_headers("tools/list", key=""), **headers})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    problem = Unauthenticated(shown=any("wrong" in value for value in headers.values()))
    assert refused.json()["error"]["data"]["remedy"] == problem.remedy
    assert httpx2.get(server.url("/metrics"), headers=headers).json()["remedy"] == problem.remedy
    assert httpx2.get(server.url("/health"), headers=headers).json()["status"] == "ok"
    assert _sse_status(server, headers) == 401


@pytest.mark.anyio
async def test_a_client_with_a_wrong_key_learns_what_to_do(server: Served) -> None:
    async with over_http(server, key="cp_wrong", era="2026-07-28") as client:
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
    assert Unauthenticated(shown=True).remedy in str(refused.value)


@pytest.mark.anyio
async def test_who_loses_his_key_while_connected_over_sse_is_told_so(folder: Path) -> None:
    with served(folder) as server:
        key = await key_for(folder, "guest")
        async with over_sse(server, key=key) as client:
            await client.list_tools()
            await revoke(folder, "guest's")
            with pytest.raises(MCPError, match="the credential is not valid"):
                await client.list_tools()


def test_a_key_in_the_address_is_no_key(server: Served) -> None:
    sent = modern_headers("tools/list", key="")
    assert post(server, request("tools/list", modern=True), sent, f"/mcp?key={OWNER_KEY}").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": f"Bearer {OWNER_KEY}"}, {"Authorization": f"bearer {OWNER_KEY}"}, {"X-API-Key": OWNER_KEY}],
)
def test_a_valid_key_opens_by_either_header(server: Served, headers: dict[str, str]) -> None:
    assert _status(server, headers) == 200
    assert _sse_status(server, headers) == 200


@pytest.mark.anyio
async def test_an_expired_key_is_refused_like_a_wrong_one(server: Served) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    key = await key_for(server.folder, "expired", expires_at=past)
    assert _status(server, bearer(key)) == 401
    later = await key_for(server.folder, "later", expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert _status(server, bearer(later)) == 200


@pytest.mark.anyio
async def test_a_revoked_key_is_refused_at_once_even_in_an_open_session(server: Served) -> None:
    key = await key_for(server.folder, "revoked", name="to be revoked")
    inside = bearer(key) | {"Mcp-Session-Id": opened(server, key)}
    assert post(server, request("tools/list"), inside).status_code == 200
    assert _status(server, bearer(key)) == 200
    await revoke(server.folder, "to be revoked")
    assert post(server, request("tools/list"), inside).status_code == 401
    assert _status(server, bearer(key)) == 401
    assert _sse_status(server, bearer(key)) == 401


def test_keys_made_on_the_command_line_open_the_server(server: Served) -> None:
    command = [PROGRAM, "keys", "create", "by hand", "--user", "hand", "--data-dir", str(server.folder)]
    made = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True, timeout=30)
    assert _status(server, bearer(made.stdout.strip())) == 200


# Reading only


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_reading_key_sees_and_uses_only_tools_that_read(server: Served, era: Any) -> None:
    key = await key_for(server.folder, f"reader {era}", Permission.READ)
    async with over_http(server, key=key, era=era) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        for tool, arguments in (
            ("add_memory", {"content": "x"}),
            ("update_memory", {"memory_id": "0", "importance": 0.5}),
            ("delete_memory", {"memory_id": "0"}),
            ("add_stm", {"content": "x"}),
            ("forget_stm", {"memory_id": "0"}),
            ("cleanup_expired_memories", {}),
            ("add_memory", {}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert (result.structured_content or {})["code"] == "PERMISSION_DENIED"
        assert not (await client.call_tool("query_memory", {"query": "x"})).is_error


@pytest.mark.anyio
async def test_the_folder_is_shown_to_administrators_only(server: Served) -> None:
    key = await key_for(server.folder, "curious")
    for chosen, shown in ((key, False), (OWNER_KEY, True)):
        async with over_http(server, key=chosen) as client:
            status = await client.call_tool("server_status", {})
            config = (await client.read_resource("server_config://")).contents[0]
            assert isinstance(config, TextResourceContents)
            assert (str(server.folder) in str(status.structured_content)) is shown
            assert (str(server.folder) in config.text) is shown


# Two users


async def _value(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    body = result.structured_content or {}
    return body["result"] if set(body) == {"result"} else body


async def _failure(client: Client, uri: str) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value.code, caught.value.message.replace(uri, "URI")


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_users_never_see_each_others_memories(server: Served, transport: str) -> None:
    keys = [await key_for(server.folder, f"{name} on {transport}") for name in ("anna", "bert")]
    over = over_http if transport == "http" else over_sse
    async with over(server, key=keys[0]) as anna, over(server, key=keys[1]) as bert:
        block = await _value(anna, "add_memory", content="zaqsecret of anna", tags=["zaqtag"])
        passing = await _value(anna, "add_stm", content="zaqsecret passing")
        memory = await _value(anna, "retrieve_memory", memory_id=block["id"])
        assert await _value(anna, "query_memory", query="zaqsecret")

        assert await _value(bert, "query_memory", query="zaqsecret") == []
        assert (await _value(bert, "search_time", query="오늘 zaqsecret"))["total"] == 0
        assert (await _value(bert, "get_stm_memories"))["total"] == 0
        assert await _value(bert, "generate_prompt", user_input="zaqsecret") == "zaqsecret"
        assert (await _value(bert, "server_status"))["memory_stats"]["active_stm"] == 0
        assert await _value(bert, "cleanup_expired_memories") == {
            "cleaned": 0,
            "message": "0개의 만료된 메모리가 정리되었습니다",
        }
        listed = (await bert.read_resource("stm_list://")).contents[0]
        chain = (await bert.read_resource("memory_chain://")).contents[0]
        assert "zaq" not in str(listed) + str(chain)

        absent = "01890a5d-ac96-774b-bcce-b302099a8057"
        for name in (block["id"], str(block["block_index"]), memory["memory_id"], passing["id"]):
            assert await _value(bert, "retrieve_memory", memory_id=name) is None
            for tool, more in (("delete_memory", {}), ("forget_stm", {}), ("update_memory", {"importance": 0.1})):
                refused = await _value(bert, tool, memory_id=name, **more)
                unknown = await _value(bert, tool, memory_id=absent, **more)
                assert refused["details"].replace(name, "ID").replace("block_ID", "ID") == unknown["details"].replace(
                    absent, "ID"
                )
                assert {**refused, "details": ""} == {**unknown, "details": ""}
            assert await _failure(bert, f"memory_block://{name}") == await _failure(bert, f"memory_block://{absent}")
        assert await _value(anna, "retrieve_memory", memory_id=block["id"]) == memory


# What the owner offers


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (("--tools", "add_memory,query_memory"), {"add_memory", "query_memory"}),
        (("--exclude-tools", "query_memory,search_time", "--read-only"), READING - {"query_memory", "search_time"}),
    ],
)
async def test_only_the_chosen_tools_are_offered(folder: Path, options: tuple[str, ...], offered: set[str]) -> None:
    with served(folder, *options) as server:
        async with over_http(server) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == offered
            if "delete_memory" not in offered:
                with pytest.raises(MCPError, match="Unknown tool: delete_memory"):
                    await client.call_tool("delete_memory", {"memory_id": "0"})
        answer = post(server, request("tools/list", modern=True), modern_headers("tools/list"))
        assert {tool["name"] for tool in message_in(answer)["result"]["tools"]} == offered


@pytest.mark.parametrize("option", ["--tools", "--exclude-tools"])
def test_a_misspelt_tool_is_refused_at_the_start(folder: Path, option: str) -> None:
    command = [PROGRAM, "serve", option, "add_memoryy", "--data-dir", str(folder)]
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert "add_memoryy" in ended.stderr
    assert ended.stdout == ""
