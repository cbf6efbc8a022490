"""Memories and their relations as a Mermaid flowchart. Whatever a label says, it is a label and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.pictures.lettering import ELLIPSIS, clean

LONGEST_LABEL = 60
"""In characters: a hundred labels, written out in full as numbers, stay within the 50,000 that Mermaid accepts."""
_ARROWS = {"annotates": "-.->", "references": "==>"}
_ARROW = "-->"
# Letters, digits and blanks mean nothing to Mermaid, to Markdown or to HTML; but there is one word: Mermaid takes every
# line with `direction LR` in it, even in quotes, for a statement. And three letters: with them Mermaid itself writes an
# entity, and reads it as such even after it was drawn.
_SPECIAL = re.compile("[^0-9A-Za-z \u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\U0010ffff]|d(?=irection)")
_UNNAMED = re.compile("[^0-9A-Za-z_:-]")


@dataclass(frozen=True, slots=True)
class Node:
    """A memory: the name it is known by, and what is written on it."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two nodes, and of what kind."""

    source: str
    target: str
    kind: str


def flowchart(nodes: Sequence[Node], edges: Sequence[Edge], more_nodes: int = 0, more_edges: int = 0) -> str:
    """Nodes are numbered; which is which, and how much was left out, stands in comments."""
    places = {node.name: f"n{at}" for at, node in enumerate(nodes)}
    lines = ["flowchart TD", *_lines(nodes, edges, places)]
    if more_nodes or more_edges:
        lines.append(f"    %% left out: {more_nodes} nodes, {more_edges} edges")
    return "\n".join(lines)


def label(text: str) -> str:
    """The beginning of a text, fit to be written on a node: one line of what can be seen."""
    line = clean(text[: LONGEST_LABEL * 8]).replace("\ufb02", "fl").replace("¶ß", "¶ ß")
    if len(line) > LONGEST_LABEL or len(text) > LONGEST_LABEL * 8:
        line = line[: LONGEST_LABEL - 1].rstrip() + ELLIPSIS
    return line or ELLIPSIS


def escaped(text: str) -> str:
    """The text with everything that could mean something written as a number."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)


def _lines(nodes: Sequence[Node], edges: Sequence[Edge], places: dict[str, str]) -> Iterator[str]:
    for node in nodes:
        yield f'    {places[node.name]}["{escaped(label(node.label))}"]'
    for edge in edges:
        arrow = _ARROWS.get(edge.kind, _ARROW)
        yield f"    {places[edge.source]} {arrow}|{_plain(edge.kind)}| {places[edge.target]}"
    for node in nodes:
        yield f"    %% {places[node.name]} = {_plain(node.name)}"


def _plain(name: str) -> str:
    """A name without anything that could mean something: no name has it."""
    return _UNNAMED.sub("", name)
