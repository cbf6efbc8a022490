"""Nocturne over every wire; and in this process, for tests that need an empty tree or other settings."""

from collections.abc import AsyncIterator

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import ProseConversation
from tests.dialects.nocturne.tree import spoken_to
from tests.dialects.servers import Servers
from tests.serving import Wire


@pytest.fixture(scope="session")
async def talk(wire: Wire, servers: Servers, anyio_backend: str) -> AsyncIterator[ProseConversation]:
    """A conversation over each wire in turn. The tree behind it is shared by many tests and never empty."""
    async with servers.connected("nocturne", wire) as client:
        yield ProseConversation(client)


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[ProseConversation]:
    """A conversation with a server in this process: its own empty tree, a clock to move, a quick model."""
    async with spoken_to(engine, settings) as conversation:
        yield conversation
