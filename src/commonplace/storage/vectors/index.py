"""The derived index in RAM: what filters and vector search need of every memory, in arrays.

Codes are int8 with one scale a vector; all are compared where there are few, and where there are many those whose
signs are most like the query's. Never a second truth: it is built from the store, follows its events, and whatever it
suggests is read back from the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.storage.vectors.codes import Floats, quantised
from commonplace.storage.vectors.columns import Columns
from commonplace.storage.vectors.conditions import Conditions, Mask, Sieve
from commonplace.storage.vectors.scanned import Compared, Layout, Scanned, compared, located
from commonplace.storage.vectors.signs import Signs

REACH = 2
"""How many neighbours a memory has on each side."""
_SPAN = timedelta(hours=1) // timedelta(microseconds=1)
"""What was written further apart than this has nothing to do with each other."""
_LOOKAROUND = 8
"""How far to look for a neighbour: others may have written in between."""
_BESIDE = np.delete(np.arange(-_LOOKAROUND, _LOOKAROUND + 1), _LOOKAROUND)
_MEMORY, _PART = "memory_", "part_"
"""Before the names of its arrays in a copy."""
_SHORTLIST, _SHARE = 4096, 32
"""So many vectors, or this part of them if that is more, are compared where there are many times as many."""
_MANY = 4
_SPARE = 8
_NOWHERE = -1
_WASTE = 4096


@dataclass(frozen=True, slots=True)
class Entries:
    """Memories as the index knows them, ordered by number."""

    numbers: NDArray[np.int64]
    collections: NDArray[np.int32]
    authors: NDArray[np.int64]
    created: NDArray[np.int64]
    importance: NDArray[np.float64]
    categories: NDArray[np.int64]
    ends: NDArray[np.int64]
    lengths: NDArray[np.int32]
    """In terms of full text."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Vectors of memories: whose, under which number the store keeps them, and what they are."""

    owners: NDArray[np.int64]
    numbers: NDArray[np.int64]
    vectors: Floats


class Index:
    """Not safe for threads by itself: its owner holds a lock around every call.

    The vectors of a memory stand together, from `first` on. Memories that are gone and vectors that were replaced
    stay behind, dead or without a place, until enough of them have gathered.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.position = 0
        self.changes = 0
        """How often it has changed: what was found out about its places holds as long as this stays the same."""
        self._mean_length: float | None = None
        self._sieve = Sieve()
        self._layout: Layout | None = None
        self._signs = Signs(dimensions)
        self._memories = Columns(
            number=np.empty(0, np.int64),
            collection=np.empty(0, np.int32),
            author=np.empty(0, np.int64),
            created=np.empty(0, np.int64),
            importance=np.empty(0, np.float64),
            category=np.empty(0, np.int64),
            ends=np.empty(0, np.int64),
            length=np.empty(0, np.int32),
            alive=np.empty(0, np.bool_),
            first=np.empty(0, np.int32),
            count=np.empty(0, np.int32),
        )
        self._parts = Columns(
            place=np.empty(0, np.int32),
            number=np.empty(0, np.int64),
            scale=np.empty(0, np.float32),
            code=np.empty((0, dimensions), np.int8),
        )

    def __len__(self) -> int:
        return int(np.count_nonzero(self._memories["alive"]))

    # Following the store

    def expect(self, memories: int, parts: int) -> None:
        """Make room at once for so many and some more: growing step by step would need it twice, and hold up a call."""
        self._memories.reserve(memories + memories // _SPARE)
        self._parts.reserve(parts + parts // _SPARE)

    def prepare(self) -> None:
        """Do now what the first call to come would have to wait for."""
        self.expect(len(self._memories), len(self._parts))
        self.lay_out()

    def lay_out(self) -> None:
        """The part of it that every change asks for."""
        self._laid_out()
        self._usual_length()
        if len(self._parts) >= _MANY * _SHORTLIST:
            self._signs.follow(self._parts["code"])

    def put(self, entries: Entries, parts: Parts, gone: NDArray[np.int64]) -> None:
        """Take these memories as they are now, and drop those that are gone."""
        self._change()
        self._put_entries(entries)
        places, known = self._places(gone)
        self._memories["alive"][places[known]] = False
        self._replace_parts(np.union1d(entries.numbers, gone), parts)

    def _change(self) -> None:
        self.changes += 1
        self._mean_length = None
        self._layout = None
        self._sieve.forget()

    def _put_entries(self, entries: Entries) -> None:
        size = len(entries.numbers)
        rows: dict[str, NDArray[Any]] = {
            "number": entries.numbers,
            "collection": entries.collections,
            "author": entries.authors,
            "created": entries.created,
            "importance": entries.importance,
            "category": entries.categories,
            "ends": entries.ends,
            "length": entries.lengths,
            "alive": np.ones(size, np.bool_),
        }
        places, known = self._places(entries.numbers)
        for name, values in rows.items():
            self._memories[name][places[known]] = values[known]
        # Numbers only grow, so what is not known yet belongs at the end, and the column stays sorted.
        new = {name: values[~known] for name, values in rows.items()}
        none = np.zeros(int((~known).sum()), np.int32)
        self._memories.extend(**new, first=none, count=none)

    def _replace_parts(self, numbers: NDArray[np.int64], parts: Parts) -> None:
        places, known = self._places(numbers)
        first, count = self._memories["first"], self._memories["count"]
        for place in places[known][count[places[known]] > 0]:
            self._parts["place"][first[place] : first[place] + count[place]] = _NOWHERE
        count[places[known]] = 0
        codes, scales = quantised(parts.vectors)
        owners, _ = self._places(parts.owners)
        self._parts.extend(place=owners.astype(np.int32), number=parts.numbers, scale=scales, code=codes)
        self._find_parts(len(self._parts) - len(codes))

    def tidy(self) -> None:
        """Compact, if it is worth it."""
        if _wasteful(self._parts["place"] != _NOWHERE) or _wasteful(self._memories["alive"]):
            self.compact()

    @property
    def has_forgotten(self) -> bool:
        """Whether memories that are gone are still in the arrays."""
        return not self._memories["alive"].all()

    def compact(self) -> None:
        """Leave nothing behind of what was replaced or is gone."""
        alive = self._memories["alive"]
        if not self.has_forgotten and (self._parts["place"] != _NOWHERE).all():
            return  # to copy everything would hold up whoever searches
        self._change()
        places = np.append(np.where(alive, np.cumsum(alive) - 1, _NOWHERE), _NOWHERE)[self._parts["place"]]
        self._parts["place"][:] = places
        self._parts.keep(np.flatnonzero(places != _NOWHERE))
        self._memories.keep(np.flatnonzero(alive))
        self._signs = Signs(self.dimensions)
        self._find_parts(0)

    def _find_parts(self, start: int) -> None:
        """Note where the vectors of each memory begin, from this part on."""
        places, firsts, counts = np.unique(self._parts["place"][start:], return_index=True, return_counts=True)
        self._memories["first"][places] = firsts + start
        self._memories["count"][places] = counts

    def _places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        return located(self._memories["number"], numbers)

    # Answering

    def passing(self, conditions: Conditions) -> Mask:
        """Which memories a filter lets through, by place; not to be written to."""
        return self._sieve.passing(self._memories, conditions)

    def newest(self, passed: Mask) -> NDArray[np.int64]:
        """The memories let through, the latest first."""
        places = np.flatnonzero(passed)
        order = np.argsort(self._memories["created"][places], kind="stable")[::-1]
        numbers: NDArray[np.int64] = self._memories["number"][places[order]]
        return numbers

    def columns(self, passed: Mask) -> dict[str, NDArray[Any]]:
        """What is known of the memories let through, by number."""
        names = ("number", "collection", "created", "importance", "category")
        return {name: self._memories[name][passed] for name in names}

    def known(self, numbers: NDArray[np.int64], passed: Mask) -> NDArray[np.bool_]:
        """Which of these memories are among those let through."""
        places, known = self._places(numbers)
        known[known] = passed[places[known]]
        return known

    def lengths(self, numbers: NDArray[np.int64], passed: Mask) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Which of these memories are let through, and how long each is in terms, the usual text being 1."""
        places, known = self._places(numbers)
        known[known] = passed[places[known]]
        lengths = np.ones(len(numbers))
        lengths[known] = self._memories["length"][places[known]] / self._usual_length()
        return known, lengths

    def _usual_length(self) -> float:
        if self._mean_length is None:
            lengths, alive = self._memories["length"], self._memories["alive"]
            lengths = lengths if alive.all() else lengths[alive]
            self._mean_length = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        return self._mean_length

    def scan(self, vector: Floats, passed: Mask) -> Scanned:
        """One vector beside those of all memories let through."""
        layout = self._laid_out()
        beside = compared(self._parts["code"], self._parts["scale"], vector, layout.chosen(passed))
        return Scanned(beside, self._worth_comparing(beside), layout)

    def _laid_out(self) -> Layout:
        if self._layout is None:
            # Copies of what changes in place, so that an answer stays true when the lock is gone.
            self._layout = Layout(
                self._parts["place"].copy(),
                self._parts["number"],
                self._memories["number"],
                self._memories["first"].copy(),
                self._memories["count"].copy(),
            )
        return self._layout

    def _worth_comparing(self, beside: Compared) -> NDArray[np.intp] | None:
        shortlist = max(_SHORTLIST, len(beside.codes) // _SHARE)
        if np.count_nonzero(beside.chosen) < _MANY * shortlist:
            return None
        self._signs.follow(beside.codes)
        near = self._signs.nearest(beside.query, beside.chosen, shortlist)
        return None if len(near) > len(beside.codes) // 2 else near  # so many that are alike are not worth copying

    def neighbours(self, numbers: Iterable[int], passed: Mask) -> dict[int, list[int]]:
        """Those written just before and after by the same author in the same collection."""
        wanted = np.fromiter(numbers, np.int64)
        places, known = self._places(wanted)
        around, near = self._around(places[known], passed)
        # On each side the nearest count first, so the places before are looked at backwards.
        before, after = near[:, _LOOKAROUND - 1 :: -1], near[:, _LOOKAROUND:]
        for side in (before, after):
            side &= side.cumsum(axis=1) <= REACH
        # All rows one after the other, then cut again: to take each by itself would take longer than all the rest.
        beside = self._memories["number"][around[near]].tolist()
        ends = near.sum(axis=1).cumsum().tolist()
        return {
            number: beside[start:end]
            for number, start, end in zip(wanted[known].tolist(), [0, *ends], ends, strict=False)
        }

    def _around(self, places: NDArray[np.intp], passed: Mask) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The places around each of these, a row each, and which of them belong with it."""
        memories, here = self._memories, places[:, None]
        around = here + _BESIDE
        near: NDArray[np.bool_] = (around >= 0) & (around < len(memories))
        around = around.clip(0, max(len(memories) - 1, 0))
        near &= passed[around] & (abs(memories["created"][around] - memories["created"][here]) <= _SPAN)
        for name in ("collection", "author"):
            near &= memories[name][around] == memories[name][here]
        return around, near

    def facts(self, numbers: Iterable[int]) -> list[tuple[int, float, float]]:
        """Number, importance and time of creation in seconds."""
        wanted = np.fromiter(numbers, np.int64)
        places, known = self._places(wanted)
        importance, created = (self._memories[name][places[known]] for name in ("importance", "created"))
        return list(zip(wanted[known].tolist(), importance.tolist(), (created / 1e6).tolist(), strict=True))

    # Keeping a copy on disk

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything as it is now, so that it can be written without holding up others."""
        memories = {_MEMORY + name: array.copy() for name, array in self._memories.filled().items()}
        # Of the vectors only their places change where they stand; to copy the codes would take as much again.
        parts = {_PART + name: array for name, array in self._parts.filled().items()}
        return memories | parts | {"part_place": parts["part_place"].copy()}

    @classmethod
    def from_arrays(cls, dimensions: int, position: int, arrays: Mapping[str, NDArray[Any]]) -> Index:
        """The index that was copied, or ValueError if these are not the arrays of one."""
        index = cls(dimensions)
        index._memories = index._memories.like(_with_prefix(_MEMORY, arrays))
        index._parts = index._parts.like(_with_prefix(_PART, arrays))
        index.position = position
        return index


def _wasteful(used: NDArray[np.bool_]) -> bool:
    return len(used) - int(np.count_nonzero(used)) > max(_WASTE, len(used) // 4)


def _with_prefix(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
