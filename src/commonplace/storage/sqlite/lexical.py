"""Full text: which of a query's terms to look up, so that very frequent ones do not make it slow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from commonplace.language.terms import Term

BUDGET = 4000
"""How many matches a query may rank: FTS5 takes about a microsecond for each."""
_MOST_TERMS = 64
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
    return Plan(
        ranked=" OR ".join([one.expression for one in rare] + _joint(frequent, total)),
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
