"""Who is here, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.presence import Presence


class AttendanceReading(Protocol):
    """Who is here."""

    def get(self, connection: str) -> Presence | None: ...
    def since(self, seen: datetime, user: UserId | None = None) -> Sequence[Presence]:
        """Connections that were heard of since then and have not left, of one user or of all, the first first."""
        ...

    def last_change(self) -> int:
        """Grows with every change that others are told of."""
        ...

    def teammates(self, user: UserId) -> frozenset[UserId]: ...
    def overdue(self, before: datetime) -> bool:
        """Whether any was last heard of before then."""
        ...


class AttendanceWriting(AttendanceReading, Protocol):
    """The same, to be changed."""

    def put(self, presence: Presence) -> None:
        """As it is from now on; a change that others are told of."""
        ...

    def touch(self, connection: str, at: datetime) -> None:
        """It was heard of, and is as it was."""
        ...

    def prune(self, before: datetime) -> int: ...
