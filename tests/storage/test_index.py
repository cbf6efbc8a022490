"""The derived index: as exact as a search through all vectors, and never a second truth."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from commonplace.domain.event import EventKind
from commonplace.domain.memory import Change, Memory
from commonplace.ports import Reading, Store, Transaction
from commonplace.storage.sqlite.scan import SqliteScan
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from commonplace.storage.vectors import snapshot
from commonplace.storage.vectors.codes import quantised
from commonplace.storage.vectors.conditions import NEVER, Conditions
from commonplace.storage.vectors.index import Entries, Index, Parts
from tests.fakes import Embedder
from tests.storage.samples import NOW, House, Vectors, founded, random_units

pytestmark = pytest.mark.anyio

FINGERPRINT = Embedder().fingerprint
OURS = Conditions(collections=(1,), now=0)


def entries(numbers: Sequence[int], collections: Sequence[int] | None = None) -> Entries:
    count = len(numbers)
    return Entries(
        np.asarray(numbers, np.int64),
        np.asarray(collections or [1] * count, np.int32),
        np.zeros(count, np.int64),
        np.asarray(numbers, np.int64),
        np.full(count, 0.5),
        np.zeros(count, np.int64),
        np.full(count, NEVER, np.int64),
        np.ones(count, np.int32),
    )


def parts(owners: Sequence[int], vectors: Vectors, first: int = 1) -> Parts:
    return Parts(np.asarray(owners, np.int64), np.arange(first, first + len(owners), dtype=np.int64), vectors)


NONE_GONE = np.empty(0, np.int64)


def filled(vectors: Vectors, collections: Sequence[int] | None = None) -> Index:
    index = Index(vectors.shape[1])
    numbers = range(1, len(vectors) + 1)
    index.put(entries(numbers, collections), parts(numbers, vectors), NONE_GONE)
    return index


def clustered(count: int, dimensions: int, seed: int) -> Vectors:
    """Tight clusters: what a store full of near-duplicates looks like."""
    centres = random_units(40, dimensions, seed)
    noise = random_units(count, dimensions, seed + 1) * np.float32(0.15)
    vectors = centres[np.arange(count) % 40] + noise
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def best(index: Index, vectors: Vectors, query: Vectors, limit: int, conditions: Conditions = OURS) -> list[int]:
    """As the store does it: by codes, then exactly for the best."""
    scanned = index.scan(query, index.passing(conditions))
    scan = SqliteScan(scanned, lambda stored: {number: float(vectors[number - 1] @ query) for number in stored})
    return list(scan.best(limit))


@pytest.mark.parametrize("dimensions", [64, 384])
@pytest.mark.parametrize("make", [random_units, clustered])
def test_codes_with_a_second_look_find_the_same_as_all_vectors(make: object, dimensions: int) -> None:
    vectors = make(6000, dimensions, 11)  # type: ignore[operator]
    index = filled(vectors, [1 + place % 3 for place in range(6000)])
    queries = make(25, dimensions, 11) * 0.9 + random_units(25, dimensions, 12) * 0.4  # type: ignore[operator]
    for query in (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32):
        exact = vectors @ query
        for collections in ((1, 2, 3), (2,), (1, 3)):
            among = [n for n in range(1, 6001) if 1 + (n - 1) % 3 in collections]
            expected = sorted(among, key=lambda n: -exact[n - 1])[:10]
            assert best(index, vectors, query, 10, Conditions(collections, 0)) == expected


@pytest.mark.parametrize(("long", "others"), [(2000, 30), (19_000, 1000)], ids=["all compared", "signs first"])
def test_a_long_memory_does_not_hide_the_others(long: int, others: int) -> None:
    vectors = random_units(long + others, 64, 5)
    vectors[:long] = vectors[long] + vectors[:long] * np.float32(0.01)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = Index(64)
    index.put(entries(range(1, others + 2)), parts([1] * long + list(range(2, others + 2)), vectors), NONE_GONE)
    scan = SqliteScan(index.scan(vectors[long], index.passing(OURS)), lambda stored: {})
    assert set(list(scan.best(20))[:2]) == {1, 2}
    assert len(scan.best(20)) == 20


@pytest.mark.parametrize("dimensions", [512, 100])
def test_among_very_many_the_likest_signs_lead_to_the_nearest(dimensions: int) -> None:
    vectors = clustered(20_000, dimensions, 3)
    index = filled(vectors, [1 + place % 3 for place in range(20_000)])
    queries = clustered(20, dimensions, 3) + random_units(20, dimensions, 4) * 0.5
    missed = 0
    for query in (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32):
        exact = vectors @ query
        for collections in ((1, 2, 3), (1, 3), (2,)):  # the last are few enough for all to be compared
            among = [n for n in range(1, 20_001) if 1 + (n - 1) % 3 in collections]
            expected = sorted(among, key=lambda n: -exact[n - 1])[:10]
            found = best(index, vectors, query, 10, Conditions(collections, 0))
            missed += len(set(expected) - set(found))
            assert set(found) <= set(among)
            assert found[:1] == expected[:1]
    assert missed <= 2  # of 600


def test_signs_follow_what_comes_and_what_is_cleared_away() -> None:
    vectors = random_units(20_000, 64, 6)
    index = filled(vectors[:18_000])
    assert best(index, vectors, vectors[17_000], 1) == [17_001]
    index.put(entries(range(18_001, 20_001)), parts(range(18_001, 20_001), vectors[18_000:], first=18_001), NONE_GONE)
    assert best(index, vectors, vectors[19_999], 1) == [20_000]
    index.put(entries([]), parts([], vectors[:0]), np.arange(1, 101, dtype=np.int64))
    index.compact()
    assert best(index, vectors, vectors[19_999], 1) == [20_000]
    assert not set(best(index, vectors, vectors[50], 10)) & set(range(1, 101))


def test_a_code_is_never_far_from_its_vector() -> None:
    vectors = np.concatenate([random_units(500, 48, 1), np.zeros((1, 48), np.float32), np.eye(48, dtype=np.float32)])
    codes, scales = quantised(vectors)
    assert np.abs(codes * scales[:, None] - vectors).max() <= np.abs(vectors).max() / 254 + 1e-6


def test_replaced_and_removed_vectors_are_not_found_before_and_after_they_are_cleared_away() -> None:
    vectors = random_units(20, 16, 5)
    index = filled(vectors[:10])
    index.put(entries([3]), parts([3, 3], vectors[10:12], first=11), np.asarray([7], np.int64))
    for tidied in (False, True):
        if tidied:
            index.compact()
        assert len(index) == 9
        scanned = index.scan(vectors[6], index.passing(OURS))
        found = scanned.best(99)
        assert {owner for owner, _, _ in found} == {1, 2, 3, 4, 5, 6, 8, 9, 10}
        assert {stored for owner, stored, _ in found if owner == 3} == {11, 12}
        assert set(scanned.of(range(1, 12))[0]) == {1, 2, 3, 4, 5, 6, 8, 9, 10}
        best, whole = scanned.of([2, 3])
        cosines = vectors[10:12] @ vectors[6]
        assert best[3] == pytest.approx(float(cosines.max()), abs=0.02)
        assert whole == {3: pytest.approx(float(cosines[0]), abs=0.02)}


def test_waste_is_cleared_away_by_itself() -> None:
    vectors = random_units(3, 8, 1)
    index = filled(vectors)
    for turn in range(30):
        numbers = range(10 + turn * 300, 10 + turn * 300 + 300)
        index.put(entries(numbers), parts(numbers, np.repeat(vectors[:1], 300, axis=0)), NONE_GONE)
        index.put(entries([]), parts([], vectors[:0]), np.asarray(numbers, np.int64))
        index.tidy()
    assert len(index) == 3
    assert len(index.arrays()["part_code"]) < 4500
    assert len(index.arrays()["memory_number"]) < 4500


def test_a_finished_scan_stays_true_while_the_index_moves_on() -> None:
    vectors = random_units(40, 16, 9)
    index = filled(vectors[:20])
    scanned = index.scan(vectors[0], index.passing(OURS))
    before = scanned.best(20), scanned.of(range(1, 21))
    index.put(entries([5, 30]), parts([5, 30], vectors[20:22], first=21), np.asarray([1, 2], np.int64))
    index.compact()
    index.put(entries(range(31, 600)), parts([], vectors[:0]), NONE_GONE)
    assert (scanned.best(20), scanned.of(range(1, 21))) == before


def test_what_is_to_be_written_stays_as_it_was_while_the_index_moves_on() -> None:
    vectors = random_units(40, 16, 9)
    index = filled(vectors[:20])
    arrays = index.arrays()
    before = {name: array.copy() for name, array in arrays.items()}
    index.put(entries([5, 30]), parts([5, 30], vectors[20:22], first=21), np.asarray([1, 2], np.int64))
    index.compact()
    index.put(entries(range(31, 600)), parts([], vectors[:0]), NONE_GONE)
    assert all(np.array_equal(arrays[name], array) for name, array in before.items())


# The copy on disk


def same(one: Index, other: Index) -> bool:
    one.compact()
    other.compact()
    mine, theirs = one.arrays(), other.arrays()
    if one.position != other.position or mine.keys() != theirs.keys():
        return False
    # Parts may stand in another order; by their number in the store they are the same.
    for index in (mine, theirs):
        order = np.argsort(index["part_number"])
        index["owner"] = index["memory_number"][index["part_place"]][order]
        index.update({name: index[name][order] for name in ("part_number", "part_scale", "part_code")})
        del index["part_place"], index["memory_first"]
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)


def copied(path: Path, store: str, fingerprint: str, dimensions: int) -> tuple[snapshot.Stamp, Index] | None:
    return snapshot.load(
        path, store, fingerprint, lambda stamp, arrays: (stamp, Index.from_arrays(dimensions, stamp.event, arrays))
    )


STAMP = snapshot.Stamp("store", "fake/16", 42, "1000 some-id")


def test_a_copy_comes_back_as_it_was(tmp_path: Path) -> None:
    index = filled(random_units(300, 16, 2))
    index.position = 42
    path = tmp_path / "index-x.npz"
    snapshot.save(index.arrays(), STAMP, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [child.name for child in tmp_path.iterdir()] == ["index-x.npz"]
    found = copied(path, "store", "fake/16", 16)
    assert found is not None
    assert found[0] == STAMP
    assert same(found[1], index)
    found[1].put(entries([301]), parts([301], random_units(1, 16, 3), first=301), NONE_GONE)
    assert len(found[1]) == 301


def test_a_copy_of_another_store_embedder_or_form_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index-x.npz"
    arrays = filled(random_units(9, 16, 2)).arrays()
    snapshot.save(arrays, STAMP, path)
    assert copied(path, "another", "fake/16", 16) is None
    assert copied(path, "store", "another", 16) is None
    assert copied(path, "store", "fake/16", 17) is None
    assert copied(tmp_path / "none.npz", "store", "fake/16", 16) is None
    snapshot.save({name: array for name, array in arrays.items() if name != "part_code"}, STAMP, path)
    assert copied(path, "store", "fake/16", 16) is None
    snapshot.save(arrays | {"part_scale": arrays["part_scale"][:-1]}, STAMP, path)
    assert copied(path, "store", "fake/16", 16) is None


def test_a_damaged_copy_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index-x.npz"
    snapshot.save(filled(random_units(50, 16, 2)).arrays(), STAMP, path)
    whole = path.read_bytes()
    for length in [0, 1, 10, *range(100, len(whole), 997)]:
        path.write_bytes(whole[:length])
        assert copied(path, "store", "fake/16", 16) is None, length
    for place in range(0, len(whole), 331):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        found = copied(path, "store", "fake/16", 16)
        # A byte that means nothing (a date, say) may change; what the index holds may not.
        assert found is None or same(found[1], filled_at(random_units(50, 16, 2), 42)), place


def test_whatever_is_wrong_with_a_copy_it_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "index-x.npz"
    snapshot.save(filled(random_units(50, 16, 2)).arrays(), STAMP, path)
    whole = path.read_bytes()
    closing = whole.index(b"}", whole.index(b"\x93NUMPY"))
    path.write_bytes(whole[:closing] + b" " + whole[closing + 1 :])  # numpy then fails in Python's own tokenizer
    assert copied(path, "store", "fake/16", 16) is None


def filled_at(vectors: Vectors, position: int) -> Index:
    index = filled(vectors)
    index.position = position
    return index


def test_what_a_killed_process_left_unfinished_is_removed_later(tmp_path: Path) -> None:
    path = tmp_path / "index-x.npz"
    left, fresh = tmp_path / ".index-x.npz.0a0b0c0d", tmp_path / ".index-x.npz.11111111"
    left.write_bytes(b"x")
    fresh.write_bytes(b"x")
    os.utime(left, (1_000_000, 1_000_000))
    snapshot.save(filled(random_units(9, 16, 2)).arrays(), STAMP, path)
    assert not left.exists()
    assert fresh.exists(), "another process may be writing it right now"


# Following the store


async def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, FINGERPRINT)


async def index_of(store: Store) -> Index:
    """The index as it stands after a read has brought it up to date."""
    assert isinstance(store, SqliteStore)
    await store.read(lambda tx: tx.facts(()))
    index = store._following()._index
    assert index is not None
    return index


async def rebuilt(folder: Path) -> Index:
    """What an index made from nothing but the store holds."""
    for copy in snapshot.copies(folder):
        copy.unlink()
    store = await opened(folder)
    index = await index_of(store)
    await store.close()
    return index


async def busy(house: House, memories: Sequence[Memory]) -> None:
    """A bit of everything that an index must follow."""

    def work(tx: Transaction) -> None:
        for memory in memories[::7]:
            house.erase(tx, memory)
        for memory in memories[1::7]:
            text = memory.content + " revised"
            tx.revise(
                memory, Change(content=text, importance=0.9, category="c"), memory.author, NOW, house.prints(text)
            )
            house.happened(tx, EventKind.REVISED, memory)
        house.put(tx, house.drafted("one more"))

    await house.store.write(work)


async def filled_house(folder: Path, size: int = 600) -> tuple[House, list[Memory]]:
    house = await founded(await opened(folder))
    numbers = await house.keep_all([f"text number {place}" for place in range(size)])
    return house, list(await house.store.read(lambda tx: tx.memories(numbers, house.ours)))


async def test_following_the_events_comes_to_the_same_as_building_anew(folder: Path) -> None:
    house, memories = await filled_house(folder)
    await index_of(house.store)
    await busy(house, memories)
    followed = await index_of(house.store)
    await house.store.close()
    assert same(followed, await rebuilt(folder))


async def test_a_copy_and_the_tail_of_events_come_to_the_same_as_building_anew(folder: Path) -> None:
    house, memories = await filled_house(folder)
    await index_of(house.store)
    await house.store.close()
    (copy,) = snapshot.copies(folder)
    old = copy.read_bytes()
    house = House(await opened(folder), house.ada, house.ben, house.home, house.elsewhere, house.common)
    await busy(house, memories)
    await house.store.close()
    copy.write_bytes(old)
    store = await opened(folder)
    replayed = await index_of(store)
    await store.close()
    assert same(replayed, await rebuilt(folder))


async def test_what_stands_in_the_way_of_the_copy_is_told_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    house, _ = await filled_house(folder)
    await index_of(house.store)
    await house.store.close()
    (copy,) = snapshot.copies(folder)
    copy.unlink()
    copy.mkdir()
    store = await opened(folder)
    await index_of(store)
    for _ in range(2):
        store._save_index(0)
    await store.close()
    told = [record.message for record in caplog.records if "copy of the index" in record.message]
    assert told == [f"the copy of the index in {folder} cannot be written: Is a directory"]


async def test_the_copy_is_what_opening_reads(folder: Path) -> None:
    house, _ = await filled_house(folder)
    await index_of(house.store)
    await house.store.close()
    (copy,) = snapshot.copies(folder)
    with np.load(copy) as arrays:
        marked = dict(arrays) | {"memory_author": np.full(600, 7, np.int64)}
    np.savez(copy, **marked)
    store = await opened(folder)
    index = await index_of(store)
    assert set(index.arrays()["memory_author"]) == {7}, "built anew, though there is a copy"
    await store.close()


async def test_a_restored_store_does_not_trust_a_copy_from_its_other_future(folder: Path, tmp_path: Path) -> None:
    house, _ = await filled_house(folder)
    await house.store.close()
    shutil.copy(folder / FILE_NAME, tmp_path / "backup.db")
    for future in ("one", "another"):
        store = await opened(folder)
        house = House(store, house.ada, house.ben, house.home, house.elsewhere, house.common)
        await house.keep_all([f"{future} future {place}" for place in range(520)])
        index = await index_of(store)
        await store.close()
        assert snapshot.copies(folder), "this future has left a copy"
        if future == "one":  # the same clock, the same numbers of events: only what happened differs
            shutil.copy(tmp_path / "backup.db", folder / FILE_NAME)
    assert same(index, await rebuilt(folder))


async def test_a_copy_holds_nothing_of_what_was_erased(folder: Path) -> None:
    house, memories = await filled_house(folder, 510)
    await index_of(house.store)
    await house.forget(memories[3])
    await house.store.close()
    (copy,) = snapshot.copies(folder)
    with np.load(copy) as arrays:
        assert memories[3].number not in arrays["memory_number"]
        assert len(arrays["part_code"]) == 509


async def test_a_reader_that_began_earlier_still_finds_what_was_changed_since(folder: Path) -> None:
    house, memories = await filled_house(folder, 20)
    query = house.embedder.embed([memories[4].content])[0]
    loop = asyncio.get_running_loop()

    def slow(tx: Reading) -> set[int]:
        tx.last_event()  # the view begins here
        text = "something else entirely"
        change = Change(content=text)

        def work(other: Transaction) -> None:
            other.revise(memories[4], change, memories[4].author, NOW, house.prints(text))
            house.happened(other, EventKind.REVISED, memories[4])

        store = house.store
        assert isinstance(store, SqliteStore)
        asyncio.run_coroutine_threadsafe(store.write(work), loop).result()
        store._read(lambda other: other.facts(()))  # another reader brings the index up to date
        return set(tx.scan(query, FINGERPRINT, house.ours).best(20))

    assert await house.store.read(slow) == {memory.number for memory in memories}
    await house.store.close()
