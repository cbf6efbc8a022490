"""A backup, a restore or a replacement that is killed, at any step of it: old or new, never half."""

import os
import shutil
from pathlib import Path

import pytest

from commonplace.domain.doing import Sought
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


async def test_a_restore_that_keeps_what_was_has_kept_it_before_it_happens(
    folder: Path, vault: SqliteVault, place: Path
) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep_all(["old 1", "old 2"])
    await vault.create("old", NOW)
    await house.keep("new")
    await vault.create("new", NOW)
    seen = set()
    for step in range(1, MOST, 5):
        done = finished(acting(step, "exchange", folder, "old", "safe"))
        await tidied(vault, folder, place)
        found = await contents(house)
        assert found in (["old 1", "old 2"], ["new", "old 1", "old 2"])
        kept = await vault.has("safe")
        assert kept or len(found) == 3
        seen.add((kept, len(found)))
        if kept:
            held = (await vault.verify("safe")).contents
            assert held
            assert held.memories == 3
            await vault.remove("safe")
        if len(found) == 2:
            assert [doing.what for doing in await house.store.read(lambda tx: tx.doings.latest(Sought(), 1))] == [
                "restored"
            ]
            await vault.restore("new")
        if done:
            break
    assert done
    assert seen == {(False, 3), (True, 3), (True, 2)}
    await house.store.close()


@pytest.mark.parametrize("act", ["read", "create"])
async def test_what_a_killed_process_leaves_goes_with_the_next_tidying(
    folder: Path, vault: SqliteVault, place: Path, act: str
) -> None:
    house = await founded(SqliteStore(folder, FINGERPRINT))
    await house.keep("one")
    await vault.create("first", NOW)
    left = 0
    for step in range(1, MOST, 6):
        done = finished(acting(step, act, folder, "first" if act == "read" else f"step-{step}"))
        left += len(unfinished(folder, place))
        await tidied(vault, folder, place)
        if done:
            break
    assert done
    assert left
    await house.store.close()


async def tidied(vault: SqliteVault, folder: Path, place: Path) -> None:
    await vault.tidy()
    # Between the making of a folder and that of its lock nobody can tell whether its maker lives: then age tells.
    assert [file for one in unfinished(folder, place) for file in one.iterdir()] == []
    for one in unfinished(folder, place):
        os.utime(one, (0, 0))
    await vault.tidy()
    assert unfinished(folder, place) == []


def unfinished(*folders: Path) -> list[Path]:
    return [one for folder in folders for one in folder.iterdir() if one.name.startswith(".")]


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
