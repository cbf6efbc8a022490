"""What a part of a backup does not bring back: members who were let go, what became of a space; and taking it back."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.domain.collection import Kind
from commonplace.domain.doing import KEPT_FOR
from commonplace.domain.errors import NotFound
from commonplace.domain.history import Remedy
from commonplace.domain.memory import Change
from commonplace.engine import Engine
from tests.engine.test_collections import at, keep, project, user
from tests.engine.test_recovery import Back, found, put_back, texts
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


async def silent(done: int, total: int) -> None:
    return None


async def test_who_was_let_go_before_a_project_was_deleted_stays_outside(engine: Engine, owner: Actor) -> None:
    anna, bert, carla = [await user(engine, name) for name in ("anna", "bert", "carla")]
    home = await project(engine, anna, bert=Right.WRITE, carla=Right.READ)
    code = await keep(engine, anna, "the code is 7788", home)
    await engine.backups.create(owner, "first")
    await engine.collections.remove_member(anna, Kind.PROJECT, home, "bert")
    await engine.collections.remove_member(anna, Kind.PROJECT, home, "carla")
    await engine.collections.add_member(anna, Kind.PROJECT, home, "bert", Right.READ)
    await engine.memories.forget(anna, at(code))
    await engine.collections.dissolve(anna, Kind.PROJECT, home)
    assert await put_back(engine, owner, "memories", "projects") == Back(memories=1, projects=1)
    assert await texts(engine, bert) == ["the code is 7788"]
    assert await texts(engine, carla) == []
    with pytest.raises(NotFound):
        await engine.collections.get(carla, Kind.PROJECT, home)


async def test_where_nobody_knows_any_more_who_was_let_go_only_the_owner_comes_back(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    await engine.backups.create(owner, "first")
    await engine.collections.dissolve(anna, Kind.PROJECT, home)
    clock.advance(KEPT_FOR + timedelta(seconds=1))
    assert await put_back(engine, owner, "projects") == Back(projects=1)
    assert [member.user for member in await engine.collections.members(anna, Kind.PROJECT, home)] == [anna.user]
    with pytest.raises(NotFound):
        await engine.collections.get(bert, Kind.PROJECT, home)


async def test_what_a_space_holds_stays_as_it_is(engine: Engine, owner: Actor) -> None:
    await engine.spaces.found(owner, "work", "", "# Rules", "")
    await engine.notes.write(owner, "work", "decision", "we take Redis", "ann", ())
    await engine.backups.create(owner, "first")
    await engine.consolidation.run(owner, "work", "", silent)
    bank = await engine.bank.files(owner, "work")
    assert "we take Redis" in str(bank)
    assert await put_back(engine, owner, "memories") == Back()
    assert await engine.bank.files(owner, "work") == bank


async def test_putting_back_is_a_session_that_can_be_taken_back(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    gone = await keep(engine, anna, "forgotten by mistake")
    stays = await keep(engine, anna, "built on later")
    await engine.backups.create(owner, "first")
    for memory in (gone, stays):
        await engine.memories.forget(anna, at(memory))
    restoring = owner.through("commonplace.restore", "restore/1")
    assert await put_back(engine, restoring, "memories") == Back(memories=2)
    back = await found(engine, anna, "built on later")
    await engine.memories.revise(anna, at(back), Change(content="built on"))
    steps = (await engine.undo.take_back(anna.through("history", "history/1"), "restore/1")).steps
    assert sorted(step.remedy for step in steps) == [Remedy.LEFT, Remedy.REMOVED]
    assert await texts(engine, anna) == ["built on"]
