"""When the disk is full, the folder read-only, the file damaged or from tomorrow: a clear error, and nothing lost."""

import contextlib
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from commonplace.domain.chain import check
from commonplace.domain.errors import (
    Invalid,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreGone,
    StoreNowhere,
    StoreReadOnly,
    StoreTooNew,
)
from commonplace.ports import Store
from commonplace.storage.sqlite import migrations
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from commonplace.storage.vectors import snapshot
from tests.fakes import Embedder
from tests.storage.disks import small_disk
from tests.storage.samples import House, founded

pytestmark = pytest.mark.anyio

FINGERPRINT = Embedder().fingerprint
NOBODY = 65534
AT = datetime(2026, 1, 15, 12, tzinfo=UTC)


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, FINGERPRINT)


async def contents(house: House) -> list[str]:
    page = await house.store.read(lambda tx: tx.page(house.all, 10_000))
    return sorted(memory.content for memory in page.memories)


async def moved_in(house: House, store: Store) -> House:
    return House(store, house.ada, house.ben, house.home, house.elsewhere, house.common)


async def test_where_no_folder_can_be_the_error_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreNowhere) as refused:
        opened(tmp_path / "file" / "memories")
    assert "--data-dir" in refused.value.remedy


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no such file system here")
async def test_where_a_file_system_takes_no_folders_another_folder_is_asked_for(folder: Path) -> None:
    nowhere = Path("/proc/nowhere")
    with pytest.raises(StoreNowhere) as refused:
        opened(nowhere)
    assert "--data-dir" in refused.value.remedy
    house = await founded(opened(folder))
    with pytest.raises(StoreNowhere):
        await SqliteVault(folder, nowhere).create("first", AT)
    await house.store.close()


# A full disk


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond this: what a quota does to a process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def fill(house: House) -> tuple[list[str], StoreFailed]:
    """Write until it is refused: what was acknowledged, and the refusal."""
    kept: list[str] = []
    for number in range(10_000):
        text = f"text {number} " + "x" * 20_000
        try:
            await house.keep(text)
        except StoreFailed as refusal:
            return kept, refusal
        kept.append(text)
    raise AssertionError("there was room for everything")


async def assert_full_but_whole(house: House, kept: list[str], refusal: StoreFailed) -> None:
    assert isinstance(refusal, StoreFull)
    assert "free some space" in refusal.remedy
    assert await contents(house) == sorted(kept)
    await house.store.read(lambda tx: check(tx.witnesses(-1, 10_000)))
    assert await house.store.read(lambda tx: tx.last_event()) == len(kept)


async def assert_usable_again(house: House, kept: list[str]) -> None:
    await house.keep("room again")
    assert await contents(house) == sorted([*kept, "room again"])


async def test_when_files_may_not_grow_reading_goes_on_and_nothing_is_lost(folder: Path) -> None:
    house = await founded(opened(folder))
    with largest_file(1_500_000):
        kept, refusal = await fill(house)
        assert kept
        await assert_full_but_whole(house, kept, refusal)
    await assert_usable_again(house, kept)
    await house.store.close()


async def test_when_the_file_may_have_no_more_pages_reading_goes_on_and_nothing_is_lost(folder: Path) -> None:
    house = await founded(opened(folder))

    async def allow(pages: int) -> None:
        await house.store.write(lambda tx: tx._connection.pragma("max_page_count", pages))  # type: ignore[attr-defined]

    await allow(400)
    kept, refusal = await fill(house)
    assert kept
    await assert_full_but_whole(house, kept, refusal)
    await allow(1_000_000)
    await assert_usable_again(house, kept)
    await house.store.close()


async def test_when_the_disk_is_full_reading_goes_on_and_nothing_is_lost() -> None:
    with small_disk() as disk:
        house = await founded(opened(disk / "data"))
        filler = disk / "filler"
        filler.write_bytes(b"x" * 500_000)
        kept, refusal = await fill(house)
        assert kept
        await assert_full_but_whole(house, kept, refusal)
        filler.unlink()
        await assert_usable_again(house, kept)
        await house.store.close()


async def test_a_lease_that_finds_room_does_not_end_the_trouble_of_a_memory_that_did_not(folder: Path) -> None:
    house = await founded(opened(folder))
    await house.keep("before")

    async def lease() -> None:
        await house.store.write(lambda tx: tx.lease("upkeep", "one", AT, AT))

    log = folder / f"{FILE_NAME}-wal"
    with largest_file(log.stat().st_size + 100_000):
        with pytest.raises(StoreFull):
            await house.keep("x" * 400_000)
        await lease()
        assert house.store.trouble
    await house.keep("room again")
    assert house.store.trouble == ""
    await lease()
    assert house.store.trouble == ""
    await house.store.close()


async def test_closing_on_a_full_disk_leaves_no_thread_and_no_half_copy(folder: Path) -> None:
    house = await founded(opened(folder))
    await house.keep_all([f"text {number}" for number in range(520)])
    await house.store.read(lambda tx: tx.facts(()))
    with largest_file(4096):
        await house.store.close()
    assert snapshot.copies(folder) == []
    again = await moved_in(house, opened(folder))
    assert len(await contents(again)) == 520
    await again.store.close()


@pytest.mark.parametrize("sign", ["index-0123456789ab.npz", "backups/first.db"])
async def test_a_file_that_was_emptied_is_not_taken_for_a_new_store(folder: Path, sign: str) -> None:
    house = await founded(opened(folder))
    await house.keep_all(["one"])
    await house.store.close()
    (folder / "commonplace.db").write_bytes(b"")
    (folder / sign).parent.mkdir(exist_ok=True)
    (folder / sign).touch()
    with pytest.raises(StoreCorrupt, match="it is empty") as caught:
        opened(folder)
    assert "put back the latest backup" in caught.value.remedy
    assert (folder / "commonplace.db").stat().st_size == 0
    (folder / "commonplace.db").unlink()
    await opened(folder).close()


async def test_a_folder_on_a_full_disk_cannot_be_founded(folder: Path) -> None:
    with largest_file(8192), pytest.raises(StoreFull):
        opened(folder)
    await opened(folder).close()


# A folder that can only be read


@pytest.fixture
def shelf() -> Iterator[Path]:
    """A folder that everyone may enter, for those who are not root."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    for path in [place, *place.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(place)


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everywhere, so for the time of the block this process is nobody."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


async def filled(folder: Path) -> House:
    """A house with one memory, whose store is closed again."""
    house = await founded(opened(folder))
    await house.keep("written before")
    await house.store.read(lambda tx: tx.scan(house.embedder.embed(["x"])[0], FINGERPRINT, house.ours).best(1))
    await house.store.close()
    return house


async def assert_read_only(house: House, folder: Path, expected: list[str]) -> None:
    store = opened(folder)
    assert not store.writable
    reader = await moved_in(house, store)
    assert await contents(reader) == expected
    query = house.embedder.embed([expected[0]])[0]
    assert await store.read(lambda tx: set(tx.scan(query, FINGERPRINT, house.ours).best(9)))
    with pytest.raises(StoreReadOnly) as refusal:
        await reader.keep("must not be")
    assert "make the folder writable" in refusal.value.remedy
    with pytest.raises(StoreReadOnly):
        await store.vacuum()
    await store.settle()
    await store.close()


async def test_a_folder_of_someone_else_can_be_read(shelf: Path) -> None:
    house = await filled(shelf / "data")
    (shelf / "data" / FILE_NAME).chmod(0o444)
    (shelf / "data").chmod(0o555)
    with unprivileged():
        await assert_read_only(house, shelf / "data", ["written before"])


async def test_ones_own_file_in_a_folder_that_cannot_be_written_can_be_read(shelf: Path) -> None:
    house = await filled(shelf / "data")
    if os.geteuid() == 0:
        os.chown(shelf / "data" / FILE_NAME, NOBODY, NOBODY)
        os.chown(shelf / "data", NOBODY, NOBODY)
    (shelf / "data").chmod(0o555)
    with unprivileged():
        await assert_read_only(house, shelf / "data", ["written before"])


async def test_a_file_that_cannot_be_written_in_a_folder_that_can_be_is_read(shelf: Path) -> None:
    house = await filled(shelf / "data")
    (shelf / "data" / FILE_NAME).chmod(0o444)
    (shelf / "data").chmod(0o777)
    with unprivileged():
        await assert_read_only(house, shelf / "data", ["written before"])


async def test_what_a_killed_writer_left_in_the_log_is_read_even_where_nothing_can_be_written(shelf: Path) -> None:
    house = await founded(opened(shelf / "live"))
    await house.keep("written before")
    (shelf / "data").mkdir()
    for suffix in ("", "-wal"):  # as a kill leaves them, or a snapshot of the disk
        shutil.copy(shelf / "live" / f"{FILE_NAME}{suffix}", shelf / "data" / f"{FILE_NAME}{suffix}")
        (shelf / "data" / f"{FILE_NAME}{suffix}").chmod(0o444)
    await house.store.close()
    (shelf / "data").chmod(0o555)
    with unprivileged():
        await assert_read_only(house, shelf / "data", ["written before"])


async def test_a_folder_that_cannot_be_made_or_entered_is_named(shelf: Path) -> None:
    (shelf / "closed").mkdir(mode=0o700)
    (shelf / "empty").mkdir(mode=0o555)
    if os.geteuid() != 0:
        (shelf / "closed").chmod(0o000)
    shelf.chmod(0o555)
    with unprivileged():
        for name in ("missing", "empty", "closed"):
            with pytest.raises(StoreReadOnly) as refusal:
                opened(shelf / name)
            assert str(shelf / name) in refusal.value.message


async def test_where_a_file_stands_in_the_way_of_the_folder_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(Invalid, match="is a file"):
        opened(tmp_path / "data")


# A file that is damaged, foreign or from tomorrow


def altered(path: Path, change: Callable[[apsw.Connection], object]) -> None:
    connection = apsw.Connection(str(path))
    change(connection)
    connection.close()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(b"once upon a time " * 1000)
    with pytest.raises(StoreCorrupt) as refusal:
        opened(folder)
    assert "put back the latest backup" in refusal.value.remedy
    assert (folder / FILE_NAME).read_bytes() == b"once upon a time " * 1000


async def test_a_damaged_header_is_refused_and_left_alone(folder: Path) -> None:
    await filled(folder)
    path = folder / FILE_NAME
    damaged = os.urandom(100) + path.read_bytes()[100:]
    path.write_bytes(damaged)
    with pytest.raises(StoreCorrupt):
        opened(folder)
    assert path.read_bytes() == damaged


async def test_what_a_damaged_page_does_not_hold_can_still_be_read(folder: Path) -> None:
    house = await founded(opened(folder))
    long = [await house.keep(f"TEXT {number} " + "x" * 9000) for number in range(40)]
    await house.store.close()
    path = folder / FILE_NAME
    damaged = bytearray(path.read_bytes())
    at = damaged.index(b"TEXT 20 ") // 4096 * 4096
    damaged[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(damaged)
    house = await moved_in(house, opened(folder))

    async def readable(number: int) -> bool:
        try:
            found = await house.store.read(lambda tx: tx.memory(long[number].id, house.ours))
        except StoreCorrupt:
            return False
        return found == long[number]

    outcomes = [await readable(number) for number in range(40)]
    assert not all(outcomes)
    assert outcomes.count(True) > 30
    await house.store.close()


async def test_a_file_from_a_later_release_is_refused_and_left_alone(folder: Path) -> None:
    await filled(folder)
    later = len(migrations.steps()) + 1
    altered(folder / FILE_NAME, lambda c: c.pragma("user_version", later))
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(StoreTooNew) as refusal:
        opened(folder)
    assert "upgrade commonplace" in refusal.value.remedy
    assert (folder / FILE_NAME).read_bytes() == before


# A folder that goes away


async def test_a_write_into_a_folder_that_was_removed_is_refused_and_goes_on_when_it_is_back(folder: Path) -> None:
    house = await founded(opened(folder))
    away = folder.with_name("away")
    folder.rename(away)
    with pytest.raises(StoreGone, match="removed or replaced"):
        await house.store.write(lambda tx: tx.set_meta("key", "lost"))
    away.rename(folder)
    await house.store.write(lambda tx: tx.set_meta("key", "kept"))
    assert await house.store.read(lambda tx: tx.meta("key")) == "kept"
    await house.store.close()
