"""Todo管理."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import MOST_LISTED_BYTES, instant, quoted
from commonplace.dialects.creo.dates import moment
from commonplace.domain import limits
from commonplace.domain.todo import Priority, Revision, Status, Todo, Wanted
from commonplace.engine.todos import MOST_LISTED, Listed

MOST_WORDED = 20
"""Todos that the words of an answer name; the object has all of them."""
_SHOWN = 80
_PRIORITIES = {Priority.HIGH: "高", Priority.MEDIUM: "中", Priority.LOW: "低"}
_STATUSES = {Status.PENDING: "未着手", Status.IN_PROGRESS: "進行中", Status.COMPLETED: "完了"}
_AS_IT_IS = "\x00"
"""In place of a date that was not given: null is one that says something."""

Id = Annotated[str, Field(description="Todo id, like todo:UUID")]
PriorityName = Literal["low", "medium", "high"]
StatusName = Literal["pending", "in_progress", "completed"]


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


class TodoShown(TypedDict):
    id: str
    content: str
    priority: PriorityName
    status: StatusName
    dueDate: str | None
    overdue: bool
    tags: list[str]
    createdAt: str
    updatedAt: str
    completedAt: str | None
    truncated: NotRequired[bool]


class TodoList(TypedDict):
    todos: list[TodoShown]
    total: int
    hasMore: bool


class TodoDeleted(TypedDict):
    id: str
    deleted: bool


@creo.writes
async def create_todo(
    call: Call,
    content: Annotated[str, Field(description="What is to be done")],
    priority: Annotated[PriorityName, Field(description="How much it matters")] = "medium",
    dueDate: Annotated[
        str | None,
        Field(description="When it is due, ISO 8601; without a zone in yours, a date alone means the end of that day"),
    ] = None,
    tags: Annotated[list[str] | None, Field(description="Words to find it by")] = None,
) -> Answer[TodoShown]:
    """Note something to be done."""
    made = await call.engine.todos.create(
        call.actor, content, priority=Priority(priority), due_at=_due(call, dueDate), tags=tuple(tags or ())
    )
    return _answer(call, made, "✅ Todoを作成しました")


@creo.reads
async def list_todos(
    call: Call,
    status: Annotated[StatusName | None, Field(description="Only these")] = None,
    priority: Annotated[PriorityName | None, Field(description="Only these")] = None,
    tags: Annotated[list[str] | None, Field(description="Only those with one of these tags")] = None,
    limit: Annotated[Whole, Field(description=f"How many at most, 1 to {MOST_LISTED}")] = 20,
) -> Answer[TodoList]:
    """Your todos, the most urgent first: open ones, overdue ones among them, by priority, by due date."""
    wanted = Wanted(
        statuses=(Status(status),) if status else (),
        priority=Priority(priority) if priority else None,
        tags=limits.tags(tags or ()),
    )
    listed = await call.engine.todos.page(call.actor, wanted, limit)
    shown = _bounded([_shown(todo, listed.at) for todo in listed.todos])
    body: TodoList = {"todos": shown, "total": listed.total, "hasMore": listed.total > len(shown)}
    return Answer(body, text="\n".join(_lines(listed)))


@creo.writes
async def update_todo(
    call: Call,
    id: Id,
    content: Annotated[str | None, Field(description="A new text")] = None,
    priority: Annotated[PriorityName | None, Field(description="How much it matters")] = None,
    status: Annotated[StatusName | None, Field(description="completed notes when; the others take that away")] = None,
    dueDate: Annotated[
        str | None,
        Field(
            description="When it is due, as in create_todo; null takes it away; left out, nothing changes",
            json_schema_extra=_without_default,
        ),
    ] = _AS_IT_IS,
    tags: Annotated[list[str] | None, Field(description="These instead of those it has")] = None,
) -> Answer[TodoShown]:
    """Change a todo; what is left out stays as it is."""
    revision = Revision(
        content=content,
        priority=Priority(priority) if priority else None,
        status=Status(status) if status else None,
        tags=None if tags is None else tuple(tags),
        due_at=None if dueDate == _AS_IT_IS else _due(call, dueDate),
        undated=dueDate is None,
    )
    changed = await call.engine.todos.revise(call.actor, _id(id), revision)
    return _answer(call, changed, "✅ Todoを更新しました")


@creo.writes
async def complete_todo(call: Call, id: Id) -> Answer[TodoShown]:
    """Mark a todo as done. Doing it twice changes nothing."""
    return _answer(call, await call.engine.todos.complete(call.actor, _id(id)), "✅ Todoを完了しました")


@creo.destroys
async def delete_todo(call: Call, id: Id) -> Answer[TodoDeleted]:
    """Delete a todo for good."""
    gone = await call.engine.todos.delete(call.actor, _id(id))
    body: TodoDeleted = {"id": f"todo:{gone.id}", "deleted": True}
    return Answer(body, text=f"✅ Todoを削除しました: {quoted(gone.content, _SHOWN)}")


def _id(value: str) -> str:
    return ids.bare("id", value, "todo", "todos")


def _due(call: Call, written: str | None) -> datetime | None:
    return None if written is None else moment("dueDate", written, call.actor.zone, last=True)


def _answer(call: Call, todo: Todo, words: str) -> Answer[TodoShown]:
    now = call.engine.clock.now()
    return Answer(_shown(todo, now), text=f"{words}\n{line(todo, now)}")


def _shown(todo: Todo, now: datetime) -> TodoShown:
    return {
        "id": f"todo:{todo.id}",
        "content": todo.content,
        "priority": todo.priority.value,
        "status": todo.status.value,
        "dueDate": instant(todo.due_at) if todo.due_at else None,
        "overdue": todo.is_overdue(now),
        "tags": list(todo.tags),
        "createdAt": instant(todo.created_at),
        "updatedAt": instant(todo.changed_at),
        "completedAt": instant(todo.completed_at) if todo.completed_at else None,
    }


def line(todo: Todo, now: datetime) -> str:
    """A todo in one line: how it stands, what is to be done, when it is due."""
    due = f" 期限: {instant(todo.due_at)}" if todo.due_at else ""
    late = " ⚠️ 期限切れ" if todo.is_overdue(now) else ""
    standing = f"[{_STATUSES[todo.status]}/{_PRIORITIES[todo.priority]}]"
    return f"{standing} {quoted(todo.content, _SHOWN)}{due}{late} (todo:{todo.id})"


def _lines(listed: Listed) -> list[str]:
    lines = [f"{place}. {line(todo, listed.at)}" for place, todo in enumerate(listed.todos[:MOST_WORDED], 1)]
    rest = listed.total - len(lines)
    return [f"Todoは{listed.total}件あります", *lines, *([f"…他{rest}件"] if rest else [])]


def _bounded(shown: Sequence[TodoShown]) -> list[TodoShown]:
    """Long texts of a long list are cut so that the whole stays sendable; a shorter list has them whole."""
    if sum(len(one["content"].encode()) for one in shown) <= MOST_LISTED_BYTES:
        return list(shown)
    share = MOST_LISTED_BYTES // len(shown)
    return [_cut(one, share) for one in shown]


def _cut(one: TodoShown, share: int) -> TodoShown:
    text = one["content"].encode()
    if len(text) <= share:
        return one
    return {**one, "content": text[:share].decode(errors="ignore") + "…", "truncated": True}
