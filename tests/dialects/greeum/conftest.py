"""Greeum over every wire; and in this process, for tests that move the time."""

from collections.abc import AsyncIterator

import pytest
from mcp.client.client import Client

from commonplace.dialects.greeum import greeum
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.mcp import DialectServer
from tests.dialects.conversation import Conversation
from tests.dialects.servers import Servers
from tests.serving import Wire


@pytest.fixture(scope="session")
async def talk(wire: Wire, servers: Servers, anyio_backend: str) -> AsyncIterator[Conversation]:
    """A conversation over each wire in turn. The store behind it is shared by many tests and never empty."""
    async with servers.connected("greeum", wire) as client:
        yield Conversation(client)


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[Conversation]:
    """A conversation with a server in this process: its own empty store, a clock to move, a quick model."""
    async with Client(DialectServer(greeum, engine, settings).server, mode="legacy") as client:
        yield Conversation(client)
