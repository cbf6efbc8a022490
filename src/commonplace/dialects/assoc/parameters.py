"""The parameters that several tools share, as the reference describes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, tzinfo
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from commonplace.dialects._dialect import whole
from commonplace.dialects._schema import USUALLY
from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import CollectionId, MemoryId, is_uuid
from commonplace.engine.memories import Reference

HOW_CLOSE = "Least similarity: 0.9 very close, 0.7 related, 0.5 somewhat. Below it, closest names the nearest"
Domain = Literal["global", "user", "project", "session"]
Role = Literal["editor", "viewer"]


def described(text: str, usually: Any = None, **bounds: int) -> Any:
    """A parameter that may be left out; the schema shows what is usual then, and what its bounds are."""
    return Field(description=text, json_schema_extra={USUALLY: usually, **bounds})


def counted(text: str, usually: int | None, **bounds: int) -> Any:
    """The same for a Count, which the reference calls a number."""
    return Field(description=text, json_schema_extra={USUALLY: usually, "type": "number", **bounds})


def bounds(**told: int) -> Any:
    """Bounds that are told and not checked: whoever uses the value does that, and who has no use for it does not."""
    return Field(json_schema_extra=dict(told))


Count = Annotated[int | None, BeforeValidator(whole)]
Share = Annotated[float | None, Field()]
Texts = Annotated[list[str] | None, Field()]
DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


@contextmanager
def renamed(**ours: str) -> Iterator[None]:
    """The engine has other names for some parameters: these, each with what it is called here."""
    try:
        yield
    except Invalid as error:
        raise Invalid(ours.get(error.field, error.field), error.reason, error.value, error.also) from error


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


def _stated(value: Any, *, within: int = 1) -> Any:
    """Without the nulls that mean "left out"; in the objects within it too, of which none goes deeper."""
    if not isinstance(value, dict):
        return value
    given = {name: one for name, one in value.items() if one is not None}
    return {name: _stated(one, within=within - 1) for name, one in given.items()} if within else given


STATED = BeforeValidator(_stated)
"""On a parameter that is an object: null means in it what it means instead of it."""
_CHOICES = ("target_domain", "export_format", "role_filter", "format")
_TIMES = ("start_time", "end_time", "cleanup_before")
_IDS = ("project_id", "session_id", "center_memory_id")
MAY_BE_EMPTY = frozenset((*_CHOICES, *_TIMES, *_IDS, "query"))
"""Where an empty text can mean nothing but left out: clients that fill in whole schemas send it."""


def is_blank(value: Any) -> bool:
    """Whether it is a text that says nothing."""
    return isinstance(value, str) and not value.strip()


def moment(field: str, written: str) -> datetime:
    """A date and time as ISO 8601 writes it; without a zone, UTC."""
    try:
        found = datetime.fromisoformat(written.strip().replace("Z", "+00:00").replace("z", "+00:00"))
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise Invalid(
            field, f"{written[:60]!r} は日時ではありません。2024-01-01T00:00:00Z のように指定してください"
        ) from error


_FRACTION = frozenset(".,")
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def beginning(field: str, written: str, zone: tzinfo) -> datetime:
    """A moment; a day alone is the caller's day, from its first instant."""
    return _edge(written, zone, time.min, _FIRST) or moment(field, written)


def ending(field: str, written: str, zone: tzinfo) -> datetime:
    """A moment; a day alone is the caller's day, to its last instant."""
    # Where clocks are put back at midnight a day has two last hours; it is over with the second.
    return _edge(written, zone, time.max.replace(fold=1), _LAST) or moment(field, written)


def _through(field: str, written: str, zone: tzinfo) -> datetime:
    """The end of a range, with all of the second that it names: answers tell times no finer than that."""
    until = ending(field, written, zone)
    return until if _FRACTION.intersection(written) or until.microsecond else until.replace(microsecond=999_999)


def between(
    zone: tzinfo, first: tuple[str, str | None], last: tuple[str, str | None]
) -> tuple[datetime | None, datetime | None]:
    """A range of time, each side with the name of its field; None where it is open."""
    since = None if first[1] is None else beginning(first[0], first[1], zone)
    until = None if last[1] is None else _through(last[0], last[1], zone)
    limits.in_order(first[0], since, last[0], until)
    return since, until


def _edge(written: str, zone: tzinfo, at: time, utmost: datetime) -> datetime | None:
    """Where a day begins or ends; None if it is no day. The first and the last of all reach as far as time does."""
    try:
        return datetime.combine(date.fromisoformat(written.strip()), at, zone).astimezone(UTC)
    except OverflowError:
        return utmost
    except ValueError:
        return None
