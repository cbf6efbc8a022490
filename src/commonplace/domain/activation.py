"""Spreading activation: from one memory along its ties to what it brings to mind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.link import LinkKind, Tie

LEAST = 0.05
"""Weaker than this, nothing comes to mind."""
_FRONT = 100
"""How many memories of one step are followed further."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory, how strongly it was activated, and the way that led to it."""

    number: int
    strength: float
    depth: int
    kind: LinkKind
    """Of the last link on the way."""
    path: tuple[int, ...]
    """From the first memory to this one, both included."""


def spread(start: int, near: Callable[[int], Sequence[Tie]], now: datetime, *, depth: int, limit: int) -> list[Reached]:
    """Strengths multiply along a way, the best way wins, nothing comes twice; the strongest first."""
    best: dict[int, Reached] = {}
    front = [Reached(start, 1.0, 0, LinkKind.MANUAL, (start,))]
    for _ in range(depth):
        improved: dict[int, Reached] = {}
        for one in front:
            for tie in near(one.number):
                _consider(one, tie, now, improved, best)
        best |= improved
        front = sorted((r for r in improved.values() if r.number != start), key=lambda r: -r.strength)[:_FRONT]
    best.pop(start, None)
    return sorted(best.values(), key=lambda r: (-r.strength, r.depth, r.number))[:limit]


def _consider(one: Reached, tie: Tie, now: datetime, improved: dict[int, Reached], best: dict[int, Reached]) -> None:
    strength = one.strength * tie.strength_at(now)
    known = improved.get(tie.other) or best.get(tie.other)
    if strength < LEAST or tie.other in one.path or (known and known.strength >= strength):
        return
    improved[tie.other] = Reached(tie.other, strength, one.depth + 1, tie.kind, (*one.path, tie.other))
