"""One server a wire for all tests of the dialects; and one in this process, for tests that move the time."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager

import pytest
from mcp.client.client import Client

from commonplace.dialects.greeum import greeum
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Conversation
from tests.serving import WIRES, Served, Wire, over_http, over_sse, served, stdio


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "behaviour(id): the entry of docs/behaviours that the test checks")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def listening(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server behind HTTP and SSE."""
    with served(tmp_path_factory.mktemp("listening")) as server:
        yield server


@pytest.fixture(scope="session", params=WIRES, ids=str)
def wire(request: pytest.FixtureRequest) -> Wire:
    chosen: Wire = request.param
    return chosen


@pytest.fixture(scope="session")
async def talk(
    wire: Wire, request: pytest.FixtureRequest, anyio_backend: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Conversation]:
    """A conversation over each wire in turn. The store behind it is shared by many tests and never empty."""
    async with _connected(wire, request, tmp_path_factory) as client:
        yield Conversation(client)


def _connected(
    wire: Wire, request: pytest.FixtureRequest, folders: pytest.TempPathFactory
) -> AbstractAsyncContextManager[Client]:
    if wire.transport == "stdio":
        return stdio(folders.mktemp(str(wire)), era=wire.era)
    server: Served = request.getfixturevalue("listening")
    return over_sse(server) if wire.transport == "sse" else over_http(server, era=wire.era)


@pytest.fixture
def settings(engine: Engine) -> Settings:
    return Settings(data_dir=engine.store.location, timezone="Asia/Seoul")


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[Conversation]:
    """A conversation with a server in this process: its own empty store, a clock to move, a quick model."""
    async with Client(DialectServer(greeum, engine, settings).server, mode="legacy") as client:
        yield Conversation(client)
