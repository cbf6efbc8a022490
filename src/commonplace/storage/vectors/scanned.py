"""One vector beside those of the index, as they were when it was asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commonplace.storage.vectors.codes import Floats, dots, quantised
from commonplace.storage.vectors.conditions import Mask

_COPIED_BELOW = 0.5
"""Below this share of codes, copying the chosen ones is cheaper than comparing all."""
_NOT_COMPARED = np.float32(-2.0)


@dataclass(frozen=True, slots=True)
class Compared:
    """Codes with one that they are compared with. Codes are never changed in place, so this stays true."""

    codes: NDArray[np.int8]
    scales: Floats
    query: NDArray[np.int8]
    scale: Floats
    chosen: NDArray[np.bool_]
    """Which of them may be compared at all."""

    def cosines(self, which: NDArray[np.intp]) -> Floats:
        """Approximate, of the codes at these places; below all others where it may not be compared."""
        found = dots(self.query, self.codes.take(which, axis=0)) * (self.scales[which] * self.scale)
        found[~self.chosen[which]] = _NOT_COMPARED
        return found

    def all_cosines(self) -> tuple[NDArray[np.intp], Floats]:
        """Of all that may be compared, and where they stand."""
        which = np.flatnonzero(self.chosen)
        if len(which) < len(self.codes) * _COPIED_BELOW:
            return which, self.cosines(which)
        found = dots(self.query, self.codes) * (self.scales * self.scale)
        return which, found if len(which) == len(found) else found[which]


class Layout:
    """Which vector is whose. It stays as it is; when something changes there is a new one."""

    def __init__(
        self,
        places: NDArray[np.int32],
        stored: NDArray[np.int64],
        memories: NDArray[np.int64],
        first: NDArray[np.int32],
        count: NDArray[np.int32],
    ) -> None:
        self.places = places
        """By vector: at which place its memory stands."""
        self.stored = stored
        """By vector: its number in the store."""
        self.memories = memories
        """By place: the number of the memory, where its vectors begin, and how many there are."""
        self.first = first
        self.count = count
        self._chosen: tuple[Mask, Mask] | None = None

    def chosen(self, passed: Mask) -> Mask:
        """The vectors of the memories let through; mostly the same are asked for again."""
        if self._chosen is None or self._chosen[0] is not passed:
            # One more, False, so that the place of a vector that belongs nowhere is never let through.
            self._chosen = passed, np.append(passed, False).take(self.places)
        return self._chosen[1]


@dataclass(frozen=True, slots=True)
class Scanned:
    """Approximate cosines with the vectors of memories, at the time of the scan."""

    compared: Compared
    near: NDArray[np.intp] | None
    """Where the vectors stand that are worth comparing; None for all."""
    layout: Layout

    def best(self, limit: int) -> list[tuple[int, int, float]]:
        """The most similar vectors, best first: whose each is, its number in the store, and its cosine."""
        if self.near is None or limit > len(self.near):
            which, cosines = self.compared.all_cosines()
        else:
            which, cosines = self.near, self.compared.cosines(self.near)
        if len(which) > limit:
            top = np.argpartition(cosines, -limit)[-limit:]
            which, cosines = which[top], cosines[top]
        order = np.argsort(-cosines, kind="stable")
        which, cosines = which[order], cosines[order]
        owners, stored = self.layout.memories[self.layout.places[which]], self.layout.stored[which]
        return list(zip(owners.tolist(), stored.tolist(), cosines.tolist(), strict=True))

    def of(self, numbers: Iterable[int]) -> tuple[dict[int, float], dict[int, float]]:
        """Of each of these memories that may be compared the best cosine, and of those with several parts the whole's.

        The first part is the whole text.
        """
        wanted, layout = np.fromiter(numbers, np.int64), self.layout
        places, known = located(layout.memories, wanted)
        known[known] = layout.count[places[known]] > 0
        if not known.any():
            return {}, {}
        wanted, first, count = wanted[known], layout.first[places[known]], layout.count[places[known]]
        # The parts of all of them one after the other, then the best of each stretch.
        starts = np.cumsum(count) - count
        parts = np.arange(int(count.sum())) + np.repeat(first - starts, count)
        cosines = self.compared.cosines(parts)
        best, several = np.maximum.reduceat(cosines, starts), count > 1
        return _sayable(wanted, best), _sayable(wanted[several], cosines[starts[several]])


def _sayable(numbers: NDArray[np.int64], cosines: Floats) -> dict[int, float]:
    compared = cosines > _NOT_COMPARED
    return dict(zip(numbers[compared].tolist(), cosines[compared].tolist(), strict=True))


def compared(codes: NDArray[np.int8], scales: Floats, vector: Floats, chosen: NDArray[np.bool_]) -> Compared:
    query, scale = quantised(vector.reshape(1, -1))
    return Compared(codes, scales, query, scale, chosen)


def located(column: NDArray[np.int64], numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where these numbers stand in a sorted column, and which of them stand there at all."""
    if len(column) and column[-1] - column[0] == len(column) - 1:  # without gaps a number says where it stands
        places = numbers - column[0]
        return places, (places >= 0) & (places < len(column))
    places = np.searchsorted(column, numbers)
    known = places < len(column)
    known[known] = column[places[known]] == numbers[known]
    return places, known
