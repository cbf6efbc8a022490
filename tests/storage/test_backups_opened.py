"""A backup is read as a store of its own, from a copy that nobody else can read and that does not stay."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

from commonplace.domain.chain import revision_seal
from commonplace.domain.errors import NotFound, StoreTooNew
from commonplace.domain.identifiers import MemoryId
from commonplace.storage.sqlite import migrations
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.connection import can_fold
from commonplace.storage.sqlite.workshops import clear_away
from tests.storage.keeping import NOW
from tests.storage.samples import House, Spoilt
from tests.storage.test_backups import altered, place, vault

pytestmark = pytest.mark.anyio

__all__ = ["place", "vault"]


def hidden(place: Path) -> list[Path]:
    return [file for file in place.iterdir() if file.name.startswith(".")]


async def test_the_copy_is_a_store_that_only_its_owner_can_read_and_goes(
    house: House, vault: SqliteVault, place: Path
) -> None:
    kept = await house.keep("one")
    await vault.create("first", NOW)
    before = (place / "first.db").read_bytes()
    async with vault.opened("first") as store:
        assert await store.read(lambda tx: tx.memory(kept.id, house.ours)) == kept
        await store.write(lambda tx: tx.set_meta("key", "value"))
        (copy,) = hidden(place)
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in copy.iterdir()} == {0o600}
        assert [backup.name for backup in await vault.backups()] == ["first"]
    assert hidden(place) == []
    assert (place / "first.db").read_bytes() == before


async def test_a_folder_that_has_no_lock_yet_is_left_to_who_makes_it(folder: Path, place: Path) -> None:
    """Between the two a process may be about to take it; only age tells that it was killed."""
    fresh = [folder / ".restoring-0123abcd", place / ".first.0123abcd"]
    for one in fresh:
        one.mkdir(parents=True)
    clear_away(folder, place)
    assert all(one.exists() for one in fresh)
    for one in fresh:
        os.utime(one, (0, 0))
    clear_away(folder, place)
    assert not any(one.exists() for one in fresh)


async def test_the_copy_goes_whatever_happens(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep("one")
    await vault.create("first", NOW)
    with pytest.raises(Spoilt):
        async with vault.opened("first"):
            raise Spoilt
    assert hidden(place) == []
    with pytest.raises(NotFound):
        async with vault.opened("absent"):
            raise AssertionError
    altered(place / "first.db", f"PRAGMA user_version = {len(migrations.steps()) + 1}")
    with pytest.raises(StoreTooNew):
        async with vault.opened("first"):
            raise AssertionError
    assert hidden(place) == []


async def test_whoever_gives_up_waiting_for_it_leaves_no_copy(house: House, vault: SqliteVault, place: Path) -> None:
    await house.keep_all([f"text {number} " + "x" * 20_000 for number in range(50)])
    await vault.create("first", NOW)

    async def open_it() -> None:
        async with vault.opened("first"):
            await asyncio.Event().wait()

    for turns in (0, 1, 2, 5, 20, 100, 1000):
        attempt = asyncio.ensure_future(open_it())
        for _ in range(turns):
            await asyncio.sleep(0)
        attempt.cancel()
        await asyncio.wait([attempt])
        assert attempt.cancelled()
        assert hidden(place) == []


async def test_a_copy_that_was_left_goes_and_one_that_is_read_stays(
    house: House, vault: SqliteVault, place: Path
) -> None:
    await house.keep("one")
    await vault.create("first", NOW)
    left = place / ".first.0123abcd"
    left.mkdir()
    (left / "commonplace.db").write_bytes(b"half")
    async with vault.opened("first") as store:
        for copy in hidden(place):
            os.utime(copy, (0, 0))
        await vault.create("second", NOW)
        assert left not in hidden(place)
        assert await store.read(lambda tx: tx.last_event()) == 1
        assert len(hidden(place)) == 1
    assert hidden(place) == []


def _sealed(*row: Any) -> str:
    return revision_seal(*row)


async def test_a_backup_of_an_earlier_release_is_read_in_the_newest_form(
    house: House, vault: SqliteVault, place: Path
) -> None:
    place.mkdir(mode=0o700)
    for version in range(1, len(migrations.steps())):
        earlier = apsw.Connection(str(place / f"{version}.db"))
        earlier.create_scalar_function("revision_seal", _sealed)
        can_fold(earlier)
        for step in migrations.steps()[:version]:
            earlier.execute(step).fetchall()
        earlier.pragma("user_version", version)
        earlier.pragma("application_id", migrations.APPLICATION_ID)
        earlier.execute("INSERT INTO users VALUES ('u', 'eve', '', 0)")
        earlier.close()
        async with vault.opened(f"{version}") as store:
            assert await store.read(lambda tx: tx.user_named("eve"))
            assert await store.read(lambda tx: tx.copies.twins([MemoryId("u")], NOW)) == {}
