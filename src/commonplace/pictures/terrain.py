"""The lie of the land under a crowd of dots: where it is dense, and what each hill is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from commonplace.pictures.sheet import Point, Shape, near

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Grid = NDArray[np.float64]

CELL = 16.0
_LEVELS = ((0.10, 3.0), (0.36, 2.2), (0.66, 1.7))
"""How high above the plain, as a share of the highest, and how broad the brush is, in cells."""
_HILLS = 16


@dataclass(frozen=True, slots=True)
class Hill:
    """A peak and the dots around it, as indices."""

    x: float
    y: float
    members: tuple[int, ...]


class Terrain:
    """The density of the points on a grid, smoothed."""

    def __init__(self, points: Sequence[Point], width: float, height: float) -> None:
        import numpy as np

        self._points = np.array(points, np.float64).reshape(-1, 2)
        columns, rows = int(width // CELL) + 1, int(height // CELL) + 1
        counts, _, _ = np.histogram2d(
            self._points[:, 1], self._points[:, 0], (rows, columns), ((0, rows * CELL), (0, columns * CELL))
        )
        # The root, so that one crowd does not flatten every other hill.
        self._grid = np.sqrt(_smooth(_smooth(counts)))

    def land(self) -> list[Shape]:
        """Rows of cells above each level; drawn with one broad round brush they run together into an island."""
        top = float(self._grid.max()) or 1.0
        shapes = []
        for level, (share, brush) in enumerate(_LEVELS):
            runs = [run for row, line in enumerate(self._grid >= share * top) for run in _runs(row, line)]
            points = tuple(point for run in runs for point in run)
            shapes.append(Shape(f"land{level}", points, width=near(brush * CELL)))
        return shapes

    def hills(self) -> list[Hill]:
        """The peaks, highest first, each with the points that are nearer to it than to another, and not far."""
        import numpy as np

        peaks = self._peaks()
        if not peaks:
            return []
        places = np.array([((column + 0.5) * CELL, (row + 0.5) * CELL) for row, column in peaks])
        far = np.hypot(*(self._points[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
        nearest = far.argmin(axis=1)
        close = far.min(axis=1) < 9 * CELL
        members = [np.flatnonzero((nearest == at) & close).tolist() for at in range(len(peaks))]
        return [Hill(near(x), near(y), tuple(found)) for (x, y), found in zip(places.tolist(), members, strict=True)]

    def _peaks(self) -> list[tuple[int, int]]:
        grid = self._grid
        rows, columns = grid.shape
        floor = 0.25 * float(grid.max())
        found = [
            (float(grid[row, column]), row, column)
            for row in range(rows)
            for column in range(columns)
            if grid[row, column] > floor
            and grid[row, column] >= grid[max(row - 3, 0) : row + 4, max(column - 4, 0) : column + 5].max()
        ]
        kept: list[tuple[int, int]] = []
        for _, row, column in sorted(found, key=lambda one: (-one[0], one[1], one[2])):
            if all(abs(row - y) > 3 or abs(column - x) > 4 for y, x in kept):
                kept.append((row, column))
        return kept[:_HILLS]


def _smooth(grid: Grid) -> Grid:
    import numpy as np

    kernel = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
    for axis in (0, 1):
        grid = np.apply_along_axis(lambda line: np.convolve(line, kernel, "same"), axis, grid)
    return grid


def _runs(row: int, line: NDArray[np.bool_]) -> list[tuple[Point, Point]]:
    """From where to where the cells of a row are above the level."""
    runs, start = [], -1
    for column, high in enumerate([*line.tolist(), False]):
        if high and start < 0:
            start = column
        elif not high and start >= 0:
            y = near((row + 0.5) * CELL)
            runs.append(((near((start + 0.5) * CELL), y), (near((column - 0.5) * CELL + 0.1), y)))
            start = -1
    return runs


def names(hills: Sequence[Hill], terms: Sequence[Sequence[str]]) -> list[str]:
    """For each hill the word that is frequent there and rare elsewhere; no two hills have the same, some have none."""
    everywhere = Counter(term for one in terms for term in set(one))
    used: set[str] = set()
    found = []
    for hill in hills:
        here = Counter(term for at in hill.members for term in set(terms[at]))
        scores = {
            term: (count / len(hill.members)) * log(1 + (count / len(hill.members)) / (everywhere[term] / len(terms)))
            for term, count in here.items()
            if term not in used and (count > 1 or len(terms) < 40)
        }
        best = min(scores, key=lambda term: (-scores[term], term)) if scores else ""
        used.add(best)
        found.append(best)
    return found
