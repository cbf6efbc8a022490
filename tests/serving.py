"""The real program, started as users start it, and real clients connected to it over every transport and era."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx2
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

PROGRAM = str(Path(sys.executable).with_name("commonplace"))
OWNER_KEY = "cp_owner-key-of-the-tests"
Transport = Literal["stdio", "http", "sse"]
Era = Literal["legacy", "2026-07-28"]


@dataclass(frozen=True)
class Wire:
    """A transport in a protocol era."""

    transport: Transport
    era: Era

    def __str__(self) -> str:
        return f"{self.transport}-{'legacy' if self.era == 'legacy' else 'modern'}"


WIRES = (
    Wire("stdio", "legacy"),
    Wire("stdio", "2026-07-28"),
    Wire("http", "legacy"),
    Wire("http", "2026-07-28"),
    Wire("sse", "legacy"),
)


@dataclass(frozen=True)
class Served:
    """A server process that listens."""

    folder: Path
    http_port: int
    sse_port: int
    process: "subprocess.Popen[bytes]"

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.http_port}{path}"


def environment(**more: str) -> dict[str, str]:
    """The environment of a server under test: none of the settings of whoever runs the tests; greeum unless told."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE_")}
    return kept | {"TZ": "Asia/Seoul", "COMMONPLACE_DIALECT": "greeum"} | more


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(folder: Path, *options: str, key: str = OWNER_KEY, **more: str) -> Iterator[Served]:
    """A server on HTTP and SSE; ready when this begins, gone when it ends."""
    http_port, sse_port = free_port(), free_port()
    command = [PROGRAM, "serve", "--transport", "http,sse", "--data-dir", str(folder)]
    command += ["--http-port", str(http_port), "--sse-port", str(sse_port), *options]
    process = subprocess.Popen(command, env=environment(COMMONPLACE_OWNER_KEY=key, **more), stderr=subprocess.PIPE)
    try:
        standing(process, http_port)
        standing(process, sse_port)
        yield Served(folder, http_port, sse_port, process)
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=10)
        process.kill()
        process.communicate()


def standing(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(f"http://127.0.0.1:{port}/health", timeout=1).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError(f"the server did not start: exit code {process.poll()}")


@asynccontextmanager
async def stdio(folder: Path, *options: str, era: Era = "legacy", **more: str) -> AsyncIterator[Client]:
    """A client that started its own server on stdio."""
    arguments = ["serve", "--data-dir", str(folder), *options]
    parameters = StdioServerParameters(command=PROGRAM, args=arguments, env=environment(**more))
    async with Client(stdio_client(parameters), mode=era) as client:
        yield client


@asynccontextmanager
async def over_http(
    server: Served, *, key: str = OWNER_KEY, era: Era = "legacy", path: str = "/mcp", **further: str
) -> AsyncIterator[Client]:
    """`further` are headers by name."""
    headers = {"Authorization": f"Bearer {key}", **further}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as web,
        Client(streamable_http_client(server.url(path), http_client=web), mode=era) as client,
    ):
        yield client


@asynccontextmanager
async def over_sse(server: Served, *, key: str = OWNER_KEY) -> AsyncIterator[Client]:
    url = f"http://127.0.0.1:{server.sse_port}/sse"
    async with Client(sse_client(url, headers={"Authorization": f"Bearer {key}"}), mode="legacy") as client:
        yield client
