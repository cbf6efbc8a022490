"""Whatever memories say, Mermaid itself reads the diagram, and reads in it what was meant."""

from __future__ import annotations

import importlib
import json
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commonplace.pictures.mermaid import LONGEST_LABEL, Edge, Node, flowchart, label
from tests.pictures.samples import HOSTILE as HOSTILE_PICTURES

MOST_TEXT, MOST_EDGES = 50_000, 500
"""What Mermaid accepts when nobody has set it higher."""
STACK = 64 * 1024 * 1024
NUMBERED = re.compile(r"ﬂ°°(\d+)¶ß")
READ = """
globalThis.answer = null;
mermaid.parse(source)
  .then(() => mermaid.mermaidAPI.getDiagramFromText(source))
  .then(({type, db}) => { answer = JSON.stringify({
    type,
    nodes: [...db.getVertices()].map(([name, node]) => [name, node.text, node.labelType, node.type]),
    edges: db.getEdges().map((edge) => [edge.start, edge.stroke, edge.text, edge.end]),
    more: [...db.getClasses().keys(), ...db.getSubGraphs(), ...Object.keys(db.getTooltip?.("n0") ?? {})],
  }); })
  .catch((error) => { answer = JSON.stringify({error: String(error.message ?? error)}); });
"""


@dataclass(frozen=True)
class Diagram:
    """A flowchart as Mermaid has understood it."""

    labels: list[str]
    edges: list[list[str]]


class Mermaid:
    """The real one, in an engine for JavaScript; it needs a deep stack, hence a thread of its own."""

    def __init__(self) -> None:
        before = threading.stack_size(STACK)
        self._thread = ThreadPoolExecutor(max_workers=1)
        try:
            self._thread.submit(self._load).result()
        finally:
            threading.stack_size(before)

    def _load(self) -> None:
        context = importlib.import_module("quickjs").Context()
        context.set_max_stack_size(STACK // 2)
        context.eval("for (const name of ['__log', '__measureText', '__measureGlyphs']) globalThis[name] = () => 0;")
        context.eval(
            "globalThis.__measureTextFull = globalThis.__measureForeignObject = () => ({width: 1, height: 1});"
        )
        for script in importlib.import_module("mermaidx.engines._common").context_scripts():
            context.eval(script)
        context.eval("mermaid.initialize({startOnLoad: false})")
        self._context = context

    def read(self, text: str) -> Diagram:
        answer = self._thread.submit(self._read, text).result()
        assert "error" not in answer, (answer["error"], text)
        assert answer["type"] == "flowchart-v2"
        assert answer["more"] == []
        assert [name for name, *_ in answer["nodes"]] == [f"n{at}" for at in range(len(answer["nodes"]))]
        assert {(node[2], node[3]) for node in answer["nodes"]} <= {("string", "square")}
        return Diagram([_decoded(node[1]) for node in answer["nodes"]], answer["edges"])

    def refuses(self, text: str) -> bool:
        return "error" in self._thread.submit(self._read, text).result()

    def _read(self, text: str) -> dict[str, Any]:
        self._context.eval(f"globalThis.source = {json.dumps(text)};")
        self._context.eval(READ)
        while self._has_more():
            pass
        answer: dict[str, Any] = json.loads(self._context.eval("answer.slice(0)"))
        return answer

    def _has_more(self) -> bool:
        try:
            return bool(self._context.execute_pending_job())
        except StopIteration:
            return False

    def close(self) -> None:
        self._thread.submit(self.__dict__.pop, "_context").result()
        self._thread.shutdown()


def _decoded(text: str) -> str:
    return NUMBERED.sub(lambda found: chr(int(found[1])), text)


@pytest.fixture(scope="module")
def mermaid() -> Iterator[Mermaid]:
    try:
        importlib.import_module("mermaidx")
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("what builds a release must have read the diagrams: mermaidx is needed")
        pytest.skip("mermaidx, which carries Mermaid, is not installed")
    mermaid = Mermaid()
    yield mermaid
    mermaid.close()


HOSTILE = [
    'say "hello"',
    '"]; n0 --> n9["',
    "`code` and ```fences```",
    '"`**markdown** of Mermaid`"',
    "`markdown`",
    "[x] (y) {z} <w> |v| /u/ \\t\\",
    "]) }) ]] }} )) >",
    "#quot; #35; #9829; &quot; &#35; &lt; &amp;lt;",
    "# heading; and; more;",
    "1. first",
    "- point",
    "%% comment",
    '%%{init: {"theme": "forest"}}%%',
    "---\ntitle: front matter\n---",
    "end",
    "End of the graph subgraph x end",
    "click n0 href 'javascript:alert(1)'",
    "click n0 call alert()",
    "style n0 fill:#f00;",
    "classDef hot fill:#f00; class n0 hot;",
    "linkStyle 0 stroke:#f00;",
    "n0:::hot@{ shape: circle }",
    "o--o x--x <--> --- -.- === ~~~ & o",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<br/> \\n a\nb\r\nc\td",
    "$$\\frac{1}{2}$$",
    "fa:fa-car fab:fa-twitter",
    "default",
    "🧠👩‍👩‍👧‍👦🇯🇵",
    "日本語の記憶、「引用」。",
    "\u202eright to left\u202c \u2066x\u2069 שלום مرحبا",
    "zero\u200bwidth\ufeff",
    "ﬂ°°34¶ß ﬂ°quot¶ß",
    "lone \ud800 surrogate",
    "NUL\x00 and \x1b[31m",
    "a\u0301\u0301\u0301\u0301\u0301\u0301",
    "\u115f",
    "",
    "accTitle: x",
    "direction LR",
    "in the direction  TD of travel",
    "directiondirection\nBT",
    "flowchart TD; a-->b",
    *HOSTILE_PICTURES,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_mermaid_reads_back_what_was_written(mermaid: Mermaid, text: str) -> None:
    diagram = flowchart([Node("a", text), Node("b", "other")], [Edge("a", "b", "references")])
    read = mermaid.read(diagram)
    assert read.labels == [label(text), "other"]
    assert read.edges == [["n0", "thick", "references", "n1"]]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=80) | st.text("\"`#;%[](){}<>|&\\/-=.:@~$*_^!?'\nend", max_size=80), max_size=4))
@example(["end", "x end y", "graph"])
def test_any_texts_make_a_diagram_that_says_them(mermaid: Mermaid, texts: list[str]) -> None:
    nodes = [Node(str(at), text) for at, text in enumerate(texts)]
    edges = [Edge(node.name, nodes[0].name, "derived_from") for node in nodes]
    assert mermaid.read(flowchart(nodes, edges)).labels == [label(text) for text in texts]


def test_each_kind_has_its_arrow(mermaid: Mermaid) -> None:
    kinds = ("derived_from", "annotates", "references")
    diagram = flowchart([Node("a", "A"), Node("b", "B")], [Edge("a", "b", kind) for kind in kinds])
    for line in ("n0 -->|derived_from| n1", "n0 -.->|annotates| n1", "n0 ==>|references| n1"):
        assert f"    {line}\n" in diagram
    strokes = ("normal", "dotted", "thick")
    assert mermaid.read(diagram).edges == [
        ["n0", stroke, kind, "n1"] for kind, stroke in zip(kinds, strokes, strict=True)
    ]


def test_nothing_is_a_diagram_too(mermaid: Mermaid) -> None:
    assert mermaid.read(flowchart([], [])).labels == []


def test_a_memory_may_refer_to_itself(mermaid: Mermaid) -> None:
    assert mermaid.read(flowchart([Node("a", "A")], [Edge("a", "a", "references")])).edges[0][::3] == ["n0", "n0"]


def test_which_node_is_which_memory_stands_in_comments(mermaid: Mermaid) -> None:
    diagram = flowchart([Node("memories:1-2", "A"), Node("x\n]y%%{", "B")], [])
    assert diagram.endswith("    %% n0 = memories:1-2\n    %% n1 = xy")
    assert len(mermaid.read(diagram).labels) == 2


def test_what_was_left_out_is_said(mermaid: Mermaid) -> None:
    diagram = flowchart([Node("a", "A")], [], 12, 3)
    assert diagram.endswith("\n    %% left out: 12 nodes, 3 edges")
    assert mermaid.read(diagram).labels == ["A"]


@pytest.mark.parametrize("text", ['"' * 1000, "~" * 1_000_000, "÷" * 1000, "日" * 1_000_000, " " * 1_000_000 + "x"])
def test_the_largest_diagram_stays_within_what_mermaid_accepts(text: str) -> None:
    nodes = [Node(f"memories:01890a5d-ac96-774b-bcce-b302099a{at:04}", text) for at in range(100)]
    edges = [Edge(nodes[at % 100].name, nodes[-at % 100].name, "derived_from") for at in range(200)]
    assert len(flowchart(nodes, edges, 10**9, 10**9)) < MOST_TEXT
    assert len(edges) < MOST_EDGES


def test_a_label_is_the_beginning_of_a_text_on_one_line() -> None:
    assert label("  one\ntwo\t three ") == "one two three"
    assert label("x" * 60) == "x" * 60
    assert label("x" * 61) == "x" * 59 + "…"
    assert len(label("word " * 200_000)) <= LONGEST_LABEL
    assert label(" \u200b\n") == "…"


def test_the_parser_of_these_tests_does_refuse(mermaid: Mermaid) -> None:
    assert mermaid.refuses('flowchart TD\n    n0["say "hello" to"]')
    assert mermaid.refuses("flowchart TD\n    n0[a(b]")


@pytest.mark.parametrize("html_labels", [True, False])
def test_a_drawn_label_is_text_and_no_markup(mermaid: Mermaid, html_labels: bool) -> None:
    hostile = ["<img src=x onerror=alert(1)>", "1. first", "`a` *b*", "fa:fa-car", "#60;b#62;", "$$x$$"]
    nodes = [Node(text, text) for text in hostile]
    drawn = (
        importlib.import_module("mermaidx")
        .Diagram(flowchart(nodes, []), config={"flowchart": {"htmlLabels": html_labels}})
        .svg()
    )
    drawn = drawn[drawn.rindex("</style>") :]
    shown = re.sub(r"<[^>]*>", " ", drawn)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, char)
    assert not re.search("<img|<b>|<script|<i class|Unsupported|katex", drawn)
    for text in hostile:
        assert text.replace(" ", "") in shown.replace(" ", "").replace("\n", "")
