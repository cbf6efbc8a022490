"""The clock and the models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from commonplace.domain.ranking import Scale

    Vectors = NDArray[np.float32]


class Clock(Protocol):
    """Says what time it is, in UTC."""

    def now(self) -> datetime: ...


class Embedder(Protocol):
    """Turns texts into vectors of unit length. Called from one thread at a time, though not always the same."""

    @property
    def name(self) -> str:
        """What status answers call it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Equal exactly when vectors may be compared."""
        ...

    @property
    def scale(self) -> Scale | None:
        """How its cosines read; None to have it measured."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, or EmbeddingFailed."""
        ...


class Summariser(Protocol):
    """Makes a long text short."""

    @property
    def name(self) -> str: ...

    def summarise(self, text: str, most_chars: int) -> str: ...
