"""Servers for all tests of the dialects: one process for each wire that needs its own, the others shared.

Each dialect's folder has its own `talk`, over every wire, and `local`, with a server in this process.
"""

from collections.abc import Iterator

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.servers import Servers
from tests.serving import WIRES, Served, Wire


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "behaviour(id): the entry of docs/behaviours that the test checks")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with Servers(tmp_path_factory) as servers:
        yield servers


@pytest.fixture(scope="session")
def listening(servers: Servers) -> Served:
    """The server behind HTTP, for every dialect, and behind SSE, for greeum."""
    return servers.chosen("greeum")


@pytest.fixture(scope="session", params=WIRES, ids=str)
def wire(request: pytest.FixtureRequest) -> Wire:
    chosen: Wire = request.param
    return chosen


@pytest.fixture
def settings(engine: Engine) -> Settings:
    return Settings(data_dir=engine.store.location, timezone="Asia/Seoul")
