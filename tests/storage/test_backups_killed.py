"""A backup, a restore or a replacement that is killed, at any step of it: old or new, never half."""

import os
import shutil
from pathlib import Path

import pytest

from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.storage.keeping import NOW, acting, finished
from tests.storage.samples import founded
from tests.storage.test_backups import FINGERPRINT, contents, kept_in, place, vault

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

__all__ = ["place", "vault"]

MOST = 400
"""More steps than any of them has."""


async def test_a_backup_that_is_killed_at_any_step_leaves_none_or_a_whole_one(
    folder: Path, vault: SqliteVault, place: Path
) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep_all(["one", "two"])
    for step in range(1, MOST, 3):
        done = finished(acting(step, "create", folder, f"step-{step}"))
        found = [one.name for one in await vault.backups()]
        assert not done or f"step-{step}" in found
        for name in found:
            assert (await vault.verify(name)).contents
            await vault.remove(name)
        if done:
            break
    assert await contents(house) == ["one", "two"]
    for unfinished in place.iterdir():
        os.utime(unfinished, (0, 0))
    await vault.create("last", NOW)
    assert {file.name for file in place.iterdir() if file.name.startswith(".")} == set()
    await house.store.close()


async def test_a_restore_that_is_killed_at_any_step_leaves_the_old_state_or_the_new(
    folder: Path, vault: SqliteVault
) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep_all(["old 1", "old 2"])
    await vault.create("old", NOW)
    await house.keep("new")
    await vault.create("new", NOW)
    states = {"old": ["old 1", "old 2"], "new": ["new", "old 1", "old 2"]}
    seen = set()
    for step in range(1, MOST, 4):
        done = finished(acting(step, "restore", folder, "old"))
        for state in (await contents(house), await kept_in(folder, house)):
            assert state in states.values()
            seen.add(len(state))
        if await contents(house) == states["old"]:
            await vault.restore("new")
        if done:
            break
    assert seen == {2, 3}
    await house.store.close()


async def test_a_restore_that_is_killed_while_it_copies_leaves_the_old_state(folder: Path, vault: SqliteVault) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep_all([f"text {number} " + "x" * 20_000 for number in range(400)])
    await vault.create("large", NOW)
    await house.keep("new")
    log = folder / f"{FILE_NAME}-wal"
    midway = 0
    for share in (0.1, 0.3, 0.6, 0.9):
        await house.store.vacuum()
        size = (folder / FILE_NAME).stat().st_size
        process = acting(0, "restore", folder, "large")
        while process.poll() is None and log.stat().st_size < size * share:
            pass
        process.kill()
        midway += not finished(process)
        found = await contents(house)
        assert len(found) in (400, 401)
        assert await house.store.check() == ""
        if len(found) == 400:
            await house.keep("new")
    assert midway
    await house.store.close()


async def test_replacing_a_damaged_store_can_be_killed_and_repeated(folder: Path, vault: SqliteVault) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep("one")
    await vault.create("first", NOW)
    await house.store.close()
    for step in range(1, MOST, 5):
        shutil.rmtree(folder / "backups" / f"damaged-{NOW:%Y%m%d-%H%M%S}", ignore_errors=True)
        (folder / FILE_NAME).write_bytes(b"nonsense" * 1000)
        done = finished(acting(step, "replace", folder, "first"))
        if (folder / FILE_NAME).read_bytes() != b"nonsense" * 1000:
            assert await kept_in(folder, house) == ["one"]
        if done:
            break
