"""The verbs on atlases: a tree of collections, shared with those below."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, require, require_whole
from commonplace.domain.atlas import (
    CREATED_BY,
    DESCRIPTION,
    MAX_METADATA_BYTES,
    METADATA,
    UPDATED_AT,
    Atlas,
    Felled,
    Forest,
    Grove,
    allows,
    check_place,
    rights,
)
from commonplace.domain.collection import Collection, Kind, described
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, uuid7
from commonplace.engine.collections import Collections
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Reading, Store, Transaction

_BATCH = 500
_MOST_SHARES = 100
KEPT = CollectionId("")
"""In place of a parent: the one it has."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is said about an atlas; what is None is not said.

    Metadata are laid over those there are; an entry of None takes one away.
    """

    name: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] | None = None

    def checked(self) -> Sketch:
        """In its kept form, or Invalid."""
        return Sketch(
            None if self.name is None else limits.label("name", self.name),
            None if self.description is None else described(self.description),
            None if self.metadata is None else _plain(self.metadata),
        )

    def upon(self, atlas: Collection, at: datetime | None) -> Collection:
        """An atlas with this said about it, at a time or from its beginning."""
        kept = dict(atlas.metadata)
        if self.description is not None:
            kept[DESCRIPTION] = self.description
        if self.metadata is not None:
            laid = {**kept.get(METADATA, {}), **self.metadata}
            kept[METADATA] = _plain({key: value for key, value in laid.items() if value is not None})
        if at is not None:
            kept[UPDATED_AT] = at.isoformat()
        return replace(atlas, name=self.name or atlas.name, metadata=kept)


class Atlases:
    """Trees. A tree has one owner, whoever adds to it: what was shared can be taken back whole."""

    def __init__(self, store: Store, memories: Memories, collections: Collections, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._collections = collections
        self._clock = clock

    async def create(self, actor: Actor, sketch: Sketch, parent: CollectionId | None = None) -> Atlas:
        """A new atlas: a root of the caller's own, or below one where the caller may write."""
        require(actor, Permission.WRITE)
        if parent is None:
            require_whole(actor)
        if sketch.name is None:
            raise Invalid("name", "is required")
        sketch = sketch.checked()
        return await self._store.write(lambda tx: self._create(tx, actor, sketch, parent))

    def _create(self, tx: Transaction, actor: Actor, sketch: Sketch, parent: CollectionId | None) -> Atlas:
        now = self._clock.now()
        above = None if parent is None else held(tx, actor, parent, Right.WRITE)
        if above:
            check_place(None, above, tx.collections.above(above.number), 1)
        identifier = CollectionId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
        owner, name, kind = above.owner if above else actor.user, sketch.name or "", Kind.ATLAS
        place = above.number if above else None
        number = tx.add_collection(identifier, kind.value, kind.domain.value, name, owner, now, place)
        made = Collection(number, identifier, kind.value, kind.domain.value, name, owner, now, parent=place)
        made = sketch.upon(replace(made, metadata={CREATED_BY: actor.user}), None)
        tx.collections.describe(made)
        tx.doings.note(actor, now, "atlas created", made.id)
        # A limited credential opens what lies below its own from the next call on; here the new one counts already.
        opened = None if actor.limited_to is None else actor.limited_to | {identifier}
        return _still_held(tx, replace(actor, limited_to=opened), made, Right.WRITE, now)

    async def all(self, actor: Actor, parent: CollectionId | None, most: int) -> Grove:
        """What lies directly in an atlas; without one, the roots of what the caller sees. The newest first."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Grove:
            look = _Look(tx, actor)
            chosen = look.forest.children(None if parent is None else look.seen(parent).number)
            return Grove(look.atlases(chosen[:most], now), len(chosen))

        return await self._store.read(work)

    async def tree(self, actor: Actor, atlas: CollectionId, most: int) -> Grove:
        """An atlas and what the caller sees below it, the upper ones first."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Grove:
            look = _Look(tx, actor)
            top = look.seen(atlas).number
            chosen = look.forest.below(top)
            governed = allows(look.rights[top], Right.ADMIN)
            shares = tx.teams.shares_of(top, _MOST_SHARES) if governed else ()
            return Grove(look.atlases(chosen[:most], now), len(chosen), shares)

        return await self._store.read(work)

    async def within(self, actor: Actor, atlas: CollectionId) -> Actor:
        """The same caller, looking only into an atlas and what lies below it."""
        require(actor, Permission.READ)

        def work(tx: Reading) -> frozenset[CollectionId]:
            top = _seen(tx, atlas, rights(actor, tx.holdings(actor.user)))
            return frozenset(collection.id for collection in tx.collections.below([top.id]))

        return actor.within(await self._store.read(work))

    async def change(
        self, actor: Actor, atlas: CollectionId, sketch: Sketch, parent: CollectionId | None = KEPT
    ) -> Atlas:
        """Say something else about an atlas, or put it elsewhere in its owner's trees; None makes it a root.

        Who may write there may describe it; who governs it may move it.
        """
        require(actor, Permission.WRITE)
        if sketch == Sketch() and parent == KEPT:
            raise Invalid("name", "there is nothing to update: give a name, a description, metadata or parent_id")
        sketch = sketch.checked()
        return await self._store.write(lambda tx: self._change(tx, actor, atlas, sketch, parent))

    def _change(
        self, tx: Transaction, actor: Actor, atlas: CollectionId, sketch: Sketch, parent: CollectionId | None
    ) -> Atlas:
        now = self._clock.now()
        needed = Right.WRITE if parent == KEPT else Right.ADMIN
        found = held(tx, actor, atlas, needed)
        if parent != KEPT:
            found = _moved(tx, actor, found, parent)
            tx.doings.note(actor, now, "atlas moved", found.id)
        changed = sketch.upon(found, now)
        tx.collections.describe(changed)
        return _still_held(tx, actor, changed, needed, now)

    async def delete(self, actor: Actor, atlas: CollectionId) -> Felled:
        """End an atlas. What lay in it goes to what it lay in; without that, each memory to who wrote it."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Felled:
            found, look = held(tx, actor, atlas, Right.ADMIN), _Look(tx, actor)
            children = len(look.forest.children(found.number))
            tx.collections.put_all_below(found.number, found.parent)
            if found.parent is not None:
                tx.watches.carry(found.number, found.parent)
                tx.collections.carry_loans(found.number, found.parent)
            memories = self._empty(tx, actor, found)
            tx.collections.remove(found.number)
            tx.doings.note(actor, self._clock.now(), "atlas deleted", found.id)
            return Felled(found, look.parent_of(found), found.parent is None, children, memories)

        return await self._store.write(work)

    def _empty(self, tx: Transaction, actor: Actor, atlas: Collection) -> int:
        """Carry every memory out of it, some at a time, even those whose end has come and who wait to be removed."""
        moved, last, everything = 0, 0, self._memories.everything_in(atlas.number)
        while numbers := tx.collections.numbers_within(atlas.number, last, _BATCH):
            for memory in tx.memories(numbers, everything):
                home = tx.home(memory.author.user) if atlas.parent is None else atlas.parent
                self._collections.move_in(tx, actor, memory, home)
            moved, last = moved + len(numbers), numbers[-1]
        return moved


class _Look:
    """The trees as one caller sees them at one moment."""

    def __init__(self, tx: Reading, actor: Actor) -> None:
        self._tx = tx
        self._actor = actor
        self.rights = rights(actor, tx.holdings(actor.user))
        self.forest = Forest(tx.collections.places(Kind.ATLAS.value, self.rights))

    def seen(self, atlas: CollectionId) -> Collection:
        return _seen(self._tx, atlas, self.rights)

    def parent_of(self, atlas: Collection) -> CollectionId | None:
        parent = self.forest.parent(atlas.number)
        found = None if parent is None else self._tx.collections.numbered(parent)
        return found.id if found else None

    def atlases(self, numbers: Sequence[int], now: datetime) -> list[Atlas]:
        """These, in this order, with their figures."""
        collections = self._collections([*numbers, *self._parents(numbers)])
        sizes = self._tx.collections.sizes(numbers, now)
        return [self._atlas(number, collections, sizes) for number in numbers if number in collections]

    def _atlas(self, number: int, collections: Mapping[int, Collection], sizes: Mapping[int, int]) -> Atlas:
        found, parent = collections[number], self.forest.parent(number)
        within = collections.get(parent) if parent is not None else None
        return Atlas(
            collection=found,
            right=self.rights[number],
            owned=found.owner == self._actor.user and allows(self.rights[number], Right.ADMIN),
            parent=within.id if within else None,
            memories=sizes.get(number, 0),
            children=len(self.forest.children(number)),
        )

    def _parents(self, numbers: Iterable[int]) -> set[int]:
        return {parent for number in numbers if (parent := self.forest.parent(number)) is not None}

    def _collections(self, numbers: Iterable[int]) -> dict[int, Collection]:
        return {found.number: found for found in self._tx.collections.among(Kind.ATLAS.value, set(numbers))}


def held(tx: Reading, actor: Actor, atlas: CollectionId, right: Right) -> Collection:
    """An atlas on which the actor has the right: NotFound where it does not see it, Forbidden where it only sees it."""
    has = rights(actor, tx.holdings(actor.user))
    found = _seen(tx, atlas, has)
    if not allows(has[found.number], right):
        raise Forbidden(f"atlas:{right.value}", actor.tool)
    return found


def _seen(tx: Reading, atlas: CollectionId, has: Mapping[int, Right]) -> Collection:
    found = tx.collections.get(atlas)
    if found is None or found.kind != Kind.ATLAS or found.number not in has:
        raise NotFound("atlas", atlas)
    return found


def _moved(tx: Transaction, actor: Actor, atlas: Collection, parent: CollectionId | None) -> Collection:
    """An atlas, with all below it, put elsewhere."""
    above = None if parent is None else held(tx, actor, parent, Right.WRITE)
    place = above.number if above else None
    if above and place != atlas.parent:
        tree = Forest({one.number: one.parent for one in tx.collections.below([atlas.id])})
        check_place(atlas, above, tx.collections.above(above.number), tree.height(atlas.number))
    tx.collections.put_below(atlas.number, place)
    return replace(atlas, parent=place)


def _still_held(tx: Reading, actor: Actor, atlas: Collection, right: Right, now: datetime) -> Atlas:
    """An atlas as the actor sees it after a change, which must not put it out of his own reach."""
    look = _Look(tx, actor)
    if not allows(look.rights.get(atlas.number), right):
        raise Forbidden(f"atlas:{right.value}", f"{actor.tool} (what it leaves would be out of your reach)")
    (found,) = look.atlases([atlas.number], now)
    return found


def _plain(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """What can be written as JSON and is not too much of it, or Invalid."""
    try:
        written = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise Invalid("metadata", "must be plain JSON, not nested too deeply") from error
    size = len(limits.text("metadata", written).encode())
    if size > MAX_METADATA_BYTES:
        raise Invalid("metadata", f"is {size} bytes long; at most {MAX_METADATA_BYTES} are allowed")
    return metadata
