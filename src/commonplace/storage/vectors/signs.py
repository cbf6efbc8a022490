"""Which codes are worth comparing: those whose signs are most alike.

A bit a dimension, whether it is above zero. Where there are many codes, how many bits differ is known in a fifth of
the time that the codes would take, and what is truly near is hardly ever missing from the first few thousand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD = 64
_AT_ONCE = 1024
_SMALLEST = 65_536
_ONE_IN = 8


class Signs:
    """The signs of an index's codes, word by word rather than code by code, so that one word of all is one pass."""

    def __init__(self, dimensions: int) -> None:
        self._words = np.empty((-(-dimensions // _WORD), 0), np.uint64)
        self._size = 0

    def follow(self, codes: NDArray[np.int8]) -> None:
        """Take in the codes that have come since the last time; those before are as they were."""
        if len(codes) > self._words.shape[1]:
            grown = np.empty((len(self._words), max(len(codes) + len(codes) // 8, _SMALLEST)), np.uint64)
            grown[:, : self._size] = self._words[:, : self._size]
            self._words = grown
        for start in range(self._size, len(codes), _AT_ONCE):
            new = codes[start : start + _AT_ONCE]
            self._words[:, start : start + len(new)] = _words(new).T
        self._size = len(codes)

    def nearest(self, query: NDArray[np.int8], among: NDArray[np.bool_], wanted: int) -> NDArray[np.intp]:
        """The places of about so many codes whose signs are most like the query's; all that are as like as the last."""
        differing = np.zeros(self._size, np.uint16)
        unlike = np.empty(self._size, np.uint64)  # used again for every word: fresh memory costs more than counting
        for words, word in zip(self._words[:, : self._size], _words(query)[0], strict=True):
            differing += np.bitwise_count(np.bitwise_xor(words, word, out=unlike))
        differing[~among] = np.iinfo(np.uint16).max
        sample = differing[::_ONE_IN]  # enough to know how unlike the last of so many will be
        enough = np.searchsorted(np.cumsum(np.bincount(sample)), wanted // _ONE_IN)
        return np.flatnonzero(differing <= enough)


def _words(codes: NDArray[np.int8]) -> NDArray[np.uint64]:
    bits = np.packbits(codes > 0, axis=1)
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % (_WORD // 8))))
    return padded.view(np.uint64)
