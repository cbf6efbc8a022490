"""Keeps the derived index in step with the file: built once, then event by event, whichever process wrote them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.rows import numbers_json
from commonplace.storage.vectors import snapshot
from commonplace.storage.vectors.index import NEVER, Entries, Index, Parts

_SAVE_AFTER = 5000
"""Events between two copies on disk."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Whose vectors the index holds."""

    fingerprint: str
    embedder: int
    dimensions: int


class Follower:
    """Owns the index of one embedder and the lock around it."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._followed: Followed | None = None
        self._saved_at = 0

    @contextmanager
    def index(self, connection: apsw.Connection, fingerprint: str) -> Iterator[Index]:
        """The index, true to what this connection sees, for the time of the block."""
        with self._lock:
            followed = self._current(connection, fingerprint)
            if self._index is None or self._followed != followed:
                self._index, self._followed = self._opened(connection, followed), followed
            self._catch_up(connection, self._index, followed)
            yield self._index

    @property
    def size(self) -> int:
        with self._lock:
            return len(self._index) if self._index else 0

    def _current(self, connection: apsw.Connection, fingerprint: str) -> Followed:
        row = connection.execute(
            "SELECT number, dimensions FROM embedders WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        # Before the first vector there is no embedder; filters and neighbours still need the memories.
        return Followed(fingerprint, row[0], row[1]) if row else Followed(fingerprint, 0, 1)

    def _opened(self, connection: apsw.Connection, followed: Followed) -> Index:
        return self._loaded(connection, followed) or self._built(connection, followed)

    def _loaded(self, connection: apsw.Connection, followed: Followed) -> Index | None:
        if self._folder is None:
            return None
        found = snapshot.load(self._path(followed), store_id(connection), followed.fingerprint, followed.dimensions)
        if found is None or found[1].event_at != _event_time(connection, found[1].event):
            return None
        self._saved_at = found[1].event
        return found[0]

    def _built(self, connection: apsw.Connection, followed: Followed) -> Index:
        index = Index(followed.dimensions)
        index.position = _last_event(connection)
        _take(connection, index, followed, None)
        return index

    def _catch_up(self, connection: apsw.Connection, index: Index, followed: Followed) -> None:
        last = _last_event(connection)
        if last <= index.position:
            return
        changed = connection.execute(queries()["changed_since"], {"after": index.position}).fetchall()
        _take(connection, index, followed, [int(row[0]) for row in changed if isinstance(row[0], int)])
        index.position = last

    def save(self, connection: apsw.Connection, *, least: int | None = None) -> None:
        """Write the copy on disk if at least so many events have happened since the last one."""
        if self._folder is None:
            return
        with self._lock:
            index, followed = self._index, self._followed
            if index is None or followed is None or index.position - self._saved_at < (least or _SAVE_AFTER):
                return
            at = _event_time(connection, index.position)
            stamp = snapshot.Stamp(store_id(connection), followed.fingerprint, index.position, at)
            snapshot.save(index, stamp, self._path(followed))
            self._saved_at = index.position

    def discard_copies(self) -> None:
        """Remove what is on disk: it may hold traces of what was deleted."""
        for path in self._folder.glob("index-*.npz") if self._folder else ():
            path.unlink(missing_ok=True)
        self._saved_at = 0

    def _path(self, followed: Followed) -> Path:
        assert self._folder is not None
        return self._folder / f"index-{hashlib.sha256(followed.fingerprint.encode()).hexdigest()[:12]}.npz"


def store_id(connection: apsw.Connection) -> str:
    row = connection.execute(queries()["meta"], {"key": "store"}).fetchone()
    return str(row[0]) if row else ""


def _last_event(connection: apsw.Connection) -> int:
    return int(connection.execute(queries()["last_event"]).get)


def _event_time(connection: apsw.Connection, number: int) -> int:
    row = connection.execute(queries()["event_time"], {"number": number}).fetchone()
    return int(row[0]) if row else -1


def _take(connection: apsw.Connection, index: Index, followed: Followed, numbers: Sequence[int] | None) -> None:
    """Read these memories (or all) as they are now and put them into the index."""
    chosen = None if numbers is None else numbers_json(numbers)
    entries = _entries(connection.execute(queries()["index_facts"], {"numbers": chosen}).fetchall())
    bindings = {"embedder": followed.embedder, "numbers": chosen}
    parts = _parts(connection.execute(queries()["vectors_for"], bindings).fetchall(), followed.dimensions)
    gone = np.setdiff1d(np.asarray(numbers or [], np.int64), entries.numbers)
    index.put(entries, parts, gone)


def _entries(rows: Sequence[tuple[Any, ...]]) -> Entries:
    numbers, collections, authors, created, importance, ends = zip(*rows, strict=True) if rows else ((),) * 6
    known = {author: author_code(author) for author in set(authors)}
    return Entries(
        np.asarray(numbers, np.int64),
        np.asarray(collections, np.int32),
        np.asarray([known[author] for author in authors], np.int64),
        np.asarray(created, np.int64),
        np.asarray(importance, np.float32),
        np.asarray([NEVER if end is None else end for end in ends], np.int64),
    )


def _parts(rows: Sequence[tuple[Any, ...]], dimensions: int) -> Parts:
    owners, numbers, blobs = zip(*rows, strict=True) if rows else ((), (), ())
    return Parts(np.asarray(owners, np.int64), np.asarray(numbers, np.int64), unpacked(b"".join(blobs), dimensions))


def author_code(author: str) -> int:
    """A number for an author that is the same in every process."""
    return int.from_bytes(hashlib.blake2b(author.encode(), digest_size=8).digest(), signed=True)


def packed(vector: NDArray[np.float32]) -> bytes:
    return vector.astype("<f2").tobytes()


def unpacked(data: bytes, dimensions: int) -> NDArray[np.float32]:
    return np.frombuffer(data, "<f2").reshape(-1, dimensions).astype(np.float32)
