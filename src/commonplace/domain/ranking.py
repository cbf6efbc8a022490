"""Which candidates answer a query best, and why: one fusion for all texts, neighbours, small boosts, a readable score.

Everything is counted in one unit: the distance, in an embedder's cosines, between unrelated texts and near-duplicates.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from commonplace.domain.errors import Invalid


class Candidate(NamedTuple):
    """A memory that an arm of the search found, or one that stands beside such a memory.

    A named tuple: hundreds are made for a search, and these are made in a third of the time.

    `cosine` is that of the best part of the text or of the whole, None where there is no vector. `whole` is that of the
    text as a whole, where it is known and differs. `lexical` is BM25, 0 where no term matches.
    """

    row: int
    cosine: float | None
    lexical: float
    importance: float = 0.5
    age_days: float = 0.0
    uses: int = 0
    whole: float | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """What an embedder's cosines mean: the 99th percentile of unrelated texts, the median of near-duplicates."""

    unrelated: float
    same: float
    span: float = field(init=False, repr=False)
    """The unit of every score."""
    usual: float = field(init=False, repr=False)
    """What two unrelated texts usually have: the zero of the vector score."""
    edge: float = field(init=False, repr=False)
    """The vector score up to which a text counts as unrelated."""
    anchors: tuple[tuple[float, float], ...] = field(init=False, repr=False)
    """Cosines and the similarity each stands for."""

    def __post_init__(self) -> None:
        if not 0.0 < self.unrelated < self.same < 1.0:
            raise Invalid("scale", "needs 0 < unrelated < same < 1", (self.unrelated, self.same))
        object.__setattr__(self, "span", self.same - self.unrelated)
        object.__setattr__(self, "usual", self.unrelated / 2)
        object.__setattr__(self, "edge", (self.unrelated - self.usual) / self.span)
        related = self.unrelated + self.span / 5
        anchors = ((0.0, 0.0), (self.unrelated, 0.5), (related, 0.7), (self.same, 0.9), (1.0, 1.0))
        object.__setattr__(self, "anchors", anchors)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts, in units of the scale."""

    whole: float = 0.5
    """The share of the whole text's cosine in a long text's vector score; the best part has the rest."""
    lexical: float = 3.0
    """For a text that has every word of the query once."""
    neighbours: float = 0.5
    """The share of what the best neighbour has beyond an unrelated text."""
    importance: float = 0.02
    recency: float = 0.015
    use: float = 0.015


DEFAULT = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place: what it is ordered by, how close it is in itself, each reason's part in the score."""

    row: int
    score: float
    similarity: float
    reasons: Mapping[str, float] = field(hash=False)


def rank(
    candidates: Iterable[Candidate],
    *,
    asked: float,
    neighbours: Mapping[int, Sequence[int]],
    scale: Scale,
    weights: Weights = DEFAULT,
    limit: int | None = None,
) -> list[Ranked]:
    """The candidates, best first, equal ones by row; only the best `limit` of them if given.

    `asked` is the sum of the idf of all the query's terms, those that no text has included: a query whose words are
    nowhere to be found is decided by its meaning.
    """
    found = {candidate.row: candidate for candidate in candidates}
    word = weights.lexical / asked if asked > 0 else 0.0
    vector = _vector(found.values(), scale, weights.whole)
    own = {row: vector[row] + word * one.lexical for row, one in found.items()}
    lent = _lent(own, neighbours, scale.edge, weights.neighbours)
    scores = {row: own[row] + lent[row] + sum(boosts(one, weights)) for row, one in found.items()}
    best = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
    return [
        Ranked(
            row,
            scores[row],
            similarity(found[row].cosine, found[row].lexical / asked if asked > 0 else 0.0, scale),
            _reasons(found[row], vector[row], word, lent[row], weights),
        )
        for row in best
    ]


def _vector(found: Iterable[Candidate], scale: Scale, share: float) -> dict[int, float]:
    """0 for what unrelated texts usually have and for a text without a vector: it is neither helped nor hindered."""
    usual, span = scale.usual, scale.span
    vector = {}
    for one in found:
        cosine = one.cosine
        if cosine is not None and one.whole is not None:
            cosine += share * (one.whole - cosine)
        vector[one.row] = 0.0 if cosine is None else (cosine - usual) / span
    return vector


def _lent(
    own: Mapping[int, float], neighbours: Mapping[int, Sequence[int]], edge: float, share: float
) -> dict[int, float]:
    """A share of what the best neighbour has beyond an unrelated text: much of a talk is said in the turn before.

    It is enough that one of two neighbours names the other.
    """
    best = dict.fromkeys(own, edge)
    for row, others in neighbours.items():
        worth = own.get(row)
        if worth is None:
            continue
        for other in others:
            theirs = own.get(other)
            if theirs is None or other == row:
                continue
            if theirs > best[row]:
                best[row] = theirs
            if worth > best[other]:
                best[other] = worth
    return {row: share * (worth - edge) for row, worth in best.items()}


def boosts(one: Candidate, weights: Weights = DEFAULT) -> tuple[float, float, float]:
    """What importance, recency and use add: at most the sum of their weights, so that they bury no better match.

    Half of recency is gone after thirty days, half of use is reached after five times.
    """
    importance = min(max(one.importance, 0.0), 1.0)
    age, uses = max(one.age_days, 0.0), max(one.uses, 0)
    return weights.importance * importance, weights.recency * 30.0 / (30.0 + age), weights.use * uses / (5.0 + uses)


def _reasons(one: Candidate, vector: float, word: float, lent: float, weights: Weights) -> dict[str, float]:
    importance, recency, use = boosts(one, weights)
    return {
        "vector": vector,
        "lexical": word * one.lexical,
        "neighbours": lent,
        "importance": importance,
        "recency": recency,
        "use": use,
    }


def similarity(cosine: float | None, coverage: float, scale: Scale) -> float:
    """How close a memory is in itself: from 0.9 very close, from 0.7 related, from 0.5 somewhat, below that hardly.

    Its own cosine and its own words decide, nothing that stands beside it. The words count by the square, so that a
    few shared ones prove little and all of them are enough to be related.
    """
    literal = min(max(coverage, 0.0), 1.0)
    if cosine is None:
        return 0.9 * literal
    return 1.0 - (1.0 - _meaning(cosine, scale)) * (1.0 - 0.7 * literal**2)


def _meaning(cosine: float, scale: Scale) -> float:
    """A cosine as a similarity: straight lines between the anchors; paraphrases begin at a fifth of the span."""
    for (low, value), (high, next_value) in pairwise(scale.anchors):
        if cosine < high:
            return value + (next_value - value) * max(cosine - low, 0.0) / (high - low)
    return 1.0


def folded(
    ranked: Iterable[Ranked], alike: Callable[[int, int], float], threshold: float, *, limit: int | None = None
) -> list[Ranked]:
    """The list without those that say the same as a better one; done when `limit` are found."""
    kept: list[Ranked] = []
    for one in ranked:
        if limit is not None and len(kept) >= limit:
            break
        if all(alike(one.row, better.row) < threshold for better in kept):
            kept.append(one)
    return kept
