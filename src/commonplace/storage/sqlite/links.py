"""Links in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from commonplace.domain import annotation
from commonplace.domain.annotation import Remark
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import MemoryId, UserId
from commonplace.domain.link import Link, LinkKind, Tie
from commonplace.domain.relation import Edge
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteLinkReading(Statements):
    """The LinkReading port."""

    def of(self, memory: MemoryId) -> Sequence[Link]:
        return [_link(row) for row in self._all("links_of", id=memory)]

    def between(self, one: MemoryId, other: MemoryId) -> Sequence[Link]:
        return [_link(row) for row in self._all("links_between", one=one, other=other)]

    def near(self, number: int, among: Filter, limit: int) -> Sequence[Tie]:
        found = self._all("links_from", number=number, limit=limit, **rows.seen_bindings(among))
        return [_tie(row) for row in found]

    def among(self, numbers: Iterable[int], limit: int) -> Sequence[Link]:
        return [_link(row) for row in self._all("links_among", numbers=rows.numbers_json(numbers), limit=limit)]

    def around(self, numbers: Iterable[int], among: Filter, limit: int) -> Sequence[Link]:
        chosen = rows.numbers_json(numbers)
        return [
            _link(row) for row in self._all("links_around", numbers=chosen, limit=limit, **rows.seen_bindings(among))
        ]

    def leaving(self, numbers: Iterable[int]) -> Sequence[Link]:
        return [_link(row) for row in self._all("links_leaving", numbers=rows.numbers_json(numbers))]

    def touching(self, numbers: Iterable[int], kinds: Sequence[LinkKind], among: Filter, limit: int) -> Sequence[Edge]:
        chosen, wanted = rows.numbers_json(numbers), rows.as_json(kinds)
        found = self._all("links_touching", numbers=chosen, kinds=wanted, limit=limit, **rows.seen_bindings(among))
        return [Edge(source, target, LinkKind(kind)) for source, target, kind in found]

    def linked(self, collections: Iterable[int], kinds: Sequence[LinkKind], among: Filter, limit: int) -> Sequence[int]:
        within, wanted = rows.numbers_json(sorted(collections)), rows.as_json(kinds)
        found = self._all("linked_within", within=within, kinds=wanted, limit=limit, **rows.seen_bindings(among))
        return [row[0] for row in found]

    def remarks(self, number: int, among: Filter, limit: int) -> Sequence[Remark]:
        asked = {"number": number, "field": annotation.TYPE, "limit": limit}
        return [Remark(*row) for row in self._all("remarks_on", **asked, **rows.seen_bindings(among))]

    def counts(self, collections: frozenset[int]) -> Mapping[str, int]:
        return dict(self._all("link_counts", collections=rows.numbers_json(sorted(collections))))

    def latest_by(
        self, user: UserId, since: datetime, until: datetime, among: Filter, limit: int
    ) -> Sequence[tuple[int, datetime]]:
        times = {"since": rows.micros(since), "until": rows.micros(until)}
        found = self._all("latest_by", user=user, limit=limit, **times, **rows.seen_bindings(among))
        return [(row[0], rows.moment(row[1])) for row in found]


class SqliteLinkWriting(SqliteLinkReading):
    """The LinkWriting port."""

    def add(self, link: Link) -> None:
        at = rows.micros(link.created_at)
        kind, strength = link.kind.value, link.strength
        self._do("add_link", source=link.source, target=link.target, kind=kind, strength=strength, at=at)

    def keep(self, link: Link) -> bool:
        at, used_at = rows.micros(link.created_at), rows.maybe_micros(link.used_at)
        kind, strength = link.kind.value, link.strength
        ends = {"source": link.source, "target": link.target}
        self._do("keep_link", kind=kind, strength=strength, at=at, used_at=used_at, **ends)
        return self._connection.changes() > 0

    def remove(self, source: MemoryId, target: MemoryId, kind: LinkKind) -> int:
        self._do("unlink", source=source, target=target, kind=kind.value)
        return self._connection.changes()

    def strengthen(self, one: int, other: int, share: float, at: datetime) -> None:
        self._do("strengthen", one=one, other=other, share=share, at=rows.micros(at))

    def drop_faded(self, least: float, before: datetime) -> int:
        self._do("faded", least=least, before=rows.micros(before))
        return self._connection.changes()


def _link(row: Row) -> Link:
    source, target, kind, strength, created_at, used_at = row
    used = rows.maybe_moment(used_at)
    return Link(MemoryId(source), MemoryId(target), LinkKind(kind), strength, rows.moment(created_at), used)


def _tie(row: Row) -> Tie:
    return Tie(row[0], LinkKind(row[1]), row[2], rows.moment(row[3]), rows.maybe_moment(row[4]))
