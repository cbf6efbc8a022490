"""Collections in SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.domain.access import Right
from commonplace.domain.collection import Collection, Member
from commonplace.domain.context import Guest, Invitation
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.ports import Slice
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteCollectionReading(Statements):
    """The CollectionReading port."""

    def get(self, collection: CollectionId) -> Collection | None:
        row = self._one("collection", id=collection)
        return collection_of(row) if row else None

    def numbered(self, number: int) -> Collection | None:
        row = self._one("collection_numbered", number=number)
        return collection_of(row) if row else None

    def numbers(self) -> frozenset[int]:
        return frozenset(row[0] for row in self._all("collection_numbers"))

    def among(self, kind: str, numbers: Iterable[int]) -> Sequence[Collection]:
        found = self._all("collections_of_kind", kind=kind, numbers=rows.numbers_json(sorted(numbers)))
        return [collection_of(row) for row in found]

    def below(self, collections: Iterable[CollectionId]) -> Sequence[Collection]:
        return [collection_of(row) for row in self._all("collections_below", ids=rows.as_json(sorted(collections)))]

    def above(self, number: int) -> Sequence[Collection]:
        return [collection_of(row) for row in self._all("collections_above", number=number)]

    def places(self, kind: str, numbers: Iterable[int]) -> Mapping[int, int | None]:
        return dict(self._all("places", kind=kind, numbers=rows.numbers_json(sorted(numbers))))

    def owned(self, owner: UserId, kind: str) -> Sequence[Collection]:
        return [collection_of(row) for row in self._all("owned_collections", owner=owner, kind=kind)]

    def ended(self, kind: str, now: datetime, limit: int) -> Sequence[Collection]:
        return [
            collection_of(row) for row in self._all("ended_collections", kind=kind, now=rows.micros(now), limit=limit)
        ]

    def everyones(self) -> int:
        return int(self._single("global_collection"))

    def members(self, number: int) -> Sequence[Member]:
        return [
            Member(UserId(row[0]), row[1], Right(row[2]), bool(row[3]), rows.moment(row[4]))
            for row in self._all("members", number=number)
        ]

    def sizes(self, numbers: Iterable[int], now: datetime) -> Mapping[int, int]:
        return dict(self._all("sizes", numbers=rows.numbers_json(sorted(numbers)), now=rows.micros(now)))

    def numbers_within(self, collection: int, after: int, limit: int) -> Sequence[int]:
        return [row[0] for row in self._all("numbers_within", collection=collection, after=after, limit=limit)]

    def current_session(self, user: UserId, session: str) -> Collection | None:
        row = self._one("current_session", user=user, session=session)
        return collection_of(row) if row else None

    def breakdown(self, among: Filter) -> Sequence[Slice]:
        return [_slice(row) for row in self._all("breakdown", **rows.seen_bindings(among))]

    def tag_counts(self, among: Filter, limit: int) -> Sequence[tuple[str, int]]:
        return [(row[0], row[1]) for row in self._all("tag_counts", limit=limit, **rows.seen_bindings(among))]

    def shelf(self, context: int, user: UserId) -> Collection | None:
        row = self._one("shelf", context=context, user=user)
        return collection_of(row) if row else None

    def invitations_of(self, user: UserId) -> Sequence[Invitation]:
        return [
            Invitation(row[0], Guest(row[1]), row[2], UserId(row[3]), rows.moment(row[4]))
            for row in self._all("invitations_of", user=user)
        ]

    def lent_from(self, memory: int) -> int | None:
        row = self._one("lent_from", memory=memory)
        return int(row[0]) if row else None


class SqliteCollectionWriting(SqliteCollectionReading):
    """The CollectionWriting port."""

    def describe(self, collection: Collection) -> None:
        self._do(
            "describe_collection",
            number=collection.number,
            name=collection.name,
            metadata=rows.as_json(collection.metadata),
            ends_at=rows.maybe_micros(collection.ends_at),
        )

    def put_below(self, number: int, parent: int | None) -> None:
        self._do("put_below", number=number, parent=parent)

    def carry_loans(self, home: int, to: int) -> None:
        self._do("carry_loans", home=home, to=to)

    def put_all_below(self, number: int, parent: int | None) -> None:
        self._do("put_all_below", number=number, parent=parent)

    def remove(self, number: int) -> None:
        self._do("remove_collection", number=number)

    def ungrant(self, collection: int, user: UserId) -> int:
        self._do("ungrant", collection=collection, user=user)
        return self._connection.changes()

    def move(self, memory: int, collection: int) -> None:
        self._do("move_memory", number=memory, collection=collection)

    def set_current_session(self, user: UserId, session: str, collection: int) -> None:
        self._do("set_current_session", user=user, session=session, collection=collection)

    def invite(self, invitation: Invitation) -> None:
        self._do(
            "invite",
            collection=invitation.collection,
            guest=invitation.guest.value,
            subject=invitation.subject,
            by=invitation.by,
            at=rows.micros(invitation.at),
        )

    def uninvite(self, collection: int, user: UserId) -> None:
        self._do("uninvite", collection=collection, user=user)

    def lend(self, memory: int, home: int) -> None:
        self._do("lend", memory=memory, home=home)

    def give_back(self, memory: int) -> None:
        self._do("give_back", memory=memory)


def collection_of(row: Row) -> Collection:
    number, identifier, kind, domain, name, owner, created_at, ends_at, metadata, parent = row
    ends = rows.maybe_moment(ends_at)
    return Collection(
        number, identifier, kind, domain, name, owner, rows.moment(created_at), ends, json.loads(metadata), parent
    )


def _slice(row: Row) -> Slice:
    domain, category, count, importance, first, last, uses = row
    return Slice(domain, category, count, importance, rows.moment(first), rows.moment(last), uses)
