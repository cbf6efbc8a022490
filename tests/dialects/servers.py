"""The servers that the tests of all dialects share, each started when it is first asked for."""

from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Self

import pytest
from mcp.client.client import Client

from tests.serving import Served, Wire, over_http, over_sse, served, stdio

CORE = ("core://agent", "core://my_user", "core://absent", "nowhere://agent")
"""The addresses that nocturne's boot page is to read."""
_ENVIRONMENT = {"CORE_MEMORY_URIS": ",".join(CORE)}


class Servers:
    """Every dialect is served over HTTP by one process; over SSE and stdio a process serves one dialect."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._stack = ExitStack()
        self._running: dict[str, Served] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def chosen(self, dialect: str) -> Served:
        """A server whose dialect of choice this is."""
        if dialect not in self._running:
            server = served(self._folders.mktemp(dialect), "--dialect", dialect, **_ENVIRONMENT)
            self._running[dialect] = self._stack.enter_context(server)
        return self._running[dialect]

    def connected(self, dialect: str, wire: Wire) -> AbstractAsyncContextManager[Client]:
        """A client of a dialect over a wire."""
        if wire.transport == "stdio":
            return stdio(self._folders.mktemp(str(wire)), "--dialect", dialect, era=wire.era, **_ENVIRONMENT)
        if wire.transport == "sse":
            return over_sse(self.chosen(dialect))
        return over_http(self.chosen("greeum"), era=wire.era, path=f"/{dialect}/mcp")
