"""A store of the first release, with memories in it, gets its addresses and loses nothing."""

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from commonplace.bootstrap import build
from commonplace.domain.address import address
from commonplace.domain.chain import Block, forge
from commonplace.domain.identifiers import MemoryId
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.paths import Signpost
from commonplace.language.terms import terms
from commonplace.settings import Settings
from commonplace.storage.sqlite import migrations
from commonplace.storage.sqlite.rows import micros
from commonplace.storage.sqlite.store import FILE_NAME
from tests.fakes import Clock, Embedder
from tests.storage.samples import NOW, new_id

pytestmark = pytest.mark.anyio

TEXTS = ["The zebra sleeps", "東京の記憶", "cafe\u0301 100% _sure_", "x" * 5000 + " the end"]
AUTHOR = ("ann", "local", "s", "test")


def first_release(folder: Path) -> list[MemoryId]:
    """A file as the first release wrote it, by its own schema only."""
    folder.mkdir()
    connection = apsw.Connection(str(folder / FILE_NAME))
    with connection:
        connection.execute(migrations.steps()[0]).fetchall()
        connection.pragma("user_version", 1)
        connection.pragma("application_id", migrations.APPLICATION_ID)
        _people(connection)
        blocks: list[Block] = []
        for number, text in enumerate(TEXTS, 1):
            _memory(connection, number, text, blocks)
    connection.pragma("journal_mode", "wal")
    connection.close()
    return [block.memory for block in blocks]


def _people(connection: apsw.Connection) -> None:
    at = micros(NOW)
    connection.execute("INSERT INTO meta VALUES ('store', 'abc')")
    connection.execute("INSERT INTO users (id, name, created_at) VALUES ('ann', 'owner', ?)", (at,))
    collections = "INSERT INTO collections (id, kind, domain, name, owner, created_at) VALUES (?, ?, ?, ?, ?, ?)"
    connection.execute(collections, ("c1", "global", "global", "global", None, at))
    connection.execute(collections, ("c2", "user", "user", "owner", "ann", at))


def _memory(connection: apsw.Connection, number: int, text: str, blocks: list[Block]) -> None:
    """One that was changed once: the block is of what it was first."""
    memory, at = MemoryId(new_id(NOW)), micros(NOW)
    connection.execute(
        "INSERT INTO memories VALUES (?, ?, 2, ?, 0.5, 'c', 2, 'text', '[\"k\"]', '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, memory, at, *AUTHOR, at, *AUTHOR, text),
    )
    connection.execute(
        "INSERT INTO versions VALUES (?, 1, ?, ?, ?, ?, ?, 0.5, 'c', 'text', '[]', '[]', '{}', ?)",
        (number, at, *AUTHOR, f"once {number}"),
    )
    connection.execute("INSERT INTO tags VALUES (?, 0, 'tagged')", (number,))
    connection.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (number, " ".join(terms(text))))
    block = forge(memory, 1, f"once {number}", NOW.isoformat(), 0.5, blocks[-1] if blocks else None)
    connection.execute(
        "INSERT INTO blocks (number, memory, version, timestamp, importance, previous_hash, hash)"
        " VALUES (?, ?, 1, ?, 0.5, ?, ?)",
        (block.index, memory, block.timestamp, block.previous_hash, block.hash),
    )
    blocks.append(block)
    for kind, detail in (("remembered", {"block": block.index}), ("revised", {"fields": ["content"], "version": 2})):
        connection.execute(
            "INSERT INTO events SELECT count(*) + 1, ?, ?, ?, ?, ?, ?, ?, ?, 2, ? FROM events",
            (kind, at, *AUTHOR, memory, number, json.dumps(detail)),
        )


def opened(folder: Path) -> Engine:
    return build(Settings(data_dir=str(folder)), model=Embedder(), clock=Clock(), zone=ZoneInfo("UTC"))


async def test_memories_versions_tags_events_and_blocks_are_all_still_there(folder: Path) -> None:
    ids = first_release(folder)
    engine = opened(folder)
    owner = (await engine.access.local_owner()).through("test")
    for number, (identifier, text) in enumerate(zip(ids, TEXTS, strict=True), 1):
        memory = await engine.memories.get(owner, Reference(identifier))
        assert identifier in {one.id for one in (await engine.memories.page(owner, 9, tags=("TAGGED",))).memories}
        assert (memory.content, memory.tags, memory.keywords, memory.version) == (text, ("tagged",), ("k",), 2)
        assert [one.content for one in await engine.memories.history(owner, Reference(identifier))] == [
            f"once {number}"
        ]
    assert (await engine.chain.verify(owner)).total == len(TEXTS)
    assert (await engine.chain.verify(owner)).valid
    assert await engine.events.last() == 2 * len(TEXTS)
    assert [(one.name, one.changes) for one in await engine.history.sessions(owner, 10)] == [("s", 2 * len(TEXTS))]
    await engine.close()


@pytest.mark.parametrize(
    ("query", "number"), [("ZEBRA", 0), ("ze", 0), ("京の", 1), ("憶", 1), ("café", 2), ("100% _", 2), ("x the end", 3)]
)
async def test_their_texts_are_found_by_the_letter(folder: Path, query: str, number: int) -> None:
    ids = first_release(folder)
    engine = opened(folder)
    owner = await engine.access.local_owner()
    found = await engine.literal.search(owner, query, 10)
    assert [match.memory.id for match in found.best] == [ids[number]]
    assert (await engine.literal.search(owner, "once", 10)).total == 0
    await engine.close()


async def test_they_can_be_given_paths_changed_and_removed(folder: Path) -> None:
    ids = first_release(folder)
    engine = opened(folder)
    owner = (await engine.access.local_owner()).through("test")
    pathless, total = await engine.paths.pathless(owner, 10)
    assert ([memory.id for memory in pathless], total) == (ids[::-1], 4)
    await engine.paths.alias(owner, address("core://zebra"), address(f"memory://{ids[0]}"), Signpost(1, "told"))
    await engine.history.restore(owner, Reference(ids[0]), 1)
    assert (await engine.literal.search(owner, "once 1", 10)).total == 1
    assert (await engine.literal.search(owner, "sleeps", 10)).total == 0
    await engine.memories.forget(owner, Reference(ids[3]))
    await engine.close()
    connection = apsw.Connection(str(folder / FILE_NAME))
    for table in ("letters", "names"):
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    assert migrations.schema_version(connection) == len(migrations.steps())
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
