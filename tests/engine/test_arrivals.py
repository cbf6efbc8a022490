"""Moving in: everything comes, nothing comes twice, and what could not be brought as it was is told."""

from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.access import Actor, Permission
from commonplace.domain.arrival import ArrivalReport
from commonplace.domain.errors import Forbidden
from commonplace.domain.history import Remedy
from commonplace.domain.memory import MAX_CONTENT_BYTES, Memory
from commonplace.domain.path import MAX_DISCLOSURE_CHARS, MOST_PRIORITY
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.storage.foreign.nocturne import arrivals
from tests.engine.gardening import Gardener, another
from tests.fakes import Clock, Embedder
from tests.storage.nocturne import Original, everyday

pytestmark = pytest.mark.anyio

NOTE = "(This address had memories below it but none of its own.)"


@pytest.fixture
def ann(engine: Engine, owner: Actor) -> Gardener:
    return Gardener(engine, owner).during("import")


@pytest.fixture
def original(tmp_path: Path) -> Original:
    return Original(tmp_path / "demo.db")


async def bring(ann: Gardener, original: Original) -> ArrivalReport:
    return await ann.engine.arrivals.bring(ann.actor, "nocturne", arrivals(original.file))


async def everything(ann: Gardener) -> tuple[object, ...]:
    page = await ann.engine.memories.page(ann.actor, 10_000)
    states = {m.id: await ann.engine.history.states(ann.actor, Reference(m.id)) for m in page.memories}
    outline = await ann.engine.paths.outline(ann.actor, 10_000)
    return {one: [s.content for s in found] for one, found in states.items()}, outline


async def test_memories_paths_labels_aliases_and_versions_are_brought(ann: Gardener, tmp_path: Path) -> None:
    report = await bring(ann, everyday(tmp_path / "demo.db"))
    assert (report.memories, report.versions, report.paths, report.orphans) == (4, 2, 4, 1)
    assert await ann.outline() == [
        "core://agent",
        "core://agent/my_user",
        "notes://user",
        "writer://book",
        "writer://book/one",
        "writer://book/one/scene",
    ]
    node = await ann.look("core://agent")
    assert node.path
    assert node.memory
    assert (node.path.priority, node.path.disclosure) == (1, "when asked who I am")
    states = await ann.engine.history.states(ann.actor, Reference(node.memory.id))
    assert [(one.content, one.made_at.day) for one in states] == [
        ("who I was", 1),
        ("who I became", 2),
        ("who I am", 3),
    ]
    assert (await ann.at("core://agent/my_user")).id == (await ann.at("notes://user")).id
    assert (await ann.at("writer://book")).content == NOTE
    assert list(await ann.orphans()) == ["deleted there"]
    assert (await ann.engine.recall.recall(ann.actor, Question("who I am"))).hits[0].memory.id == node.memory.id
    assert await ann.search("became") == []
    assert (await ann.engine.chain.verify(ann.actor)).valid


async def test_a_second_time_doubles_nothing(ann: Gardener, tmp_path: Path) -> None:
    original = everyday(tmp_path / "demo.db")
    original.memory(7, "odd")
    original.path("my notes/a b", 7)
    await bring(ann, original)
    before, last = await everything(ann), await ann.engine.events.last()
    report = await bring(ann, original)
    assert (report.memories, report.versions, report.paths) == (0, 0, 0)
    assert (report.known, report.known_paths, report.remarks) == (5, 5, [])
    assert await everything(ann) == before
    assert await ann.engine.events.last() == last


async def test_what_was_written_there_since_is_brought_the_next_time(ann: Gardener, tmp_path: Path) -> None:
    original = everyday(tmp_path / "demo.db")
    await bring(ann, original)
    original.edit(3, 20, "who I will be")
    original.edit(20, 21, "who I will have been")
    original.memory(22, "new there")
    original.path("agent/new", 22)
    original.path("again", 21, domain="notes")
    report = await bring(ann, original)
    assert (report.memories, report.versions, report.paths) == (1, 2, 2)
    agent = await ann.at("core://agent")
    states = await ann.engine.history.states(ann.actor, Reference(agent.id))
    assert [one.content for one in states[2:]] == ["who I am", "who I will be", "who I will have been"]
    assert (await ann.at("notes://again")).id == agent.id
    assert (await ann.at("core://agent/new")).content == "new there"
    before = await everything(ann)
    await bring(ann, original)
    assert await everything(ann) == before


async def test_old_versions_that_were_removed_there_do_not_make_a_memory_new(ann: Gardener, tmp_path: Path) -> None:
    original = everyday(tmp_path / "demo.db")
    await bring(ann, original)
    before = await everything(ann)
    original.purge(1)
    original.purge(2)
    report = await bring(ann, original)
    assert (report.memories, report.paths) == (0, 0)
    assert await everything(ann) == before


async def test_what_was_changed_here_stays_and_what_was_changed_on_both_sides_is_told(
    ann: Gardener, tmp_path: Path
) -> None:
    original = everyday(tmp_path / "demo.db")
    await bring(ann, original)
    await ann.write("core://agent", "changed here")
    await ann.write("notes://user", "changed here too")
    await ann.label("core://agent", priority=9)
    original.edit(4, 30, "changed there as well")
    report = await bring(ann, original)
    assert ["both here and there" in remark for remark in report.remarks] == [True]
    assert (await ann.at("core://agent")).content == "changed here"
    assert (await ann.at("notes://user")).content == "changed here too"
    node = await ann.look("core://agent")
    assert node.path
    assert node.path.priority == 9


async def test_what_was_brought_and_has_ended_since_is_told_and_left(
    ann: Gardener, original: Original, clock: Clock
) -> None:
    original.memory(1, "passing")
    original.path("a", 1)
    await bring(ann, original)
    await ann.engine.memories.set_end(ann.actor, Reference((await ann.at("core://a")).id), timedelta(hours=1))
    clock.advance(timedelta(hours=2))
    report = await bring(ann, original)
    assert ["ended" in remark for remark in report.remarks] == [True]
    assert (await ann.engine.memories.page(ann.actor, 1)).total == 0


async def test_names_that_cannot_be_given_are_changed_and_told(ann: Gardener, original: Original) -> None:
    names = ["a b", "a_b", "a.b", "हिन्दी", "!!!", "x" * 300, "emoji🧠", "\u0301mark"]
    for number, name in enumerate(names, 1):
        original.memory(number, name)
        original.path(name, number)
        original.memory(number + 100, f"below {name}")
        original.path(f"{name}/child", number + 100)
    report = await bring(ann, original)
    outline = await ann.outline()
    assert len(outline) == 16
    assert report.paths == 16
    for name in names:
        (where,) = await ann.addresses(await found(ann, name))
        assert await ann.addresses(await found(ann, f"below {name}")) == [f"{where}/child"]
    assert {"core://हिन्दी", "core://a_b", "core://a_b_2", "core://a_b_3", "core://_"} <= set(outline)
    assert sum("brought under the name" in remark for remark in report.remarks) == 6 + 1
    again = await bring(ann, original)
    assert (again.paths, again.remarks, await ann.outline()) == (0, [], outline)


async def found(ann: Gardener, content: str) -> Memory:
    page = await ann.engine.memories.page(ann.actor, 1000)
    (memory,) = [memory for memory in page.memories if memory.content == content]
    return memory


async def test_a_path_that_would_close_a_circle_is_left_out_and_told(ann: Gardener, original: Original) -> None:
    original.memory(1, "self")
    original.memory(2, "child")
    original.path("a", 1)
    original.path("a/b", 1)
    original.path("a/b/c", 2)
    report = await bring(ann, original)
    assert any("a/b: left out" in remark for remark in report.remarks)
    assert (await ann.at("core://a/b")).content == NOTE
    assert (await ann.at("core://a/b/c")).content == "child"
    outline = await ann.outline()
    await bring(ann, original)
    assert await ann.outline() == outline


async def test_the_children_of_two_aliases_are_joined(ann: Gardener, original: Original) -> None:
    original.memory(1, "shared")
    original.memory(2, "below a")
    original.memory(3, "below b")
    original.path("a", 1)
    original.path("b", 1)
    original.path("a/x", 2)
    original.path("b/x", 3)
    report = await bring(ann, original)
    assert await ann.children("core://a") == await ann.children("core://b") == ["x", "x_2"]
    assert any("'x_2'" in remark for remark in report.remarks)


async def test_blank_texts_are_left_out_and_told(ann: Gardener, original: Original) -> None:
    original.memory(1, "   ")
    original.memory(2, "", to=3)
    original.memory(3, "after nothing")
    original.memory(4, "x" * (MAX_CONTENT_BYTES + 1))
    original.memory(5, "nul \x00 inside")
    original.path("blank", 1)
    original.path("blank/child", 3)
    report = await bring(ann, original)
    assert (report.memories, report.orphans) == (2, 1)
    assert sum("left out" in remark for remark in report.remarks) == 3
    assert (await ann.at("core://blank")).content == NOTE
    assert (await ann.at("core://blank/child")).version == 1
    assert list(await ann.orphans()) == ["nul  inside"]


async def test_extreme_labels_and_depths_are_brought_as_far_as_they_go(ann: Gardener, original: Original) -> None:
    original.memory(1, "text")
    original.path("a", 1, priority=2**60, disclosure=" " + "d" * 5000)
    original.memory(2, "deep")
    original.path("/".join("d" * 2000), 2)
    report = await bring(ann, original)
    node = await ann.look("core://a")
    assert node.path
    assert (node.path.priority, len(node.path.disclosure)) == (MOST_PRIORITY, MAX_DISCLOSURE_CHARS)
    assert any("too deep" in remark for remark in report.remarks)
    assert list(await ann.orphans()) == ["deep"]


async def test_an_address_that_is_taken_here_is_left_to_who_has_it(ann: Gardener, original: Original) -> None:
    await ann.plant("core://agent", "mine")
    original.memory(1, "theirs")
    original.memory(2, "below theirs")
    original.path("agent", 1)
    original.path("agent/x", 2)
    await bring(ann, original)
    assert (await ann.at("core://agent")).content == "mine"
    assert (await ann.at("core://agent_2")).content == "theirs"
    assert (await ann.at("core://agent_2/x")).content == "below theirs"


async def test_an_import_can_be_taken_back_as_a_whole(ann: Gardener, tmp_path: Path) -> None:
    await bring(ann, everyday(tmp_path / "demo.db"))
    undone = await ann.engine.undo.take_back(ann.during("person").actor, "import")
    assert {step.remedy for step in undone.steps} == {Remedy.UNPLANTED, Remedy.REMOVED}
    assert (await ann.engine.memories.page(ann.actor, 1)).total == 0
    report = await bring(ann, everyday(tmp_path / "again.db"))
    assert report.memories == 4


async def test_a_model_that_fails_keeps_no_memory_out(ann: Gardener, tmp_path: Path, embedder: Embedder) -> None:
    embedder.broken = "gone"
    report = await bring(ann, everyday(tmp_path / "demo.db"))
    assert report.memories == 4


async def test_who_may_only_read_brings_nothing(ann: Gardener, tmp_path: Path) -> None:
    reader = await another(ann.engine, "owner", frozenset({Permission.READ}))
    with pytest.raises(Forbidden):
        await bring(reader, everyday(tmp_path / "demo.db"))


async def test_nothing_to_bring_is_nothing_brought(ann: Gardener, original: Original) -> None:
    report = await bring(ann, original)
    assert report == ArrivalReport()
    assert len(report.lines) == 2


async def test_two_thousand_memories_are_brought_and_recognised(ann: Gardener, original: Original) -> None:
    original.many(2000)
    report = await bring(ann, original)
    assert (report.memories, report.paths, report.orphans, report.remarks) == (2000, 2000, 0, [])
    assert len(await ann.children("core://top7")) == 49
    again = await bring(ann, original)
    assert (again.known, again.known_paths, again.memories, again.paths) == (2000, 2000, 0, 0)
