"""Which memories a text brings to mind when it is stored: close ones, and what the author wrote just before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import UserId
from commonplace.domain.likeness import TEXTS
from commonplace.domain.link import LinkKind
from commonplace.domain.ranking import Scale, closeness
from commonplace.ports import Reading

if TYPE_CHECKING:
    from commonplace.ports import Vectors

CLOSE = 0.7
"""From this similarity on, two memories are associated: of a thousand pairs with nothing in common hardly one."""
MOST_CLOSE = 5
MOST_RECENT = 3
A_SHORT_WHILE = timedelta(minutes=10)
STRONGEST_IN_TIME = 0.4
"""For the text just before; the second before counts half, the third a third: a list that is stored says little.

Weaker than any tie by meaning: that two texts were written together says less than that they speak of the same."""
_GLANCE = 24

Found = Mapping[tuple[LinkKind, int], float]
"""The numbers of memories, by the kind of tie, and how strong it is."""


def associated(
    tx: Reading,
    user: UserId,
    vector: Vectors | None,
    fingerprint: str,
    scale: Scale,
    among: Filter,
    at: datetime,
    itself: int = 0,
) -> Found:
    """What a text of this author, written at that time, is tied to; not to itself where it is stored already."""
    close = {} if vector is None else dict(_close(tx, vector, fingerprint, scale, among, itself))
    return {**close, **dict(_recent(tx, user, among, at, itself))}


def _recent(
    tx: Reading, user: UserId, among: Filter, at: datetime, itself: int
) -> Iterator[tuple[tuple[LinkKind, int], float]]:
    written = tx.links.latest_by(user, at - A_SHORT_WHILE, at, among, MOST_RECENT + 1)
    others = [(number, then) for number, then in written if number != itself]
    for place, (number, then) in enumerate(others[:MOST_RECENT], 1):
        if at - then < A_SHORT_WHILE:
            yield (LinkKind.TEMPORAL, number), STRONGEST_IN_TIME * (1 - (at - then) / A_SHORT_WHILE) / place


def _close(
    tx: Reading, vector: Vectors, fingerprint: str, scale: Scale, among: Filter, itself: int
) -> Iterator[tuple[tuple[LinkKind, int], float]]:
    cosines = tx.scan(vector, fingerprint, among).best(_GLANCE)
    others = sorted((number for number in cosines if number != itself), key=lambda n: (-cosines[n], n))
    for number in others[:MOST_CLOSE]:
        strength = TEXTS.similarity(closeness(cosines[number], 0.0, scale))
        if strength >= CLOSE:
            yield (LinkKind.SEMANTIC, number), strength
