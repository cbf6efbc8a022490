"""Which candidates answer a query best, and why: one fusion for all texts, neighbours, small boosts, a readable score.

Everything is counted in one unit: the distance, in an embedder's cosines, between unrelated texts and near-duplicates.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import inf
from typing import NamedTuple

from commonplace.domain.errors import Invalid


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the arms of a search found, by row; a row without an entry has no vector, or none of the words.

    `cosines` are those of the best part of each text or of the whole. `wholes` are those of texts as a whole, where
    they are known and differ. `lexical` is BM25.

    `asked` is the sum of the idf of all the query's terms, those that no text has included: a query whose words are
    nowhere to be found is decided by its meaning. `words` is how much of that a row has, however long it is: what is
    ordered by BM25 may still say everything that was asked for.
    """

    cosines: Mapping[int, float]
    wholes: Mapping[int, float]
    lexical: Mapping[int, float]
    asked: float
    words: Mapping[int, float] = field(default_factory=dict)


class Beside(NamedTuple):
    """Which rows stand beside some rows, each of two naming the other, and the cosines of those not known before."""

    neighbours: Mapping[int, Sequence[int]] = {}
    cosines: Mapping[int, float] = {}
    wholes: Mapping[int, float] = {}


Surroundings = Callable[[Sequence[int]], Beside]
"""Looks around these rows; the best come first, and of too many the last may be left out."""


class Standing(NamedTuple):
    """What a memory has whatever is asked."""

    importance: float = 0.5
    age_days: float = 0.0
    uses: int = 0


Standings = Callable[[Sequence[int]], Mapping[int, Standing]]
"""Looks up how these rows stand; rows that are not there are left out."""


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
    faint: float = field(init=False, repr=False)
    """The cosine below which a text has nothing to do with another."""
    related: float = field(init=False, repr=False)
    """The cosine from which on a text is related."""
    anchors: tuple[tuple[float, float], ...] = field(init=False, repr=False)
    """Cosines and the closeness each stands for."""

    def __post_init__(self) -> None:
        if not 0.0 < self.unrelated < self.same < 1.0:
            raise Invalid("scale", "needs 0 < unrelated < same < 1", (self.unrelated, self.same))
        object.__setattr__(self, "span", self.same - self.unrelated)
        object.__setattr__(self, "usual", self.unrelated / 2)
        object.__setattr__(self, "edge", (self.unrelated - self.usual) / self.span)
        object.__setattr__(self, "related", self.unrelated + self.span / 5)
        object.__setattr__(self, "faint", self.unrelated * FAINT / 0.5)
        anchors = ((0.0, 0.0), (self.unrelated, 0.5), (self.related, 0.7), (self.same, 0.9), (1.0, 1.0))
        object.__setattr__(self, "anchors", anchors)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each kind of evidence counts, in units of the scale."""

    whole: float = 0.5
    """The share of the whole text's cosine in a long text's vector score; the best part has the rest."""
    lexical: float = 3.0
    """For a text that has every word of the query once."""
    neighbours: float = 0.6
    """The share of what the best neighbour has beyond the row itself, or beyond an unrelated text if that is more."""
    importance: float = 0.02
    recency: float = 0.015
    use: float = 0.08

    @property
    def boosts(self) -> float:
        """The most that importance, recency and use can add, and a little more for rounding."""
        return self.importance + self.recency + self.use + _ROUNDING


_ROUNDING = 1e-9
DEFAULT = Weights()
ALONE = Weights(neighbours=0.0)
"""Where what stands beside a memory says nothing about it."""
FAINT = 0.2
"""Below this closeness a text has nothing to do with what was asked."""
CLEARLY = 0.15
"""By so much less a memory is clearly not as close as another."""
_NEARLY = 0.05
"""By so much less it is nearly as close."""
_ROOM = 0.2
"""Below what words may not lift them above, those held back keep their order within so much."""
_FEW = 0.5
"""Most texts with some of the words have at most so much of them."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its place: what it is ordered by, how close it is in itself, each reason's part in the score."""

    row: int
    score: float
    closeness: float
    reasons: Mapping[str, float] = field(hash=False)


class Contest:
    """The rows that were found: what they have in themselves, and with what stands beside them."""

    def __init__(
        self,
        evidence: Evidence,
        surroundings: Surroundings,
        standings: Standings,
        *,
        scale: Scale,
        weights: Weights = DEFAULT,
    ) -> None:
        self._surroundings = surroundings
        self._standings = standings
        self._scale = scale
        self._weights = weights
        self._cosines = dict(evidence.cosines)
        self._coverage = _coverage(evidence)
        # By its words, however long a text is.
        self._said = self._coverage | {row: words / evidence.asked for row, words in evidence.words.items()}
        self._lent: dict[int, float] = {}
        self._own = dict.fromkeys(evidence.lexical, 0.0)
        self._own |= self._meant(evidence.cosines, evidence.wholes)
        self._words = {row: weights.lexical * covered for row, covered in self._coverage.items()}
        for row, more in self._words.items():
            self._own[row] += more
        self._hold_words_back()

    def best(self, limit: int | None = None, least: float = 0.0, *, or_said: bool = False) -> list[Ranked]:
        """Best first, equal ones by row.

        Only those with at least that closeness, or also those that have some of the words, however far they are;
        and only the best `limit` of them, where one is given.
        """
        said = self._coverage.keys() if or_said else frozenset[int]()
        ahead, bar = self._ahead(self._own, least, said, limit)
        if not ahead:  # then nothing that stands beside them is looked at either
            return []
        plain = self._with_neighbours(self._leaders(ahead, bar))
        standing = self._standings(sorted(self._ahead(plain, least, said, limit)[0]))
        scores = {row: plain[row] + sum(boosts(one, self._weights)) for row, one in standing.items()}
        best = sorted(scores, key=lambda row: (-scores[row], row))[:limit]
        return [Ranked(row, scores[row], self._close(row), self._reasons(row, standing[row])) for row in best]

    def _meant(self, cosines: Mapping[int, float], wholes: Mapping[int, float]) -> dict[int, float]:
        """What each row has by its meaning.

        0 for what unrelated texts usually have and for a text without a vector: it is neither helped nor hindered.
        """
        span, share = self._scale.span, self._weights.whole
        part, whole, usual = (1 - share) / span, share / span, self._scale.usual / span
        return {row: part * one + whole * wholes.get(row, one) - usual for row, one in cosines.items()}

    def _hold_words_back(self) -> None:
        """Words lift nothing above what is closest by its meaning, unless it is about as close with them itself.

        Those held back keep their order. What has every word is what was asked for, and what has no vector has nothing
        that speaks against it: neither is held back.
        """
        closest = _meaning(max(self._cosines.values(), default=0.0), self._scale)
        near = _cosine(closest - _NEARLY, self._scale) - _ROUNDING
        ceiling = min((self._own[row] for row, cosine in self._cosines.items() if cosine >= near), default=inf)
        lowest = ceiling - self._weights.boosts - _ROOM
        for row in self._misled(lowest, closest - CLEARLY):
            over = self._own[row] - lowest
            back = min(over * over / (over + _ROOM), self._words[row])
            self._words[row] -= back
            self._own[row] -= back

    def _misled(self, lowest: float, least: float) -> Iterable[int]:
        """The rows above that for which only some words speak, while their meaning speaks against them."""
        own, cosines, said = self._own, self._cosines, self._said
        near, everything = _cosine(least, self._scale), 1.0 - _ROUNDING
        high = [
            row for row in self._words if own[row] > lowest and cosines.get(row, inf) < near and said[row] < everything
        ]
        likely = set(self._promising(high, least))
        return [row for row in high if row not in likely or self._close(row) < least]

    def _with_neighbours(self, leaders: Sequence[int]) -> dict[int, float]:
        """What each row has with what is lent to it."""
        if not self._weights.neighbours:
            return self._own
        beside = self._surroundings(leaders)
        for row in chain.from_iterable(beside.neighbours.values()):
            self._own.setdefault(row, 0.0)
        self._own |= self._meant(beside.cosines, beside.wholes)
        self._cosines |= beside.cosines
        lent = _lent(self._own, beside.neighbours, self._scale.edge, self._weights.neighbours)
        ceiling = self._ceiling()
        self._lent = {
            row: min(more, max(ceiling - self._own[row], 0.0)) for row, more in lent.items() if self._may_borrow(row)
        }
        return self._own | {row: self._own[row] + more for row, more in self._lent.items()}

    def _may_borrow(self, row: int) -> bool:
        """Neighbours confirm what a text hints at; they do not make an answer of one that has nothing of it."""
        return row in self._coverage or self._cosines.get(row, inf) >= self._scale.faint

    def _ceiling(self) -> float:
        """Up to where something may be lifted: boosts and all, not to where a text is related by its own meaning."""
        related = self._scale.related
        least = min((self._own[row] for row, cosine in self._cosines.items() if cosine >= related), default=inf)
        return least - self._weights.boosts

    def _ahead(
        self, plain: Mapping[int, float], least: float, said: Set[int], limit: int | None
    ) -> tuple[list[int], float]:
        """The rows that are let through and could be among the best, best first; and what that takes at least.

        Boosts are small, so most need not be looked at.
        """
        ahead: list[int] = []
        bar = -inf
        rows = self._promising(plain, least)
        for row in sorted({*rows, *said} if said else rows, key=plain.__getitem__, reverse=True):
            if plain[row] < bar:
                break
            if least <= 0 or row in said or self._close(row) >= least:
                ahead.append(row)
                if len(ahead) == limit:
                    bar = plain[row] - self._weights.boosts
        return ahead, bar

    def _leaders(self, ahead: Sequence[int], bar: float) -> Sequence[int]:
        """The rows around which there may be something that changes the answer, best first.

        Nothing is lifted above its lender, so a row that lifts another into the answer leads by itself. Where all that
        are close enough are in the answer anyway, only what these are lent counts.
        """
        own = self._own
        if bar == -inf:
            return ahead
        return sorted((row for row in own if own[row] >= bar), key=own.__getitem__, reverse=True)

    def _promising(self, rows: Iterable[int], least: float) -> Iterable[int]:
        """Without those that cannot be so close, which most cannot: it takes longer to work out how close one is."""
        if least <= 0:
            return rows
        cosines, said = self._cosines, self._said
        near = _cosine(_needed(least, _FEW), self._scale) - _ROUNDING
        return [row for row in rows if cosines.get(row, inf) >= near or said.get(row, 0.0) > _FEW]

    def _close(self, row: int) -> float:
        return closeness(self._cosines.get(row), self._said.get(row, 0.0), self._scale)

    def _reasons(self, row: int, standing: Standing) -> dict[str, float]:
        lexical = self._words.get(row, 0.0)
        importance, recency, use = boosts(standing, self._weights)
        return {
            "vector": self._own[row] - lexical,
            "lexical": lexical,
            "neighbours": self._lent.get(row, 0.0),
            "importance": importance,
            "recency": recency,
            "use": use,
        }


def _coverage(evidence: Evidence) -> dict[int, float]:
    """How much of what was asked for each text has. Nothing is more than all of it.

    So a text that says it several times, or in fewer words, does not come before the one that says just that.
    """
    asked, words = evidence.asked, evidence.words
    if asked <= 0:
        return {}
    everything = asked - _ROUNDING
    return {
        row: 1.0 if words.get(row, 0.0) >= everything else min(score / asked, 1.0)
        for row, score in evidence.lexical.items()
    }


def _lent(
    own: Mapping[int, float], neighbours: Mapping[int, Sequence[int]], edge: float, share: float
) -> dict[int, float]:
    """A share of what the best neighbour has more than the row, or than an unrelated text if that is more.

    Much of a talk is said in the turn before. What says the same lends nothing to its like, so that whatever matches
    best in itself stays before those that only stand together.
    """
    best: dict[int, float] = {}
    for row, others in neighbours.items():
        worth = own[row]
        for other in others:
            theirs = own[other]
            borrower, lender = (row, theirs) if theirs > worth else (other, worth)
            # Hardly anything lends: the comparison with the edge spares most of the looking up.
            if lender > edge and lender > best.get(borrower, edge):
                best[borrower] = lender
    return {row: share * (lender - max(own[row], edge)) for row, lender in best.items()}


def boosts(one: Standing, weights: Weights = DEFAULT) -> tuple[float, float, float]:
    """What importance, recency and use add: at most the sum of their weights, so that they bury no better match.

    Half of recency is gone after thirty days, half of use is reached after five times.
    """
    importance = min(max(one.importance, 0.0), 1.0)
    age, uses = max(one.age_days, 0.0), max(one.uses, 0)
    return weights.importance * importance, weights.recency * 30.0 / (30.0 + age), weights.use * uses / (5.0 + uses)


def closeness(cosine: float | None, coverage: float, scale: Scale) -> float:
    """How close a memory is in itself: 0.5 for what texts are by chance at most, 0.9 for near-duplicates.

    How that reads to people is another matter (`domain/likeness.py`).

    Its own cosine and its own words decide, nothing that stands beside it. The words count by the square, so that a
    few shared ones prove little and all of them are enough to be related.
    """
    literal = min(max(coverage, 0.0), 1.0)
    if cosine is None:
        return 0.9 * literal
    return 1.0 - (1.0 - _meaning(cosine, scale)) * _unsaid(literal)


def _needed(closeness: float, literal: float) -> float:
    """What a text that has so much of the words must mean to be as close."""
    return 1.0 - (1.0 - closeness) / _unsaid(literal)


def _unsaid(literal: float) -> float:
    return 1.0 - 0.7 * literal**2


def _meaning(cosine: float, scale: Scale) -> float:
    """A cosine as a closeness: straight lines between the anchors; paraphrases begin at a fifth of the span."""
    for (low, value), (high, next_value) in pairwise(scale.anchors):
        if cosine < high:
            return value + (next_value - value) * max(cosine - low, 0.0) / (high - low)
    return 1.0


def _cosine(meaning: float, scale: Scale) -> float:
    """The other way round: from which cosine on it means so much."""
    if meaning <= 0:
        return -inf
    for (low, value), (high, next_value) in pairwise(scale.anchors):
        if meaning < next_value:
            return low + (high - low) * max(meaning - value, 0.0) / (next_value - value)
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
