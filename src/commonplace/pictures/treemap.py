"""A rectangle divided among counts, each part as square as it can be."""

from __future__ import annotations

from collections.abc import Sequence

Part = tuple[float, float, float, float]
"""Left, top, width, height."""


def divided(sizes: Sequence[float], frame: Part) -> list[Part]:
    """One part for each size, in the same order; sizes come largest first and are above zero."""
    x, y, wide, high = frame
    scale = wide * high / sum(sizes) if sizes else 0.0
    rest = [size * scale for size in sizes]
    parts: list[Part] = []
    while rest:
        side = min(wide, high)
        count = _row(rest, side)
        row, rest = rest[:count], rest[count:]
        thick = sum(row) / side if side > 0 else 0.0
        along = 0.0
        for size in row:
            long = size / thick if thick > 0 else 0.0
            parts.append((x, y + along, thick, long) if wide >= high else (x + along, y, long, thick))
            along += long
        x, y, wide, high = (x + thick, y, wide - thick, high) if wide >= high else (x, y + thick, wide, high - thick)
    return parts


def _row(sizes: Sequence[float], side: float) -> int:
    """How many go side by side before the worst of them would become longer."""
    count, worst = 1, _worst(sizes[:1], side)
    while count < len(sizes):
        longer = _worst(sizes[: count + 1], side)
        if longer > worst:
            break
        count, worst = count + 1, longer
    return count


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))
