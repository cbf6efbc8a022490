"""Sessions of streamable HTTP: who gets one, and how many there are."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.serving import Served, served
from tests.transports.wire import (
    INITIALIZE,
    INITIALIZED,
    MODERN,
    bearer,
    key_for,
    message_in,
    modern_headers,
    opened,
    post,
    request,
)

LIVE = "/live/mcp"


def sessions(server: Served) -> Any:
    """How many there are, by transport."""
    return httpx2.get(server.url("/health"), headers=bearer()).json()["sessions"]


def test_strangers_are_answered_and_get_no_session(server: Served) -> None:
    before = sessions(server)
    for path in ("/mcp", "/greeum/mcp", "/creo/mcp", "/nocturne/mcp", "/assoc/mcp"):
        assert post(server, INITIALIZE, bearer(""), path).status_code == 401
    greeted = post(server, INITIALIZE, bearer(""), LIVE)
    assert message_in(greeted)["result"]["serverInfo"]["name"] == "commonplace-live"
    assert "mcp-session-id" not in greeted.headers
    assert post(server, INITIALIZED, bearer(""), LIVE).status_code == 202
    agreed = bearer("") | {"MCP-Protocol-Version": "2025-11-25"}
    asked = request("tools/call", name="system_health", arguments={})
    assert not message_in(post(server, asked, agreed, LIVE))["result"].get("isError")
    assert httpx2.get(server.url(LIVE), headers=agreed).status_code == 405
    assert sessions(server) == before


@pytest.mark.parametrize(
    ("method", "more", "status", "allowed"),
    [
        ("GET", {}, 400, None),
        ("DELETE", {}, 400, None),
        ("GET", {"MCP-Protocol-Version": "2025-11-25"}, 400, None),
        ("GET", {"MCP-Protocol-Version": MODERN}, 405, "POST"),
        ("DELETE", {"MCP-Protocol-Version": MODERN}, 405, "POST"),
        ("PUT", {}, 405, "GET, POST, DELETE"),
        ("PATCH", {"Mcp-Session-Id": "0" * 32}, 405, "GET, POST, DELETE"),
    ],
)
def test_who_has_no_session_is_told_what_to_do_by_whatever_method_he_comes(
    server: Served, method: str, more: dict[str, str], status: int, allowed: str | None
) -> None:
    answer = httpx2.request(method, server.url(), headers=bearer() | more)
    assert (answer.status_code, answer.headers.get("allow")) == (status, allowed)
    assert set(answer.json()) == {"error", "remedy"}
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("more", [{"Accept": "text/html"}, {"Content-Type": "text/plain"}])
def test_no_session_is_named_where_none_was_opened(server: Served, more: dict[str, str]) -> None:
    before = sessions(server)
    refused = post(server, INITIALIZE, bearer() | more)
    assert refused.status_code in (400, 406, 415)
    assert "mcp-session-id" not in refused.headers
    assert sessions(server) == before


def test_over_sse_strangers_are_turned_away_from_every_dialect(folder: Path) -> None:
    with served(folder, "--dialect", "live") as server:
        url = f"http://127.0.0.1:{server.sse_port}/sse"
        with httpx2.stream("GET", url) as refused:
            assert refused.status_code == 401
        assert sessions(server)["sse"] == 0


@pytest.mark.anyio
async def test_no_credential_takes_all_sessions_and_at_the_limit_all_are_told_to_come_back(folder: Path) -> None:
    with served(folder, "--max-sessions", "4") as server:
        anna, bert = await key_for(folder, "anna"), await key_for(folder, "bert")
        last = [opened(server, anna, path) for path in ("/mcp", "/mcp", "/creo/mcp")][-1]
        refused = post(server, INITIALIZE, bearer(anna), "/live/mcp")
        assert refused.status_code == 429
        assert "3 sessions" in refused.json()["error"]["message"]
        assert int(refused.headers["retry-after"]) > 0
        of_bert = opened(server, bert)
        refused = post(server, INITIALIZE, bearer(bert))
        assert (refused.status_code, refused.json()["error"]["data"]["error"]) == (503, "there are too many sessions")
        assert int(refused.headers["retry-after"]) > 0
        assert post(server, request("ping"), bearer(bert) | {"Mcp-Session-Id": of_bert}).status_code == 200
        listing = request("tools/list", modern=True)
        assert post(server, listing, modern_headers("tools/list", key=anna)).status_code == 200
        ended = httpx2.delete(server.url("/creo/mcp"), headers=bearer(anna) | {"Mcp-Session-Id": last})
        assert ended.status_code == 200
        assert opened(server, bert)
