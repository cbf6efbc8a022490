"""A memory as it travels between stores: everything about it, nothing of where it lay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from commonplace.domain.errors import Fault
from commonplace.domain.phrase import Phrase

IMPORTED = "imported"
KNOWN = "skipped: it is here already"
OTHERWISE = "skipped: it is here already, and says something else"
OVER = "skipped: its time is over"
TO_ITSELF = "a memory is not tied to itself"
NOT_BROUGHT = "neither of the two was brought"
NO_END = "one of the two is not here, or not yours to tie"
FOREIGN_AUTHOR = "imported_author"
"""In the metadata of a memory: the name of who wrote it, where that is no user here."""
COMPARED = (
    "content", "domain", "place", "tags", "keywords", "category", "importance", "metadata", "content_type",
    "expires_at",
)  # fmt: skip
"""Of a memory that is here already; its times and uses change by themselves."""
MOST_RECORDS = 10_000
MOST_LINKS = 100_000
MOST_PLACES = 1000
MOST_BYTES = 8 * 1024 * 1024
"""Of all texts that are read to leave at once."""
MOST_BYTES_WRITTEN = 14 * 1024 * 1024
"""Of all that leaves at once, as it is written: what comes back must fit into a request."""
RECORD_BYTES = 640
LABEL_BYTES = 16
TIE_BYTES = 320
"""About as much as the rest of a memory, a tag and a tie take when they are written, with the names of their fields."""
_AHEAD = timedelta(days=1)
"""Other clocks and time zones are no reason for a doubt."""


@dataclass(frozen=True, slots=True)
class RecordedPlace:
    """The project or session a memory was in."""

    id: str
    kind: str
    name: str
    description: str = ""
    ends_at: datetime | None = None
    created_at: datetime | None = None


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
    stated: frozenset[str] = field(default=frozenset(COMPARED), compare=False)
    """Of what is compared, what it says itself; the rest was filled in."""

    def differing(self, there: "Record") -> tuple[str, ...]:
        """In what it differs from what is there, as far as it says so."""
        return tuple(name for name in COMPARED if name in self.stated and getattr(self, name) != getattr(there, name))


def oddities(record: Record, now: datetime) -> tuple[str, ...]:
    """What is odd about its times.

    It is no fault: a clock that was put right leaves such times behind, and a store must be able to travel as it is.
    """
    times = {"created_at": record.created_at, "updated_at": record.updated_at, "last_access": record.used_at}
    odd: list[str] = [
        Phrase("{name} is in the future", name=name)
        for name, moment in times.items()
        if moment and moment > now + _AHEAD
    ]
    if record.updated_at < record.created_at:
        odd.append("updated_at is before created_at")
    return tuple(odd)


@dataclass(frozen=True, slots=True)
class RecordedLink:
    """A tie between two of them."""

    source: str
    target: str
    kind: str
    strength: float
    created_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """Memories that travel together, with the places they were in and the ties between them."""

    records: tuple[Record, ...]
    links: tuple[RecordedLink, ...] = ()
    places: tuple[RecordedPlace, ...] = ()
    tied: bool = False
    """Whether its ties travel with it; where they do not, they are found again."""


@dataclass(frozen=True, slots=True)
class Untied:
    """A tie that was brought and not made."""

    link: RecordedLink
    reason: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an entry: its id here, in what words, and in what the memory that is here already differs."""

    id: str
    what: str
    differing: tuple[str, ...] = ()


@dataclass(slots=True)
class BundleReport:
    """What became of a bundle; with faults, nothing was written."""

    imported: int = 0
    skipped: int = 0
    lines: list[tuple[int, str, str]] = field(default_factory=list)
    """Which entry, its id here, what became of it."""
    faults: list[Fault] = field(default_factory=list)
    untied: list[Untied] = field(default_factory=list)
    odd: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Which entries were imported with times that may be a mistake, and why."""
    differing: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    """Which entries are here already and say something else, their ids here, and in which fields."""

    def add(self, line: int, settled: Settled) -> None:
        self.lines.append((line, settled.id, settled.what))
        self.imported += settled.what == IMPORTED
        self.skipped += settled.what != IMPORTED
        if settled.differing:
            self.differing.append((line, settled.id, settled.differing))

    def count(self, what: str) -> int:
        return sum(what == one for _, _, one in self.lines)
