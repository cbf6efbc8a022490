"""A backup beside the store: what of it is missing here, or was changed here since."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from commonplace.domain.collection import Collection, Kind, Member
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Memory
from commonplace.domain.record import FOREIGN_AUTHOR
from commonplace.engine.embedding import Embedding
from commonplace.language.terms import terms
from commonplace.ports import Origin, Prints, Reading, Store, Twin

if TYPE_CHECKING:
    from commonplace.ports import Vectors

SOURCE = "backup"
"""Among origins: what a memory was called before it was put back under another id."""
RESTORED_FROM = "restored_from"
_NOTES = frozenset({RESTORED_FROM, FOREIGN_AUTHOR})
"""Metadata that a memory gets when it is put back: they make it no other memory."""
STRETCH = 200
_SPACES = (Kind.SPACE, Kind.SPACES)


@dataclass(frozen=True, slots=True)
class Place:
    """A project or session of the backup that is not here."""

    collection: Collection
    members: Sequence[Member]


@dataclass(frozen=True, slots=True)
class Keepsake:
    """A memory of the backup that is not here, or not so."""

    memory: Memory
    origins: Sequence[Origin] = ()
    author: str = ""
    """The author's name there."""
    prints: Prints | None = None
    """None where its text is here already."""

    @property
    def names(self) -> Sequence[str]:
        return names(self.memory.id, self.origins)


@dataclass(frozen=True, slots=True)
class Ties:
    """Links of the backup that are not here, and what their ends are called here as far as they are here."""

    links: list[Link] = field(default_factory=list)
    ends: dict[MemoryId, MemoryId] = field(default_factory=dict)


class Comparison:
    """Read a little at a time: a text may be long."""

    def __init__(self, store: Store, backup: Store, embedding: Embedding, now: datetime) -> None:
        self._store = store
        self._backup = backup
        self._embedding = embedding
        self._now = now

    async def places(self, kinds: Iterable[Kind]) -> list[Place]:
        """Those that are not here and not over."""
        wanted = tuple(kinds)
        found = await self._backup.read(lambda tx: _lasting(tx, wanted, self._now))
        missing = await self._store.read(lambda tx: [one for one in found if tx.collections.get(one.id) is None])
        return await self._backup.read(lambda tx: [Place(one, tx.collections.members(one.number)) for one in missing])

    async def memories(self) -> list[Keepsake]:
        """Those that are not here, or whose fields are others; with what a search finds them by."""
        due: list[Keepsake] = []
        async for numbers in self._stretches():
            found = await self._backup.read(partial(_keepsakes, numbers=numbers, now=self._now))
            here = await self._store.read(partial(memories_here, keepsakes=found, now=self._now))
            wanted = [(one, _wanted(one, here)) for one in found]
            due += await self._printed([one for one, fields in wanted if "content" in fields])
            due += [one for one, fields in wanted if fields and "content" not in fields]
        return sorted(due, key=lambda one: (one.memory.created_at, one.memory.number))

    async def ties(self) -> Ties:
        """Those that are not here; their ends may come with the same backup."""
        ties = Ties()
        async for numbers in self._stretches():
            links, known = await self._backup.read(partial(_links, numbers=numbers))
            ends, tied = await self._store.read(partial(_tied, names=known, now=self._now))
            missing = [link for link in links if _ends(link, ends) not in tied]
            ties.links.extend(missing)
            ties.ends.update({end: ends[end] for link in missing for end in (link.source, link.target) if end in ends})
        return ties

    async def _stretches(self) -> AsyncIterator[Sequence[int]]:
        """The numbers of all memories of the backup."""
        for collection in sorted(await self._backup.read(_outside_spaces)):
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


def names(memory: MemoryId, origins: Iterable[Origin]) -> Sequence[str]:
    """What a memory is called, and was called before it was put back."""
    return [memory, *(origin.name for origin in origins if origin.source == SOURCE)]


def twins_here(tx: Reading, names: Mapping[MemoryId, Sequence[str]], now: datetime) -> dict[MemoryId, Twin]:
    """What memories of the backup are here, by any of their names."""
    here = tx.copies.twins({name for its in names.values() for name in its}, SOURCE, now)
    found = {memory: next((here[name] for name in its if name in here), None) for memory, its in names.items()}
    return {memory: twin for memory, twin in found.items() if twin}


def memories_here(tx: Reading, keepsakes: Iterable[Keepsake], now: datetime) -> dict[MemoryId, Memory]:
    """The same with all their fields."""
    twins = twins_here(tx, {one.memory.id: one.names for one in keepsakes}, now)
    numbers = sorted({twin.number for twin in twins.values()})
    found = {memory.number: memory for memory in tx.memories(numbers, Filter(tx.collections.numbers(), now))}
    return {memory: found[twin.number] for memory, twin in twins.items() if twin.number in found}


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


def _lasting(tx: Reading, kinds: Iterable[Kind], now: datetime) -> list[Collection]:
    numbers = tx.collections.numbers()
    return [one for kind in kinds for one in tx.collections.among(kind.value, numbers) if not one.is_over(now)]


def _wanted(keepsake: Keepsake, here: Mapping[MemoryId, Memory]) -> Sequence[str]:
    """Which of its fields are others here; of what is not here, all that matter for a search."""
    twin = here.get(keepsake.memory.id)
    return change(twin, keepsake.memory).fields if twin else ("content",)


def _outside_spaces(tx: Reading) -> frozenset[int]:
    """What lies in a space goes with its files and its bank, and is put back with them by the space's own backups."""
    numbers = tx.collections.numbers()
    return numbers - {one.number for kind in _SPACES for one in tx.collections.among(kind.value, numbers)}


def _within(tx: Reading, collection: int, after: int) -> Sequence[int]:
    return tx.collections.numbers_within(collection, after, STRETCH)


def _keepsakes(tx: Reading, numbers: Sequence[int], now: datetime) -> list[Keepsake]:
    """What has ended meanwhile is left out."""
    found = tx.memories(numbers, Filter(tx.collections.numbers(), now))
    origins = tx.copies.origins(memory.id for memory in found)
    users = {user: tx.user(user) for user in {memory.author.user for memory in found}}
    authors = {user: known.name if known else user for user, known in users.items()}
    return [Keepsake(one, tuple(origins.get(one.id, ())), authors[one.author.user]) for one in found]


def _links(tx: Reading, numbers: Sequence[int]) -> tuple[Sequence[Link], dict[MemoryId, Sequence[str]]]:
    """The links that begin at these memories, and the names of their ends."""
    links = tx.links.leaving(numbers)
    ends = {end for link in links for end in (link.source, link.target)}
    origins = tx.copies.origins(ends)
    return links, {end: names(end, origins.get(end, ())) for end in ends}


def _tied(
    tx: Reading, names: Mapping[MemoryId, Sequence[str]], now: datetime
) -> tuple[dict[MemoryId, MemoryId], set[tuple[MemoryId, MemoryId, LinkKind]]]:
    """What memories of the backup are called here, and the links that begin at them."""
    twins = twins_here(tx, names, now)
    links = tx.links.leaving(sorted({twin.number for twin in twins.values()}))
    return {memory: twin.id for memory, twin in twins.items()}, {_ends(link, {}) for link in links}


def _ends(link: Link, here: Mapping[MemoryId, MemoryId]) -> tuple[MemoryId, MemoryId, LinkKind]:
    return here.get(link.source, link.source), here.get(link.target, link.target), link.kind
