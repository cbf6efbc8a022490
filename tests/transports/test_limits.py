"""How often and how much: rates by user and address, sizes, and whose word about an address is believed."""

import json
import socket
import time
from contextlib import suppress
from pathlib import Path

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from commonplace.transports.limits import Addresses, Buckets, Guesses
from tests.serving import OWNER_KEY, Served, over_http, over_sse, served
from tests.transports.wire import bearer, key_for, modern_headers, post, request

LISTING = request("tools/list", modern=True)


def listed(server: Served, key: str, **headers: str) -> httpx2.Response:
    answer: httpx2.Response = post(server, LISTING, modern_headers("tools/list", key=key) | headers)
    return answer


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


# The bucket


@given(st.integers(1, 1000), st.lists(st.floats(0, 30), max_size=50))
def test_never_more_than_a_minutes_worth_and_what_time_adds(per_minute: int, pauses: list[float]) -> None:
    time = Time()
    bucket = Buckets(per_minute, time)
    passed = 0
    for pause in pauses:
        time.now += pause
        passed += sum(not bucket.take("a") for _ in range(per_minute + 1))
    assert passed <= per_minute * (1 + sum(pauses) / 60) + 1e-6


@given(st.integers(1, 10_000))
def test_after_the_wait_it_was_told_one_passes(per_minute: int) -> None:
    time = Time()
    bucket = Buckets(per_minute, time)
    while not (wait := bucket.take("a")):
        pass
    assert not bucket.take("b")
    time.now += wait + 1e-6
    assert not bucket.take("a")


def test_zero_is_no_limit() -> None:
    assert not any(Buckets(0).take("a") for _ in range(1000))


# Addresses


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "address"),
    [
        ((), "9.9.9.9", "1.1.1.1", "9.9.9.9"),
        (("10.0.0.0/8",), "9.9.9.9", "1.1.1.1", "9.9.9.9"),
        (("10.0.0.0/8",), "10.0.0.1", "1.1.1.1", "1.1.1.1"),
        (("10.0.0.0/8",), "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"),
        (("10.0.0.0/8",), "10.0.0.1", "", "10.0.0.1"),
        (("10.0.0.0/8",), "::ffff:10.0.0.1", "1.1.1.1", "1.1.1.1"),
        (("10.0.0.1",), "10.0.0.1", "nonsense", "nonsense"),
        (("10.0.0.0/8",), "10.0.0.1", "1.1.1.1:5678", "1.1.1.1"),
        (("10.0.0.0/8",), "10.0.0.1", "1.1.1.1, 10.0.0.2:5678", "1.1.1.1"),
        (("10.0.0.0/8",), "10.0.0.1", "[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64"),
        (("10.0.0.0/8",), "10.0.0.1", "[::ffff:1.1.1.1]", "1.1.1.1"),
        (("10.0.0.0/8",), "9.9.9.9", "1.1.1.1:5678", "9.9.9.9"),
        ((), "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
    ],
)
def test_only_a_trusted_proxy_says_where_a_request_comes_from(
    trusted: tuple[str, ...], peer: str, forwarded: str, address: str
) -> None:
    scope = {"client": (peer, 1), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert Addresses(trusted).of(scope) == address


# The program


@pytest.mark.anyio
async def test_a_user_who_asks_too_often_is_told_when_to_come_back_and_others_are_served(folder: Path) -> None:
    with served(folder, "--rate-limit", "3") as server:
        busy, calm = await key_for(folder, "busy"), await key_for(folder, "calm")
        answers = [listed(server, busy) for _ in range(5)]
        assert [answer.status_code for answer in answers[:3]] == [200] * 3
        assert answers[-1].status_code == 429
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
        assert listed(server, calm).status_code == 200


def test_guessing_is_slowed_down_even_when_it_guesses_right(folder: Path) -> None:
    with served(folder, "--failure-rate-limit", "2", "--trusted-proxies", "127.0.0.1") as server:
        guesses = [f"wrong {number}" for number in range(4)]
        statuses = [listed(server, guess, **{"X-Forwarded-For": "5.5.5.5"}).status_code for guess in guesses]
        assert statuses == [401, 401, 429, 429]
        refused = httpx2.get(server.url("/metrics"), headers=bearer() | {"X-Forwarded-For": "5.5.5.5"})
        assert refused.status_code == 429
        assert "retry-after" in refused.headers
        assert httpx2.get(server.url("/metrics"), headers=bearer() | {"X-Forwarded-For": "5.5.5.6"}).status_code == 200


def test_an_address_that_sends_too_much_is_refused_without_a_credential_too(folder: Path) -> None:
    with served(folder, "--address-rate-limit", "20") as server:
        statuses = {httpx2.get(server.url("/nowhere"), verify=False).status_code for _ in range(40)}
        assert statuses == {404, 429}


def test_a_stranger_does_not_choose_his_address(folder: Path) -> None:
    with served(folder, "--failure-rate-limit", "2") as server:
        forged = [{"X-Forwarded-For": f"5.5.5.{number}"} for number in range(4)]
        statuses = [listed(server, f"wrong {number}", **one).status_code for number, one in enumerate(forged)]
        assert statuses == [401, 401, 429, 429]


def test_a_client_with_an_old_key_locks_nobody_out(folder: Path) -> None:
    with served(folder, "--failure-rate-limit", "2") as server:
        assert {listed(server, "an old key").status_code for _ in range(9)} == {401}
        assert listed(server, OWNER_KEY).status_code == 200


def test_the_same_wrong_credential_counts_once() -> None:
    guesses = Guesses(60)
    for number in range(50):
        guesses.count("a", str(number))
        guesses.count("a", str(number))
    assert not guesses.wait("a")
    for number in range(10):
        guesses.count("a", f"more {number}")
    assert guesses.wait("a")
    assert not guesses.wait("b")


@pytest.mark.anyio
async def test_a_client_is_told_that_it_asks_too_often(folder: Path) -> None:
    with served(folder, "--rate-limit", "3") as server:
        async with over_http(server, era="2026-07-28") as client:
            for _ in range(9):
                listed(server, OWNER_KEY)
            with pytest.raises(MCPError, match="too many requests: repeat in"):
                await client.list_tools()


@pytest.mark.anyio
async def test_what_is_too_large_for_sse_is_answered_and_the_session_goes_on(folder: Path) -> None:
    with served(folder, "--max-body-bytes", "2000", "--dialect", "greeum") as server:
        async with over_sse(server) as client:
            with pytest.raises(MCPError, match="larger than 2000 bytes"):
                await client.call_tool("add_memory", {"content": "x" * 300_000})
            assert (await client.list_tools()).tools


@pytest.mark.anyio
@pytest.mark.parametrize("limit", ["--rate-limit", "--address-rate-limit"])
async def test_who_asks_too_often_over_sse_is_answered(folder: Path, limit: str) -> None:
    with served(folder, limit, "30") as server:
        async with over_sse(server) as client:
            await client.list_tools()
            while listed(server, OWNER_KEY).status_code != 429:
                pass
            with pytest.raises(MCPError, match="too many requests"):
                await client.list_tools(cache_mode="bypass")
            with anyio.fail_after(30):
                while not await _lists(client):
                    await anyio.sleep(0.1)


async def _lists(client: Client) -> bool:
    try:
        return bool((await client.list_tools(cache_mode="bypass")).tools)
    except MCPError:
        return False


def test_a_refused_message_may_come_in_pieces_and_who_sends_none_is_not_waited_for(folder: Path) -> None:
    with served(folder, "--address-rate-limit", "30") as server:
        base = f"http://127.0.0.1:{server.sse_port}"
        with httpx2.stream("GET", f"{base}/sse", headers=bearer(), timeout=20) as stream:
            lines = stream.iter_lines()
            address = next(line for line in lines if line.startswith("data: ")).removeprefix("data: ")
            while listed(server, OWNER_KEY).status_code != 429:
                pass
            assert _posted(server.sse_port, "/sse", b"", declared=100).startswith(b"HTTP/1.1 429")
            message = json.dumps({"jsonrpc": "2.0", "method": "tools/list", "params": {}, "id": 7}).encode()
            assert _posted(server.sse_port, address, message[:30], message[30:]).startswith(b"HTTP/1.1 202")
            answer = json.loads(next(line for line in lines if line.startswith("data: ")).removeprefix("data: "))
            assert answer["id"] == 7
            assert "too many requests" in answer["error"]["message"]
            told = json.dumps({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}).encode()
            assert _posted(server.sse_port, address, told).startswith(b"HTTP/1.1 202")


def _posted(port: int, path: str, *pieces: bytes, declared: int | None = None) -> bytes:
    """How the answer to a message begins that is sent piece by piece."""
    size = sum(map(len, pieces)) if declared is None else declared
    lines = {"Host": "127.0.0.1", "Content-Length": str(size), **bearer()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode())
        for piece in pieces:
            client.sendall(piece)
            time.sleep(0.2)
        return client.recv(1000)


def test_a_head_without_end_is_not_read_for_ever(folder: Path) -> None:
    with served(folder) as server, socket.create_connection(("127.0.0.1", server.http_port)) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ")
        with suppress(ConnectionError):
            for _ in range(64):
                client.sendall(b"x" * 16_384)
        client.settimeout(10)
        answer = b""
        with suppress(ConnectionError):
            answer = client.recv(1000)
        assert answer.startswith(b"HTTP/1.1 431") or not answer
        assert listed(server, OWNER_KEY).status_code == 200
        assert listed(server, OWNER_KEY, **{"X-Long": "x" * 30_000}).status_code == 200


def _in_chunks(*trailers: bytes) -> bytes:
    """A request whose body comes in one chunk, as far as its trailers."""
    body = json.dumps(LISTING).encode()
    sent = modern_headers("tools/list", key="") | {"Host": "localhost", "Transfer-Encoding": "chunked"}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items()).encode()
    return b"POST /mcp HTTP/1.1\r\n%b\r\n%x\r\n%b\r\n0\r\n" % (head, len(body), body) + b"".join(trailers)


def test_what_comes_behind_a_body_is_no_credential(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=10) as client:
        client.sendall(_in_chunks(b"Authorization: Bearer %b\r\n\r\n" % OWNER_KEY.encode()))
        assert client.recv(1000).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("trailer", [b"X-A: b\r\n" * 2048, b"x" * 16_384], ids=["many", "one"])
def test_trailers_without_end_are_not_read_for_ever(server: Served, trailer: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=10) as client:
        client.sendall(_in_chunks())
        with pytest.raises(ConnectionError):
            client.sendall(trailer * 4096)
    assert listed(server, OWNER_KEY).status_code == 200


def test_the_largest_body_is_a_setting(folder: Path) -> None:
    with served(folder, "--max-body-bytes", "2000") as server:
        refused = post(server, b"x" * 2001, modern_headers("tools/list"))
        assert refused.status_code == 413
        problem = refused.json()["error"]["data"]
        assert problem["error"] == "the request is larger than 2000 bytes"
        assert "--max-body-bytes" in problem["remedy"]
        assert listed(server, OWNER_KEY).status_code == 200
        url = f"http://127.0.0.1:{server.sse_port}/sse?session_id=0"
        refused = httpx2.post(url, content=b"x" * 2001, headers=bearer())
        assert (refused.status_code, refused.json()["error"]) == (413, "the request is larger than 2000 bytes")
