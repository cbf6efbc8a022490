"""Bringing in what other programs have kept: texts with their older versions, then the addresses they had."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.address import MAX_NAME_CHARS, MAX_NAMES, Address
from commonplace.domain.arrival import Arrival, ArrivalReport, ArrivingPath, ArrivingText
from commonplace.domain.errors import AlreadyExists, CommonplaceError, Invalid, NotFound
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.path import MAX_DISCLOSURE_CHARS, MOST_PRIORITY, Path, Place
from commonplace.domain.unicode import normalised
from commonplace.engine import trees
from commonplace.engine.access import changeable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked
from commonplace.engine.paths import Paths
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

_AT_ONCE = 32
"""Written together: each memory is a change of its own, but the disk is asked once for several."""
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
        known = await self._store.read(lambda tx: _known(tx, source, arrival))
        if known:
            report.known += 1
            return await self._caught_up(actor, source, arrival, known, states, report)
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
        return self._continued(tx, actor, source, arrival, memory, states[1:], prints[1:])

    def _continued(
        self,
        tx: Transaction,
        actor: Actor,
        source: str,
        arrival: Arrival,
        memory: Memory,
        states: Sequence[ArrivingText],
        prints: Sequence[Prints],
    ) -> Memory:
        for origin in arrival.origins:
            if tx.origin(source, origin) is None:
                tx.put_origin(source, origin, memory.number)
        for state, its in zip(states, prints, strict=True):
            change, reference = Change(content=state.content), Reference(memory.id)
            memory = self._memories.revise_in(tx, actor, reference, change, its, memory.version, at=state.at)
        return memory

    async def _caught_up(
        self,
        actor: Actor,
        source: str,
        arrival: Arrival,
        known: MemoryId,
        states: Sequence[ArrivingText],
        report: ArrivalReport,
    ) -> MemoryId | None:
        """Bring what was written there since, unless the memory was changed here as well."""
        memory = await self._store.read(lambda tx: tx.memory(known, changeable(tx, actor, self._clock.now())))
        if memory is None:
            report.remarks.append(f"{known}: was brought before, and has ended since or is not yours to change")
            return None
        past = [version.content for version in await self._memories.history(actor, Reference(known))]
        there = [state.content for state in states]
        if there[-1] in (memory.content, *past):
            return known
        if memory.content not in there:
            report.remarks.append(f"{known}: changed both here and there since the last time; left as it is here")
            return known
        later = states[len(there) - there[::-1].index(memory.content) :]
        prints = [await self._embedding.prints(state.content) for state in later]
        await self._store.write(lambda tx: self._continued(tx, actor, source, arrival, memory, later, prints))
        report.versions += len(later)
        return known

    # Addresses

    async def _place(self, actor: Actor, brought: Sequence[tuple[Arrival, MemoryId]], report: ArrivalReport) -> None:
        empty = await self._embedding.prints(_EMPTY_PLACE)

        def work(tx: Transaction) -> ArrivalReport:
            placing = ArrivalReport()  # made here: the store may begin again with work that failed beside another's
            _Planting(tx, actor, self._memories, self._paths, empty, placing, self._clock.now()).plant(brought)
            return placing

        report.include(await self._store.write(work))


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
        if len(path.address.names) > MAX_NAMES:
            raise Invalid("path", f"is too deep: at most {MAX_NAMES} names are allowed")
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
            place = self._place_of(parent.parent)
            there = self._tx.paths.at(place, _fit(parent.name)) or self._filled(place, parent)
            self._placed[parent] = Place(self._tree, parent=there.memory)
        return self._placed[parent]

    def _filled(self, place: Place, address: Address) -> Path:
        memory = self._memories.remember_in(self._tx, self._actor, checked(Draft(_EMPTY_PLACE)), self._empty)
        self._report.remarks.append(f"{address}: had no text of its own; a note stands there now")
        note = Path(place, _fit(address.name), memory.number, 0, "", self._now)
        return self._paths.grow(self._tx, self._actor, note, memory)

    def _name(self, place: Place, address: Address, memory: Memory) -> tuple[str, bool]:
        """The name it can have there, and whether it has it already."""
        plain = _fit(address.name)
        for name in chain([plain], (f"{plain[: MAX_NAME_CHARS - 8]}_{number}" for number in range(2, 10_000))):
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


def _known(tx: Reading, source: str, arrival: Arrival) -> MemoryId | None:
    return next((known for origin in arrival.origins if (known := tx.origin(source, origin))), None)


def _fit(name: str) -> str:
    """The nearest name that may be given to a path."""
    kept = (char if char in "_-" or unicodedata.category(char)[0] in "LMN" else " " for char in normalised("NFC", name))
    fit = "_".join("".join(kept).split())
    return (fit if fit and unicodedata.category(fit[0])[0] != "M" else f"_{fit}")[:MAX_NAME_CHARS]


def _is_fit(state: ArrivingText, report: ArrivalReport) -> bool:
    try:
        limits.content(state.content)
    except CommonplaceError as error:
        report.remarks.append(f"a text of {state.at:%Y-%m-%d}: left out: {error.message}")
        return False
    return True
