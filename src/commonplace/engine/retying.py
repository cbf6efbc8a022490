"""The ties a session put on or took off, taken back: those of two memories are as they were before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.domain.access import Actor
from commonplace.domain.event import Event, EventKind
from commonplace.domain.filter import Filter
from commonplace.domain.history import Remedy, Retying, Undoing, done, glimpse, left
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import LOOSE
from commonplace.domain.memory import Memory
from commonplace.engine.others import Others
from commonplace.engine.ties import Retie, others, retie_in, retyings
from commonplace.ports import Transaction


class Ties:
    """Those of one session, inside one transaction."""

    def __init__(
        self, tx: Transaction, actor: Actor, events: Sequence[Event], elsewhere: Others, readable: Filter
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._elsewhere = elsewhere
        self._readable = readable
        self._made = {event.memory for event in events if event.kind is EventKind.REMEMBERED}
        self._retyings = retyings(events)

    def undone(self, event: Event, memory: Memory) -> Iterator[Undoing]:
        """However often the session has tied and untied the two."""
        due = dict(self._due(event, memory))
        seen = self._seen(due)
        reties = []
        for end, (retie, began) in due.items():
            step = self._step(memory, retie, began, seen.get(end))
            if step.remedy is not Remedy.LEFT:
                reties.append(retie)
            yield replace(step, other=glimpse(seen[end].content) if end in seen else "")
        retie_in(self._tx, self._actor, memory, reties, self._readable.now)

    def _due(self, event: Event, memory: Memory) -> Iterator[tuple[MemoryId, tuple[Retie, int]]]:
        """By the other end, what is not as it was; and since which event."""
        for end in others(event):
            retying = self._retyings.pop(frozenset({memory.id, end}), None)
            retie = self._retie(memory, end, retying) if retying else None
            if retying and retie:
                yield end, (retie, retying.began)

    def _retie(self, memory: Memory, end: MemoryId, retying: Retying) -> Retie | None:
        """What a memory says of itself, such as what it comes from, stays with it where the session brought both."""
        off, on = retying.amends(self._tx.links.between(memory.id, end))
        off = [link for link in off if link.kind in LOOSE or link.source not in self._made]
        return Retie(end, off, on) if off or on else None

    def _seen(self, ids: Iterable[MemoryId]) -> Mapping[MemoryId, Memory]:
        numbers = self._tx.copies.twins(ids, self._readable.now).values()
        return {memory.id: memory for memory in self._tx.memories(sorted(numbers), self._readable)}

    def _step(self, memory: Memory, retie: Retie, began: int, other: Memory | None) -> Undoing:
        if self._elsewhere.tied(frozenset({memory.id, retie.other}), began):
            return left(memory, "it was tied or untied later by someone else")
        if retie.on and other is None:
            return left(memory, "what it was tied to is gone, or not yours to see")
        return done(Remedy.TIED if retie.on else Remedy.UNTIED, memory)
