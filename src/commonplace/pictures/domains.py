"""The domains as circles, their categories inside, and how strongly they are tied to each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import cos, pi, sin, sqrt

from commonplace.pictures import bars, series, stats
from commonplace.pictures.census import Census
from commonplace.pictures.lettering import cut, width
from commonplace.pictures.packing import Circle, enclosing, huddled
from commonplace.pictures.placing import Board
from commonplace.pictures.sheet import COLUMN, FULL, OTHER, PLAIN, Disc, Line, Panel, Words, near
from commonplace.pictures.snapshot import Snapshot
from commonplace.pictures.wording import Wording

_ROW, _LIST = 190.0, 280.0
"""Where the circles hang, below the arches."""
_MOST_CATEGORIES, _LARGEST = 9, 190.0
Pair = tuple[str, str]


def panels(_: Snapshot, census: Census, words: Wording, colours: series.Colouring) -> list[Panel]:
    inside = _inside(census, words, colours)
    bonds, strengths = _bonds(census, colours, words)
    arches = any(one != other for one, other in bonds)
    circles = _circles(inside, _ROW if arches else 36.0)
    height = near(max(y + r for _, y, r in circles.values()) + 62)
    discs = [disc for name, circle in circles.items() for disc in _discs(name, circle, inside[name], colours, words)]
    lines = [_line(pair, bonds[pair], strengths, circles) for pair in sorted(bonds) if pair[0] != pair[1]]
    graph = Panel(
        "domains",
        "",
        FULL,
        height,
        field=True,
        lines=tuple(lines),
        discs=tuple(discs),
        words=tuple(_words(discs, lines, bonds, circles, words)),
    )
    return [
        graph,
        _between(bonds, words),
        stats.by_domain(census, words, colours, _LIST),
        stats.by_category(census, words, None, _LIST),
    ]


def _inside(census: Census, words: Wording, colours: series.Colouring) -> dict[str, Counter[str]]:
    inside: dict[str, Counter[str]] = defaultdict(Counter)
    for group, count in census.by_group():
        inside[_group(series.domain(group), colours, words)][series.category(group, words)] += count
    order = {one.label: one.index for one in colours.legend}
    return {name: inside[name] for name in sorted(inside, key=lambda name: (order[name], name))}


def _group(name: str, colours: series.Colouring, words: Wording) -> str:
    return words("other") if colours.of(name) == OTHER else name


def _circles(inside: Mapping[str, Counter[str]], row: float) -> dict[str, Circle]:
    """Hung in one row from the same line. The area says how many; but none is too small for its name."""
    most = max(sum(counts.values()) for counts in inside.values())
    largest = min(_LARGEST, 80 + 20 * sqrt(most))
    radii = [max(largest * sqrt(sum(counts.values()) / most), 52.0) for counts in inside.values()]
    gap = min(70.0, 280.0 / len(radii))
    scale = min((FULL - 80 - gap * (len(radii) - 1)) / (2 * sum(radii)), 1.0)
    x = (FULL - 2 * scale * sum(radii) - gap * (len(radii) - 1)) / 2
    circles = {}
    for name, radius in zip(inside, radii, strict=True):
        circles[name] = (x + scale * radius, row + scale * radius, scale * radius)
        x += 2 * scale * radius + gap
    return circles


def _discs(name: str, circle: Circle, counts: Counter[str], colours: series.Colouring, words: Wording) -> list[Disc]:
    x, y, r = circle
    colour = colours.of(name)
    total = words.memories(sum(counts.values()))
    found = [Disc(f"domain:{name}", near(x), near(y), near(r), colour, name, total, "domain")]
    order = series.ranked(counts)
    rows = bars.top(counts, order, _MOST_CATEGORIES, [colour] * len(order), words)
    limit = max((row.amount for row in rows if not row.rest), default=1)
    bubbles = huddled([sqrt(min(row.amount, limit)) + 0.4 for row in rows], 0.3)
    middle_x, middle_y, reach = enclosing(bubbles)
    scale = min((r - 8) / reach, 46.0)
    for row, (bx, by, br) in zip(rows, bubbles, strict=True):
        at = f"category:{name}/{row.name}"
        value = words.memories(row.amount)
        found.append(
            Disc(
                at,
                near(x + scale * (bx - middle_x)),
                near(y + scale * (by - middle_y)),
                near(scale * br),
                colour,
                row.name,
                value,
                "category",
            )
        )
    return found


def _bonds(census: Census, colours: series.Colouring, words: Wording) -> tuple[dict[Pair, int], dict[Pair, float]]:
    """How many ties there are between each two domains, and their strength together."""
    counts: dict[Pair, int] = defaultdict(int)
    strengths: dict[Pair, float] = defaultdict(float)
    for bond in census.bonds:
        ends = (series.named_domain(name) for name in (bond.source, bond.target))
        one, other = sorted(_group(name, colours, words) for name in ends)
        counts[one, other] += bond.ties
        strengths[one, other] += bond.strength
    return counts, strengths


def _line(pair: Pair, count: int, strengths: Mapping[Pair, float], circles: Mapping[str, Circle]) -> Line:
    """An arch over the circles between, as wide as the strength is great beside the greatest."""
    order = list(circles)
    left, right = sorted(pair, key=order.index)
    steps = order.index(right) - order.index(left)
    (x1, y1), (x2, y2) = _edge(circles[left], steps), _edge(circles[right], -steps)
    most = max(strength for (one, other), strength in strengths.items() if one != other) or 1.0
    return Line(
        f"domain:{left}",
        f"domain:{right}",
        "domain",
        round(strengths[pair] / count, 2),
        near(x1),
        near(y1),
        near(x2),
        near(y2),
        near(2 + 14 * sqrt(strengths[pair] / most)),
        round(-min(40 + 0.5 * (x2 - x1), 2 * _ROW - 60) / max(x2 - x1, 1.0), 3),
    )


def _edge(circle: Circle, steps: int) -> tuple[float, float]:
    """Where an arch stands on a circle: the farther it leads, the nearer to the top."""
    x, y, r = circle
    angle = max(40 - 13 * (abs(steps) - 1), 6) * pi / 180
    return x + (1 if steps > 0 else -1) * r * sin(angle), y - r * cos(angle)


def _words(
    discs: Sequence[Disc],
    lines: Sequence[Line],
    bonds: Mapping[Pair, int],
    circles: Mapping[str, Circle],
    words: Wording,
) -> list[Words]:
    board = Board((0.0, 0.0, FULL, 2 * FULL))
    texts: list[Words] = []
    for disc in (disc for disc in discs if disc.role == "domain"):
        title, value = (cut(text, 2 * disc.r + 50, size) for text, size in ((disc.name, 15), (disc.value, 12)))
        below = near(disc.y + disc.r)
        texts.append(Words(disc.x, below + 22, title, 15, "hill", "middle", near(width(title, 15))))
        texts.append(Words(disc.x, below + 39, value, 12, "faint", "middle", near(width(value, 12))))
    for line, pair in zip(lines, (pair for pair in sorted(bonds) if pair[0] != pair[1]), strict=True):
        count = words("links", n=bonds[pair])
        x, wide = (line.x1 + line.x2) / 2 - line.bend / 2 * (line.y2 - line.y1), width(count, 11.5)
        y = (line.y1 + line.y2) / 2 + line.bend / 2 * (line.x2 - line.x1)
        box = (x - wide / 2, y - 8, x + wide / 2, y + 8)
        texts.append(Words(near(x), near(y + 4), count, 11.5, "bond", "middle", near(wide), board.is_free(box)))
        board.take(box)
    for disc in (disc for disc in discs if disc.role == "category"):
        size = 13.0 if disc.r > 40 else 11.0
        name = cut(disc.name, disc.r * 1.8, size)
        shown = disc.r > 17 and (name == disc.name or disc.r > 26)
        texts.append(
            Words(
                disc.x,
                near(disc.y + size * 0.36),
                name or disc.name,
                size,
                "inner",
                "middle",
                near(disc.r * 1.8),
                shown,
            )
        )
    return texts


def _between(bonds: Mapping[Pair, int], words: Wording) -> Panel:
    order = sorted(bonds, key=lambda pair: (pair[0] == pair[1], -bonds[pair], pair))[:7]
    found = [
        bars.Row(
            f"{words('within')} {one}" if one == other else f"{one} ↔ {other}",
            bonds[one, other],
            PLAIN if one != other else OTHER,
        )
        for one, other in order
    ]
    boxes, texts = bars.rows(found, 28, words, lambda count: words("links", n=count))
    if not found:
        texts.append(Words(20, bars.TOP, words("no_links"), 12, "faint", "start", COLUMN - 40))
    return Panel("links_between", words("links_between"), COLUMN, _LIST, boxes=tuple(boxes), words=tuple(texts))
