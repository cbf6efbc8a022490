"""Circles side by side without touching, as close to the middle as they go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import cos, hypot, pi, sin, sqrt

Circle = tuple[float, float, float]
_TURN = pi * (3 - sqrt(5))
"""The angle of sunflower seeds."""
_PUSHES, _BESIDE = 100, 6
_PRESS, _TURNS = 0.97, 60


def packed(radii: Sequence[float], gap: float = 0.0, flat: float = 1.0) -> list[Circle]:
    """A place for each radius, in the same order; broader than high where flat is below 1. For dozens."""
    placed: dict[int, Circle] = {}
    for at in sorted(range(len(radii)), key=lambda at: (-radii[at], at)):
        radius = radii[at] + gap / 2
        found = list(placed.values())
        free = (spot for spot in _candidates(found, radius) if _is_free(spot, radius, found))
        x, y = min(free, key=lambda spot: (round(hypot(spot[0] * flat, spot[1]), 6), spot))
        placed[at] = (x, y, radius)
    return [(placed[at][0], placed[at][1], radii[at]) for at in range(len(radii))]


def _candidates(found: list[Circle], radius: float) -> Iterator[tuple[float, float]]:
    if not found:
        yield 0.0, 0.0
        return
    for x, y, r in found:
        for step in range(24):
            angle = 2 * pi * step / 24
            yield x + (r + radius) * cos(angle), y + (r + radius) * sin(angle)
    for one, other in combinations(found, 2):
        yield from _touching(one, other, radius)


def _touching(one: Circle, other: Circle, radius: float) -> Iterator[tuple[float, float]]:
    """Where a circle touches both."""
    (x1, y1, r1), (x2, y2, r2) = one, other
    near, far, apart = r1 + radius, r2 + radius, hypot(x2 - x1, y2 - y1)
    if not 0 < apart <= near + far:
        return
    along = (near * near - far * far + apart * apart) / (2 * apart)
    across = sqrt(max(near * near - along * along, 0.0))
    ux, uy = (x2 - x1) / apart, (y2 - y1) / apart
    for side in (across, -across):
        yield x1 + along * ux - side * uy, y1 + along * uy + side * ux


def _is_free(spot: tuple[float, float], radius: float, found: list[Circle]) -> bool:
    return all(hypot(spot[0] - x, spot[1] - y) >= r + radius - 1e-6 for x, y, r in found)


def enclosing(circles: Sequence[Circle]) -> Circle:
    """A circle around all, near enough the smallest: its middle goes towards the farthest, ever less."""
    x, y = circles[0][:2]
    for turn in range(60):
        fx, fy, _ = max(circles, key=lambda one: hypot(one[0] - x, one[1] - y) + one[2])
        x, y = x + (fx - x) / (turn + 2), y + (fy - y) / (turn + 2)
    return x, y, max(hypot(cx - x, cy - y) + r for cx, cy, r in circles)


def huddled(radii: Sequence[float], gap: float = 0.0) -> list[Circle]:
    """A place for each radius, the circle around all as small as it gets: some stand in a ring. For a dozen."""
    starts = [packed(radii, gap)]
    if max(radii) < 2 * min(radii):
        around = (max(radii) + gap / 2) / sin(pi / max(len(radii), 2))
        angles = [2 * pi * at / len(radii) for at in range(len(radii))]
        starts.append([(around * cos(angle), around * sin(angle), r) for angle, r in zip(angles, radii, strict=True)])
    return min((_huddle(start, gap) for start in starts), key=lambda circles: round(enclosing(circles)[2], 3))


def _huddle(circles: Sequence[Circle], gap: float) -> list[Circle]:
    """Pressed together as long as they give way."""
    x, y, reach = enclosing(circles)
    placed = [(cx - x, cy - y, r) for cx, cy, r in circles]
    while len(placed) > 1:
        tried = _pressed(placed, reach * _PRESS, gap)
        if enclosing(tried)[2] > reach * (1 + _PRESS) / 2:
            break
        placed, reach = tried, enclosing(tried)[2]
    return placed


def _pressed(circles: Sequence[Circle], reach: float, gap: float) -> list[Circle]:
    """Held within a reach and pushed off each other by turns; at last set apart for certain."""
    spots = [[x, y, r] for x, y, r in circles]
    for _ in range(_TURNS):
        for spot in spots:
            held = min((reach - spot[2]) / (hypot(spot[0], spot[1]) or 1e-6), 1.0)
            spot[0], spot[1] = spot[0] * held, spot[1] * held
        for one, other in combinations(spots, 2):
            dx, dy = other[0] - one[0], other[1] - one[1]
            push = max((one[2] + other[2] + gap) / (hypot(dx, dy) or 1e-6) - 1.0, 0.0) / 2
            one[0], one[1] = one[0] - push * dx, one[1] - push * dy
            other[0], other[1] = other[0] + push * dx, other[1] + push * dy
    needed = max(
        (one[2] + other[2] + gap) / (hypot(other[0] - one[0], other[1] - one[1]) or 1e-6)
        for one, other in combinations(spots, 2)
    )
    return [(x * max(needed, 1.0), y * max(needed, 1.0), r) for x, y, r in spots]


def apart(
    places: Sequence[tuple[float, float]], radii: Sequence[float], frame: tuple[float, float]
) -> list[tuple[float, float]]:
    """The circles pushed off each other until hardly one covers another, however many, and kept within the frame."""
    import numpy as np

    # Two on the very same place need a direction to part in.
    spots = np.array(places, np.float64) + np.array(sunflower(len(places), 0.01))
    reach = np.array(radii, np.float64) + (1.5 if len(places) <= 600 else 0.4)
    edge = np.minimum(reach[:, None] + 12.0, np.array(frame) / 2)
    for turn in range(_PUSHES):
        # Neighbours in narrow strips stand near each other in order; strips across and along take turns.
        strip = np.floor(spots[:, turn % 2] / (2.2 * reach.max()) + 0.5 * (turn // 2 % 2))
        order = np.lexsort((spots[:, 1 - turn % 2], strip))
        moves = np.zeros_like(spots)
        for step in range(1, min(_BESIDE, len(order) - 1) + 1):
            one, other = order[:-step], order[step:]
            away = spots[other] - spots[one]
            far = np.hypot(away[:, 0], away[:, 1]) + 1e-9
            push = 0.3 * away * (np.maximum(reach[one] + reach[other] - far, 0.0) / far)[:, None]
            moves[one] -= push
            moves[other] += push
        spots = np.clip(spots + moves, edge, np.array(frame) - edge)
    return [(float(x), float(y)) for x, y in spots.tolist()]


def sunflower(count: int, spacing: float) -> list[tuple[float, float]]:
    """Places evenly spread over a disc, the first in its middle."""
    return [
        (
            spacing * sqrt(at + 0.5 * (count > 1)) * cos(at * _TURN),
            spacing * sqrt(at + 0.5 * (count > 1)) * sin(at * _TURN),
        )
        for at in range(count)
    ]
