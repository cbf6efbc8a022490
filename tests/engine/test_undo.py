"""A session is taken back as a whole, except for what others have built on it."""

import asyncio
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Right
from commonplace.domain.annotation import AnnotationType
from commonplace.domain.errors import NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.history import Remedy, Turn, Undone
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.engine.gardening import another
from tests.engine.undoing import House, housed
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def house(engine: Engine, owner: Actor) -> House:
    return housed(engine, owner)


# What is taken back


async def test_a_changed_text_is_what_it_was_before(house: House) -> None:
    memory = await house.tom.plant("core://a", "the zebra sleeps")
    await house.sam.write("core://a", "the giraffe sleeps")
    await house.sam.write("core://a", "the giraffe wakes")
    assert await house.taken_back() == ["restored"]
    restored = await house.person.at("core://a")
    assert (restored.content, restored.version, restored.reviser.session) == ("the zebra sleeps", 4, "person")
    assert await house.person.search("zebra") == ["core://a"]
    assert await house.person.search("giraffe") == []
    hits = (await house.person.engine.recall.recall(house.person.actor, Question("zebra"))).hits
    assert [hit.memory.id for hit in hits if hit.reasons["lexical"] > 0] == [memory.id]


async def test_tags_and_importance_are_restored_too(house: House) -> None:
    memory = await house.tom.engine.memories.remember(house.tom.actor, Draft("text", tags=("a",), importance=0.1))
    reference = Reference(memory.id)
    await house.sam.engine.memories.revise(house.sam.actor, reference, Change(tags=("b",), importance=1.0))
    (step,) = (await house.take_back()).steps
    assert (step.remedy, step.subject) == (Remedy.RESTORED, "text")
    assert step.turns == (Turn("tags", "b", "a"), Turn("importance", "1.0", "0.1"))
    restored = await house.person.engine.memories.get(house.person.actor, reference)
    assert (restored.tags, restored.importance) == (("a",), 0.1)


async def test_what_the_session_made_is_removed_with_its_paths(house: House) -> None:
    await house.tom.plant("core://a", "stays")
    before = await house.state()
    await house.sam.plant("core://a/b", "made")
    await house.sam.plant("core://a/b/c", "made below")
    await house.sam.alias("notes://c", "core://a/b/c")
    await house.sam.write("core://a/b", "made and changed")
    await house.sam.engine.memories.remember(house.sam.actor, Draft("without a path"))
    assert sorted(await house.taken_back()) == ["path removed"] * 3 + ["removed"] * 3
    assert await house.state() == before
    assert await house.person.orphans() == {}
    assert (await house.person.engine.chain.verify(house.person.actor)).valid


async def test_pruned_paths_are_put_back_with_their_labels(house: House) -> None:
    await house.tom.plant("core://a", "one", 3, "told")
    await house.tom.plant("core://a/b", "two", 4, "told too")
    before = await house.state()
    await house.sam.prune("core://a/b")
    await house.sam.prune("core://a")
    assert await house.taken_back() == ["path put back"] * 2
    assert await house.state() == before
    assert await house.person.orphans() == {}


async def test_changed_labels_are_put_back(house: House) -> None:
    await house.tom.plant("core://a", "one", 3, "told")
    before = await house.state()
    await house.sam.label("core://a", priority=1)
    await house.sam.label("core://a", disclosure="other")
    steps = (await house.take_back()).steps
    assert [step.remedy for step in steps] == [Remedy.RELABELLED] * 2
    assert [step.turns for step in steps] == [(Turn("disclosure", "other", "told"),), (Turn("priority", "1", "3"),)]
    assert await house.state() == before


async def test_an_alias_is_removed_and_its_target_left(house: House) -> None:
    memory = await house.tom.engine.memories.remember(house.tom.actor, Draft("from elsewhere"))
    await house.sam.alias("core://given", f"memory://{memory.id}")
    assert await house.taken_back() == ["path removed"]
    assert await house.person.outline() == []
    assert (await house.person.at(f"memory://{memory.id}")).content == "from elsewhere"


async def test_what_the_session_made_and_removed_again_is_not_brought_back(house: House) -> None:
    await house.tom.plant("core://a", "stays")
    before = await house.state()
    await house.sam.alias("core://b", "core://a")
    await house.sam.label("core://b", priority=4)
    await house.sam.prune("core://b")
    await house.sam.plant("core://c", "made")
    await house.sam.prune("core://c")
    assert await house.taken_back() == ["removed"]
    assert await house.state() == before
    assert await house.person.orphans() == {}


async def test_a_path_that_was_moved_is_moved_back(house: House) -> None:
    await house.tom.plant("core://a", "one", 3, "told")
    await house.tom.plant("core://a/child", "two")
    before = await house.state()
    await house.sam.alias("notes://moved", "core://a", 1, "moved")
    await house.sam.prune("core://a")
    assert sorted(await house.taken_back()) == ["path put back", "path removed"]
    assert await house.state() == before


async def test_a_path_pruned_and_planted_again_is_what_it_was(house: House) -> None:
    memory = await house.tom.plant("core://a", "one", 3, "told")
    before = await house.state()
    await house.sam.prune("core://a")
    await house.sam.alias("core://a", f"memory://{memory.id}", 9, "again")
    await house.sam.label("core://a", priority=1)
    await house.take_back()
    assert await house.state() == before


async def test_labels_changed_before_pruning_are_put_back_as_well(house: House) -> None:
    await house.tom.plant("core://a", "one", 3, "told")
    before = await house.state()
    await house.sam.label("core://a", priority=8)
    await house.sam.prune("core://a")
    await house.take_back()
    assert await house.state() == before


# Ends


async def test_a_promoted_memory_ends_again_when_it_would_have(house: House, clock: Clock) -> None:
    memory = await house.tom.engine.memories.remember(house.tom.actor, Draft("passing", ttl=timedelta(hours=2)))
    before = await house.state()
    clock.advance(timedelta(hours=1))
    await house.sam.engine.memories.set_end(house.sam.actor, Reference(memory.id), None)
    (step,) = (await house.take_back()).steps
    assert (step.remedy, step.turns) == (Remedy.END_PUT_BACK, (Turn("end", "", "2026-01-15 14:00:00"),))
    assert await house.state() == before
    clock.advance(timedelta(hours=1))
    assert not (await house.person.engine.recall.recall(house.person.actor, Question("passing"))).hits
    assert (await house.person.engine.memories.page(house.person.actor, 1)).total == 0


async def test_a_memory_that_was_given_an_end_stays_again(house: House, clock: Clock) -> None:
    memory = await house.tom.plant("core://a", "lasting")
    for hours in (1, 2):
        await house.sam.engine.memories.set_end(house.sam.actor, Reference(memory.id), timedelta(hours=hours))
    assert await house.taken_back() == ["end put back"]
    clock.advance(timedelta(days=1))
    assert await house.person.engine.memories.sweep() == 0
    assert (await house.person.engine.recall.recall(house.person.actor, Question("lasting"))).hits
    assert (await house.person.at("core://a")).ephemeral is None


async def test_putting_an_end_back_is_an_event_that_others_can_follow(house: House) -> None:
    memory = await house.tom.plant("core://a", "lasting")
    await house.sam.engine.memories.set_end(house.sam.actor, Reference(memory.id), timedelta(hours=1))
    last = await house.person.engine.events.last()
    await house.take_back()
    events = await house.person.engine.events.visible(house.person.actor, last)
    assert [(event.kind, event.by.session) for event in events] == [(EventKind.PROMOTED, "person")]


async def test_an_end_that_has_passed_meanwhile_is_not_put_back(house: House, clock: Clock) -> None:
    memory = await house.tom.engine.memories.remember(house.tom.actor, Draft("passing", ttl=timedelta(hours=1)))
    await house.sam.engine.memories.set_end(house.sam.actor, Reference(memory.id), timedelta(hours=5))
    clock.advance(timedelta(hours=2))
    undone = await house.take_back()
    assert [step.remedy for step in undone.left] == [Remedy.LEFT]
    assert "passed" in undone.left[0].reason
    assert (await house.person.engine.memories.get(house.person.actor, Reference(memory.id))).content == "passing"


async def test_an_end_that_someone_else_moved_later_is_left_alone(house: House) -> None:
    memory = await house.tom.plant("core://a", "lasting")
    reference = Reference(memory.id)
    await house.sam.engine.memories.set_end(house.sam.actor, reference, timedelta(hours=1))
    await house.tom.engine.memories.set_end(house.tom.actor, reference, timedelta(hours=9))
    undone = await house.take_back()
    assert ["someone else" in step.reason for step in undone.left] == [True]
    kept = await house.person.at("core://a")
    assert kept.ephemeral
    assert kept.ephemeral.ttl == timedelta(hours=9)


# What others have built on


async def test_a_text_changed_later_by_another_is_left_alone_and_named(house: House) -> None:
    memory = await house.tom.plant("core://a", "one")
    await house.sam.write("core://a", "two")
    await house.tom.write("core://a", "three")
    undone = await house.take_back()
    assert [(step.remedy, step.memory, step.subject) for step in undone.steps] == [(Remedy.LEFT, memory.id, "three")]
    assert "changed later" in undone.left[0].reason
    assert (await house.person.at("core://a")).content == "three"


async def test_what_another_has_made_their_own_keeps_its_place(house: House) -> None:
    await house.sam.plant("core://a", "one")
    await house.tom.write("core://a", "two")
    undone = await house.take_back()
    assert len(undone.left) == len(undone.steps) > 0
    assert (await house.person.at("core://a")).content == "two"


async def test_what_another_has_put_below_keeps_its_place(house: House) -> None:
    await house.sam.plant("core://a", "of sam")
    await house.tom.plant("core://a/b", "of tom")
    undone = await house.take_back()
    assert len(undone.left) == len(undone.steps) == 2
    assert any("without any path" in step.reason for step in undone.left)
    assert await house.person.outline() == ["core://a", "core://a/b"]


async def test_what_another_has_given_a_path_stays_there(house: House) -> None:
    await house.sam.plant("core://a", "of sam")
    await house.tom.alias("notes://mine", "core://a")
    undone = await house.take_back()
    assert [step.remedy for step in undone.steps] == [Remedy.UNPLANTED, Remedy.LEFT]
    assert (await house.person.at("notes://mine")).content == "of sam"


async def test_a_path_whose_labels_another_has_changed_stays(house: House) -> None:
    await house.sam.plant("core://a", "of sam", 0, "told")
    await house.tom.label("core://a", priority=5)
    undone = await house.take_back()
    assert len(undone.left) == len(undone.steps) == 2
    assert (await house.person.at("core://a")).content == "of sam"


async def test_labels_changed_later_by_another_are_left_alone(house: House) -> None:
    await house.tom.plant("core://a", "one", 1, "first")
    await house.sam.label("core://a", priority=2)
    await house.tom.label("core://a", priority=3)
    undone = await house.take_back()
    assert len(undone.left) == len(undone.steps) == 1
    node = await house.person.look("core://a")
    assert node.path
    assert node.path.priority == 3


async def test_labels_of_what_now_stands_there_instead_are_left_alone(house: House) -> None:
    await house.tom.plant("core://a", "one", 1)
    await house.sam.label("core://a", priority=2)
    await house.tom.prune("core://a")
    await house.tom.plant("core://a", "another", 2)
    assert await house.taken_back() == ["left alone"]
    node = await house.person.look("core://a")
    assert node.path
    assert node.path.priority == 2


async def test_a_place_that_was_taken_meanwhile_is_left_to_who_took_it(house: House) -> None:
    await house.tom.plant("core://a", "one")
    await house.sam.prune("core://a")
    await house.tom.plant("core://a", "another")
    undone = await house.take_back()
    assert [step.remedy for step in undone.steps] == [Remedy.LEFT]
    assert (await house.person.at("core://a")).content == "another"
    assert list(await house.person.orphans()) == ["one"]


async def test_a_path_is_not_put_back_below_what_is_gone(house: House) -> None:
    parent = await house.tom.plant("core://a", "parent")
    await house.tom.plant("core://a/b", "child")
    await house.sam.prune("core://a/b")
    await house.tom.engine.memories.forget(house.tom.actor, Reference(parent.id))
    undone = await house.take_back()
    assert [("gone" in step.reason) for step in undone.left] == [True]
    assert list(await house.person.orphans()) == ["child"]


async def test_a_path_is_not_put_back_where_it_would_close_a_circle(house: House) -> None:
    await house.tom.plant("core://a", "a")
    await house.tom.plant("core://a/b", "b")
    await house.sam.alias("core://b", "core://a/b")
    await house.sam.prune("core://a/b")
    await house.tom.alias("core://b/a", "core://a")
    undone = await house.take_back()
    assert any("circle" in step.reason for step in undone.left)
    assert "core://b" in await house.person.outline()


async def test_what_the_session_removed_for_good_is_said_to_be_gone(house: House) -> None:
    memory = await house.tom.plant("core://a", "one")
    await house.sam.write("core://a", "two")
    await house.sam.engine.memories.forget(house.sam.actor, Reference(memory.id))
    undone = await house.take_back()
    assert [(step.remedy, step.memory) for step in undone.steps] == [(Remedy.LEFT, memory.id)]
    assert "for good" in undone.steps[0].reason


async def test_what_another_removed_for_good_is_no_obstacle(house: House) -> None:
    memory = await house.sam.plant("core://a", "one")
    await house.sam.plant("core://b", "two")
    await house.tom.engine.memories.forget(house.tom.actor, Reference(memory.id))
    assert await house.taken_back() == ["path removed", "removed"]
    assert await house.person.outline() == []


# Again, before, at once


async def test_taking_back_twice_changes_nothing_more(house: House) -> None:
    old = await house.tom.plant("core://old", "old", 3)
    await house.tom.plant("core://labelled", "labelled", 3)
    await house.tom.plant("core://pruned", "pruned", 3)
    await house.sam.write("core://old", "changed")
    await house.sam.label("core://labelled", priority=1)
    await house.sam.prune("core://pruned")
    await house.sam.engine.memories.set_end(house.sam.actor, Reference(old.id), timedelta(hours=1))
    await house.sam.plant("core://new", "new")
    await house.take_back()
    before, last = await house.state(), await house.person.engine.events.last()
    undone = await house.take_back()
    assert undone.steps == ()
    assert await house.state() == before
    assert await house.person.engine.events.last() == last


async def test_taking_back_can_itself_be_taken_back(house: House) -> None:
    await house.tom.plant("core://a", "one", 3, "told")
    await house.tom.plant("core://b", "two")
    await house.sam.write("core://a", "changed")
    await house.sam.label("core://a", priority=1)
    await house.sam.prune("core://b")
    changed = await house.state()
    await house.take_back()
    other = House(house.sam, house.tom, house.person.during("another person"))
    await other.take_back("person")
    assert await house.state() == changed


async def test_a_plan_changes_nothing(house: House) -> None:
    await house.tom.plant("core://a", "the zebra")
    await house.sam.write("core://a", "the giraffe")
    await house.sam.plant("core://b", "made")
    await house.sam.prune("core://a")
    before, last = await house.state(), await house.person.engine.events.last()
    planned = await house.person.engine.undo.plan(house.person.actor, "sam")
    assert len(planned.steps) == 4
    assert await house.state() == before
    assert await house.person.engine.events.last() == last
    assert await house.person.search("giraffe") != []
    assert (await house.person.engine.chain.verify(house.person.actor)).valid
    hits = (await house.person.engine.recall.recall(house.person.actor, Question("giraffe"))).hits
    assert hits[0].memory.content == "the giraffe"


async def test_sessions_that_do_not_meet_are_taken_back_in_any_order(house: House, folder: object) -> None:
    await house.person.plant("core://a", "a")
    await house.person.plant("core://b", "b")
    before = await house.state()
    for one in (house.sam, house.tom):
        name = one.actor.session
        await one.write("core://a" if name == "sam" else "core://b", f"changed by {name}")
        await one.plant(f"core://{name}", f"made by {name}")
    await house.take_back("sam")
    await house.take_back("tom")
    assert await house.state() == before


async def test_taking_back_while_others_write_loses_nothing_of_theirs(house: House) -> None:
    for n in range(5):
        await house.tom.plant(f"core://{n}", f"start {n}")
        await house.sam.write(f"core://{n}", f"sam {n}")
    writing = [house.tom.write(f"core://{n}", f"tom {n}") for n in range(5)]
    undone, *written = await asyncio.gather(
        house.person.engine.undo.take_back(house.person.actor, "sam"), *writing, return_exceptions=True
    )
    assert isinstance(undone, Undone)
    for n, outcome in enumerate(written):
        content = (await house.person.at(f"core://{n}")).content
        assert content == (f"start {n}" if isinstance(outcome, Exception) else f"tom {n}")


async def test_a_session_that_did_nothing_cannot_be_taken_back(house: House) -> None:
    for verb in (house.person.engine.undo.plan, house.person.engine.undo.take_back):
        with pytest.raises(NotFound):
            await verb(house.person.actor, "nobody")


# Whose


async def test_nobody_takes_back_what_another_user_did(house: House) -> None:
    bob = (await another(house.person.engine, "bob")).during("sam")
    await bob.plant("core://a", "of bob")
    await house.sam.plant("core://a", "of the owner")
    assert await house.taken_back() == ["path removed", "removed"]
    assert (await bob.at("core://a")).content == "of bob"


async def test_a_path_to_a_memory_that_is_only_shared_is_taken_back(house: House) -> None:
    engine = house.person.engine
    bob = await another(engine, "bob")
    memory = await house.tom.plant("core://shared", "shared")
    await engine.store.write(
        lambda tx: tx.grant(
            bob.actor.user, tx.home(house.tom.actor.user), Right.READ, bob.actor.user, engine.clock.now()
        )
    )
    await bob.during("s").alias("notes://theirs", f"memory://{memory.id}")
    undone = await engine.undo.take_back(bob.during("later").actor, "s")
    assert [step.remedy for step in undone.steps] == [Remedy.UNPLANTED]
    assert await bob.outline() == []
    assert (await house.tom.at("core://shared")).content == "shared"


# Labels


async def _labels(house: House, memory: Reference) -> list[str]:
    return sorted(label.name for label in (await house.person.engine.labels.of(house.person.actor, memory)).labels)


async def test_labels_put_on_are_taken_off_and_those_taken_off_put_back(house: House) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    kept = Reference((await engine.memories.remember(tom, Draft("kept"))).id)
    old, new = await engine.labels.create(tom, "old"), await engine.labels.create(tom, "new")
    await engine.labels.attach(tom, kept, old.id)
    await engine.labels.detach(sam, kept, old.id)
    await engine.labels.attach(sam, kept, new.id)
    steps = (await house.take_back()).steps
    assert [(step.remedy, step.turns) for step in steps] == [
        (Remedy.UNLABELLED, (Turn("label", "new", ""),)),
        (Remedy.LABELLED, (Turn("label", "", "old"),)),
    ]
    assert await _labels(house, kept) == ["old"]
    assert await house.taken_back() == []
    await engine.labels.attach(tom, kept, new.id)
    assert await house.taken_back() == ["left alone"], "put on again by another since"
    assert await _labels(house, kept) == ["new", "old"]


@pytest.mark.parametrize("sams", [[True], [True, False], [False, True]], ids=["on", "on and off", "off and on"])
@pytest.mark.parametrize("toms", [[False], [True], [False, True]], ids=["off", "on", "off and on"])
async def test_a_label_that_another_has_touched_since_stays_as_it_is(
    house: House, sams: list[bool], toms: list[bool]
) -> None:
    engine = house.sam.engine
    kept = Reference((await engine.memories.remember(house.tom.actor, Draft("kept"))).id)
    label = await engine.labels.create(house.tom.actor, "label")
    if not sams[0]:
        await engine.labels.attach(house.tom.actor, kept, label.id)
    changed = 0
    for actor, steps in ((house.sam.actor, sams), (house.tom.actor, toms)):
        for on in steps:
            put = engine.labels.attach if on else engine.labels.detach
            changed += (await put(actor, kept, label.id)).changed and actor is house.tom.actor
    after = await _labels(house, kept)
    remedies = await house.taken_back()
    if changed:
        assert set(remedies) <= {"left alone"}
        assert await _labels(house, kept) == after
    else:
        assert await _labels(house, kept) == ([] if sams[0] else ["label"])


async def test_what_has_ended_by_the_end_the_session_gave_it_is_named(house: House, clock: Clock) -> None:
    engine = house.sam.engine
    kept = await engine.memories.remember(house.tom.actor, Draft("kept"))
    await engine.memories.set_end(house.sam.actor, Reference(kept.id), timedelta(seconds=60))
    clock.advance(timedelta(seconds=61))
    await engine.memories.sweep()
    (left,) = (await house.take_back()).left
    assert (left.memory, left.reason) == (kept.id, "the end it was given has passed: it is gone for good")


async def test_what_others_have_built_on_stays(house: House) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    annotated = await engine.memories.remember(sam, Draft("annotated"))
    derived = await engine.memories.remember(sam, Draft("derived from"))
    await engine.memories.remember(sam, Draft("nobody cares"))
    await engine.annotations.annotate(tom, Reference(annotated.id), "so true", AnnotationType.COMMENT)
    await engine.memories.remember(tom, Draft("built on it", links=((LinkKind.DERIVED_FROM, derived.id),)))
    undone = await house.take_back()
    assert [step.remedy.value for step in undone.steps] == ["removed", "left alone", "left alone"]
    assert {step.memory for step in undone.left} == {annotated.id, derived.id}


async def test_a_label_that_is_gone_and_further_categories_are_left_and_named(house: House) -> None:
    engine, sam, tom = house.sam.engine, house.sam.actor, house.tom.actor
    kept = Reference((await engine.memories.remember(tom, Draft("kept", category="work"))).id)
    gone = await engine.labels.create(tom, "gone")
    await engine.labels.attach(tom, kept, gone.id)
    await engine.labels.detach(sam, kept, gone.id)
    await engine.labels.delete(tom, gone.id)
    await engine.categories.attach(sam, kept, (await engine.categories.create(tom, "garden")).id)
    left = (await house.take_back()).left
    assert [step.reason for step in left] == [
        "categories beside the first are not put back",
        "the label is gone, or is another's",
    ]
