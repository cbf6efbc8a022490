"""What is deleted is gone from every file; what is kept is its owner's business only."""

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest

from commonplace.domain.chain import check
from commonplace.domain.memory import Change
from commonplace.ports import Store
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


# Whose business it is


async def test_every_file_is_readable_by_its_owner_only(folder: Path) -> None:
    before = os.umask(0)
    try:
        house = await founded(opened(folder))
        await house.keep_all([f"text {number}" for number in range(520)])
        await house.store.read(lambda tx: tx.facts(()))
        names = _modes(folder)
        await house.store.close()
        names |= _modes(folder)
    finally:
        os.umask(before)
    assert {FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"} < names
    assert any(name.startswith("index-") for name in names)


def _modes(folder: Path) -> set[str]:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    return {path.name for path in folder.iterdir()}


# Deleted for good

FIRST = "Quizzaciously the xylophonist hid vjqkwz underneath 鬱蒼森林"
SECOND = "Zyzzogeton flew over brlmpf to 蠻荒之地"
TRACES = """
quizzaci xylophonist vjqkwz underneath 鬱蒼 森林 zyzzogeton brlmpf 蠻荒 之地 secrettag secretkey secretmeta
""".split()


def traces(folder: Path, *needles: bytes) -> set[str]:
    data = b"".join(path.read_bytes() for path in folder.iterdir()).lower()
    words = {word for word in TRACES if word.encode() in data}
    return words | {needle.hex()[:16] for needle in needles if needle.lower() in data}


async def test_of_a_deleted_memory_nothing_is_left_in_any_file(folder: Path) -> None:
    house = await founded(opened(folder))
    await house.keep_all([f"other text {number}" for number in range(520)])
    memory = await house.keep(FIRST, tags=("secrettag",), keywords=("secretkey",), metadata={"k": "secretmeta"})
    prints = house.prints(SECOND)
    assert prints.vectors is not None
    await house.store.write(lambda tx: tx.revise(memory, Change(content=SECOND), memory.author, NOW, prints))
    await house.keep_all([f"later text {number}" for number in range(50)])
    vectors = await house.store.read(lambda tx: tx.vectors(memory.number, FINGERPRINT))
    assert vectors is not None
    vector = vectors.astype("<f2").tobytes()
    await house.store.settle()
    assert traces(folder, vector) >= {"vjqkwz", "brlmpf", "secrettag", vector.hex()[:16]}
    other = opened(folder)  # another one on the same folder, which has the vector in its index
    await other.read(lambda tx: tx.facts(()))
    await house.forget(memory)
    await house.store.vacuum()
    assert traces(folder, vector) == set()
    await house.store.close()
    await other.close()
    assert traces(folder, vector) == set()
    again = opened(folder)
    await again.read(lambda tx: check(tx.witnesses(-1, 10_000)))
    assert await again.read(lambda tx: tx.unsealed()) == 0
    await again.close()


async def test_the_words_of_a_deleted_memory_leave_the_files_without_a_vacuum(folder: Path) -> None:
    house = await founded(opened(folder))
    memory = await house.keep(FIRST)
    await house.keep("another text stays")
    assert traces(folder)
    await house.store.write(lambda tx: tx.erase(memory, NOW))
    await house.store.settle()
    assert traces(folder) == set()
    assert await contents(house) == ["another text stays"]
    await house.store.close()


async def test_words_deleted_by_a_process_that_was_killed_leave_the_files_at_the_next_start(
    folder: Path, tmp_path: Path
) -> None:
    house = await founded(opened(folder))
    memory = await house.keep(FIRST)
    await house.keep("another text stays")
    await house.store.write(lambda tx: tx.erase(memory, NOW))
    left = tmp_path / "left"
    left.mkdir()
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):  # as they are on disk when it is killed now
        shutil.copy(folder / name, left / name)
    await house.store.close()
    assert traces(left)
    again = opened(left)
    await again.settle()
    assert traces(left) == set()
    await again.close()


async def test_a_deleted_memory_leaves_the_copy_of_the_index_when_the_store_is_closed(folder: Path) -> None:
    house = await founded(opened(folder))
    await house.keep_all([f"other text {number}" for number in range(520)])
    memory = await house.keep(FIRST)
    await house.store.read(lambda tx: tx.facts(()))
    await house.store.close()
    (copy,) = folder.glob("index-*.npz")
    again = opened(folder)
    await replace(house, store=again).forget(memory)
    await again.read(lambda tx: tx.facts(()))
    with np.load(copy) as before:
        assert memory.number in before["memory_number"]
    await again.close()
    with np.load(copy) as after:
        assert memory.number not in after["memory_number"]
        assert len(after["part_code"]) == 520


async def test_a_reader_in_the_way_delays_the_wiping_but_no_writer(folder: Path) -> None:
    house = await founded(opened(folder))
    memory = await house.keep(FIRST)
    reader = apsw.Connection(str(folder / FILE_NAME))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").get  # noqa: B018 (it takes hold of the log)
    await house.store.write(lambda tx: tx.erase(memory, NOW))
    await house.store.settle()
    assert traces(folder)
    await house.keep("written while the reader is there")
    reader.execute("COMMIT")
    reader.close()
    await house.store.settle()
    assert traces(folder) == set()
    await house.store.close()
