"""A backup beside the store: what of it is missing here, or was changed here since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from commonplace.domain.backup import Part
from commonplace.domain.collection import Collection, Domain, Kind, Member
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Memory
from commonplace.domain.record import FOREIGN_AUTHOR
from commonplace.domain.recovery import Fate, Notice, Recovered
from commonplace.engine.embedding import Embedding
from commonplace.language.terms import terms
from commonplace.ports import Origin, Prints, Reading, Store

if TYPE_CHECKING:
    from commonplace.ports import Vectors

_NOTES = frozenset({FOREIGN_AUTHOR})
"""Metadata that a memory gets when it is put back: they make it no other memory."""
STRETCH = 200
_SPACES = (Kind.SPACE, Kind.SPACES)
_PARTS = {Kind.PROJECT: Part.PROJECTS, Kind.SESSION: Part.SESSIONS}


@dataclass(frozen=True, slots=True)
class Place:
    """A project or session."""

    collection: Collection
    members: Sequence[Member]
    memories: int

    @property
    def part(self) -> Part:
        return _PARTS[Kind(self.collection.kind)]


@dataclass(frozen=True, slots=True)
class Keepsake:
    """A memory of the backup that is not here, or not so."""

    memory: Memory
    origins: Sequence[Origin] = ()
    author: str = ""
    """The author's name there."""
    prints: Prints | None = None
    """None where its text is here already."""


@dataclass(frozen=True, slots=True)
class Ties:
    """Links of the backup that are not here, and which of their ends are here."""

    links: list[Link] = field(default_factory=list)
    ends: set[MemoryId] = field(default_factory=set)


class Comparison:
    """Read a little at a time: a text may be long. What needs nothing more is told at once."""

    def __init__(self, store: Store, backup: Store, embedding: Embedding, now: datetime, told: Recovered) -> None:
        self._store = store
        self._backup = backup
        self._embedding = embedding
        self._now = now
        self._told = told

    async def places(self, parts: Container[Part]) -> list[Place]:
        """Those that are not here and not over."""
        kinds = [kind for kind, part in _PARTS.items() if part in parts]
        there = await self._backup.read(lambda tx: _places(tx, kinds, self._now))
        known = await self._store.read(lambda tx: [_here(tx, one, self._now) for one in there])
        here = {one.collection.id: one for one in known if one}
        return [one for one in there if not self._is_settled(one, here.get(one.collection.id))]

    def _is_settled(self, there: Place, here: Place | None) -> bool:
        if here:
            otherwise = _place_otherwise(here, there)
            self._told.tell(Notice(there.part, there.collection.id, _kept(otherwise), otherwise=otherwise))
        elif there.collection.is_over(self._now):
            self._told.count(there.part, Fate.OVER)
        else:
            return False
        return True

    async def memories(self) -> list[Keepsake]:
        """Those that are not here, or whose fields are others; with what a search finds them by."""
        due: list[Keepsake] = []
        self._told.count(Part.MEMORIES, Fate.IN_SPACE, await self._backup.read(partial(_in_spaces, now=self._now)))
        async for numbers in self._stretches():
            found = await self._backup.read(partial(_keepsakes, numbers=numbers, now=self._now))
            self._told.count(Part.MEMORIES, Fate.OVER, len(numbers) - len(found))
            here = await self._store.read(partial(memories_here, keepsakes=found, now=self._now))
            wanted = [(one, _wanted(one, here)) for one in found]
            due += await self._printed([one for one, fields in wanted if "content" in fields])
            due += [one for one, fields in wanted if fields and "content" not in fields]
            for one, fields in wanted:
                if not fields:
                    self._told.tell(unchanged(here[one.memory.id], one.memory))
        return sorted(due, key=lambda one: (one.memory.created_at, one.memory.number))

    async def ties(self, coming: Container[MemoryId]) -> Ties:
        """Those that are not here; their ends are here or come with the same backup."""
        ties = Ties()
        async for numbers in self._stretches():
            links = await self._backup.read(partial(_links, numbers=numbers))
            ends, tied = await self._store.read(partial(_tied, links=links, now=self._now))
            for link in links:
                if _key(link) in tied:
                    grown = tied[_key(link)] != link.strength
                    self._told.count(Part.ASSOCIATIONS, Fate.KEPT if grown else Fate.UNCHANGED)
                elif all(end in ends or end in coming for end in (link.source, link.target)):
                    ties.links.append(link)
                    ties.ends.update(ends & {link.source, link.target})
                else:
                    self._told.tell(loose(link))
        return ties

    async def _stretches(self) -> AsyncIterator[Sequence[int]]:
        """The numbers of all memories of the backup that lie in no space.

        What lies in a space goes with its files and its bank, and is put back with them by the space's own backups.
        """
        for collection in sorted(await self._backup.read(lambda tx: tx.collections.numbers() - _spaces(tx))):
            after = 0
            while numbers := await self._backup.read(partial(_within, collection=collection, after=after)):
                yield numbers
                after = numbers[-1]

    async def _printed(self, keepsakes: Sequence[Keepsake]) -> list[Keepsake]:
        numbers, fingerprint = [one.memory.number for one in keepsakes], self._embedding.fingerprint
        known = await self._backup.read(lambda tx: tx.copies.whole_prints(numbers, fingerprint))
        return await asyncio.gather(*(self._with_prints(one, known.get(one.memory.number)) for one in keepsakes))

    async def _with_prints(self, keepsake: Keepsake, vectors: Vectors | None) -> Keepsake:
        """The vectors of the backup where they are of the same embedder, else new ones."""
        text = keepsake.memory.content
        if vectors is None:
            return replace(keepsake, prints=await self._embedding.prints(text))
        words = await asyncio.to_thread(terms, text)
        return replace(keepsake, prints=Prints(words, vectors, self._embedding.fingerprint))


def memories_here(tx: Reading, keepsakes: Iterable[Keepsake], now: datetime) -> dict[MemoryId, Memory]:
    """What memories of the backup are here, and have not ended."""
    twins = tx.copies.twins({one.memory.id for one in keepsakes}, now)
    found = tx.memories(sorted(twins.values()), Filter(tx.collections.numbers(), now))
    return {memory.id: memory for memory in found}


def change(here: Memory, there: Memory) -> Change:
    """What makes a memory here what it is there; no field where it is that already."""
    noted = {name: value for name, value in here.metadata.items() if name in _NOTES}
    metadata = {name: value for name, value in there.metadata.items() if name not in _NOTES} | noted
    return Change(
        content=None if here.content == there.content else there.content,
        tags=None if here.tags == there.tags else there.tags,
        keywords=None if here.keywords == there.keywords else there.keywords,
        category=None if here.category == there.category else there.category,
        importance=None if here.importance == there.importance else there.importance,
        metadata=None if here.metadata == metadata else metadata,
        content_type=None if here.content_type == there.content_type else there.content_type,
    )


# What is not as in the backup


def unchanged(here: Memory, there: Memory) -> Notice:
    """Of a memory that says what it says in the backup: where it lies and when it ends stay as they are."""
    otherwise = memory_otherwise(here, there)
    return Notice(Part.MEMORIES, there.id, _kept(otherwise), otherwise=otherwise)


def memory_otherwise(here: Memory, there: Memory) -> list[str]:
    moved = here.collection != there.collection and not here.domain == there.domain == Domain.GLOBAL
    named = {"place": moved, "author": here.author.user != there.author.user, "end": here.ephemeral != there.ephemeral}
    return [name for name, differs in named.items() if differs]


def _place_otherwise(here: Place, there: Place) -> list[str]:
    one, other = here.collection, there.collection
    named = {
        "name": one.name != other.name,
        "description": one.description != other.description,
        "owner": one.owner != other.owner,
        "members": _rights(here) != _rights(there),
        "end": one.ends_at != other.ends_at,
    }
    return [name for name, differs in named.items() if differs]


def _rights(place: Place) -> set[tuple[str, str]]:
    return {(member.user, member.right) for member in place.members if not member.owner}


def _kept(otherwise: Sequence[str]) -> Fate:
    return Fate.KEPT if otherwise else Fate.UNCHANGED


def loose(link: Link) -> Notice:
    return Notice(Part.ASSOCIATIONS, link.source, Fate.END_GONE, other=link.target)


# Reading


def _places(tx: Reading, kinds: Iterable[Kind], now: datetime) -> list[Place]:
    numbers = tx.collections.numbers()
    return [_place(tx, one, now) for kind in kinds for one in tx.collections.among(kind.value, numbers)]


def _here(tx: Reading, there: Place, now: datetime) -> Place | None:
    one = tx.collections.get(there.collection.id)
    return _place(tx, one, now) if one else None


def _place(tx: Reading, one: Collection, now: datetime) -> Place:
    return Place(one, tx.collections.members(one.number), tx.count(Filter(frozenset({one.number}), now)))


def _wanted(keepsake: Keepsake, here: Mapping[MemoryId, Memory]) -> Sequence[str]:
    """Which of its fields are others here; of what is not here, all that matter for a search."""
    twin = here.get(keepsake.memory.id)
    return change(twin, keepsake.memory).fields if twin else ("content",)


def _spaces(tx: Reading) -> frozenset[int]:
    numbers = tx.collections.numbers()
    return frozenset(one.number for kind in _SPACES for one in tx.collections.among(kind.value, numbers))


def _in_spaces(tx: Reading, now: datetime) -> int:
    return tx.count(Filter(_spaces(tx), now))


def _within(tx: Reading, collection: int, after: int) -> Sequence[int]:
    return tx.collections.numbers_within(collection, after, STRETCH)


def _keepsakes(tx: Reading, numbers: Sequence[int], now: datetime) -> list[Keepsake]:
    """What has ended meanwhile is left out."""
    found = tx.memories(numbers, Filter(tx.collections.numbers(), now))
    origins = tx.copies.origins(memory.id for memory in found)
    users = {user: tx.user(user) for user in {memory.author.user for memory in found}}
    authors = {user: known.name if known else user for user, known in users.items()}
    return [Keepsake(one, tuple(origins.get(one.id, ())), authors[one.author.user]) for one in found]


def _links(tx: Reading, numbers: Sequence[int]) -> Sequence[Link]:
    """The links that begin at these memories."""
    return tx.links.leaving(numbers)


def _tied(
    tx: Reading, links: Sequence[Link], now: datetime
) -> tuple[set[MemoryId], dict[tuple[MemoryId, MemoryId, LinkKind], float]]:
    """Which of their ends are here, and the links that begin at these, with their strengths."""
    twins = tx.copies.twins({end for link in links for end in (link.source, link.target)}, now)
    return set(twins), {_key(link): link.strength for link in tx.links.leaving(sorted(twins.values()))}


def _key(link: Link) -> tuple[MemoryId, MemoryId, LinkKind]:
    return link.source, link.target, link.kind
