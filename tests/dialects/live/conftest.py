"""Live over every wire; and in this process, for tests that move the time, need an empty store or other callers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.live.speech import LiveConversation, spoken_to
from tests.dialects.servers import Servers
from tests.serving import Wire


@pytest.fixture(scope="session")
async def talk(wire: Wire, servers: Servers, anyio_backend: str) -> AsyncIterator[LiveConversation]:
    """A conversation over each wire in turn. The store behind it is shared by many tests and never empty."""
    async with servers.connected("live", wire) as client:
        yield LiveConversation(client)


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[LiveConversation]:
    """A conversation with a server in this process: its own empty store, a clock to move, a quick model."""
    async with spoken_to(engine, settings) as conversation:
        yield conversation


@pytest.fixture
def outside(folder: Path) -> Path:
    """Where the files of spaces are."""
    return folder / "spaces"
