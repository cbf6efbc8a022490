"""Places that are no domain of their own: nodes of atlases, shared contexts, spaces. Who sees them may know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from commonplace.domain.collection import Collection, Kind
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId
from commonplace.ports import Reading

_KINDS: Mapping[str, Kind] = {
    Kind.ATLAS: Kind.ATLAS,
    Kind.CONTEXT: Kind.CONTEXT,
    Kind.SHELF: Kind.CONTEXT,  # a part of it, which nobody knows by itself
    Kind.SPACE: Kind.SPACE,
}


@dataclass(frozen=True, slots=True)
class Place:
    """One of them, and how many memories are in it."""

    kind: Kind
    id: CollectionId
    name: str
    memories: int = 0


def inhabited(tx: Reading, among: Filter) -> Sequence[Place]:
    """Those with memories that may be seen, the fullest first."""
    there = [one for kind in _KINDS for one in tx.collections.among(kind, among.collections)]
    sizes = tx.collections.sizes((one.number for one in there), among.now)
    found: dict[CollectionId, Place] = {}
    for one in there:
        place = place_of(tx, one)
        if place and (size := sizes.get(one.number, 0)):
            before = found.setdefault(place.id, place)
            found[place.id] = replace(before, memories=before.memories + size)
    return sorted(found.values(), key=lambda place: (-place.memories, place.kind, place.name, place.id))


def place_of(tx: Reading, collection: Collection | None) -> Place | None:
    """The place that a collection is, or is a part of."""
    if collection is None or collection.kind not in _KINDS:
        return None
    whole = tx.collections.numbered(collection.parent or 0) if collection.kind == Kind.SHELF else collection
    return Place(_KINDS[collection.kind], (whole or collection).id, collection.name)
