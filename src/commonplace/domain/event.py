"""What happened, in order, numbered without gaps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Author


class EventKind(StrEnum):
    REMEMBERED = "remembered"
    REVISED = "revised"
    PROMOTED = "promoted"
    EXTENDED = "extended"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    EMBEDDED = "embedded"
    LINKED = "linked"
    PLANTED = "planted"
    ADJUSTED = "adjusted"
    PRUNED = "pruned"
    MOVED = "moved"
    UNLINKED = "unlinked"
    LABELLED = "labelled"
    """A label or a further category was put on it or taken off."""


CHANGES: Mapping[EventKind, str] = {
    EventKind.REMEMBERED: "created",
    EventKind.REVISED: "updated",
    EventKind.PROMOTED: "updated",
    EventKind.EXTENDED: "updated",
    EventKind.MOVED: "updated",
    EventKind.LABELLED: "updated",
    EventKind.FORGOTTEN: "deleted",
    EventKind.EXPIRED: "deleted",
}
"""What an event is to those who watch memories; the others are no change of a memory itself."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event before the store has numbered it. It never carries the text of a memory."""

    kind: EventKind
    at: datetime
    by: Author
    memory: MemoryId
    memory_number: int
    collection: int
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """A happening in its place."""

    number: int
    kind: EventKind
    at: datetime
    by: Author
    memory: MemoryId
    memory_number: int
    collection: int
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """What one caller did in one go, in figures."""

    name: str
    by: Author
    """The first who acted in it, by the tool used last."""
    began_at: datetime
    ended_at: datetime
    changes: int
    memories: int
