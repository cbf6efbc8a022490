"""A memory as it travels between stores: everything about it, nothing of where it lay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MOST_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class RecordedPlace:
    """The project or session a memory was in."""

    id: str
    kind: str
    name: str
    description: str = ""
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One memory."""

    id: str
    content: str
    domain: str
    created_at: datetime
    updated_at: datetime
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str = ""
    importance: float = 0.5
    metadata: Mapping[str, Any] = field(default_factory=dict)
    content_type: str = "text"
    uses: int = 0
    used_at: datetime | None = None
    author: str = ""
    expires_at: datetime | None = None
    place: str = ""
    """The id of its project or session."""


@dataclass(frozen=True, slots=True)
class RecordedLink:
    """A tie between two of them."""

    source: str
    target: str
    kind: str
    strength: float
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Bundle:
    """Memories that travel together, with the places they were in and the ties between them."""

    records: tuple[Record, ...]
    links: tuple[RecordedLink, ...] = ()
    places: tuple[RecordedPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one entry of a bundle."""

    line: int
    reason: str


@dataclass(slots=True)
class BundleReport:
    """What became of a bundle; with faults, nothing was written."""

    imported: int = 0
    skipped: int = 0
    lines: list[tuple[int, str, str]] = field(default_factory=list)
    """Which entry, its id here, what became of it."""
    faults: list[Fault] = field(default_factory=list)
