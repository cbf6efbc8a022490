"""メモリ関係."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.domain.errors import Invalid
from commonplace.domain.link import LinkKind
from commonplace.domain.relation import RELATIONS
from commonplace.engine.relations import DEEPEST, Graph

Memory = Annotated[str | None, Field(description="The memory to start from; or give atlasId")]
Atlas = Annotated[str | None, Field(description="Start from all memories of this atlas and of those below it")]
Depth = Annotated[Whole, Field(description="How many steps to follow, in both directions", ge=1, le=DEEPEST)]


class Node(TypedDict):
    id: str
    label: str
    category: str | None


class Edge(TypedDict):
    source: str
    target: str
    type: str


class Diagram(TypedDict):
    """A graph; `complete` says whether the totals are exact: there are at least as many in any case."""

    mermaid: str
    nodes: list[Node]
    edges: list[Edge]
    total: int
    leftOut: int
    totalEdges: int
    leftOutEdges: int
    complete: bool


@creo.reads
async def get_provenance(
    call: Call, memoryId: Memory = None, atlasId: Atlas = None, depth: Depth = 3
) -> Answer[Diagram]:
    """What a memory (or all of an atlas) was derived from and what was derived from it, as a Mermaid flowchart."""
    return _drawn(await _graph(call, memoryId, atlasId, [LinkKind.DERIVED_FROM], depth))


@creo.reads
async def get_relations(
    call: Call,
    memoryId: Memory = None,
    atlasId: Atlas = None,
    depth: Depth = 3,
    types: Annotated[
        list[Literal["derived_from", "annotates", "references"]] | None,
        Field(description="Only these kinds of relation; all when left out"),
    ] = None,
) -> Answer[Diagram]:
    """How a memory (or all of an atlas) is related to others, as a Mermaid flowchart with typed arrows."""
    kinds = [LinkKind(one) for one in types] if types else RELATIONS
    return _drawn(await _graph(call, memoryId, atlasId, kinds, depth))


async def _graph(call: Call, memory: str | None, atlas: str | None, kinds: Iterable[LinkKind], depth: int) -> Graph:
    relations = call.engine.relations
    if memory is not None and atlas is None:
        return await relations.around(call.actor, ids.memory("memoryId", memory), kinds, depth)
    if atlas is not None and memory is None:
        return await relations.within(call.actor, ids.atlas("atlasId", atlas), kinds, depth)
    raise Invalid("memoryId", "give either memoryId or atlasId, one of the two")


def _drawn(graph: Graph) -> Answer[Diagram]:
    from commonplace.pictures import mermaid  # with all other pictures, which most callers never ask for

    nodes: list[Node] = [
        {"id": f"memories:{one.id}", "label": mermaid.label(one.content), "category": one.category or None}
        for one in graph.memories
    ]
    edges: list[Edge] = [
        {"source": f"memories:{one.source}", "target": f"memories:{one.target}", "type": one.kind.value}
        for one in graph.relations
    ]
    left, left_edges = graph.total - len(nodes), graph.total_relations - len(edges)
    diagram = mermaid.flowchart(
        [mermaid.Node(node["id"], node["label"]) for node in nodes],
        [mermaid.Edge(edge["source"], edge["target"], edge["type"]) for edge in edges],
        left,
        left_edges,
    )
    answer: Diagram = {
        "mermaid": diagram,
        "nodes": nodes,
        "edges": edges,
        "total": graph.total,
        "leftOut": left,
        "totalEdges": graph.total_relations,
        "leftOutEdges": left_edges,
        "complete": graph.whole,
    }
    return Answer(answer, text=f"```mermaid\n{diagram}\n```{_remark(answer)}")


def _remark(answer: Diagram) -> str:
    if not (answer["leftOut"] or answer["leftOutEdges"]):
        return ""
    more = "" if answer["complete"] else "以上"
    return f"\n（他にメモリ{answer['leftOut']}件{more}、関係{answer['leftOutEdges']}件{more}を省略しました）"
