"""What a picture is made from: memories as dots, the links between them as ties, and how to look at them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from commonplace.pictures.census import Census, micros
from commonplace.pictures.lettering import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.floating[Any]]

_LONGEST_ID = 80
# A zone moves an instant by a day, a calendar by a year: from here neither leaves what a datetime can hold.
_EARLIEST, _LATEST = datetime(2, 1, 3, tzinfo=UTC), datetime(9998, 12, 29, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Dot:
    """One memory."""

    id: str
    text: str
    domain: str
    category: str
    tags: tuple[str, ...]
    importance: float
    created_at: datetime
    uses: int = 0
    used_at: datetime | None = None
    vector: Vector | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Tie:
    """One link between two memories: semantic, temporal, manual, derived_from and the like; strength in 0-1."""

    source: str
    target: str
    kind: str
    strength: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a picture shows. `total` counts the memories there are; the dots may be a part of them.

    Figures are made from the census, which is that of the dots where there is none.
    """

    dots: tuple[Dot, ...]
    ties: tuple[Tie, ...]
    total: int
    title: str
    zone: tzinfo
    now: datetime
    center: str | None = None
    depth: int = 2
    since: datetime | None = None
    until: datetime | None = None
    language: str = "en"
    """Of the words around the memories: en, ja, ko, zh or fr; anything else is English."""
    census: Census | None = None

    def local(self, instant: datetime) -> datetime:
        """The instant on the caller's clock."""
        return self.held(instant).astimezone(self.zone)

    @staticmethod
    def held(instant: datetime) -> datetime:
        """The instant, or the nearest that a calendar of any zone can hold."""
        return min(max(instant, _EARLIEST), _LATEST)


def tidied(snapshot: Snapshot) -> Snapshot:
    """The same with what a picture can rely on: each id once and harmless, numbers within bounds, no loose ends."""
    dots = {clean(dot.id)[:_LONGEST_ID]: dot for dot in reversed(snapshot.dots)}
    ties = {
        (source, target, tie.kind): Tie(source, target, tie.kind, _share(tie.strength, 0.0))
        for tie in sorted(snapshot.ties, key=lambda tie: _share(tie.strength, 0.0))
        if (source := clean(tie.source)[:_LONGEST_ID]) in dots
        and (target := clean(tie.target)[:_LONGEST_ID]) in dots
        and source != target
    }
    return replace(
        snapshot,
        dots=tuple(_tidy(dot) for dot in reversed(dots.values())),
        ties=tuple(ties[key] for key in sorted(ties)),
        center=None if snapshot.center is None else clean(snapshot.center)[:_LONGEST_ID],
        total=max(snapshot.total, len(dots)),
        census=snapshot.census and _tidy_census(snapshot.census),
    )


def _tidy(dot: Dot) -> Dot:
    name = clean(dot.id)[:_LONGEST_ID]
    return replace(dot, id=name, importance=_share(dot.importance, 0.5), uses=max(dot.uses, 0))


def _tidy_census(census: Census) -> Census:
    return replace(
        census,
        created=census.created.clip(micros(_EARLIEST), micros(_LATEST)),
        latest=tuple(map(_tidy, census.latest)),
        most_used=tuple(map(_tidy, census.most_used)),
        most_important=tuple(map(_tidy, census.most_important)),
    )


def _share(value: float, unknown: float) -> float:
    return unknown if isnan(value) else min(max(float(value), 0.0), 1.0)
