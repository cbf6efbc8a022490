"""What leads from one memory to another, in the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.annotation import Remark
    from commonplace.domain.filter import Filter
    from commonplace.domain.identifiers import MemoryId, UserId
    from commonplace.domain.link import Link, LinkKind, Tie
    from commonplace.domain.relation import Edge


class LinkReading(Protocol):
    """What leads from one memory to another."""

    def of(self, memory: MemoryId) -> Sequence[Link]: ...
    def between(self, one: MemoryId, other: MemoryId) -> Sequence[Link]:
        """The links of two memories, whichever way they lead."""
        ...

    def near(self, number: int, among: Filter, limit: int) -> Sequence[Tie]:
        """The strongest ties of a memory to others that may be seen."""
        ...

    def among(self, numbers: Iterable[int], limit: int) -> Sequence[Link]: ...
    def around(self, numbers: Iterable[int], among: Filter, limit: int) -> Sequence[Link]:
        """The strongest links of these memories to each other and to others that may be seen."""
        ...

    def leaving(self, numbers: Iterable[int]) -> Sequence[Link]:
        """All links that begin at these memories."""
        ...

    def touching(self, numbers: Iterable[int], kinds: Sequence[LinkKind], among: Filter, limit: int) -> Sequence[Edge]:
        """The links of these memories, which may be seen, to others that may be seen."""
        ...

    def linked(self, collections: Iterable[int], kinds: Sequence[LinkKind], among: Filter, limit: int) -> Sequence[int]:
        """The memories in these collections with a link to another that may be seen, the newest first."""
        ...

    def remarks(self, number: int, among: Filter, limit: int) -> Sequence[Remark]:
        """What annotates a memory, what annotates that, and so on, the oldest first."""
        ...

    def counts(self, collections: frozenset[int]) -> Mapping[str, int]: ...
    def latest_by(
        self, user: UserId, since: datetime, until: datetime, among: Filter, limit: int
    ) -> Sequence[tuple[int, datetime]]: ...


class LinkWriting(LinkReading, Protocol):
    """The same, to be changed."""

    def add(self, link: Link) -> None: ...
    def keep(self, link: Link) -> bool:
        """As add, but one that is there already stays as it is; whether there was none."""
        ...

    def remove(self, source: MemoryId, target: MemoryId, kind: LinkKind) -> int: ...
    def strengthen(self, one: int, other: int, share: float, at: datetime) -> None: ...
    def drop_faded(self, least: float, before: datetime) -> int: ...
