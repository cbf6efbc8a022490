"""A finished comparison: approximate over everything, exact for the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonplace.storage.vectors.index import Scanned

_OVERSCAN = 4
"""How many more vectors than memories to take: a long memory may hold several of the best."""


class SqliteScan:
    """The Scan port: ranks by codes in RAM, then asks the file for the full vectors of the best."""

    def __init__(self, scanned: Scanned, exact: Callable[[Sequence[int]], Mapping[int, float]]) -> None:
        self._scanned = scanned
        self._exact = exact

    def best(self, limit: int) -> Mapping[int, float]:
        first_of: dict[int, int] = {}
        for owner, stored in self._scanned.best(limit * _OVERSCAN):
            first_of.setdefault(owner, stored)
            if len(first_of) == limit:
                break
        cosines = self._exact(list(first_of.values()))
        return {owner: cosines[stored] for owner, stored in first_of.items() if stored in cosines}

    def of(self, numbers: Iterable[int]) -> Mapping[int, float]:
        return self._scanned.of(numbers)

    def whole(self, numbers: Iterable[int]) -> Mapping[int, float]:
        return self._scanned.whole(numbers)


class NothingScanned:
    """There are no vectors to compare with yet."""

    def best(self, limit: int) -> Mapping[int, float]:
        return {}

    def of(self, numbers: Iterable[int]) -> Mapping[int, float]:
        return {}

    def whole(self, numbers: Iterable[int]) -> Mapping[int, float]:
        return {}
