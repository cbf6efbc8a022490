"""Arrays that grow together, a row at a time, without copying on every row."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 256


def code(text: str) -> int:
    """A number for a name, as arrays hold them, and the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), signed=True)


class Columns:
    """Named arrays of one length. Growth doubles, so that appending is cheap on average."""

    def __init__(self, **arrays: NDArray[Any]) -> None:
        self._arrays = arrays
        self._size = len(next(iter(arrays.values())))

    def like(self, arrays: Mapping[str, NDArray[Any]]) -> Columns:
        """These arrays as columns, if they have the names, types, widths and one length that they should."""
        size = len(next(iter(arrays.values()), ()))
        shapes = {name: (array.dtype, (size, *array.shape[1:])) for name, array in self._arrays.items()}
        if {name: (array.dtype, array.shape) for name, array in arrays.items()} != shapes:
            raise ValueError("these are other columns")
        return Columns(**arrays)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The column as far as it is filled; writing to it writes to the column."""
        return self._arrays[name][: self._size]

    def extend(self, **rows: NDArray[Any]) -> None:
        added = len(next(iter(rows.values())))
        self.reserve(self._size + added)
        for name, values in rows.items():
            self._arrays[name][self._size : self._size + added] = values
        self._size += added

    def keep(self, which: NDArray[Any]) -> None:
        """Only these rows, in their order."""
        self._arrays = {name: self[name][which] for name in self._arrays}
        self._size = len(next(iter(self._arrays.values())))

    def filled(self) -> dict[str, NDArray[Any]]:
        """All columns as far as they are filled."""
        return {name: self[name] for name in self._arrays}

    def reserve(self, rows: int) -> None:
        """Make room for so many rows, so that growing to them copies nothing more."""
        capacity = len(next(iter(self._arrays.values())))
        if rows <= capacity:
            return
        wanted = max(rows, capacity + capacity // 2, _SMALLEST)
        for name, array in self._arrays.items():
            grown = np.empty((wanted, *array.shape[1:]), array.dtype)
            grown[: self._size] = array[: self._size]
            self._arrays[name] = grown
