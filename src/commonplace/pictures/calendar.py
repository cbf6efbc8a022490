"""Stretches of time on the caller's clock: hours, days, weeks, months or years, as the span asks for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from commonplace.pictures.census import micros
from commonplace.pictures.snapshot import Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Consecutive stretches; each begins at an instant, and the last one ends where the next would begin."""

    unit: str
    starts: tuple[datetime, ...]
    labels: tuple[str, ...]
    names: tuple[str, ...]
    """In full, where a label is short."""

    def of(self, instant: datetime) -> int:
        return min(max(bisect_right(self.starts, instant) - 1, 0), len(self.starts) - 1)

    def counts(self, created: NDArray[np.int64]) -> list[int]:
        """How many of these instants, in microseconds, lie in each."""
        import numpy as np

        starts = np.array([micros(start) for start in self.starts], np.int64)
        places = np.maximum(np.searchsorted(starts, created, "right") - 1, 0)
        return [int(count) for count in np.bincount(places, minlength=len(starts))]


def stretches(snapshot: Snapshot, first: datetime, last: datetime, most: int) -> Stretches:
    """At most so many, of the smallest unit that allows it."""
    begin, end = snapshot.local(first), snapshot.local(max(first, last))
    for unit, walk in _UNITS.items():
        if (end - begin) / _LENGTHS[unit] < most:
            starts = list(walk(begin, end))
            if len(starts) <= most:
                return _named(unit, starts, snapshot.zone)
    step = next((step for step in _STEPS if (end.year - begin.year) // step + 2 <= most), _STEPS[-1])
    years = range(max(begin.year // step * step, 2), end.year + 1, step)
    return _named("year", [datetime(year, 1, 1, tzinfo=begin.tzinfo) for year in years], snapshot.zone)


def _hours(begin: datetime, end: datetime) -> Iterator[datetime]:
    hour = begin.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    while hour <= end:
        yield hour
        hour += timedelta(hours=1)


def _days(begin: datetime, end: datetime) -> Iterator[datetime]:
    return _dated(begin.date(), end, lambda day: day + timedelta(days=1))


def _weeks(begin: datetime, end: datetime) -> Iterator[datetime]:
    monday = begin.date() - timedelta(days=begin.weekday())
    return _dated(monday, end, lambda day: day + timedelta(days=7))


def _months(begin: datetime, end: datetime) -> Iterator[datetime]:
    return _dated(begin.date().replace(day=1), end, lambda day: (day + timedelta(days=31)).replace(day=1))


def _dated(day: date, end: datetime, following: Callable[[date], date]) -> Iterator[datetime]:
    while day <= end.date():
        yield datetime(day.year, day.month, day.day, tzinfo=end.tzinfo)
        day = following(day)


_UNITS: dict[str, Callable[[datetime, datetime], Iterator[datetime]]] = {
    "hour": _hours,
    "day": _days,
    "week": _weeks,
    "month": _months,
}
_LENGTHS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
_SHORT = {"hour": "%H:%M", "day": "%m-%d", "week": "%m-%d", "month": "%Y-%m", "year": "%Y"}
_FULL = {"hour": "%Y-%m-%d %H:%M", "day": "%Y-%m-%d", "week": "%Y-%m-%d (%G-W%V)", "month": "%Y-%m", "year": "%Y"}


def _named(unit: str, starts: list[datetime], zone: tzinfo) -> Stretches:
    local = [start.astimezone(zone) for start in starts]
    return Stretches(
        unit,
        tuple(start.astimezone(UTC) for start in starts),
        tuple(start.strftime(_SHORT[unit]) for start in local),
        tuple(start.strftime(_FULL[unit]) for start in local),
    )
