"""Which memories a text brings to mind when it is stored: close ones, and what the author wrote just before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import UserId
from commonplace.domain.link import LinkKind
from commonplace.domain.ranking import Scale, similarity
from commonplace.ports import Reading

if TYPE_CHECKING:
    from commonplace.ports import Vectors

CLOSE = 0.7
"""From this calibrated similarity on, two memories are associated."""
MOST_CLOSE = 5
MOST_RECENT = 3
A_SHORT_WHILE = timedelta(minutes=10)
STRONGEST_IN_TIME = 0.6
_GLANCE = 24

Found = Mapping[tuple[LinkKind, int], float]
"""The numbers of memories, by the kind of tie, and how strong it is."""


def associated(
    tx: Reading, user: UserId, vector: Vectors | None, fingerprint: str, scale: Scale, among: Filter, at: datetime
) -> Found:
    """What a text of this author, written at that time, is tied to."""
    close = {} if vector is None else dict(_close(tx, vector, fingerprint, scale, among))
    recent = {
        (LinkKind.TEMPORAL, number): STRONGEST_IN_TIME * (1 - abs(at - written) / A_SHORT_WHILE)
        for number, written in tx.links.latest_by(user, at - A_SHORT_WHILE, among, MOST_RECENT)
        if written <= at and abs(at - written) < A_SHORT_WHILE
    }
    return {**close, **recent}


def _close(
    tx: Reading, vector: Vectors, fingerprint: str, scale: Scale, among: Filter
) -> Iterator[tuple[tuple[LinkKind, int], float]]:
    cosines = tx.scan(vector, fingerprint, among).best(_GLANCE)
    nearest = sorted(cosines, key=lambda number: (-cosines[number], number))[:MOST_CLOSE]
    for number in nearest:
        strength = similarity(cosines[number], 0.0, scale)
        if strength >= CLOSE:
            yield (LinkKind.SEMANTIC, number), strength
