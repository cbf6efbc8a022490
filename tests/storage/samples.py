"""A store with two people in it, and memories to put there, without the engine."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.chain import forge
from commonplace.domain.credential import User
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, MemoryId, UserId, uuid7
from commonplace.domain.memory import Author, Ephemeral, Memory
from commonplace.language.terms import terms
from commonplace.ports import Prints, Reading, Store, Transaction
from tests.fakes import Embedder

Vectors = NDArray[np.float32]
NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)


class Spoilt(Exception):
    """Something went wrong in the middle of a transaction."""


def new_id(at: datetime = NOW) -> str:
    return uuid7(at, secrets.token_bytes(RANDOM_BYTES))


@dataclass(frozen=True)
class House:
    """Ada owns `home`; Ben owns `elsewhere`; `common` is everyone's."""

    store: Store
    ada: UserId
    ben: UserId
    home: int
    elsewhere: int
    common: int
    embedder: Embedder = field(default_factory=Embedder)

    @property
    def ours(self) -> Filter:
        return Filter(frozenset({self.home, self.common}), NOW)

    @property
    def all(self) -> Filter:
        return Filter(frozenset({self.home, self.elsewhere, self.common}), NOW)

    def author(self, user: UserId | None = None) -> Author:
        return Author(user or self.ada, "local", "s", "test")

    def drafted(self, content: str, **fields: Any) -> Memory:
        at = fields.pop("created_at", NOW)
        by = fields.pop("author", self.author())
        memory = Memory(
            number=0,
            id=MemoryId(new_id(at)),
            content=content,
            content_type="text",
            tags=(),
            keywords=(),
            category="",
            importance=0.5,
            metadata={},
            collection=CollectionId(""),
            home=self.home,
            domain="user",
            author=by,
            created_at=at,
            version=1,
            reviser=by,
            revised_at=at,
        )
        return replace(memory, **fields)

    def prints(self, content: str, vectors: Vectors | None = None) -> Prints:
        vectors = self.embedder.embed([content]) if vectors is None else vectors
        return Prints(terms(content), vectors, self.embedder.fingerprint)

    def put(self, tx: Transaction, memory: Memory, prints: Prints | None = None) -> Memory:
        """The memory with everything that belongs to it, as the engine writes it."""
        memory = replace(memory, number=tx.add(memory, prints or self.prints(memory.content)))
        if memory.ephemeral is None:
            block = forge(memory.id, 1, memory.content, memory.created_at.isoformat(), memory.importance, tx.head())
            tx.append(block)
            memory = replace(memory, block=block.index)
        self.happened(tx, EventKind.REMEMBERED, memory)
        return memory

    def happened(self, tx: Transaction, kind: EventKind, memory: Memory) -> int:
        detail = {} if memory.block is None else {"block": memory.block}
        return tx.record(Happening(kind, NOW, memory.author, memory.id, memory.number, memory.home, detail))

    def erase(self, tx: Transaction, memory: Memory) -> None:
        tx.erase(memory, NOW)
        self.happened(tx, EventKind.FORGOTTEN, memory)

    async def keep(self, content: str, *, prints: Prints | None = None, **fields: Any) -> Memory:
        """A memory of Ada's, kept, as the store gives it back."""
        drafted = self.drafted(content, **fields)
        number = (await self.store.write(lambda tx: self.put(tx, drafted, prints))).number
        return await self.store.read(lambda tx: only(tx, number, self.all))

    async def keep_all(self, contents: Sequence[str], **fields: Any) -> list[int]:
        """Many at once; their numbers."""
        drafts = [self.drafted(content, **fields) for content in contents]
        return await self.store.write(lambda tx: [self.put(tx, draft).number for draft in drafts])

    async def forget(self, memory: Memory) -> None:
        await self.store.write(lambda tx: self.erase(tx, memory))


def only(tx: Reading, number: int, among: Filter) -> Memory:
    (memory,) = tx.memories([number], among)
    return memory


async def founded(store: Store) -> House:
    """Move in."""

    def work(tx: Transaction) -> House:
        ada, ben = UserId(new_id()), UserId(new_id())
        tx.set_meta("store", secrets.token_hex(16))
        common = tx.add_collection(CollectionId(new_id()), "global", "global", "global", None, NOW)
        homes = []
        for user, name in ((ada, "ada"), (ben, "ben")):
            tx.add_user(User(user, name, "", NOW))
            homes.append(tx.add_collection(CollectionId(new_id()), "user", "user", name, user, NOW))
        return House(store, ada, ben, homes[0], homes[1], common)

    return await store.write(work)


def ending(after: timedelta, ttl: timedelta | None = None) -> Ephemeral:
    return Ephemeral(ttl or after, NOW + after)


def random_units(count: int, dimensions: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def close_to(found: Mapping[int, float], expected: Mapping[int, float], tolerance: float = 2e-3) -> bool:
    return found.keys() == expected.keys() and all(abs(found[n] - expected[n]) <= tolerance for n in expected)
