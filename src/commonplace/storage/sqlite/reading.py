"""Reads: a consistent view of the file, with the derived index beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from commonplace.domain.access import Holding
from commonplace.domain.chain import Block, Witness
from commonplace.domain.credential import Credential, User
from commonplace.domain.errors import NotFound
from commonplace.domain.event import Event, Session
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CredentialId, MemoryId, UserId
from commonplace.domain.memory import Memory, Version
from commonplace.language.terms import Term
from commonplace.ports import (
    UNFINISHED,
    Crowd,
    Embedded,
    Facts,
    LexicalHits,
    NothingScanned,
    Page,
    Scan,
    Statistics,
)
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.holdings import Held
from commonplace.storage.sqlite.parts import ReadingParts
from commonplace.storage.sqlite.salvage import Salvage
from commonplace.storage.sqlite.sieve import Sieve
from commonplace.storage.sqlite.statements import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.storage.sqlite.following import Follower, Vantage
    from commonplace.storage.sqlite.lexical import Lexical
    from commonplace.storage.vectors.index import Index

    Vectors = NDArray[np.float32]

_GLANCE = 4
_NO_LIMIT = -1


class SqliteReading(ReadingParts):
    """The Reading port over one connection, inside one transaction."""

    _witnesses = "witnesses"

    def __init__(
        self,
        connection: apsw.Connection,
        follower: Callable[[], Follower],
        path: Path,
        fingerprint: str,
        held: Held | None = None,
    ) -> None:
        super().__init__(connection)
        self._held = held or Held()
        self._follower = follower
        self._path = path
        self._fingerprint = fingerprint
        self._vantages: dict[str, Vantage] = {}
        self._passed: tuple[tuple[Filter, Index, int], NDArray[np.bool_]] | None = None
        self._salvage = Salvage()
        self._followed: Follower | None = None

    @property
    def damage(self) -> str:
        return self._salvage.lost or (self._followed.damage if self._followed else "")

    # Who

    def holdings(self, user: UserId) -> Sequence[Holding]:
        return self._held.of(user, self._single("holding_mark"), lambda: self._look(user))

    def _look(self, user: UserId) -> Sequence[Holding]:
        return [rows.holding(row) for row in self._all("holdings", user=user)]

    def home(self, user: UserId) -> int:
        row = self._one("home", user=user)
        if row is None:
            raise NotFound("user", user)
        return int(row[0])

    def user_named(self, name: str) -> User | None:
        row = self._one("user_named", name=name)
        return rows.user(row) if row else None

    def user(self, user: UserId) -> User | None:
        row = self._one("user", id=user)
        return rows.user(row) if row else None

    def credential_by_hash(self, key_hash: str) -> Credential | None:
        row = self._one("credential_by_hash", hash=key_hash)
        return rows.credential(row) if row else None

    def credential(self, credential: CredentialId) -> Credential | None:
        row = self._one("credential_by_id", id=credential)
        return rows.credential(row) if row else None

    def credentials(self) -> Sequence[Credential]:
        return [rows.credential(row) for row in self._all("credentials")]

    # Memories

    def memory(self, memory: MemoryId, among: Filter) -> Memory | None:
        row = self._one("memory", id=memory, **rows.filter_bindings(among))
        return rows.memory(row) if row else None

    def memory_at(self, block: int, among: Filter) -> Memory | None:
        row = self._one("memory_at", block=block, **rows.filter_bindings(among))
        return rows.memory(row) if row else None

    def memories(self, numbers: Sequence[int], among: Filter) -> Sequence[Memory]:
        return _in_order(self._memory_rows("memories", among, numbers), numbers)

    def legible(self, numbers: Sequence[int], among: Filter) -> Sequence[Memory]:
        found = self._salvage.rows(partial(self._memory_rows, "memories", among), numbers)
        if self._salvage.lost and len(found) < len(numbers):  # perhaps only how often they were used is lost
            missed = sorted({*numbers}.difference(row[0] for row in found))
            found += self._salvage.rows(partial(self._memory_rows, "memories_uncounted", among), missed)
        return _in_order(found, numbers)

    def _memory_rows(self, query: str, among: Filter, numbers: Sequence[int]) -> list[Row]:
        return self._all(query, numbers=rows.numbers_json(numbers), **rows.filter_bindings(among))

    def page(self, among: Filter, limit: int, offset: int = 0) -> Page:
        newest = self._newest(among)
        if newest is not None:
            chosen = newest[offset : offset + limit].tolist()
            return Page(tuple(self.memories(chosen, among)), len(newest))
        found = self._all("page", limit=limit, offset=offset, **rows.filter_bindings(among))
        return Page(tuple(rows.memory(row) for row in found), self.count(among))

    def latest(self, among: Filter, limit: int, by: UserId | None = None) -> Sequence[Memory]:
        bindings = rows.filter_bindings(among)
        found = self._all("latest", limit=limit, glance=limit + _GLANCE, author=by, **bindings)
        return [rows.memory(row) for row in found]

    def count(self, among: Filter) -> int:
        newest = self._newest(among)
        if newest is not None:
            return len(newest)
        row = self._one("count", **rows.filter_bindings(among))
        return int(row[0]) if row else 0

    def size(self) -> int:
        return int(self._single("document_count"))

    def crowd(self, among: Filter) -> Crowd:
        with self._index() as index:
            # It may have seen more than this view, or lack what is damaged.
            behind = bool(self.damage) or index.position > self.last_event()
            columns = None if behind else index.columns(self._passing(index, among))
        return self._census.crowd(columns or self._census.columns(among))

    def _newest(self, among: Filter) -> NDArray[np.int64] | None:
        """The numbers of those let through, the latest first.

        None where the index has seen more than this view, or lacks what is damaged: a list that leaves something out
        in silence is worse than none.
        """
        with self._index() as index:
            if self.damage or index.position > self.last_event():
                return None
            return index.newest(self._passing(index, among))

    def versions(self, memory: MemoryId) -> Sequence[Version]:
        return [rows.version(row) for row in self._all("versions", id=memory)]

    def expired(self, collections: frozenset[int] | None, now: datetime, limit: int) -> Sequence[Memory]:
        chosen = None if collections is None else rows.numbers_json(sorted(collections))
        found = self._all("expired", now=rows.micros(now), collections=chosen, limit=limit)
        return [rows.memory(row) for row in found]

    # The chain

    def block(self, index: int) -> Block | None:
        row = self._one("block", number=index)
        return rows.block(row) if row else None

    def head(self) -> Block | None:
        row = self._one("head")
        return rows.block(row) if row else None

    def witnesses(self, after: int, limit: int) -> Sequence[Witness]:
        return [rows.witness(row) for row in self._all(self._witnesses, after=after, limit=limit)]

    def unsealed(self) -> int:
        row = self._one("unsealed")
        return int(row[0]) if row else 0

    # What happened

    def last_event(self) -> int:
        row = self._one("last_event")
        return int(row[0]) if row else 0

    def events(self, after: int, limit: int) -> Sequence[Event]:
        return [rows.event(row) for row in self._all("events", after=after, limit=limit)]

    def sessions(self, collections: frozenset[int], limit: int) -> Sequence[Session]:
        chosen = rows.numbers_json(sorted(collections))
        return [rows.session(row) for row in self._all("sessions", collections=chosen, limit=limit)]

    def events_of(self, session: str, collections: frozenset[int], limit: int, after: int = 0) -> Sequence[Event]:
        chosen = rows.numbers_json(sorted(collections))
        found = self._all("events_of", session=session, collections=chosen, after=after, limit=limit)
        return [rows.event(row) for row in found]

    def events_about(self, memory: MemoryId, limit: int) -> Sequence[Event]:
        return [rows.event(row) for row in self._all("events_about", memory=memory, limit=limit)]

    # Finding

    def lexical(self, terms: Sequence[Term], among: Filter, limit: int) -> LexicalHits:
        return self._salvage.attempt(lambda: self._with_words(terms, among, limit)) or LexicalHits({}, 0.0)

    def _with_words(self, terms: Sequence[Term], among: Filter, limit: int) -> LexicalHits:
        from commonplace.storage.sqlite.lexical import Lexical

        with self._index() as index:
            words = Lexical(self._connection, self._follower().counts, len(index))
        matches = words.matches(terms)
        if matches is None:
            return LexicalHits({}, 0.0)
        with self._index() as index:
            hits = matches.best(index, self._passing(index, among), limit)
        if not hits.scores and matches.common:
            newest = dict.fromkeys(self._newest_with(words, matches.common, among, limit), matches.common_score)
            return LexicalHits(newest, matches.asked, newest)
        return hits

    def _newest_with(self, words: Lexical, expression: str, among: Filter, limit: int) -> list[int]:
        """A glance at the newest is enough, unless the filter lets too few of them through."""
        kept: list[int] = []
        for most in (limit * _GLANCE, _NO_LIMIT):
            numbers = words.newest(expression, most)
            with self._index() as index:
                kept = numbers[index.known(numbers, self._passing(index, among))][:limit].tolist()
            if len(kept) == limit or len(numbers) < most:
                break
        return kept

    def scan(self, vector: Vectors, fingerprint: str, among: Filter) -> Scan:
        from commonplace.storage.sqlite.scan import SqliteScan

        with self._index(fingerprint) as index:
            if index.dimensions != vector.shape[-1]:
                return NothingScanned()
            scanned = index.scan(vector, self._passing(index, among))
        return SqliteScan(scanned, lambda stored: self._exact_cosines(vector, stored))

    def _exact_cosines(self, vector: Vectors, stored: Sequence[int]) -> dict[int, float]:
        """By the vectors as they are kept, in full precision."""
        from commonplace.storage.sqlite.following import unpacked

        def read(numbers: Sequence[int]) -> list[Row]:
            return self._all("vectors_numbered", numbers=rows.numbers_json(numbers))

        found = self._salvage.rows(read, stored)
        if not found:
            return {}
        matrix = unpacked(b"".join(row[1] for row in found), vector.shape[-1])
        return dict(zip((row[0] for row in found), (matrix @ vector).tolist(), strict=True))

    def neighbours(self, numbers: Iterable[int], among: Filter) -> Mapping[int, Sequence[int]]:
        with self._index() as index:
            return index.neighbours(numbers, self._passing(index, among))

    def facts(self, numbers: Iterable[int]) -> Mapping[int, Facts]:
        wanted = list(numbers)
        uses: dict[int, int] = dict(self._salvage.rows(self._uses, wanted))
        with self._index() as index:
            known = index.facts(wanted)
        return {number: Facts(importance, created, uses.get(number, 0)) for number, importance, created in known}

    def _uses(self, numbers: Sequence[int]) -> list[Row]:
        return self._all("uses", numbers=rows.numbers_json(numbers))

    def vectors(self, number: int, fingerprint: str) -> Vectors | None:
        from commonplace.storage.sqlite.following import unpacked

        found = self._all("vectors_of", memory=number, fingerprint=fingerprint)
        return unpacked(b"".join(row[0] for row in found), len(found[0][0]) // 2) if found else None

    def whole_vectors(self, numbers: Sequence[int], fingerprint: str) -> Mapping[int, Vectors]:
        from commonplace.storage.sqlite.following import unpacked

        found = self._all("whole_vectors", numbers=rows.numbers_json(numbers), fingerprint=fingerprint)
        return {row[0]: unpacked(row[1], len(row[1]) // 2)[0] for row in found}

    def embedded(self) -> Embedded:
        by, whole = self._salvage.attempt(lambda: self._one("embedded")) or (None, True)
        return Embedded(by, bool(whole))

    def unembedded(self, limit: int, *, refused: bool = False) -> Sequence[Memory]:
        return [rows.memory(row) for row in self._all("unembedded", limit=limit, refused=refused)]

    def version_of(self, number: int) -> int | None:
        row = self._one("version_of", number=number)
        return int(row[0]) if row else None

    def statistics(self, now: datetime) -> Statistics:
        unembedded = self._one("unembedded_count", unfinished=UNFINISHED) or (0, 0, None)
        single = {name: (self._one(name) or (0,))[0] for name in ("block_count", "last_event")}
        ephemeral = self._one("ephemeral_count", now=rows.micros(now)) or (0,)
        return Statistics(
            memories=self.size(),
            ephemeral=ephemeral[0],
            blocks=single["block_count"],
            unembedded=unembedded[0],
            refused=unembedded[1],
            unembedded_reason=unembedded[2] or "",
            cached=self._cached(),
            events=single["last_event"],
            bytes=_size(self._path),
        )

    def _cached(self) -> int:
        """How many the index has, caught up; it is not loaded to be counted."""
        if not self._follower().size:
            return 0
        with self._index() as index:
            return len(index)

    def meta(self, key: str) -> str | None:
        row = self._one("meta", key=key)
        return str(row[0]) if row else None

    def origin(self, source: str, origin: str) -> MemoryId | None:
        row = self._one("origin", source=source, origin=origin)
        return MemoryId(row[0]) if row else None

    def waste(self, now: datetime, least: float, before: datetime) -> tuple[int, int, int]:
        row = self._one("waste", now=rows.micros(now), least=least, before=rows.micros(before)) or (0, 0, 0)
        return row[0], row[1], row[2]

    def id_is_free(self, identifier: str) -> bool:
        return bool(identifier) and not self._single("id_is_taken", id=identifier)

    # The index

    def _index(self, fingerprint: str = "") -> AbstractContextManager[Index]:
        seen = self._vantage(fingerprint or self._fingerprint)
        self._followed = self._follower()
        return self._followed.index(self._connection, seen)

    def _vantage(self, fingerprint: str) -> Vantage:
        """What a reading sees stays the same to its end, so one look is enough."""
        if fingerprint not in self._vantages:
            seen = self._salvage.attempt(lambda: self._looked(fingerprint))
            self._vantages[fingerprint] = seen or self._looked_blindly(fingerprint)
        return self._vantages[fingerprint]

    def _looked(self, fingerprint: str) -> Vantage:
        from commonplace.storage.sqlite.following import vantage

        return vantage(self._connection, fingerprint)

    def _looked_blindly(self, fingerprint: str) -> Vantage:
        """Without the events nobody can tell how far an index has come: this reading gets one of its own."""
        from commonplace.storage.sqlite.following import Follower, blind_vantage

        own = Follower(None)
        self._follower = lambda: own
        return blind_vantage(self._connection, fingerprint)

    def _passing(self, index: Index, among: Filter) -> NDArray[np.bool_]:
        """The filter as a mask; a search asks for the same one several times."""
        key = (among, index, index.changes)
        if self._passed is None or self._passed[0] != key:
            self._passed = (key, index.passing(Sieve(self._connection).conditions(among)))
        return self._passed[1]


def _in_order(found: Sequence[Row], numbers: Sequence[int]) -> list[Memory]:
    by_number = {row[0]: rows.memory(row) for row in found}
    return [by_number[number] for number in numbers if number in by_number]


def _size(path: Path) -> int:
    """The file and its log: what was written last may lie in the log alone, for as long as it is open."""
    sizes = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            sizes.append(file.stat().st_size)
    return sum(sizes)
