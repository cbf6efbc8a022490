"""The neighbourhood of one memory: itself in the middle, what it is tied to on rings around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from commonplace.domain.errors import NotFound
from commonplace.pictures import series
from commonplace.pictures.placing import Board, named
from commonplace.pictures.sheet import FULL, Line, Panel, Point, Shape, Spot, Words, near
from commonplace.pictures.snapshot import Snapshot, Tie
from commonplace.pictures.wording import Wording

HEIGHT = 720.0
MOST = 150
DEEPEST = 3
_CROSSING = 90
"""Ties beside those that lead outwards, at most."""
_X, _Y = FULL / 2 - 90.0, HEIGHT / 2 - 52.0


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Who is within reach, in the order of closeness; the rest is only counted."""

    depths: Mapping[str, int]
    parents: Mapping[str, str]
    reached: int


def neighbourhood(snapshot: Snapshot) -> Neighbourhood:
    """By spreading activation, ring by ring: strength multiplies along the way, and the best way wins."""
    center, depth = snapshot.center or "", min(max(snapshot.depth, 1), DEEPEST)
    if all(dot.id != center for dot in snapshot.dots):
        raise NotFound("memory", center)
    beside = _beside(snapshot.ties)
    depths, parents, worth = {center: 0}, {center: ""}, {center: 1.0}
    ring = [center]
    for steps in range(1, depth + 1):
        fresh: dict[str, tuple[float, str]] = {}
        for here in ring:
            for other, strength in beside.get(here, {}).items():
                way = (worth[here] * max(strength, 0.01), here)
                if other not in depths and way[0] > fresh.get(other, (0.0, ""))[0]:
                    fresh[other] = way
        ring = sorted(fresh, key=lambda name: (-fresh[name][0], name))
        for name in ring:
            depths[name], (worth[name], parents[name]) = steps, fresh[name]
    return _kept(depths, parents)


def _kept(depths: dict[str, int], parents: dict[str, str]) -> Neighbourhood:
    """The closest, and never one whose way to the middle is not shown."""
    kept: dict[str, int] = {}
    for name in depths:
        if len(kept) < MOST and (not parents[name] or parents[name] in kept):
            kept[name] = depths[name]
    return Neighbourhood(kept, parents, len(depths))


def _beside(ties: Sequence[Tie]) -> dict[str, dict[str, float]]:
    beside: dict[str, dict[str, float]] = defaultdict(dict)
    for tie in sorted(ties, key=lambda tie: (-tie.strength, tie.source, tie.target)):
        beside[tie.source].setdefault(tie.target, tie.strength)
        beside[tie.target].setdefault(tie.source, tie.strength)
    return beside


def panels(snapshot: Snapshot, found: Neighbourhood, colours: series.Colouring, words: Wording) -> list[Panel]:
    dots = {dot.id: dot for dot in snapshot.dots}
    deepest = max(found.depths.values())
    places = _placed(found, deepest)
    more = _more(snapshot, found)
    spots = [
        Spot(
            name,
            near(places[name][0]),
            near(places[name][1]),
            near(_radius(depth, dots[name].importance, len(places))),
            colours.of(series.category(dots[name], words)),
            series.fade(dots[name], snapshot),
            depth,
            more.get(name, 0),
        )
        for name, depth in found.depths.items()
    ]
    board = Board((8.0, 8.0, FULL - 8.0, HEIGHT - 8.0))
    board.take_circles((spot.x, spot.y, spot.r) for spot in spots)
    badges = _badges(spots, board)
    texts = [dots[spot.id].text for spot in spots]
    center = named(board, [(spots[0].x, spots[0].y, spots[0].r)], texts[:1], 15.0, 300.0, 1)
    others = named(board, [(spot.x, spot.y, spot.r) for spot in spots[1:]], texts[1:], 11.5, 150.0, 90, FULL / 2)
    return [
        Panel(
            "ego",
            "",
            FULL,
            HEIGHT,
            field=True,
            shapes=tuple(_ring(ring, deepest) for ring in range(1, deepest + 1)),
            lines=tuple(_lines(snapshot, spots, found)),
            spots=tuple(spots),
            words=(*badges, *center, *others),
        )
    ]


def _placed(found: Neighbourhood, deepest: int) -> dict[str, Point]:
    """Each has a slice of the circle as large as what hangs on it."""
    children: dict[str, list[str]] = defaultdict(list)
    for name in found.depths:
        if found.parents[name]:
            children[found.parents[name]].append(name)
    leaves: dict[str, float] = {}
    for name in reversed(list(found.depths)):
        # A leaf on an inner ring needs a larger angle for the same room.
        leaves[name] = max(sum(leaves[child] for child in children[name]), deepest / max(found.depths[name], 1))
    center = next(iter(found.depths))
    slices = {center: (-pi / 2, 3 * pi / 2)}
    places = {center: (FULL / 2, HEIGHT / 2)}
    for name in found.depths:
        start, end = slices[name]
        for child in children[name]:
            wide = (end - slices[name][0]) * leaves[child] / leaves[name]
            slices[child] = (start, start + wide)
            places[child] = _on_ring(start + wide / 2, found.depths[child], deepest)
            start += wide
    return places


def _on_ring(angle: float, ring: int, deepest: int) -> Point:
    share = _share(ring, deepest)
    return FULL / 2 + share * _X * cos(angle), HEIGHT / 2 + share * _Y * sin(angle)


def _share(ring: int, deepest: int) -> float:
    return 0.66 if deepest == 1 else (ring + 0.1) / (deepest + 0.1)


def _ring(ring: int, deepest: int) -> Shape:
    share = _share(ring, deepest)
    return Shape("ring", ((FULL / 2, HEIGHT / 2), (near(share * _X), near(share * _Y))))


def _radius(depth: int, importance: float, count: int) -> float:
    if depth == 0:
        return 20.0
    large = 1.0 if count <= 60 else 0.75
    return large * ((14.0, 10.0, 8.0)[min(depth, 3) - 1] * (0.6 + 0.5 * importance))


def _more(snapshot: Snapshot, found: Neighbourhood) -> dict[str, int]:
    hidden: dict[str, set[str]] = defaultdict(set)
    for tie in snapshot.ties:
        for here, there in ((tie.source, tie.target), (tie.target, tie.source)):
            if here in found.depths and there not in found.depths:
                hidden[here].add(there)
    return {name: len(others) for name, others in hidden.items()}


def _badges(spots: Sequence[Spot], board: Board) -> list[Words]:
    badges = []
    for spot in spots:
        if spot.more:
            text = f"+{spot.more}"
            x, y, wide = spot.x, spot.y - spot.r - 3, 7.0 * len(text)
            box = (x - wide / 2 - 2, y - 9, x + wide / 2 + 2, y + 1)
            free = board.is_free(box)
            if free:
                board.take(box)
            badges.append(Words(x, near(y), text, 10.5, "more", "middle", near(wide), free))
    return badges


def _lines(snapshot: Snapshot, spots: Sequence[Spot], found: Neighbourhood) -> list[Line]:
    where = {spot.id: spot for spot in spots}
    outwards: list[Tie] = []
    crossing: list[Tie] = []
    for tie in sorted(snapshot.ties, key=lambda tie: (-tie.strength, tie.source, tie.target, tie.kind)):
        if tie.source in where and tie.target in where:
            leads = found.parents[tie.target] == tie.source or found.parents[tie.source] == tie.target
            (outwards if leads else crossing).append(tie)
    thick = 1.0 if len(spots) <= 60 else 0.5
    return [
        *(_line(tie, where, 0.0, thick) for tie in outwards),
        *(_line(tie, where, 0.16, 0.6 * thick) for tie in crossing[:_CROSSING]),
    ]


def _line(tie: Tie, where: Mapping[str, Spot], bend: float, thick: float) -> Line:
    one, other = where[tie.source], where[tie.target]
    return Line(
        tie.source,
        tie.target,
        series.kind(tie),
        round(tie.strength, 2),
        one.x,
        one.y,
        other.x,
        other.y,
        near(0.6 + 4.4 * thick * tie.strength),
        bend,
    )
