"""The census in SQLite: what the index knows of all memories, and what is written beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.domain.filter import Filter
from commonplace.ports import Bond, Crowd, Group
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Statements
from commonplace.storage.vectors.columns import code

Numbers = NDArray[np.int64]
_STRENGTH = 10_000


class SqliteCensus(Statements):
    """Long columns, and figures over them."""

    def columns(self, among: Filter) -> Mapping[str, NDArray[Any]]:
        """As the index has them, from the file itself."""
        found = self._all("census_rows", **rows.filter_bindings(among))
        number, collection, created, importance, category = zip(*found, strict=True) if found else ((),) * 5
        return {
            "number": np.array(number, np.int64),
            "collection": np.array(collection, np.int32),
            "created": np.array(created, np.int64),
            "importance": np.array(importance, np.float64),
            "category": np.array([code(name) for name in category], np.int64),
        }

    def crowd(self, columns: Mapping[str, NDArray[Any]]) -> Crowd:
        """The same with the names of their groups, and how often each was used."""
        places, place = np.unique(columns["collection"], return_inverse=True)
        codes, category = np.unique(columns["category"], return_inverse=True)
        pairs, group = np.unique(place.astype(np.int64) * len(codes) + category, return_inverse=True)
        domains: dict[int, str] = dict(self._all("census_domains", collections=rows.numbers_json(places.tolist())))
        names = {code(name): name for (name,) in self._all("census_categories")}
        groups = [
            Group(domains.get(int(places[pair // len(codes)]), ""), names.get(int(codes[pair % len(codes)]), ""))
            for pair in pairs.tolist()
        ]
        numbers = columns["number"]
        return Crowd(numbers, columns["created"], columns["importance"], self._uses(numbers), group, tuple(groups))

    def _uses(self, numbers: Numbers) -> Numbers:
        used, counts = (_numbers(text) for text in self._one("census_uses") or ("", ""))
        known, place = _found(used, numbers)
        uses = np.zeros(len(numbers), np.int64)
        uses[place[known]] = counts[known]
        return uses

    def bonds(self, crowd: Crowd) -> Sequence[Bond]:
        """Of links whose two ends are in the crowd."""
        sources, targets, strengths = (_numbers(text) for text in self._one("census_links") or ("", "", ""))
        (from_known, source), (to_known, target) = _found(sources, crowd.numbers), _found(targets, crowd.numbers)
        both = from_known & to_known
        domains = sorted({group.domain for group in crowd.groups})
        of_group = np.array([domains.index(group.domain) for group in crowd.groups], np.int64)
        home = of_group[crowd.group]
        pairs = home[source[both]] * len(domains) + home[target[both]]
        counts = np.bincount(pairs, minlength=len(domains) ** 2)
        sums = np.bincount(pairs, strengths[both], minlength=len(domains) ** 2) / _STRENGTH
        return [
            Bond(domains[pair // len(domains)], domains[pair % len(domains)], int(counts[pair]), float(sums[pair]))
            for pair in np.flatnonzero(counts).tolist()
        ]

    def tags(self, crowd: Crowd, limit: int) -> Sequence[tuple[str, int]]:
        """The most frequent first."""
        found = self._all("census_tags")
        counts = [(tag, int(_found(_numbers(memories), crowd.numbers)[0].sum())) for tag, memories in found]
        return nsmallest(limit, (one for one in counts if one[1]), key=lambda one: (-one[1], one[0]))


def _numbers(text: str | None) -> Numbers:
    return np.fromstring(text or "", np.int64, sep=",")


def _found(wanted: Numbers, numbers: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which of these there are among sorted numbers, and where; a place is right for those alone."""
    if not len(numbers):
        return np.zeros(len(wanted), np.bool_), np.zeros(len(wanted), np.int64)
    place = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1).astype(np.int64)
    return numbers[place] == wanted, place
