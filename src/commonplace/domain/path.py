"""A path: one way to a memory, with a priority and a disclosure of its own."""

from dataclasses import dataclass
from datetime import datetime

from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.limits import text
from commonplace.domain.memory import Memory

MOST_PRIORITY = 2**31 - 1
MAX_DISCLOSURE_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path begins: at the root of a domain, or below a memory, whose children belong to it."""

    tree: int
    domain: str = ""
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A name at a place, leading to a memory."""

    place: Place
    name: str
    memory: int
    priority: int
    disclosure: str
    created_at: datetime
    number: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """A path with a glimpse of the memory at its end, as listings show it."""

    path: Path
    memory: MemoryId
    glimpse: str


@dataclass(frozen=True, slots=True)
class Amendment:
    """What a change did to a path: none before where it was made, none after where it was removed."""

    event: int
    path: Path
    before: tuple[int, str] | None
    after: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Orphan:
    """A memory that has lost its last path, and where it was last."""

    memory: Memory
    last: str
    since: datetime


def priority(value: int, field: str = "priority") -> int:
    if not 0 <= value <= MOST_PRIORITY:
        raise Invalid(field, f"must be a whole number from 0 (highest) to {MOST_PRIORITY}, not {value}")
    return value


def disclosure(value: str, field: str = "disclosure") -> str:
    """When to recall a memory; kept to the letter, but for blanks at its ends."""
    kept = text(field, value).strip()
    if len(kept) > MAX_DISCLOSURE_CHARS:
        raise Invalid(field, f"is {len(kept)} characters long; at most {MAX_DISCLOSURE_CHARS} are allowed")
    return kept
