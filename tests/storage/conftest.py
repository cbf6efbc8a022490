"""Every store that keeps the contract, by name. A new one joins by one line here."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from commonplace.ports import Store
from commonplace.storage.sqlite.store import SqliteStore
from tests.fakes import Embedder
from tests.storage.samples import House, founded

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder, Embedder().fingerprint),
}


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Store]:
    store = STORES[request.param](folder)
    yield store
    await store.close()


@pytest.fixture
async def house(store: Store) -> House:
    return await founded(store)
