"""The WebSocket over real sockets: keys, other processes, servers that end, and what is written down."""

import asyncio
import time
from pathlib import Path

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.serving import OWNER_KEY, PROGRAM, Served, environment, free_port, over_http, served, stdio
from tests.transports.calling import PATIENCE, socket
from tests.transports.wire import bearer, key_for, revoke

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


async def test_a_real_client_hears_what_any_process_changes_at_once(server: Served) -> None:
    async with over_http(server, path="/creo/mcp") as client, socket(server) as line:
        await client.call_tool("subscribe_memories", {"channel": "websocket", "filter": {"tags": ["pushed"]}})
        await line.next("hello")
        await line.say(type="hello")
        await line.next("replayed")
        await client.call_tool("remember", {"content": "here", "tags": ["pushed"]})
        assert (await line.next())["excerpt"] == "here"
        async with stdio(server.folder, "--dialect", "creo") as other:
            await other.call_tool("remember", {"content": "warm", "tags": ["pushed"]})
            await line.next()
            await other.call_tool("remember", {"content": "elsewhere", "tags": ["pushed"]})
            answered = time.monotonic()
            assert (await line.next())["excerpt"] == "elsewhere"
            assert time.monotonic() - answered < 3
            await other.call_tool("update_presence", {"displayName": "from elsewhere", "status": "busy"})
            here = await line.next("presence")
            while here["displayName"] != "from elsewhere":
                here = await line.next("presence")
            assert here["status"] == "busy"


async def test_a_page_shows_its_key_as_a_protocol(server: Served) -> None:
    async with socket(server, headers={}, subprotocols=["commonplace", f"key.{OWNER_KEY}"]) as line:
        assert line.connection.subprotocol == "commonplace"
        assert (await line.message())["type"] == "hello"
    for headers, status in (({}, 401), ({"X-API-Key": "wrong"}, 401), ({"Origin": "https://evil.example"}, 403)):
        with pytest.raises(InvalidStatus) as caught:
            async with socket(server, headers=headers, subprotocols=["commonplace"]):
                pass
        assert caught.value.response.status_code == status
    async with socket(server, headers={"X-API-Key": OWNER_KEY}) as line:
        assert (await line.message())["type"] == "hello"


async def test_a_key_in_the_address_opens_nothing(server: Served) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with socket(server, headers={}, path=f"/ws?key={OWNER_KEY}&api_key={OWNER_KEY}"):
            pass
    assert caught.value.response.status_code == 401


async def test_a_plain_request_is_told_what_is_spoken_here(server: Served) -> None:
    response = httpx2.get(server.url("/ws"), headers=bearer(), verify=False)
    assert (response.status_code, response.headers["upgrade"]) == (426, "websocket")


async def test_a_key_that_is_revoked_elsewhere_closes_the_line(server: Served) -> None:
    key = await key_for(server.folder, "listener", name="to be revoked")
    async with socket(server, key=key) as line:
        await line.next("hello")
        await revoke(server.folder, "to be revoked")
        with pytest.raises(ConnectionClosed) as caught:
            await line.next("never")
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4401


async def test_a_message_that_is_too_large_ends_the_line(server: Served) -> None:
    async with socket(server) as line:
        await line.next("hello")
        await line.say(type="presence", displayName="x" * 100_000)
        with pytest.raises(ConnectionClosed) as caught:
            await line.next("never")
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


async def test_nothing_is_lost_when_the_server_is_killed_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with served(folder) as first:
        async with over_http(first, path="/creo/mcp") as client, socket(first) as line:
            await client.call_tool("subscribe_memories", {"channel": "websocket"})
            await line.next("hello")
            await line.say(type="hello")
            await line.next("replayed")
            await client.call_tool("remember", {"content": "heard"})
            last = (await line.next())["eventNumber"]
            first.process.kill()
            with pytest.raises(ConnectionClosed):
                await line.next("never")
            async with stdio(folder, "--dialect", "creo") as other:
                for number in range(3):
                    await other.call_tool("remember", {"content": f"missed {number}"})
    with served(folder) as second:
        async with over_http(second, path="/creo/mcp") as client, socket(second) as line:
            await line.next("hello")
            await line.say(type="resume", after=last)
            assert [one["excerpt"] for one in await line.until("replayed")] == [f"missed {n}" for n in range(3)]
            await client.call_tool("remember", {"content": "live"})
            assert (await line.next())["excerpt"] == "live"
            shown = (await client.call_tool("get_presence", {})).structured_content
            assert shown
            assert shown["total"] >= 2, "those of the killed server fade with time"
            second.process.terminate()
            began = time.monotonic()
            with pytest.raises(ConnectionClosed) as caught:
                await line.next("never")
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code == 1001
            assert time.monotonic() - began < 5


async def test_no_key_is_written_to_the_log(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    command = [PROGRAM, "serve", "--transport", "http", "--data-dir", str(tmp_path / "data"), "--log-level", "debug"]
    command += ["--http-port", str(port)]
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command, env=environment(COMMONPLACE_OWNER_KEY=OWNER_KEY), stderr=errors, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            server = Served(tmp_path, port, 0, None)  # type: ignore[arg-type]
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        async with socket(server) as line:
                            await line.next("hello")
                        break
                    except OSError:
                        await asyncio.sleep(0.1)
            async with socket(server, headers={}, subprotocols=["commonplace", f"key.{OWNER_KEY}"]) as line:
                await line.next("hello")
            async with over_http(server) as client:
                await client.call_tool("add_memory", {"content": "unwritten"})
        finally:
            process.terminate()
            await process.wait()
    written = log.read_text()
    assert "DEBUG commonplace.transports.watching: greeum add_memory: ok in" in written
    assert OWNER_KEY not in written
    assert "unwritten" not in written


async def test_a_line_that_is_refused_is_no_error_of_the_server(tmp_path: Path) -> None:
    with served(tmp_path / "data") as server:
        with pytest.raises(InvalidStatus):
            async with socket(server, headers={}):
                pass
        server.process.terminate()
        _, said = server.process.communicate(timeout=20)
    assert b"ERROR" not in said
