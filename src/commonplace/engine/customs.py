"""What is looked at before memories from elsewhere are let in: everything, before the first is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor, require_whole
from commonplace.domain.collection import Domain, Kind, described
from commonplace.domain.errors import CommonplaceError, Fault, Forbidden, Invalid, NotCarried
from commonplace.domain.identifiers import CollectionId, is_uuid
from commonplace.domain.phrase import Phrase
from commonplace.domain.record import MOST_LINKS, MOST_PLACES, MOST_RECORDS, Bundle, Record, RecordedPlace
from commonplace.engine.access import changeable, readable
from commonplace.ports import Reading

MOST_USES = 2**53
_SAID_OTHERWISE = "{id} is that of an earlier entry, which says something else"
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


class Customs:
    """One bundle at the border, and who brings it."""

    def __init__(
        self, tx: Reading, actor: Actor, bundle: Bundle, now: datetime, is_known: Callable[[Record], bool]
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._is_known = is_known
        self._bundle = bundle
        self._writable = changeable(tx, actor, now).collections
        self._readable = readable(tx, actor, now).collections
        self._declared = {place.id: place.kind for place in bundle.places}
        self._over = {place.id for place in bundle.places if place.ends_at and place.ends_at <= now}
        self._homes: dict[tuple[str, str], CommonplaceError | None] = {}

    def faults(self) -> list[Fault]:
        """What is wrong, by entry; 0 stands for the whole."""
        return list(self._of_the_whole()) or [*self._of_the_places(), *self._of_the_entries()]

    def _of_the_whole(self) -> Iterator[Fault]:
        bounds = (("memories", MOST_RECORDS), ("links", MOST_LINKS), ("places", MOST_PLACES))
        sizes = (len(self._bundle.records), len(self._bundle.links), len(self._bundle.places))
        for (what, most), size in zip(bounds, sizes, strict=True):
            if size > most:
                reason = "has {size} entries; at most {most} can be brought at once"
                yield Fault(0, Invalid(what, Phrase(reason, size=size, most=most)))

    def _of_the_places(self) -> Iterator[Fault]:
        for element, place in enumerate(self._bundle.places, 1):
            try:
                _check_place(place)
                self._check_founding(place)
            except Invalid as error:
                yield Fault(0, Invalid(f"places.{error.field}", error.reason), element)
            except Forbidden as error:
                yield Fault(0, error, element)

    def _check_founding(self, place: RecordedPlace) -> None:
        if place.id not in self._over and self._tx.collections.get(CollectionId(place.id)) is None:
            require_whole(self._actor)

    def _of_the_entries(self) -> Iterator[Fault]:
        firsts: dict[str, Record] = {}
        for line, record in enumerate(self._bundle.records, 1):
            try:
                _check(record)
                self._check_home(record)
                if record.id and firsts.setdefault(record.id, record) != record:  # only one of them could be kept
                    raise Invalid("memory_id", Phrase(_SAID_OTHERWISE, id=record.id))
            except CommonplaceError as error:
                yield Fault(line, error)

    def _check_home(self, record: Record) -> None:
        if record.place in self._over:
            return  # what was there is not brought at all
        home = (record.domain, record.place)
        if home not in self._homes:
            self._homes[home] = self._refusal(*home)
        refusal = self._homes[home]
        if refusal and not self._is_known(record):  # what is there already is not written
            raise refusal

    def _refusal(self, domain: str, place: str) -> CommonplaceError | None:
        """Why the actor may not write there; a place of others is as good as none."""
        if domain == Kind.USER:
            is_open = self._tx.home(self._actor.user) in self._writable
            return None if is_open else Forbidden("account", self._actor.tool or "this")
        if domain == Kind.GLOBAL:
            return None if self._tx.collections.everyones() in self._writable else Forbidden("admin", "global")
        found = self._tx.collections.get(CollectionId(place))
        if found is None:
            return None if self._declared.get(place) == domain else NotCarried(domain, place[:80])
        if found.number not in self._readable or found.kind != domain:
            return NotCarried(domain, place[:80])
        return None if found.number in self._writable else Forbidden(f"{domain}:write", place)


def _check(record: Record) -> None:
    if record.id and not is_uuid(record.id):
        raise Invalid("memory_id", Phrase("{id!r} is not a UUID; leave it out for a new one", id=record.id[:80]))
    limits.content(record.content)
    limits.tags(record.tags)
    limits.keywords(record.keywords)
    limits.importance(record.importance)
    for name in ("category", "author", "content_type"):
        if getattr(record, name):
            limits.label(name, getattr(record, name))
    limits.metadata(record.metadata)
    _check_times(record)
    if not 0 <= record.uses < MOST_USES:
        raise Invalid("access_count", "must not be negative, nor beyond counting")
    if record.domain not in set(Domain):
        named, known = record.domain[:80], ", ".join(Domain)
        raise Invalid("domain", Phrase("{named!r} is not one of {known}", named=named, known=known))
    if record.domain in (Kind.PROJECT, Kind.SESSION) and not record.place:
        raise Invalid(f"{record.domain}_id", "is required for this domain")


def _check_times(record: Record) -> None:
    times = {"created_at": record.created_at, "updated_at": record.updated_at, "last_access": record.used_at}
    for name, moment in (*times.items(), ("expires_at", record.expires_at)):
        if moment is not None and not _EARLIEST <= moment < _LATEST:
            raise Invalid(name, "must be from the years 1970 to 9998")
    if record.expires_at is not None and record.expires_at <= record.created_at:
        raise Invalid("expires_at", "must be later than created_at")


def _check_place(place: RecordedPlace) -> None:
    if not is_uuid(place.id) or place.kind not in (Kind.PROJECT, Kind.SESSION):
        raise Invalid("id", "has an entry that is neither a project nor a session")
    limits.label("name", place.name)
    described(place.description)
    for name, moment in (("ends_at", place.ends_at), ("created_at", place.created_at)):
        if moment is not None and not _EARLIEST <= moment < _LATEST:
            raise Invalid(name, "must be from the years 1970 to 9998")
    if place.kind == Kind.SESSION and place.ends_at is None:
        raise Invalid("ends_at", "is required for a session: it must end")
