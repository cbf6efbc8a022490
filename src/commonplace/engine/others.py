"""What other sessions have done since: where a session is taken back, that stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonplace.domain.event import Event, EventKind
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link
from commonplace.engine.ties import TYING, Pair, pairs
from commonplace.ports import Transaction

MOST_CHANGES = 40_000
"""Of a session, or about a memory. An import tells of each memory once, and once of the ties that begin there."""


class Others:
    """All sessions but one, as they were when its taking back began: what is undone just now does not count."""

    def __init__(self, tx: Transaction, session: str) -> None:
        self._tx = tx
        self._session = session
        self._last = tx.last_event()
        self._about: dict[MemoryId, Sequence[Event]] = {}
        self._last_tied: dict[MemoryId, dict[Pair, int]] = {}

    def since(self, memory: MemoryId, number: int) -> Iterator[Event]:
        """What they have done to a memory since the event of this number."""
        if memory not in self._about:
            about = self._tx.events_about(memory, MOST_CHANGES)
            self._about[memory] = [one for one in about if one.by.session != self._session and one.number <= self._last]
        return (one for one in self._about[memory] if one.number > number)

    def tied(self, two: Pair, since: int) -> bool:
        """Also where there was a tie already: whoever ties what is tied wants it to stay."""
        return any(self._ties(end).get(two, 0) > since for end in two)

    def _ties(self, memory: MemoryId) -> dict[Pair, int]:
        """When they last told of ties of a memory: once for all that may be asked, since there may be very many."""
        if memory not in self._last_tied:
            tying = [one for one in self.since(memory, 0) if one.kind in TYING]
            tying.sort(key=lambda one: one.number)
            self._last_tied[memory] = {two: one.number for one in tying for two in pairs(one)}
        return self._last_tied[memory]

    def hold(self, link: Link, since: int) -> bool:
        """By tying the two, or by storing one with a tie to the other."""
        stored = any(one.kind is EventKind.REMEMBERED for one in self.since(link.source, since))
        return stored or self.tied(frozenset({link.source, link.target}), since)
