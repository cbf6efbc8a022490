"""The wires without a client in between: bytes in, bytes out."""

import contextlib
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any
from zoneinfo import ZoneInfo

import httpx2

from commonplace.bootstrap import build
from commonplace.domain.access import Permission
from commonplace.settings import Settings
from tests.fakes import Embedder
from tests.serving import OWNER_KEY, PROGRAM, Served, environment

PATIENCE = 30
MODERN = "2026-07-28"
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


def request(method: str, identifier: int | str = 1, /, *, modern: bool = False, **params: Any) -> dict[str, Any]:
    meta = {"_meta": ENVELOPE} if modern else {}
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {**meta, **params}}


class Lines:
    """A server on stdio, spoken to line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.everything: list[bytes] = []
        self._arrived: SimpleQueue[bytes] = SimpleQueue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.everything.append(line)
            self._arrived.put(line)

    def send(self, line: bytes | str | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        text = json.dumps(line) if isinstance(line, dict) else line
        self.process.stdin.write((text.encode() if isinstance(text, str) else text) + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message, or AssertionError: every request must be answered."""
        try:
            message: dict[str, Any] = json.loads(self._arrived.get(timeout=PATIENCE))
        except Empty:
            raise AssertionError("no answer") from None
        return message

    def ask(self, line: bytes | str | dict[str, Any]) -> dict[str, Any]:
        self.send(line)
        return self.receive()

    def greet(self) -> None:
        assert "result" in self.ask(INITIALIZE)
        self.send(INITIALIZED)

    def end_of_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


@contextmanager
def lines(folder: Path, *options: str, **more: str) -> Iterator[Lines]:
    """A server process on stdio."""
    command = [PROGRAM, "serve", "--data-dir", str(folder), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment(**more), stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield Lines(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()


def bearer(key: str = OWNER_KEY) -> dict[str, str]:
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    return accepted | ({"Authorization": f"Bearer {key}"} if key else {})


def modern_headers(method: str, name: str = "", key: str = OWNER_KEY) -> dict[str, str]:
    named = {"Mcp-Name": name} if name else {}
    return bearer(key) | {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | named


def post(server: Served, body: bytes | str | dict[str, Any], headers: dict[str, str], path: str = "/mcp") -> Any:
    content = json.dumps(body) if isinstance(body, dict) else body
    # Nothing is encrypted here; loading certificates for each request would take longer than the request.
    return httpx2.post(server.url(path), content=content, headers=headers, timeout=PATIENCE, verify=False)


def message_in(response: Any) -> dict[str, Any]:
    """The JSON-RPC message of a response, plain or in an event stream."""
    data = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    message: dict[str, Any] = json.loads(data[-1] if data else response.text)
    return message


def opened(server: Served, key: str = OWNER_KEY, path: str = "/mcp") -> str:
    """The id of a new session."""
    response = post(server, INITIALIZE, bearer(key), path)
    session = str(response.headers["mcp-session-id"])
    post(server, INITIALIZED, bearer(key) | {"Mcp-Session-Id": session}, path)
    return session


HALF = "HALF"
"""Stands, where a test is written down, for half a character, which JSON can spell and no text may hold."""


def spelled(message: dict[str, Any]) -> str:
    return json.dumps(message).replace(HALF, r"\ud800")


def answer_to_half(server: Served, path: str, tool: str, *, modern: bool, **arguments: Any) -> dict[str, Any]:
    """What a tool answers to arguments that hold HALF."""
    body = spelled(request("tools/call", 7, modern=modern, name=tool, arguments=arguments))
    session = {} if modern else {"Mcp-Session-Id": opened(server, path=path)}
    headers = modern_headers("tools/call", tool) if modern else bearer() | session
    message = message_in(post(server, body, headers, path))
    assert message["id"] == 7
    result: dict[str, Any] = message["result"]
    return result


async def key_for(
    folder: Path, user: str, *permissions: Permission, name: str = "", expires_at: datetime | None = None
) -> str:
    """A key made beside the running server, as the command line makes it."""
    engine = build(Settings(data_dir=str(folder)), model=Embedder(), zone=ZoneInfo("Asia/Seoul"))
    try:
        allowed = frozenset(permissions or (Permission.READ, Permission.WRITE))
        made = await engine.access.create_key(name or f"{user}'s", allowed, user=user, expires_at=expires_at)
        return made.key
    finally:
        await engine.close()


async def revoke(folder: Path, name: str) -> None:
    engine = build(Settings(data_dir=str(folder)), model=Embedder(), zone=ZoneInfo("Asia/Seoul"))
    try:
        await engine.access.revoke_key(name)
    finally:
        await engine.close()


@contextmanager
def listening(command: list[str], port: int, *, scheme: str = "http", **more: str) -> Iterator["subprocess.Popen[str]"]:
    """Some program of ours, ready on a port when this begins and gone when it ends."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment(**more), stdin=pipe, stderr=pipe, stdout=pipe, text=True)
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(httpx2.HTTPError):
                if httpx2.get(f"{scheme}://127.0.0.1:{port}/health", timeout=1, verify=False).status_code == 200:
                    break
            time.sleep(0.05)
        else:
            raise AssertionError(f"the server did not start: {process.poll()}")
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
