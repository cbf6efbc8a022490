"""HTTP and SSE: addresses, what is refused before it reaches a tool, and malformed bodies."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from commonplace import __version__
from tests.serving import OWNER_KEY, PROGRAM, Era, Served, environment, over_http, over_sse, served
from tests.transports.wire import bearer, key_for, message_in, modern_headers, opened, post, request

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/mcp", "/mcp/greeum", "/greeum/mcp"])
async def test_the_dialect_stands_under_each_of_its_addresses(server: Served, path: str) -> None:
    for era in ("legacy", "2026-07-28"):
        async with over_http(server, path=path, era=era) as client:
            assert len((await client.list_tools()).tools) == 15


def test_an_address_that_is_none_is_not_found(server: Served) -> None:
    for path in ("/", "/nothing", "/mcp/nothing", "/sse"):
        assert post(server, "{}", bearer(), path).status_code == 404
    assert "/mcp/greeum" in httpx2.get(server.url("/mcp/nothing")).json()["remedy"]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_who_asks_for_a_dialect_that_is_none_is_told_which_there_are(server: Served, era: Era) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with over_http(server, path="/mcp/nothing", era=era) as client:
            await client.list_tools()
    assert caught.group_contains(MCPError, match="nothing is served at this address.*/mcp/greeum")


def test_health_needs_no_key(server: Served) -> None:
    for port in (server.http_port, server.sse_port):
        response = httpx2.get(f"http://127.0.0.1:{port}/health")
        assert (response.status_code, response.json()) == (200, {"status": "ok", "version": __version__})


@pytest.mark.parametrize(
    ("name", "value", "status", "option"),
    [
        ("Host", "evil.example", 421, "--allowed-hosts"),
        ("Host", "127.0.0.1.evil.example:80", 421, "--allowed-hosts"),
        ("Host", '"<b>é\\', 421, "--allowed-hosts"),
        ("Host", "x" * 5000, 421, "--allowed-hosts"),
        ("Host", "localhost.evil.example", 421, "--allowed-hosts"),
        ("Host", "localhost:8000.evil.example", 421, "--allowed-hosts"),
        ("Host", "localhost:80@evil.example", 421, "--allowed-hosts"),
        ("Host", "localhost.:8000", 421, "--allowed-hosts"),
        ("Origin", "http://localhost:8000.evil.example", 403, "--cors-origins"),
        ("Origin", "http://localhost:80@evil.example", 403, "--cors-origins"),
        ("Origin", "http://localhost:80, http://evil.example", 403, "--cors-origins"),
        ("Origin", "http://localhost:80/path", 403, "--cors-origins"),
        ("Origin", "ftp://localhost:80", 403, "--cors-origins"),
        ("Origin", "https://evil.example", 403, "--cors-origins"),
        ("Origin", "null", 403, "--cors-origins"),
        ("Origin", "http://localhost.evil.example", 403, "--cors-origins"),
    ],
)
def test_a_foreign_host_or_origin_is_refused_even_with_a_key(
    server: Served, name: str, value: str, status: int, option: str
) -> None:
    given = (*bearer().items(), (name, value))
    headers = [(header.encode(), text.encode("latin-1")) for header, text in given]
    for port, path in ((server.http_port, "/mcp"), (server.http_port, "/health"), (server.sse_port, "/sse")):
        url = f"http://127.0.0.1:{port}{path}"
        for answer in (
            httpx2.get(url, headers=headers, verify=False),
            httpx2.post(url, headers=headers, content="{}", verify=False),
        ):
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
            body = answer.json()
            told = body["error"]["data"] if "jsonrpc" in body else body
            assert ("jsonrpc" in body) == (path == "/mcp" and answer.request.method == "POST")
            assert told["error"].startswith(f"the {name} header {value[:10]}")
            assert option in told["remedy"]
            assert len(answer.content) < 1000


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_who_comes_by_a_name_the_server_was_not_told_is_told_what_to_do(server: Served, era: Era) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with over_http(server, era=era, Host="memory.example.org") as client:
            await client.list_tools()
    assert caught.group_contains(MCPError, match=r"the Host header memory\.example\.org .*--allowed-hosts")


def test_a_request_without_a_host_is_told_the_same(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.http_port), 10) as line:
        line.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        head, _, body = b"".join(iter(lambda: line.recv(4096), b"")).partition(b"\r\n\r\n")
    assert b" 421 " in head.splitlines()[0]
    assert "--allowed-hosts" in json.loads(body)["remedy"]


def test_a_slash_at_the_end_of_an_address_means_nothing(server: Served) -> None:
    listing = request("tools/list", modern=True)
    for path in ("/mcp", "/mcp/greeum", "/live/mcp"):
        plain, slashed = (
            post(server, listing, modern_headers("tools/list"), address) for address in (path, f"{path}/")
        )
        assert (slashed.status_code, slashed.content) == (200, plain.content)
    for path in ("/health/", "/metrics/"):
        assert httpx2.get(server.url(path), headers=bearer()).status_code == 200
    sse = f"http://127.0.0.1:{server.sse_port}/sse/"
    with httpx2.stream("GET", sse, headers=bearer()) as stream:
        assert stream.status_code == 200
    assert httpx2.post(f"{sse}?session_id=0", headers=bearer(), content="{}").status_code == 404
    assert httpx2.get(server.url("/"), headers=bearer()).status_code == 404


def test_an_origin_of_this_machine_is_accepted(server: Served) -> None:
    listed = post(
        server, request("tools/list", modern=True), modern_headers("tools/list") | {"Origin": "http://localhost:3000"}
    )
    assert listed.status_code == 200


def test_a_body_that_is_too_large_is_refused(server: Served) -> None:
    body = b"x" * (16 * 1024 * 1024 + 1)
    assert post(server, body, modern_headers("tools/call", "add_memory")).status_code == 413
    assert post(server, body, bearer() | {"Mcp-Session-Id": opened(server)}).status_code == 413
    assert _listing_works(server)


def _listing_works(server: Served) -> bool:
    answer = post(server, request("tools/list", modern=True), modern_headers("tools/list"))
    return len(message_in(answer)["result"]["tools"]) == 15


MALFORMED = [b"", b"{bad", b"\xff\xfe", b"[" * 50_000, b"[]", b"null", b'{"jsonrpc": "2.0", "id": 1}', b"[1, 2]"]


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_body_is_a_json_rpc_error(server: Served, body: bytes) -> None:
    for headers in (
        modern_headers("tools/call", "add_memory"),
        bearer() | {"Mcp-Session-Id": opened(server)},
        bearer(),
    ):
        response = post(server, body, headers)
        assert (response.status_code, "mcp-session-id" in response.headers) == (400, False)
        assert response.json()["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)
        assert not re.search("Traceback|validation error", response.text)
    assert _listing_works(server)


HOSTILE = [
    r'{"content": "a\ud800b"}',
    r'{"\ud800": "b"}',
    '{"content": "x", "importance": NaN}',
    '{"content": "x", "importance": 1e999}',
    '{"content": "x", "importance": %s}' % 10**400,
    '{"content": "x", "importance": %s}' % ("9" * 5000),
    '{"content": %s}' % ("[" * 150 + "]" * 150),
    '{"content": %s}' % ("[" * 20_000 + "]" * 20_000),
    r'{"content": "a\u0000b"}',
    "[1]",
    '"text"',
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_json_is_an_error_and_not_a_failure(server: Served, arguments: str) -> None:
    marked = json.dumps(request("tools/call", modern=True, name="add_memory", arguments="HERE"))
    modern = post(server, marked.replace('"HERE"', arguments), modern_headers("tools/call", "add_memory"))
    plain = json.dumps(request("tools/call", name="add_memory", arguments="HERE"))
    legacy = post(server, plain.replace('"HERE"', arguments), bearer() | {"Mcp-Session-Id": opened(server)})
    for response in (modern, legacy):
        assert response.status_code in (200, 400)
        message = message_in(response)
        assert "error" in message or message["result"]["structuredContent"]["code"] == "INVALID_PARAMETER"
        assert "Traceback" not in response.text
    assert _listing_works(server)


def test_what_is_nested_too_deeply_is_refused_under_its_id(server: Served) -> None:
    deep = '{"content": %s}' % ("[" * 5_000 + "]" * 5_000)
    for modern in (True, False):
        sent = json.dumps({**request("tools/call", modern=modern, name="add_memory", arguments="HERE"), "id": 77})
        headers = (
            modern_headers("tools/call", "add_memory") if modern else bearer() | {"Mcp-Session-Id": opened(server)}
        )
        response = post(server, sent.replace('"HERE"', deep), headers)
        assert response.status_code == 400
        message = response.json()
        assert (message["id"], message["error"]["code"]) == (77, INVALID_REQUEST)
        assert "nested" in message["error"]["message"]


@pytest.mark.anyio
async def test_a_session_of_another_user_is_refused(server: Served) -> None:
    stranger = await key_for(server.folder, "session-stranger")
    session = opened(server)
    listing = request("tools/list")
    assert post(server, listing, bearer() | {"Mcp-Session-Id": session}).status_code == 200
    refused = post(server, listing, bearer(stranger) | {"Mcp-Session-Id": session})
    absent = post(server, listing, bearer(stranger) | {"Mcp-Session-Id": "0" * 32})
    assert refused.status_code == absent.status_code == 404
    assert refused.json() == absent.json()


@pytest.mark.anyio
async def test_a_stream_of_another_user_takes_no_messages(server: Served) -> None:
    stranger = await key_for(server.folder, "stream-stranger")
    async with _stream(server) as (web, target):
        ping = json.dumps(request("ping"))
        assert (await web.post(target, headers=bearer(stranger), content=ping)).status_code in (403, 404)
        assert (await web.post(target, headers=bearer(), content=ping)).status_code == 202


@asynccontextmanager
async def _stream(server: Served) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    """An open SSE stream of the owner: a client, and the address it was told to send to."""
    url = f"http://127.0.0.1:{server.sse_port}/sse"
    async with httpx2.AsyncClient(timeout=30) as web, web.stream("GET", url, headers=bearer()) as response:
        lines = response.aiter_lines()
        while not (line := await anext(lines)).startswith("data: "):
            pass
        yield web, f"http://127.0.0.1:{server.sse_port}{line.removeprefix('data: ')}"


@pytest.mark.anyio
async def test_a_malformed_message_does_not_end_an_sse_stream(server: Served) -> None:
    async with _stream(server) as (web, target):
        for body in MALFORMED:
            status = 202 if b'"id"' in body else 400  # who can be told is told on the stream
            answer = await web.post(target, headers=bearer(), content=body)
            assert answer.status_code == status
            assert status == 202 or not body or answer.json()["error"]["code"] < 0
        assert (await web.post(target, headers=bearer(), content=json.dumps(request("ping")))).status_code == 202


@pytest.mark.anyio
async def test_a_listening_server_ends_in_order_with_clients_connected(folder: Path) -> None:
    with served(folder) as server:
        async with _stream(server):
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(20) == 0


@pytest.mark.anyio
async def test_http_and_sse_serve_the_same_memory(server: Served) -> None:
    async with over_http(server) as http, over_sse(server) as sse:
        await http.call_tool("add_memory", {"content": "zaqmemory of both"})
        found = await sse.call_tool("query_memory", {"query": "zaqmemory"})
        assert found.structured_content is not None
        assert found.structured_content["result"][0]["content"] == "zaqmemory of both"
    assert OWNER_KEY not in str(found)


def test_a_session_can_be_typed_as_it_is_shown_whatever_it_was_called(folder: Path) -> None:
    stored = request("tools/call", modern=True, name="add_memory", arguments={"content": "stored under an odd name"})
    odd = {"name": "odd\x00\x1b[2J\nname " + "y" * 50_000, "version": "1"}
    stored["params"]["_meta"] = stored["params"]["_meta"] | {"io.modelcontextprotocol/clientInfo": odd}
    headers = modern_headers("tools/call", "add_memory")
    with served(folder) as server:
        for told in ({"Mcp-Session-Id": "tab\tbed " + "x" * 50_000}, {}):
            answer = post(server, stored, headers | told, "/mcp?session_id=ignored%00")
            assert answer.status_code == 200
    names = _sessions(folder)
    assert [re.sub("x+|y+", "…", name) for name in names] == [
        f"owner/odd [2J name …/{names[0][-10:]}",
        "owner/tab bed …",
    ]
    for name in names:
        assert len(name) < 120
        assert "1 taken back" in _history(folder, "take-back", name).stdout


@pytest.mark.anyio
async def test_a_session_is_what_the_client_sends_as_one_and_else_its_day(folder: Path) -> None:
    with served(folder) as server:
        told = {"Mcp-Session-Id": "talk-7"}
        for client in (
            over_http(server, era="legacy"),
            over_http(server, era="2026-07-28"),
            over_http(server, era="2026-07-28"),
            over_http(server, era="2026-07-28", **told),
        ):
            async with client as connected:
                await connected.call_tool("add_memory", {"content": "stored in one go"})
    names = _sessions(folder)
    assert names[0] == "owner/talk-7"
    assert re.fullmatch(r"owner/mcp/\d{4}-\d{2}-\d{2}", names[1])
    assert re.fullmatch(r"owner/[0-9a-f]{32}", names[2])
    assert len(names) == 3


def _sessions(folder: Path) -> list[str]:
    return [line.split("\t")[-1] for line in _history(folder, "sessions").stdout.splitlines()[1:]]


def _history(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [PROGRAM, "history", *words, "--data-dir", str(folder)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
