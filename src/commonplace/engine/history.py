"""The verbs on what was: see, compare and restore the states of a memory; see a session's changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.event import Event, Session
from commonplace.domain.filter import Filter
from commonplace.domain.history import Comparison, Done, restoring, state
from commonplace.domain.memory import Memory, Version
from commonplace.engine import trees
from commonplace.engine.access import readable
from commonplace.engine.memories import Memories, Reference
from commonplace.engine.others import MOST_CHANGES
from commonplace.engine.ties import others
from commonplace.ports import Clock, Reading, Store

MOST_SESSIONS = 1000
_GLIMPSE = 80


class History:
    """Every change of a memory is kept; nothing here forgets."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    async def states(self, actor: Actor, reference: Reference) -> list[Version]:
        """What the memory was after each change, oldest first; the last is what it is."""
        past = await self._memories.history(actor, reference)
        now = await self._memories.get(actor, reference)
        # Two looks: a change in between makes the past one longer than the present says, never shorter.
        return [*(version for version in past if version.number < now.version), state(now)]

    async def compare(self, actor: Actor, reference: Reference, old: int, new: int) -> Comparison:
        """Two states side by side."""
        states = await self.states(actor, reference)
        return Comparison(_numbered(states, old), _numbered(states, new))

    async def restore(self, actor: Actor, reference: Reference, number: int) -> Memory:
        """Make the memory what it was, as a new version: what it is now is kept too."""
        states = await self.states(actor, reference)
        wanted, current = _numbered(states, number), states[-1]
        if wanted is current:
            return await self._memories.get(actor, reference)
        return await self._memories.revise(actor, reference, restoring(wanted), expected=current.number)

    async def sessions(self, actor: Actor, limit: int) -> Sequence[Session]:
        """Who changed what lately, the latest first, where the actor may read."""
        require(actor, Permission.READ)
        limits.within("limit", limit, 1, MOST_SESSIONS)
        now = self._clock.now()
        return await self._store.read(lambda tx: tx.sessions(_reach(tx, actor, now), limit))

    async def changes(self, actor: Actor, session: str) -> list[Done]:
        """Everything a session did, in order, where the actor may read."""
        require(actor, Permission.READ)
        limits.text("session", session)
        now = self._clock.now()

        def work(tx: Reading) -> list[Done]:
            events = tx.events_of(session, _reach(tx, actor, now), MOST_CHANGES)
            if not events:
                raise NotFound("session", session)
            among = readable(tx, actor, now)
            shown = _shown(tx, trees.tree_of(tx, actor, among), events, _memories(tx, events, among))
            return _with_others(tx, among, shown)

        return await self._store.read(work)


def _memories(tx: Reading, events: Sequence[Event], among: Filter) -> dict[int, Memory]:
    numbers = sorted({event.memory_number for event in events})
    return {memory.number: memory for memory in tx.memories(numbers, among)}


def _shown(tx: Reading, tree: int, events: Sequence[Event], memories: dict[int, Memory]) -> list[Done]:
    ways = trees.ways_to(tx, tree, list(memories))
    shown = []
    for event in events:
        memory = memories.get(event.memory_number)
        address = ways.first(event.memory_number)
        gone = memory is None and tx.version_of(event.memory_number) is None
        shown.append(Done(event, _glimpse(memory) if memory else "", str(address) if address else "", gone=gone))
    return shown


def _with_others(tx: Reading, among: Filter, shown: Iterable[Done]) -> list[Done]:
    """The same with the other ends of ties, each by itself, as far as these are among what may be seen."""
    apart = [(done, end) for done in shown for end in (others(done.event) if done.is_tie else [None])]
    ids = {end for _, end in apart if end}
    there = {memory.id: memory for memory in (tx.memory(one, among) for one in ids) if memory}

    def whole(done: Done, other: Memory | None) -> Done:
        return replace(done, other=other.id, other_glimpse=_glimpse(other)) if other else done

    return [whole(done, there.get(end) if end else None) for done, end in apart]


def _glimpse(memory: Memory) -> str:
    return " ".join(memory.content[: _GLIMPSE * 2].split())[:_GLIMPSE]


def _reach(tx: Reading, actor: Actor, now: datetime) -> frozenset[int]:
    return reach(actor, Right.READ, tx.holdings(actor.user), now)


def _numbered(states: Sequence[Version], number: int) -> Version:
    for one in states:
        if one.number == number:
            return one
    raise Invalid("version", f"there is no version {number}; there are {states[0].number} to {states[-1].number}")
