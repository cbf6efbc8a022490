"""The view model: everything a picture shows, with its coordinates. Each format only writes it down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

COLUMN, GAP, MARGIN = 352, 16, 16
FULL = 3 * COLUMN + 2 * GAP
"""Panels are one column wide, so that they stand one below the other on a narrow screen, or have the full width."""
OTHER = 8
"""The colour of what has none of its own."""
PLAIN = 9
"""The colour of a count whose colour says nothing: none of those in the legend."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Card:
    """What is told of a memory; the text is a glimpse."""

    id: str
    text: str
    domain: str
    category: str
    tags: tuple[str, ...]
    importance: float
    created_at: str
    uses: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A memory as a circle. The more it fades, the longer ago it was made or used; `more` counts hidden neighbours."""

    id: str
    x: float
    y: float
    r: float
    series: int
    fade: int = 0
    ring: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class Disc:
    """A group as a circle."""

    id: str
    x: float
    y: float
    r: float
    series: int
    name: str
    value: str
    role: str


@dataclass(frozen=True, slots=True)
class Box:
    """A count as a rectangle."""

    id: str
    x: float
    y: float
    width: float
    height: float
    series: int
    name: str
    value: str
    role: str = "bar"
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """A tie between two spots or discs, bent aside by so much."""

    source: str
    target: str
    kind: str
    strength: float
    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    bend: float = 0.0


@dataclass(frozen=True, slots=True)
class Shape:
    """An outline without a name: an axis, a ring, the land under a crowd, a curve."""

    role: str
    points: tuple[Point, ...]
    series: int = OTHER
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Words:
    """A text with its anchor; `room` is what it takes at most. Hidden ones come out when there is room for them."""

    x: float
    y: float
    text: str
    size: float = 12
    role: str = "label"
    anchor: str = "start"
    room: float = 0.0
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the sheet, with coordinates of its own. A field can be zoomed and moved."""

    name: str
    title: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    field: bool = False
    shapes: tuple[Shape, ...] = ()
    lines: tuple[Line, ...] = ()
    boxes: tuple[Box, ...] = ()
    discs: tuple[Disc, ...] = ()
    spots: tuple[Spot, ...] = ()
    words: tuple[Words, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """One colour and what it stands for."""

    index: int
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole picture."""

    type: str
    title: str
    subtitle: str
    language: str
    total: int
    shown: int
    width: float
    height: float
    series: tuple[Series, ...]
    kinds: tuple[Series, ...]
    panels: tuple[Panel, ...]
    memories: tuple[Card, ...]

    def as_dict(self) -> dict[str, Any]:
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    """What is as it usually is, is not said: of thousands of marks that is half the text."""
    if hasattr(value, "__dataclass_fields__"):
        found = {one.name: (getattr(value, one.name), one.default) for one in fields(value)}
        return {name: _plain(one) for name, (one, usual) in found.items() if one != usual}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def arranged(panels: Iterable[Panel], top: float) -> tuple[tuple[Panel, ...], float]:
    """The panels in rows from the top down, each in the shortest column that is free; and the height of it all."""
    depths = [top, top, top]
    placed = []
    for panel in panels:
        span = 3 if panel.width > COLUMN else 1
        column = 0 if span == 3 else depths.index(min(depths))
        y = max(depths[column : column + span])
        placed.append(replace(panel, x=MARGIN + column * (COLUMN + GAP), y=y))
        depths[column : column + span] = [y + panel.height + GAP] * span
    return tuple(placed), max(depths) - GAP + MARGIN


def near(value: float) -> float:
    """A tenth of a unit is finer than anyone sees."""
    return round(value + 0.0, 1) or 0.0
