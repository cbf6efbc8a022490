"""One listening server for all tests of this folder that do not need their own."""

from collections.abc import Iterator

import pytest

from tests.serving import Served, served


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("transports")) as listening:
        yield listening
