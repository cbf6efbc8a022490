"""Arrays that grow together, a row at a time, without copying on every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 256


class Columns:
    """Named arrays of one length. Growth doubles, so that appending is cheap on average."""

    def __init__(self, **empty: NDArray[Any]) -> None:
        self._arrays = {name: array.copy() for name, array in empty.items()}
        self._size = len(next(iter(empty.values())))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The column as far as it is filled; writing to it writes to the column."""
        return self._arrays[name][: self._size]

    def extend(self, **rows: NDArray[Any]) -> None:
        added = len(next(iter(rows.values())))
        self._reserve(self._size + added)
        for name, values in rows.items():
            self._arrays[name][self._size : self._size + added] = values
        self._size += added

    def keep(self, which: NDArray[Any]) -> None:
        """Only these rows, in their order."""
        self._arrays = {name: self[name][which] for name in self._arrays}
        self._size = len(next(iter(self._arrays.values())))

    def filled(self) -> dict[str, NDArray[Any]]:
        return {name: self[name] for name in self._arrays}

    def _reserve(self, rows: int) -> None:
        capacity = len(next(iter(self._arrays.values())))
        if rows <= capacity:
            return
        wanted = max(rows, capacity + capacity // 2, _SMALLEST)
        for name, array in self._arrays.items():
            grown = np.empty((wanted, *array.shape[1:]), array.dtype)
            grown[: self._size] = array[: self._size]
            self._arrays[name] = grown
