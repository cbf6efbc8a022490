"""Folders with a thousand or a hundred thousand memories, written by the engine, kept in .bench/ between runs.

Only a few thousand sentences are embedded; a memory's vector is the mean of its sentences' with a little noise. So
a hundred thousand take a minute instead of ten, and what is on disk has the form that the program itself gives it.
"""

import asyncio
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

import commonplace
from benchmarks import corpus
from commonplace.bootstrap import build
from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.language.parts import parts
from commonplace.language.terms import terms
from commonplace.models.use import UniversalSentenceEncoder
from commonplace.ports import Prints, Transaction
from commonplace.settings import Settings

KEPT = Path(__file__).parent.parent / ".bench"
_AT_ONCE = 1000
_NOISE = 0.02

Vectors = NDArray[np.float32]


class Prepared:
    """An embedder that looks up: it answers as the real one would, nearly, and says it is the real one."""

    def __init__(self, sentences: Sequence[str]) -> None:
        real = UniversalSentenceEncoder()
        self.name, self.fingerprint, self.scale = real.name, real.fingerprint, real.scale
        self._row_of = {text: row for row, text in enumerate(sentences)}
        self._vectors = _embedded(real, sentences)
        self._chance = np.random.default_rng(1)

    def embed(self, texts: Sequence[str]) -> Vectors:
        means = np.stack([self._vectors[self._rows(text)].mean(axis=0) for text in texts])
        means += self._chance.normal(0.0, _NOISE, means.shape).astype(np.float32)
        unit: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    def prints(self, batch: Sequence[corpus.Memory]) -> list[tuple[str, Prints]]:
        """As the engine derives them, with each sentence's terms found once."""
        pieces = [parts(memory.text) for memory in batch]
        vectors, made, start = self.embed([piece for several in pieces for piece in several]), [], 0
        for memory, several in zip(batch, pieces, strict=True):
            words = [term for line in memory.text.split("\n") for term in _terms(line)]
            made.append((memory.text, Prints(words, vectors[start : start + len(several)], self.fingerprint)))
            start += len(several)
        return made

    def _rows(self, text: str) -> list[int]:
        known = [self._row_of[line] for line in text.split("\n") if line in self._row_of]
        return known or [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) % len(self._vectors)]


@lru_cache(maxsize=2 * corpus.SENTENCES)
def _terms(line: str) -> list[str]:
    return terms(line)


@contextmanager
def seeded(size: int) -> Iterator[Path]:
    """A copy of the folder with so many memories, to be written to and thrown away."""
    original = _seeded(size)
    copy = KEPT / f"run-{size}-{time.time_ns()}"
    shutil.copytree(original, copy)
    os.sync()
    try:
        yield copy
    finally:
        shutil.rmtree(copy)


def _seeded(size: int) -> Path:
    folder = KEPT / f"{size}-{seeding_version()}"
    if not (folder / "done").exists():
        for old in KEPT.glob(f"{size}-*"):
            shutil.rmtree(old)
        began = time.perf_counter()
        asyncio.run(_fill(folder, size))
        (folder / "done").touch()
        print(f"seeded {size} memories in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return folder


async def _fill(folder: Path, size: int) -> None:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    model = Prepared(corpus.sentences(min(size, corpus.SENTENCES)))
    engine = build(settings, model=model, zone=ZoneInfo("Asia/Seoul"))
    try:
        actor = (await engine.access.local_owner()).through("benchmark")
        wanted = corpus.memories(size)
        while batch := list(islice(wanted, _AT_ONCE)):
            await engine.store.write(partial(_remember, engine, actor, model.prints(batch)))
        await engine.store.read(lambda tx: tx.facts(()))  # the index, so that its copy is written on closing
        await engine.store.settle()  # full text in one piece, as in any store that has been served for a while
    finally:
        await engine.close()


def _remember(engine: Engine, actor: Actor, batch: Sequence[tuple[str, Prints]], tx: Transaction) -> None:
    """The engine's own step, many times in one transaction: one at a time they would wait for the disk.

    With their ties, which are none: to look for them in the background would be counted to the calls that are measured.
    """
    for text, prints in batch:
        engine.memories.remember_in(tx, actor, Draft(text), prints, {})


def _embedded(model: UniversalSentenceEncoder, texts: Sequence[str]) -> Vectors:
    version = hashlib.sha256("\n".join([model.fingerprint, *texts]).encode()).hexdigest()[:10]
    path = KEPT / f"sentences-{version}.npy"
    if not path.exists():
        KEPT.mkdir(exist_ok=True)
        np.save(path, np.concatenate([model.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)]))
    vectors: Vectors = np.load(path)
    return vectors


def seeding_version() -> str:
    """Of everything that decides what a seeded folder holds."""
    source = Path(commonplace.__file__).parent
    files = [Path(__file__), Path(corpus.__file__), source / "domain" / "chain.py", source / "engine" / "memories.py"]
    files += [source / "storage" / "vectors" / "snapshot.py"]
    for folder in ("language", "storage/sqlite/migrations"):
        files += sorted(path for path in (source / folder).iterdir() if path.suffix in (".py", ".sql"))
    content = [UniversalSentenceEncoder().fingerprint.encode(), *(path.read_bytes() for path in files)]
    return hashlib.sha256(b"".join(content)).hexdigest()[:10]
