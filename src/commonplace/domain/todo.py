"""What a user means to do."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import UserId

MAX_CONTENT_CHARS = 10_000
MOST_TODOS = 10_000
"""Of one user."""


class Priority(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


OPEN = (Status.PENDING, Status.IN_PROGRESS)


@dataclass(frozen=True, slots=True)
class Todo:
    """Something to be done."""

    id: str
    owner: UserId
    content: str
    priority: Priority
    status: Status
    due_at: datetime | None
    tags: tuple[str, ...]
    created_at: datetime
    changed_at: datetime
    completed_at: datetime | None = None

    def is_overdue(self, now: datetime) -> bool:
        """What is done is never late, and what is due at an instant is late only after it."""
        return self.status is not Status.COMPLETED and self.due_at is not None and self.due_at < now


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which todos a read is about; an absent condition holds always, and any of the tags is enough."""

    statuses: tuple[Status, ...] = ()
    priority: Priority | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """What a change sets; None leaves a field as it is."""

    content: str | None = None
    priority: Priority | None = None
    status: Status | None = None
    tags: tuple[str, ...] | None = None
    due_at: datetime | None = None
    undated: bool = False
    """That it is no longer due at any time."""

    @property
    def is_empty(self) -> bool:
        return self == Revision()


def content(value: str) -> str:
    """Kept to the letter: not blank, at most 10,000 characters."""
    limits.content(value)
    if len(value) > MAX_CONTENT_CHARS:
        raise Invalid("content", f"is {len(value)} characters long; at most {MAX_CONTENT_CHARS} are allowed")
    return value


def checked(revision: Revision) -> Revision:
    """The revision in its kept form, or Invalid."""
    if revision.is_empty:
        raise Invalid("todo", "there is nothing to change: give at least one field")
    return replace(
        revision,
        content=None if revision.content is None else content(revision.content),
        tags=None if revision.tags is None else limits.tags(revision.tags),
    )


def revised(todo: Todo, revision: Revision, now: datetime) -> Todo:
    """The todo after a change. Completing it says when; taking it up again takes that away."""
    status = revision.status or todo.status
    done_at = (todo.completed_at or now) if status is Status.COMPLETED else None
    return replace(
        todo,
        content=todo.content if revision.content is None else revision.content,
        priority=revision.priority or todo.priority,
        status=status,
        tags=todo.tags if revision.tags is None else revision.tags,
        due_at=None if revision.undated else revision.due_at or todo.due_at,
        changed_at=now,
        completed_at=done_at,
    )
