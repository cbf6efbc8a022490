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
_EXPECTED = "記憶の配列か、`memories` を持つオブジェクトで指定してください"


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
        raise Invalid("import_data", "入れ子が深すぎます。`export` の形式で指定してください") from error
    except ValueError as error:
        raise Invalid("import_data", entry.unreadable(f"正しいJSONではありません。{_EXPECTED}", error)) from error
    if isinstance(whole, list):
        return whole, None, []
    if isinstance(whole, dict) and whole.get("version", VERSION) != VERSION:
        version = f"{whole['version']!r:.{entry.MOST_TOLD}}"
        raise Invalid("import_data", f"バージョン {version} は取り込めません。対応しているのは {VERSION} です")
    if not isinstance(whole, dict) or not isinstance(whole.get("memories"), list):
        raise Invalid("import_data", _EXPECTED)
    ties = _list(whole, "associations") if "associations" in whole else None
    return whole["memories"], ties, _list(whole, "places")


def _list(whole: Mapping[str, Any], name: str) -> list[Any]:
    value = whole.get(name) or []
    if not isinstance(value, list):
        raise Invalid(f"import_data.{name}", "配列で指定してください")
    return value


def link(one: Any, now: datetime, zone: tzinfo) -> RecordedLink:
    within = "import_data.associations"
    try:
        strength = float(one["strength"])
        if not 0.0 <= strength <= 1.0:
            raise Invalid(within, f"strength は0から1までの値で指定してください (指定値: {strength})")
        kind = LinkKind(one.get("type", "manual")).value
        times = (entry.when(one, "created_at", zone, within) or now, entry.when(one, "last_used", zone, within))
        source, target = (canonical(str(one[name])) for name in ("from_memory_id", "to_memory_id"))
        return RecordedLink(source, target, kind, strength, *times)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        needed = "from_memory_id, to_memory_id と0から1までの strength。type は semantic, temporal, manual のいずれか"
        raise Invalid(within, f"読み取れません (必要なもの: {needed})") from error


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
        raise Invalid(within, "読み取れません (必要なもの: id, name, kind は project か session)") from error
