"""A whole tree at a glance: every path once, as deep as there is room."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commonplace.domain.address import Address


class Stem(NamedTuple):
    """As much of a path as an outline needs; there may be a hundred thousand."""

    domain: str
    parent: int | None
    name: str
    memory: int
    priority: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One path in an outline."""

    address: Address
    memory: int
    priority: int
    shown_at: Address | None = None
    """Where the children of this memory stand in the outline, if not here."""
    deeper: int = 0
    """Children that are not shown."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries, domain by domain, each followed by what stands below it."""

    entries: tuple[Entry, ...]
    total: int

    @property
    def left_out(self) -> int:
        return self.total - len(self.entries)


def outline(stems: Sequence[Stem], most: int) -> Outline:
    """At most so many entries: of a larger tree, only the levels that fit."""
    return _Outlining(stems).outline(most)


class _Outlining:
    def __init__(self, stems: Sequence[Stem]) -> None:
        self._below: dict[int | str, list[Stem]] = defaultdict(list)
        for stem in sorted(stems, key=lambda stem: (stem.priority, stem.name)):
            self._below[stem.domain if stem.parent is None else stem.parent].append(stem)
        self._roots = sorted(key for key in self._below if isinstance(key, str))
        self._opened: dict[int, Stem] = {}
        self._levels = list(self._by_level())

    def _by_level(self) -> Iterator[list[Stem]]:
        """Level by level, so that the children of an alias are shown where they are nearest to a root."""
        level = [stem for root in self._roots for stem in self._below[root]]
        while level:
            yield level
            fresh = [stem for stem in level if self._opened.setdefault(stem.memory, stem) is stem]
            level = [child for stem in fresh for child in self._below.get(stem.memory, ())]

    def outline(self, most: int) -> Outline:
        total = sum(map(len, self._levels))
        depth = self._depth(most)
        entries: list[Entry] = []
        where: dict[int, Address] = {}
        again: list[tuple[int, Stem]] = []
        for root in self._roots:
            for stem, address in self._walk(root, depth):
                if len(entries) == most:
                    break
                if self._opened[stem.memory] is stem:
                    where[stem.memory] = address
                elif self._below.get(stem.memory):
                    again.append((len(entries), stem))
                entries.append(self._entry(stem, address, len(address.names) == depth))
        for at, stem in again:
            entry = entries[at]
            entries[at] = Entry(entry.address, entry.memory, entry.priority, where.get(stem.memory))
        return Outline(tuple(entries), total)

    def _depth(self, most: int) -> int:
        """How many levels fit; one in any case."""
        shown, depth = 0, 0
        for level in self._levels:
            shown += len(level)
            if shown > most:
                break
            depth += 1
        return max(depth, 1)

    def _walk(self, domain: str, depth: int) -> Iterator[tuple[Stem, Address]]:
        waiting: list[tuple[Stem, Address]] = _placed(Address(domain), self._below[domain])
        while waiting:
            stem, address = waiting.pop()
            yield stem, address
            if len(address.names) < depth and self._opened[stem.memory] is stem:
                waiting += _placed(address, self._below.get(stem.memory, ()))

    def _entry(self, stem: Stem, address: Address, last: bool) -> Entry:
        hidden = len(self._below.get(stem.memory, ())) if last and self._opened[stem.memory] is stem else 0
        return Entry(address, stem.memory, stem.priority, None, hidden)


def _placed(above: Address, stems: Iterable[Stem]) -> list[tuple[Stem, Address]]:
    """Last first, as a stack wants them."""
    return [(stem, above.child(stem.name)) for stem in stems][::-1]
