"""Connections: how many, from where, and how long they are waited for."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.serving import OWNER_KEY, Served, served
from tests.transports.wire import bearer, opened, post, request

PATIENCE = 30
SHOWN = f"Host: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer {OWNER_KEY}\r\n".encode()
HEALTH = b"GET /health HTTP/1.1\r\n" + SHOWN + b"\r\n"


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hasty"), "--request-timeout", "1", "--max-connections", "8") as server:
        yield server


def connected(server: Served, *said: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.http_port), timeout=PATIENCE)
    connection.sendall(b"".join(said))
    return connection


def heard(connection: socket.socket) -> bytes:
    """Everything until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /health HTTP/1.1\r\nHost: local",
        b"POST /mcp HTTP/1.1\r\n" + SHOWN + b"Content-Length: 500\r\n\r\n{",
        b"POST /mcp HTTP/1.1\r\n" + SHOWN + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
    ids=["head", "body", "chunks"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for_for_ever(hasty: Served, begun: bytes) -> None:
    with connected(hasty, begun) as connection:
        answer = heard(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"--request-timeout" in answer


def test_a_connection_on_which_nothing_is_said_is_closed_without_a_word(hasty: Served) -> None:
    for said in (b"", b"\r\n"):
        with connected(hasty, said) as connection:
            assert heard(connection) == b""


def test_a_body_behind_its_answer_is_not_read_for_ever_nor_answered_twice(hasty: Served) -> None:
    with connected(hasty, b"POST /nowhere HTTP/1.1\r\n" + SHOWN + b"Content-Length: 500\r\n\r\n{") as connection:
        assert heard(connection).count(b"HTTP/1.1") == 1


def test_a_stream_that_is_listened_to_outlasts_the_time_for_a_request(hasty: Served) -> None:
    session = opened(hasty)
    with connected(hasty, b"GET /mcp HTTP/1.1\r\n", SHOWN, f"Mcp-Session-Id: {session}\r\n".encode()) as connection:
        connection.sendall(b"Accept: text/event-stream\r\n\r\n")
        assert connection.recv(9).startswith(b"HTTP/1.1")
        with connected(hasty) as idle:
            assert heard(idle) == b""  # the time is over for who said nothing
        ended = post(hasty, request("ping"), bearer() | {"Mcp-Session-Id": session})
        assert ended.status_code == 200
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            heard(connection)


def test_beyond_the_limit_of_connections_one_is_told_to_come_back(hasty: Served) -> None:
    """Of eight one address has six; the others are kept for others."""
    with ExitStack() as held:
        for _ in range(6):
            connection = held.enter_context(connected(hasty, HEALTH))
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        with connected(hasty, HEALTH) as surplus:
            head, _, body = heard(surplus).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 503")
            assert b"\r\nretry-after: 5\r\n" in head
            assert json.loads(body)["error"] == "too many connections"
        elsewhere = socket.create_connection(
            ("127.0.0.1", hasty.http_port), timeout=PATIENCE, source_address=("127.0.0.2", 0)
        )
        with elsewhere:
            elsewhere.sendall(HEALTH)
            assert elsewhere.recv(65536).startswith(b"HTTP/1.1 200")
    while not _is_served(hasty):
        pass


def _is_served(server: Served) -> bool:
    with connected(server, HEALTH) as connection:
        return connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_behind_a_trusted_proxy_all_connections_may_come_from_one_address(folder: Path) -> None:
    with served(folder, "--max-connections", "8", "--trusted-proxies", "127.0.0.1") as server, ExitStack() as held:
        while not _is_served(server):
            pass
        for _ in range(7):
            connection = held.enter_context(connected(server, HEALTH))
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
