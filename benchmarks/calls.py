"""A store call and a search call over stdio, split into what they are made of.

The program runs with a clock at the doors of its parts (watched_server.py), so that the parts are those of the very
calls that are timed. The price of the protocol is the same exchange with a bare server: a request as long, an answer
as long. Calls are ordered by what they took; the split at p50 is the mean of the middle fifth, the split at p95 that
of the calls from 92.5 to 97.5 %, so that the parts and the rest add up to the whole. The disk stands apart from
the rest, beside its own limit. The third row is CPU, a mean over all calls and what they left to the background: what
else the machine does changes it least, so the goals are judged by it. CPU that a part lets other threads use is in
the rest.

The physical limits stand beside them: for the scan, one pass over as many bytes as the codes have; for the
store call, writing as many bytes as the log grew by and flushing them, in the same folder.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import corpus
from benchmarks.process import Process, Timed, cpu_seconds, started
from benchmarks.seed import seeded
from benchmarks.start import BARE
from benchmarks.table import Goal, Table, median

PARTS = ("protocol", "embedding", "full text", "vectors", "disk", "rest")
REST = ("keywords", "sql", "neighbours", "facts", "rank", "rows")
"""What is known of the rest."""
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


@dataclass(frozen=True)
class Calls:
    """The calls of one tool, what the protocol takes of each (time, CPU; ms), and what CPU each took in all."""

    timed: list[Timed]
    protocol: tuple[float, float]
    cpu: float


def tables(sizes: Sequence[int], calls: int) -> list[Table]:
    measured = {size: _measured(size, calls) for size in sizes}
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


def _measured(size: int, calls: int) -> dict[str, Measured]:
    with seeded(size) as folder:
        spans_file = folder / "spans.json"
        command = (sys.executable, _WATCHED, str(spans_file), "serve", "--dialect", "greeum", "--data-dir", str(folder))
        with started(command) as process, started(BARE) as bare:
            _warm(process)
            search = _in_turns(process, bare, corpus.questions(calls), _search)
            grown = _log_size(folder)
            store = _in_turns(process, bare, corpus.fresh(calls, size), _store)
            grown = max(_log_size(folder) - grown, 0) // calls
        spans = json.loads(spans_file.read_text())
        flush = flush_time(folder, max(grown, 4096))
    return {"store": _split(store, spans, flush), "search": _split(search, spans, _pass_time(size))}


def _warm(process: Process) -> None:
    for question in corpus.questions(10):
        _search(process, question)
    for text in corpus.fresh(10, 1):
        _store(process, text)


def _search(process: Process, text: str) -> Timed:
    return process.call("query_memory", query=text)


def _store(process: Process, text: str) -> Timed:
    return process.call("add_memory", content=text)


def _in_turns(process: Process, bare: Process, texts: Sequence[str], act: Act) -> Calls:
    """The calls, and between them as many to the bare server, so that both meet the same machine.

    The bare server is asked as much and answers as much as the program has just done.
    """
    timed: list[Timed] = []
    echoes: list[Timed] = []
    used = cpu_seconds(process.pid), cpu_seconds(bare.pid)
    for start in range(0, len(texts), _TURN):
        turn = [act(process, text) for text in texts[start : start + _TURN]]
        typical = sorted(turn, key=lambda call: len(json.dumps(call.answer)))[len(turn) // 2]
        bare.call("learn", answer=typical.answer["structuredContent"])
        echoes += [bare.call("echo", text=text) for text in texts[start : start + _TURN]]
        timed += turn
    cpu, bare_cpu = cpu_seconds(process.pid) - used[0], cpu_seconds(bare.pid) - used[1]
    # Teaching it an answer costs the bare server about as much as one call.
    asked = len(echoes) + -(-len(texts) // _TURN)
    protocol = 1000 * median([one.took for one in echoes]), 1000 * bare_cpu / asked
    return Calls(timed, protocol, 1000 * cpu / len(texts))


def _split(calls: Calls, spans: Sequence[Span], limit: float) -> Measured:
    within = [[span for span in spans if call.began <= span[1] and span[2] <= call.ended] for call in calls.timed]
    walls = [
        _parts([(part, ended - began) for part, began, ended, _ in inside], calls.protocol[0], 1000 * call.took)
        for call, inside in zip(calls.timed, within, strict=True)
    ]
    walls.sort(key=lambda split: split["whole"])
    usual, slow = (
        walls[int(len(walls) * low) : int(len(walls) * high) + 1] for low, high in ((0.4, 0.6), (0.925, 0.975))
    )
    return Measured(_mean(usual), _mean(slow), _used(calls, spans), limit)


def _used(calls: Calls, spans: Sequence[Span]) -> Split:
    """CPU a call, with what calls left to the background: its scans are scans too, whenever they are done."""
    began, ended, count = calls.timed[0].began, calls.timed[-1].ended, len(calls.timed)
    during = [(part, cpu / count) for part, start, end, cpu in spans if began <= start and end <= ended]
    return _parts(during, calls.protocol[1], calls.cpu)


def _parts(taken: Sequence[tuple[str, float]], protocol: float, whole: float) -> Split:
    """From what each part took, in seconds, to what each is of the whole."""
    split = dict.fromkeys((*PARTS, *REST, "commit"), 0.0) | {"protocol": protocol, "whole": whole}
    for part, seconds in taken:
        split[part] += 1000 * seconds
    split["disk"] = split["commit"] - split["sql"]
    # The statements of full text and vectors are counted there.
    split["sql"] -= min(split["full text"] + split["vectors"], split["sql"])
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


def _pass_time(size: int) -> float:
    """One pass over the memory that the codes of so many vectors fill, ms."""
    codes, taken = np.ones((size, _DIMENSIONS // 8), np.int64), []
    for _ in range(20):
        began = time.perf_counter()
        codes.max()
        taken.append(time.perf_counter() - began)
    return 1000 * min(taken)
