from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId, MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Draft, Memory
from commonplace.domain.relation import RELATIONS, Edge, shown, surroundings
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.relations import MOST_EDGES, MOST_NODES, Graph
from commonplace.ports import Transaction
from tests.engine.test_collections import ABSENT, at, keep, project, user
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

DERIVED, ANNOTATES, REFERENCES = RELATIONS


async def made(engine: Engine, actor: Actor, text: str, *links: tuple[LinkKind, Memory], home: str = "") -> Memory:
    named = tuple((kind, memory.id) for kind, memory in links)
    return await engine.memories.remember(actor, Draft(text, links=named, home=CollectionId(home) if home else None))


async def chain(engine: Engine, actor: Actor, length: int, kind: LinkKind = DERIVED) -> list[Memory]:
    """Each derived from the one before."""
    memories = [await made(engine, actor, "0")]
    for number in range(1, length):
        memories.append(await made(engine, actor, str(number), (kind, memories[-1])))
    return memories


async def atlas(engine: Engine, founder: Actor, parent: int | None = None) -> tuple[CollectionId, int]:
    found = (await engine.collections.found(founder, Kind.ATLAS, "an atlas")).collection
    await engine.store.write(lambda tx: tx.collections.put_below(found.number, parent))
    return found.id, found.number


async def around(engine: Engine, actor: Actor, memory: Memory, depth: int = 3) -> Graph:
    return await engine.relations.around(actor, at(memory), RELATIONS, depth)


def texts(graph: Graph) -> list[str]:
    return [memory.content for memory in graph.memories]


def arrows(graph: Graph) -> set[tuple[str, str, str]]:
    said = {memory.id: memory.content for memory in graph.memories}
    return {(said[one.source], one.kind.value, said[one.target]) for one in graph.relations}


async def test_relations_are_followed_in_both_directions_as_far_as_asked(engine: Engine, owner: Actor) -> None:
    memories = await chain(engine, owner, 7)
    graph = await around(engine, owner, memories[3], depth=2)
    assert texts(graph) == ["3", "4", "2", "5", "1"]
    assert arrows(graph) == {(str(n + 1), "derived_from", str(n)) for n in range(1, 5)}
    assert (graph.total, graph.total_relations, graph.whole) == (5, 4, True)
    assert sorted(texts(await around(engine, owner, memories[3], depth=10))) == list("0123456")


async def test_a_memory_without_relations_stands_alone(engine: Engine, owner: Actor) -> None:
    graph = await around(engine, owner, await made(engine, owner, "alone"))
    assert (texts(graph), graph.relations, graph.total) == (["alone"], (), 1)


async def test_only_the_kinds_that_were_asked_for_are_followed(engine: Engine, owner: Actor) -> None:
    start = await made(engine, owner, "start")
    await made(engine, owner, "d", (DERIVED, start))
    await made(engine, owner, "a", (ANNOTATES, start))
    await made(engine, owner, "r", (REFERENCES, start))
    found = await made(engine, owner, "s", (LinkKind.SEMANTIC, start), (LinkKind.MANUAL, start))
    for kind, text in zip(RELATIONS, "dar", strict=True):
        graph = await engine.relations.around(owner, at(start), [kind], 3)
        assert arrows(graph) == {(text, kind.value, "start")}
    everything = await engine.relations.around(owner, at(start), RELATIONS, 3)
    assert everything.total_relations == 3
    none = await engine.relations.around(owner, at(start), [LinkKind.SEMANTIC], 3)
    assert found.id not in {memory.id for memory in none.memories}


async def test_two_memories_may_have_several_relations_and_go_in_circles(engine: Engine, owner: Actor) -> None:
    one = await made(engine, owner, "one")
    two = await made(engine, owner, "two", (DERIVED, one), (REFERENCES, one))
    back = Link(one.id, two.id, REFERENCES, 1.0, one.created_at)
    await engine.store.write(lambda tx: tx.links.add(back))
    graph = await around(engine, owner, one, depth=10)
    assert arrows(graph) == {
        ("two", "derived_from", "one"),
        ("two", "references", "one"),
        ("one", "references", "two"),
    }
    assert graph.total == 2


async def test_relations_between_the_farthest_are_shown_too(engine: Engine, owner: Actor) -> None:
    start = await made(engine, owner, "start")
    one = await made(engine, owner, "one", (DERIVED, start))
    await made(engine, owner, "two", (DERIVED, start), (REFERENCES, one))
    graph = await around(engine, owner, start, depth=1)
    assert ("two", "references", "one") in arrows(graph)


async def test_what_may_not_be_seen_is_not_hinted_at(engine: Engine, owner: Actor) -> None:
    anna, bert = [await user(engine, name) for name in ("anna", "bert")]
    home = await project(engine, anna, bert=Right.READ)
    shared = await made(engine, anna, "shared", home=home)
    hidden = await made(engine, anna, "hidden", (DERIVED, shared))
    await made(engine, anna, "behind it", (DERIVED, hidden), home=home)
    hers, his = await around(engine, anna, shared), await around(engine, bert, shared)
    assert sorted(texts(hers)) == ["behind it", "hidden", "shared"]
    assert (texts(his), his.relations, his.total, his.total_relations) == (["shared"], (), 1, 0)
    with pytest.raises(NotFound):
        await around(engine, owner, shared)
    with pytest.raises(NotFound):
        await engine.relations.around(owner, Reference(id=MemoryId(ABSENT)), RELATIONS, 3)


async def test_what_has_ended_is_no_bridge(engine: Engine, owner: Actor, clock: Clock) -> None:
    memories = await chain(engine, owner, 3)
    await engine.memories.set_end(owner, at(memories[1]), timedelta(minutes=1))
    assert (await around(engine, owner, memories[0])).total == 3
    clock.advance(timedelta(minutes=1))
    assert texts(await around(engine, owner, memories[0])) == ["0"]


async def test_a_large_graph_is_shown_in_part_and_counted_whole(engine: Engine, owner: Actor) -> None:
    start = await made(engine, owner, "start")
    drafts = [await keep(engine, owner, f"leaf {number}") for number in range(MOST_NODES + 50)]

    def tie(tx: Transaction) -> None:
        for leaf in drafts:
            for kind in RELATIONS:
                tx.links.add(Link(leaf.id, start.id, kind, 1.0, leaf.created_at))

    await engine.store.write(tie)
    graph = await around(engine, owner, start)
    assert (len(graph.memories), graph.total) == (MOST_NODES, MOST_NODES + 51)
    assert (len(graph.relations), graph.total_relations) == (MOST_EDGES, 3 * (MOST_NODES + 50))
    assert graph.whole
    there = {memory.id for memory in graph.memories}
    assert all({one.source, one.target} <= there for one in graph.relations)
    assert texts(graph)[:2] == ["start", f"leaf {MOST_NODES + 49}"]


async def test_an_atlas_begins_with_all_its_memories_and_those_below(engine: Engine, owner: Actor) -> None:
    top, number = await atlas(engine, owner)
    below, _ = await atlas(engine, owner, number)
    source = await made(engine, owner, "outside")
    await made(engine, owner, "in it", (DERIVED, source), home=top)
    await made(engine, owner, "apart", home=top)
    lower = await made(engine, owner, "below", home=below)
    await made(engine, owner, "elsewhere", (REFERENCES, lower))
    graph = await engine.relations.within(owner, top, RELATIONS, 3)
    assert texts(graph)[-1] == "apart"
    assert sorted(texts(graph)) == ["apart", "below", "elsewhere", "in it", "outside"]
    assert arrows(graph) == {("in it", "derived_from", "outside"), ("elsewhere", "references", "below")}
    assert (graph.total, graph.total_relations, graph.whole) == (5, 2, True)
    under = await engine.relations.within(owner, below, [DERIVED], 3)
    assert (texts(under), under.total) == (["below"], 1)


async def test_an_empty_atlas_has_an_empty_graph(engine: Engine, owner: Actor) -> None:
    found, _ = await atlas(engine, owner)
    graph = await engine.relations.within(owner, found, RELATIONS, 3)
    assert (graph.memories, graph.relations, graph.total) == ((), (), 0)


async def test_a_large_atlas_is_counted_whole(engine: Engine, owner: Actor) -> None:
    found, _ = await atlas(engine, owner)
    first = await made(engine, owner, "first", home=found)
    for number in range(MOST_NODES + 5):
        await made(engine, owner, str(number), home=found)
    await made(engine, owner, "last", (DERIVED, first), home=found)
    graph = await engine.relations.within(owner, found, RELATIONS, 3)
    assert texts(graph)[:2] == ["last", "first"]
    assert (len(graph.memories), graph.total, graph.whole) == (MOST_NODES, MOST_NODES + 7, True)


async def test_an_atlas_that_may_not_be_seen_is_as_absent_as_one_that_never_was(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    hers, _ = await atlas(engine, anna)
    other = await project(engine, owner)
    for wanted in (hers, ABSENT, other):
        with pytest.raises(NotFound) as caught:
            await engine.relations.within(owner, wanted, RELATIONS, 3)
        assert (caught.value.what, caught.value.name) == ("atlas", wanted)


async def test_depth_has_its_limits(engine: Engine, owner: Actor) -> None:
    memory = await made(engine, owner, "x")
    found, _ = await atlas(engine, owner)
    for depth in (0, -1, 11):
        with pytest.raises(Invalid):
            await around(engine, owner, memory, depth)
        with pytest.raises(Invalid):
            await engine.relations.within(owner, found, RELATIONS, depth)


async def test_a_key_that_may_not_read_sees_no_relations(engine: Engine) -> None:
    writer = await user(engine, "wim", frozenset({Permission.WRITE}))
    memory = await made(engine, writer, "x")
    with pytest.raises(Forbidden):
        await around(engine, writer, memory)


# The walk itself

EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40)


@given(EDGES, st.integers(0, 12), st.integers(1, 5))
def test_exactly_what_is_near_enough_is_reached(pairs: list[tuple[int, int]], start: int, depth: int) -> None:
    edges = [Edge(source, target, DERIVED) for source, target in pairs]
    found = surroundings([start], _touching(edges), depth=depth, most=100, most_edges=1000)
    near = {start}
    for _ in range(depth):
        near |= {end for edge in edges if {edge.source, edge.target} & near for end in edge[:2]}
    assert set(found.numbers) == near
    assert set(found.edges) == {edge for edge in edges if {edge.source, edge.target} <= near}
    assert found.whole


@given(EDGES, st.integers(1, 6), st.integers(1, 8))
def test_what_is_cut_off_is_owned_up_to(pairs: list[tuple[int, int]], most: int, most_edges: int) -> None:
    edges = [Edge(source, target, DERIVED) for source, target in pairs]
    everything = surroundings([0], _touching(edges), depth=5, most=100, most_edges=1000)
    found = surroundings([0], _touching(edges), depth=5, most=most, most_edges=most_edges)
    assert len(found.numbers) <= most
    assert set(found.numbers) <= set(everything.numbers)
    if found.whole:
        assert (set(found.numbers), set(found.edges)) == (set(everything.numbers), set(everything.edges))


@given(EDGES, st.integers(0, 5), st.integers(0, 5))
def test_what_is_shown_hangs_together(pairs: list[tuple[int, int]], nodes: int, count: int) -> None:
    edges = [Edge(source, target, DERIVED) for source, target in pairs]
    found = surroundings([0], _touching(edges), depth=3, most=100, most_edges=1000)
    numbers, drawn = shown(found, nodes, count)
    assert numbers == found.numbers[:nodes]
    assert len(drawn) <= count
    assert all({edge.source, edge.target} <= set(numbers) for edge in drawn)


def _touching(edges: list[Edge]) -> Callable[[Sequence[int], int], Sequence[Edge]]:
    def touching(numbers: Sequence[int], limit: int) -> Sequence[Edge]:
        chosen = frozenset(numbers)
        return [edge for edge in dict.fromkeys(edges) if edge.source in chosen or edge.target in chosen][:limit]

    return touching
