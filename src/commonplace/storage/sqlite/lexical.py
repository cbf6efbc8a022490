"""Full text: which of a query's terms to look up, so that very frequent ones do not make it slow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from commonplace.language.terms import Term

BUDGET = 2500
"""How many matches a query may rank: FTS5 takes about a microsecond for each."""
_MOST_TERMS = 64
_ENOUGH = 2
_FREQUENT = 1000
_MOST_COUNTS = 10_000
_LEAST_IDF = 1e-6


@dataclass(frozen=True, slots=True)
class Plan:
    """An FTS5 expression to rank, another for where that finds nothing, and what the query asked for in all.

    `common` holds terms so frequent that ranking them would be slow and tell little: the newest are as good.
    """

    ranked: str
    common: str
    common_score: float
    asked: float


@dataclass(frozen=True, slots=True)
class Counted:
    """A term and in how many memories it stands."""

    term: Term
    documents: int

    @property
    def expression(self) -> str:
        # Quoted, so that whatever a query holds is a literal; terms have no quotes, this is the second lock.
        quoted = '"' + self.term.text.replace('"', '""') + '"'
        return f"{quoted}*" if self.term.prefix else quoted


class Counts:
    """In how many memories frequent terms stand, remembered while the store has hardly grown: counting takes long."""

    def __init__(self) -> None:
        self._known: dict[Term, tuple[int, int]] = {}

    def of(self, term: Term, total: int, count: Callable[[Term], int]) -> int:
        documents, at = self._known.get(term, (0, -total))
        if documents and abs(total - at) <= total // 100:
            return documents
        documents = count(term)
        if documents >= _FREQUENT:  # of rare ones the next memory may be the first, and must be found
            if len(self._known) >= _MOST_COUNTS:
                self._known.clear()
            self._known[term] = (documents, total)
        return documents


def idf(documents: int, total: int) -> float:
    """As FTS5 computes it, so that its scores can be compared with what was asked for."""
    return max(math.log((total - documents + 0.5) / (documents + 0.5)), _LEAST_IDF)


def plan(terms: Sequence[Term], total: int, documents_with: Callable[[Term], int]) -> Plan | None:
    """None when no term of the query stands in any memory."""
    # The terms that begin alike are counted one by one, so a memory with several of them counts several times.
    counted = [Counted(term, min(documents_with(term), total)) for term in terms[:_MOST_TERMS]]
    asked = sum(idf(one.documents, total) for one in counted)
    present = sorted((one for one in counted if one.documents), key=lambda one: (one.documents, one.term.text))
    if not present:
        return None
    rare, frequent = _within_budget(present)
    # FTS5 goes through all of a term's memories to weigh it: beside telling terms, frequent ones are not worth that.
    joint = _joint(frequent, total) if len(rare) < _ENOUGH else []
    return Plan(
        ranked=" OR ".join([one.expression for one in rare] + joint),
        common=" AND ".join(one.expression for one in frequent),
        common_score=sum(idf(one.documents, total) for one in frequent),
        asked=asked,
    )


def _within_budget(present: Sequence[Counted]) -> tuple[list[Counted], list[Counted]]:
    spent = 0
    for place, one in enumerate(present):
        spent += one.documents
        if spent > BUDGET:
            return list(present[:place]), list(present[place:])
    return list(present), []


def _joint(frequent: Sequence[Counted], total: int) -> list[str]:
    """Frequent terms count where two of them meet, as far as few memories can be expected to hold both."""
    spent = 0.0
    chosen = []
    pairs = combinations(frequent[:8], 2)
    for expected, a, b in sorted(((a.documents * b.documents / total, a, b) for a, b in pairs), key=lambda p: p[0]):
        spent += expected
        if spent > BUDGET:
            break
        chosen.append(f"({a.expression} AND {b.expression})")
    return chosen
