"""What users mean to do, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from commonplace.domain.identifiers import UserId
from commonplace.domain.todo import Priority, Status, Todo, Wanted
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Row, Statements


class SqliteTodoReading(Statements):
    """The TodoReading port."""

    def get(self, owner: UserId, todo: str) -> Todo | None:
        row = self._one("todo", owner=owner, id=todo)
        return _todo(row) if row else None

    def first(self, owner: UserId, wanted: Wanted, now: datetime, limit: int) -> Sequence[Todo]:
        found = self._all("todos_first", now=rows.micros(now), limit=limit, **_wanted_bindings(owner, wanted))
        return [_todo(row) for row in found]

    def count(self, owner: UserId, wanted: Wanted) -> int:
        return int(self._single("todo_count", **_wanted_bindings(owner, wanted)))


class SqliteTodoWriting(SqliteTodoReading):
    """The TodoWriting port."""

    def add(self, todo: Todo) -> None:
        self._do("add_todo", owner=todo.owner, created_at=rows.micros(todo.created_at), **_bindings(todo))

    def change(self, todo: Todo) -> None:
        self._do("change_todo", **_bindings(todo))

    def remove(self, todo: str) -> None:
        self._do("remove_todo", id=todo)


def _wanted_bindings(owner: UserId, wanted: Wanted) -> dict[str, Any]:
    return {
        "owner": owner,
        "statuses": rows.as_json(wanted.statuses) if wanted.statuses else None,
        "priority": None if wanted.priority is None else wanted.priority.value,
        "tags": rows.as_json(wanted.tags) if wanted.tags else None,
    }


def _bindings(todo: Todo) -> dict[str, Any]:
    return {
        "id": todo.id,
        "content": todo.content,
        "priority": todo.priority.value,
        "status": todo.status.value,
        "due_at": rows.maybe_micros(todo.due_at),
        "tags": rows.as_json(todo.tags),
        "changed_at": rows.micros(todo.changed_at),
        "completed_at": rows.maybe_micros(todo.completed_at),
    }


def _todo(row: Row) -> Todo:
    identifier, owner, content, priority, status, due_at, tags, created_at, changed_at, completed_at = row
    return Todo(
        id=identifier,
        owner=UserId(owner),
        content=content,
        priority=Priority(priority),
        status=Status(status),
        due_at=rows.maybe_moment(due_at),
        tags=tuple(json.loads(tags)),
        created_at=rows.moment(created_at),
        changed_at=rows.moment(changed_at),
        completed_at=rows.maybe_moment(completed_at),
    )
