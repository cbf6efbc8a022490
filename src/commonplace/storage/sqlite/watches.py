"""Wishes to hear of changes, and what there is to hear, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from commonplace.domain.event import Happening
from commonplace.domain.identifiers import UserId
from commonplace.domain.watch import Channel, Notice, Occurrence, Watch, WatchId, Wish
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteWatchReading(Statements):
    """The WatchReading port."""

    def of(self, owner: UserId) -> Sequence[Watch]:
        return [_watch(row) for row in self._all("watches_of", owner=owner)]

    def has_notices(self, owner: UserId, channel: Channel, after: int = 0) -> bool:
        return bool(self._single("has_notices", owner=owner, channel=channel.value, after=after))

    def notices(
        self, owner: UserId, channel: Channel, collections: frozenset[int], limit: int, after: int = 0
    ) -> Sequence[Notice]:
        within = rows.numbers_json(sorted(collections))
        bindings = {"owner": owner, "channel": channel.value, "collections": within, "limit": limit, "after": after}
        return [_notice(row) for row in self._all("notices", **bindings)]

    def count_notices(self, owner: UserId, channel: Channel, collections: frozenset[int]) -> int:
        within = rows.numbers_json(sorted(collections))
        return int(self._single("count_notices", owner=owner, channel=channel.value, collections=within))

    def pruned(self, owner: UserId, channel: Channel) -> int:
        return int(self._single("pruned_notices", owner=owner, channel=channel.value))

    def overdue(self, before: datetime, most: int) -> bool:
        return self._one("overdue_notices", before=rows.micros(before), most=most) is not None


class SqliteWatchWriting(SqliteWatchReading):
    """The WatchWriting port."""

    def notice(self, event: int, change: str, happening: Happening) -> None:
        """Which watches an event concerns: later the memory may be gone, and nobody could tell.

        A move is two events; who is told that something arrived is not told that it left.
        """
        if not self._single("any_watches"):
            return
        told = self._told(happening.collection)
        arrived = happening.detail.get("to", happening.collection)
        if arrived != happening.collection:
            told -= self._told(arrived)
        if told:
            watches = rows.numbers_json(sorted(told))
            self._do("notice", event=event, change=change, memory=happening.memory_number, watches=watches)

    def _told(self, place: int) -> set[int]:
        """The watches about a place of those who may read there: what others do must not crowd out what one may see.

        Step by step, because one query for all of it takes longer than writing a memory does.
        """
        found: list[Row] = []
        around: set[int | None] = {None}
        above: int | None = place
        while above not in around:
            around.add(above)
            owner, domain, parent = self._one("place", number=above) or (None, "", None)
            found += self._all("watches_by_grant", place=above, itself=above == place)
            found += self._all("watches_by_owner", owner=owner) if owner else ()
            found += self._all("watches_of_all") if domain == "global" and above == place else ()
            above = parent
        return {watch for watch, about in found if about in around}

    def add(self, watch: Watch) -> None:
        wish = watch.wish
        self._do(
            "add_watch",
            id=watch.id,
            owner=watch.owner,
            name=wish.name,
            category=wish.category or None,
            collection=wish.collection,
            tags=rows.as_json(wish.tags) if wish.tags else None,
            happenings=rows.as_json(wish.happenings),
            channel=wish.channel.value,
            created_at=rows.micros(watch.created_at),
        )

    def carry(self, place: int, to: int) -> None:
        self._do("carry_watches", place=place, to=to)

    def remove(self, owner: UserId, watch: WatchId) -> bool:
        self._do("remove_watch", owner=owner, id=watch)
        return self._connection.changes() > 0

    def drop(self, owner: UserId, channel: Channel, through: int) -> None:
        self._do("drop_notices", owner=owner, channel=channel.value, through=through)

    def prune(self, before: datetime, most: int) -> int:
        pruned = 0
        for watch, through in self._all("overdue_notices", before=rows.micros(before), most=most):
            self._do("prune_notices", watch=watch, through=through)
            pruned += self._connection.changes()
            self._do("mark_pruned", watch=watch, through=through)
        return pruned


def _watch(row: Row) -> Watch:
    identifier, owner, name, category, collection, tags, happenings, channel, created_at = row
    wish = Wish(
        name=name,
        category=category or "",
        collection=collection,
        tags=tuple(json.loads(tags or "[]")),
        happenings=tuple(map(Occurrence, json.loads(happenings))),
        channel=Channel(channel),
    )
    return Watch(identifier, owner, wish, rows.moment(created_at))


def _notice(row: Row) -> Notice:
    *event, happening, watches = row
    return Notice(rows.event(tuple(event)), Occurrence(happening), tuple(json.loads(watches)))
