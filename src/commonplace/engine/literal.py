"""Finding by the letter: a passage that stands in texts and addresses, nothing in it meaning anything but itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.domain import limits
from commonplace.domain.access import Actor
from commonplace.domain.address import PLACELESS, Address
from commonplace.domain.filter import Filter
from commonplace.domain.memory import Memory
from commonplace.domain.path import Path
from commonplace.domain.unicode import normalised
from commonplace.domain.ways import Ways
from commonplace.engine import trees
from commonplace.engine.access import readable
from commonplace.ports import Clock, Reading, Store

MOST = 5000
"""How many places are looked at; a passage that stands in more is hardly what someone looks for."""
MOST_COMPARED = 200
"""How many texts are read to see how well they match."""
MOST_RESULTS = 100
MOST_ADDRESSES = 20
"""Of one path that are looked at; each alias above it doubles them."""

_NAMED, _BEGUN, _IN_NAME, _WORD, _PART, _ABOVE = range(6)
_LAST = float("inf")


@dataclass(frozen=True, slots=True)
class Match:
    """A memory whose text or address holds the passage."""

    address: Address
    memory: Memory
    path: Path | None


@dataclass(frozen=True, slots=True)
class Matches:
    """The best, and how many there are; `more` when not all were counted."""

    best: tuple[Match, ...]
    total: int
    more: bool


class Literal:
    """Search for a passage, the best match first, then by priority."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def search(self, actor: Actor, query: str, limit: int, domain: str = "") -> Matches:
        """One hit a memory, however many addresses it has."""
        limits.query(query)  # kept with its blanks: they are part of what is sought
        limits.within("limit", limit, 1, MOST_RESULTS)
        passage, now = normalised("NFC", query), self._clock.now()
        return await self._store.read(
            lambda tx: _Search(tx, actor, passage, readable(tx, actor, now)).run(limit, domain)
        )


class _Search:
    """One search within one view of the store."""

    def __init__(self, tx: Reading, actor: Actor, passage: str, among: Filter) -> None:
        self._tx = tx
        self._tree = trees.tree_of(tx, actor, among)
        self._passage = passage
        self._folded = passage.casefold()
        self._among = among

    def run(self, limit: int, domain: str) -> Matches:
        closeness, capped = self._closeness(domain)
        standings = self._tx.paths.standings(self._tree, closeness, self._among)
        ways = Ways(())
        if domain:
            ways = trees.ways_to(self._tx, self._tree, [number for number, _ in standings])
            standings = [one for one in standings if domain in (ways.domains(one[0]) or {PLACELESS})]
        closeness = self._compared(standings, closeness)
        places = {number: place for place, (number, _) in enumerate(standings)}
        ranks = dict(standings)
        best = sorted(places, key=lambda n: (closeness[n], _rank(ranks[n]), places[n]))[:limit]
        return Matches(tuple(self._matches(best, domain, ways)), len(standings), capped)

    def _closeness(self, domain: str) -> tuple[dict[int, int], bool]:
        """How well each memory matches, the smaller the better; and whether there may be more of them."""
        named = self._within(domain, self._holding(self._named()))
        in_text = self._tx.paths.containing(self._passage, self._among, MOST)
        targets = [path.memory for path in named]
        below = self._tx.paths.descendants(self._tree, targets, MOST) if targets else []
        closeness = dict.fromkeys(below, _ABOVE) | dict.fromkeys(in_text, _PART)
        for path in named:
            closeness[path.memory] = min(closeness.get(path.memory, _ABOVE), self._name_closeness(path.name))
        return closeness, MOST in (len(named), len(in_text), len(below))

    def _named(self) -> Sequence[Path]:
        """Paths whose last name may hold the end of the passage."""
        name = self._passage.rstrip("/").rpartition("/")[2].strip()
        return self._tx.paths.named(self._tree, name, MOST) if name else ()

    def _within(self, domain: str, paths: Sequence[Path]) -> Sequence[Path]:
        if not domain:
            return paths
        ways = trees.ways_to(self._tx, self._tree, [path.memory for path in paths])
        return [p for p in paths if domain in (ways.domains(p.place.parent) if p.place.parent else (p.place.domain,))]

    def _holding(self, paths: Sequence[Path]) -> list[Path]:
        """Those whose address holds the passage; without a slash it stands in the name or further up."""
        if "/" not in self._passage:
            return [path for path in paths if self._folded in path.name.casefold()]
        ways = trees.ways_to(self._tx, self._tree, [path.memory for path in paths])
        return [p for p in paths if any(self._folded in f"{a}/".casefold() for a in ways.through(p, MOST_ADDRESSES))]

    def _name_closeness(self, name: str) -> int:
        folded = name.casefold()
        if folded == self._folded:
            return _NAMED
        return _BEGUN if folded.startswith(self._folded) else _IN_NAME

    def _compared(self, standings: Sequence[tuple[int, int | None]], closeness: Mapping[int, int]) -> dict[int, int]:
        """A whole word is a better match than a part of one; for the first, by priority, that is looked up."""
        in_text = [number for number, _ in standings if closeness[number] == _PART][:MOST_COMPARED]
        texts = self._tx.paths.texts(in_text)
        words = {number: _WORD for number, text in texts.items() if _stands_alone(text.casefold(), self._folded)}
        return {**closeness, **words}

    def _matches(self, numbers: Sequence[int], domain: str, ways: Ways) -> list[Match]:
        if not domain:
            ways = trees.ways_to(self._tx, self._tree, list(numbers))
        memories = self._tx.memories(numbers, self._among)
        return [self._match(memory, domain, ways) for memory in memories]

    def _match(self, memory: Memory, domain: str, ways: Ways) -> Match:
        """At the address that shows why it was found, if one does."""
        placed = [(a, p) for p in ways.paths(memory.number) for a in ways.through(p, MOST_ADDRESSES)]
        placed = [(a, p) for a, p in placed if not domain or a.domain == domain]
        telling = [(a, p) for a, p in placed if self._folded in str(a).casefold()]
        address, path = next(iter(telling or placed), (trees.shown(ways, memory), None))
        return Match(address, memory, path)


def _rank(priority: int | None) -> float:
    return _LAST if priority is None else priority


def _stands_alone(text: str, passage: str) -> bool:
    at = text.find(passage)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(passage) : at + len(passage) + 1]
        if not before.isalnum() and not after.isalnum():
            return True
        at = text.find(passage, at + 1)
    return False
