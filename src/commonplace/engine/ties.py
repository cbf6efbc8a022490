"""Ties between two memories, changed as part of a larger change and told in an event, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.event import Event, EventKind, Happening
from commonplace.domain.history import Retying
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import LOOSE, Link, LinkKind
from commonplace.domain.memory import Memory
from commonplace.ports import Reading, Transaction

OTHER = "other"
"""In the detail of an event: the other end."""
BEFORE, AFTER = "ties", "ties_after"
"""In the same: the ties of the two, each with its ends, its kind and its strength."""
TYING = frozenset({EventKind.LINKED, EventKind.UNLINKED})

Pair = frozenset[MemoryId]


def loose(tx: Reading, one: MemoryId, other: MemoryId) -> list[Link]:
    """The ties of two memories that can be taken off by hand, whichever way they lead."""
    return [link for link in tx.links.between(one, other) if link.kind in LOOSE]


def retie_in(
    tx: Transaction,
    actor: Actor,
    memory: Memory,
    other: MemoryId,
    now: datetime,
    *,
    off: Sequence[Link] = (),
    on: Sequence[Link] = (),
) -> None:
    """Take ties off and put others on. To put on what is there is told as well: somebody wants it to be there."""
    before = loose(tx, memory.id, other)
    for link in off:
        tx.links.remove(link.source, link.target, link.kind)
    for link in on:
        tx.links.add(link)
    after = loose(tx, memory.id, other)
    kind = EventKind.LINKED if on else EventKind.UNLINKED
    detail = {OTHER: other, BEFORE: _written(before), AFTER: _written(after)}
    tx.record(Happening(kind, now, actor.author, memory.id, memory.number, memory.home, detail))


def pair(event: Event) -> Pair:
    return frozenset({event.memory, MemoryId(event.detail[OTHER])})


def retyings(events: Iterable[Event]) -> dict[Pair, Retying]:
    """What a session did to ties, however often, by the two memories."""
    found: dict[Pair, Retying] = {}
    for event in events:
        if event.kind in TYING:
            retying = found.setdefault(pair(event), Retying())
            retying.told(event.number, _read(event, BEFORE), _read(event, AFTER))
    return found


def _written(links: Iterable[Link]) -> list[list[object]]:
    return [[link.source, link.target, link.kind.value, link.strength] for link in links]


def _read(event: Event, when: str) -> list[Link]:
    told = event.detail[when]
    return [Link(source, target, LinkKind(kind), strength, event.at) for source, target, kind, strength in told]
