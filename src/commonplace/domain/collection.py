"""Where memories live together: a user's own, everyone's, a project's, a session's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from commonplace.domain import limits
from commonplace.domain.access import Right
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import CollectionId, UserId

SESSION_LENGTH = timedelta(hours=24)
MAX_DESCRIPTION_CHARS = 4000
MEMBER_REMOVED = "project member removed"
"""In the audit trail, of a project and a user: a backup does not let him in again."""


class Domain(StrEnum):
    """Who shares a collection: everyone, one user, the members of a project, those in a session."""

    GLOBAL = "global"
    USER = "user"
    PROJECT = "project"
    SESSION = "session"


class Kind(StrEnum):
    """What a collection is."""

    GLOBAL = "global"
    USER = "user"
    PROJECT = "project"
    SESSION = "session"
    ATLAS = "atlas"
    """A node of a tree."""
    CONTEXT = "context"
    """A place where several work together for a while."""
    SHELF = "shelf"
    """What one author has lent to a context: it lies below it and is his own."""
    SPACE = "space"
    SPACES = "spaces"
    """The root of all spaces."""

    @property
    def domain(self) -> Domain:
        """Trees, contexts and spaces are shared as projects are."""
        return Domain(self.value) if self.value in set(Domain) else Domain.PROJECT


@dataclass(frozen=True, slots=True)
class Collection:
    """A place for memories, shared as a whole."""

    number: int
    id: CollectionId
    kind: str
    domain: str
    name: str
    owner: UserId | None
    created_at: datetime
    ends_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parent: int | None = None

    @property
    def description(self) -> str:
        return str(self.metadata.get("description", ""))

    def is_over(self, now: datetime) -> bool:
        return self.ends_at is not None and self.ends_at <= now


@dataclass(frozen=True, slots=True)
class Standing:
    """A collection as it stands to one caller."""

    collection: Collection
    right: Right
    memories: int = 0
    members: int = 0


@dataclass(frozen=True, slots=True)
class Member:
    """A user with a right on a collection; the owner has all of them."""

    user: UserId
    name: str
    right: Right
    owner: bool
    since: datetime


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: domains, and of projects and sessions only these where some are named."""

    domains: tuple[str, ...] = ()
    collections: tuple[CollectionId, ...] = ()
    plain: bool = False
    """Whether trees, contexts and spaces are left out, which are found under a domain too."""


@dataclass(frozen=True, slots=True)
class Dissolved:
    """A collection that is no more, and what became of its memories."""

    collection: Collection
    moved: int = 0
    removed: int = 0
    authors: Mapping[UserId, int] = field(default_factory=dict)
    """To whom the moved ones went, and how many each."""


def described(text: str) -> str:
    """What a collection is for, in its kept form, or Invalid."""
    kept = limits.text("description", text).strip()
    if len(kept) > MAX_DESCRIPTION_CHARS:
        raise Invalid("description", limits.too_long(len(kept), MAX_DESCRIPTION_CHARS))
    return kept
