"""What a value must be to be kept. Each function gives the value in its kept form or raises Invalid."""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from commonplace.domain.errors import Invalid
from commonplace.domain.memory import (
    LONGEST_TTL,
    MAX_CONTENT_BYTES,
    MAX_KEYWORDS,
    MAX_LABEL_CHARS,
    MAX_TAGS,
    SHORTEST_TTL,
)
from commonplace.domain.phrase import Phrase
from commonplace.domain.unicode import normalised

MAX_QUERY_CHARS = 20_000
MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 16
_LARGEST_WHOLE = 2**63
TOO_LONG = "is {size} characters long; at most {most} are allowed"
End = TypeVar("End", float, datetime)


def text(field: str, value: str) -> str:
    """Text that can be stored and sent: whole Unicode characters, no NUL."""
    if "\x00" in value:
        raise Invalid(field, "must not contain the character NUL (U+0000)")
    at = lone_surrogate(value)
    if at is not None:
        raise Invalid(field, Phrase("is not valid Unicode: a lone surrogate stands at character {at}", at=at))
    return value


def lone_surrogate(value: str) -> int | None:
    """Where half a character stands, which JSON can spell, but which can be neither kept nor sent."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def content(value: str, field: str = "content") -> str:
    """The text of a memory: not blank, at most 1 MB. It is kept to the letter."""
    text(field, value)
    if _is_blank(value):
        raise Invalid(field, "must not be empty")
    size = len(value.encode())
    if size > MAX_CONTENT_BYTES:
        reason = "is {size} bytes long; at most {most} (1 MB) are allowed"
        raise Invalid(field, Phrase(reason, size=size, most=MAX_CONTENT_BYTES))
    return value


def _is_blank(value: str) -> bool:
    """Nothing but blanks, controls and marks of format, such as zero-width spaces."""
    return all(unicodedata.category(char)[0] in "CZ" for char in value)


def query(value: str, field: str = "query") -> str:
    """What to search for: not blank, NFC, bounded."""
    text(field, value)
    if not value.strip():
        raise Invalid(field, "must not be empty")
    if len(value) > MAX_QUERY_CHARS:
        raise Invalid(field, too_long(len(value), MAX_QUERY_CHARS))
    return normalised("NFC", value)


def too_long(size: int, most: int) -> Phrase:
    return Phrase(TOO_LONG, size=size, most=most)


def label(field: str, value: str) -> str:
    """A category or name: NFC, trimmed, not empty, short."""
    return _label(field, value, "must not be empty", TOO_LONG)


def name(field: str, value: str) -> str:
    """A label that can be shown in a list and typed at a prompt."""
    kept = label(field, value)
    if not kept.isprintable():
        raise Invalid(field, "must be one line of printable characters")
    return kept


def labels(field: str, values: Iterable[str], most: int) -> tuple[str, ...]:
    """Distinct labels in the order given."""
    words = ("must not contain an empty entry", "has an entry of {size} characters; at most {most} are allowed")
    kept = tuple(dict.fromkeys(_label(field, value, *words) for value in values))
    if len(kept) > most:
        raise Invalid(field, Phrase("has {size} entries; at most {most} are allowed", size=len(kept), most=most))
    return kept


def _label(field: str, value: str, empty: str, long: str) -> str:
    kept = normalised("NFC", text(field, value)).strip()
    if not kept:
        raise Invalid(field, empty)
    if len(kept) > MAX_LABEL_CHARS:
        raise Invalid(field, Phrase(long, size=len(kept), most=MAX_LABEL_CHARS))
    return kept


def tags(values: Iterable[str]) -> tuple[str, ...]:
    return labels("tags", values, MAX_TAGS)


def keywords(values: Iterable[str]) -> tuple[str, ...]:
    return labels("keywords", values, MAX_KEYWORDS)


def importance(value: float, field: str = "importance") -> float:
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise Invalid(field, Phrase("must be a number from 0.0 to 1.0, not {value}", value=value))
    return float(value) + 0.0  # a negative zero would come back from the store as another number


def in_order(first: str, low: End | None, last: str, high: End | None) -> None:
    """The ends of a range, by name; turned around, nothing would ever be found between them."""
    if low is not None and high is not None and low > high:
        reason = "must not be later than {last}" if isinstance(low, datetime) else "must not be greater than {last}"
        raise Invalid(first, Phrase(reason, last=last))


def ttl(value: timedelta, field: str = "ttl") -> timedelta:
    if not SHORTEST_TTL <= value <= LONGEST_TTL:
        least, most = int(SHORTEST_TTL.total_seconds()), int(LONGEST_TTL.total_seconds())
        raise Invalid(field, Phrase("must be from {least} to {most} seconds", least=least, most=most))
    return value


def metadata(value: Mapping[str, Any], field: str = "metadata") -> dict[str, Any]:
    """An object as JSON has it, bounded: nothing in it that could not be stored, sent and read again."""
    if not value:
        return {}
    _check_part(field, value, MAX_METADATA_DEPTH)
    size = len(json.dumps(value, ensure_ascii=False).encode())
    if size > MAX_METADATA_BYTES:
        reason = "is {size} bytes long; at most {most} are allowed"
        raise Invalid(field, Phrase(reason, size=size, most=MAX_METADATA_BYTES))
    return dict(value)


def _check_part(field: str, value: Any, depth: int) -> None:
    if depth == 0:
        raise Invalid(field, Phrase("is nested more than {most} deep", most=MAX_METADATA_DEPTH))
    if isinstance(value, str):
        text(field, value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            text(field, str(key))
            _check_part(field, one, depth - 1)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_part(field, one, depth - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise Invalid(field, "has a number that JSON cannot write")
    elif isinstance(value, int) and abs(value) >= _LARGEST_WHOLE:
        raise Invalid(field, "has a whole number of more than 64 bits; write it as text")
    elif value is not None and not isinstance(value, int | float):
        raise Invalid(field, "must be what JSON can hold")


def within(field: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        reason = "must be from {least} to {most}, not {value}"
        raise Invalid(field, Phrase(reason, least=least, most=most, value=value))
    return value
