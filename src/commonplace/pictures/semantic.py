"""A map on which what means the same lies close together: principal axes, then neighbours, then a short descent.

The descent is that of UMAP: neighbours pull, everything else pushes. Seeded, so that the same memories always make
the same map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.intp]

AXES, NEIGHBOURS, EPOCHS, STRANGERS = 24, 10, 110, 4
BY_RANK = 0.5
_BLOCK = 1024


def laid_out(vectors: Floats) -> Floats:
    """A place for each row, around the origin, most of them within 1 of it; the longer side lies flat."""
    import numpy as np

    rows = np.nan_to_num(np.asarray(vectors, np.float32), posinf=0.0, neginf=0.0)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    reduced = _principal(rows, min(AXES, *rows.shape))
    if len(rows) < 5 or reduced.shape[1] < 2:
        return _level(_padded(reduced))
    heads, tails, weights = _neighbours(reduced, min(NEIGHBOURS, len(rows) - 1))
    return _level(_descend(_start(reduced), heads, tails, weights))


def _principal(rows: Floats, axes: int) -> Floats:
    """The rows on their principal axes, by subspace iteration: a full decomposition costs seconds."""
    import numpy as np

    centred = rows - rows.mean(axis=0)
    basis = np.random.default_rng(1).standard_normal((centred.shape[1], axes)).astype(np.float32)
    for _ in range(6):
        basis = np.linalg.qr(centred.T @ (centred @ basis))[0]
    left, values, axis = np.linalg.svd(centred @ basis, full_matrices=False)
    # An axis may point either way: its strongest part decides.
    signs = np.sign(axis[np.arange(len(axis)), np.abs(axis).argmax(axis=1)])
    placed: Floats = (left * values * signs).astype(np.float32)
    return placed


def _neighbours(rows: Floats, count: int) -> tuple[Ints, Ints, Floats]:
    """Pairs of neighbours with the weight of their nearness, each pair once."""
    import numpy as np

    total = len(rows)
    squares = (rows * rows).sum(axis=1)
    heads, tails, weights = [], [], []
    for start in range(0, total, _BLOCK):
        block = rows[start : start + _BLOCK]
        far = np.maximum(squares[start : start + _BLOCK, None] + squares[None, :] - 2 * (block @ rows.T), 0.0)
        far[np.arange(len(block)), np.arange(start, start + len(block))] = np.inf
        nearest = np.argpartition(far, count - 1, axis=1)[:, :count]
        distance = np.sqrt(np.take_along_axis(far, nearest, axis=1))
        first = distance.min(axis=1, keepdims=True)
        scale = np.maximum((distance - first).mean(axis=1, keepdims=True), 1e-4)
        heads.append(np.repeat(np.arange(start, start + len(block)), count))
        tails.append(nearest.ravel())
        weights.append(np.exp(-(distance - first) / scale).ravel())
    return _merged(np.concatenate(heads), np.concatenate(tails), np.concatenate(weights), total)


def _merged(heads: Ints, tails: Ints, weights: Floats, total: int) -> tuple[Ints, Ints, Floats]:
    """Either of two may name the other: the pair has what both say, a + b - ab."""
    import numpy as np

    pairs = np.minimum(heads, tails) * total + np.maximum(heads, tails)
    found, where = np.unique(pairs, return_inverse=True)
    missing = np.bincount(where, np.log1p(-np.minimum(weights, 0.999)), len(found))
    return found // total, found % total, (1.0 - np.exp(missing)).astype(np.float32)


def _start(reduced: Floats) -> Floats:
    """The first two axes, ten wide; twins are set apart a little, or nothing could ever part them."""
    import numpy as np

    plane = reduced[:, :2]
    apart = np.random.default_rng(2).standard_normal(plane.shape).astype(np.float32)
    started: Floats = 10 * plane / max(float(np.abs(plane).max()), 1e-6) + 0.02 * apart
    return started


def _descend(places: Floats, heads: Ints, tails: Ints, weights: Floats) -> Floats:
    import numpy as np

    random = np.random.default_rng(3)
    total = len(places)
    ones = np.arange(total)
    both, others = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    pulls = np.concatenate([weights, weights])
    for epoch in range(EPOCHS):
        rate = 1.0 - epoch / EPOCHS
        apart = places[others] - places[both]
        force = 2.0 * pulls / (1.0 + (apart * apart).sum(axis=1))
        moves = _summed(both, apart * force[:, None], total)
        for _ in range(STRANGERS):
            apart = places - places[random.permutation(ones)]
            square = (apart * apart).sum(axis=1, keepdims=True)
            moves += np.clip(2.0 * apart / ((0.01 + square) * (1.0 + square)), -4.0, 4.0)
        places = places + rate * np.clip(0.25 * moves, -4.0, 4.0)
    return places


def _summed(rows: Ints, moves: Any, total: int) -> Floats:
    """Far faster than adding row by row."""
    import numpy as np

    return np.stack([np.bincount(rows, moves[:, axis], total) for axis in (0, 1)], axis=1).astype(np.float32)


def _padded(reduced: Floats) -> Floats:
    import numpy as np

    plane = np.zeros((len(reduced), 2), np.float32)
    plane[:, : min(2, reduced.shape[1])] = reduced[:, :2]
    return plane


def _level(places: Floats) -> Floats:
    """Turned so that the longer side lies flat, and sized by where most are: a few must not shrink the rest."""
    import numpy as np

    if len(places) < 2:
        return places
    turned = _principal(places, 2) if len(places) > 2 else places - places.mean(axis=0)
    low, high = np.percentile(turned, 1.0, axis=0), np.percentile(turned, 99.0, axis=0)
    half = np.maximum((high - low) / 2, 1e-6)
    clipped = np.clip((turned - (high + low) / 2) / half, -1.05, 1.05)
    # In part by rank: a crowd gets the room it needs, and there is less empty sea between the islands.
    ranks = turned.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") * (2 / (len(places) - 1)) - 1
    levelled: Floats = ((1 - BY_RANK) * clipped + BY_RANK * ranks).astype(np.float32)
    return levelled
