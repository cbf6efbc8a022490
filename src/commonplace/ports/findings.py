"""What reads of the store give, beside the domain's own values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from commonplace.domain.memory import Memory
    from commonplace.ports.models import Vectors


UNFINISHED = "the later parts of a long text are still to be embedded"
"""Why a memory waits for vectors although nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Prints:
    """What is derived from a text and written with it."""

    terms: Sequence[str]
    vectors: Vectors | None
    fingerprint: str
    unembedded: str = ""
    """Why the vectors are missing or not whole; empty when they are complete."""
    refused: bool = False
    """Whether that is because the embedder refuses the text, so that it need not be asked again."""


class Embedded(NamedTuple):
    """Whose vectors the store has: the fingerprint of the embedder that was chosen last, None before the first.

    `whole` is False while some memories wait for theirs.
    """

    by: str | None
    whole: bool


@dataclass(frozen=True, slots=True)
class LexicalHits:
    """What full text found, by memory number: BM25, and how much the query asked for.

    `words` is how much of that a memory has, however long it is and however often: the idf of each term it has.
    """

    scores: Mapping[int, float]
    asked: float
    words: Mapping[int, float] = field(default_factory=dict)


class Facts(NamedTuple):
    """What ranking needs to know of a memory, without its text."""

    importance: float
    created: float
    """Seconds since 1970: hundreds of these are made for a search, and dates are slow."""
    uses: int


@dataclass(frozen=True, slots=True)
class Page:
    """A bounded part of a listing, with the size of the whole."""

    memories: tuple[Memory, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """The store in figures."""

    memories: int
    ephemeral: int
    blocks: int
    unembedded: int
    """Memories that wait for their vectors."""
    unembedded_reason: str
    """Why some have none, of those that wait and of those whose text was refused."""
    refused: int
    """Memories whose text the embedder refuses."""
    cached: int
    events: int
    bytes: int


class Cosines(NamedTuple):
    """How like a query memories are by the best of each one's parts, and as a whole where there are several parts."""

    best: Mapping[int, float] = {}
    wholes: Mapping[int, float] = {}


class Scan(Protocol):
    """One comparison of a query vector with all vectors that a filter lets through."""

    def best(self, limit: int) -> Mapping[int, float]:
        """The nearest memories and their exact cosines, by the best of each one's parts."""
        ...

    def of(self, numbers: Iterable[int]) -> Cosines:
        """The cosines of these memories, as far as they have vectors and pass the filter."""
        ...


class NothingScanned:
    """There are no vectors to compare with."""

    def best(self, limit: int) -> Mapping[int, float]:
        return {}

    def of(self, numbers: Iterable[int]) -> Cosines:
        return Cosines()
