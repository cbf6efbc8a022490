"""Memories as a JSON document, with their ties and the places they were in: nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from commonplace.dialects.assoc.formats import entry
from commonplace.dialects.assoc.parameters import canonical
from commonplace.domain.errors import Invalid
from commonplace.domain.link import LinkKind
from commonplace.domain.record import Bundle, RecordedLink, RecordedPlace

FORM = "commonplace-memories"
VERSION = 1


def written(bundle: Bundle) -> str:
    whole = {
        "form": FORM,
        "version": VERSION,
        "memories": [entry.written(record) for record in bundle.records],
        "associations": [
            {
                "from_memory_id": link.source,
                "to_memory_id": link.target,
                "type": link.kind,
                "strength": link.strength,
                "created_at": entry.stamp(link.created_at),
                "last_used": entry.stamp(link.used_at),
            }
            for link in bundle.links
        ],
        "places": [
            {
                "id": place.id,
                "kind": place.kind,
                "name": place.name,
                "description": place.description,
                "created_at": entry.stamp(place.created_at),
                "ends_at": entry.stamp(place.ends_at),
            }
            for place in bundle.places
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=1)


def read(data: str) -> entry.Read:
    try:
        whole = json.loads(data.lstrip("\ufeff"))
    except RecursionError as error:
        raise Invalid("import_data", "is nested too deep: write it as `export` does") from error
    except ValueError as error:
        raise Invalid("import_data", f"is not valid JSON: {error!s:.{entry.MOST_TOLD}}") from error
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


def link(one: Any, now: datetime, zone: tzinfo) -> RecordedLink:
    within = "import_data.associations"
    try:
        strength = float(one["strength"])
        if not 0.0 <= strength <= 1.0:
            raise Invalid(within, f"has the strength {strength}; it must be from 0 to 1")
        kind = LinkKind(one.get("type", "manual")).value
        times = (entry.when(one, "created_at", zone, within) or now, entry.when(one, "last_used", zone, within))
        source, target = (canonical(str(one[name])) for name in ("from_memory_id", "to_memory_id"))
        return RecordedLink(source, target, kind, strength, *times)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        needed = "from_memory_id, to_memory_id and a strength from 0 to 1; type may be semantic, temporal or manual"
        raise Invalid(within, f"has an entry that cannot be read: it needs {needed}") from error


def place(one: Any, zone: tzinfo) -> RecordedPlace:
    within = "import_data.places"
    try:
        words = (
            canonical(str(one["id"])),
            str(one["kind"]),
            str(one["name"]),
            str(one.get("description") or ""),
        )
        return RecordedPlace(*words, *(entry.when(one, name, zone, within) for name in ("ends_at", "created_at")))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        needed = "an id, a kind (project or session) and a name"
        raise Invalid(within, f"has an entry that cannot be read: it needs {needed}") from error
