"""All memories that may be seen, as columns: what figures are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Group(NamedTuple):
    """What memories of one place and category have in common."""

    domain: str
    category: str


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Memories by number, a row each: to read a hundred thousand one by one would take seconds."""

    numbers: NDArray[np.int64]
    created: NDArray[np.int64]
    """In microseconds."""
    importance: NDArray[np.float64]
    uses: NDArray[np.int64]
    group: NDArray[np.int64]
    """The place of its group."""
    groups: tuple[Group, ...]


class Bond(NamedTuple):
    """How many links lead from one domain to another, and their strength together."""

    source: str
    target: str
    links: int
    strength: float
