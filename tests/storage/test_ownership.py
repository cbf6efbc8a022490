"""A database of another program, in the place of the store, is told as such and not touched."""

from pathlib import Path

import apsw
import pytest

from commonplace.domain.errors import StoreCorrupt, StoreForeign
from commonplace.storage.sqlite.rekeying import rekey
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore

pytestmark = pytest.mark.anyio


def altered(folder: Path, statements: str) -> bytes:
    connection = apsw.Connection(str(folder / FILE_NAME))
    connection.execute(statements).fetchall()
    connection.close()
    return (folder / FILE_NAME).read_bytes()


@pytest.mark.parametrize("version", [0, 1, 99])
async def test_a_database_of_someone_else_is_refused_and_left_alone(folder: Path, version: int) -> None:
    folder.mkdir()
    before = altered(folder, f"CREATE TABLE theirs (a); PRAGMA user_version = {version}")
    with pytest.raises(StoreForeign, match="not one of Commonplace") as refusal:
        SqliteStore(folder, "")
    assert "choose another folder" in refusal.value.remedy
    with pytest.raises(StoreForeign):
        rekey(folder, folder / "backups", "", "a new key that is long enough")
    assert (folder / FILE_NAME).read_bytes() == before
    assert not list(folder.glob("*-wal"))


async def test_a_store_that_lost_its_mark_is_damaged_and_can_be_replaced(folder: Path) -> None:
    await SqliteStore(folder, "").close()
    altered(folder, "PRAGMA application_id = 0")
    with pytest.raises(StoreCorrupt, match="not the mark of a store"):
        SqliteStore(folder, "")


async def test_a_store_whose_mark_is_only_in_its_log_is_one(folder: Path, tmp_path: Path) -> None:
    store = SqliteStore(folder, "")
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.glob(f"{FILE_NAME}*"):  # as a kill right after the founding leaves it
        (copy / file.name).write_bytes(file.read_bytes())
    await store.close()
    assert (copy / f"{FILE_NAME}-wal").stat().st_size
    await SqliteStore(copy, "").close()
