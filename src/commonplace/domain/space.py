"""Spaces: what their files are called, and what is known of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from commonplace.domain import limits
from commonplace.domain.bank import MAX_RULES_CHARS
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import MemoryId

MAX_DESCRIPTION_CHARS = 500
MOST_OPENED = 500
"""Spaces that one token names; each is looked up whenever it is shown."""
MAX_OWNER_CHARS = 200
MAX_LISTED_NOTES = 500
RULES = "_rules.md"
SYNTHESIS = "_synthesis.md"
META = "_meta.json"
TOKENS = "_system/tokens.json"
KEPT = ("live/.keep", "bank/.keep")
"""They keep the folders there while nothing else is in them."""
BACKUPS = "_backups"

_SPACE_ID = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}\Z")


class FileKind(StrEnum):
    """What a file of a space is."""

    NOTE = "note"
    BANK = "bank"
    RULES = "rules"
    SYNTHESIS = "synthesis"

    @property
    def folder(self) -> str:
        return {FileKind.NOTE: "live/", FileKind.BANK: "bank/"}.get(self, "")


@dataclass(frozen=True, slots=True)
class SpaceFile:
    """A file of a space, with what is known of the memory it shows."""

    number: int
    space: int
    kind: FileKind
    name: str
    content: str
    agent: str
    at: datetime
    changed_at: datetime
    size: int
    memory: int | None = None
    id: MemoryId | None = None
    version: int = 0
    category: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """A space in figures."""

    notes: int = 0
    notes_size: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    files: int = 0
    files_size: int = 0
    rules_size: int = 0
    synthesis_size: int | None = None


@dataclass(frozen=True, slots=True)
class Mirrored:
    """What stands outside under a path, as far as we know."""

    path: str
    tag: str
    digest: str


@dataclass(frozen=True, slots=True)
class Unmirrored:
    """A path under which something is to be written or removed, with the number of its last change."""

    path: str
    change: int
    begun: str = ""
    """The digests of what was begun to be written there."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path taken apart: of which space, and which of its files."""

    space: str
    kind: FileKind
    name: str


def space_id(value: str) -> str:
    """The id of a space, or Invalid."""
    if not _SPACE_ID.match(value):
        raise Invalid(
            "space_id", "must be 1 to 64 letters, digits, '_' or '-', and begin with a letter or digit", value
        )
    return value


def is_space_id(value: str) -> bool:
    return _SPACE_ID.match(value) is not None


def description(value: str) -> str:
    if len(value) > MAX_DESCRIPTION_CHARS:
        raise Invalid("description", f"is {len(value)} characters long; at most {MAX_DESCRIPTION_CHARS} are allowed")
    return value


def owner(value: str) -> str:
    if len(value) > MAX_OWNER_CHARS:
        raise Invalid("owner", f"is {len(value)} characters long; at most {MAX_OWNER_CHARS} are allowed")
    return value


def rules(value: str) -> str:
    if not value.strip():
        raise Invalid("rules", "must not be empty: they say which files the bank has")
    if len(value) > MAX_RULES_CHARS:
        raise Invalid("rules", f"is {len(value)} characters long; at most {MAX_RULES_CHARS} are allowed")
    return value


def file_place(path: str) -> Place | None:
    """Which file of a space a path names; None for anything else that may lie there."""
    space, _, rest = path.partition("/")
    if not is_space_id(space):
        return None
    if rest in (RULES, SYNTHESIS):
        return Place(space, FileKind.RULES if rest == RULES else FileKind.SYNTHESIS, rest)
    folder, slash, name = rest.partition("/")
    kind = {"live": FileKind.NOTE, "bank": FileKind.BANK}.get(folder)
    if kind is None or not slash or "/" in name or not name.endswith(".md"):
        return None
    return Place(space, kind, name)


def path_of(space: str, kind: FileKind, name: str) -> str:
    return f"{space}/{kind.folder}{name}"


def meta(space: Collection) -> dict[str, Any]:
    """`_meta.json` of a space; what others keep in it stays in it."""
    known = space.metadata
    return {
        **known.get("foreign", {}),
        "space_id": space.name,
        "description": space.description,
        "owner": known.get("owner", ""),
        "created_at": stamp(space.created_at),
        "last_consolidation": known.get("last_consolidation"),
        "consolidation_count": known.get("consolidation_count", 0),
        "total_notes_processed": known.get("total_notes_processed", 0),
        "version": known.get("version", 1),
    }


_META_KEYS = frozenset(
    "space_id description owner created_at last_consolidation consolidation_count total_notes_processed version".split()
)


_META_KINDS = {
    "consolidation_count": int,
    "total_notes_processed": int,
    "version": int | str,
    "last_consolidation": str,
}


def metadata_from(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a space keeps of a `_meta.json` that someone else wrote."""
    kept: dict[str, Any] = {
        "description": sound(str(found.get("description") or "")),
        "owner": sound(str(found.get("owner") or "")),
        "foreign": _foreign({key: value for key, value in found.items() if key not in _META_KEYS}),
    }
    for key, kind in _META_KINDS.items():
        value = found.get(key)
        if isinstance(value, kind) and value is not True and value is not False:
            kept[key] = sound(value) if isinstance(value, str) else value
    return kept


def _foreign(more: dict[str, Any]) -> dict[str, Any]:
    """What others keep beside, as far as it can be written again."""
    try:
        return limits.metadata(more)
    except Invalid:
        return {}


def sound(text: str) -> str:
    """JSON can escape what no text may hold."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def stamp(moment: datetime) -> str:
    """A time as the files write it: 2026-02-20T18:05:12Z."""
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
