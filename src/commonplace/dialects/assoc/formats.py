"""Memories as json, csv and markdown, there and back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from commonplace.dialects.assoc.parameters import beginning, canonical, ending, moment
from commonplace.domain.errors import Invalid
from commonplace.domain.link import LinkKind
from commonplace.domain.record import Bundle, Fault, Record, RecordedLink, RecordedPlace, Untied
from commonplace.language.importance import importance as judged

MOST_FAULTS_TOLD = 20
FORM = "commonplace-memories"
VERSION = 1
COLUMNS = (
    "memory_id", "content", "domain", "project_id", "session_id", "tags", "keywords", "category", "importance",
    "created_at", "updated_at", "expires_at", "access_count", "last_access", "author", "content_type", "metadata",
)  # fmt: skip
NOT_TAKEN = ("author_id", "user_id", "embedding", "version")
"""Of the reference's record, or of what `get` shows: who brings a memory is told by his key, the rest is made anew."""
_FIELDS = frozenset({*COLUMNS, *NOT_TAKEN, "id", "associations"})
_LISTS = frozenset({"tags", "keywords"})
_ENDS = frozenset({"expires_at", "ends_at"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_UNREADABLE = ""
"""In place of an entry's fields: which of them cannot be read, and why."""
_OPEN, _CLOSE = "<!-- memory ", " -->"
_MOST_TOLD = 120
_Read = tuple[list[Any], list[Any] | None, list[Any]]
"""Entries, ties (None where the form has none) and places, as they were written."""


def written(form: str, bundle: Bundle) -> str:
    return {"json": _json, "csv": _csv, "markdown": _markdown}[form](bundle)


@dataclass(frozen=True, slots=True)
class Brought:
    """What was read: the entries that could be, each in its place, and what is wrong with the others."""

    bundle: Bundle
    faults: Sequence[Fault]
    not_taken: Sequence[str]
    """Fields that were passed over."""
    lines: Sequence[int]
    """Where each record of the bundle stands in what was brought."""

    def all_faults(self, others: Sequence[Fault]) -> list[Fault]:
        """With those of the bundle, by entry."""
        placed = [replace(fault, line=self.lines[fault.line - 1] if fault.line else 0) for fault in others]
        return sorted([*self.faults, *placed], key=lambda fault: fault.line)


def read(data: str, form: str | None, now: datetime, zone: tzinfo) -> Brought:
    """What says no time of its own is of now; the zone is that of who brings it."""
    chosen = form or _guessed(data)
    entries, links, places = _READERS[chosen](data)
    records, faults = dict[int, Record](), []
    for line, entry in enumerate(entries, 1):
        try:
            records[line] = _record(entry, now, zone)
        except Invalid as error:
            faults.append(Fault(line, error.message))
        except (ValueError, TypeError, OverflowError) as error:
            faults.append(Fault(line, f"cannot be read: {error!s:.{_MOST_TOLD}}"))
    ties = tuple(_link(link, now, zone) for link in links or ())
    left = [name for name in NOT_TAKEN if any(isinstance(entry, Mapping) and name in entry for entry in entries)]
    founded = tuple(_place(place, zone) for place in places)
    bundle = Bundle(tuple(records.values()), ties, founded, tied=links is not None)
    return Brought(bundle, faults, left, tuple(records))


def told(faults: Sequence[Fault]) -> str:
    """Each with its entry, and once what can be done about them."""
    shown = "; ".join(f"entry {fault.line}: {fault.reason}" for fault in faults[:MOST_FAULTS_TOLD])
    more = f"; and {len(faults) - MOST_FAULTS_TOLD} more" if len(faults) > MOST_FAULTS_TOLD else ""
    remedies = dict.fromkeys(fault.remedy for fault in faults[:MOST_FAULTS_TOLD] if fault.remedy)
    return shown + more + "".join(f". {remedy[0].upper()}{remedy[1:]}" for remedy in remedies)


def _guessed(data: str) -> str:
    start = data.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return "json"
    heading = start.partition("\n")[0].replace('"', "").split(",")
    return "markdown" if _OPEN in data and "content" not in map(str.strip, heading) else "csv"


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


def _record(entry: Mapping[str, Any], now: datetime, zone: tzinfo) -> Record:
    if not isinstance(entry, Mapping):
        raise Invalid("entry", "is not an object")
    if _UNREADABLE in entry:
        raise Invalid(*entry[_UNREADABLE])
    unknown = sorted(set(map(str, entry)) - _FIELDS)
    if unknown:
        raise Invalid(unknown[0][:40], "is not a field of a memory")
    content = entry.get("content")
    if not isinstance(content, str):
        raise Invalid("content", "is required and must be text")
    updated = _moment(entry, "updated_at", zone)
    created = _moment(entry, "created_at", zone) or min(updated or now, now)  # nothing is changed before it is there
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
        used_at=_moment(entry, "last_access", zone),
        author=_text(entry, "author"),
        expires_at=_moment(entry, "expires_at", zone),
        place=canonical(_text(entry, "project_id") or _text(entry, "session_id")),
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str | None):
        raise Invalid(name, "must be a text")
    return value or ""


def _number(entry: Mapping[str, Any], name: str, usual: float) -> float:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise Invalid(name, "must be a number")
    return usual if value is None else value


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


def _moment(entry: Mapping[str, Any], name: str, zone: tzinfo, within: str = "") -> datetime | None:
    value = entry.get(name)
    if value in (None, ""):
        return None
    field, text = f"{within}.{name}" if within else name, str(value)[:_MOST_TOLD]
    found = ending(field, text, zone) if name in _ENDS else beginning(field, text, zone)
    # Nothing is older than 1970, and east of Greenwich its first day begins before.
    return _EPOCH if found < _EPOCH == moment(field, text) else found


# json


def _json(bundle: Bundle) -> str:
    whole = {
        "form": FORM,
        "version": VERSION,
        "memories": [_entry(record) for record in bundle.records],
        "associations": [
            {
                "from_memory_id": link.source,
                "to_memory_id": link.target,
                "type": link.kind,
                "strength": link.strength,
                "created_at": _time(link.created_at),
                "last_used": _time(link.used_at),
            }
            for link in bundle.links
        ],
        "places": [
            {
                "id": place.id,
                "kind": place.kind,
                "name": place.name,
                "description": place.description,
                "created_at": _time(place.created_at),
                "ends_at": _time(place.ends_at),
            }
            for place in bundle.places
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _from_json(data: str) -> _Read:
    try:
        whole = json.loads(data.lstrip("\ufeff"))
    except RecursionError as error:
        raise Invalid("import_data", "is nested too deep: write it as `export` does") from error
    except ValueError as error:
        raise Invalid("import_data", f"is not valid JSON: {error!s:.{_MOST_TOLD}}") from error
    if isinstance(whole, list):
        return whole, None, []
    if isinstance(whole, dict) and whole.get("version", VERSION) != VERSION:
        raise Invalid("import_data", f"is of version {whole['version']!r}; this release knows version {VERSION}")
    if not isinstance(whole, dict) or not isinstance(whole.get("memories"), list):
        raise Invalid("import_data", "must be a list of memories, or an object with `memories`")
    ties = _list(whole, "associations") if "associations" in whole else None
    return whole["memories"], ties, _list(whole, "places")


def _list(whole: Mapping[str, Any], name: str) -> list[Any]:
    value = whole.get(name) or []
    if not isinstance(value, list):
        raise Invalid(f"import_data.{name}", "must be a list")
    return value


def _link(entry: Any, now: datetime, zone: tzinfo) -> RecordedLink:
    within = "import_data.associations"
    try:
        strength = float(entry["strength"])
        if not 0.0 <= strength <= 1.0:
            raise Invalid(within, f"has the strength {strength}; it must be from 0 to 1")
        kind = LinkKind(entry.get("type", "manual")).value
        times = (_moment(entry, "created_at", zone, within) or now, _moment(entry, "last_used", zone, within))
        source, target = (canonical(str(entry[name])) for name in ("from_memory_id", "to_memory_id"))
        return RecordedLink(source, target, kind, strength, *times)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        needed = "from_memory_id, to_memory_id and a strength from 0 to 1; type may be semantic, temporal or manual"
        raise Invalid(within, f"has an entry that cannot be read: it needs {needed}") from error


def untied(one: Untied) -> dict[str, str]:
    return {"from_memory_id": one.link.source[:80], "to_memory_id": one.link.target[:80], "reason": one.reason}


def _place(entry: Any, zone: tzinfo) -> RecordedPlace:
    within = "import_data.places"
    try:
        words = (
            canonical(str(entry["id"])),
            str(entry["kind"]),
            str(entry["name"]),
            str(entry.get("description") or ""),
        )
        return RecordedPlace(*words, *(_moment(entry, name, zone, within) for name in ("ends_at", "created_at")))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        needed = "an id, a kind (project or session) and a name"
        raise Invalid(within, f"has an entry that cannot be read: it needs {needed}") from error


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


def _from_csv(data: str) -> _Read:
    csv.field_size_limit(16 * 1024 * 1024)
    sheet = csv.DictReader(io.StringIO(data.lstrip("\ufeff"), newline=""), strict=True)  # a text cut off is no text
    try:
        if "content" not in (sheet.fieldnames or ()):
            needed = "JSON begins with { or [, and the first line of a CSV names the columns, such as content"
            raise Invalid("import_data", f"is no list of memories in a form that is known: {needed}")
        rows = [_uncelled(row) for row in sheet]
    except csv.Error as error:
        raise Invalid("import_data", f"is not valid CSV: {error!s:.{_MOST_TOLD}}") from error
    if not rows and not _FIELDS.issuperset(filter(None, sheet.fieldnames or ())):
        # Such as a CSV within the answer that brought it: there it is one line, in which `content` stands too.
        needed = "the first line names fields of a memory, content among them, and each further line is a memory"
        raise Invalid("import_data", f"is no CSV of memories: {needed}. Give `exported_data` of an export as it is")
    return rows, None, []


_TEXTS = 'write a list of texts as JSON does, like ["a", "b"]'
_PARSED: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "tags": (json.loads, _TEXTS),
    "keywords": (json.loads, _TEXTS),
    "metadata": (json.loads, 'write an object as JSON does, like {"a": 1}'),
    "importance": (float, "write a number from 0 to 1"),
    "access_count": (int, "write a whole number"),
}
"""How a cell is read, and what to write in it."""


def _uncelled(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if None in row:
        return {_UNREADABLE: ("entry", "has more cells than there are columns")}
    if None in row.values():
        return {_UNREADABLE: ("entry", "has fewer cells than there are columns: it may have been cut off")}
    cells: dict[str, Any] = {name: _unescaped(value) for name, value in row.items() if name and value}
    for name in [name for name in _PARSED if name in cells]:
        parsed, wanted = _PARSED[name]
        try:
            cells[name] = parsed(cells[name])
        except (ValueError, RecursionError):
            return {_UNREADABLE: (name, f"{cells[name][:60]!r} cannot be read: {wanted}")}
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
        # A text that looks like our comment must not be taken for one, even in its heading.
        heading = " ".join(content.split())[:60].replace("<", "&lt;")
        parts.append(f"## {heading}\n\n{_OPEN}{kept}{_CLOSE}\n{content}\n")
    return "\n".join(parts)


def _from_markdown(data: str) -> _Read:
    entries: list[Any] = []
    at = data.find(_OPEN)
    while at >= 0:
        end = data.find(_CLOSE + "\n", at)
        if end < 0:
            raise Invalid("import_data", "has a memory whose comment does not end")
        try:
            entry = json.loads(data[at + len(_OPEN) : end])
            length = max(int(entry.pop("length")), 0)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            reason = "has a memory whose comment cannot be read: it must stand as `export` wrote it"
            raise Invalid("import_data", reason) from error
        start = end + len(_CLOSE) + 1
        entries.append({**entry, "content": data[start : start + length]})
        at = data.find(_OPEN, start + length)
    if not entries:
        raise Invalid("import_data", "holds no memories: only a Markdown that `export` made can be imported")
    return entries, None, []


_READERS: dict[str, Callable[[str], _Read]] = {"json": _from_json, "csv": _from_csv, "markdown": _from_markdown}
