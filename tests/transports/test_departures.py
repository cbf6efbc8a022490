"""Clients that go away in the middle of a request: their business, and none of the log's."""

import socket
from pathlib import Path

import httpx2
import pytest

from tests.serving import OWNER_KEY, served

ERAS = ["", "MCP-Protocol-Version: 2026-07-28\r\n"]


@pytest.mark.parametrize("era", ERAS, ids=["legacy", "modern"])
def test_a_client_that_goes_away_in_the_middle_of_a_request_is_no_error_of_the_server(tmp_path: Path, era: str) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {OWNER_KEY}\r\n{era}"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 500\r\n\r\n"
    )
    with served(tmp_path / "data") as server:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", server.http_port), timeout=10) as client:
                client.sendall(head.encode() + b'{"jsonrpc"')
        assert httpx2.get(server.url("/health"), timeout=10).status_code == 200
        server.process.terminate()
        _, said = server.process.communicate(timeout=20)
    assert b"Traceback" not in said
    assert b"ERROR" not in said
