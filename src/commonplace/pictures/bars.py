"""Counts as rows of bars, as a histogram, as curves: the charts that fit into one column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from commonplace.pictures.lettering import cut, width
from commonplace.pictures.sheet import COLUMN, OTHER, Box, Point, Shape, Words, near
from commonplace.pictures.wording import Wording

LEFT, RIGHT, TOP = 20.0, COLUMN - 20.0, 60.0
NAME = 118.0


class Row(NamedTuple):
    """A name and its count; `rest` marks what stands for many."""

    name: str
    amount: int
    series: int
    rest: bool = False


def top(counts: Counter[str], order: Sequence[str], most: int, colour: Sequence[int], words: Wording) -> list[Row]:
    """The first so many, and one row for all others."""
    rows = [Row(name, counts[name], series) for name, series in zip(order[:most], colour, strict=False)]
    others = order[most:]
    if others:
        rest = sum(counts[name] for name in others)
        rows.append(Row(f"{words('other')} ({words.count(len(others))})", rest, OTHER, True))
    return rows


def rows(
    found: Sequence[Row], step: float, words: Wording, said: Callable[[int], str] | None = None
) -> tuple[list[Box], list[Words]]:
    """The scale is that of the named: a heap of others is drawn at most as long as the longest of them, and broken."""
    named = [row.amount for row in found if not row.rest]
    most = max(named or [row.amount for row in found], default=1)
    boxes: list[Box] = []
    texts: list[Words] = []
    start, end = LEFT + NAME + 8, RIGHT - 44
    for at, row in enumerate(found):
        y = TOP + at * step
        long = (end - start) * min(row.amount / max(most, 1), 1.0)
        name, count = cut(row.name, NAME, 12), words.count(row.amount)
        role, value = "rest" if row.rest else "bar", (said or words.memories)(row.amount)
        if row.amount > most:
            value = f"{value} · {words('not_to_scale')}"
            texts.append(Words(near(start + 0.8 * long), y, "//", 12, "faint", "middle", near(width("//", 12))))
        boxes.append(Box(f"r{at}", start, y - 10, near(max(long, 2.0)), 12, row.series, row.name, value, role))
        texts.append(Words(LEFT, y, name, 12, "text", "start", near(width(name, 12))))
        texts.append(Words(RIGHT, y, count, 12, "number", "end", near(width(count, 12))))
    return boxes, texts


def histogram(
    counts: Sequence[int], names: Sequence[str], base: float, high: float, series: int, words: Wording
) -> list[Box]:
    most = max(max(counts, default=0), 1)
    step = (RIGHT - LEFT) / len(counts)
    gap = min(3.0, step * 0.2)
    boxes = []
    for at, (count, name) in enumerate(zip(counts, names, strict=True)):
        tall = high * count / most
        x, y = near(LEFT + at * step), near(base - tall)
        boxes.append(Box(f"b{at}", x, y, near(step - gap), near(tall), series, name, words.memories(count)))
    return boxes


def curve(values: Sequence[float], left: float, right: float, base: float, high: float) -> tuple[Point, ...]:
    """From left to right, the largest value at full height; one value alone is a level line."""
    most = max(max(values, default=0.0), 1e-9)
    if len(values) == 1:
        values = [*values, *values]
    step = (right - left) / (len(values) - 1)
    return tuple((near(left + at * step), near(base - high * value / most)) for at, value in enumerate(values))


def area(points: tuple[Point, ...], base: float, series: int) -> list[Shape]:
    """What is below a curve, and the curve."""
    closed = ((points[0][0], base), *points, (points[-1][0], base))
    return [Shape("area", closed, series), Shape("curve", points, series, 1.6)]
