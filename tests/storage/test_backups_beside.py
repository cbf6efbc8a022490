"""A store and its backups in one folder: which is which is never in doubt."""

import os
from pathlib import Path

import pytest

from commonplace.domain.errors import AlreadyExists, NotFound
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.rekeying import rekey
from commonplace.storage.sqlite.store import FILE_NAME
from tests.storage.keeping import NOW
from tests.storage.samples import House
from tests.storage.test_backups import contents, kept_in

pytestmark = pytest.mark.anyio

KEY = "a new key that is long enough"


async def test_the_store_itself_is_never_taken_for_a_backup(house: House, folder: Path) -> None:
    """Where one folder is chosen for both, or the store has a second name among its backups."""
    await house.keep("precious")
    vault = SqliteVault(folder, folder)
    os.link(folder / FILE_NAME, folder / "second-name.db")
    made = await vault.create("first", NOW)
    assert await vault.backups() == [made]
    for name in ("commonplace", "second-name"):
        for verb in (vault.verify, vault.restore, vault.remove):
            with pytest.raises(NotFound):
                await verb(name)
    with pytest.raises(AlreadyExists):
        await vault.create("commonplace", NOW)
    await vault.remove("first")
    assert await contents(house) == ["precious"]
    await house.store.close()
    assert await kept_in(folder, house) == ["precious"]


async def test_a_store_among_its_backups_gets_another_key_once_and_is_not_named_as_a_backup(
    house: House, folder: Path
) -> None:
    await house.keep("precious")
    await SqliteVault(folder, folder).create("first", NOW)
    await house.store.close()
    done = rekey(folder, folder, "", KEY)
    assert (done.backups, done.left) == (["first"], {})
