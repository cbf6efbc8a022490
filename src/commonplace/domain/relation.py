"""From some memories along their relations to others: the nearest first, and never more than can be shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commonplace.domain.link import LinkKind

RELATIONS = (LinkKind.DERIVED_FROM, LinkKind.ANNOTATES, LinkKind.REFERENCES)
"""The links that someone meant; the others are found by the house itself or tied by hand."""


class Edge(NamedTuple):
    """That one memory has a relation to another, by their numbers."""

    source: int
    target: int
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was reached, the nearest first and of those the newest, and all edges between them."""

    numbers: tuple[int, ...]
    edges: tuple[Edge, ...]
    whole: bool
    """Whether that is all there is: it is not where more was found than is looked at."""


def surroundings(
    starts: Sequence[int],
    touching: Callable[[Sequence[int], int], Sequence[Edge]],
    *,
    depth: int,
    most: int,
    most_edges: int,
) -> Surroundings:
    """All that so many steps lead to, in either direction. `touching` gives the edges of some, up to a number."""
    reached = dict.fromkeys(starts[:most])
    edges: dict[Edge, None] = {}
    border, whole = list(reached), len(starts) <= most
    for step in range(depth + 1):
        found = touching(border, most_edges) if border else ()
        edges |= dict.fromkeys(found)
        ends = {end for edge in found for end in (edge.source, edge.target)}
        beyond = sorted(ends - reached.keys(), reverse=True)
        border = beyond[: max(most - len(reached), 0)] if step < depth else []  # at last only edges between the known
        whole = whole and len(found) < most_edges and (step == depth or len(border) == len(beyond))
        reached |= dict.fromkeys(border)
    inside = tuple(edge for edge in edges if edge.source in reached and edge.target in reached)
    return Surroundings(tuple(reached), inside, whole)


def shown(around: Surroundings, nodes: int, edges: int) -> tuple[tuple[int, ...], tuple[Edge, ...]]:
    """As much of it as there is room for: the nearest, and the edges between them."""
    numbers = around.numbers[:nodes]
    there = frozenset(numbers)
    return numbers, tuple(edge for edge in around.edges if edge.source in there and edge.target in there)[:edges]
