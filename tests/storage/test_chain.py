"""Whoever alters the file behind the server's back is found out, and the first bad block is named."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from commonplace.domain.access import Actor
from commonplace.domain.identifiers import uuid7
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.record import Bundle, Record
from commonplace.engine import Engine
from commonplace.engine.chain import Verdict
from commonplace.engine.memories import Reference
from commonplace.storage.sqlite.store import FILE_NAME
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


@pytest.fixture
async def kept(engine: Engine, owner: Actor, clock: Clock) -> list[Memory]:
    """Six blocks: 1 was revised, 2 was promoted, 4 was erased."""
    memories = []
    for place in range(6):
        ttl = HOUR if place == 2 else None
        memory = await engine.memories.remember(owner, Draft(f"text {place}", ("t",), importance=0.5, ttl=ttl))
        if ttl:
            clock.advance(timedelta(seconds=1))
            memory = await engine.memories.set_end(owner, Reference(memory.id), None)
        memories.append(memory)
        clock.advance(timedelta(seconds=1))
    await engine.memories.revise(owner, Reference(memories[1].id), Change(content="text 1, revised"))
    await engine.memories.forget(owner, Reference(memories[4].id))
    return memories


def tamper(folder: Path, *statements: str, bindings: dict[str, Any] | None = None) -> None:
    with apsw.Connection(str(folder / FILE_NAME)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement, bindings)
    connection.close()


async def verdict(engine: Engine, owner: Actor) -> Verdict:
    return await engine.chain.verify(owner)


async def test_changing_deleting_and_promoting_by_the_rules_keeps_the_chain_valid(
    engine: Engine, owner: Actor, kept: list[Memory]
) -> None:
    found = await verdict(engine, owner)
    assert (found.valid, found.total) == (True, 6)
    for memory in (kept[5], kept[0], kept[1]):
        await engine.memories.forget(owner, Reference(memory.id))
    await engine.memories.revise(owner, Reference(kept[2].id), Change(importance=0.9, tags=()))
    await engine.memories.set_end(owner, Reference(kept[3].id), HOUR)
    await engine.memories.set_end(owner, Reference(kept[3].id), None)
    await engine.memories.remember(owner, Draft("after"))
    await engine.store.vacuum()
    found = await verdict(engine, owner)
    assert (found.valid, found.total) == (True, 7)


TAMPERINGS: dict[str, tuple[str, int]] = {
    "the text of a memory": ("UPDATE memories SET content = content || '.' WHERE content = 'text 0'", 0),
    "one letter of the last": ("UPDATE memories SET content = 'text 6' WHERE content = 'text 5'", 5),
    "the text of a first version": ("UPDATE versions SET content = 'text 9' WHERE content = 'text 1'", 1),
    "the text of a later version": ("UPDATE memories SET content = content || '.' WHERE content LIKE '%revised'", 1),
    "the seal of a later version": ("UPDATE revision_seals SET hash = 'x'", 1),
    "the seal of a later version is gone": ("DELETE FROM revision_seals", 1),
    "the number of a version": ("UPDATE versions SET number = 7", 1),
    "which version a block seals": ("UPDATE blocks SET version = 2 WHERE number = 1", 1),
    "a version is gone": ("DELETE FROM versions", 1),
    "a time": ("UPDATE blocks SET timestamp = replace(timestamp, '2026', '2025') WHERE number = 3", 3),
    "the time of a memory": (
        "UPDATE memories SET created_at = created_at - 34560000000000 WHERE content = 'text 3'",
        3,
    ),
    "the time of one that was revised": ("UPDATE memories SET created_at = created_at + 1000 WHERE version = 2", 1),
    "the time of a promoted one": (
        "UPDATE memories SET created_at = created_at + 1 WHERE content = 'text 2'",
        2,
    ),
    "a time that is none": ("UPDATE memories SET created_at = 1 << 62 WHERE content = 'text 3'", 3),
    "an importance": ("UPDATE blocks SET importance = 0.6 WHERE number = 2", 2),
    "an importance by the least there is": ("UPDATE blocks SET importance = 0.5000000000000001 WHERE number = 2", 2),
    "a hash": ("UPDATE blocks SET hash = lower(hex(randomblob(32))) WHERE number = 0", 0),
    "the last hash": ("UPDATE blocks SET hash = lower(hex(randomblob(32))) WHERE number = 5", 5),
    "a previous hash": ("UPDATE blocks SET previous_hash = lower(hex(randomblob(32))) WHERE number = 3", 3),
    "the first previous hash": ("UPDATE blocks SET previous_hash = 'x' WHERE number = 0", 0),
    "the first block is gone": ("DELETE FROM blocks WHERE number = 0", 0),
    "a block in the middle is gone": ("DELETE FROM blocks WHERE number = 3", 3),
    "the last block is gone": ("DELETE FROM blocks WHERE number = 5", 5),
    "the last two blocks are gone": ("DELETE FROM blocks WHERE number > 3", 4),
    "all blocks are gone": ("DELETE FROM blocks", 0),
    "a memory is gone": ("DELETE FROM memories WHERE content = 'text 3'", 3),
    "the last memory is gone": ("DELETE FROM memories WHERE content = 'text 5'", 5),
    "a block names another memory": ("UPDATE blocks SET memory = 'x' WHERE number = 2", 2),
    "a block is numbered anew": ("UPDATE blocks SET number = 60 WHERE number = 5", 5),
    "an erased block's time": ("UPDATE blocks SET timestamp = 'x' WHERE number = 4", 4),
    "an erased block's importance": ("UPDATE blocks SET importance = 0.1 WHERE number = 4", 4),
    "an erased block's hash": ("UPDATE blocks SET hash = 'x' WHERE number = 4", 4),
    "an erased block's memory": ("UPDATE blocks SET memory = 'x' WHERE number = 4", 4),
    "an erased block's version": ("UPDATE blocks SET version = 9 WHERE number = 4", 4),
    "when a block was erased": ("UPDATE blocks SET erased_at = erased_at + 1 WHERE number = 4", 4),
    "an erased block's seal": ("UPDATE blocks SET seal = 'x' WHERE number = 4", 4),
    "an erasure is taken back": ("UPDATE blocks SET erased_at = NULL, seal = '' WHERE number = 4", 4),
    "an erased block is said to live": ("UPDATE blocks SET erased_at = NULL WHERE number = 4", 4),
    "a seal on a block that lives": ("UPDATE blocks SET seal = 'x' || coalesce(seal, '') WHERE number = 3", 3),
    "a seal on a block that was revised": ("UPDATE blocks SET seal = 'x' WHERE number = 1", 1),
    "an erasure is claimed": ("UPDATE blocks SET erased_at = 1, seal = 'x' WHERE number = 3", 3),
}


@pytest.mark.parametrize("what", TAMPERINGS)
async def test_tampering_is_found_where_it_was_done(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path, what: str
) -> None:
    statement, block = TAMPERINGS[what]
    tamper(folder, statement)
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == block


async def test_a_text_is_covered_also_after_something_else_of_it_was_changed(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    await engine.memories.revise(owner, Reference(kept[3].id), Change(importance=0.9))
    await engine.memories.revise(owner, Reference(kept[3].id), Change(tags=("u",)))
    assert (await verdict(engine, owner)).valid
    tamper(folder, "UPDATE memories SET content = 'text 9' WHERE content = 'text 3'")
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 3


async def test_the_time_of_one_that_was_brought_is_covered(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    await engine.archive.bring(owner, Bundle((_long_ago("brought"),)))
    assert (await verdict(engine, owner)).valid
    tamper(folder, "UPDATE memories SET created_at = created_at - 1 WHERE content = 'brought'")
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 6


async def test_what_earlier_releases_brought_without_a_seal_is_valid(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path, clock: Clock
) -> None:
    """They sealed no times: what is older than its block must not be taken for altered."""
    own = uuid7(clock.now() - HOUR, b"0123456789")
    for record in (_long_ago("brought"), replace(_long_ago("brought, and named otherwise"), id=own)):
        await engine.archive.bring(owner, Bundle((record,)))
    tamper(folder, "UPDATE blocks SET seal = '' WHERE erased_at IS NULL")
    assert (await verdict(engine, owner)).valid


def _long_ago(content: str) -> Record:
    at = datetime(2019, 5, 1, tzinfo=UTC)
    return Record("", content, "user", created_at=at, updated_at=at)


async def test_blocks_that_changed_places_are_found(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    tamper(
        folder,
        "UPDATE blocks SET number = 100 WHERE number = 2",
        "UPDATE blocks SET number = 2 WHERE number = 3",
        "UPDATE blocks SET number = 3 WHERE number = 100",
    )
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 2


async def test_an_erased_last_block_cannot_be_removed_without_a_trace(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    await engine.memories.forget(owner, Reference(kept[5].id))
    assert (await verdict(engine, owner)).valid
    tamper(folder, "DELETE FROM blocks WHERE number = 5")
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 5


async def test_an_erased_memory_that_is_put_back_is_found(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    columns = ", ".join(json.loads(_columns(folder)))
    copied = columns.replace("number,", "").replace("id,", ":id,", 1)
    tamper(
        folder,
        f"INSERT INTO memories ({columns.replace('number,', '')}) SELECT {copied} FROM memories LIMIT 1",
        bindings={"id": kept[4].id},
    )
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 4


async def test_a_memory_that_came_back_stands_under_its_later_block(
    engine: Engine, owner: Actor, kept: list[Memory], folder: Path
) -> None:
    await engine.backups.create(owner, "first")
    for index in (3, 6, 7):
        await engine.memories.forget(owner, Reference(kept[3].id))
        await engine.backups.restore(owner, "first", ["memories"])
        assert (await verdict(engine, owner)).valid
        block = await engine.chain.block(owner, index)
        assert block is not None
        assert (block.memory, block.erased_at is None) == (kept[3].id, False)
    assert (await engine.memories.get(owner, Reference(kept[3].id))).block == 8
    tamper(folder, "UPDATE memories SET content = 'other' WHERE id = :id", bindings={"id": kept[3].id})
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert found.broken.index == 8
    tamper(folder, "DELETE FROM blocks WHERE number = 8")
    found = await verdict(engine, owner)
    assert found.broken is not None
    assert (found.broken.index, "its text is there" in found.broken.reason) == (3, True)


def _columns(folder: Path) -> str:
    connection = apsw.Connection(str(folder / FILE_NAME))
    names = connection.execute("SELECT json_group_array(name) FROM pragma_table_info('memories')").get
    connection.close()
    return str(names)


FIELDS = ("timestamp", "previous_hash", "hash", "content")


async def test_every_byte_of_a_block_is_covered(engine: Engine, owner: Actor, kept: list[Memory], folder: Path) -> None:
    """Each byte of each field is changed in turn, and put right again."""
    for number, field in [(3, field) for field in FIELDS] + [(4, "timestamp"), (4, "hash"), (4, "seal"), (4, "memory")]:
        table, key = ("memories", "id") if field == "content" else ("blocks", "number")
        row = kept[number].id if field == "content" else number
        select = f"SELECT {field} FROM {table} WHERE {key} = :row"
        value = _value(folder, select, row)
        for place in range(len(value)):
            altered = value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]
            update = f"UPDATE {table} SET {field} = :value WHERE {key} = :row"
            tamper(folder, update, bindings={"value": altered, "row": row})
            found = await verdict(engine, owner)
            assert found.broken is not None, (number, field, place)
            assert found.broken.index == number
            tamper(folder, update, bindings={"value": value, "row": row})
    assert (await verdict(engine, owner)).valid


def _value(folder: Path, select: str, row: object) -> str:
    connection = apsw.Connection(str(folder / FILE_NAME))
    value = connection.execute(select, {"row": row}).get
    connection.close()
    return str(value)
