"""Labels and categories, in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.filter import Filter
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.label import Category, Label


class LabelReading(Protocol):
    """Labels and categories."""

    def all(self, owner: UserId) -> Sequence[Label]:
        """In the order they were made."""
        ...

    def get(self, owner: UserId, label: str) -> Label | None: ...
    def named(self, owner: UserId, name: str) -> Label | None: ...
    def on(self, memory: int, owner: UserId) -> Sequence[Label]:
        """The owner's own labels on a memory, in the order they were put there."""
        ...

    def uses(self, owner: UserId, among: Filter) -> Mapping[str, int]:
        """How many memories bear each label, by its id."""
        ...

    def categories(self, owner: UserId) -> Sequence[Category]:
        """Those the owner has made, in the order they were made."""
        ...

    def category(self, owner: UserId, identifier: str) -> Category | None: ...
    def category_named(self, owner: UserId, name: str) -> Category | None: ...
    def category_counts(self, among: Filter) -> Mapping[str, int]:
        """How many memories bear each category, as their first or beside it; the most frequent first."""
        ...

    def further(self, memory: int) -> Sequence[str]:
        """The categories of a memory beside its first, in order."""
        ...

    def bearing(self, category: str, among: Filter, limit: int, author: UserId | None = None) -> Sequence[int]:
        """The numbers of memories with this category, as their first or beside it; by one author, or by anyone."""
        ...


class LabelWriting(LabelReading, Protocol):
    """The same, to be changed."""

    def add(self, label: Label) -> None: ...
    def change(self, label: Label) -> None:
        """Its name and colour."""
        ...

    def remove(self, label: str) -> None:
        """It comes off every memory."""
        ...

    def attach(self, label: str, memory: int, at: datetime) -> bool:
        """Whether it was not there yet."""
        ...

    def detach(self, label: str, memory: int) -> bool:
        """Whether it was there."""
        ...

    def add_category(self, category: Category, owner: UserId) -> None: ...
    def change_category(self, category: Category) -> None:
        """Its name and description."""
        ...

    def remove_category(self, identifier: str) -> None: ...
    def put_further(self, memory: int, names: Sequence[str]) -> None:
        """These and no others, in this order."""
        ...
