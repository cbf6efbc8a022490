"""Memories as json, csv and markdown, there and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from commonplace.domain.errors import CommonplaceError, Invalid
from commonplace.domain.identifiers import is_uuid
from commonplace.domain.link import LinkKind
from commonplace.domain.record import Bundle, Fault, Record, RecordedLink, RecordedPlace

MOST_FAULTS_TOLD = 20
FORM = "commonplace-memories"
COLUMNS = (
    "memory_id", "content", "domain", "project_id", "session_id", "tags", "keywords", "category", "importance",
    "created_at", "updated_at", "expires_at", "access_count", "last_access", "author", "content_type", "metadata",
)  # fmt: skip
_LISTS = frozenset({"tags", "keywords"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_OPEN, _CLOSE = "<!-- memory ", " -->"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def written(form: str, bundle: Bundle) -> str:
    return {"json": _json, "csv": _csv, "markdown": _markdown}[form](bundle)


def read(data: str, form: str | None) -> tuple[Bundle, list[Fault]]:
    """The bundle, or what is wrong with it, entry by entry."""
    chosen = form or _guessed(data)
    entries, links, places = _READERS[chosen](data)
    records, faults = [], []
    for line, entry in enumerate(entries, 1):
        try:
            records.append(_record(entry))
        except (CommonplaceError, ValueError, TypeError, KeyError, AttributeError) as error:
            reason = error.message if isinstance(error, CommonplaceError) else f"cannot be read: {error}"
            faults.append(Fault(line, reason))
    return Bundle(tuple(records), tuple(map(_link, links)), tuple(map(_place, places))), faults


def told(faults: Sequence[Fault]) -> str:
    shown = "; ".join(f"entry {fault.line}: {fault.reason}" for fault in faults[:MOST_FAULTS_TOLD])
    return shown + (f"; and {len(faults) - MOST_FAULTS_TOLD} more" if len(faults) > MOST_FAULTS_TOLD else "")


def _guessed(data: str) -> str:
    start = data.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return "json"
    return "markdown" if _OPEN in data else "csv"


# One entry


def _entry(record: Record) -> dict[str, Any]:
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
        "created_at": _time(record.created_at),
        "updated_at": _time(record.updated_at),
        "expires_at": _time(record.expires_at),
        "access_count": record.uses,
        "last_access": _time(record.used_at),
        "author": record.author,
        "content_type": record.content_type,
        "metadata": dict(record.metadata),
    }


def _record(entry: Mapping[str, Any]) -> Record:
    if not isinstance(entry, Mapping):
        raise Invalid("entry", "is not an object")
    unknown = sorted(set(map(str, entry)) - {*COLUMNS, "id", "associations"})
    if unknown:
        raise Invalid(unknown[0][:40], "is not a field of a memory")
    content = entry.get("content")
    if not isinstance(content, str):
        raise Invalid("content", "is required and must be text")
    created = _moment(entry.get("created_at")) or _EPOCH
    uses = entry.get("access_count") or 0
    if not isinstance(uses, int) or uses < 0:
        raise Invalid("access_count", "must be a whole number, not negative")
    return Record(
        id=str(entry.get("memory_id") or entry.get("id") or ""),
        content=content,
        domain=str(entry.get("domain") or "user"),
        created_at=created,
        updated_at=_moment(entry.get("updated_at")) or created,
        tags=_texts(entry, "tags"),
        keywords=_texts(entry, "keywords"),
        category=str(entry.get("category") or ""),
        importance=float(entry.get("importance") if entry.get("importance") is not None else 0.5),  # type: ignore[arg-type]
        metadata=_object(entry.get("metadata")),
        content_type=str(entry.get("content_type") or "text"),
        uses=uses,
        used_at=_moment(entry.get("last_access")),
        author=str(entry.get("author") or ""),
        expires_at=_moment(entry.get("expires_at")),
        place=str(entry.get("project_id") or entry.get("session_id") or ""),
    )


def _texts(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = entry.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Invalid(name, "must be a list of texts")
    return tuple(value)


def _object(value: Any) -> dict[str, Any]:
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise Invalid("metadata", "must be an object")
    return value


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _moment(written_time: Any) -> datetime | None:
    if written_time in (None, ""):
        return None
    found = datetime.fromisoformat(str(written_time).replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# json


def _json(bundle: Bundle) -> str:
    whole = {
        "form": FORM,
        "version": 1,
        "memories": [_entry(record) for record in bundle.records],
        "associations": [
            {
                "from_memory_id": link.source,
                "to_memory_id": link.target,
                "type": link.kind,
                "strength": link.strength,
                "created_at": _time(link.created_at),
            }
            for link in bundle.links
        ],
        "places": [
            {
                "id": place.id,
                "kind": place.kind,
                "name": place.name,
                "description": place.description,
                "ends_at": _time(place.ends_at),
            }
            for place in bundle.places
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _from_json(data: str) -> tuple[list[Any], list[Any], list[Any]]:
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Invalid("import_data", f"is not valid JSON: {error}") from error
    if isinstance(whole, list):
        return whole, [], []
    if not isinstance(whole, dict) or not isinstance(whole.get("memories"), list):
        raise Invalid("import_data", "must be a list of memories, or an object with `memories`")
    return whole["memories"], _list(whole, "associations"), _list(whole, "places")


def _list(whole: Mapping[str, Any], name: str) -> list[Any]:
    value = whole.get(name) or []
    if not isinstance(value, list):
        raise Invalid(name, "must be a list")
    return value


def _link(entry: Any) -> RecordedLink:
    try:
        strength = float(entry["strength"])
        if not 0.0 <= strength <= 1.0:
            raise Invalid("associations", f"has the strength {strength}; it must be from 0 to 1")
        kind = LinkKind(entry.get("type", "manual")).value
        at = _moment(entry.get("created_at")) or _EPOCH
        return RecordedLink(str(entry["from_memory_id"]), str(entry["to_memory_id"]), kind, strength, at)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid("associations", f"has an entry that cannot be read: {error}") from error


def _place(entry: Any) -> RecordedPlace:
    try:
        if not is_uuid(str(entry["id"])) or entry["kind"] not in ("project", "session"):
            raise Invalid("places", "has an entry that is neither a project nor a session")
        name = str(entry["name"])
        return RecordedPlace(
            str(entry["id"]), entry["kind"], name, str(entry.get("description") or ""), _moment(entry.get("ends_at"))
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Invalid("places", f"has an entry that cannot be read: {error}") from error


# csv


def _csv(bundle: Bundle) -> str:
    out = io.StringIO()
    sheet = csv.writer(out)
    sheet.writerow(COLUMNS)
    for record in bundle.records:
        entry = _entry(record)
        sheet.writerow([_cell(name, entry[name]) for name in COLUMNS])
    return out.getvalue()


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False) if name in _LISTS or name == "metadata" else str(value)
    # A spreadsheet takes such a text for a formula; the apostrophe says that it is none.
    return "'" + text if text.startswith(_FORMULA) else text


def _from_csv(data: str) -> tuple[list[Any], list[Any], list[Any]]:
    csv.field_size_limit(16 * 1024 * 1024)
    sheet = csv.DictReader(io.StringIO(data.lstrip("\ufeff"), newline=""))
    if "content" not in (sheet.fieldnames or ()):
        raise Invalid("import_data", f"is no CSV of memories: the first line must name the columns, e.g. {COLUMNS[1]}")
    return [_uncelled(row) for row in sheet], [], []


def _uncelled(row: Mapping[str | None, Any]) -> Any:
    if None in row:
        return "a row with more cells than columns"
    cells: dict[str, Any] = {name: _unescaped(value) for name, value in row.items() if name and value not in (None, "")}
    try:
        for name in cells.keys() & (_LISTS | {"metadata"}):
            cells[name] = json.loads(cells[name])
        if "importance" in cells:
            cells["importance"] = float(cells["importance"])
        if "access_count" in cells:
            cells["access_count"] = int(cells["access_count"])
    except ValueError as error:
        return f"a cell that cannot be read: {error}"
    return cells


def _unescaped(value: str) -> str:
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value


# markdown


def _markdown(bundle: Bundle) -> str:
    """For people: a heading and the text; for us a comment before it with the rest, and how long the text is."""
    parts = ["# Memories\n"]
    for record in bundle.records:
        entry = _entry(record)
        content = entry.pop("content")
        kept = json.dumps({**entry, "length": len(content)}, ensure_ascii=False).replace("--", "-\\u002d")
        heading = " ".join(content.split())[:60]
        parts.append(f"## {heading}\n\n{_OPEN}{kept}{_CLOSE}\n{content}\n")
    return "\n".join(parts)


def _from_markdown(data: str) -> tuple[list[Any], list[Any], list[Any]]:
    entries: list[Any] = []
    at = data.find(_OPEN)
    while at >= 0:
        end = data.find(_CLOSE + "\n", at)
        if end < 0:
            raise Invalid("import_data", "has a memory whose comment does not end")
        try:
            entry = json.loads(data[at + len(_OPEN) : end])
            length = int(entry.pop("length"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Invalid("import_data", f"has a memory whose comment cannot be read: {error}") from error
        start = end + len(_CLOSE) + 1
        entries.append({**entry, "content": data[start : start + length]})
        at = data.find(_OPEN, start + length)
    if not entries:
        raise Invalid("import_data", "holds no memories: only a Markdown that `export` made can be imported")
    return entries, [], []


_Reader = Callable[[str], tuple[list[Any], list[Any], list[Any]]]
_READERS: dict[str, _Reader] = {"json": _from_json, "csv": _from_csv, "markdown": _from_markdown}
