"""What the tools answer, in the reference's own fields."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict

from commonplace.domain.space import SpaceFile
from commonplace.domain.space import stamp as instant
from commonplace.engine.notes import NotePage
from commonplace.engine.snapshots import Snapshot
from commonplace.engine.spaces import Space

__all__ = ["instant"]
MOST_LISTED = 500
MOST_BYTES = 900_000
"""Of all notes in one answer, which is sent as an object and as text: some clients take no more than a megabyte."""


class Created(TypedDict):
    status: str
    space_id: str
    description: str
    rules_size: int
    created_at: str


class Shown(TypedDict):
    space_id: str
    description: str
    owner: str
    created_at: str
    live_notes_count: int
    bank_files_count: int


class Listing(TypedDict):
    status: str
    spaces: list[Shown]
    total: int
    has_more: bool


class Rules(TypedDict):
    status: str
    space_id: str
    rules: str


class Archive(TypedDict):
    status: str
    space_id: str
    archive_base64: str
    archive_size: int
    files_count: int
    backup_id: NotRequired[str]


class Written(TypedDict):
    status: str
    space_id: str
    filename: str
    category: str
    agent: str
    size: int
    timestamp: str


class Noted(TypedDict):
    filename: str
    timestamp: str
    agent: str
    category: str
    tags: list[str]
    content: str


class Notes(TypedDict):
    status: str
    space_id: str
    notes: list[Noted]
    total: int
    has_more: bool


class Filed(TypedDict):
    filename: str
    size: int
    content: NotRequired[str]
    last_modified: NotRequired[str]


class OneFile(TypedDict):
    status: str
    space_id: str
    filename: str
    content: str
    size: int
    last_modified: str


class Files(TypedDict):
    status: str
    space_id: str
    files: list[Filed]
    file_count: int
    total_size: NotRequired[int]


class Backup(TypedDict):
    backup_id: str
    space_id: str
    timestamp: str
    files_count: int
    total_size: int
    description: str
    complete: bool


class Backups(TypedDict):
    status: str
    backups: list[Backup]
    total: int
    has_more: bool


def space(one: Space) -> Shown:
    return {
        "space_id": one.collection.name,
        "description": one.collection.description,
        "owner": str(one.collection.metadata.get("owner", "")),
        "created_at": instant(one.collection.created_at),
        "live_notes_count": one.figures.notes,
        "bank_files_count": one.figures.files,
    }


def info(one: Space, files: Sequence[SpaceFile]) -> dict[str, Any]:
    figures, known = one.figures, one.collection.metadata
    return {
        "space_id": one.collection.name,
        "description": one.collection.description,
        "owner": str(known.get("owner", "")),
        "created_at": instant(one.collection.created_at),
        "rules_size": figures.rules_size,
        "live": {
            "notes_count": figures.notes,
            "total_size": figures.notes_size,
            "oldest_note": _maybe(figures.oldest),
            "newest_note": _maybe(figures.newest),
        },
        "bank": {
            "files_count": figures.files,
            "total_size": figures.files_size,
            "files": [file.name for file in files],
        },
        "last_consolidation": known.get("last_consolidation"),
        "synthesis_exists": figures.synthesis_size is not None,
    }


def notes(space_id: str, page: NotePage) -> Notes:
    """As many as were asked for, unless their texts are too much for one answer."""
    shown: list[Noted] = []
    room = MOST_BYTES
    for noted in map(_noted, page.notes):
        room -= _size(noted)
        if room < 0 and shown:
            break
        shown.append(noted)
    more = page.total > len(shown)
    return {"status": "ok", "space_id": space_id, "notes": shown, "total": page.total, "has_more": more}


def bank(files: Sequence[SpaceFile]) -> dict[str, Any]:
    shown = [{"filename": file.name, "content": file.content, "size": file.size} for file in files]
    return {"files": shown, "total_size": sum(file.size for file in files), "file_count": len(files)}


def backup(one: Snapshot) -> Backup:
    day, _, time = one.stamp.partition("T")
    return {
        "backup_id": one.id,
        "space_id": one.space,
        "timestamp": f"{day}T{time.replace('-', ':')}Z",
        "files_count": one.files,
        "total_size": one.size,
        "description": one.description,
        "complete": one.complete,
    }


def _noted(one: SpaceFile) -> Noted:
    return {
        "filename": one.name,
        "timestamp": instant(one.at),
        "agent": one.agent,
        "category": one.category,
        "tags": list(one.tags),
        "content": one.content,
    }


def _size(noted: Noted) -> int:
    """In bytes, once in the object and once in the text, where it is escaped twice."""
    once = json.dumps(noted, ensure_ascii=False)
    return len(once.encode()) + len(json.dumps(once, ensure_ascii=False).encode())


def _maybe(moment: datetime | None) -> str | None:
    return instant(moment) if moment else None
