"""Bringing in what other programs have kept: texts with their older versions, then the addresses they had."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.address import MAX_NAME_CHARS, Address
from commonplace.domain.arrival import Arrival, ArrivalReport, ArrivingPath, ArrivingText
from commonplace.domain.errors import AlreadyExists, CommonplaceError, NotFound
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.path import MAX_DISCLOSURE_CHARS, MOST_PRIORITY, Path, Place
from commonplace.engine import trees
from commonplace.engine.access import changeable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked
from commonplace.engine.paths import Paths
from commonplace.ports import Clock, Prints, Store, Transaction

_AT_ONCE = 32
"""Written together: each memory is a change of its own, but the disk is asked once for several."""
_UNFIT = re.compile(r"[^\w-]+")
_EMPTY_PLACE = "(This address had memories below it but none of its own.)"


class Arrivals:
    """Each memory is brought whole or not at all; what was brought before is recognised."""

    def __init__(self, store: Store, memories: Memories, paths: Paths, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._paths = paths
        self._embedding = embedding
        self._clock = clock

    async def bring(self, actor: Actor, source: str, arrivals: Sequence[Arrival]) -> ArrivalReport:
        """Bring them all; a second time brings only what is new."""
        require(actor, Permission.WRITE)
        report = ArrivalReport()
        brought: list[tuple[Arrival, MemoryId]] = []
        for start in range(0, len(arrivals), _AT_ONCE):
            some = arrivals[start : start + _AT_ONCE]
            found = await asyncio.gather(*(self._bring(actor, source, arrival, report) for arrival in some))
            brought += [(arrival, memory) for arrival, memory in zip(some, found, strict=True) if memory]
        await self._place(actor, brought, report)
        return report

    # Texts

    async def _bring(self, actor: Actor, source: str, arrival: Arrival, report: ArrivalReport) -> MemoryId | None:
        states = [state for state in arrival.states if _is_fit(state, report)]
        if not states:
            return None
        known = await self._store.read(lambda tx: tx.origin(source, arrival.origin))
        if known:
            report.known += 1
            return await self._caught_up(actor, known, states, report)
        prints = [await self._embedding.prints(state.content) for state in states]
        memory = await self._store.write(lambda tx: self._remembered(tx, actor, source, arrival, states, prints))
        report.memories += 1
        report.versions += memory.version - 1
        return memory.id

    def _remembered(
        self,
        tx: Transaction,
        actor: Actor,
        source: str,
        arrival: Arrival,
        states: Sequence[ArrivingText],
        prints: Sequence[Prints],
    ) -> Memory:
        draft = checked(Draft(states[0].content))
        memory = self._memories.remember_in(tx, actor, draft, prints[0], at=states[0].at)
        tx.put_origin(source, arrival.origin, memory.number)
        for state, its in zip(states[1:], prints[1:], strict=True):
            change = Change(content=state.content)
            memory = self._memories.revise_in(tx, actor, Reference(memory.id), change, its, at=state.at)
        return memory

    async def _caught_up(
        self, actor: Actor, known: MemoryId, states: Sequence[ArrivingText], report: ArrivalReport
    ) -> MemoryId:
        """Bring what was written there since, unless the memory was changed here as well."""
        newest = states[-1].content
        memory = await self._memories.get(actor, Reference(known))
        past = [version.content for version in await self._memories.history(actor, Reference(known))]
        if newest in (memory.content, *past):
            return known
        if memory.content not in [state.content for state in states]:
            report.remarks.append(f"{known}: changed both here and there since the last time; left as it is here")
            return known
        await self._memories.revise(actor, Reference(known), Change(content=newest), expected=memory.version)
        report.versions += 1
        return known

    # Addresses

    async def _place(self, actor: Actor, brought: Sequence[tuple[Arrival, MemoryId]], report: ArrivalReport) -> None:
        empty = await self._embedding.prints(_EMPTY_PLACE)

        def work(tx: Transaction) -> None:
            _Planting(tx, actor, self._memories, self._paths, empty, report, self._clock.now()).plant(brought)

        await self._store.write(work)


class _Planting:
    """All addresses in one transaction, from the roots down, so that parents are there before their children."""

    def __init__(
        self,
        tx: Transaction,
        actor: Actor,
        memories: Memories,
        paths: Paths,
        empty: Prints,
        report: ArrivalReport,
        now: datetime,
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._memories = memories
        self._paths = paths
        self._empty = empty
        self._report = report
        self._now = now
        self._tree = tx.home(actor.user)
        self._among = changeable(tx, actor, now)
        self._placed: dict[Address, Place] = {}

    def plant(self, brought: Sequence[tuple[Arrival, MemoryId]]) -> None:
        known = {identifier: self._memory(identifier) for _, identifier in brought}
        wanted = [(path, known[identifier]) for arrival, identifier in brought for path in arrival.paths]
        for path, memory in sorted(wanted, key=lambda one: (len(one[0].address.names), str(one[0].address))):
            try:
                self._one(path, memory)
            except CommonplaceError as error:
                self._report.remarks.append(f"{path.address}: left out: {error.message}")
        for arrival, identifier in brought:
            self._note_orphan(arrival, known[identifier])

    def _memory(self, identifier: MemoryId) -> Memory:
        memory = self._tx.memory(identifier, self._among)
        if memory is None:
            raise NotFound("memory", identifier)
        return memory

    def _one(self, path: ArrivingPath, memory: Memory) -> None:
        place = self._place_of(path.address.parent)
        trees.check_acyclic(self._tx, place, memory.number, str(path.address), memory.id)
        name, exists = self._name(place, path.address, memory)
        self._placed[path.address] = Place(self._tree, parent=memory.number)
        if exists:
            self._report.known_paths += 1
            return
        priority = min(path.priority, MOST_PRIORITY)
        disclosure = path.disclosure.strip()[:MAX_DISCLOSURE_CHARS]
        planted = Path(place, name, memory.number, priority, disclosure, self._now)
        self._paths.grow(self._tx, self._actor, planted, memory)
        self._report.paths += 1

    def _place_of(self, parent: Address) -> Place:
        """Where its children go; an address that had none of its own gets a text that says so."""
        if parent.is_root:
            return Place(self._tree, parent.domain)
        if parent not in self._placed:
            self._placed[parent] = self._found(parent) or self._filled(parent)
        return self._placed[parent]

    def _found(self, address: Address) -> Place | None:
        try:
            return trees.place_below(self._tx, self._tree, address, self._among)
        except NotFound:
            return None

    def _filled(self, address: Address) -> Place:
        place = self._place_of(address.parent)
        memory = self._memories.remember_in(self._tx, self._actor, checked(Draft(_EMPTY_PLACE)), self._empty)
        name, _ = self._name(place, address, memory)
        self._paths.grow(self._tx, self._actor, Path(place, name, memory.number, 0, "", self._now), memory)
        self._report.remarks.append(f"{address}: had no text of its own; a note stands there now")
        return Place(self._tree, parent=memory.number)

    def _name(self, place: Place, address: Address, memory: Memory) -> tuple[str, bool]:
        """The name it can have there, and whether it has it already."""
        plain = _UNFIT.sub("_", address.name)[:MAX_NAME_CHARS] or "_"
        for name in (plain, *(f"{plain[: MAX_NAME_CHARS - 8]}_{number}" for number in range(2, 10_000))):
            there = self._tx.paths.at(place, name)
            if there is None or there.memory == memory.number:
                if name != address.name and there is None:
                    self._report.remarks.append(f"{address}: brought under the name {name!r}")
                return name, there is not None
        raise AlreadyExists("path", str(address))

    def _note_orphan(self, arrival: Arrival, memory: Memory) -> None:
        if self._tx.paths.to(self._tree, memory.number):
            return
        last = next((str(path.address) for path in arrival.paths), "")
        self._tx.paths.put_orphan(self._tree, memory.number, last, self._now)
        self._report.orphans += 1


def _is_fit(state: ArrivingText, report: ArrivalReport) -> bool:
    try:
        limits.content(state.content)
    except CommonplaceError as error:
        report.remarks.append(f"a text of {state.at:%Y-%m-%d}: left out: {error.message}")
        return False
    return True
