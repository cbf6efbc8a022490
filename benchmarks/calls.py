"""A store call and a search call over stdio, split into what they are made of.

The program runs with a clock at the doors of its parts (watched_server.py), so that the parts are those of the very
calls that are timed. A store of each size has a server of its own, and they take turns, so that all of them meet the
same machine: it may be half as fast a minute later. The price of the protocol is the same exchange with a bare server,
which takes its turn too: a request as long, an answer as long. The index of letters is kept by a trigger inside the
statement that adds the row; what it takes of full text is measured by itself, afterwards.

Calls are ordered by what they took; the split at p50 is the mean of the middle fifth, the split at p95 that of the
calls from 92.5 to 97.5 %, so that the parts and the rest add up to the whole. The disk stands apart from the rest,
beside its own limit. The third row is CPU, a mean over all calls and what went on in the background meanwhile: what
else the machine does changes it least, so the goals are judged by it. CPU that a part lets other threads use is in
the rest.

The physical limits stand beside them: for the scan, one pass over as many bytes as the codes have; for the
store call, writing as many bytes as the log grew by and flushing them, in the same folder.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import corpus
from benchmarks.process import Process, Timed, exact_cpu_seconds, started
from benchmarks.seed import seeded
from benchmarks.start import BARE
from benchmarks.table import Goal, Table, median
from commonplace.storage.sqlite.connection import connect
from commonplace.storage.sqlite.store import FILE_NAME

PARTS = ("protocol", "embedding", "full text", "vectors", "disk", "rest")
REST = ("keywords", "sql", "neighbours", "facts", "rank", "rows")
"""What is known of the rest."""
INSIDE = {"words": "full text", "vector rows": "vectors"}
"""What is done inside a transaction, and the part that it is of."""
GROWTH = 1.25
"""Up to this the same work counts as not having grown: the machine is never quite the same twice."""
_WATCHED = str(Path(__file__).with_name("watched_server.py"))
_DIMENSIONS = 512
_TURN = 10
"""Calls before the bare server has its turn."""

Span = tuple[str, float, float, float]
Split = dict[str, float]
"""Milliseconds by part, and of the whole."""
Act = Callable[[Process, str], Timed]


@dataclass(frozen=True)
class Measured:
    """The calls of one tool at one size."""

    usual: Split
    slow: Split
    cpu: Split
    limit: float
    """What the physics allow: of the vectors for a search, of the disk for a store call."""


@dataclass
class Calls:
    """The calls of one tool in one store, those of the bare server beside them, and the CPU seconds of both."""

    timed: list[Timed] = field(default_factory=list)
    turns: list[tuple[float, float]] = field(default_factory=list)
    echoes: list[Timed] = field(default_factory=list)
    used: float = 0.0
    echoes_used: float = 0.0

    @property
    def protocol(self) -> tuple[float, float]:
        """What the protocol takes of each: time, CPU; ms."""
        # Teaching it an answer costs the bare server about as much as one call.
        asked = len(self.echoes) + len(self.turns)
        return 1000 * median([one.took for one in self.echoes]), 1000 * self.echoes_used / asked

    @property
    def cpu(self) -> float:
        """What each took in all, ms."""
        return 1000 * self.used / len(self.timed)


@dataclass
class Stand:
    """A store of some size, and a server on it."""

    folder: Path
    process: Process
    spans_file: Path
    grown: int = 0
    """What a store call added to the log, in bytes."""


def tables(sizes: Sequence[int], calls: int) -> list[Table]:
    measured = _measured(sizes, calls)
    limits = {"store": "write+fsync", "search": "one pass over the codes"}
    return [_table(tool, limits[tool], {size: m[tool] for size, m in measured.items()}) for tool in limits]


def _table(tool: str, limit: str, measured: Mapping[int, Measured]) -> Table:
    table = Table(f"A {tool} call over stdio, ms", ("memories", "", "whole", *PARTS, "rest %", limit))
    for size, one in measured.items():
        for name, split in (("p50", one.usual), ("p95", one.slow), ("CPU", one.cpu)):
            parts = [split[part] for part in PARTS]
            table.add(size, name, split["whole"], *parts, _rest(split), one.limit if name == "p50" else None)
        known = ", ".join(f"{part} {one.cpu[part]:.2f}" for part in REST if one.cpu[part] >= 0.01)
        table.notes.append(f"of the rest at {size}, CPU: {known}")
        table.goals.append(Goal(f"rest of the {tool} call at {size}, % of its CPU", _rest(one.cpu), 20))
    if len(measured) > 1:
        smallest, largest = measured[min(measured)], measured[max(measured)]
        growth = _without_scan(largest.cpu) / _without_scan(smallest.cpu)
        table.goals.append(Goal(f"the {tool} call's CPU without the scan, largest store / smallest", growth, GROWTH))
    return table


def _rest(split: Split) -> float:
    return 100 * split["rest"] / split["whole"]


def _without_scan(split: Split) -> float:
    return split["whole"] - split["vectors"]


def _measured(sizes: Sequence[int], calls: int) -> dict[int, dict[str, Measured]]:
    with ExitStack() as folders:
        stands: dict[int, Stand] = {}
        with ExitStack() as processes:
            bare = processes.enter_context(started(BARE))
            for size in sizes:
                stands[size] = processes.enter_context(_stand(folders.enter_context(seeded(size))))
                _warm(stands[size].process)
            searches = _in_turns(stands, bare, dict.fromkeys(sizes, corpus.questions(calls)), _search)
            before = {size: _log_size(stand.folder) for size, stand in stands.items()}
            texts = {size: corpus.fresh(calls, size) for size in sizes}
            stores = _in_turns(stands, bare, texts, _store)
            for size, stand in stands.items():
                stand.grown = max(_log_size(stand.folder) - before[size], 0) // calls
        return {size: _both(stand, size, searches[size], stores[size], texts[size]) for size, stand in stands.items()}


@contextmanager
def _stand(folder: Path) -> Iterator[Stand]:
    spans_file = folder / "spans.json"
    command = (sys.executable, _WATCHED, str(spans_file), "serve", "--dialect", "greeum", "--data-dir", str(folder))
    with started(command) as process:
        yield Stand(folder, process, spans_file)


def _both(stand: Stand, size: int, search: Calls, store: Calls, texts: Sequence[str]) -> dict[str, Measured]:
    spans, flush = json.loads(stand.spans_file.read_text()), flush_time(stand.folder, max(stand.grown, 4096))
    letters = _letters_time(stand.folder, texts)
    return {"store": _split(store, spans, flush, letters), "search": _split(search, spans, _pass_time(size))}


def _warm(process: Process) -> None:
    for question in corpus.questions(10):
        _search(process, question)
    for text in corpus.fresh(10, 1):
        _store(process, text)


def _search(process: Process, text: str) -> Timed:
    return process.call("query_memory", query=text)


def _store(process: Process, text: str) -> Timed:
    return process.call("add_memory", content=text)


def _in_turns(
    stands: Mapping[int, Stand], bare: Process, texts: Mapping[int, Sequence[str]], act: Act
) -> dict[int, Calls]:
    """The calls to all of them, a few at a time, and after each few as many to the bare server."""
    made = {size: Calls() for size in stands}
    for start in range(0, len(next(iter(texts.values()))), _TURN):
        for size, stand in stands.items():
            _turn(made[size], stand.process, bare, texts[size][start : start + _TURN], act)
    return made


def _turn(calls: Calls, process: Process, bare: Process, texts: Sequence[str], act: Act) -> None:
    """The bare server is asked as much and answers as much as the program has just done."""
    used = exact_cpu_seconds(process.pid), exact_cpu_seconds(bare.pid)
    turn = [act(process, text) for text in texts]
    calls.used += exact_cpu_seconds(process.pid) - used[0]
    calls.timed += turn
    calls.turns.append((turn[0].began, time.perf_counter()))
    typical = sorted(turn, key=lambda call: len(json.dumps(call.answer)))[len(turn) // 2]
    bare.call("learn", answer=typical.answer["structuredContent"])
    calls.echoes += [bare.call("echo", text=text) for text in texts]
    calls.echoes_used += exact_cpu_seconds(bare.pid) - used[1]


def _split(calls: Calls, spans: Sequence[Span], limit: float, letters: float = 0.0) -> Measured:
    within = [[span for span in spans if call.began <= span[1] and span[2] <= call.ended] for call in calls.timed]
    protocol, _ = calls.protocol
    walls = [
        _parts(
            [("words", letters), *((part, ended - began) for part, began, ended, _ in inside)],
            protocol,
            1000 * call.took,
        )
        for call, inside in zip(calls.timed, within, strict=True)
    ]
    walls.sort(key=lambda split: split["whole"])
    usual, slow = (
        walls[int(len(walls) * low) : int(len(walls) * high) + 1] for low, high in ((0.4, 0.6), (0.925, 0.975))
    )
    return Measured(_mean(usual), _mean(slow), _used(calls, spans, letters), limit)


def _used(calls: Calls, spans: Sequence[Span], letters: float) -> Split:
    """CPU a call, with what went on in the background meanwhile: its scans are scans too."""
    turns, count = calls.turns, len(calls.timed)
    during = [(part, cpu / count) for part, start, end, cpu in spans if any(a <= start and end <= b for a, b in turns)]
    return _parts([("words", letters), *during], calls.protocol[1], calls.cpu)


def _parts(taken: Sequence[tuple[str, float]], protocol: float, whole: float) -> Split:
    """From what each part took, in seconds, to what each is of the whole."""
    split = dict.fromkeys((*PARTS, *REST, *INSIDE, "commit"), 0.0) | {"protocol": protocol, "whole": whole}
    for part, seconds in taken:
        split[part] += 1000 * seconds
    split["disk"] += split["commit"] - split["sql"]
    for inside, part in INSIDE.items():
        split[part] += split[inside]
        split["sql"] -= split[inside]
    split["rest"] = whole - sum(split[part] for part in PARTS if part != "rest")
    return split


def _mean(splits: Sequence[Split]) -> Split:
    return {part: sum(split[part] for split in splits) / len(splits) for part in splits[0]}


def _log_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*-wal"))


def flush_time(folder: Path, size: int) -> float:
    """A plain write of so many bytes and the flush to disk, ms."""
    taken, block = [], os.urandom(size)
    with (folder / "flushed").open("wb", buffering=0) as file:
        for _ in range(50):
            began = time.perf_counter()
            file.write(block)
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - began)
    return 1000 * median(taken)


def _letters_time(folder: Path, texts: Sequence[str]) -> float:
    """What it takes to put a text's letters into their index, seconds."""
    connection, taken = connect(folder / FILE_NAME, writable=True), []
    try:
        connection.execute("BEGIN")
        for number, text in enumerate(texts):
            began = time.thread_time()
            connection.execute("INSERT INTO letters (rowid, content) VALUES (?, ?)", (-1 - number, text))
            taken.append(time.thread_time() - began)
        connection.execute("ROLLBACK")
    finally:
        connection.close()
    return median(taken)


def _pass_time(size: int) -> float:
    """One pass over the memory that the codes of so many vectors fill, ms."""
    codes, taken = np.ones((size, _DIMENSIONS // 8), np.int64), []
    for _ in range(20):
        began = time.perf_counter()
        codes.max()
        taken.append(time.perf_counter() - began)
    return 1000 * min(taken)
