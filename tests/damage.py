"""Pages of a store that are lost on the disk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw

from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

_PAGE = 4096
COUNT = 120


def lose_table(file: Path, table: str) -> None:
    """Its first page, which leads to all others; then a change elsewhere, so that nobody goes by what he remembers."""
    _lose(file, "SELECT rootpage FROM sqlite_schema WHERE name = ?", table)


def lose_part(file: Path, table: str) -> None:
    """A page in the middle of it, with some of its rows."""
    _lose(file, "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", table)


def _lose(file: Path, query: str, table: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    pages = [int(str(row[0])) for row in connection.execute(query, (table,))]
    with file.open("r+b") as raw:
        raw.seek((pages[len(pages) // 2] - 1) * _PAGE)
        raw.write(b"\xff" * _PAGE)
    connection.execute("INSERT INTO leases (name, holder, ends_at) VALUES ('other', '', 0)")
    connection.close()


@asynccontextmanager
async def reopened(folder: Path) -> AsyncIterator[Engine]:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    engine = build(settings, model=Embedder(), clock=Clock(), zone=ZoneInfo("Asia/Seoul"))
    try:
        yield engine
    finally:
        await engine.close()


async def written(engine: Engine, owner: Actor, folder: Path) -> None:
    """Many memories, and nothing beside the file that would do without it."""
    for number in range(COUNT):
        await engine.memories.remember(owner, Draft(f"subject{number} " + f"filler{number} " * 40))
    await engine.close()
    for copy in folder.glob("index-*.npz"):
        copy.unlink()
