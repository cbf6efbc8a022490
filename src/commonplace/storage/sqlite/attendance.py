"""Who is here, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from commonplace.domain.identifiers import UserId
from commonplace.domain.presence import Focus, Presence, Status
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteAttendanceReading(Statements):
    """The AttendanceReading port."""

    def get(self, connection: str) -> Presence | None:
        row = self._one("presence", connection=connection)
        return _presence(row) if row else None

    def since(self, seen: datetime, user: UserId | None = None) -> Sequence[Presence]:
        return [_presence(row) for row in self._all("presences_since", seen=rows.micros(seen), user=user)]

    def last_change(self) -> int:
        return int(self._single("last_presence"))

    def teammates(self, user: UserId) -> frozenset[UserId]:
        return frozenset(UserId(row[0]) for row in self._all("teammates", user=user))

    def overdue(self, before: datetime) -> bool:
        return bool(self._single("overdue_presences", before=rows.micros(before)))


class SqliteAttendanceWriting(SqliteAttendanceReading):
    """The AttendanceWriting port."""

    def put(self, presence: Presence) -> None:
        self._do(
            "put_presence",
            connection=presence.connection,
            user=presence.user,
            display_name=presence.name,
            status=presence.status.value,
            focus=rows.as_json(asdict(presence.focus)) if presence.focus else None,
            connected_at=rows.micros(presence.connected_at),
            seen_at=rows.micros(presence.seen_at),
        )

    def touch(self, connection: str, at: datetime) -> None:
        self._do("touch_presence", connection=connection, at=rows.micros(at))

    def prune(self, before: datetime) -> int:
        self._do("prune_presences", before=rows.micros(before))
        return self._connection.changes()


def _presence(row: Row) -> Presence:
    connection, user, name, status, focus, connected_at, seen_at = row
    return Presence(
        connection=connection,
        user=user,
        name=name,
        status=Status(status),
        focus=Focus(**json.loads(focus)) if focus else None,
        connected_at=rows.moment(connected_at),
        seen_at=rows.moment(seen_at),
    )
