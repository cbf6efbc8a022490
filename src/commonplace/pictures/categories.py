"""What the memories are about: shares, a ranking, and how each category came and went."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.pictures import bars, series
from commonplace.pictures.calendar import stretches
from commonplace.pictures.census import Census
from commonplace.pictures.lettering import ELLIPSIS, cut, width, wrap
from commonplace.pictures.sheet import COLUMN, Box, Panel, Shape, Words, near
from commonplace.pictures.snapshot import Snapshot
from commonplace.pictures.treemap import Part, divided
from commonplace.pictures.wording import Wording

HEIGHT = 540.0
_MOST, _STEP = 12, 36.0
_LARGEST_REST = 0.25
"""The others have at most this share of the picture, however many they are: they are named as a heap, not seen."""


def panels(snapshot: Snapshot, census: Census, words: Wording, colours: series.Colouring) -> list[Panel]:
    counts = series.categories(census, words)
    order = series.ranked(counts)
    found = bars.top(counts, order, _MOST, [colours.of(name) for name in order], words)
    boxes, texts = bars.rows(found, _STEP, words)
    ranking = Panel("ranking", words("ranking"), COLUMN, HEIGHT, boxes=tuple(boxes), words=tuple(texts))
    return [_share(found, words), ranking, _over_time(found, snapshot, census, words)]


def _share(found: Sequence[bars.Row], words: Wording) -> Panel:
    named = sum(row.amount for row in found if not row.rest)
    bound = named * _LARGEST_REST / (1 - _LARGEST_REST)
    sizes = [min(row.amount, bound) if row.rest else float(row.amount) for row in found]
    order = sorted(range(len(found)), key=lambda at: (-sizes[at], at))
    parts = divided([sizes[at] for at in order], (16.0, 48.0, COLUMN - 32.0, HEIGHT - 64.0))
    total = sum(row.amount for row in found)
    boxes: list[Box] = []
    texts: list[Words] = []
    for at, part in zip(order, parts, strict=True):
        row = found[at]
        bounded = row.rest and row.amount > bound
        value = f"{words.memories(row.amount)} · {words('not_to_scale') if bounded else f'{row.amount / total:.0%}'}"
        boxes.append(_tile(at, part, row, value))
        texts += _tile_words(part, row, value)
    return Panel("share", words("share"), COLUMN, HEIGHT, boxes=tuple(boxes), words=tuple(texts))


def _tile(at: int, part: Part, row: bars.Row, value: str) -> Box:
    x, y, wide, high = part
    role = "rest" if row.rest else "tile"
    return Box(
        f"s{at}",
        near(x + 1),
        near(y + 1),
        near(max(wide - 2, 1)),
        near(max(high - 2, 1)),
        row.series,
        row.name,
        value,
        role,
    )


def _tile_words(part: Part, row: bars.Row, value: str) -> list[Words]:
    """The name in one or two lines and the value below, as far as they fit."""
    x, y, wide, high = part
    room, size = wide - 18, 14.0 if wide * high > 12000 else 12.0
    lines = wrap(row.name, room, size, 2 if high > 64 else 1) if room > 24 and high > 24 else []
    if lines and lines[-1].endswith(ELLIPSIS) and width(lines[-1]) < 3:
        lines = []
    texts = [
        Words(
            near(x + 10), near(y + 8 + size + at * size * 1.25), line, size, "strong", "start", near(width(line, size))
        )
        for at, line in enumerate(lines)
    ]
    below = next((text for text in (value, value.split(" · ")[0], str(row.amount)) if width(text, 11) <= room), "")
    if lines and below and high > 34 + len(lines) * size * 1.25:
        baseline = near(y + 10 + (len(lines) + 0.3) * size * 1.25 + 11)
        texts.append(Words(near(x + 10), baseline, below, 11, "text", "start", near(width(below, 11))))
    return texts


def _over_time(found: Sequence[bars.Row], snapshot: Snapshot, census: Census, words: Wording) -> Panel:
    """Each category on its own scale: when it was spoken of, not how much."""
    import numpy as np

    span = stretches(snapshot, census.first, census.last, 30)
    rows = {row.name: at for at, row in enumerate(found) if not row.rest}
    # Whatever has no row of its own belongs to the others, and they come last.
    row_of_group = [rows.get(series.category(group, words), len(found) - 1) for group in census.groups]
    row_of = np.array(row_of_group, np.int64)[census.group]
    shapes: list[Shape] = []
    texts: list[Words] = []
    for at, row in enumerate(found):
        base = bars.TOP + at * _STEP + 4
        points = bars.curve(span.counts(census.created[row_of == at]), bars.LEFT + bars.NAME + 8, bars.RIGHT, base, 20)
        shapes += [*bars.area(points, base, row.series)]
        name = cut(row.name, bars.NAME, 12)
        texts.append(Words(bars.LEFT, base - 4, name, 12, "text", "start", near(width(name, 12))))
    low, high = (name[:10] for name in (span.names[0], span.names[-1]))
    texts.append(Words(bars.LEFT + bars.NAME + 8, HEIGHT - 14, low, 11, "tick", "start", 80))
    texts.append(Words(bars.RIGHT, HEIGHT - 14, high, 11, "tick", "end", 80))
    title = f"{words('over_time')} · {words('per_' + span.unit)}"
    return Panel("over_time", title, COLUMN, HEIGHT, shapes=tuple(shapes), words=tuple(texts))
