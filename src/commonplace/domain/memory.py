"""What is kept: a memory, what it was before, and what makes it end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from commonplace.domain.identifiers import CollectionId, MemoryId, UserId
from commonplace.domain.link import LinkKind

MAX_CONTENT_BYTES = 1024 * 1024
MAX_TAGS = 20
MAX_KEYWORDS = 50
MAX_LABEL_CHARS = 200
DEFAULT_IMPORTANCE = 0.5
SHORTEST_TTL = timedelta(seconds=60)
LONGEST_TTL = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """The decoration of a memory that ends by itself."""

    ttl: timedelta
    ends_at: datetime

    def is_over(self, now: datetime) -> bool:
        """At its end a memory is already gone: the last instant it lives is just before."""
        return self.ends_at <= now

    def remaining(self, now: datetime) -> timedelta:
        return max(self.ends_at - now, timedelta(0))


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a state of a memory, and by what means."""

    user: UserId
    credential: str
    session: str
    tool: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as its author hands it over."""

    content: str
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str = ""
    importance: float = DEFAULT_IMPORTANCE
    metadata: Mapping[str, Any] = field(default_factory=dict)
    content_type: str = "text"
    ttl: timedelta | None = None
    links: tuple[tuple[LinkKind, MemoryId], ...] = ()
    home: CollectionId | None = None
    """The collection it goes to; the author's own where none is named."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a revision sets; None leaves a field as it is."""

    content: str | None = None
    tags: tuple[str, ...] | None = None
    keywords: tuple[str, ...] | None = None
    category: str | None = None
    importance: float | None = None
    metadata: Mapping[str, Any] | None = None
    content_type: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name in self.__dataclass_fields__ if getattr(self, name) is not None)


@dataclass(frozen=True, slots=True)
class Memory:
    """A text worth keeping, with all that is known about it."""

    number: int
    id: MemoryId
    content: str
    content_type: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    category: str
    importance: float
    metadata: Mapping[str, Any]
    collection: CollectionId
    home: int
    domain: str
    author: Author
    created_at: datetime
    version: int
    reviser: Author
    revised_at: datetime
    uses: int = 0
    used_at: datetime | None = None
    ephemeral: Ephemeral | None = None
    block: int | None = None

    def is_changed_by(self, change: Change) -> bool:
        """Whether anything would be otherwise than it is."""
        return any(_kept(getattr(change, name)) != _kept(getattr(self, name)) for name in change.fields)


def _kept(value: Any) -> Any:
    """As it is stored: there 1 and true are two things."""
    return json.dumps(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class Version:
    """What a memory was before a change."""

    memory: MemoryId
    number: int
    content: str
    content_type: str
    tags: tuple[str, ...]
    keywords: tuple[str, ...]
    category: str
    importance: float
    metadata: Mapping[str, Any]
    author: Author
    made_at: datetime
