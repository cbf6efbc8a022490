"""Addresses over stdio: create, read a node with 1,000 children, boot, index, search; beside a plain store call.

Every memory of the seeded folder gets a path: a thousand below one node, the others in a tree of ten branches each.
The last column is the same call's CPU beside that of greeum's `add_memory` on the same folder in the same run.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path as File
from zoneinfo import ZoneInfo

from tests.serving import PROGRAM

from benchmarks import corpus
from benchmarks.process import Process, cpu_seconds, started
from benchmarks.seed import Prepared, seeded
from benchmarks.table import Goal, Table, quantile
from commonplace.bootstrap import build
from commonplace.domain.path import Path, Place
from commonplace.ports import Transaction
from commonplace.settings import Settings

CHILDREN = 1000
BRANCHES = 10
CORE = 5
TIMES = 3.0
"""Create and read may take so many times a plain store call."""

Act = Callable[[Process, int], object]


def tables(sizes: Sequence[int], calls: int) -> list[Table]:
    table = Table("Addresses over stdio, ms", ("paths", "call", "p50", "p95", "CPU", "times a store call"))
    for size in sizes:
        with planted(size) as folder:
            _rows(table, folder, size, calls)
    return [table]


def _rows(table: Table, folder: File, size: int, calls: int) -> None:
    uris = ",".join(f"core://hub/{number}" for number in range(CORE))
    texts = iter(corpus.fresh(2 * calls + 2, 3))
    with started((PROGRAM, "serve", "--dialect", "greeum", "--data-dir", str(folder))) as process:
        store = _measured(process, calls, lambda p, _: p.call("add_memory", content=next(texts)))
    table.add(size, "add_memory (greeum)", *store, 1.0)
    questions = corpus.questions(calls + 1)
    acts: dict[str, Act] = {
        "create_memory": lambda p, n: p.call(
            "create_memory", parent_uri="core://tree", content=next(texts), priority=1, title=f"bench{n}"
        ),
        "read_memory, 1,000 children": lambda p, _: p.call("read_memory", uri="core://hub"),
        "system://boot": lambda p, _: p.call("read_memory", uri="system://boot"),
        "system://index": lambda p, _: p.call("read_memory", uri="system://index"),
        "search_memory, a word": lambda p, n: p.call("search_memory", query=max(questions[n].split(), key=len)),
        "search_memory, two characters": lambda p, _: p.call("search_memory", query="会议"),
    }
    serve = (PROGRAM, "serve", "--dialect", "nocturne", "--data-dir", str(folder))
    with started(serve, CORE_MEMORY_URIS=uris) as process:
        for name, act in acts.items():
            times = max(calls // 10, 5) if name == "system://index" else calls
            measured = _measured(process, times, act)
            ratio = measured[2] / store[2]
            table.add(size, name, *measured, ratio)
            if name.startswith(("create", "read")):
                table.goals.append(Goal(f"{size} paths: {name}, times a store call's CPU", ratio, TIMES))


def _measured(process: Process, calls: int, act: Act) -> tuple[float, float, float]:
    act(process, 0)
    took, before = [], cpu_seconds(process.pid)
    for number in range(1, calls + 1):
        began = time.perf_counter()
        act(process, number)
        took.append(time.perf_counter() - began)
    cpu = 1000 * (cpu_seconds(process.pid) - before) / calls
    return 1000 * quantile(took, 0.5), 1000 * quantile(took, 0.95), cpu


@contextmanager
def planted(size: int) -> Iterator[File]:
    """A folder in which every memory has a path."""
    with seeded(size) as folder:
        asyncio.run(_plant(folder, size))
        yield folder


async def _plant(folder: File, size: int) -> None:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    engine = build(settings, model=Prepared(corpus.sentences(min(size, corpus.SENTENCES))), zone=ZoneInfo("Asia/Seoul"))
    try:
        owner = await engine.access.local_owner()

        def work(tx: Transaction) -> None:
            tree, now = tx.home(owner.user), datetime.now(UTC)
            for path in _paths(tree, size, now):
                tx.paths.add(path)

        await engine.store.write(work)
    finally:
        await engine.close()
    shutil.rmtree(folder / "backups", ignore_errors=True)


def _paths(tree: int, size: int, now: datetime) -> Iterator[Path]:
    """Numbers begin at 1: the first is the hub, the second the top of the tree."""
    yield Path(Place(tree, "core"), "hub", 1, 0, "when the hub is asked for", now)
    yield Path(Place(tree, "core"), "tree", 2, 0, "", now)
    children = min(CHILDREN, size - 2)
    for number in range(children):
        yield Path(Place(tree, parent=1), str(number), 3 + number, number % 5, "", now)
    rest = range(3 + children, size + 1)
    for place, number in enumerate(rest):
        above = 2 if place < BRANCHES else rest[place // BRANCHES - 1]
        yield Path(Place(tree, parent=above), f"n{number}", number, number % 5, "", now)
