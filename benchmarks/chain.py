"""Verifying the whole chain through the tool, beside hashing the same bytes and nothing else."""

import hashlib
import time
from collections.abc import Sequence

from tests.serving import PROGRAM

from benchmarks import corpus
from benchmarks.process import cpu_seconds, started
from benchmarks.seed import seeded
from benchmarks.table import Goal, Table

SECONDS = 10.0
"""What counts as seconds for the largest chain."""


def tables(sizes: Sequence[int]) -> list[Table]:
    table = Table("verify_chain, s", ("blocks", "wall", "CPU", "µs a block", "hashing alone", "x"))
    for size in sizes:
        serve = (PROGRAM, "serve", "--dialect", "greeum", "--data-dir")
        with seeded(size) as folder, started((*serve, str(folder))) as process:
            process.call("query_memory", query=corpus.questions(1)[0])  # loading is over when this is answered
            before = cpu_seconds(process.pid)
            verdict = process.call("verify_chain")
            cpu = cpu_seconds(process.pid) - before
        if not verdict.answer["structuredContent"]["valid"]:
            raise RuntimeError(f"the chain of the seeded folder is broken: {verdict.answer}")
        hashing = _hashing(size)
        table.add(size, verdict.took, cpu, 1e6 * verdict.took / size, hashing, verdict.took / hashing)
    table.goals.append(Goal(f"seconds for {max(sizes)} blocks", verdict.took, SECONDS))
    return [table]


def _hashing(size: int) -> float:
    texts = [memory.text.encode() for memory in corpus.memories(size)]
    began, link = time.perf_counter(), b""
    for text in texts:
        link = hashlib.sha256(text + link).digest()
    return time.perf_counter() - began
