"""Ties between memories, changed as part of a larger change and told in events, so that it can be taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.event import Event, EventKind, Happening
from commonplace.domain.filter import Filter
from commonplace.domain.history import Retying
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import LOOSE, Link, LinkKind
from commonplace.domain.memory import Memory
from commonplace.ports import Reading, Transaction

BEFORE, AFTER = "ties", "ties_after"
"""In the detail of an event: the ties of the memory and the others, each with its ends, its kind and its strength."""
TYING = frozenset({EventKind.LINKED, EventKind.UNLINKED})
MOST_TOLD = 200
"""So many ties are told in an event: what is brought may have far more of them than memories."""
_STRETCH = 200

Pair = frozenset[MemoryId]


@dataclass(frozen=True, slots=True)
class Retie:
    """Which ties with another memory are to be taken off, and which put on."""

    other: MemoryId
    off: Sequence[Link] = ()
    on: Sequence[Link] = ()


def loose(tx: Reading, one: MemoryId, other: MemoryId) -> list[Link]:
    """The ties of two memories that can be taken off by hand, whichever way they lead."""
    return [link for link in tx.links.between(one, other) if link.kind in LOOSE]


def retie_in(tx: Transaction, actor: Actor, memory: Memory, reties: Iterable[Retie], now: datetime) -> None:
    """Take ties off and put others on. To put on what is there is told as well: somebody wants it to be there."""
    by_kind: dict[EventKind, list[Retie]] = defaultdict(list)
    for retie in reties:
        by_kind[EventKind.LINKED if retie.on else EventKind.UNLINKED].append(retie)
    for kind, some in by_kind.items():
        for start in range(0, len(some), MOST_TOLD):
            changed = [_changed(tx, memory.id, retie) for retie in some[start : start + MOST_TOLD]]
            before, after = ([link for both in changed for link in both[at]] for at in (0, 1))
            _tell(tx, actor, kind, memory, now, before, after)


def _changed(tx: Transaction, memory: MemoryId, retie: Retie) -> tuple[Sequence[Link], Sequence[Link]]:
    """What was, and what is."""
    before = tx.links.between(memory, retie.other)
    for link in retie.off:
        tx.links.remove(link.source, link.target, link.kind)
    for link in retie.on:
        tx.links.add(link)
    return before, tx.links.between(memory, retie.other)


def keep_in(
    tx: Transaction,
    actor: Actor,
    links: Iterable[Link],
    now: datetime,
    about: Callable[[Link], MemoryId] = lambda link: link.source,
) -> int:
    """Put on those that are not there yet; how many that were. Told by the memories they are about."""
    kept: dict[MemoryId, list[Link]] = defaultdict(list)
    for link in links:
        if tx.links.keep(link):
            kept[about(link)].append(link)
    told = list(kept)
    for start in range(0, len(told), _STRETCH):
        for memory in _here(tx, told[start : start + _STRETCH], now):
            its = kept[memory.id]
            for first in range(0, len(its), MOST_TOLD):
                _tell(tx, actor, EventKind.LINKED, memory, now, (), its[first : first + MOST_TOLD])
    return sum(map(len, kept.values()))


def _here(tx: Reading, ids: Iterable[MemoryId], now: datetime) -> Sequence[Memory]:
    return tx.memories(sorted(tx.copies.twins(ids, now).values()), Filter(tx.collections.numbers(), now))


def _tell(
    tx: Transaction,
    actor: Actor,
    kind: EventKind,
    memory: Memory,
    now: datetime,
    before: Iterable[Link],
    after: Iterable[Link],
) -> None:
    detail = {BEFORE: _written(before), AFTER: _written(after)}
    tx.record(Happening(kind, now, actor.author, memory.id, memory.number, memory.home, detail))


# What was told


def others(event: Event) -> list[MemoryId]:
    """The other ends of the ties that an event tells of."""
    ends = (MemoryId(end) for when in (BEFORE, AFTER) for told in event.detail[when] for end in told[:2])
    return [end for end in dict.fromkeys(ends) if end != event.memory]


def pairs(event: Event) -> Iterable[Pair]:
    return (frozenset({event.memory, other}) for other in others(event))


def retyings(events: Iterable[Event]) -> dict[Pair, Retying]:
    """What a session did to ties, however often, by the two memories."""
    found: dict[Pair, Retying] = {}
    for event in events:
        if event.kind in TYING:
            before, after = _by_pair(event, BEFORE), _by_pair(event, AFTER)
            for two in pairs(event):
                found.setdefault(two, Retying()).told(event.number, before[two], after[two])
    return found


def _written(links: Iterable[Link]) -> list[list[object]]:
    return [[link.source, link.target, link.kind.value, link.strength] for link in links]


def _by_pair(event: Event, when: str) -> defaultdict[Pair, list[Link]]:
    found: defaultdict[Pair, list[Link]] = defaultdict(list)
    for source, target, kind, strength in event.detail[when]:
        found[frozenset({source, target})].append(Link(source, target, LinkKind(kind), strength, event.at))
    return found
