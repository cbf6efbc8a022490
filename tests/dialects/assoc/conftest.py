"""Assoc over every wire; and in this process, for tests that move the time or need an empty store."""

from collections.abc import AsyncIterator

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.assoc.speech import AssocConversation, spoken_to
from tests.dialects.servers import Servers
from tests.serving import Wire


@pytest.fixture(scope="session")
async def talk(wire: Wire, servers: Servers, anyio_backend: str) -> AsyncIterator[AssocConversation]:
    """A conversation over each wire in turn. The store behind it is shared by many tests and never empty."""
    async with servers.connected("assoc", wire) as client:
        yield AssocConversation(client)


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[AssocConversation]:
    """A conversation with a server in this process: its own empty store, a clock to move, a quick model."""
    async with spoken_to(engine, settings) as conversation:
        yield conversation
