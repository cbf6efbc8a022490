"""Edges between memories."""

from dataclasses import dataclass
from datetime import datetime
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
