"""A store of the release before gets to full text with its tags in the background, whoever is killed meanwhile."""

import asyncio
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from commonplace.language.terms import query_terms
from commonplace.storage.sqlite import lexical, store
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from commonplace.storage.sqlite.wording import BATCH
from tests.fakes import Embedder
from tests.storage.keeping import acting, finished
from tests.storage.samples import House, founded
from tests.storage.test_migrations import moved_in

pytestmark = pytest.mark.anyio

FINGERPRINT = Embedder().fingerprint
MANY = 3 * BATCH

_AS_BEFORE = """
UPDATE words SET terms = substr(terms, 1, instr(terms, char(10)) - 1) WHERE instr(terms, char(10)) > 0;
DROP TABLE unworded;
ALTER TABLE credentials DROP COLUMN made_with;
ALTER TABLE unembedded DROP COLUMN refused;
PRAGMA user_version = 13;
"""


def as_before(folder: Path) -> None:
    with closing(apsw.Connection(str(folder / FILE_NAME))) as connection:
        connection.execute(_AS_BEFORE).fetchall()


def opened(folder: Path) -> SqliteStore:
    return SqliteStore(folder, FINGERPRINT)


async def of_before(folder: Path, count: int = MANY) -> House:
    """A house full of tagged memories, as the release before left it."""
    house = await founded(opened(folder))
    await house.keep_all(["the shipment"] * count, tags=("logistics", "緊急"), category="operations")
    await house.keep("nothing more to say")
    await house.store.close()
    as_before(folder)
    return await moved_in(house, opened(folder))


async def found(house: House, query: str) -> int:
    hits = await house.store.read(lambda tx: tx.lexical(query_terms(query), house.ours, 10_000))
    return len(hits.scores)


def waiting(folder: Path) -> int:
    with closing(apsw.Connection(str(folder / FILE_NAME))) as connection:
        return int(connection.execute("SELECT count(*) FROM unworded").get)


async def test_an_old_store_is_found_by_its_tags_once_upkeep_had_its_turn(folder: Path) -> None:
    house = await of_before(folder)
    assert [await found(house, query) for query in ("logistics", "shipment")] == [0, MANY]
    assert waiting(folder) == MANY
    await house.store.settle()
    assert [await found(house, query) for query in ("logistics", "緊急", "operations", "shipment")] == [MANY] * 4
    assert waiting(folder) == 0
    assert await house.store.check() == ""
    await house.store.close()


async def test_what_is_changed_or_deleted_before_its_turn_is_as_it_is_then(folder: Path) -> None:
    house = await of_before(folder, 2)
    first, second, _ = reversed((await house.store.read(lambda tx: tx.page(house.ours, 9))).memories)
    await house.forget(first)
    await house.store.write(lambda tx: tx.labels.put_further(second.number, ["abroad"]))
    assert await found(house, "abroad logistics") == 1
    await house.store.settle()
    assert [await found(house, query) for query in ("logistics", "abroad", "shipment")] == [1, 1, 1]
    await house.store.close()


async def test_a_round_does_no_more_than_others_can_wait_for_and_the_newest_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_CATCHING_UP", 1)
    house = await of_before(folder)
    await house.store.settle()
    hits = await house.store.read(lambda tx: tx.lexical(query_terms("logistics"), house.ours, 10_000))
    assert sorted(hits.scores) == list(range(MANY - BATCH + 1, MANY + 1))
    await house.store.close()


async def test_two_that_do_it_at_once_do_it_once(folder: Path) -> None:
    house = await of_before(folder)
    other = opened(folder)
    await asyncio.gather(house.store.settle(), other.settle())
    assert [await found(house, query) for query in ("logistics", "shipment")] == [MANY, MANY]
    assert await other.check() == ""
    await other.close()
    await house.store.close()


async def test_words_that_became_frequent_by_tags_are_counted_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = lexical.FREQUENT + 50
    house = await founded(opened(folder))
    await house.keep_all(["a zebra"] * number)
    await house.keep_all(["an animal"] * number, tags=("zebra",))
    await house.store.close()
    as_before(folder)
    counts: list[int] = []
    for batches in (0, 50, 50):
        monkeypatch.setattr(store, "_CATCHING_UP", batches)
        again = opened(folder)
        await again.read(lambda tx: tx.facts(()))
        await again.settle()
        counts.append(again._following().counts.known(query_terms("zebra")[0], 2 * number))
        await again.close()
    assert counts == [number, 2 * number, 2 * number]


@pytest.mark.thorough
async def test_however_often_it_is_killed_it_gets_there(folder: Path) -> None:
    house = await of_before(folder)
    await house.store.close()
    left, step = [waiting(folder)], 60
    while not finished(acting(step, "settle", folder)):
        left.append(waiting(folder))
        step += 31
    assert left == sorted(left, reverse=True)
    assert {MANY, MANY - BATCH} <= set(left)
    house = await moved_in(house, opened(folder))
    assert waiting(folder) == 0
    assert [await found(house, query) for query in ("logistics", "shipment")] == [MANY, MANY]
    assert await house.store.check() == ""
    await house.store.close()
