"""A store that is opened when the disk is full already: it is read, and begun or written only once there is room."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.domain.errors import StoreFullAtStart, StoreUnopened
from commonplace.storage.sqlite.presence import is_anyone_here, present
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.disks import leave_free, small_disk
from tests.storage.samples import House, founded

pytestmark = pytest.mark.anyio


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, Embedder().fingerprint)


async def contents(house: House) -> list[str]:
    page = await house.store.read(lambda tx: tx.page(house.all, 100))
    return sorted(memory.content for memory in page.memories)


@pytest.mark.parametrize("room", [0, 8192])
async def test_a_store_on_a_full_disk_is_read_until_there_is_room(room: int) -> None:
    with small_disk() as disk:
        house = await founded(opened(disk / "data"))
        await house.keep("written before")
        await house.store.close()
        leave_free(disk, room)
        reader = replace(house, store=opened(disk / "data"))
        assert not reader.store.writable
        assert "No space left" in reader.store.trouble
        assert await contents(reader) == ["written before"]
        with pytest.raises(StoreFullAtStart, match="No space left") as refusal:
            await reader.keep("must not be")
        assert "free some space on that disk and restart" in refusal.value.remedy
        (disk / "filler").unlink()
        writer = replace(house, store=opened(disk / "data"))
        await writer.keep("room again")
        assert await contents(reader) == ["room again", "written before"]
        await reader.store.close()
        await writer.store.close()


async def test_what_a_killed_writer_left_in_the_log_is_read_on_a_full_disk() -> None:
    with small_disk() as disk:
        house = await founded(opened(disk / "live"))
        await house.keep("written before")
        (disk / "data").mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(disk / "live" / f"{FILE_NAME}{suffix}", disk / "data" / f"{FILE_NAME}{suffix}")
        await house.store.close()
        leave_free(disk, 0)
        reader = replace(house, store=opened(disk / "data"))
        assert not reader.store.writable
        assert await contents(reader) == ["written before"]
        await reader.store.close()


@pytest.mark.parametrize("room", [0, 8192, 65536])
async def test_where_there_is_no_room_to_begin_a_store_nothing_is_said_of_reading(room: int) -> None:
    with small_disk() as disk:
        leave_free(disk, room)
        with pytest.raises(StoreUnopened) as refusal:
            opened(disk / "data")
        assert "reading goes on" not in refusal.value.remedy
        assert "free some space" in refusal.value.remedy
        (disk / "filler").unlink()
        await opened(disk / "data").close()


def test_whether_anyone_is_here_is_known_on_a_full_disk() -> None:
    with small_disk() as disk:
        (disk / "commonplace.lock").touch()
        leave_free(disk, 0)
        assert not is_anyone_here(disk)
        with present(disk):
            assert is_anyone_here(disk)
        assert not is_anyone_here(disk)
