"""The verbs on what users mean to do."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain import todo as rules
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.identifiers import RANDOM_BYTES, uuid7
from commonplace.domain.todo import MOST_TODOS, OPEN, Priority, Revision, Status, Todo, Wanted
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Listed:
    """The most urgent of what was asked for, how many there are, and when that was."""

    todos: Sequence[Todo]
    total: int
    at: datetime


class Todos:
    """Everyone has his own, and nobody sees another's."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def create(
        self,
        actor: Actor,
        content: str,
        *,
        priority: Priority = Priority.MEDIUM,
        due_at: datetime | None = None,
        tags: tuple[str, ...] = (),
    ) -> Todo:
        """Something new to do."""
        _require(actor, Permission.WRITE)
        content, tags = rules.content(content), limits.tags(tags)

        def work(tx: Transaction) -> Todo:
            now = self._clock.now()
            if tx.todos.count(actor.user, Wanted()) >= MOST_TODOS:
                raise Invalid("content", f"there are {MOST_TODOS} todos already; delete some that are done")
            identifier = uuid7(now, secrets.token_bytes(RANDOM_BYTES))
            todo = Todo(identifier, actor.user, content, priority, Status.PENDING, due_at, tags, now, now)
            tx.todos.add(todo)
            tx.doings.note(actor, now, "todo created", f"todo:{todo.id}")
            return todo

        return await self._store.write(work)

    async def page(self, actor: Actor, wanted: Wanted, limit: int) -> Listed:
        """The most urgent first."""
        _require(actor, Permission.READ)
        limits.within("limit", limit, 1, MOST_LISTED)
        now = self._clock.now()

        def work(tx: Reading) -> Listed:
            found = tx.todos.first(actor.user, wanted, now, limit)
            return Listed(found, tx.todos.count(actor.user, wanted), now)

        return await self._store.read(work)

    async def urgent(self, actor: Actor, limit: int) -> tuple[Sequence[Todo], int]:
        """What is most urgent of what is open, and how much is; nothing for a key that opens only a part."""
        if actor.limited_to is not None:
            return (), 0
        listed = await self.page(actor, Wanted(OPEN), limit)
        return listed.todos, listed.total

    async def revise(self, actor: Actor, todo: str, revision: Revision) -> Todo:
        """Change what is named."""
        _require(actor, Permission.WRITE)
        revision = rules.checked(revision)
        return await self._store.write(lambda tx: self._revised(tx, actor, todo, revision, "todo changed"))

    async def complete(self, actor: Actor, todo: str) -> Todo:
        """It is done. What is done already stays as it is."""
        _require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Todo:
            found = _own(tx, actor, todo)
            if found.status is Status.COMPLETED:
                return found
            return self._revised(tx, actor, todo, Revision(status=Status.COMPLETED), "todo completed")

        return await self._store.write(work)

    async def delete(self, actor: Actor, todo: str) -> Todo:
        """It is gone for good."""
        _require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Todo:
            found = _own(tx, actor, todo)
            tx.todos.remove(found.id)
            tx.doings.note(actor, self._clock.now(), "todo deleted", f"todo:{found.id}")
            return found

        return await self._store.write(work)

    def _revised(self, tx: Transaction, actor: Actor, todo: str, revision: Revision, what: str) -> Todo:
        now = self._clock.now()
        changed = rules.revised(_own(tx, actor, todo), revision, now)
        tx.todos.change(changed)
        tx.doings.note(actor, now, what, f"todo:{changed.id}")
        return changed


def _require(actor: Actor, permission: Permission) -> None:
    require(actor, permission)
    require_whole(actor)


def _own(tx: Reading, actor: Actor, todo: str) -> Todo:
    found = tx.todos.get(actor.user, todo)
    if found is None:
        raise NotFound("todo", todo)
    return found
