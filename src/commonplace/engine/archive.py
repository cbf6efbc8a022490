"""Memories that travel: out as a bundle, in from one, checked as a whole before the first is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.collection import Collection, Kind
from commonplace.domain.errors import CommonplaceError, Forbidden, Invalid
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId, is_uuid
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Draft, Ephemeral, Memory
from commonplace.domain.record import MOST_RECORDS, Bundle, BundleReport, Fault, Record, RecordedLink, RecordedPlace
from commonplace.engine.access import changeable, readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, checked
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

SOURCE = "bundle"
_FOREIGN_AUTHOR = "imported_author"
_MOST_LINKS = 100_000
_BATCH = 50


class Archive:
    """Export and import."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    # Out

    async def bundle(self, actor: Actor) -> tuple[Bundle, int]:
        """What the actor may see, oldest first, as far as a bundle goes; and how many there are in all."""
        require(actor, Permission.READ)
        now = self._clock.now()
        return await self._store.read(lambda tx: _bundle(tx, readable(tx, actor, now)))

    # In

    async def bring(self, actor: Actor, bundle: Bundle) -> BundleReport:
        """Write what is new. With one fault anywhere, nothing is written; a second time everything is known."""
        require(actor, Permission.WRITE)
        report = BundleReport()
        report.faults = await self._store.read(lambda tx: self._faults(tx, actor, bundle))
        if report.faults:
            return report
        await self._store.write(lambda tx: self._places(tx, actor, bundle))
        for start in range(0, len(bundle.records), _BATCH):
            some = bundle.records[start : start + _BATCH]
            prints = [await self._embedding.prints(record.content) for record in some]
            bring = partial(self._bring, actor=actor, start=start, records=some, prints=prints, report=report)
            await self._store.write(bring)
        await self._store.write(lambda tx: _tie(tx, bundle.links))
        return report

    def _faults(self, tx: Reading, actor: Actor, bundle: Bundle) -> list[Fault]:
        if len(bundle.records) > MOST_RECORDS:
            return [
                Fault(0, f"there are {len(bundle.records)} memories; at most {MOST_RECORDS} can be brought at once")
            ]
        known = {place.id for place in bundle.places}
        faults = []
        for line, record in enumerate(bundle.records, 1):
            try:
                _check(record, known)
                self._check_right(tx, actor, record)
            except CommonplaceError as error:
                faults.append(Fault(line, error.message))
        return faults

    def _check_right(self, tx: Reading, actor: Actor, record: Record) -> None:
        writable = changeable(tx, actor, self._clock.now()).collections
        if record.domain == Kind.GLOBAL and tx.collections.everyones() not in writable:
            raise Forbidden("admin", "writing to the global domain")
        place = tx.collections.get(CollectionId(record.place)) if record.place else None
        if place and place.number not in writable:
            raise Forbidden("write", f"writing to {record.place}")

    def _places(self, tx: Transaction, actor: Actor, bundle: Bundle) -> None:
        for place in bundle.places:
            if tx.collections.get(CollectionId(place.id)) is None:
                _found(tx, actor, place, self._clock.now())

    def _bring(
        self,
        tx: Transaction,
        actor: Actor,
        start: int,
        records: Sequence[Record],
        prints: Sequence[Prints],
        report: BundleReport,
    ) -> None:
        for line, (record, its) in enumerate(zip(records, prints, strict=True), start + 1):
            known = _known(tx, actor, record, self._clock.now())
            if known:
                report.skipped += 1
                report.lines.append((line, known, "skipped: it is here already"))
                continue
            memory = self._written(tx, actor, record, its)
            report.imported += 1
            report.lines.append((line, memory.id, "imported"))

    def _written(self, tx: Transaction, actor: Actor, record: Record, prints: Prints) -> Memory:
        me = tx.user(actor.user)
        foreign = {_FOREIGN_AUTHOR: record.author} if record.author and me and record.author != me.name else {}
        draft = Draft(
            record.content,
            tags=record.tags,
            keywords=record.keywords,
            category=record.category,
            importance=record.importance,
            metadata={**record.metadata, **foreign},
            content_type=record.content_type,
            home=self._home(tx, record),
        )
        identifier = MemoryId(record.id) if tx.id_is_free(record.id) else None
        memory = self._memories.remember_in(
            tx, actor, checked(draft), prints, at=record.created_at, revised_at=record.updated_at, identifier=identifier
        )
        if record.expires_at:
            tx.set_end(memory.number, Ephemeral(record.expires_at - record.created_at, record.expires_at))
        if record.uses:
            tx.count_uses({memory.number: record.uses}, record.used_at or record.updated_at)
        tx.put_origin(SOURCE, record.id, memory.number)
        return memory

    def _home(self, tx: Reading, record: Record) -> CollectionId | None:
        if record.domain == Kind.GLOBAL:
            everyones = tx.collections.numbered(tx.collections.everyones())
            return everyones.id if everyones else None
        return CollectionId(record.place) if record.place else None


def _bundle(tx: Reading, among: Filter) -> tuple[Bundle, int]:
    page = tx.page(among, MOST_RECORDS)
    memories = sorted(page.memories, key=lambda memory: (memory.created_at, memory.id))
    collections = {n: tx.collections.numbered(n) for n in {memory.home for memory in memories}}
    names = {user: _name(tx, user) for user in {memory.author.user for memory in memories}}
    records = tuple(_record(memory, collections[memory.home], names[memory.author.user]) for memory in memories)
    places = tuple(
        RecordedPlace(c.id, c.kind, c.name, c.description, c.ends_at)
        for c in sorted((c for c in collections.values() if c), key=lambda c: c.id)
        if c.kind in (Kind.PROJECT, Kind.SESSION)
    )
    links = tx.links.among([memory.number for memory in memories], _MOST_LINKS)
    ties = [RecordedLink(one.source, one.target, one.kind.value, one.strength, one.created_at) for one in links]
    ordered = tuple(sorted(ties, key=lambda tie: (tie.source, tie.target, tie.kind)))
    return Bundle(records, ordered, places), page.total


def _record(memory: Memory, collection: Collection | None, author: str) -> Record:
    metadata = dict(memory.metadata)
    author = str(metadata.pop(_FOREIGN_AUTHOR, author))
    placed = collection is not None and collection.kind in (Kind.PROJECT, Kind.SESSION)
    return Record(
        id=memory.id,
        content=memory.content,
        domain=memory.domain,
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


def _check(record: Record, places: set[str]) -> None:
    limits.content(record.content)
    limits.tags(record.tags)
    limits.keywords(record.keywords)
    limits.importance(record.importance)
    if record.id and not is_uuid(record.id):
        raise Invalid("id", f"{record.id[:80]!r} is not a UUID; leave it out for a new one")
    if record.domain not in set(Kind):
        raise Invalid("domain", f"{record.domain[:80]!r} is not one of {', '.join(Kind)}")
    if record.domain in (Kind.PROJECT, Kind.SESSION) and not record.place:
        raise Invalid(f"{record.domain}_id", "is required for this domain")


def _found(tx: Transaction, actor: Actor, place: RecordedPlace, now: datetime) -> None:
    kind = Kind(place.kind)
    number = tx.add_collection(CollectionId(place.id), kind.value, kind.value, place.name, actor.user, now)
    founded = Collection(number, CollectionId(place.id), kind.value, kind.value, place.name, actor.user, now)
    tx.collections.describe(replace(founded, ends_at=place.ends_at, metadata={"description": place.description}))


def _known(tx: Reading, actor: Actor, record: Record, now: datetime) -> str:
    """The id of the memory that this record was, here."""
    among = readable(tx, actor, now)
    origin = tx.origin(SOURCE, record.id) if record.id else None
    for identifier in (record.id, origin):
        if identifier and tx.memory(MemoryId(identifier), among):
            return identifier
    return ""


def _tie(tx: Transaction, links: Sequence[RecordedLink]) -> None:
    for link in links:
        ends = (tx.origin(SOURCE, link.source) or link.source, tx.origin(SOURCE, link.target) or link.target)
        tx.links.add(Link(MemoryId(ends[0]), MemoryId(ends[1]), LinkKind(link.kind), link.strength, link.created_at))
