from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission
from commonplace.domain.doing import Sought
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import UserId
from commonplace.domain.todo import MOST_TODOS, Priority, Revision, Status, Todo, Wanted, revised
from commonplace.engine import Engine
from commonplace.ports import Transaction
from tests.engine.test_collections import user
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


async def contents(engine: Engine, actor: Actor) -> list[str]:
    return [todo.content for todo in (await engine.todos.page(actor, Wanted(), 20)).todos]


async def test_a_new_todo_waits_and_matters_as_much_as_most(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await engine.todos.create(owner, " 買い物 ", tags=(" e\u0301t\u00e9 ", "été"))
    assert (made.content, made.priority, made.status) == (" 買い物 ", Priority.MEDIUM, Status.PENDING)
    assert (made.tags, made.due_at, made.completed_at) == (("été",), None, None)
    assert (made.created_at, made.changed_at) == (clock.now(), clock.now())
    assert (await engine.todos.page(owner, Wanted(), 1)).todos == [made]


@pytest.mark.parametrize("content", ["", " \n", "\u200b", "\x00", "\ud800", "x" * 10_001])
async def test_a_text_that_says_nothing_or_too_much_is_refused(engine: Engine, owner: Actor, content: str) -> None:
    with pytest.raises(Invalid, match="content"):
        await engine.todos.create(owner, content)
    made = await engine.todos.create(owner, "字" * 10_000)
    with pytest.raises(Invalid, match="content"):
        await engine.todos.revise(owner, made.id, Revision(content=content))


async def test_there_is_an_end_to_todos(engine: Engine, owner: Actor) -> None:
    first = await engine.todos.create(owner, "0")

    def fill(tx: Transaction) -> None:
        for number in range(1, MOST_TODOS):
            tx.todos.add(replace(first, id=f"{number}"))

    await engine.store.write(fill)
    with pytest.raises(Invalid, match="delete some"):
        await engine.todos.create(owner, "one more")
    listed = await engine.todos.page(owner, Wanted(), 200)
    assert (len(listed.todos), listed.total) == (200, MOST_TODOS)


async def test_completing_says_when_and_once(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await engine.todos.create(owner, "a")
    clock.advance(HOUR)
    done = await engine.todos.complete(owner, made.id)
    assert (done.status, done.completed_at, done.changed_at) == (Status.COMPLETED, clock.now(), clock.now())
    clock.advance(HOUR)
    assert await engine.todos.complete(owner, made.id) == done
    kept = await engine.todos.revise(owner, made.id, Revision(status=Status.COMPLETED, content="b"))
    assert (kept.completed_at, kept.changed_at) == (done.completed_at, clock.now())


async def test_what_is_taken_up_again_is_not_done(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "a")
    await engine.todos.complete(owner, made.id)
    again = await engine.todos.revise(owner, made.id, Revision(status=Status.IN_PROGRESS))
    assert (again.status, again.completed_at) == (Status.IN_PROGRESS, None)


def test_a_revision_leaves_what_it_does_not_name(clock: Clock) -> None:
    now = clock.now()
    todo = Todo("id", UserId("ada"), "a", Priority.HIGH, Status.PENDING, now + HOUR, ("t",), now, now)
    assert replace(revised(todo, Revision(content="b"), now), content="a") == todo
    assert revised(todo, Revision(tags=()), now).tags == ()
    assert revised(todo, Revision(undated=True), now).due_at is None
    assert revised(todo, Revision(due_at=now), now).due_at == now


async def test_a_revision_of_nothing_is_refused(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "a")
    with pytest.raises(Invalid, match="nothing to change"):
        await engine.todos.revise(owner, made.id, Revision())
    with pytest.raises(Invalid, match="tags"):
        await engine.todos.revise(owner, made.id, Revision(tags=("",)))


async def test_late_comes_with_the_clock_and_goes_with_completion(engine: Engine, owner: Actor, clock: Clock) -> None:
    soon = await engine.todos.create(owner, "soon", priority=Priority.LOW, due_at=clock.now() + HOUR)
    await engine.todos.create(owner, "high", priority=Priority.HIGH)
    assert await contents(engine, owner) == ["high", "soon"]
    clock.advance(HOUR)
    assert not soon.is_overdue(clock.now())
    clock.advance(timedelta(microseconds=1))
    assert soon.is_overdue(clock.now())
    assert await contents(engine, owner) == ["soon", "high"]
    done = await engine.todos.complete(owner, soon.id)
    assert not done.is_overdue(clock.now())
    assert await contents(engine, owner) == ["high", "soon"]


async def test_the_urgent_ones_are_open(engine: Engine, owner: Actor, clock: Clock) -> None:
    assert await engine.todos.urgent(owner, 2) == ([], 0)
    for name in "abc":
        await engine.todos.create(owner, name, due_at=clock.now() + HOUR)
    done = await engine.todos.create(owner, "done", priority=Priority.HIGH)
    await engine.todos.complete(owner, done.id)
    todos, total = await engine.todos.urgent(owner, 2)
    assert ({todo.content for todo in todos} <= set("abc"), len(todos), total) == (True, 2, 3)


async def test_a_key_that_opens_a_part_has_no_todos(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "a")
    limited = owner.within(frozenset())
    assert await engine.todos.urgent(limited, 2) == ((), 0)
    for verb in (
        engine.todos.create(limited, "x"),
        engine.todos.page(limited, Wanted(), 1),
        *_on(engine, limited, made),
    ):
        with pytest.raises(Forbidden):
            await verb


async def test_a_key_that_only_reads_lists_and_changes_nothing(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "a")
    reader = replace(owner, permissions=frozenset({Permission.READ}))
    for verb in (engine.todos.create(reader, "x"), *_on(engine, reader, made)):
        with pytest.raises(Forbidden):
            await verb
    assert await contents(engine, reader) == ["a"]


async def test_nobody_sees_or_changes_what_another_means_to_do(engine: Engine, owner: Actor) -> None:
    ben = await user(engine, "ben")
    made = await engine.todos.create(owner, "secret")
    assert await contents(engine, ben) == []
    assert await engine.todos.urgent(ben, 2) == ([], 0)
    for todo in (made, replace(made, id=ABSENT)):
        for verb in _on(engine, ben, todo):
            with pytest.raises(NotFound, match=f"^no todo '{todo.id}'$"):
                await verb
    assert await contents(engine, owner) == ["secret"]


def _on(engine: Engine, actor: Actor, todo: Todo) -> tuple[Awaitable[Todo], ...]:
    return (
        engine.todos.revise(actor, todo.id, Revision(content="x")),
        engine.todos.complete(actor, todo.id),
        engine.todos.delete(actor, todo.id),
    )


async def test_a_deleted_todo_is_gone(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "a")
    assert await engine.todos.delete(owner, made.id) == made
    with pytest.raises(NotFound):
        await engine.todos.complete(owner, made.id)


async def test_what_is_done_to_todos_leaves_a_trace_without_their_text(engine: Engine, owner: Actor) -> None:
    made = await engine.todos.create(owner, "secret")
    await engine.todos.revise(owner, made.id, Revision(content="other secret"))
    await engine.todos.complete(owner, made.id)
    await engine.todos.complete(owner, made.id)
    await engine.todos.delete(owner, made.id)
    found = await engine.store.read(lambda tx: tx.doings.latest(Sought(owner.user), 10))
    traces = ["todo changed", "todo completed", "todo created", "todo deleted"]
    assert sorted(doing.what for doing in found) == traces
    assert {doing.subject for doing in found} == {f"todo:{made.id}"}


@pytest.mark.parametrize("limit", [0, 201])
async def test_lists_are_bounded(engine: Engine, owner: Actor, limit: int) -> None:
    with pytest.raises(Invalid, match="limit"):
        await engine.todos.page(owner, Wanted(), limit)
