"""Memories that travel: out as a bundle, in from one, checked as a whole before the first is written."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import accumulate

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.collection import Collection, Kind
from commonplace.domain.errors import Fault
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Draft, Memory
from commonplace.domain.record import (
    FOREIGN_AUTHOR,
    IMPORTED,
    KNOWN,
    LABEL_BYTES,
    MOST_BYTES,
    MOST_BYTES_WRITTEN,
    MOST_LINKS,
    MOST_RECORDS,
    NO_END,
    NOT_BROUGHT,
    OTHERWISE,
    OVER,
    RECORD_BYTES,
    TIE_BYTES,
    TO_ITSELF,
    Bundle,
    BundleReport,
    Record,
    RecordedLink,
    RecordedPlace,
    Settled,
    Untied,
    oddities,
)
from commonplace.engine.access import changeable, readable
from commonplace.engine.customs import Customs
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, checked
from commonplace.engine.ties import keep_in
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

_SOURCE = "bundle"
_BATCH = 50
_LINKS_AT_ONCE = 2000
_FARTHEST = 2**53
_PLACED = (Kind.PROJECT, Kind.SESSION)


class Archive:
    """Export and import."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    # Out

    async def bundle(self, actor: Actor, offset: int = 0) -> tuple[Bundle, int]:
        """What the actor may see after the first ones, as far as a bundle goes; and how many there are in all.

        The oldest come first: what is stored meanwhile comes after all others and moves none of them.
        """
        require(actor, Permission.READ)
        limits.within("offset", offset, 0, _FARTHEST)
        now = self._clock.now()
        return await self._store.read(lambda tx: _bundle(tx, readable(tx, actor, now), offset))

    # In

    async def bring(self, actor: Actor, bundle: Bundle) -> BundleReport:
        """Write what is new. With one fault anywhere, nothing is written; a second time everything is known."""
        report = BundleReport(faults=await self.faults(actor, bundle))
        if report.faults:
            return report
        await self._store.write(lambda tx: self._places(tx, actor, bundle))
        for start in range(0, len(bundle.records), _BATCH):
            await self._some(actor, bundle, start, report)
        await self._tie(actor, bundle, report)
        report.odd += self._odd(bundle, report)
        return report

    def _odd(self, bundle: Bundle, report: BundleReport) -> Iterator[tuple[int, tuple[str, ...]]]:
        for line, _, what in report.lines:
            if what == IMPORTED and (why := oddities(bundle.records[line - 1], self._clock.now())):
                yield line, why

    async def faults(self, actor: Actor, bundle: Bundle) -> list[Fault]:
        """Why a bundle cannot be brought: all of it, and nothing is written."""
        require(actor, Permission.WRITE)
        return await self._store.read(lambda tx: _faults(tx, actor, bundle, self._clock.now()))

    async def _some(self, actor: Actor, bundle: Bundle, start: int, report: BundleReport) -> None:
        records = list(enumerate(bundle.records[start : start + _BATCH], start + 1))
        settled = await self._store.read(lambda tx: self._settled(tx, actor, bundle, records))
        fresh = [(line, record) for line, record in records if line not in settled]
        prints = await asyncio.gather(*(self._embedding.prints(record.content) for _, record in fresh))
        ready = [(line, record, its) for (line, record), its in zip(fresh, prints, strict=True)]
        bring = partial(self._bring, actor=actor, entries=ready, tied=bundle.tied)
        settled |= await self._store.write(bring) if ready else {}
        for line in sorted(settled):
            report.add(line, settled[line])

    def _settled(
        self, tx: Reading, actor: Actor, bundle: Bundle, records: Iterable[tuple[int, Record]]
    ) -> dict[int, Settled]:
        """The lines for which there is nothing to do."""
        now = self._clock.now()
        over = {place.id for place in bundle.places if place.ends_at and place.ends_at <= now}
        settled = {}
        for line, record in records:
            known = _known(tx, actor, record, now)
            if known:
                settled[line] = known
            elif (record.expires_at and record.expires_at <= now) or record.place in over:
                settled[line] = Settled(record.id, OVER)
        return settled

    def _places(self, tx: Transaction, actor: Actor, bundle: Bundle) -> None:
        now = self._clock.now()
        for place in bundle.places:
            over = place.ends_at and place.ends_at <= now
            if not over and tx.collections.get(CollectionId(place.id)) is None:
                _found(tx, actor, place, now)

    def _bring(
        self, tx: Transaction, actor: Actor, entries: Sequence[tuple[int, Record, Prints]], tied: bool
    ) -> dict[int, Settled]:
        done = {}
        for line, record, prints in entries:
            known = _known(tx, actor, record, self._clock.now())  # twice in one bundle, or brought by another meanwhile
            done[line] = known or Settled(self._written(tx, actor, record, prints, tied).id, IMPORTED)
        return done

    def _written(self, tx: Transaction, actor: Actor, record: Record, prints: Prints, tied: bool) -> Memory:
        me = tx.user(actor.user)
        foreign = {FOREIGN_AUTHOR: record.author} if record.author and me and record.author != me.name else {}
        draft = replace(_draft(record), home=_home(tx, record))
        # Its time was granted when it was stored, perhaps more than once: the limits of a new one do not apply.
        ttl = record.expires_at - record.created_at if record.expires_at else None
        memory = self._memories.remember_in(
            tx,
            actor,
            replace(draft, ttl=ttl, metadata={**record.metadata, **foreign}),
            prints,
            {} if tied else None,
            at=record.created_at,
            revised_at=record.updated_at,
            identifier=MemoryId(record.id) if tx.id_is_free(record.id) else None,
        )
        if record.uses:
            tx.count_uses({memory.number: record.uses}, record.used_at or record.updated_at)
        tx.put_origin(_source(actor), _origin(record), memory.number)
        return memory

    async def _tie(self, actor: Actor, bundle: Bundle, report: BundleReport) -> None:
        """Only what came with the bundle, to what came with it or is here: an id alone gives no right.

        The other end may have come earlier, as with the pages of one export.
        """
        brought = {bundle.records[line - 1].id: MemoryId(known) for line, known, what in report.lines if what != OVER}
        ids, own = await self._store.read(lambda tx: self._ends(tx, actor, bundle.links, brought))
        reasons = [_untied(link, brought, ids, own) for link in bundle.links]
        report.untied += [Untied(link, why) for link, why in zip(bundle.links, reasons, strict=True) if why]
        between = [link for link, why in zip(bundle.links, reasons, strict=True) if not why]
        about = partial(_changeable_end, own={ids[end] for end in own})
        for start in range(0, len(between), _LINKS_AT_ONCE):
            links = [_link(link, ids) for link in between[start : start + _LINKS_AT_ONCE]]
            await self._store.write(partial(keep_in, actor=actor, links=links, now=self._clock.now(), about=about))

    def _ends(
        self, tx: Reading, actor: Actor, links: Iterable[RecordedLink], brought: Mapping[str, MemoryId]
    ) -> tuple[dict[str, MemoryId], set[str]]:
        """Which memories the ends of ties are, here, as far as the actor sees them; and which he may change."""
        seen, among = readable(tx, actor, self._clock.now()), changeable(tx, actor, self._clock.now())
        named = dict.fromkeys(end for link in links for end in (link.source, link.target) if end)
        here = {end: brought.get(end) or MemoryId(_here(tx, actor, end, seen)) for end in named}
        ids = {end: memory for end, memory in here.items() if memory}
        return ids, {end for end, memory in ids.items() if tx.memory(memory, among)}


def _faults(tx: Reading, actor: Actor, bundle: Bundle, now: datetime) -> list[Fault]:
    return Customs(tx, actor, bundle, now, lambda record: bool(_known(tx, actor, record, now))).faults()


def _bundle(tx: Reading, among: Filter, offset: int) -> tuple[Bundle, int]:
    total = tx.count(among)
    memories, links = _fitting(tx, among, _oldest(tx, among, offset, total))
    names = {user: _name(tx, user) for user in {memory.author.user for memory in memories}}
    places = _recorded_places(tx, among)
    known = frozenset(place.id for place in places)
    records = tuple(_record(memory, names[memory.author.user], known) for memory in memories)
    ties = [RecordedLink(t.source, t.target, t.kind.value, t.strength, t.created_at, t.used_at) for t in links]
    ordered = tuple(sorted(ties, key=lambda tie: (tie.source, tie.target, tie.kind)))
    return Bundle(records, ordered, places, tied=True), total


def _oldest(tx: Reading, among: Filter, offset: int, total: int) -> list[Memory]:
    """As many as a bundle holds, read a little at a time: a text may be long."""
    memories: list[Memory] = []
    room = MOST_BYTES
    for start in range(offset, min(total, offset + MOST_RECORDS), _BATCH):
        end = min(start + _BATCH, total, offset + MOST_RECORDS)
        for memory in reversed(tx.page(among, end - start, total - end).memories):  # a page has the newest first
            room -= len(memory.content.encode())
            if room < 0 and memories:
                return memories
            memories.append(memory)
    return memories


def _fitting(tx: Reading, among: Filter, memories: list[Memory]) -> tuple[list[Memory], Sequence[Link]]:
    """With all their ties, also to what leaves in another bundle; fewer where these would be too much at once."""
    sizes = list(accumulate(map(_size, memories)))
    while True:
        links = tx.links.around([memory.number for memory in memories], among, MOST_LINKS)
        if len(memories) < 2 or sizes[len(memories) - 1] + TIE_BYTES * len(links) <= MOST_BYTES_WRITTEN:
            return memories, links
        memories = memories[: len(memories) // 2]


def _size(memory: Memory) -> int:
    """Of a memory in a request: it is written as JSON, and that is a text within JSON, where much is escaped twice."""
    labels = [*memory.tags, *memory.keywords]
    texts = json.dumps([memory.content, memory.category, *labels], ensure_ascii=False)
    further = json.dumps(dict(memory.metadata), ensure_ascii=False, indent=4) if memory.metadata else ""
    written = json.dumps(texts + further, ensure_ascii=False)
    return RECORD_BYTES + LABEL_BYTES * len(labels) + len(written.encode())


def _recorded_places(tx: Reading, among: Filter) -> tuple[RecordedPlace, ...]:
    found = [one for kind in _PLACED for one in tx.collections.among(kind.value, among.collections)]
    return tuple(
        RecordedPlace(c.id, c.kind, c.name, c.description, c.ends_at, c.created_at)
        for c in sorted(found, key=lambda c: c.id)
        if not c.is_over(among.now)
    )


def _record(memory: Memory, author: str, places: Container[str]) -> Record:
    """What lies in a tree, a context or a space travels as its bearer's own: those places do not travel."""
    metadata = dict(memory.metadata)
    placed = memory.collection in places
    author = str(metadata.pop(FOREIGN_AUTHOR, author))
    return Record(
        id=memory.id,
        content=memory.content,
        domain=memory.domain if placed or memory.domain not in _PLACED else Kind.USER.value,
        created_at=memory.created_at,
        updated_at=memory.revised_at,
        tags=memory.tags,
        keywords=memory.keywords,
        category=memory.category,
        importance=memory.importance,
        metadata=metadata,
        content_type=memory.content_type,
        uses=memory.uses,
        used_at=memory.used_at,
        author=author,
        expires_at=memory.ephemeral.ends_at if memory.ephemeral else None,
        place=memory.collection if placed else "",
    )


def _name(tx: Reading, user: UserId) -> str:
    found = tx.user(user)
    return found.name if found else user


def _home(tx: Reading, record: Record) -> CollectionId | None:
    if record.domain == Kind.GLOBAL:
        everyones = tx.collections.numbered(tx.collections.everyones())
        return everyones.id if everyones else None
    return CollectionId(record.place) if record.domain in _PLACED else None


def _found(tx: Transaction, actor: Actor, place: RecordedPlace, now: datetime) -> None:
    kind, since = Kind(place.kind), place.created_at or now
    number = tx.add_collection(CollectionId(place.id), kind.value, kind.value, place.name, actor.user, since)
    founded = Collection(number, CollectionId(place.id), kind.value, kind.value, place.name, actor.user, since)
    tx.collections.describe(replace(founded, ends_at=place.ends_at, metadata={"description": place.description}))


def _untied(link: RecordedLink, brought: Container[str], here: Container[str], own: Container[str]) -> str:
    """Why a tie is not made. As by hand, who may change one of the two and see the other may tie them."""
    if link.source == link.target:
        return TO_ITSELF
    if link.source not in brought and link.target not in brought:
        return NOT_BROUGHT
    is_allowed = link.source in here and link.target in here and (link.source in own or link.target in own)
    return "" if is_allowed else NO_END


def _link(one: RecordedLink, ids: Mapping[str, MemoryId]) -> Link:
    return Link(ids[one.source], ids[one.target], LinkKind(one.kind), one.strength, one.created_at, one.used_at)


def _changeable_end(link: Link, own: Container[MemoryId]) -> MemoryId:
    """Who brings a tie may take it back, as what was done to a memory of his."""
    return link.source if link.source in own else link.target


def _source(actor: Actor) -> str:
    """Each user brings his own: what another has brought is not his."""
    return f"{_SOURCE}:{actor.user}"


def _origin(record: Record) -> str:
    """What makes an entry the same the next time: its id, or what it says and where."""
    words = "\0".join((record.domain, record.place, record.content))
    return record.id or f"sha256:{hashlib.sha256(words.encode()).hexdigest()}"


def _known(tx: Reading, actor: Actor, record: Record, now: datetime) -> Settled | None:
    """The memory that this record was, here; and in what it differs."""
    among = readable(tx, actor, now)
    here = _here(tx, actor, _origin(record), among)
    memory = tx.memory(MemoryId(here), among) if here else None
    if memory is None:
        return None
    place = tx.collections.numbered(memory.home)
    kept = _draft(record)
    stated = replace(record, content=kept.content, tags=kept.tags, keywords=kept.keywords, category=kept.category)
    differing = stated.differing(_record(memory, "", {memory.collection} if place and place.kind in _PLACED else ()))
    return Settled(here, OTHERWISE if differing else KNOWN, differing)


def _draft(record: Record) -> Draft:
    """In the form in which it is kept."""
    return checked(
        Draft(
            record.content,
            tags=record.tags,
            keywords=record.keywords,
            category=record.category,
            importance=record.importance,
            metadata=record.metadata,
            content_type=record.content_type,
        )
    )


def _here(tx: Reading, actor: Actor, origin: str, among: Filter) -> str:
    """The id here of what was brought or is named as this; an id elsewhere may be another one here."""
    for identifier in (origin, tx.origin(_source(actor), origin)):
        if identifier and tx.memory(MemoryId(identifier), among):
            return identifier
    return ""
