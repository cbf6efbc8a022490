"""Trees of collections: what lies in what, what someone may do with each, and how deep and wide they may be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commonplace.domain.access import Actor, Holding, Right, reach
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Circular, Invalid
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.team import Share

MAX_DEPTH = 32
MAX_METADATA_BYTES = 16_384

DESCRIPTION, METADATA, CREATED_BY, UPDATED_AT = "description", "metadata", "created_by", "updated_at"
"""What the house keeps in the metadata of a collection; what users keep stands apart from it, under `metadata`."""

_RANK = {right: rank for rank, right in enumerate(Right)}


@dataclass(frozen=True, slots=True)
class Atlas:
    """A node of a tree, as it stands to one caller."""

    collection: Collection
    right: Right
    owned: bool
    parent: CollectionId | None
    """What it lies in, where the caller may know."""
    memories: int = 0
    children: int = 0
    """Those that the caller sees."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        kept: Mapping[str, Any] = self.collection.metadata.get(METADATA, {})
        return kept

    @property
    def created_by(self) -> UserId | None:
        """Who made it; its owner is that of the tree."""
        maker = self.collection.metadata.get(CREATED_BY)
        return UserId(maker) if maker else self.collection.owner

    @property
    def updated_at(self) -> datetime | None:
        written = self.collection.metadata.get(UPDATED_AT)
        return datetime.fromisoformat(written) if written else None


@dataclass(frozen=True, slots=True)
class Grove:
    """An atlas and what lies below it, the upper ones first, as far as they are told; and how many there are."""

    atlases: Sequence[Atlas]
    total: int
    shares: Sequence[Share] = ()
    """With whom the first is shared, for who may change that."""


@dataclass(frozen=True, slots=True)
class Felled:
    """An atlas that is no more, and what became of what it held."""

    atlas: Collection
    parent: CollectionId | None
    """Where everything went, where the caller may know; nowhere for a root."""
    rooted: bool
    """Whether it lay in nothing: its memories went to their authors, its children are roots."""
    children: int
    memories: int


def rights(actor: Actor, holdings: Iterable[Holding]) -> dict[int, Right]:
    """The most that the actor may do with each collection it sees.

    Who owns one, or was given it so, governs it with any credential that writes, unless that opens only a part.
    """
    held = list(holdings)
    seen, written = reach(actor, Right.READ, held), reach(actor, Right.WRITE, held)
    governed = {h.number for h in held if h.owner == actor.user or h.granted is Right.ADMIN} & written
    if actor.limited_to is not None:
        governed = set()
    return {n: Right.ADMIN if n in governed else Right.WRITE if n in written else Right.READ for n in seen}


def allows(held: Right | None, wanted: Right) -> bool:
    return held is not None and _RANK[held] >= _RANK[wanted]


class Forest:
    """Which collections lie in which, among those that someone sees: a parent that is not among them is none."""

    def __init__(self, places: Mapping[int, int | None]) -> None:
        self._children: dict[int | None, list[int]] = {}
        self._parents = {n: parent if parent in places else None for n, parent in places.items()}
        for number in sorted(places, reverse=True):
            self._children.setdefault(self._parents[number], []).append(number)

    def children(self, number: int | None) -> Sequence[int]:
        """What lies directly in one, or in none; the newest first."""
        return self._children.get(number, ())

    def parent(self, number: int) -> int | None:
        return self._parents.get(number)

    def below(self, number: int) -> list[int]:
        """One and all that lies below it, the upper ones first."""
        found, waiting = [number], deque([number])
        while waiting:
            some = self.children(waiting.popleft())
            found += some
            waiting += some
        return found

    def height(self, number: int) -> int:
        """How many levels there are from one down; 1 where nothing lies in it."""
        level, height = [number], 0
        while level:
            level, height = [child for one in level for child in self.children(one)], height + 1
        return height


def check_place(atlas: Collection | None, parent: Collection, above: Sequence[Collection], height: int) -> None:
    """Refuse to put an atlas, or a new one, below a parent where it would be its own ancestor or lie too deep."""
    if atlas is not None and atlas.number in (parent.number, *(one.number for one in above)):
        raise Circular(parent.id, atlas.id)
    depth = len(above) + 1 + height
    if depth > MAX_DEPTH:
        raise Invalid("parent_id", f"the tree would be {depth} levels deep; at most {MAX_DEPTH} are allowed")
    if atlas is not None and atlas.owner != parent.owner:
        raise Invalid("parent_id", "belongs to someone else; an atlas stays among those of its owner")
