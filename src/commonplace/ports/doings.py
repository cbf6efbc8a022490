"""Who did what, beside the events of memories, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.access import Actor
    from commonplace.domain.doing import Doing, Sought, Stretch
    from commonplace.domain.identifiers import UserId


class DoingReading(Protocol):
    """The audit trail: the events of memories, and who did what beside them."""

    def latest(self, sought: Sought, limit: int) -> Sequence[Doing]:
        """The latest first."""
        ...

    def count(self, sought: Sought) -> int: ...
    def oldest(self) -> datetime | None:
        """When the first of those was that can be pruned."""
        ...

    def of_session(self, session: str, user: UserId | None) -> Sequence[Stretch]:
        """What was done in a session, by one user or by all, in figures."""
        ...


class DoingWriting(DoingReading, Protocol):
    """The same, to be changed."""

    def note(self, actor: Actor, at: datetime, what: str, subject: str = "", level: str = "info") -> None:
        """What an actor has just done: few words that say what, and the id of what it was done to; never a text."""
        ...

    def add(self, doing: Doing) -> None:
        """One that was noted elsewhere, perhaps a while ago."""
        ...

    def prune(self, before: datetime) -> int: ...
