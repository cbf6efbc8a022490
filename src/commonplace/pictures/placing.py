"""Names beside circles, none over another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.pictures.lettering import cut, width
from commonplace.pictures.sheet import Words, near

Frame = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Board:
    """What is taken already, in a grid, so that thousands of circles cost little."""

    _CELL = 48.0

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._taken: dict[tuple[int, int], list[Frame]] = {}

    def is_free(self, box: Frame) -> bool:
        left, top, right, bottom = self._frame
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        return not any(_overlap(box, other) for cell in self._cells(box) for other in self._taken.get(cell, ()))

    def take(self, box: Frame) -> None:
        for cell in self._cells(box):
            self._taken.setdefault(cell, []).append(box)

    def take_circles(self, circles: Iterable[tuple[float, float, float]]) -> None:
        for x, y, r in circles:
            self.take((x - r, y - r, x + r, y + r))

    def _cells(self, box: Frame) -> list[tuple[int, int]]:
        columns = range(int(box[0] // self._CELL), int(box[2] // self._CELL) + 1)
        rows = range(int(box[1] // self._CELL), int(box[3] // self._CELL) + 1)
        return [(column, row) for column in columns for row in rows]


def _overlap(one: Frame, other: Frame) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def named(
    board: Board,
    circles: Sequence[tuple[float, float, float]],
    texts: Sequence[str],
    size: float,
    room: float,
    most: int,
    middle: float = 0.0,
) -> list[Words]:
    """Names for as many circles as there is room for, in the given order: on the side away from the middle if free."""
    found: list[Words] = []
    for (x, y, r), text in zip(circles, texts, strict=True):
        if len(found) == most:
            break
        shown = cut(text, room, size)
        wide = width(shown, size)
        sides = _sides(x, y, r, shown, size, wide) if shown else []
        for words, box in sides if x >= middle else [*sides[1:2], *sides[:1], *sides[2:]]:
            if board.is_free(box):
                board.take(box)
                found.append(words)
                break
    return found


def _sides(x: float, y: float, r: float, text: str, size: float, wide: float) -> list[tuple[Words, Frame]]:
    gap, half = r + 4, size * 0.62
    places = [
        ("start", x + gap, y, (x + gap, y - half, x + gap + wide, y + half)),
        ("end", x - gap, y, (x - gap - wide, y - half, x - gap, y + half)),
        ("middle", x, y + gap + half, (x - wide / 2, y + gap, x + wide / 2, y + gap + 2 * half)),
        ("middle", x, y - gap - half, (x - wide / 2, y - gap - 2 * half, x + wide / 2, y - gap)),
    ]
    return [
        (Words(near(tx), near(ty + size * 0.36), text, size, "name", anchor, near(wide)), box)
        for anchor, tx, ty, box in places
    ]
