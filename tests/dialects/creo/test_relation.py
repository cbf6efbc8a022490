"""メモリ関係: get_provenance, get_relations, as diagrams that Mermaid itself reads."""

import re
from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.errors import NotFound
from tests.dialects.conversation import unique
from tests.dialects.creo.sharing import ABSENT, plant, team_of
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock
from tests.pictures.test_mermaid import HOSTILE, Mermaid, mermaid  # noqa: F401  (a fixture)

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

STORABLE = [text for text in HOSTILE if text.isprintable() and text.strip() and "\ud800" not in text]


async def derived(speaker: Speaker | CreoConversation, *sources: str, content: str = "", **more: Any) -> str:
    return await speaker.remember(content or unique(), metadata={"derivedFrom": list(sources)}, **more)


def ends(answer: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (e["source"].removeprefix("memories:"), e["type"], e["target"].removeprefix("memories:"))
        for e in answer["edges"]
    }


def shown(answer: dict[str, Any]) -> set[str]:
    assert all(node["id"].startswith("memories:") for node in answer["nodes"])
    return {node["id"].removeprefix("memories:") for node in answer["nodes"]}


@behaviour("creo.relation.provenance")
async def test_where_a_memory_came_from_and_what_came_of_it(talk: CreoConversation) -> None:
    root = await talk.remember("最初の設計", category="design")
    middle = await derived(talk, f"memories:{root}", content="改訂")
    leaf = await derived(talk, middle, content="実装")
    await talk.call("annotate", targetMemoryId=middle, content="関係のない注釈")
    answer = await talk.answer("get_provenance", memoryId=f"memories:{middle}")
    assert not answer.is_error
    graph: dict[str, Any] = answer.structured_content or {}
    assert shown(graph) == {root, middle, leaf}
    assert ends(graph) == {(middle, "derived_from", root), (leaf, "derived_from", middle)}
    assert {"id": f"memories:{root}", "label": "最初の設計", "category": "design"} in graph["nodes"]
    assert (graph["total"], graph["leftOut"], graph["totalEdges"], graph["leftOutEdges"]) == (3, 0, 2, 0)
    assert graph["complete"]
    assert graph["mermaid"].startswith("flowchart TD\n")
    assert answer.content[0].text == f"```mermaid\n{graph['mermaid']}\n```"  # type: ignore[union-attr]


@behaviour("creo.relation.kinds")
async def test_each_kind_of_relation_has_its_arrow(talk: CreoConversation) -> None:
    target = await talk.remember("的")
    child = await derived(talk, target, content="派生")
    note = (await talk.call("annotate", targetMemoryId=target, content="注釈"))["id"]
    mention = await talk.remember(f"memories:{target} を参照")
    graph = await talk.call("get_relations", memoryId=target)
    assert ends(graph) == {
        (child, "derived_from", target),
        (note, "annotates", target),
        (mention, "references", target),
    }
    places = {name: place for place, name in re.findall(r"%% (n\d+) = memories:(\S+)", graph["mermaid"])}
    for source, arrow in ((child, "-->|derived_from|"), (note, "-.->|annotates|"), (mention, "==>|references|")):
        assert f"{places[source]} {arrow} {places[target]}" in graph["mermaid"]


@behaviour("creo.relation.types")
async def test_types_choose_what_is_followed(talk: CreoConversation) -> None:
    target = await talk.remember()
    child = await derived(talk, target)
    note = (await talk.call("annotate", targetMemoryId=child, content="注釈"))["id"]
    for types, expected in (
        (["derived_from"], {target, child}),
        (["annotates"], {target}),
        (["references"], {target}),
        (["derived_from", "annotates", "annotates"], {target, child, note}),
        ([], {target, child, note}),
    ):
        assert shown(await talk.call("get_relations", memoryId=target, types=types)) == expected
    assert "types" in await talk.invalid("get_relations", memoryId=target, types=["semantic"])


@behaviour("creo.relation.depth")
async def test_depth_is_three_unless_said_otherwise(talk: CreoConversation) -> None:
    chain = [await talk.remember()]
    for _ in range(5):
        chain.append(await derived(talk, chain[-1]))
    for tool in ("get_provenance", "get_relations"):
        assert shown(await talk.call(tool, memoryId=chain[0])) == set(chain[:4])
        assert shown(await talk.call(tool, memoryId=chain[0], depth=1)) == set(chain[:2])
        assert shown(await talk.call(tool, memoryId=chain[0], depth=10)) == set(chain)
        for depth in (0, 11, -1, 1.5):
            assert "depth" in await talk.invalid(tool, memoryId=chain[0], depth=depth)


@behaviour("creo.relation.one_start")
async def test_a_memory_or_an_atlas_is_needed_and_not_both(talk: CreoConversation) -> None:
    memory = await talk.remember()
    for tool in ("get_provenance", "get_relations"):
        for arguments in ({}, {"memoryId": memory, "atlasId": f"atlas:{ABSENT}"}):
            assert "give either memoryId or atlasId" in await talk.invalid(tool, **arguments)
        assert "memoryId" in await talk.invalid(tool, memoryId="x")
        assert "atlasId" in await talk.invalid(tool, atlasId=f"memories:{ABSENT}")
        assert (await talk.refused(tool, memoryId=ABSENT)).startswith("メモリが見つかりません")
        assert (await talk.refused(tool, atlasId=ABSENT)).startswith("Atlasが見つかりません")


@behaviour("creo.relation.atlas")
async def test_an_atlas_shows_all_its_memories_and_those_below(talk: CreoConversation) -> None:
    top = (await talk.call("create_atlas", name="上"))["id"]
    low = (await talk.call("create_atlas", name="下", parent_id=top))["id"]
    source = await talk.remember()
    inside = await derived(talk, source, atlasId=top)
    apart = await talk.remember(atlasId=top)
    below = await derived(talk, inside, atlasId=low)
    graph = await talk.call("get_provenance", atlasId=top)
    assert shown(graph) == {source, inside, apart, below}
    assert ends(graph) == {(inside, "derived_from", source), (below, "derived_from", inside)}
    assert graph["nodes"][-1]["id"] == f"memories:{apart}"
    assert shown(await talk.call("get_relations", atlasId=low, depth=1)) == {below, inside}
    empty = (await talk.call("create_atlas", name="空"))["id"]
    nothing = await talk.call("get_relations", atlasId=empty)
    assert (nothing["mermaid"], nothing["nodes"], nothing["total"]) == ("flowchart TD", [], 0)


@behaviour("creo.relation.bounded")
async def test_a_hundred_memories_are_drawn_and_the_rest_is_counted(ann: Speaker) -> None:
    target = await ann.remember("中心")
    for number in range(120):
        await ann.remember(f"{number}: memories:{target}", metadata={"derivedFrom": target})
    graph = await ann.call("get_relations", memoryId=target)
    assert (len(graph["nodes"]), graph["total"], graph["leftOut"]) == (100, 121, 21)
    assert (len(graph["edges"]), graph["totalEdges"], graph["leftOutEdges"]) == (198, 240, 42)
    assert graph["mermaid"].endswith("%% left out: 21 nodes, 42 edges")
    words = await ann.says("get_relations", memoryId=target)
    assert words.endswith("```\n（他にメモリ21件、関係42件を省略しました）")
    whole = await ann.call("get_provenance", memoryId=target, depth=1)
    assert whole["total"] == 121


@behaviour("creo.relation.hostile")
async def test_any_content_makes_a_diagram_that_mermaid_reads(ann: Speaker, mermaid: Mermaid) -> None:  # noqa: F811
    target = await ann.remember("的")
    for text in STORABLE:
        await derived(ann, target, content=text)
    graph = await ann.call("get_provenance", memoryId=target)
    assert graph["total"] == len(STORABLE) + 1
    read = mermaid.read(graph["mermaid"])
    assert read.labels == [node["label"] for node in graph["nodes"]]
    assert len(read.edges) == len(STORABLE)
    fence = await ann.says("get_provenance", memoryId=target)
    assert fence.count("```") == 2


@behaviour("creo.relation.labels")
async def test_a_node_is_the_beginning_of_its_memory_on_one_line(ann: Speaker) -> None:
    long = await ann.remember("# 見出し\n\n" + "長" * 300_000)
    (node,) = (await ann.call("get_relations", memoryId=long))["nodes"]
    assert node["label"].startswith("# 見出し 長長")
    assert node["label"].endswith("…")
    assert len(node["label"]) == 60
    assert node["category"] is None


@behaviour("creo.relation.unseen")
async def test_what_one_may_not_see_is_not_hinted_at(ann: Speaker, ben: Speaker) -> None:
    atlas, team = await plant(ann), await team_of(ann, ben)
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    shared = await ann.remember("共有", atlasId=atlas)
    hidden = await derived(ann, shared, content="秘密")
    behind = await derived(ann, hidden, content="その先", atlasId=atlas)
    assert shown(await ann.call("get_provenance", memoryId=shared)) == {shared, hidden, behind}
    for tool in ("get_provenance", "get_relations"):
        graph = await ben.call(tool, memoryId=shared)
        assert (shown(graph), graph["total"], graph["totalEdges"]) == ({shared}, 1, 0)
        whole = await ben.call(tool, atlasId=atlas)
        assert (shown(whole), whole["total"], whole["totalEdges"]) == ({shared, behind}, 2, 0)
        assert hidden not in graph["mermaid"] + whole["mermaid"]


@behaviour("creo.relation.others")
async def test_memories_and_atlases_of_others_are_not_found(ann: Speaker, ben: Speaker) -> None:
    memory, atlas = await ann.remember(), await plant(ann)
    for tool in ("get_provenance", "get_relations"):
        for theirs, absent in (({"memoryId": memory}, {"memoryId": ABSENT}), ({"atlasId": atlas}, {"atlasId": ABSENT})):
            one, other = await ben.refused(tool, **theirs), await ben.refused(tool, **absent)
            assert isinstance(one, NotFound)
            assert isinstance(other, NotFound)
            assert one.what == other.what


@behaviour("creo.relation.gone")
async def test_what_is_forgotten_or_has_ended_leads_nowhere(ann: Speaker, clock: Clock) -> None:
    first = await ann.remember()
    second = await derived(ann, first, ttl=60)
    third = await derived(ann, second)
    assert shown(await ann.call("get_provenance", memoryId=first)) == {first, second, third}
    clock.advance(timedelta(seconds=60))
    assert shown(await ann.call("get_provenance", memoryId=first)) == {first}
    fourth = await derived(ann, third)
    await ann.call("forget", id=third, confirm=True)
    assert shown(await ann.call("get_provenance", memoryId=fourth)) == {fourth}
