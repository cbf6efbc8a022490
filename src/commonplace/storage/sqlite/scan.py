"""A finished comparison: approximate over everything, exact for the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from commonplace.ports import Cosines
from commonplace.storage.vectors.scanned import Scanned

_OVERSCAN = 4
"""How many more vectors than memories to take: a long memory may hold several of the best. As often as needed."""
_EXACT = 32
"""How many of the nearest are compared in full precision. Codes err by a thousandth: further off that is nothing."""
_SPARE = 8
"""How many more memories than asked for are looked at, for the same reason."""


class SqliteScan:
    """The Scan port: ranks by codes in RAM, then asks the file for the full vectors of the best."""

    def __init__(self, scanned: Scanned, exact: Callable[[Sequence[int]], Mapping[int, float]]) -> None:
        self._scanned = scanned
        self._exact = exact

    def best(self, limit: int) -> Mapping[int, float]:
        nearest = self._nearest(limit + _SPARE)
        exact = self._exact([stored for stored, _ in islice(nearest.values(), _EXACT)])
        # A vector may also be missing because it was written after this view of the file: its code must do.
        cosines = {owner: exact.get(stored, cosine) for owner, (stored, cosine) in nearest.items()}
        return dict(sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])

    def _nearest(self, wanted: int) -> dict[int, tuple[int, float]]:
        """So many memories, where there are so many, each by its best vector."""
        take = wanted
        while True:
            take *= _OVERSCAN
            vectors = self._scanned.best(take)
            nearest: dict[int, tuple[int, float]] = {}
            for owner, stored, cosine in vectors:
                nearest.setdefault(owner, (stored, cosine))
                if len(nearest) == wanted:
                    return nearest
            if len(vectors) < take:
                return nearest

    def of(self, numbers: Iterable[int]) -> Cosines:
        return Cosines(*self._scanned.of(numbers))
