"""How a closeness reads to people, whatever is compared: from 0.9 very close, from 0.7 related, from 0.5 somewhat.

A question and what answers it are less alike to an embedder than two texts about the same thing, and chance brings them
less close. So each has a guide of its own, and both mean the same: of a hundred memories that have nothing to do with
it one is shown at 0.5, of a thousand one at 0.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

_SHOWN = 5e-5
"""People are shown four decimals: what they see as enough is enough."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Guide:
    """Closeness as it is ranked by, and the similarity that is shown for it."""

    somewhat: float
    """The closeness that one of a hundred reaches by chance."""
    related: float
    """The closeness that one of a thousand reaches by chance."""

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        return ((0.0, 0.0), (self.somewhat, 0.5), (self.related, 0.7), (0.9, 0.9), (1.0, 1.0))

    @cached_property
    def _back(self) -> tuple[Point, ...]:
        return tuple((shown, close) for close, shown in self._points)

    def similarity(self, closeness: float) -> float:
        """What is shown for a closeness."""
        return _along(self._points, closeness)

    def least(self, similarity: float) -> float:
        """The closeness from which on so much is shown."""
        return _along(self._back, similarity - _SHOWN)


def _along(points: Sequence[Point], at: float) -> float:
    """Straight lines from point to point, and nothing beyond the last."""
    for (low, value), (high, next_value) in pairwise(points):
        if at < high:
            return value + (next_value - value) * max(at - low, 0.0) / (high - low)
    return points[-1][1]


ASKED = Guide(somewhat=0.3, related=0.4)
"""Between a question and a memory."""
TEXTS = Guide(somewhat=0.5, related=0.55)
"""Between two memories."""
