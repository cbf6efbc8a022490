"""Ids: UUIDv7, so that ids made later sort later."""

import re
from datetime import datetime
from typing import NewType

MemoryId = NewType("MemoryId", str)
UserId = NewType("UserId", str)
CollectionId = NewType("CollectionId", str)
CredentialId = NewType("CredentialId", str)

RANDOM_BYTES = 10
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")


def uuid7(now: datetime, randomness: bytes) -> str:
    """A UUIDv7 of this millisecond; the randomness is the caller's, so that nothing here is impure."""
    bits = int.from_bytes(randomness[:RANDOM_BYTES])
    value = milliseconds(now) << 80 | 7 << 76 | (bits >> 62 & 0xFFF) << 64 | 2 << 62 | bits & (1 << 62) - 1
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def milliseconds(moment: datetime) -> int:
    """As an id holds them."""
    return int(moment.timestamp() * 1000) & (1 << 48) - 1


def milliseconds_of(identifier: str) -> int | None:
    """When it was made, if it is an id of this kind."""
    is_ours = is_uuid(identifier) and identifier[14] == "7"
    return int(identifier[:8] + identifier[9:13], 16) if is_ours else None


def is_uuid(text: str) -> bool:
    """Whether the text is written as the ids here are."""
    return _UUID.match(text) is not None
