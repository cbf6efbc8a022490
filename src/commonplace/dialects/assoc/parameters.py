"""The parameters that several tools share, as the reference describes them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from commonplace.dialects._dialect import whole
from commonplace.dialects._schema import USUALLY
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import CollectionId, MemoryId, is_uuid
from commonplace.engine.memories import Reference

Domain = Literal["global", "user", "project", "session"]
Role = Literal["editor", "viewer"]


def described(text: str, usually: Any = None) -> Any:
    """A parameter that may be left out; the schema shows what is usual then."""
    return Field(description=text, json_schema_extra={USUALLY: usually})


Count = Annotated[int | None, BeforeValidator(whole)]
Share = Annotated[float | None, Field()]
Texts = Annotated[list[str] | None, Field()]
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


def reference(memory_id: str, field: str = "memory_id") -> Reference:
    """A memory's id, in capitals or not, or its block as other dialects show it."""
    name = memory_id.strip().lower().removeprefix("mem_")
    block = name.removeprefix("block_")
    if is_uuid(name):
        return Reference(id=MemoryId(name))
    if name.startswith("block_") and block.isascii() and block.isdigit() and len(block) < 16:
        return Reference(block=int(block))
    return Reference(id=MemoryId(memory_id[:80]))


def collection(identifier: str, prefix: str) -> CollectionId:
    return CollectionId(canonical(identifier.strip().removeprefix(prefix)[:80]))


def canonical(identifier: str) -> str:
    """An id as it is kept: a UUID says the same in capitals."""
    small = identifier.lower()
    return small if is_uuid(small) else identifier


_PLACES = ("project_id", "session_id")


def blank(given: Mapping[str, Any]) -> list[str]:
    """The ids of places that were given empty, which is the same as not at all."""
    return [name for name in _PLACES if isinstance(given.get(name), str) and not given[name].strip()]


def moment(field: str, written: str) -> datetime:
    """A date and time as ISO 8601 writes it; without a zone, UTC."""
    try:
        found = datetime.fromisoformat(written.strip().replace("Z", "+00:00").replace("z", "+00:00"))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid(field, f"{written[:60]!r} is not a date-time; write it like 2024-01-01T00:00:00Z") from error
