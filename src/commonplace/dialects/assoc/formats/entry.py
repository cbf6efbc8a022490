"""One memory as it is written in every form: its fields, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from commonplace.dialects.assoc.parameters import beginning, canonical, ending, moment
from commonplace.domain.errors import Invalid, NoField
from commonplace.domain.record import Record
from commonplace.language.importance import importance as judged

COLUMNS = (
    "memory_id", "content", "domain", "project_id", "session_id", "tags", "keywords", "category", "importance",
    "created_at", "updated_at", "expires_at", "access_count", "last_access", "author", "content_type", "metadata",
)  # fmt: skip
NOT_TAKEN = ("author_id", "user_id", "embedding", "version")
"""Of the reference's record, or of what `get` shows: who brings a memory is told by his key, the rest is made anew."""
KNOWN = (*COLUMNS, "associations")
FIELDS = frozenset({*KNOWN, *NOT_TAKEN, "id"})
FORMS = "JSONは { か [ で始め、CSVは1行目に content を含め、Markdownは export のまま渡してください"
"""What may be brought."""
WHOLE = ""
"""In place of a field: the entry itself."""
UNREADABLE = ""
"""In place of an entry's fields: which of them cannot be read, and why."""
MOST_TOLD = 120
Read = tuple[list[Any], list[Any] | None, list[Any]]
"""Entries, ties (None where the form has none) and places, as they were written."""
_ENDS = frozenset({"expires_at", "ends_at"})
_PLACES = {"project_id": "place", "session_id": "place"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def unreadable(words: str, error: Exception) -> str:
    """With what the parser says, in its own words."""
    return f"{words} (詳細: {error!s:.{MOST_TOLD}})"


def written(record: Record) -> dict[str, Any]:
    place = record.place or None
    return {
        "memory_id": record.id,
        "content": record.content,
        "domain": record.domain,
        "project_id": place if record.domain == "project" else None,
        "session_id": place if record.domain == "session" else None,
        "tags": list(record.tags),
        "keywords": list(record.keywords),
        "category": record.category,
        "importance": record.importance,
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "expires_at": stamp(record.expires_at),
        "access_count": record.uses,
        "last_access": stamp(record.used_at),
        "author": record.author,
        "content_type": record.content_type,
        "metadata": dict(record.metadata),
    }


def read(entry: Mapping[str, Any], now: datetime, zone: tzinfo) -> Record:
    if not isinstance(entry, Mapping):
        raise Invalid(WHOLE, "オブジェクトではありません")
    if UNREADABLE in entry:
        raise Invalid(*entry[UNREADABLE])
    unknown = sorted(set(map(str, entry)) - FIELDS)
    if unknown:
        raise NoField(unknown[0][:40], "記憶のフィールドではありません", known=KNOWN)
    content = entry.get("content")
    if not isinstance(content, str):
        raise Invalid("content", "必須です。文字列で指定してください")
    updated = when(entry, "updated_at", zone)
    created = when(entry, "created_at", zone) or min(updated or now, now)  # nothing is changed before it is there
    return Record(
        id=canonical(_text(entry, "memory_id") or _text(entry, "id")),
        content=content,
        domain=_text(entry, "domain") or "user",
        created_at=created,
        updated_at=updated or created,
        tags=_texts(entry, "tags"),
        keywords=_texts(entry, "keywords"),
        category=_text(entry, "category"),
        importance=_number(entry, "importance", judged(content)),
        metadata=_object(entry.get("metadata")),
        content_type=_text(entry, "content_type") or "text",
        uses=int(_number(entry, "access_count", 0)),
        used_at=when(entry, "last_access", zone),
        author=_text(entry, "author"),
        expires_at=when(entry, "expires_at", zone),
        place=canonical(_text(entry, "project_id") or _text(entry, "session_id")),
        stated=frozenset(
            _PLACES.get(name, name) for name, value in entry.items() if value is not None or name in _ENDS
        ),
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str | None):
        raise Invalid(name, "文字列で指定してください")
    return value or ""


def _number(entry: Mapping[str, Any], name: str, usual: float) -> float:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise Invalid(name, "数値で指定してください")
    return usual if value is None else value


def _texts(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = entry.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Invalid(name, "文字列の配列で指定してください")
    return tuple(value)


def _object(value: Any) -> dict[str, Any]:
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise Invalid("metadata", "オブジェクトで指定してください")
    return value


def stamp(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def when(entry: Mapping[str, Any], name: str, zone: tzinfo, within: str = "") -> datetime | None:
    value = entry.get(name)
    if value in (None, ""):
        return None
    field, text = f"{within}.{name}" if within else name, str(value)[:MOST_TOLD]
    found = ending(field, text, zone) if name in _ENDS else beginning(field, text, zone)
    # Nothing is older than 1970, and east of Greenwich its first day begins before.
    return _EPOCH if found < _EPOCH == moment(field, text) else found
