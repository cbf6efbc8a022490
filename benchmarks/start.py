"""From starting the process to its first answers, beside a bare server and a bare interpreter; and with many memories.

The first answer is the handshake's; the tools are listed next, as every client does. CPU is what the process has used
when the answer arrives, which other work on the machine does not change; the median of several starts, in turns.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

from tests.serving import PROGRAM

from benchmarks import corpus
from benchmarks.process import Process, cpu_seconds
from benchmarks.seed import seeded
from benchmarks.table import Goal, Table, median

BARE = (sys.executable, str(Path(__file__).with_name("bare_server.py")))


@dataclass(frozen=True)
class Start:
    """One start, in milliseconds; the first two at the handshake's answer."""

    wall: float
    cpu: float
    listed_wall: float
    listed_cpu: float


def tables(sizes: Sequence[int], rounds: int) -> list[Table]:
    return [_empty(rounds), _filled(sizes, max(rounds // 3, 1))]


def _empty(rounds: int) -> Table:
    table = Table(
        "Start to first answer, ms (median)", ("", "wall", "CPU", "x bare", "tools listed: wall", "CPU", "x bare")
    )
    with TemporaryDirectory() as folder:
        ours = (PROGRAM, "serve", "--dialect", "greeum", "--data-dir", folder)
        taken = _in_turns([lambda: _start(BARE), lambda: _start(ours)], rounds)
    bare, own = (_typical(starts) for starts in taken)
    for name, one in (("bare MCP server", bare), ("commonplace", own)):
        ratios = one.cpu / bare.cpu, one.listed_cpu / bare.listed_cpu
        table.add(name, one.wall, one.cpu, ratios[0], one.listed_wall, one.listed_cpu, ratios[1])
    interpreter = median([_run("pass") for _ in range(rounds)])
    sdk = median([_run("import mcp.server.lowlevel, mcp.server.stdio") for _ in range(rounds)])
    table.notes.append(f"of this, wall: the interpreter {interpreter:.0f}, with the SDK imported {sdk:.0f}")
    table.goals.append(Goal("CPU of the start, times a bare server's", own.cpu / bare.cpu, 1.5))
    return table


def _in_turns(acts: Sequence[Callable[[], Start]], rounds: int) -> list[list[Start]]:
    taken = [[act() for act in acts] for _ in range(rounds)]
    # The first round fills the caches of the file system.
    return [list(column) for column in zip(*taken[1:] or taken, strict=True)]


def _start(command: Sequence[str]) -> Start:
    process = Process(command)
    try:
        greeted = process.initialize()
        cpu = cpu_seconds(process.pid)
        listed = process.ask("tools/list")
        listed_cpu = cpu_seconds(process.pid)
    finally:
        process.close()
    began = process.began
    return Start(1000 * (greeted.ended - began), 1000 * cpu, 1000 * (listed.ended - began), 1000 * listed_cpu)


def _typical(starts: Sequence[Start]) -> Start:
    fields = ("wall", "cpu", "listed_wall", "listed_cpu")
    return Start(*(median([getattr(start, field) for start in starts]) for field in fields))


def _run(code: str) -> float:
    began = time.perf_counter()
    run([sys.executable, "-c", code], check=True)
    return 1000 * (time.perf_counter() - began)


def _filled(sizes: Sequence[int], rounds: int) -> Table:
    """What a client waits for that asks at once: the model and the index must be there first."""
    table = Table(
        "Start to the first search's answer, s (best)",
        ("memories", "with the index's copy", "without it", "reading the copy's bytes"),
    )
    for size in sizes:
        with seeded(size) as folder:
            copies = list(folder.glob("index-*.npz"))
            reading = min(_read_time(copies) for _ in range(3))
            with_copy = min(_search(folder) for _ in range(rounds))
            without = min(_search_without(folder) for _ in range(rounds))
        table.add(size, with_copy, without, reading)
    return table


def _search_without(folder: Path) -> float:
    for copy in folder.glob("index-*.npz"):
        copy.unlink()
    return _search(folder)


def _search(folder: Path) -> float:
    process = Process((PROGRAM, "serve", "--dialect", "greeum", "--data-dir", str(folder)))
    try:
        process.initialize()
        return process.call("query_memory", query=corpus.questions(1)[0]).ended - process.began
    finally:
        process.close()


def _read_time(files: Sequence[Path]) -> float:
    began = time.perf_counter()
    for file in files:
        file.read_bytes()
    return time.perf_counter() - began
