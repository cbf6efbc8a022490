"""What figures are made of: every memory as a row of columns, not only those that are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.pictures.snapshot import Dot

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
_DAY = 24 * _HOUR
_THURSDAY = 3
"""The epoch began on one."""


class Group(NamedTuple):
    """What some memories have in common."""

    domain: str
    category: str


class Bond(NamedTuple):
    """How many ties lead from one domain to another, and their strength together."""

    source: str
    target: str
    ties: int
    strength: float


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """The columns have one row for each memory."""

    created: NDArray[np.int64]
    """In microseconds."""
    importance: NDArray[np.float64]
    group: NDArray[np.int64]
    """The place of its group."""
    groups: tuple[Group, ...]
    used: int = 0
    bonds: tuple[Bond, ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    latest: tuple[Dot, ...] = ()
    most_used: tuple[Dot, ...] = ()
    most_important: tuple[Dot, ...] = ()

    def __len__(self) -> int:
        return len(self.created)

    @property
    def first(self) -> datetime:
        return instant(int(self.created.min()))

    @property
    def last(self) -> datetime:
        return instant(int(self.created.max()))

    def by_group(self) -> Iterator[tuple[Group, int]]:
        """How many each group has."""
        import numpy as np

        return zip(self.groups, np.bincount(self.group, minlength=len(self.groups)).tolist(), strict=True)

    def since(self, begin: datetime, end: datetime) -> int:
        """How many were made between two instants, both counted in."""
        import numpy as np

        return int(np.count_nonzero((self.created >= micros(begin)) & (self.created <= micros(end))))

    def by_importance(self) -> list[int]:
        """How many there are in each tenth."""
        import numpy as np

        tenths = np.clip((self.importance * 10 + 1e-9).astype(np.int64), 0, 9)
        return [int(count) for count in np.bincount(tenths, minlength=10)]

    def by_hour(self, zone: tzinfo) -> Counter[tuple[int, int]]:
        """How many were made on each weekday in each hour of a clock."""
        import numpy as np

        local = self.created + self._ahead(zone)
        days, hours = local // _DAY + _THURSDAY, local % _DAY // _HOUR
        counts = np.bincount(days % 7 * 24 + hours, minlength=7 * 24).tolist()
        return Counter({divmod(at, 24): count for at, count in enumerate(counts)})

    def _ahead(self, zone: tzinfo) -> NDArray[np.int64]:
        """How far the clock was ahead of UTC: asked for each day, and for each memory only on days when it was set."""
        import numpy as np

        days, place = np.unique(self.created // _DAY, return_inverse=True)
        begins = np.array([_ahead(int(day) * _DAY, zone) for day in days], np.int64)
        ends = np.array([_ahead((int(day) + 1) * _DAY, zone) for day in days], np.int64)
        ahead: NDArray[np.int64] = begins[place]
        for at in np.flatnonzero((begins != ends)[place]):
            ahead[at] = _ahead(int(self.created[at]), zone)
        return ahead


def _ahead(at: int, zone: tzinfo) -> int:
    return (instant(at).astimezone(zone).utcoffset() or timedelta()) // _MICROSECOND


def micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def instant(at: int) -> datetime:
    return _EPOCH + at * _MICROSECOND
