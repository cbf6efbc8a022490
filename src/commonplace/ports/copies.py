"""The same memories in two stores: what tells, in each, which is which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from commonplace.domain.identifiers import MemoryId
    from commonplace.ports.models import Vectors


class Origin(NamedTuple):
    """Where a memory came from, and what it was called there."""

    source: str
    name: str


class CopyReading(Protocol):
    """For the house itself: whoever asks may see everything."""

    def twins(self, ids: Iterable[MemoryId], now: datetime) -> Mapping[MemoryId, int]:
        """The numbers here of the memories that have these ids and have not ended."""
        ...

    def origins(self, memories: Iterable[MemoryId]) -> Mapping[MemoryId, Sequence[Origin]]: ...
    def whole_prints(self, numbers: Iterable[int], fingerprint: str) -> Mapping[int, Vectors]:
        """The vectors of those memories that are wholly embedded, a row a part."""
        ...
