"""Edges between memories."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.domain.identifiers import MemoryId


class LinkKind(StrEnum):
    DERIVED_FROM = "derived_from"
    ANNOTATES = "annotates"
    REFERENCES = "references"
    SEMANTIC = "semantic"
    TEMPORAL = "temporal"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Link:
    """A typed, weighted edge from one memory to another."""

    source: MemoryId
    target: MemoryId
    kind: LinkKind
    strength: float
    created_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Tie:
    """A link as it is seen from one of its ends: where it leads, whatever its direction."""

    other: int
    kind: LinkKind
    strength: float
    created_at: datetime
    used_at: datetime | None

    def strength_at(self, now: datetime) -> float:
        """What was found by the house itself fades when it is not used; what someone said stays."""
        if self.kind not in FADING:
            return self.strength
        idle = (now - (self.used_at or self.created_at)) / HALF_LIFE
        return self.strength * (LASTING + (1 - LASTING) * float(0.5 ** max(idle, 0.0)))


HALF_LIFE = timedelta(days=90)
LASTING = 0.3
"""The share of a strength that does not fade."""
FADING = frozenset({LinkKind.SEMANTIC, LinkKind.TEMPORAL})
LOOSE = FADING | {LinkKind.MANUAL}
"""What can be untied by hand; all others follow from what a memory itself says."""
