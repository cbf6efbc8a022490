"""Full text: BM25 from the places where a query's terms stand, the rarest first, so that frequent ones do not slow it.

FTS5 keeps the places. Its own bm25() looks every term up three times, and the length of every match in the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from commonplace.language.terms import Term
from commonplace.ports import LexicalHits
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.rows import as_json
from commonplace.storage.vectors.columns import code
from commonplace.storage.vectors.index import Index

BUDGET = 2500
"""In how many memories the ranked terms of a query may stand together: each costs about half a microsecond."""
_MOST_TERMS = 64
_ENOUGH = 2
FREQUENT = 256
"""A term in more memories than this is frequent: how many they are is then known before its places are looked up."""
_MOST_PLACES = 4 * BUDGET
_MOST_PAIRED = 8
_MOST_LEARNT = 10_000
_LEAST_IDF = 1e-6
_FEWEST = 100
"""A smaller store does not show how rare a word is: there, one that no memory has would outweigh all others."""
# The constants of BM25 as everyone uses them, and FTS5 too.
_SATURATION, _LENGTH = 1.2, 0.75
# Times the usual text. Beyond it BM25 would count a word in a long text for nothing, be it the only one that has it.
_LONGEST = 3.0
# The place of a term in the query is put above the number of a memory: so one sort counts the terms of each memory.
_SHIFT = 56

Numbers = NDArray[np.int64]
_NOWHERE: Numbers = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Counted:
    """A term, in how many memories it stands, and a memory's number for each place; None if these are too many."""

    term: Term
    documents: int
    places: Numbers | None = None

    @property
    def expression(self) -> str:
        # Quoted, so that whatever a query holds is a literal; terms have no quotes, this is the second lock.
        quoted = '"' + self.term.text.replace('"', '""') + '"'
        return f"{quoted}*" if self.term.prefix else quoted


@dataclass(frozen=True, slots=True)
class Matches:
    """Which memories have which terms how often, a row for each pair, and what the query asked for in all.

    `common` is for where that finds nothing: terms so frequent that ranking them would be slow and tell little, so
    that the newest memories with them are as good.
    """

    numbers: Numbers
    counts: Numbers
    idf: NDArray[np.float64]
    asked: float
    common: str
    common_score: float

    def best(self, index: Index, passed: NDArray[np.bool_], limit: int) -> LexicalHits:
        """The highest BM25 among the memories let through."""
        order = np.argsort(self.numbers, kind="stable")
        numbers, counts, idf = self.numbers[order], self.counts[order], self.idf[order]
        starts = np.flatnonzero(_firsts(numbers))
        distinct = numbers[starts]
        known, lengths = index.lengths(distinct, passed)
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * np.minimum(lengths, _LONGEST))
        weights = idf * counts * (1 + _SATURATION) / (counts + norm.repeat(np.diff(starts, append=len(numbers))))
        scores = np.add.reduceat(weights, starts)[known]
        best = np.argsort(-scores, kind="stable")[:limit]
        rows = distinct[known][best].tolist()
        words = np.add.reduceat(idf, starts)[known][best]
        return LexicalHits(
            dict(zip(rows, scores[best].tolist(), strict=True)),
            self.asked,
            dict(zip(rows, words.tolist(), strict=True)),
        )


class Counts:
    """In how many memories frequent terms stand, remembered while the store has hardly grown: counting takes long."""

    def __init__(self) -> None:
        self._words: dict[int, int] = {}
        """By the words' codes: they go to disk with the index, where what was deleted must not be read again."""
        self._counted_at = 0
        self._learnt: dict[Term, tuple[int, int]] = {}

    def known(self, term: Term, total: int) -> int:
        """0 where it is not known, or not any more. Some may have gone since: never more than there are now."""
        if not term.prefix and _about(total, self._counted_at) and (counted := self._words.get(code(term.text))):
            return min(counted, total)
        documents, at = self._learnt.get(term, (0, 0))
        return min(documents, total) if _about(total, at) else 0

    def outdated(self, total: int) -> bool:
        """Whether it is time to count all words again."""
        return not _about(total, self._counted_at)

    def take(self, words: Mapping[str, int], total: int) -> None:
        """All frequent words, as they were counted."""
        self._words = {code(word): documents for word, documents in words.items()}
        self._counted_at, self._learnt = total, {}

    def arrays(self) -> dict[str, Numbers]:
        """All frequent words, to be kept beside the index."""
        codes, documents = np.fromiter(self._words, np.int64), np.fromiter(self._words.values(), np.int64)
        return {"word_code": codes, "word_documents": documents, "word_total": np.asarray([self._counted_at])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Numbers]) -> Counts:
        """What was kept, or KeyError or ValueError if these are not the arrays of it."""
        counts = cls()
        codes, documents = arrays["word_code"].tolist(), arrays["word_documents"].tolist()
        counts._words = dict(zip(codes, documents, strict=True))
        counts._counted_at = int(arrays["word_total"][0])
        return counts

    def learn(self, term: Term, documents: int, total: int) -> None:
        if documents <= FREQUENT:  # of rare ones the next memory may be the first, and must be found
            return
        if len(self._learnt) >= _MOST_LEARNT:
            self._learnt.clear()
        self._learnt[term] = (documents, total)


def _about(total: int, before: int) -> bool:
    return abs(total - before) <= total // 20


class Lexical:
    """Looks terms up in one view of the file."""

    def __init__(self, connection: apsw.Connection, counts: Counts, total: int) -> None:
        self._connection = connection
        self._counts = counts
        self._total = total

    def matches(self, terms: Sequence[Term]) -> Matches | None:
        """None when no term of the query stands in any memory."""
        counted = self._counted(terms[:_MOST_TERMS])
        present = sorted((one for one in counted if one.documents), key=lambda one: (one.documents, one.term.text))
        if not present:
            return None
        rare, frequent = _within_budget(present)
        keys, counts = _counted_alike(_keyed(self._places(rare)))
        # Beside telling terms, to go through all the memories of a frequent one is not worth it.
        if len(rare) < _ENOUGH:
            more = self._together(frequent, len(rare))
            keys, counts = np.concatenate((keys, more)), np.concatenate((counts, np.ones(len(more), np.int64)))
        return Matches(
            numbers=keys & ((1 << _SHIFT) - 1),
            counts=counts,
            idf=np.asarray([self._idf(one) for one in present])[keys >> _SHIFT],
            asked=sum(self._idf(one) for one in counted),
            common=" AND ".join(one.expression for one in frequent),
            common_score=sum(self._idf(one) for one in frequent),
        )

    def newest(self, expression: str, limit: int) -> Numbers:
        """The newest memories that an expression finds, as many as are wanted."""
        return _numbers(self._single("match_newest", query=expression, limit=limit))

    def _counted(self, terms: Sequence[Term]) -> list[Counted]:
        # Which terms are rare shows only when they are looked up, and no frequent one may take long to show itself.
        known = {term: self._counts.known(term, self._total) for term in terms}
        looked_up = self._looked_up([term for term in terms if not known[term]], FREQUENT + 1)
        return [Counted(term, known[term]) if known[term] else self._weighed(term, looked_up[term]) for term in terms]

    def _weighed(self, term: Term, places: Numbers) -> Counted:
        if len(places) <= FREQUENT:
            return Counted(term, int(np.count_nonzero(_firsts(places))), places)
        # Terms that begin alike are counted one by one, so a memory with several of them counts several times.
        documents = min(self._count(term), self._total)
        self._counts.learn(term, documents, self._total)
        return Counted(term, documents)

    def _places(self, ranked: Sequence[Counted]) -> list[Numbers]:
        looked_up = self._looked_up([one.term for one in ranked if one.places is None], _MOST_PLACES)
        return [self._bounded(one, looked_up[one.term]) if one.places is None else one.places for one in ranked]

    def _bounded(self, one: Counted, places: Numbers) -> Numbers:
        """A memory that repeats a word without end must not hide the others: then each counts once."""
        return places if len(places) < _MOST_PLACES else self._matching(one.expression)

    def _together(self, frequent: Sequence[Counted], first: int) -> Numbers:
        """Frequent terms count where two of them meet, as far as few memories can be expected to hold both."""
        spent, found = 0.0, [_NOWHERE]
        pairs = combinations(enumerate(frequent[:_MOST_PAIRED], first), 2)
        expected = ((a.documents * b.documents / self._total, (m, a), (n, b)) for (m, a), (n, b) in pairs)
        for meeting, (m, a), (n, b) in sorted(expected, key=lambda pair: pair[0]):
            spent += meeting
            if spent > BUDGET:
                break
            numbers = self._matching(f"{a.expression} AND {b.expression}")
            found += [numbers + (m << _SHIFT), numbers + (n << _SHIFT)]
        together = np.sort(np.concatenate(found), kind="stable")
        return together[_firsts(together)]

    def _idf(self, one: Counted) -> float:
        return idf(one.documents, max(self._total, _FEWEST))

    # What the file is asked

    def _looked_up(self, terms: Sequence[Term], most: int) -> dict[Term, Numbers]:
        """The memory of each place where these terms stand, as many of each as are wanted."""
        words = [term for term in terms if not term.prefix]
        found: dict[Term, Numbers] = {}
        if words:  # in one statement, because each has to find its way into the index of words first
            bindings = {"terms": as_json([term.text for term in words]), "limit": most}
            listed = self._connection.execute(queries()["word_places"], bindings)
            found = {term: _numbers(row[0]) for term, row in zip(words, listed, strict=True)}
        for term in terms:
            if term.prefix:
                listed_alike = self._single("prefix_places", term=term.text, after=_after(term), limit=most)
                found[term] = np.sort(_numbers(listed_alike))
        return found

    def _matching(self, expression: str) -> Numbers:
        return _numbers(self._single("match", query=expression))

    def _count(self, term: Term) -> int:
        if term.prefix:
            return int(self._single("prefix_count", term=term.text, after=_after(term)) or 0)
        return int(self._single("word_count", term=term.text) or 0)

    def _single(self, name: str, /, **bindings: Any) -> Any:
        return self._connection.execute(queries()[name], bindings).get


def idf(documents: int, total: int) -> float:
    """How much a term tells: the rarer, the more."""
    documents = min(documents, total)  # the index may have seen deletions that this view of the file has not
    return max(math.log((total - documents + 0.5) / (documents + 0.5)), _LEAST_IDF)


def _within_budget(present: Sequence[Counted]) -> tuple[list[Counted], list[Counted]]:
    spent = 0
    for place, one in enumerate(present):
        spent += one.documents
        if spent > BUDGET:
            return list(present[:place]), list(present[place:])
    return list(present), []


def _keyed(places: Sequence[Numbers]) -> Numbers:
    """Each number with the place of its list above it."""
    return np.concatenate([_NOWHERE, *(numbers + (place << _SHIFT) for place, numbers in enumerate(places))])


def _numbers(listed: str | None) -> Numbers:
    """From one text: thousands of rows would take longer to hand over than to find."""
    return np.fromstring(listed, np.int64, sep=",") if listed else _NOWHERE


def _counted_alike(ordered: Numbers) -> tuple[Numbers, Numbers]:
    """Each once, and how often it was there."""
    starts = np.flatnonzero(_firsts(ordered))
    return ordered[starts], np.diff(starts, append=len(ordered))


def _firsts(ordered: Numbers) -> NDArray[np.bool_]:
    """Which of these is the first of its like.

    Lists in order, one behind the other, are sorted in one sweep by a stable sort; np.unique takes five times as long.
    """
    firsts = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=firsts[1:])
    return firsts


def _after(term: Term) -> str:
    return term.text + "\U0010ffff"
