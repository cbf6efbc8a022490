"""Memories on their way in from another program, whatever it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from commonplace.domain.address import Address


@dataclass(frozen=True, slots=True)
class ArrivingText:
    """One state of a memory, and when it was written."""

    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ArrivingPath:
    """An address the memory had."""

    address: Address
    priority: int
    disclosure: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory with all it was, oldest first, and all ways that led to it."""

    origins: tuple[str, ...]
    """What tells each of its states from all others of the same source, so that none is ever brought twice."""
    states: tuple[ArrivingText, ...]
    paths: tuple[ArrivingPath, ...] = ()


@dataclass(slots=True)
class ArrivalReport:
    """What became of them, in figures, and what could not be brought as it was."""

    memories: int = 0
    known: int = 0
    versions: int = 0
    paths: int = 0
    known_paths: int = 0
    orphans: int = 0
    remarks: list[str] = field(default_factory=list)

    def include(self, other: ArrivalReport) -> None:
        for name in ("memories", "known", "versions", "paths", "known_paths", "orphans"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.remarks += other.remarks

    @property
    def lines(self) -> list[str]:
        return [
            f"memories brought: {self.memories} (with {self.versions} older versions), known already: {self.known}",
            f"paths brought: {self.paths}, known already: {self.known_paths}; without a path: {self.orphans}",
            *self.remarks,
        ]
