"""Which codes are worth comparing: those whose signs are most alike.

A bit a dimension, whether it is above zero. Where there are many codes, how many bits differ is known in a fifth of
the time that the codes would take, and what is truly near is hardly ever missing from the first few thousand.
"""

from __future__ import annotations

from typing import Any

import numkong
import numpy as np
from numpy.typing import NDArray

_BLOCK = 4096
"""So many are packed together; of the last block also what is not full yet, each time some come."""
_ONE_IN = 8
_NEVER = np.uint32(np.iinfo(np.uint16).max)
"""More than can differ."""

Bits = NDArray[np.uint8]


class Signs:
    """The signs of an index's codes."""

    def __init__(self, dimensions: int) -> None:
        self._blocks: list[Any] = []
        """Packed, so that the library goes through all of a block at once."""
        self._last: Bits = np.empty((0, -(-dimensions // 8)), np.uint8)
        """Those of the last block, as long as it has room."""
        self._size = 0

    def follow(self, codes: NDArray[np.int8]) -> None:
        """Take in the codes that have come since the last time; those before are as they were."""
        while self._size < len(codes):
            new = codes[self._size : self._size + _BLOCK - len(self._last)]
            if len(self._last):
                self._blocks.pop()
            self._last = np.concatenate((self._last, _bits(new)))
            self._blocks.append(numkong.hammings_pack(self._last))
            if len(self._last) == _BLOCK:
                self._last = self._last[:0]
            self._size += len(new)

    def nearest(self, query: NDArray[np.int8], among: NDArray[np.bool_], wanted: int) -> NDArray[np.intp]:
        """The places of about so many codes whose signs are most like the query's; all that are as like as the last."""
        bits = _bits(query)
        differing = np.concatenate([np.asarray(numkong.hammings_packed(bits, block))[0] for block in self._blocks])
        differing[~among] = _NEVER
        sample = differing[::_ONE_IN]  # enough to know how unlike the last of so many will be
        enough = np.searchsorted(np.cumsum(np.bincount(sample)), wanted // _ONE_IN)
        return np.flatnonzero(differing <= enough)


def _bits(codes: NDArray[np.int8]) -> Bits:
    return np.packbits(codes > 0, axis=1)
