"""Wishes to hear of changes, and what there is to hear, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.watch import Channel, Notice, Watch, WatchId


class WatchReading(Protocol):
    """Wishes to hear of changes, and what there is to hear.

    Notices come about by themselves, with the event, for those who may read where it happened.
    """

    def of(self, owner: UserId) -> Sequence[Watch]:
        """The oldest first."""
        ...

    def has_notices(self, owner: UserId, channel: Channel, after: int = 0) -> bool:
        """Whether any waits, to be seen or not."""
        ...

    def notices(
        self, owner: UserId, channel: Channel, collections: frozenset[int], limit: int, after: int = 0
    ) -> Sequence[Notice]:
        """Of events in these collections, each once, in their order."""
        ...

    def count_notices(self, owner: UserId, channel: Channel, collections: frozenset[int]) -> int: ...
    def pruned(self, owner: UserId, channel: Channel) -> int:
        """The last event of which a notice was pruned; 0 where none was."""
        ...

    def overdue(self, before: datetime, most: int) -> bool:
        """Whether there is anything to prune."""
        ...


class WatchWriting(WatchReading, Protocol):
    """The same, to be changed."""

    def add(self, watch: Watch) -> None: ...
    def carry(self, place: int, to: int) -> None:
        """Watches about a place that ends are about another from now on."""
        ...

    def remove(self, owner: UserId, watch: WatchId) -> bool:
        """With its notices; whether there was one."""
        ...

    def drop(self, owner: UserId, channel: Channel, through: int) -> None:
        """Let go of the notices up to this event."""
        ...

    def prune(self, before: datetime, most: int) -> int:
        """Let go of notices that are older, and of the oldest where a watch has more; how many there were."""
        ...
