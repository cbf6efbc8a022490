"""A file that is no backup, or no longer a whole one, is called that, in words for whoever wants to restore it."""

from pathlib import Path

import apsw
import pytest

from commonplace.domain.errors import BackupBroken
from commonplace.storage.sqlite.backup import SqliteVault
from tests.storage.keeping import NOW
from tests.storage.samples import House
from tests.storage.test_backups import altered, contents, place, vault

pytestmark = pytest.mark.anyio

__all__ = ["place", "vault"]

PAGE = 4096


async def refusal(vault: SqliteVault, name: str) -> str:
    with pytest.raises(BackupBroken) as caught:
        await vault.verify(name)
    with pytest.raises(BackupBroken):
        await vault.restore(name)
    return caught.value.reason


@pytest.mark.parametrize("data", [b"", b"short", b"\0" * 3 * PAGE, b"once upon a time " * 1000])
async def test_what_never_was_a_backup(house: House, vault: SqliteVault, place: Path, data: bytes) -> None:
    place.mkdir()
    (place / "odd.db").write_bytes(data)
    assert "not a backup of a store" in await refusal(vault, "odd")


@pytest.mark.parametrize("data", [b"", b"once upon a time " * 1000])
async def test_what_never_was_a_backup_of_an_encrypted_store(folder: Path, place: Path, data: bytes) -> None:
    place.mkdir(parents=True)
    (place / "odd.db").write_bytes(data)
    with pytest.raises(BackupBroken, match="not a backup of a store"):
        await SqliteVault(folder, place, "a key").verify("odd")


async def test_the_file_of_another_program(house: House, vault: SqliteVault, place: Path) -> None:
    place.mkdir()
    (place / "odd.db").touch()
    altered(place / "odd.db", "CREATE TABLE bookmarks (url)")
    assert "not one of Commonplace" in await refusal(vault, "odd")


async def test_a_backup_that_was_cut_off(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep_all(["one", "two"])
    await vault.create("first", NOW)
    (place / "first.json").unlink()
    whole = (place / "first.db").read_bytes()
    for pages in range(1, len(whole) // PAGE, 7):
        (place / "first.db").write_bytes(whole[: pages * PAGE])
        assert "not a whole backup of a store" in await refusal(vault, "first"), pages
    assert await contents(house) == ["one", "two"]


async def test_a_backup_with_a_page_that_was_wiped(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep_all(["one", "two"])
    await vault.create("first", NOW)
    (place / "first.json").unlink()
    whole = (place / "first.db").read_bytes()
    for page in range(1, len(whole) // PAGE, 9):
        start = page * PAGE
        (place / "first.db").write_bytes(whole[:start] + b"\0" * PAGE + whole[start + PAGE :])
        assert "not a whole backup of a store" in await refusal(vault, "first"), page
    assert await contents(house) == ["one", "two"]


async def test_a_backup_that_lacks_a_table(house: House, vault: SqliteVault, place: Path) -> None:
    await vault.create("first", NOW)
    (place / "first.json").unlink()
    file = apsw.Connection(str(place / "first.db"))
    file.execute("DROP TABLE blocks")
    file.close()
    assert "not a whole backup of a store" in await refusal(vault, "first")
