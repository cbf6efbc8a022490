"""Where what an author has in a shared context lies: on a shelf below it, which is his own."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection, Kind
from commonplace.domain.errors import NotTheAuthor
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, UserId, uuid7
from commonplace.domain.memory import Memory
from commonplace.engine.access import require_writable
from commonplace.ports import Reading, Transaction


def lodging(tx: Transaction, actor: Actor, place: Collection, now: datetime) -> Collection:
    """Where something new that is meant for a place lies: in a shared context on its author's own shelf.

    What an author adds to his own when the context is over goes to his home, where that itself will go.
    """
    context = _context_of(tx, place)
    if context is None:
        return place
    if place.kind == Kind.SHELF and place.owner == actor.user and context.is_over(now):
        return tx.collections.numbered(tx.home(actor.user)) or place
    require_writable(tx, actor, context.number, now)
    return shelf(tx, context, actor.user, now)


def check_not_lent(tx: Reading, memory: Memory) -> None:
    """Those it was lent to may change it, which can be undone, but not take it away."""
    place = tx.collections.numbered(memory.home)
    if place and place.kind == Kind.SHELF:
        raise NotTheAuthor("author", "removing what was lent")


def shelf(tx: Transaction, context: Collection, author: UserId, now: datetime) -> Collection:
    """It ends with the context, but not for the author."""
    there = tx.collections.shelf(context.number, author)
    return there or found(tx, Kind.SHELF, context.name, author, now, parent=context.number, ends_at=context.ends_at)


def found(
    tx: Transaction,
    kind: Kind,
    name: str,
    owner: UserId,
    now: datetime,
    *,
    parent: int | None = None,
    ends_at: datetime | None = None,
) -> Collection:
    identifier, domain = CollectionId(uuid7(now, secrets.token_bytes(RANDOM_BYTES))), kind.domain.value
    number = tx.add_collection(identifier, kind.value, domain, name, owner, now, parent)
    made = Collection(number, identifier, kind.value, domain, name, owner, now, ends_at, {}, parent)
    tx.collections.describe(made)
    return made


def contexts_around(tx: Reading, places: Iterable[int]) -> Mapping[int, CollectionId]:
    """The shared contexts that places are, or are shelves of, by the number of the place."""
    wanted = sorted(places)
    around = {one.number: one.id for one in tx.collections.among(Kind.CONTEXT.value, wanted)}
    for one in tx.collections.among(Kind.SHELF.value, wanted):
        context = _context_of(tx, one)
        if context:
            around[one.number] = context.id
    return around


def _context_of(tx: Reading, place: Collection) -> Collection | None:
    if place.kind == Kind.SHELF and place.parent is not None:
        return tx.collections.numbered(place.parent)
    return place if place.kind == Kind.CONTEXT else None
