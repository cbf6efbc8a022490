"""Collections in SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.domain.access import Right
from commonplace.domain.collection import Collection, Member
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.ports import Slice
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteCollectionReading(Statements):
    """The CollectionReading port."""

    def get(self, collection: CollectionId) -> Collection | None:
        row = self._one("collection", id=collection)
        return _collection(row) if row else None

    def numbered(self, number: int) -> Collection | None:
        row = self._one("collection_numbered", number=number)
        return _collection(row) if row else None

    def among(self, kind: str, numbers: Iterable[int]) -> Sequence[Collection]:
        found = self._all("collections_of_kind", kind=kind, numbers=rows.numbers_json(sorted(numbers)))
        return [_collection(row) for row in found]

    def below(self, collections: Iterable[CollectionId]) -> Sequence[Collection]:
        return [_collection(row) for row in self._all("collections_below", ids=rows.as_json(sorted(collections)))]

    def above(self, number: int) -> Sequence[Collection]:
        return [_collection(row) for row in self._all("collections_above", number=number)]

    def owned(self, owner: UserId, kind: str) -> Sequence[Collection]:
        return [_collection(row) for row in self._all("owned_collections", owner=owner, kind=kind)]

    def ended(self, kind: str, now: datetime, limit: int) -> Sequence[Collection]:
        return [
            _collection(row) for row in self._all("ended_collections", kind=kind, now=rows.micros(now), limit=limit)
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

    def current_session(self, user: UserId, credential: str) -> Collection | None:
        row = self._one("current_session", user=user, credential=credential)
        return _collection(row) if row else None

    def breakdown(self, among: Filter) -> Sequence[Slice]:
        return [_slice(row) for row in self._all("breakdown", **rows.seen_bindings(among))]

    def tag_counts(self, among: Filter, limit: int) -> Sequence[tuple[str, int]]:
        return [(row[0], row[1]) for row in self._all("tag_counts", limit=limit, **rows.seen_bindings(among))]


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

    def put_all_below(self, number: int, parent: int | None) -> None:
        self._do("put_all_below", number=number, parent=parent)

    def remove(self, number: int) -> None:
        self._do("remove_collection", number=number)

    def ungrant(self, collection: int, user: UserId) -> int:
        self._do("ungrant", collection=collection, user=user)
        return self._connection.changes()

    def move(self, memory: int, collection: int) -> None:
        self._do("move_memory", number=memory, collection=collection)

    def set_current_session(self, user: UserId, credential: str, collection: int) -> None:
        self._do("set_current_session", user=user, credential=credential, collection=collection)


def _collection(row: Row) -> Collection:
    number, identifier, kind, domain, name, owner, created_at, ends_at, metadata, parent = row
    ends = rows.maybe_moment(ends_at)
    return Collection(
        number, identifier, kind, domain, name, owner, rows.moment(created_at), ends, json.loads(metadata), parent
    )


def _slice(row: Row) -> Slice:
    domain, category, count, importance, first, last, uses = row
    return Slice(domain, category, count, importance, rows.moment(first), rows.moment(last), uses)
