"""Labels and categories, in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import UserId
from commonplace.domain.label import Category, Label
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements
from commonplace.storage.sqlite.wording import put_words


class SqliteLabelReading(Statements):
    """The LabelReading port."""

    def all(self, owner: UserId) -> Sequence[Label]:
        return [_label(row) for row in self._all("labels_of", owner=owner)]

    def get(self, owner: UserId, label: str) -> Label | None:
        row = self._one("label", owner=owner, id=label)
        return _label(row) if row else None

    def named(self, owner: UserId, name: str) -> Label | None:
        row = self._one("label_named", owner=owner, name=name)
        return _label(row) if row else None

    def on(self, memory: int, owner: UserId) -> Sequence[Label]:
        return [_label(row) for row in self._all("labels_on", memory=memory, owner=owner)]

    def uses(self, owner: UserId, among: Filter) -> Mapping[str, int]:
        return dict(self._all("label_uses", owner=owner, **rows.seen_bindings(among)))

    def categories(self, owner: UserId) -> Sequence[Category]:
        return [_category(row) for row in self._all("categories_of", owner=owner)]

    def category(self, owner: UserId, identifier: str) -> Category | None:
        row = self._one("category", owner=owner, id=identifier)
        return _category(row) if row else None

    def category_named(self, owner: UserId, name: str) -> Category | None:
        row = self._one("category_named", owner=owner, name=name)
        return _category(row) if row else None

    def category_counts(self, among: Filter) -> Mapping[str, int]:
        return dict(self._all("category_counts", **rows.seen_bindings(among)))

    def further(self, memory: int) -> Sequence[str]:
        return [row[0] for row in self._all("further", memory=memory)]

    def bearing(self, category: str, among: Filter, limit: int, author: UserId | None = None) -> Sequence[int]:
        found = self._all("bearing", name=category, author=author, limit=limit, **rows.seen_bindings(among))
        return [row[0] for row in found]


class SqliteLabelWriting(SqliteLabelReading):
    """The LabelWriting port."""

    def add(self, label: Label) -> None:
        at = rows.micros(label.created_at)
        self._do("add_label", id=label.id, owner=label.owner, name=label.name, color=label.color, at=at)

    def change(self, label: Label) -> None:
        self._do("change_label", id=label.id, name=label.name, color=label.color)

    def remove(self, label: str) -> None:
        self._do("remove_label", id=label)

    def attach(self, label: str, memory: int, at: datetime) -> bool:
        self._do("attach_label", label=label, memory=memory, at=rows.micros(at))
        return self._connection.changes() > 0

    def detach(self, label: str, memory: int) -> bool:
        self._do("detach_label", label=label, memory=memory)
        return self._connection.changes() > 0

    def add_category(self, category: Category, owner: UserId) -> None:
        at = rows.maybe_micros(category.created_at)
        named = {"id": category.id, "name": category.name, "description": category.description}
        self._do("add_category", owner=owner, at=at, **named)

    def change_category(self, category: Category) -> None:
        self._do("change_category", id=category.id, name=category.name, description=category.description)

    def remove_category(self, identifier: str) -> None:
        self._do("remove_category", id=identifier)

    def put_further(self, memory: int, names: Sequence[str]) -> None:
        self._do("clear_further", memory=memory)
        for position, name in enumerate(names):
            self._do("add_further", memory=memory, name=name, position=position)
        put_words(self._connection, memory)


def _label(row: Row) -> Label:
    identifier, owner, name, color, created_at = row
    return Label(identifier, UserId(owner), name, color, rows.moment(created_at))


def _category(row: Row) -> Category:
    name, description, identifier, created_at = row
    return Category(name, description, identifier, rows.moment(created_at))
