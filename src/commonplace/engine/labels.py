"""The verbs on labels: a user's own words on memories."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain import label as rules
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import AlreadyExists, Invalid, NotFound
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import RANDOM_BYTES, uuid7
from commonplace.domain.label import MOST_LABELS, Label
from commonplace.domain.memory import Memory
from commonplace.engine.access import readable
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Clock, Reading, Store, Transaction

LABEL, ATTACHED = "label", "attached"
"""In the event of a memory that was given a label or lost one."""


@dataclass(frozen=True, slots=True)
class LabelUse:
    """A label, and how many memories that its owner may see bear it."""

    label: Label
    memories: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """A memory with the caller's labels on it, and whether anything was changed just now."""

    memory: Memory
    labels: Sequence[Label]
    changed: bool = False


class Labels:
    """Labels belong to a user: nobody else sees them, and a key that opens only a part of the store has none."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    async def create(self, actor: Actor, name: str, color: str = "") -> Label:
        """A new word."""
        _require(actor, Permission.WRITE)
        name, color = rules.name(name), rules.color(color)

        def work(tx: Transaction) -> Label:
            now = self._clock.now()
            _check_free(tx, actor, name)
            if len(tx.labels.all(actor.user)) >= MOST_LABELS:
                raise Invalid("name", f"there are {MOST_LABELS} labels already; delete one that is no longer used")
            label = Label(uuid7(now, secrets.token_bytes(RANDOM_BYTES)), actor.user, name, color, now)
            tx.labels.add(label)
            tx.doings.note(actor, now, "label created", f"label:{label.id}")
            return label

        return await self._store.write(work)

    async def all(self, actor: Actor) -> list[LabelUse]:
        """The actor's own, in the order they were made."""
        _require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> list[LabelUse]:
            uses = tx.labels.uses(actor.user, readable(tx, actor, now))
            return [LabelUse(label, uses.get(label.id, 0)) for label in tx.labels.all(actor.user)]

        return await self._store.read(work)

    async def change(self, actor: Actor, label: str, *, name: str | None = None, color: str | None = None) -> Label:
        """Call it something else, or give it another colour; memories keep it."""
        _require(actor, Permission.WRITE)
        if name is None and color is None:
            raise Invalid("name", "there is nothing to change: give a name, a color or both")
        name = None if name is None else rules.name(name)
        color = None if color is None else rules.color(color)

        def work(tx: Transaction) -> Label:
            found = _own(tx, actor, label)
            if name not in (None, found.name):
                _check_free(tx, actor, str(name))
            changed = replace(
                found, name=found.name if name is None else name, color=found.color if color is None else color
            )
            tx.labels.change(changed)
            tx.doings.note(actor, self._clock.now(), "label changed", f"label:{found.id}")
            return changed

        return await self._store.write(work)

    async def delete(self, actor: Actor, label: str) -> LabelUse:
        """It comes off every memory; the memories stay as they are."""
        _require(actor, Permission.WRITE)

        def work(tx: Transaction) -> LabelUse:
            now = self._clock.now()
            found = _own(tx, actor, label)
            uses = tx.labels.uses(actor.user, readable(tx, actor, now))
            tx.labels.remove(found.id)
            tx.doings.note(actor, now, "label deleted", f"label:{found.id}")
            return LabelUse(found, uses.get(found.id, 0))

        return await self._store.write(work)

    async def attach(self, actor: Actor, reference: Reference, label: str) -> Labelled:
        """Put a label on a memory that the actor may change; one that is there already stays."""
        _require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Labelled:
            now = self._clock.now()
            memory = self._memories.changing_in(tx, actor, reference)
            found = _own(tx, actor, label)
            changed = put_in(tx, actor, memory, found, now, attached=True)
            return Labelled(memory, tx.labels.on(memory.number, actor.user), changed)

        return await self._store.write(work)

    async def detach(self, actor: Actor, reference: Reference, label: str) -> Labelled:
        """Take a label off a memory; one that is not there is no fault."""
        _require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Labelled:
            now = self._clock.now()
            memory = self._memories.changing_in(tx, actor, reference)
            found = _own(tx, actor, label)
            changed = put_in(tx, actor, memory, found, now, attached=False)
            return Labelled(memory, tx.labels.on(memory.number, actor.user), changed)

        return await self._store.write(work)

    async def of(self, actor: Actor, reference: Reference) -> Labelled:
        """The actor's own labels on a memory that it may see."""
        _require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Labelled:
            memory = self._memories.found_in(tx, reference, readable(tx, actor, now))
            return Labelled(memory, tx.labels.on(memory.number, actor.user))

        return await self._store.read(work)


def _require(actor: Actor, permission: Permission) -> None:
    require(actor, permission)
    require_whole(actor)


def _own(tx: Reading, actor: Actor, label: str) -> Label:
    found = tx.labels.get(actor.user, label)
    if found is None:
        raise NotFound("label", label)
    return found


def _check_free(tx: Reading, actor: Actor, name: str) -> None:
    if tx.labels.named(actor.user, name):
        raise AlreadyExists("label", name)


def put_in(tx: Transaction, actor: Actor, memory: Memory, label: Label, now: datetime, *, attached: bool) -> bool:
    """Put a label on a memory or take it off, as part of a larger change; whether anything was to be done."""
    put = tx.labels.attach(label.id, memory.number, now) if attached else tx.labels.detach(label.id, memory.number)
    if put:
        detail = {LABEL: label.id, ATTACHED: attached}
        where = (memory.id, memory.number, memory.home)
        tx.record(Happening(EventKind.LABELLED, now, actor.author, *where, detail))
    return put
