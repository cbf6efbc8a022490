"""What every store promises about todos: written once, run against each."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.identifiers import UserId
from commonplace.domain.todo import OPEN, Priority, Status, Todo, Wanted
from commonplace.ports import Reading, Transaction
from tests.storage.samples import NOW, House, new_id

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
RANKS = (Priority.HIGH, Priority.MEDIUM, Priority.LOW)


def todo(owner: UserId, **fields: Any) -> Todo:
    plain = Todo(new_id(), owner, "買い物\nmilk", Priority.MEDIUM, Status.PENDING, None, (), NOW, NOW)
    return replace(plain, **fields)


async def put(house: House, *todos: Todo) -> None:
    def work(tx: Transaction) -> None:
        for one in todos:
            tx.todos.add(one)

    await house.store.write(work)


async def first(house: House, wanted: Wanted, limit: int = 100) -> list[str]:
    found = await house.store.read(lambda tx: tx.todos.first(house.ada, wanted, NOW, limit))
    return [one.id for one in found]


async def test_a_todo_comes_back_as_it_was_given_and_only_to_its_owner(house: House) -> None:
    one = todo(house.ada, tags=("仕事", "b"), due_at=NOW - HOUR, completed_at=NOW + HOUR, status=Status.COMPLETED)
    await put(house, one)
    assert await house.store.read(lambda tx: tx.todos.get(house.ada, one.id)) == one
    assert await house.store.read(lambda tx: tx.todos.get(house.ben, one.id)) is None
    assert await house.store.read(lambda tx: tx.todos.count(house.ben, Wanted())) == 0


async def test_a_todo_can_be_changed_in_everything_but_its_origin_and_removed(house: House) -> None:
    one = todo(house.ada)
    await put(house, one)
    changed = replace(
        one,
        content="other",
        priority=Priority.LOW,
        status=Status.COMPLETED,
        due_at=NOW + HOUR,
        tags=("x",),
        changed_at=NOW + HOUR,
        completed_at=NOW + HOUR,
    )
    await house.store.write(lambda tx: tx.todos.change(changed))
    assert await house.store.read(lambda tx: tx.todos.get(house.ada, one.id)) == changed
    await house.store.write(lambda tx: tx.todos.remove(one.id))
    assert await house.store.read(lambda tx: tx.todos.get(house.ada, one.id)) is None


async def test_conditions_hold_together_and_any_tag_is_enough(house: House) -> None:
    a = todo(house.ada, tags=("x", "y"), priority=Priority.HIGH)
    b = todo(house.ada, tags=("y",), status=Status.IN_PROGRESS)
    c = todo(house.ada, status=Status.COMPLETED, completed_at=NOW)
    await put(house, a, b, c, todo(house.ben, tags=("x",)))
    for wanted, expected in (
        (Wanted(), {a.id, b.id, c.id}),
        (Wanted(OPEN), {a.id, b.id}),
        (Wanted((Status.COMPLETED,)), {c.id}),
        (Wanted(tags=("x", "y")), {a.id, b.id}),
        (Wanted(tags=("x",)), {a.id}),
        (Wanted(tags=("X", "Ｙ")), {a.id, b.id}),
        (Wanted(tags=("z",)), set()),
        (Wanted(OPEN, Priority.MEDIUM, ("y",)), {b.id}),
    ):
        assert set(await first(house, wanted)) == expected
        assert await house.store.read(partial(_count, house.ada, wanted)) == len(expected)


def _count(owner: UserId, wanted: Wanted, tx: Reading) -> int:
    return tx.todos.count(owner, wanted)


async def test_what_is_due_this_instant_is_not_late(house: House) -> None:
    due = todo(house.ada, due_at=NOW, priority=Priority.LOW)
    late = todo(house.ada, due_at=NOW - timedelta(microseconds=1), priority=Priority.LOW)
    high = todo(house.ada, priority=Priority.HIGH)
    await put(house, due, late, high)
    assert await first(house, Wanted()) == [late.id, high.id, due.id]
    assert await first(house, Wanted(), 1) == [late.id]


MOMENTS = st.none() | st.integers(-3, 3).map(lambda hours: NOW + hours * HOUR)
SHAPES = st.tuples(st.sampled_from(RANKS), st.sampled_from(list(Status)), MOMENTS, st.integers(0, 2))


@given(shapes=st.lists(SHAPES, max_size=12))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_the_order_is_open_late_priority_due_newest(house: House, shapes: list[tuple[Any, ...]]) -> None:
    owner = house.ada
    todos = [
        todo(owner, priority=rank, status=status, due_at=due, created_at=NOW + made * HOUR)
        for rank, status, due, made in shapes
    ]
    await put(house, *todos)

    def urgency(one: Todo) -> tuple[Any, ...]:
        due = one.due_at.timestamp() if one.due_at else float("inf")
        done = one.status is Status.COMPLETED
        newest = (-one.created_at.timestamp(), [-ord(char) for char in one.id])
        return done, not one.is_overdue(NOW), RANKS.index(one.priority), due, newest

    assert await first(house, Wanted()) == [one.id for one in sorted(todos, key=urgency)]

    def clear(tx: Transaction) -> None:
        for one in todos:
            tx.todos.remove(one.id)

    await house.store.write(clear)
