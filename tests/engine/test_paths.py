"""The tree of addresses: planting, aliases, edits, pruning, what has no place, whose tree it is."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.address import MAX_NAMES, address
from commonplace.domain.errors import AlreadyExists, Circular, Conflict, Forbidden, Invalid, NotFound, Stranding
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Draft
from commonplace.domain.path import MAX_DISCLOSURE_CHARS, MOST_PRIORITY
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.paths import Signpost
from commonplace.engine.recall import Question
from tests.engine.gardening import Gardener, another
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def ann(engine: Engine, owner: Actor) -> Gardener:
    return Gardener(engine, owner)


# Planting


async def test_what_is_planted_is_found_at_its_address_with_its_signpost(ann: Gardener) -> None:
    memory = await ann.plant("core://agent", "who I am", 2, "  when asked who I am\n")
    node = await ann.look("CORE://agent/")
    assert node.memory == memory
    assert node.path
    assert (node.path.priority, node.path.disclosure) == (2, "when asked who I am")
    assert (await ann.engine.recall.recall(ann.actor, Question("who I am"))).hits[0].memory.id == memory.id


async def test_children_are_listed_by_priority_then_name_with_a_glimpse(ann: Gardener) -> None:
    await ann.plant("core://a", "parent")
    for name, priority in (("late", 5), ("b", 1), ("a", 1)):
        await ann.plant(f"core://a/{name}", f"text of {name}" + "x" * 1000, priority)
    node = await ann.look("core://a")
    assert [branch.path.name for branch in node.branches] == ["a", "b", "late"]
    assert [len(branch.glimpse) for branch in node.branches] == [400] * 3
    assert (node.total, node.left_out) == (3, 0)
    assert await ann.children("core://") == ["a"]


async def test_of_many_children_the_first_are_listed_and_the_rest_counted(ann: Gardener) -> None:
    for n in range(5):
        await ann.plant(f"core://{n}")
    node = await ann.engine.paths.look(ann.actor, address("core://"), most=3)
    assert ([branch.path.name for branch in node.branches], node.total, node.left_out) == (["0", "1", "2"], 5, 2)


async def test_names_are_kept_in_any_script_and_found_in_any_spelling(ann: Gardener) -> None:
    await ann.plant("core://기억", "한국어")
    await ann.plant("core://기억/記憶", "日本語")
    assert (await ann.at("core://%EA%B8%B0%EC%96%B5/記憶")).content == "日本語"
    assert (await ann.at("core://\u1100\u1175\u110b\u1165\u11a8")).content == "한국어"


@pytest.mark.parametrize("parent", ["core://nowhere", "core://a/b/c", "memory://nowhere"])
async def test_nothing_is_planted_where_nothing_is(ann: Gardener, parent: str) -> None:
    await ann.plant("core://a")
    with pytest.raises((NotFound, Invalid)):
        await ann.plant(f"{parent}/x")
    assert await ann.outline() == ["core://a"]


async def test_a_missing_parent_is_named_as_such(ann: Gardener) -> None:
    with pytest.raises(NotFound) as refusal:
        await ann.plant("core://nowhere/x")
    assert (refusal.value.what, refusal.value.name) == ("parent", "core://nowhere")


async def test_a_taken_name_is_refused_and_nothing_is_kept(ann: Gardener) -> None:
    await ann.plant("core://a", "first")
    with pytest.raises(AlreadyExists):
        await ann.plant("core://a", "second")
    assert (await ann.at("core://a")).content == "first"
    assert await ann.pathless() == []


@pytest.mark.parametrize(
    ("content", "signpost", "name"),
    [
        ("", Signpost(), "x"),
        ("x", Signpost(priority=-1), "x"),
        ("x", Signpost(priority=MOST_PRIORITY + 1), "x"),
        ("x", Signpost(disclosure="x" * (MAX_DISCLOSURE_CHARS + 1)), "x"),
        ("x", Signpost(disclosure="\ud800"), "x"),
        ("x", Signpost(), "a b"),
        ("x", Signpost(), ""),
        ("x", Signpost(), "../x"),
    ],
)
async def test_what_cannot_be_planted_is_refused_and_nothing_is_kept(
    ann: Gardener, content: str, signpost: Signpost, name: str
) -> None:
    with pytest.raises(Invalid):
        await ann.engine.paths.plant(ann.actor, address("core://"), Draft(content), signpost, name)
    assert (await ann.engine.memories.page(ann.actor, 1)).total == 0


async def test_a_tree_has_a_greatest_depth(ann: Gardener) -> None:
    where = "core://0"
    await ann.plant(where)
    for depth in range(1, MAX_NAMES):
        where += f"/{depth}"
        await ann.plant(where)
    with pytest.raises(Invalid, match="64"):
        await ann.plant(where + "/more")
    with pytest.raises(Invalid, match="64"):
        await ann.alias(where + "/more", "core://0/1")
    assert (await ann.at(where)).content == f"text of {where}"


# Automatic titles


async def test_without_a_title_a_memory_gets_the_next_number(ann: Gardener) -> None:
    await ann.plant("core://log")
    assert [await ann.number("core://log") for _ in range(3)] == ["core://log/1", "core://log/2", "core://log/3"]
    await ann.plant("core://log/41x")
    await ann.plant("core://log/007")
    assert await ann.number("core://log") == "core://log/8"
    await ann.plant("core://log/40")
    assert await ann.number("core://log") == "core://log/41"
    assert await ann.number("notes://") == "notes://1"


async def test_a_removed_number_is_used_again_only_if_it_was_the_last(ann: Gardener) -> None:
    for _ in range(3):
        await ann.number("core://")
    await ann.prune("core://2")
    assert await ann.number("core://") == "core://4"
    await ann.prune("core://4")
    assert await ann.number("core://") == "core://4"


@pytest.mark.parametrize("largest", ["9" * 15, "9" * 18, "9" * 30, "1" + "0" * 15])
async def test_titles_that_are_enormous_numbers_are_in_nobodys_way(ann: Gardener, largest: str) -> None:
    await ann.plant(f"core://{largest}")
    given = [await ann.number("core://") for _ in range(3)]
    assert len(set(given)) == 3


async def test_many_who_plant_at_once_get_different_numbers(ann: Gardener) -> None:
    await ann.plant("core://log")
    given = await asyncio.gather(*(ann.number("core://log", f"entry {n}") for n in range(40)))
    assert sorted(given) == sorted(f"core://log/{n}" for n in range(1, 41))


# Aliases


async def test_an_alias_is_the_same_memory_with_a_signpost_of_its_own(ann: Gardener) -> None:
    memory = await ann.plant("core://a", "text", 5, "the first")
    await ann.alias("notes://b", "core://a", 1, "the second")
    node = await ann.look("notes://b")
    assert node.memory == memory
    assert node.path
    assert (node.path.priority, node.path.disclosure) == (1, "the second")
    await ann.label("notes://b", priority=9)
    first = await ann.look("core://a")
    assert first.path
    assert (first.path.priority, first.path.disclosure) == (5, "the first")
    await ann.write("notes://b", "changed")
    assert (await ann.at("core://a")).content == "changed"
    assert await ann.addresses(memory) == ["core://a", "notes://b"]


async def test_children_are_reached_and_planted_through_every_alias(ann: Gardener) -> None:
    await ann.plant("core://a")
    await ann.alias("notes://b", "core://a")
    child = await ann.plant("notes://b/c")
    await ann.plant("core://a/c/d")
    assert await ann.at("core://a/c") == child
    assert await ann.children("core://a") == await ann.children("notes://b") == ["c"]
    assert (await ann.at("notes://b/c/d")).content == "text of core://a/c/d"
    with pytest.raises(AlreadyExists):
        await ann.plant("core://a/c")


@pytest.mark.parametrize(
    ("new", "target"),
    [("core://a/x", "core://a"), ("core://a/b/x", "core://a"), ("core://a/b/c/x", "core://a/b"), ("n/x", "core://a")],
)
async def test_no_alias_makes_the_tree_run_in_a_circle(ann: Gardener, new: str, target: str) -> None:
    await ann.plant("core://a")
    await ann.plant("core://a/b")
    await ann.plant("core://a/b/c")
    await ann.alias("core://n", "core://a/b/c")
    with pytest.raises(Circular):
        await ann.alias(new, target)
    assert len(await ann.outline()) == 4


async def test_two_who_would_close_a_circle_together_do_not(ann: Gardener) -> None:
    await ann.plant("core://a")
    await ann.plant("core://b")
    tries = [ann.alias("core://a/x", "core://b"), ann.alias("core://b/x", "core://a")]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sorted(type(one).__name__ for one in outcomes) == ["Circular", "Node"]


@pytest.mark.parametrize("new", ["core://", "core://missing/x", "core://a", "core://bad name", "memory://x"])
async def test_an_alias_needs_a_free_place(ann: Gardener, new: str) -> None:
    await ann.plant("core://a")
    await ann.plant("core://b")
    with pytest.raises((Invalid, NotFound, AlreadyExists)):
        await ann.alias(new, "core://b")


@pytest.mark.parametrize("target", ["core://missing", "core://", "memory://", "memory://not-an-id"])
async def test_an_alias_needs_a_target(ann: Gardener, target: str) -> None:
    with pytest.raises(NotFound) as refusal:
        await ann.alias("core://x", target)
    assert refusal.value.what == "memory at"


# Editing


async def test_an_edit_is_of_the_text_that_was_seen(ann: Gardener) -> None:
    seen = await ann.plant("core://a", "one")
    await ann.write("core://a", "two")
    with pytest.raises(Conflict):
        await ann.engine.paths.edit(
            ann.actor, address("core://a"), seen, content="three", signpost=Signpost(priority=7)
        )
    node = await ann.look("core://a")
    assert node.memory
    assert node.path
    assert (node.memory.content, node.path.priority) == ("two", 0)


async def test_of_many_edits_at_once_one_wins_and_the_others_are_told(ann: Gardener) -> None:
    seen = await ann.plant("core://a", "start")
    where = address("core://a")
    edits = [ann.engine.paths.edit(ann.actor, where, seen, content=f"edit {n}", signpost=Signpost()) for n in range(10)]
    outcomes = await asyncio.gather(*edits, return_exceptions=True)
    assert sorted(type(one).__name__ for one in outcomes) == ["Conflict"] * 9 + ["Node"]
    assert (await ann.at("core://a")).version == 2


async def test_an_edit_of_what_now_stands_elsewhere_is_refused(ann: Gardener) -> None:
    seen = await ann.plant("core://a", "one")
    await ann.prune("core://a")
    await ann.plant("core://a", "another")
    with pytest.raises(Conflict):
        await ann.engine.paths.edit(ann.actor, address("core://a"), seen, content="three", signpost=Signpost())


async def test_a_signpost_changes_without_a_new_version_and_an_empty_disclosure_clears_it(ann: Gardener) -> None:
    await ann.plant("core://a", "text", 3, "told")
    await ann.label("core://a", disclosure="")
    node = await ann.look("core://a")
    assert node.memory
    assert node.path
    assert (node.path.priority, node.path.disclosure, node.memory.version) == (3, "", 1)
    before = await ann.engine.events.last()
    await ann.label("core://a", priority=3)
    assert await ann.engine.events.last() == before


async def test_an_edit_that_cannot_be_kept_changes_neither_text_nor_labels(ann: Gardener) -> None:
    seen = await ann.plant("core://a", "text")
    with pytest.raises(Invalid):
        await ann.engine.paths.edit(ann.actor, address("core://a"), seen, content=" ", signpost=Signpost(priority=7))
    with pytest.raises(Invalid):
        await ann.engine.paths.edit(ann.actor, address("core://a"), seen, content="new", signpost=Signpost(priority=-7))
    node = await ann.look("core://a")
    assert node.path
    assert (await ann.at("core://a")).content == "text"
    assert node.path.priority == 0


# Pruning, orphans


async def test_pruning_removes_the_path_and_keeps_the_text(ann: Gardener) -> None:
    memory = await ann.plant("core://a", "text", 3, "told")
    await ann.alias("core://b", "core://a")
    await ann.prune("core://a")
    assert await ann.at("core://b") == memory
    assert await ann.orphans() == {}
    await ann.prune("core://b")
    assert await ann.orphans() == {"text": "core://b"}
    assert await ann.pathless() == ["text"]
    assert (await ann.at(f"memory://{memory.id}")).content == "text"
    with pytest.raises(NotFound):
        await ann.look("core://b")


async def test_an_orphan_can_be_given_a_path_again(ann: Gardener) -> None:
    memory = await ann.plant("core://a", "text")
    await ann.prune("core://a")
    await ann.alias("notes://again", f"memory://{memory.id}")
    assert await ann.orphans() == {}
    assert await ann.pathless() == []
    assert await ann.at("notes://again") == memory


async def test_orphans_are_listed_by_page_the_latest_first(ann: Gardener, clock: Clock) -> None:
    for name in "abc":
        await ann.plant(f"core://{name}", name)
        clock.advance(timedelta(seconds=1))
        await ann.prune(f"core://{name}")
    pages = [await ann.engine.paths.orphans(ann.actor, 2, offset) for offset in (0, 2)]
    assert [[orphan.memory.content for orphan in found] for found, _ in pages] == [["c", "b"], ["a"]]
    assert {total for _, total in pages} == {3}


async def test_what_would_strand_children_is_refused_and_they_are_named(ann: Gardener) -> None:
    await ann.plant("core://a")
    await ann.plant("core://a/kept")
    await ann.plant("core://a/lost")
    await ann.plant("core://a/kept/below")
    await ann.alias("notes://kept", "core://a/kept")
    with pytest.raises(Stranding) as refusal:
        await ann.prune("core://a")
    assert refusal.value.stranded == ("core://a/lost",)
    await ann.alias("notes://lost", "core://a/lost")
    await ann.prune("core://a")
    assert await ann.outline() == ["notes://kept", "notes://kept/below", "notes://lost"]
    assert await ann.orphans() == {"text of core://a": "core://a"}


async def test_of_many_stranded_only_some_are_named(ann: Gardener) -> None:
    await ann.plant("core://a")
    for n in range(15):
        await ann.plant(f"core://a/{n:02}")
    with pytest.raises(Stranding) as refusal:
        await ann.prune("core://a")
    assert (len(refusal.value.stranded), refusal.value.more) == (10, 5)


async def test_an_alias_below_the_pruned_path_itself_does_not_save_its_children(ann: Gardener) -> None:
    await ann.plant("core://a")
    await ann.plant("core://a/b")
    await ann.plant("core://a/c")
    await ann.alias("core://a/c/b", "core://a/b")
    with pytest.raises(Stranding):
        await ann.prune("core://a")
    await ann.prune("core://a/b")
    assert await ann.addresses(await ann.at("core://a/c/b")) == ["core://a/c/b"]


@pytest.mark.parametrize("where", ["core://", "core://missing", "memory://"])
async def test_what_is_no_path_cannot_be_pruned(ann: Gardener, where: str) -> None:
    with pytest.raises(NotFound):
        await ann.prune(where)


async def test_a_memory_named_by_its_id_has_no_path_to_prune_or_label(ann: Gardener) -> None:
    memory = await ann.plant("core://a")
    with pytest.raises(Invalid):
        await ann.prune(f"memory://{memory.id}")
    with pytest.raises(Invalid):
        await ann.label(f"memory://{memory.id}", priority=1)


# Memories without a path


async def test_a_memory_of_another_dialect_has_an_address_by_its_id(ann: Gardener) -> None:
    memory = await ann.engine.memories.remember(ann.actor, Draft("from elsewhere"))
    assert await ann.pathless() == ["from elsewhere"]
    assert await ann.orphans() == {}
    assert (await ann.at(f"memory://{memory.id}")).content == "from elsewhere"
    await ann.write(f"memory://{memory.id}", "changed by its id")
    await ann.alias("core://given", f"memory://{memory.id}")
    assert (await ann.at("core://given")).content == "changed by its id"
    assert await ann.pathless() == []
    await ann.plant("core://given/child")
    assert (await ann.at(f"memory://{memory.id}/child")).content == "text of core://given/child"


@pytest.mark.parametrize("where", ["memory://nobody", "memory://018f0000-0000-7000-8000-000000000000", "memory://1"])
async def test_an_id_that_nobody_has_is_not_found(ann: Gardener, where: str) -> None:
    with pytest.raises(NotFound):
        await ann.look(where)


async def test_nothing_is_planted_at_an_id(ann: Gardener) -> None:
    memory = await ann.plant("core://a")
    with pytest.raises(Invalid):
        await ann.plant(f"memory://{memory.id}/x")
    with pytest.raises(Invalid):
        await ann.alias(f"memory://{memory.id}/x", "core://a")


# Removed for good


async def test_what_stood_below_a_forgotten_memory_stays_as_an_orphan(ann: Gardener) -> None:
    parent = await ann.plant("core://a", "parent")
    child = await ann.plant("core://a/b", "child")
    await ann.plant("core://a/b/c", "grandchild")
    await ann.plant("core://a/kept", "kept")
    await ann.alias("notes://kept", "core://a/kept")
    await ann.engine.memories.forget(ann.actor, Reference(parent.id))
    assert await ann.orphans() == {"child": "core://a/b"}
    assert await ann.outline() == ["notes://kept"]
    assert (await ann.at(f"memory://{child.id}/c")).content == "grandchild"
    await ann.alias("core://again", f"memory://{child.id}")
    assert (await ann.at("core://again/c")).content == "grandchild"


async def test_a_path_goes_with_a_memory_that_has_ended(ann: Gardener, clock: Clock) -> None:
    passing = await ann.engine.memories.remember(ann.actor, Draft("passing", ttl=timedelta(hours=1)))
    await ann.alias("core://passing", f"memory://{passing.id}")
    await ann.plant("core://passing/child", "child")
    clock.advance(timedelta(hours=1))
    with pytest.raises(NotFound):
        await ann.look("core://passing")
    assert await ann.children("core://") == []
    assert await ann.outline() == []
    await ann.engine.memories.sweep()
    assert await ann.orphans() == {"child": "core://passing/child"}


# What is new


async def test_the_latest_changes_are_listed_with_an_address_each(ann: Gardener, clock: Clock) -> None:
    for name in "abc":
        await ann.plant(f"core://{name}", disclosure=f"about {name}")
        clock.advance(timedelta(seconds=1))
    await ann.write("core://a", "changed")
    await ann.engine.memories.remember(ann.actor, Draft("without a path"))
    nodes = await ann.engine.paths.recent(ann.actor, 2)
    assert [(str(node.address), node.path and node.path.disclosure) for node in nodes] == [
        ("core://a", "about a"),
        ("core://c", "about c"),
    ]


async def test_the_signpost_shown_is_that_of_the_address_shown(ann: Gardener) -> None:
    gone = await ann.plant("core://gone")
    await ann.plant("core://gone/lost", "lost")
    await ann.plant("core://gone/lost/x", "x", 0, "at a place no root leads to")
    await ann.alias("core://x", "core://gone/lost/x", 5, "at the place shown")
    await ann.engine.memories.forget(ann.actor, Reference(gone.id))
    shown = {str(node.address): node.path for node in await ann.engine.paths.recent(ann.actor, 10)}
    path = shown["core://x"]
    assert path
    assert path.disclosure == "at the place shown"


async def test_paths_are_paged_in_the_order_of_their_making(ann: Gardener) -> None:
    await ann.plant("core://b")
    await ann.plant("core://a")
    await ann.plant("core://b/c")
    first, ways = await ann.engine.paths.page(ann.actor, 0, 2)
    rest, _ = await ann.engine.paths.page(ann.actor, first[-1].path.number, 2)
    assert [str(ways.of(branch.path)) for branch in first] == ["core://b", "core://a"]
    assert [branch.path.name for branch in rest] == ["c"]


async def test_an_event_names_the_pages_it_changed(ann: Gardener) -> None:
    await ann.plant("core://a")
    await ann.alias("notes://z", "core://a")
    await ann.plant("core://a/b")
    events = await ann.engine.events.visible(ann.actor, 0)
    planted = [event for event in events if event.kind is EventKind.PLANTED][-1]
    touched = {str(one) for one in await ann.engine.paths.touched(ann.actor, planted)}
    assert touched == {"core://a", "core://a/b", "notes://z", "notes://z/b"}
    await ann.prune("core://a/b")
    pruned = (await ann.engine.events.visible(ann.actor, planted.number))[-1]
    assert {"core://a", "core://a/b"} <= {str(one) for one in await ann.engine.paths.touched(ann.actor, pruned)}


# Whose tree


async def test_two_users_have_trees_of_their_own(ann: Gardener) -> None:
    bob = await another(ann.engine, "bob")
    await ann.plant("core://a", "of ann")
    await bob.plant("core://a", "of bob")
    await bob.plant("core://a/b", "below bob's")
    assert (await ann.at("core://a")).content == "of ann"
    assert (await bob.at("core://a")).content == "of bob"
    assert await ann.outline() == ["core://a"]
    assert await ann.children("core://a") == []
    secret = await bob.at("core://a/b")
    with pytest.raises(NotFound):
        await ann.look(f"memory://{secret.id}")
    with pytest.raises(NotFound):
        await ann.alias("core://stolen", f"memory://{secret.id}")
    await bob.prune("core://a/b")
    assert await ann.orphans() == {}
    assert await ann.pathless() == []
    assert await bob.orphans() == {"below bob's": "core://a/b"}


async def test_a_shared_memory_has_a_path_in_the_tree_of_each(ann: Gardener) -> None:
    bob = await another(ann.engine, "bob")
    memory = await ann.plant("core://shared", "shared")
    await ann.engine.store.write(
        lambda tx: tx.grant(bob.actor.user, tx.home(ann.actor.user), Right.READ, ann.actor.user, ann.engine.clock.now())
    )
    await bob.alias("notes://theirs", f"memory://{memory.id}")
    await bob.plant("notes://theirs/note", "a note of bob")
    assert await ann.children("core://shared") == []
    await bob.label("notes://theirs", disclosure="for bob")
    with pytest.raises(Forbidden):
        await bob.write("notes://theirs", "not his to change")
    await ann.engine.memories.forget(ann.actor, Reference(memory.id))
    assert await bob.orphans() == {"a note of bob": "notes://theirs/note"}
    assert await ann.orphans() == {}


async def test_who_may_only_read_changes_nothing(ann: Gardener) -> None:
    await ann.plant("core://a", "text")
    reader = await another(ann.engine, "owner", frozenset({Permission.READ}))
    seen = await reader.at("core://a")
    for attempt in (
        reader.plant("core://b"),
        reader.alias("core://b", "core://a"),
        reader.prune("core://a"),
        reader.write("core://a", "other"),
        reader.label("core://a", priority=1),
        reader.engine.undo.take_back(reader.actor, "any"),
    ):
        with pytest.raises(Forbidden):
            await attempt
    assert await ann.at("core://a") == seen
    assert await ann.outline() == ["core://a"]


async def test_who_may_only_write_reads_nothing(ann: Gardener) -> None:
    await ann.plant("core://a", "text")
    writer = await another(ann.engine, "owner", frozenset({Permission.WRITE}))
    for attempt in (
        writer.look("core://a"),
        writer.outline(),
        writer.orphans(),
        writer.search("text"),
        writer.engine.paths.addresses(writer.actor, await ann.at("core://a")),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_a_credential_limited_to_another_collection_plants_nothing_here(ann: Gardener) -> None:
    await ann.plant("core://a", "text")
    limited = Gardener(ann.engine, replace(ann.actor, limited_to=frozenset({CollectionId("elsewhere")})))
    assert await limited.outline() == []
    with pytest.raises(NotFound):
        await limited.look("core://a")
    for attempt in (limited.plant("core://b"), limited.prune("core://a"), limited.alias("core://b", "core://a")):
        with pytest.raises((Forbidden, NotFound)):
            await attempt
    assert await ann.outline() == ["core://a"]


async def test_a_change_by_another_dialect_is_seen_at_the_address(ann: Gardener) -> None:
    memory = await ann.plant("core://a", "before")
    await ann.engine.memories.revise(ann.actor, Reference(memory.id), Change(content="after"))
    assert (await ann.at("core://a")).content == "after"
    with pytest.raises(Conflict):
        await ann.engine.paths.edit(ann.actor, address("core://a"), memory, content="lost", signpost=Signpost())
