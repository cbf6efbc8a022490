"""What was is kept: to be seen, compared and restored."""

import asyncio
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Conflict, Forbidden, Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.engine.gardening import Gardener, another
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def ann(engine: Engine, owner: Actor) -> Gardener:
    return Gardener(engine, owner)


async def changed(ann: Gardener, clock: Clock) -> Memory:
    """A memory with three states, each of another session."""
    await ann.during("first").plant("core://a", "one\ntwo\nthree")
    clock.advance(timedelta(hours=1))
    await ann.during("second").write("core://a", "one\n2\nthree")
    clock.advance(timedelta(hours=1))
    memory = await ann.at("core://a")
    change = Change(tags=("numbers",), importance=0.9)
    return await ann.engine.memories.revise(ann.during("third").actor, Reference(memory.id), change)


async def test_every_state_is_there_with_who_made_it_when(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    states = await ann.engine.history.states(ann.actor, Reference(memory.id))
    assert [(one.number, one.author.session) for one in states] == [(1, "first"), (2, "second"), (3, "third")]
    assert [one.content for one in states] == ["one\ntwo\nthree", "one\n2\nthree", "one\n2\nthree"]
    assert [one.made_at - states[0].made_at for one in states] == [timedelta(hours=hours) for hours in range(3)]
    assert states[-1].tags == ("numbers",)


async def test_two_states_are_compared_in_either_direction(ann: Gardener, clock: Clock) -> None:
    reference = Reference((await changed(ann, clock)).id)
    comparison = await ann.engine.history.compare(ann.actor, reference, 1, 3)
    assert comparison.fields == ("content", "tags", "importance")
    assert comparison.lines()[3:] == [" one", "-two", "+2", " three"]
    back = await ann.engine.history.compare(ann.actor, reference, 3, 1)
    assert "-2" in back.lines()
    assert (await ann.engine.history.compare(ann.actor, reference, 2, 2)).fields == ()
    for number in (0, 4, -1):
        with pytest.raises(Invalid, match="1 to 3"):
            await ann.engine.history.compare(ann.actor, reference, 1, number)


async def test_restoring_makes_a_new_version_that_is_found_again(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    restored = await ann.engine.history.restore(ann.during("fourth").actor, Reference(memory.id), 1)
    assert (restored.version, restored.content, restored.tags, restored.importance) == (4, "one\ntwo\nthree", (), 0.5)
    assert restored.reviser.session == "fourth"
    assert await ann.search("two") == ["core://a"]
    assert (await ann.engine.recall.recall(ann.actor, Question("two"))).hits[0].reasons["lexical"] > 0
    states = await ann.engine.history.states(ann.actor, Reference(memory.id))
    assert [one.content[4] for one in states] == ["t", "2", "2", "t"]


async def test_restoring_the_present_changes_nothing(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    before = await ann.engine.events.last()
    assert (await ann.engine.history.restore(ann.actor, Reference(memory.id), 3)).version == 3
    assert await ann.engine.events.last() == before


async def test_a_restoring_and_a_change_at_once_never_overwrite_each_other(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    reference = Reference(memory.id)
    tries = [ann.engine.history.restore(ann.actor, reference, 1) for _ in range(5)]
    tries += [ann.engine.memories.revise(ann.actor, reference, Change(content=f"{n}"), expected=3) for n in range(5)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, Conflict)]
    assert all(isinstance(one, Memory | Conflict) for one in outcomes)
    states = await ann.engine.history.states(ann.actor, reference)
    assert len(states) == 3 + len(outcomes) - len(refused)
    assert [one.number for one in states] == list(range(1, len(states) + 1))


async def test_sessions_are_listed_the_latest_first_in_figures(ann: Gardener, clock: Clock) -> None:
    await changed(ann, clock)
    await ann.during("second").plant("core://b")
    sessions = await ann.engine.history.sessions(ann.actor, 10)
    assert [(one.name, one.changes, one.memories) for one in sessions] == [
        ("second", 3, 2),
        ("third", 1, 1),
        ("first", 2, 1),
    ]
    assert [one.name for one in await ann.engine.history.sessions(ann.actor, 1)] == ["second"]
    assert sessions[0].ended_at - sessions[0].began_at == timedelta(hours=1)
    for limit in (0, 1001):
        with pytest.raises(Invalid):
            await ann.engine.history.sessions(ann.actor, limit)


async def test_the_changes_of_a_session_are_told_in_order_with_their_places(ann: Gardener) -> None:
    worker = ann.during("s")
    memory = await worker.plant("core://a", "  some\n text")
    gone = await worker.plant("core://gone", "gone")
    await worker.write("core://a", "some other text")
    await worker.engine.memories.forget(worker.actor, Reference(gone.id))
    done = await ann.engine.history.changes(ann.actor, "s")
    assert [one.event.kind for one in done] == [
        EventKind.REMEMBERED,
        EventKind.PLANTED,
        EventKind.REMEMBERED,
        EventKind.PLANTED,
        EventKind.REVISED,
        EventKind.FORGOTTEN,
    ]
    assert {(one.glimpse, one.address) for one in done if one.event.memory == memory.id} == {
        ("some other text", "core://a")
    }
    assert {(one.glimpse, one.address) for one in done if one.event.memory == gone.id} == {("", "")}


async def test_of_a_tie_both_ends_are_told_as_far_as_they_may_be_seen(engine: Engine, owner: Actor) -> None:
    ben = await another(engine, "ben")
    place = (await engine.collections.found(owner, Kind.PROJECT, "maps")).collection.id
    await engine.collections.add_member(owner, Kind.PROJECT, place, "ben", Right.READ)
    shared = await engine.memories.remember(owner, Draft("shared  with\nben", home=place))
    own, gone = [await engine.memories.remember(owner, Draft(text)) for text in ("of the owner alone", "soon gone")]
    agent = owner.through("test", "tying")
    for other in (own, gone):
        await engine.links.connect(agent, Reference(shared.id), Reference(other.id))
    await engine.links.disconnect(agent, Reference(shared.id), Reference(own.id))
    await engine.memories.forget(owner, Reference(gone.id))
    done = await engine.history.changes(owner, "tying")
    assert [(one.event.kind.value, one.other, one.other_glimpse) for one in done] == [
        ("linked", own.id, "of the owner alone"),
        ("linked", None, ""),
        ("unlinked", own.id, "of the owner alone"),
    ]
    seen = await engine.history.changes(ben.actor, "tying")
    assert [(one.glimpse, one.is_tie, one.other, one.other_glimpse) for one in seen] == [
        ("shared with ben", True, None, "")
    ] * 3


async def test_a_move_is_told_once_to_whoever_sees_either_side_of_it(engine: Engine, owner: Actor) -> None:
    ben, agent = await another(engine, "ben"), owner.through("test", "moving")
    old, new = [(await engine.collections.found(owner, Kind.PROJECT, name)).collection.id for name in ("old", "new")]
    await engine.collections.add_member(owner, Kind.PROJECT, old, "ben", Right.READ)
    kept, gone = [await engine.memories.remember(owner, Draft(text, home=old)) for text in ("kept", "soon gone")]
    await engine.collections.move(agent, [Reference(kept.id), Reference(gone.id)], new)
    await engine.memories.forget(owner, Reference(gone.id))
    for actor, glimpses in ((owner, ["kept", ""]), (ben.actor, ["", ""])):
        done = await engine.history.changes(actor, "moving")
        assert [(one.event.kind, one.event.memory) for one in done] == [
            (EventKind.MOVED, kept.id),
            (EventKind.MOVED, gone.id),
        ]
        assert [one.glimpse for one in done] == glimpses
        (session,) = [one for one in await engine.history.sessions(actor, 10) if one.name == "moving"]
        assert (session.changes, session.memories) == (2, 2)


@pytest.mark.parametrize("session", ["nobody", "", "'; DROP TABLE events; --"])
async def test_a_session_that_did_nothing_is_not_found(ann: Gardener, session: str) -> None:
    await ann.during("s").plant("core://a")
    with pytest.raises(NotFound):
        await ann.engine.history.changes(ann.actor, session)


@pytest.mark.parametrize("session", ["\ud800", "a\x00b"])
async def test_a_session_that_cannot_be_written_is_refused(ann: Gardener, session: str) -> None:
    with pytest.raises(Invalid):
        await ann.engine.history.changes(ann.actor, session)
    with pytest.raises(Invalid):
        await ann.engine.undo.plan(ann.actor, session)
    with pytest.raises(Invalid):
        await ann.engine.undo.take_back(ann.actor, session)


async def test_another_ones_history_is_as_if_it_were_not_there(ann: Gardener) -> None:
    bob = await another(ann.engine, "bob")
    memory = await bob.during("secret").plant("core://a", "of bob")
    with pytest.raises(NotFound):
        await ann.engine.history.states(ann.actor, Reference(memory.id))
    with pytest.raises(NotFound):
        await ann.engine.history.restore(ann.actor, Reference(memory.id), 1)
    with pytest.raises(NotFound):
        await ann.engine.history.changes(ann.actor, "secret")
    assert await ann.engine.history.sessions(ann.actor, 10) == []


async def test_who_may_not_write_does_not_restore(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    reader = (await another(ann.engine, "owner", frozenset({Permission.READ}))).actor
    assert len(await ann.engine.history.states(reader, Reference(memory.id))) == 3
    with pytest.raises(Forbidden):
        await ann.engine.history.restore(reader, Reference(memory.id), 1)


async def test_a_forgotten_memory_has_no_history(ann: Gardener, clock: Clock) -> None:
    memory = await changed(ann, clock)
    await ann.engine.memories.forget(ann.actor, Reference(memory.id))
    with pytest.raises(NotFound):
        await ann.engine.history.states(ann.actor, Reference(memory.id))


async def test_a_memory_of_another_dialect_has_a_history_too(ann: Gardener) -> None:
    memory = await ann.engine.memories.remember(ann.actor, Draft("one"))
    await ann.write(f"memory://{memory.id}", "two")
    states = await ann.engine.history.states(ann.actor, Reference(block=memory.block))
    assert [one.content for one in states] == ["one", "two"]


async def test_a_session_is_still_known_when_the_place_it_worked_in_is_gone(engine: Engine, owner: Actor) -> None:
    agent = owner.through("test", "session of an agent")
    atlas = await engine.atlases.create(owner, Sketch(name="maps"))
    memory = await engine.memories.remember(agent, Draft("the way there", home=atlas.collection.id))
    await engine.memories.revise(agent, Reference(memory.id), Change(content="another way"))
    await engine.atlases.delete(owner, atlas.collection.id)
    changes = await engine.history.changes(owner, "session of an agent")
    assert [one.event.kind for one in changes] == [EventKind.REMEMBERED, EventKind.REVISED]
    assert "session of an agent" in [one.name for one in await engine.history.sessions(owner, 10)]
