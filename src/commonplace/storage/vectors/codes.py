"""Vectors as codes: int8 with one scale a vector, compared by their dot products."""

from __future__ import annotations

import numkong
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def dots(query: NDArray[np.int8], codes: NDArray[np.int8]) -> Floats:
    """Of one code with many."""
    # Whole numbers up to 2048 * 127 * 127: as floats of this size they err by less than the codes do.
    if not len(codes):
        return np.empty(0, np.float32)
    found: Floats = np.asarray(numkong.cdist(query, codes, metric="dot", out_dtype="float32")).ravel()
    return found


def quantised(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Codes and scales: vector ~ code * scale."""
    peaks = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), np.float32(1e-12))
    codes = np.rint(vectors * (127.0 / peaks)[:, None]).astype(np.int8)
    return codes, (peaks / 127.0).astype(np.float32)
