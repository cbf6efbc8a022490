"""Keeps the derived index in step with the file: built once, then event by event, whichever process wrote them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from commonplace.storage.sqlite.lexical import FREQUENT, Counts
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.rows import numbers_json
from commonplace.storage.sqlite.salvage import Salvage
from commonplace.storage.sqlite.statements import Row
from commonplace.storage.vectors import snapshot
from commonplace.storage.vectors.columns import code
from commonplace.storage.vectors.conditions import NEVER
from commonplace.storage.vectors.index import Entries, Index, Parts

_STRETCH = 4096
"""Memories read in one go: bounds what building an index takes beside the index."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Whose vectors the index holds."""

    fingerprint: str
    embedder: int
    dimensions: int
    history: str = ""
    """Another one after every restore: from then on event numbers mean something else."""


@dataclass(frozen=True, slots=True)
class Vantage:
    """What a connection sees: whose vectors there are, and the last event."""

    followed: Followed
    last: int


class Guarded:
    """The index while a block holds the lock around it. A search takes it ten times: this is as light as can be."""

    __slots__ = ("_lock", "_look")

    def __init__(self, lock: threading.RLock, look: Callable[[], Index]) -> None:
        self._lock = lock
        self._look = look

    def __enter__(self) -> Index:
        self._lock.acquire()
        try:
            return self._look()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Follower:
    """Owns the index of one embedder and the lock around it."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self.counts = Counts()
        self._index: Index | None = None
        self._followed: Followed | None = None
        self._saved_at = 0
        self._unsure: frozenset[int] = frozenset()
        self._salvage = Salvage()

    @property
    def damage(self) -> str:
        """What was met of a damaged file; then the index may lack something. Empty when it lacks nothing."""
        return self._salvage.lost

    def index(self, connection: apsw.Connection, vantage: Vantage) -> Guarded:
        """The index, true to what this connection sees, for the time of a block.

        Where others have seen more than this connection, so has the index.
        """
        return Guarded(self._lock, lambda: self._current(connection, vantage))

    def _current(self, connection: apsw.Connection, vantage: Vantage) -> Index:
        if _is_writing(connection):
            return self._provisional(connection, vantage)
        followed = vantage.followed
        if self._index is None or self._followed != followed:
            if self._followed and self._followed.history != followed.history:
                self.counts = Counts()
            self._index, self._followed = self._opened(connection, vantage), followed
            self._unsure = frozenset()
        current = self._index
        changed = self._salvage.attempt(lambda: self._catch_up(connection, current, vantage))
        if changed is None:  # what has happened cannot be read, but what there is now can
            self._index, self._unsure = self._prepared(connection, vantage), frozenset()
        elif changed:
            current.tidy()
        return self._index

    def _provisional(self, connection: apsw.Connection, vantage: Vantage) -> Index:
        """The index with what a transaction has written so far, which may yet be rolled back."""
        if self._index is None or self._followed != vantage.followed:
            return self._built(connection, vantage)
        position = self._index.position
        self._unsure = self._catch_up(connection, self._index, vantage) or self._unsure
        self._index.position = position  # whoever comes next takes it again
        return self._index

    def follow(self, connection: apsw.Connection) -> None:
        """Catch up, if there is an index to do it for."""
        followed = self._followed
        if followed is None:
            return
        seen = vantage(connection, followed.fingerprint)
        if seen.followed == followed:  # else who asks next has to build another one, and waits for it
            with self.index(connection, seen) as index:
                index.lay_out()

    @property
    def size(self) -> int:
        with self._lock:
            return len(self._index) if self._index else 0

    def _opened(self, connection: apsw.Connection, vantage: Vantage) -> Index:
        self._salvage = Salvage()
        index = self._salvage.attempt(lambda: self._loaded(connection, vantage.followed))
        if index is None:
            return self._prepared(connection, vantage)
        index.prepare()
        return index

    def _prepared(self, connection: apsw.Connection, vantage: Vantage) -> Index:
        index = self._built(connection, vantage)
        index.prepare()
        return index

    def _loaded(self, connection: apsw.Connection, followed: Followed) -> Index | None:
        if self._folder is None:
            return None
        made = partial(_copied, followed.dimensions)
        found = snapshot.load(self._path(followed), store_id(connection), followed.fingerprint, made)
        if found is None:
            return None
        stamp, index, counts = found
        if stamp.mark != _event_mark(connection, stamp.event):
            return None
        self._saved_at, self.counts = stamp.event, counts
        return index

    def _built(self, connection: apsw.Connection, vantage: Vantage) -> Index:
        self._saved_at, followed = 0, vantage.followed
        index = self._salvage.attempt(lambda: _whole(connection, followed))
        if index is None:
            index = Index(followed.dimensions)
            _take(connection, index, followed, range(1, _last_memory(connection) + 1), self._salvage)
        index.position = vantage.last
        return index

    def _catch_up(self, connection: apsw.Connection, index: Index, vantage: Vantage) -> frozenset[int]:
        """Take what has changed, as far as this connection sees more than the index; which memories that were."""
        last = vantage.last
        if last < index.position or (last == index.position and not self._unsure):
            return frozenset()
        changed = _rows(connection, "changed_since", {"after": index.position})
        taken = self._unsure.union(row[0] for row in changed)
        _take(connection, index, vantage.followed, sorted(taken), self._salvage)
        self._unsure, index.position = frozenset(), last
        return taken

    def count_words(self, connection: apsw.Connection, *, again: bool = False) -> None:
        """Count the frequent words, unless what was counted before is still about true."""
        total, counts = self.size, self.counts
        if again or counts.outdated(total):
            counts.take(dict(_rows(connection, "frequent_words", {"least": FREQUENT})), total)

    def save(self, connection: apsw.Connection, least: int, *, forgetting: bool = False) -> None:
        """Write the copy on disk if at least so many events have happened since the last one.

        Or, where forgetting matters, if the last one holds something that was deleted since.
        """
        with self._lock:
            followed = self._followed
            if self._folder is None or self._index is None or followed is None:
                return
            with self.index(connection, vantage(connection, followed.fingerprint)) as index:
                mark = _event_mark(connection, index.position)
                outdated = index.position - self._saved_at >= least
                outdated |= forgetting and self._saved_at > 0 and index.has_forgotten
                if not outdated or self._unsure or self.damage or not mark:
                    return
                index.compact()  # what was deleted must not come back to the disk
                stamp = snapshot.Stamp(store_id(connection), followed.fingerprint, index.position, mark)
                arrays = index.arrays() | self.counts.arrays()
            self._saved_at = stamp.event
        snapshot.save(arrays, stamp, self._path(followed))

    def discard_copies(self) -> None:
        """Remove what is on disk: it may hold traces of what was deleted."""
        for path in snapshot.copies(self._folder) if self._folder else ():
            path.unlink(missing_ok=True)
        self._saved_at = 0

    def _path(self, followed: Followed) -> Path:
        assert self._folder is not None
        return self._folder / f"index-{hashlib.sha256(followed.fingerprint.encode()).hexdigest()[:12]}.npz"


def _copied(dimensions: int, stamp: snapshot.Stamp, arrays: snapshot.Arrays) -> tuple[snapshot.Stamp, Index, Counts]:
    return stamp, Index.from_arrays(dimensions, stamp.event, arrays), Counts.from_arrays(arrays)


def vantage(connection: apsw.Connection, fingerprint: str) -> Vantage:
    """What this connection sees now."""
    row = connection.execute(queries()["vantage"], {"fingerprint": fingerprint}).fetchone()
    # Before the first vector there is no embedder; filters and neighbours still need the memories.
    embedder, dimensions, history, last = row or (0, 1, "", 0)
    return Vantage(Followed(fingerprint, embedder or 0, dimensions or 1, history or ""), last or 0)


def blind_vantage(connection: apsw.Connection, fingerprint: str) -> Vantage:
    """Where it cannot be read what has happened: whose vectors there are, as before the first event."""
    row = connection.execute(queries()["embedder"], {"fingerprint": fingerprint}).fetchone()
    return Vantage(Followed(fingerprint, *(row or (0, 1))), 0)


def store_id(connection: apsw.Connection) -> str:
    return _meta(connection, "store")


def _meta(connection: apsw.Connection, key: str) -> str:
    row = connection.execute(queries()["meta"], {"key": key}).fetchone()
    return str(row[0]) if row else ""


def _last_memory(connection: apsw.Connection) -> int:
    return int(connection.execute(queries()["last_memory"]).get or 0)


def _event_mark(connection: apsw.Connection, number: int) -> str:
    """What tells an event from the one that got its number in another future of the same store."""
    row = connection.execute(queries()["event_mark"], {"number": number}).fetchone()
    return str(row[0]) if row else ""


def _rows(connection: apsw.Connection, query: str, bindings: Mapping[str, Any]) -> list[Row]:
    return connection.execute(queries()[query], bindings).fetchall()


def _is_writing(connection: apsw.Connection) -> bool:
    return connection.txn_state("main") == apsw.SQLITE_TXN_WRITE


def _sizes(connection: apsw.Connection, followed: Followed) -> tuple[int, int]:
    """How many memories there are, and how many vectors of this embedder."""
    memories, vectors = _rows(connection, "index_sizes", {"embedder": followed.embedder})[0]
    return int(memories), int(vectors)


def _whole(connection: apsw.Connection, followed: Followed) -> Index:
    """An index with every memory, read a stretch at a time."""
    index = Index(followed.dimensions)
    index.expect(*_sizes(connection, followed))
    bindings: dict[str, int] = {"embedder": followed.embedder, "after": 0, "limit": _STRETCH}
    while rows := _rows(connection, "entries_after", bindings):
        bindings |= {"first": rows[0][0], "last": rows[-1][0], "after": rows[-1][0]}
        vectors = _rows(connection, "vectors_between", bindings)
        index.put(_entries(rows), _parts(vectors, followed.dimensions), np.empty(0, np.int64))
    return index


def _take(
    connection: apsw.Connection, index: Index, followed: Followed, numbers: Sequence[int], salvage: Salvage
) -> None:
    """Read these memories as they are now and put them into the index, without what is damaged."""

    def read(query: str, chosen: Sequence[int]) -> list[Row]:
        return _rows(connection, query, {"embedder": followed.embedder, "numbers": numbers_json(chosen)})

    for start in range(0, len(numbers), _STRETCH):
        chosen = numbers[start : start + _STRETCH]
        entries = _entries(salvage.rows(partial(read, "entries_among"), chosen))
        parts = _parts(salvage.rows(partial(read, "vectors_among"), entries.numbers.tolist()), followed.dimensions)
        index.put(entries, parts, np.setdiff1d(np.asarray(chosen, np.int64), entries.numbers))


def _entries(rows: Sequence[tuple[Any, ...]]) -> Entries:
    numbers, collections, authors, created, importance, categories, ends, sizes = (
        zip(*rows, strict=True) if rows else ((),) * 8
    )
    return Entries(
        np.asarray(numbers, np.int64),
        np.asarray(collections, np.int32),
        _codes(authors),
        np.asarray(created, np.int64),
        np.asarray(importance, np.float64),
        _codes(categories),
        np.asarray([NEVER if end is None else end for end in ends], np.int64),
        np.asarray([_length(size) for size in sizes], np.int32),
    )


def _length(size: bytes | None) -> int:
    """How many terms a text has, as FTS5 writes it down: seven bits a byte, the highest first."""
    length = 0
    for byte in size or b"":
        length = length << 7 | byte & 127
    return length


def _codes(texts: Sequence[str]) -> NDArray[np.int64]:
    known = {text: code(text) for text in set(texts)}
    return np.asarray([known[text] for text in texts], np.int64)


def _parts(rows: Sequence[tuple[Any, ...]], dimensions: int) -> Parts:
    owners, numbers, blobs = zip(*rows, strict=True) if rows else ((), (), ())
    return Parts(np.asarray(owners, np.int64), np.asarray(numbers, np.int64), unpacked(b"".join(blobs), dimensions))


def packed(vector: NDArray[np.float32]) -> bytes:
    return vector.astype("<f2").tobytes()


def unpacked(data: bytes, dimensions: int) -> NDArray[np.float32]:
    return np.frombuffer(data, "<f2").reshape(-1, dimensions).astype(np.float32)
