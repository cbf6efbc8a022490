"""A copy of the whole store: what it is called, and what is known of it without opening it."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from commonplace.domain.errors import Invalid

SUFFIX = ".db"
_NAME = re.compile(r"\w[\w.-]{0,79}")
_DAILY = "daily-"
_GROWN = "grown-"
_SAFETY = "before-restore-"
_STAMP = "%Y%m%d-%H%M%S"
_MUCH = 2
"""Times as many memories. What is copied at each doubling is, together, less than twice the last copy."""
_REST = timedelta(hours=1)


class Part(StrEnum):
    """What a store holds, in the words of callers. A backup's file holds all of it; a part of it may be put back."""

    MEMORIES = "memories"
    PROJECTS = "projects"
    SESSIONS = "sessions"
    ASSOCIATIONS = "associations"


@dataclass(frozen=True, slots=True)
class Contents:
    """What tells two states of a store apart, in figures. None of it is text that someone wrote."""

    store: str
    schema: int
    memories: int
    events: int
    blocks: int
    head: str
    """The hash of the last block."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy, as its manifest describes it."""

    name: str
    made_at: datetime
    bytes: int
    encrypted: bool
    sha256: str = ""
    """Empty when the manifest is missing: the copy may be sound all the same."""
    contents: Contents | None = None
    parts: tuple[Part, ...] = tuple(Part)
    """What it was made for: what is put back from it unless other parts are named."""

    @property
    def is_whole(self) -> bool:
        return self.parts == tuple(Part)

    @property
    def memories(self) -> int | None:
        """How many it holds; None where the manifest is missing."""
        return self.contents.memories if self.contents else None


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When backups are made by themselves, and how long they are kept."""

    daily: bool = True
    hour: int = 3
    keep: timedelta = timedelta(days=7)

    def is_outgrown(self, latest: Backup, memories: int, now: datetime) -> bool:
        """Whether a store of so many memories has left the latest copy of this rhythm behind before the next day."""
        if latest.contents is None or now - latest.made_at < _REST:
            return False
        return memories >= _MUCH * max(latest.contents.memories, 1)


def backup_name(text: str) -> str:
    """The name, if it is one: it becomes the name of a file, and must not lead anywhere else."""
    name = text.removesuffix(SUFFIX)
    if not _NAME.fullmatch(name) or ".." in name or len(name.encode()) > 200:
        raise Invalid("name", "use up to 80 letters, digits, '-', '_' and single dots; it names a file of the folder")
    return name


def manual_name(at: datetime) -> str:
    return f"{at:{_STAMP}}"


def safety_name(at: datetime) -> str:
    return f"{_SAFETY}{at:{_STAMP}}"


def daily_name(day: date) -> str:
    return f"{_DAILY}{day:%Y-%m-%d}"


def grown_name(at: datetime) -> str:
    return f"{_GROWN}{at:{_STAMP}}"


def is_periodic(name: str) -> bool:
    """Whether it was made for the time or the growth, of a store that went on from there."""
    return name.startswith((_DAILY, _GROWN))


def is_automatic(name: str) -> bool:
    """Whether it was made by itself, and so may go by itself."""
    return is_periodic(name) or name.startswith(_SAFETY)
