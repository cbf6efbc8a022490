"""All memories as a map: by meaning where they have vectors, else by category."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import sqrt

from commonplace.pictures import semantic, series, terrain
from commonplace.pictures.lettering import clean, cut, width
from commonplace.pictures.packing import apart, packed, sunflower
from commonplace.pictures.placing import Board, Frame, named
from commonplace.pictures.sheet import FULL, Line, Panel, Point, Spot, Words, near
from commonplace.pictures.snapshot import Dot, Snapshot
from commonplace.pictures.wording import Wording

HEIGHT, _PAD = 680.0, 56.0
_MOST_TIES, _MOST_NAMES, _MOST_CLUSTERS = 1500, 60, 24
_STEPS = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6)
_CROWD = 600
"""From here on the hills speak, not the single memories."""


def panels(snapshot: Snapshot, words: Wording, colours: series.Colouring) -> list[Panel]:
    dots = snapshot.dots
    radii = [_radius(dot, len(dots)) for dot in dots]
    places = apart(_places(dots, words), radii, (FULL, HEIGHT))
    spots = [
        Spot(dot.id, near(x), near(y), near(r), colours.of(series.category(dot, words)), series.fade(dot, snapshot))
        for dot, (x, y), r in zip(dots, places, radii, strict=True)
    ]
    ground = terrain.Terrain(places, FULL, HEIGHT)
    board = Board((8.0, 8.0, FULL - 8.0, HEIGHT - 8.0))
    if len(dots) <= _CROWD:
        board.take_circles((spot.x, spot.y, spot.r) for spot in spots)
    labels = _hill_words(ground, dots, board) if len(dots) >= 12 else []
    land = ground.land() if len(dots) >= 12 else []
    names = _names(spots, dots, board)
    return [
        Panel(
            "map",
            "",
            FULL,
            HEIGHT,
            field=True,
            shapes=tuple(land),
            lines=tuple(_lines(snapshot, spots)),
            spots=tuple(spots),
            words=(*labels, *names),
        )
    ]


def _radius(dot: Dot, count: int) -> float:
    low, high = (
        (6.0, 12.0) if count <= 60 else (4.0, 8.0) if count <= 300 else (2.6, 5.5) if count <= 1500 else (1.8, 4.2)
    )
    return low + (high - low) * dot.importance


def _places(dots: Sequence[Dot], words: Wording) -> list[Point]:
    sizes = Counter(len(dot.vector) for dot in dots if dot.vector is not None and len(dot.vector) > 1)
    size = min(sizes, key=lambda one: (-sizes[one], one)) if sizes else 0
    having = [at for at, dot in enumerate(dots) if dot.vector is not None and len(dot.vector) == size > 1]
    if len(having) < 3 or len(having) * 2 < len(dots):
        return _by_category(dots, words)
    import numpy as np

    flat = semantic.laid_out(np.array([dots[at].vector for at in having], np.float32))
    half_x, half_y = FULL / 2 - _PAD * 1.3, HEIGHT / 2 - _PAD
    known = {
        at: (FULL / 2 + half_x * x, HEIGHT / 2 + half_y * y) for at, (x, y) in zip(having, flat.tolist(), strict=True)
    }
    return _with_strangers(dots, known, words)


def _with_strangers(dots: Sequence[Dot], known: dict[int, Point], words: Wording) -> list[Point]:
    """A memory without a vector lies where its category lies."""
    grouped: dict[str, list[Point]] = defaultdict(list)
    for at, place in known.items():
        grouped[series.category(dots[at], words)].append(place)
    offsets = sunflower(len(dots) - len(known), 9.0)
    places = []
    for at, dot in enumerate(dots):
        if at in known:
            places.append(known[at])
            continue
        near_by = grouped.get(series.category(dot, words), [(FULL / 2, HEIGHT / 2)])
        dx, dy = offsets.pop(0)
        x, y = (sum(side) / len(near_by) for side in zip(*near_by, strict=True))
        places.append((x + dx, y + dy))
    return places


def _by_category(dots: Sequence[Dot], words: Wording) -> list[Point]:
    """Each category a sunflower, the sunflowers side by side."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for at, dot in sorted(enumerate(dots), key=lambda one: (-one[1].importance, one[1].created_at, one[1].id)):
        grouped[series.category(dot, words)].append(at)
    names = sorted(grouped, key=lambda name: (-len(grouped[name]), name))
    rest = [at for name in names[_MOST_CLUSTERS:] for at in grouped[name]]
    groups = [grouped[name] for name in names[:_MOST_CLUSTERS]] + ([rest] if rest else [])
    circles = packed([sqrt(len(group)) + 1.0 for group in groups], 1.0, 0.7)
    reach_x = max(abs(x) + r for x, _, r in circles)
    reach_y = max(abs(y) + r for _, y, r in circles)
    scale = min((FULL / 2 - _PAD) / reach_x, (HEIGHT / 2 - _PAD) / reach_y, 26.0)
    places: list[Point] = [(0.0, 0.0)] * len(dots)
    for group, (x, y, _) in zip(groups, circles, strict=True):
        for at, (dx, dy) in zip(group, sunflower(len(group), 0.94), strict=True):
            places[at] = (FULL / 2 + scale * (x + dx), HEIGHT / 2 + scale * (y + dy))
    return places


def _hill_words(ground: terrain.Terrain, dots: Sequence[Dot], board: Board) -> list[Words]:
    """On the peak, or a little above or below where a memory stands there."""
    hills = ground.hills()
    terms = [_terms(dot) for dot in dots]
    labels = []
    for hill, name in zip(hills, terrain.names(hills, terms), strict=True):
        size = 18.0 if len(hill.members) * 8 > len(dots) else 15.0
        text = cut(name, 200.0, size)
        wide = width(text, size)
        x = min(max(hill.x, wide / 2 + 10), FULL - wide / 2 - 10)
        tries = [(hill.y + 9.0 * step, _around(x, hill.y + 9.0 * step, wide, size)) for step in _STEPS]
        y, box = next((one for one in tries if board.is_free(one[1])), (hill.y, None))
        if box:
            board.take(box)
        if text:
            labels.append(
                Words(near(x), near(y + size * 0.36), text, size, "hill", "middle", near(wide), box is not None)
            )
    return labels


def _around(x: float, y: float, wide: float, size: float) -> Frame:
    return x - wide / 2, y - size * 0.7, x + wide / 2, y + size * 0.7


def _terms(dot: Dot) -> list[str]:
    return [term for term in (clean(dot.category[:200]), *(clean(tag[:200]) for tag in dot.tags[:20])) if term]


def _names(spots: Sequence[Spot], dots: Sequence[Dot], board: Board) -> list[Words]:
    """Of the most important; in a crowd the hills speak, and names come out as one zooms in."""
    if len(dots) > _CROWD:
        return []
    order = sorted(range(len(dots)), key=lambda at: (-dots[at].importance, dots[at].id))
    circles = [(spots[at].x, spots[at].y, spots[at].r) for at in order]
    size, room = (15.0, 480.0) if len(dots) <= 3 else (13.0, 240.0) if len(dots) <= 12 else (11.5, 150.0)
    return named(board, circles, [dots[at].text for at in order], size, room, _MOST_NAMES)


def _lines(snapshot: Snapshot, spots: Sequence[Spot]) -> list[Line]:
    """The strongest, faintly."""
    where = {spot.id: spot for spot in spots}
    ties = sorted(snapshot.ties, key=lambda tie: (-tie.strength, tie.source, tie.target, tie.kind))
    lines = []
    for tie in ties[:_MOST_TIES]:
        one, other = where[tie.source], where[tie.target]
        wide = round((0.4 if len(spots) > _CROWD else 0.8) * (0.6 + tie.strength), 1)
        lines.append(
            Line(tie.source, tie.target, series.kind(tie), round(tie.strength, 2), one.x, one.y, other.x, other.y, wide)
        )
    return lines
