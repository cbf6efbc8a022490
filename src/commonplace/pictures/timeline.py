"""When memories were made: each a dot, the dots of an hour, day, week, month or year in one column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from commonplace.pictures import series
from commonplace.pictures.calendar import Stretches, stretches
from commonplace.pictures.census import Census
from commonplace.pictures.lettering import width
from commonplace.pictures.listing import listing
from commonplace.pictures.sheet import COLUMN, FULL, PLAIN, Box, Panel, Shape, Spot, Words, near
from commonplace.pictures.snapshot import Dot, Snapshot
from commonplace.pictures.wording import Wording

_LEFT, _RIGHT, _TOP, _HIGH = 28.0, FULL - 28.0, 56.0, 280.0
_STRIP = 46.0
_MOST_COLUMNS, _WIDEST = 62, 420.0
_SMALLEST, _LARGEST = 3.2, 22.0


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where each stretch of time stands."""

    found: Stretches
    left: float
    wide: float
    cell: float = 0.0
    base: float = 0.0

    def x(self, at: int) -> float:
        return self.left + at * self.wide


def within(snapshot: Snapshot) -> tuple[Dot, ...]:
    since, until = snapshot.since, snapshot.until
    return tuple(
        dot
        for dot in snapshot.dots
        if (since is None or dot.created_at >= since) and (until is None or dot.created_at <= until)
    )


def panels(snapshot: Snapshot, census: Census, words: Wording, colours: series.Colouring) -> list[Panel]:
    columns = _columns(snapshot, census)
    counts = columns.found.counts(census.created)
    per_column: dict[int, list[Dot]] = defaultdict(list)
    for dot in snapshot.dots:
        per_column[columns.found.of(dot.created_at)].append(dot)
    columns = _founded(columns, max(map(len, per_column.values()), default=1))
    rows = int(_HIGH / columns.cell)
    spots: list[Spot] = []
    more: list[Words] = []
    for at in (at for at, count in enumerate(counts) if count):
        ranked = sorted(per_column[at], key=lambda dot: (-dot.importance, dot.created_at, dot.id))
        shown = _stack(ranked, columns, at, rows, lambda dot: colours.of(series.category(dot, words)))
        spots += [_spot(dot, x, y, columns.cell, snapshot, words, colours) for dot, x, y in shown]
        more += _more(counts[at] - len(shown), columns.x(at) + columns.wide / 2, columns.base - rows * columns.cell)
    chart = Panel(
        "timeline",
        f"{columns.found.names[0]} – {columns.found.names[-1]} · {words('per_' + columns.found.unit)}",
        FULL,
        columns.base + 104,
        shapes=tuple(Shape("axis", ((_LEFT, y), (_RIGHT, y))) for y in (columns.base, columns.base + 84)),
        boxes=tuple(_strip(columns, counts, words)),
        spots=tuple(spots),
        words=(*more, *_ticks(columns)),
    )
    return [chart, *_lists(census, snapshot, words, colours), rhythm(census, snapshot, words)]


def _columns(snapshot: Snapshot, census: Census) -> _Columns:
    first, last = snapshot.since or census.first, snapshot.until or census.last
    most = min(max(len(census) // 2, 14), _MOST_COLUMNS)
    found = stretches(snapshot, min(first, census.first), max(last, census.last), most)
    wide = min((_RIGHT - _LEFT) / len(found.starts), _WIDEST)
    return _Columns(found, (_LEFT + _RIGHT - wide * len(found.starts)) / 2, wide)


def _founded(columns: _Columns, most: int) -> _Columns:
    """With the largest size of a dot with which the fullest column fits, and no higher than it needs to be."""
    high = _HIGH - 14.0
    cell = _LARGEST
    while cell > _SMALLEST and _across(most, columns.wide, cell) * int(high / cell) < most:
        cell -= 0.2
    cell = max(cell, _SMALLEST)
    rows = min(-(-most // _across(most, columns.wide, cell)), int(high / cell))
    return replace(columns, cell=cell, base=near(_TOP + min(max(rows * cell + 24, 70.0), _HIGH)))


def _across(count: int, wide: float, cell: float) -> int:
    """How many stand side by side: all that fit, but a small heap is no wider than high."""
    fit = _per_row(wide, cell)
    return fit if count >= fit * 3 else min(fit, max(round((count * 0.9) ** 0.5), 1))


def _per_row(wide: float, cell: float) -> int:
    return max(int((wide - min(4.0, wide * 0.16)) / cell), 1)


def _stack(
    dots: Sequence[Dot], columns: _Columns, at: int, rows: int, colour: Callable[[Dot], int]
) -> list[tuple[Dot, float, float]]:
    """From the axis upwards, colour by colour. Of too many the most important are shown."""
    cell = columns.cell
    across = _across(len(dots), columns.wide, cell)
    middle = columns.x(at) + columns.wide / 2
    shown = sorted(dots[: across * rows], key=colour)
    return [
        (dot, middle + (index % across - (across - 1) / 2) * cell, columns.base - 3 - (index // across + 0.5) * cell)
        for index, dot in enumerate(shown)
    ]


def _spot(
    dot: Dot, x: float, y: float, cell: float, snapshot: Snapshot, words: Wording, colours: series.Colouring
) -> Spot:
    radius = cell * (0.26 + 0.2 * dot.importance)
    return Spot(
        dot.id, near(x), near(y), round(radius, 2), colours.of(series.category(dot, words)), series.fade(dot, snapshot)
    )


def _more(hidden: int, x: float, top: float) -> list[Words]:
    text = f"+{hidden}"
    return [Words(near(x), near(top - 8), text, 10.5, "more", "middle", near(width(text, 10.5)))] if hidden else []


def _ticks(columns: _Columns) -> list[Words]:
    """As many labels as there is room for, the first always."""
    labels = columns.found.labels
    room = max(width(label, 11) for label in labels) + 12
    every = max(int(-(-room // columns.wide)), 1)
    ticks = []
    for at in range(0, len(labels), every):
        x = columns.x(at) + columns.wide / 2
        ticks.append(
            Words(
                near(min(max(x, room / 2), FULL - room / 2)),
                columns.base + 18,
                labels[at],
                11,
                "tick",
                "middle",
                near(room),
            )
        )
    return ticks


def _strip(columns: _Columns, counts: Sequence[int], words: Wording) -> list[Box]:
    """The whole span as bars: what a brush is drawn over."""
    most = max(counts)
    boxes = []
    for at, name in enumerate(columns.found.names):
        count = counts[at]
        high = _STRIP * count / most
        x, wide = columns.x(at), max(columns.wide - 1.5, 1.0)
        value = words.memories(count)
        boxes.append(
            Box(f"t{at}", near(x), near(columns.base + 84 - high), near(wide), near(high), 8, name, value, "strip")
        )
    return boxes


def _lists(census: Census, snapshot: Snapshot, words: Wording, colours: series.Colouring) -> list[Panel]:
    def day(dot: Dot) -> str:
        return snapshot.local(dot.created_at).strftime("%Y-%m-%d")

    return [
        listing("most_important", census.most_important, day, words, colours),
        listing("latest", census.latest, day, words, colours),
    ]


def rhythm(census: Census, snapshot: Snapshot, words: Wording) -> Panel:
    """Weekdays and hours on the caller's clock."""
    counts = census.by_hour(snapshot.zone)
    most = max(counts.values())
    names = words.weekdays
    left, top, wide, high = 46.0, 58.0, 11.9, 26.0
    boxes = [
        Box(
            f"h{day}-{hour}",
            near(left + hour * wide),
            top + day * high,
            near(wide - 1.6),
            high - 2,
            PLAIN,
            f"{names[day]} {hour:02}:00",
            words.memories(counts[day, hour]),
            "cell",
            round(counts[day, hour] / most, 2),
        )
        for day in range(7)
        for hour in range(24)
    ]
    days = [Words(left - 8, top + day * high + 16, names[day], 11, "tick", "end", 30) for day in range(7)]
    hours = [
        Words(near(left + hour * wide), top + 7 * high + 16, f"{hour:02}", 11, "tick", "start", 20)
        for hour in (0, 6, 12, 18)
    ]
    return Panel("rhythm", words("rhythm"), COLUMN, 280.0, boxes=tuple(boxes), words=(*days, *hours))
