"""Which memories a read is about. Every store resolves it before it searches, so a filter never costs recall."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Filter:
    """All conditions must hold; an absent one holds always. Expired memories are never in."""

    collections: frozenset[int]
    now: datetime
    since: datetime | None = None
    until: datetime | None = None
    importance_min: float | None = None
    importance_max: float | None = None
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    """Texts that must stand in the metadata, each under its name."""
    ephemeral: bool | None = None
    ttl_over: float | None = None
    ttl_upto: float | None = None
