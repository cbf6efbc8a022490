"""What every store promises about keeping: written once, run against each."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from commonplace.domain.chain import check
from commonplace.domain.errors import Conflict, StoreFailed
from commonplace.domain.identifiers import CollectionId, MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Memory, Version
from commonplace.ports import Reading, Store, Transaction
from tests.storage.samples import NOW, House, Spoilt, ending, new_id, only

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


# Memories


async def test_a_memory_comes_back_as_it_was_handed_over(house: House) -> None:
    memory = await house.keep(
        "Ada met Grace in Zürich. 東京で会った。\n\tשלום 🧠 ''; DROP TABLE memories; --",
        content_type="markdown",
        tags=("b", "a", "日本"),
        keywords=("met", "Zürich"),
        category="people",
        importance=0.73,
        metadata={"source": {"page": 3, "ok": True}, "ü": [1, None, 2.5]},
        created_at=NOW - timedelta(microseconds=1),
    )
    drafted = replace(memory, number=0, collection=CollectionId(""), block=None)
    assert drafted == house.drafted(
        "Ada met Grace in Zürich. 東京で会った。\n\tשלום 🧠 ''; DROP TABLE memories; --",
        id=memory.id,
        content_type="markdown",
        tags=("b", "a", "日本"),
        keywords=("met", "Zürich"),
        category="people",
        importance=0.73,
        metadata={"source": {"page": 3, "ok": True}, "ü": [1, None, 2.5]},
        created_at=NOW - timedelta(microseconds=1),
    )
    assert memory.collection
    assert memory.block == 0


async def test_a_memory_is_found_by_id_by_block_and_by_number(house: House) -> None:
    first, second = await house.keep("one"), await house.keep("two")
    assert await house.store.read(lambda tx: tx.memory(first.id, house.ours)) == first
    assert await house.store.read(lambda tx: tx.memory_at(1, house.ours)) == second
    numbers = [second.number, 999, first.number]
    assert await house.store.read(lambda tx: tx.memories(numbers, house.ours)) == [second, first]


async def test_what_is_not_there_is_none(house: House) -> None:
    def nothing(tx: Transaction) -> list[object]:
        memory = MemoryId(new_id())
        return [tx.memory(memory, house.ours), tx.memory_at(0, house.ours), tx.block(0), tx.head(), tx.version_of(1)]

    assert await house.store.write(nothing) == [None] * 5


async def test_another_ones_memory_is_as_if_it_were_not_there(house: House) -> None:
    memory = await house.keep("a secret of Ben", home=house.elsewhere, author=house.author(house.ben))
    assert await house.store.read(lambda tx: tx.memory(memory.id, house.ours)) is None
    assert await house.store.read(lambda tx: tx.memory_at(0, house.ours)) is None
    assert await house.store.read(lambda tx: tx.memories([memory.number], house.ours)) == []
    assert await house.store.read(lambda tx: tx.page(house.ours, 10).total) == 0
    assert await house.store.read(lambda tx: tx.count(house.all)) == 1


async def test_pages_go_from_new_to_old_and_name_the_total(house: House) -> None:
    kept = [await house.keep(f"number {day}", created_at=NOW - timedelta(days=(day * 7) % 10)) for day in range(10)]
    expected = [m.id for m in sorted(kept, key=lambda m: (m.created_at, m.number), reverse=True)]
    pages = await house.store.read(lambda tx: [tx.page(house.ours, 4, offset) for offset in (0, 4, 8, 12)])
    assert [memory.id for page in pages for memory in page.memories] == expected
    assert {page.total for page in pages} == {10}


async def test_a_page_inside_a_transaction_shows_what_it_has_written(house: House) -> None:
    await house.keep("before")

    def work(tx: Transaction) -> tuple[int, int]:
        house.put(tx, house.drafted("now"))
        assert len(tx.crowd(house.ours).numbers) == 2
        return tx.page(house.ours, 10).total, tx.count(house.ours)

    assert await house.store.write(work) == (2, 2)


async def test_a_crowd_is_that_of_its_moment_whatever_is_written_meanwhile(house: House) -> None:
    await house.keep("before")
    loop = asyncio.get_running_loop()

    def facts(tx: Reading) -> list[object]:
        crowd = tx.crowd(house.ours)
        columns = (crowd.numbers, crowd.created, crowd.importance, crowd.uses, crowd.group)
        return [crowd.groups, *(column.tolist() for column in columns)]

    def slow(tx: Reading) -> tuple[list[object], list[object], int]:
        seen = facts(tx)
        asyncio.run_coroutine_threadsafe(house.keep("meanwhile"), loop).result()
        asyncio.run_coroutine_threadsafe(house.store.read(facts), loop).result()  # the index is ahead of us now
        return seen, facts(tx), len(tx.crowd(house.ours).numbers)

    seen, again, count = await house.store.read(slow)
    assert (seen, count) == (again, 1)
    assert len((await house.store.read(lambda tx: tx.crowd(house.ours))).numbers) == 2


# Change


async def test_every_change_keeps_what_was_before(house: House) -> None:
    memory = await house.keep("first", tags=("old",), importance=0.2, metadata={"n": 1})
    later, by = NOW + HOUR, house.author(house.ben)

    def work(tx: Transaction) -> None:
        change = Change(content="second", tags=("new", "newer"), category="c")
        tx.revise(memory, change, by, later, house.prints("second"))
        again = only(tx, memory.number, house.ours)
        tx.revise(again, Change(importance=0.9, keywords=("k",)), by, later + HOUR, None)

    await house.store.write(work)
    now = await house.store.read(lambda tx: only(tx, memory.number, house.ours))
    assert (now.content, now.tags, now.category, now.importance, now.keywords, now.metadata) == (
        "second",
        ("new", "newer"),
        "c",
        0.9,
        ("k",),
        {"n": 1},
    )
    assert (now.version, now.reviser, now.revised_at, now.author) == (3, by, later + HOUR, memory.author)
    first, second = await house.store.read(lambda tx: tx.versions(memory.id))
    assert first == _version(memory)
    assert (second.number, second.content, second.tags, second.author, second.made_at) == (
        2,
        "second",
        ("new", "newer"),
        by,
        later,
    )
    assert await house.store.read(lambda tx: tx.version_of(memory.number)) == 3


def _version(memory: Memory) -> Version:
    return Version(
        memory.id,
        memory.version,
        memory.content,
        memory.content_type,
        memory.tags,
        memory.keywords,
        memory.category,
        memory.importance,
        memory.metadata,
        memory.reviser,
        memory.revised_at,
    )


async def test_a_change_to_something_older_than_the_present_is_refused(house: House) -> None:
    memory = await house.keep("first")
    change = Change(importance=0.1)
    await house.store.write(lambda tx: tx.revise(memory, change, memory.author, NOW, None))
    with pytest.raises(Conflict):
        await house.store.write(lambda tx: tx.revise(memory, change, memory.author, NOW, None))
    assert len(await house.store.read(lambda tx: tx.versions(memory.id))) == 1


async def test_an_end_is_set_moved_and_removed(house: House) -> None:
    memory = await house.keep("for now", ephemeral=ending(HOUR))
    assert memory.ephemeral == ending(HOUR)
    await house.store.write(lambda tx: tx.set_end(memory.number, ending(2 * HOUR)))
    moved = await house.store.read(lambda tx: only(tx, memory.number, house.ours))
    assert moved.ephemeral == ending(2 * HOUR)
    await house.store.write(lambda tx: tx.set_end(memory.number, None))
    stays = await house.store.read(lambda tx: only(tx, memory.number, house.ours))
    assert stays.ephemeral is None


async def test_at_its_end_a_memory_is_gone_for_every_read_and_listed_as_expired(house: House) -> None:
    memory = await house.keep("for now", ephemeral=ending(HOUR))
    other = await house.keep("too", ephemeral=ending(HOUR), home=house.elsewhere)
    just_before = replace(house.ours, now=NOW + HOUR - timedelta(microseconds=1))
    at_the_end = replace(house.ours, now=NOW + HOUR)
    assert await house.store.read(lambda tx: tx.memory(memory.id, just_before)) == memory
    assert await house.store.read(lambda tx: tx.memory(memory.id, at_the_end)) is None
    assert await house.store.read(lambda tx: tx.page(at_the_end, 5).total) == 0
    assert await house.store.read(lambda tx: tx.expired(None, just_before.now, 9)) == []
    assert await house.store.read(lambda tx: tx.expired(None, NOW + HOUR, 9)) == [memory, other]
    assert await house.store.read(lambda tx: tx.expired(None, NOW + HOUR, 1)) == [memory]
    among = frozenset({house.home})
    assert await house.store.read(lambda tx: tx.expired(among, NOW + HOUR, 9)) == [memory]


async def test_erasing_takes_everything_but_the_block(house: House) -> None:
    memory, other = await house.keep("erase me", tags=("t",)), await house.keep("keep me")
    link = Link(memory.id, other.id, LinkKind.REFERENCES, 1.0, NOW)

    def work(tx: Transaction) -> None:
        tx.links.add(link)
        tx.count_uses({memory.number: 2}, NOW)
        tx.revise(memory, Change(content="erased"), memory.author, NOW, house.prints("erased"))

    await house.store.write(work)
    await house.forget(memory)

    def remains(tx: Transaction) -> list[object]:
        fingerprint = house.embedder.fingerprint
        return [
            tx.memory(memory.id, house.all),
            tx.versions(memory.id),
            tx.links.of(other.id),
            tx.vectors(memory.number, fingerprint),
            dict(tx.facts([memory.number])),
            tx.version_of(memory.number),
        ]

    assert await house.store.write(remains) == [None, [], [], None, {}, None]
    block = await house.store.read(lambda tx: tx.block(0))
    assert block is not None
    assert (block.memory, block.erased_at) == (memory.id, NOW)
    assert block.seal


async def test_the_number_of_an_erased_memory_is_not_given_again(house: House) -> None:
    memory = await house.keep("last")
    await house.forget(memory)
    assert (await house.keep("next")).number > memory.number


# All or none


async def test_a_transaction_that_fails_leaves_nothing_behind(house: House) -> None:
    def work(tx: Transaction) -> None:
        memory = house.put(tx, house.drafted("never", tags=("x",)))
        tx.links.add(Link(memory.id, memory.id, LinkKind.MANUAL, 0.5, NOW))
        tx.count_uses({memory.number: 1}, NOW)
        tx.set_meta("never", "1")
        raise Spoilt

    with pytest.raises(Spoilt):
        await house.store.write(work)
    found = await house.store.read(
        lambda tx: (tx.statistics(NOW), tx.page(house.all, 9).total, tx.meta("never"), tx.head(), tx.last_event())
    )
    assert (found[0].memories, found[0].blocks, found[0].events, *found[1:]) == (0, 0, 0, 0, None, None, 0)


async def test_one_that_fails_does_not_spoil_those_that_wait_with_it(house: House) -> None:
    def work(tx: Transaction, turn: int) -> int:
        house.put(tx, house.drafted(f"turn {turn}"))
        if turn % 3 == 0:
            raise Spoilt
        return turn

    writes = (house.store.write(partial(work, turn=turn)) for turn in range(30))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [isinstance(outcome, Spoilt) for outcome in outcomes] == [turn % 3 == 0 for turn in range(30)]
    assert [outcome for outcome in outcomes if isinstance(outcome, int)] == [t for t in range(30) if t % 3]
    assert await house.store.read(lambda tx: tx.count(house.all)) == 20
    events = await house.store.read(lambda tx: tx.events(0, 100))
    assert [event.number for event in events] == list(range(1, 21))
    last = await house.store.read(lambda tx: check(tx.witnesses(-1, 100)))
    assert last is not None
    assert last.index == 19


async def test_a_caller_that_gives_up_does_not_stop_the_others(house: House) -> None:
    writes = [asyncio.create_task(house.store.write(lambda tx: tx.set_meta("k", "v"))) for _ in range(40)]
    await asyncio.sleep(0)
    for given_up in writes[::2]:
        given_up.cancel()
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert all(outcome is None for outcome in outcomes[1::2])
    assert (await house.keep("still writing")).content == "still writing"


async def test_even_an_exit_inside_a_transaction_reaches_only_its_caller(house: House) -> None:
    def leave(tx: Transaction) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await house.store.write(leave)
    assert await house.store.read(lambda tx: tx.count(house.all)) == 0
    assert (await house.keep("still writing")).number


async def test_a_closed_store_refuses_instead_of_waiting_for_ever(store: Store) -> None:
    await store.close()
    with pytest.raises(StoreFailed, match="closed"):
        await store.write(lambda tx: tx.set_meta("too", "late"))
    with pytest.raises(StoreFailed, match="closed"):
        await store.read(lambda tx: tx.meta("too"))
    await store.close()  # closing again does nothing


async def test_a_read_sees_one_moment_however_long_it_takes(house: House) -> None:
    await house.keep("before")
    loop = asyncio.get_running_loop()

    def slow(tx: Reading) -> tuple[int, int, int]:
        seen = tx.statistics(NOW).memories
        asyncio.run_coroutine_threadsafe(house.keep("meanwhile"), loop).result()
        return seen, tx.statistics(NOW).memories, tx.last_event()

    assert await house.store.read(slow) == (1, 1, 1)
    assert await house.store.read(lambda tx: tx.count(house.ours)) == 2
