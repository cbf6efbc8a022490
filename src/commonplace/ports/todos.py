"""What users mean to do, in the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.todo import Todo, Wanted


class TodoReading(Protocol):
    """What users mean to do."""

    def get(self, owner: UserId, todo: str) -> Todo | None: ...
    def first(self, owner: UserId, wanted: Wanted, now: datetime, limit: int) -> Sequence[Todo]:
        """The most urgent: open before completed, late ones first, then by priority, by when due, the newest first."""
        ...

    def count(self, owner: UserId, wanted: Wanted) -> int: ...


class TodoWriting(TodoReading, Protocol):
    """The same, to be changed."""

    def add(self, todo: Todo) -> None: ...
    def change(self, todo: Todo) -> None: ...
    def remove(self, todo: str) -> None: ...
