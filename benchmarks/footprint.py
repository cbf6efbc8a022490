"""Memory and disk of a server that has answered calls, beside what the data themselves come to.

The limit for memory is the codes of the vectors, one byte a dimension; for the disk, the texts and the vectors, two
bytes a dimension.
"""

from collections.abc import Sequence
from pathlib import Path

from tests.serving import PROGRAM

from benchmarks import corpus
from benchmarks.process import memory_bytes, started
from benchmarks.seed import seeded
from benchmarks.start import BARE
from benchmarks.table import Goal, Table

_DIMENSIONS = 512
_MB = 1e6


def tables(sizes: Sequence[int], calls: int) -> list[Table]:
    columns = ("memories", "resident", "at most", "index built anew: at most", "codes alone")
    memory, disk = (
        Table("Memory, MB", columns),
        Table("Disk, MB", ("memories", "all", "the index's copy", "data alone")),
    )
    with started(BARE) as process:
        process.ask("tools/list")
        memory.add("bare server", memory_bytes(process.pid) / _MB, memory_bytes(process.pid, "VmHWM") / _MB, None, None)
    for size in sizes:
        with seeded(size) as folder:
            resident, most = _memory(folder, calls)
            copies, everything = _sizes(folder, "index-*"), _sizes(folder, "*")
            for copy in folder.glob("index-*"):
                copy.unlink()
            _, anew = _memory(folder, 1)
        memory.add(size, resident, most, anew, size * _DIMENSIONS / _MB)
        disk.add(size, everything, copies, _data(size))
        memory.goals.append(Goal(f"memory at {size}, MB", max(most, anew), 450))
    return [memory, disk]


def _memory(folder: Path, calls: int) -> tuple[float, float]:
    """What is resident after searches and store calls, and the most there ever was."""
    with started((PROGRAM, "serve", "--dialect", "greeum", "--data-dir", str(folder))) as process:
        for question in corpus.questions(calls):
            process.call("query_memory", query=question)
        for text in corpus.fresh(calls, 3):
            process.call("add_memory", content=text)
        return memory_bytes(process.pid) / _MB, memory_bytes(process.pid, "VmHWM") / _MB


def _sizes(folder: Path, pattern: str) -> float:
    return sum(path.stat().st_size for path in folder.glob(pattern)) / _MB


def _data(size: int) -> float:
    """The texts and their vectors, and nothing else."""
    return sum(len(one.text.encode()) + 2 * _DIMENSIONS for one in corpus.memories(size)) / _MB
