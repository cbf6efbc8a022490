"""Creo over every wire; and in this process, for tests that move the time, need an empty store or several users."""

from collections.abc import AsyncIterator

import pytest

from commonplace.domain.access import ALL_PERMISSIONS
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled, spoken_to
from tests.dialects.servers import Servers
from tests.serving import Wire


@pytest.fixture(scope="session")
async def talk(wire: Wire, servers: Servers, anyio_backend: str) -> AsyncIterator[CreoConversation]:
    """A conversation over each wire in turn. The store behind it is shared by many tests and never empty."""
    async with servers.connected("creo", wire) as client:
        yield CreoConversation(client)


@pytest.fixture
async def local(engine: Engine, settings: Settings) -> AsyncIterator[CreoConversation]:
    """A conversation with a server in this process: its own empty store, a clock to move, a quick model."""
    async with spoken_to(engine, settings) as conversation:
        yield conversation


@pytest.fixture
async def ann(engine: Engine, settings: Settings) -> Speaker:
    return await enrolled(engine, settings, "ann")


@pytest.fixture
async def ben(engine: Engine, settings: Settings) -> Speaker:
    return await enrolled(engine, settings, "ben")


@pytest.fixture
async def admin(engine: Engine, settings: Settings) -> Speaker:
    return await enrolled(engine, settings, "root", *ALL_PERMISSIONS)
