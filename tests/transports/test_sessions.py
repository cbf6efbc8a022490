"""Sessions of streamable HTTP: who gets one, and how many there are."""

from pathlib import Path
from typing import Any

import httpx2

from tests.serving import Served, served
from tests.transports.wire import INITIALIZE, INITIALIZED, bearer, message_in, post, request

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


def test_over_sse_strangers_are_turned_away_from_every_dialect(folder: Path) -> None:
    with served(folder, "--dialect", "live") as server:
        url = f"http://127.0.0.1:{server.sse_port}/sse"
        with httpx2.stream("GET", url) as refused:
            assert refused.status_code == 401
        assert sessions(server)["sse"] == 0
