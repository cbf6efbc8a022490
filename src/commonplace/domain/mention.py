"""How one memory names others: in its text, and as what it was derived from."""

import re
from collections.abc import Mapping
from typing import Any

from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import MemoryId, is_uuid

DERIVED_FROM = "derivedFrom"
"""The entry of a memory's metadata that says what it came from: an id, or several."""
MOST = 100
"""How many others a memory may name in each way."""
_ID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_MENTION = re.compile(rf"(?:(?<![0-9A-Za-z_])memor(?:y|ies):|\[\[ ?)⟨?({_ID})(?![0-9A-Za-z-])")
_TABLES = ("memory", "memories")


def named(value: str) -> MemoryId | None:
    """The memory that an id means, alone or behind the name of its table; None where it is no id."""
    table, colon, rest = value.strip().rpartition(":")
    identifier = rest.strip("⟨⟩").lower()
    return MemoryId(identifier) if is_uuid(identifier) and (not colon or table in _TABLES) else None


def mentioned(text: str) -> frozenset[MemoryId]:
    """The memories a text speaks of: `memories:ID`, `memory:ID`, `[[ID]]`; the first hundred."""
    found: dict[MemoryId, None] = {}
    for match in _MENTION.finditer(text):
        found[MemoryId(match[1].lower())] = None
        if len(found) == MOST:
            break
    return frozenset(found)


def sources(metadata: Mapping[str, Any]) -> frozenset[MemoryId]:
    """What a memory says it was derived from, as far as these are ids."""
    return frozenset(found for value in _listed(metadata) if isinstance(value, str) and (found := named(value)))


def checked_sources(metadata: Mapping[str, Any]) -> frozenset[MemoryId]:
    """The same, or Invalid where anything else stands there."""
    field, listed = f"metadata.{DERIVED_FROM}", _listed(metadata)
    if len(listed) > MOST:
        raise Invalid(field, f"has {len(listed)} ids; at most {MOST} are allowed")
    for value in listed:
        if not isinstance(value, str) or named(value) is None:
            raise Invalid(field, f"{str(value)[:80]!r} is not the id of a memory; write it like memories:UUID")
    return sources(metadata)


def _listed(metadata: Mapping[str, Any]) -> list[Any]:
    value = metadata.get(DERIVED_FROM)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
