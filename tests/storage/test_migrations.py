"""A file is brought to the newest form once, as a whole, or not at all."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from commonplace.domain.errors import StoreFailed
from commonplace.ports import Store
from commonplace.storage.sqlite import migrations
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.samples import NOW, House, founded

pytestmark = pytest.mark.anyio

FINGERPRINT = Embedder().fingerprint
NOBODY = 65534


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, FINGERPRINT)


async def contents(house: House) -> list[str]:
    page = await house.store.read(lambda tx: tx.page(house.all, 10_000))
    return sorted(memory.content for memory in page.memories)


async def moved_in(house: House, store: Store) -> House:
    return House(store, house.ada, house.ben, house.home, house.elsewhere, house.common)


async def filled(folder: Path) -> House:
    """A house with one memory, whose store is closed again."""
    house = await founded(opened(folder))
    await house.keep("written before")
    await house.store.read(lambda tx: tx.scan(house.embedder.embed(["x"])[0], FINGERPRINT, house.ours).best(1))
    await house.store.close()
    return house


# Migrations


def test_the_steps_are_numbered_without_gaps() -> None:
    folder = Path(str(migrations.__file__)).parent
    names = sorted(path.name for path in folder.glob("*.sql"))
    assert [int(name.partition("_")[0]) for name in names] == list(range(1, len(names) + 1))
    assert len(migrations.steps()) == len(names)


async def test_stores_that_open_a_new_folder_at_once_migrate_it_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        for turn in range(8):
            stores = list(threads.map(opened, [tmp_path / str(turn)] * 6))
            versions = [await store.read(lambda tx: tx.statistics(NOW).memories) for store in stores]
            assert versions == [0] * 6
            for store in stores:
                await store.close()


async def test_a_later_step_is_applied_to_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = await filled(folder)
    steps = [*migrations.steps(), "CREATE TABLE more (a); INSERT INTO more SELECT number FROM memories"]
    monkeypatch.setattr(migrations, "steps", lambda: steps)
    house = await moved_in(house, opened(folder))
    assert await contents(house) == ["written before"]
    await house.store.close()
    connection = apsw.Connection(str(folder / FILE_NAME))
    assert connection.execute("SELECT count(*) FROM more").get == 1
    assert migrations.schema_version(connection) == len(steps)
    connection.close()


async def test_a_step_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = await filled(folder)
    steps = migrations.steps()
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "steps", lambda: [*steps, "CREATE TABLE more (a)", "DROP TABLE memories; nonsense"])
        with pytest.raises(StoreFailed):
            opened(folder)
    house = await moved_in(house, opened(folder))
    assert await contents(house) == ["written before"]
    await house.store.close()
