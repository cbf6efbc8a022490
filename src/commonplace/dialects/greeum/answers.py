"""What the tools answer with: Greeum's fields, in Greeum's forms."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict

from commonplace.domain.chain import Block
from commonplace.domain.errors import Invalid
from commonplace.domain.identifiers import MemoryId, is_uuid
from commonplace.domain.memory import Memory
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Hit
from commonplace.settings import Settings


class Added(TypedDict):
    id: str
    block_index: int
    timestamp: str
    keywords: list[str]
    tags: list[str]
    importance: float


class Found(TypedDict):
    id: str
    content: str
    similarity: float
    timestamp: str
    keywords: list[str]
    tags: list[str]
    importance: float
    expires_at: NotRequired[str]
    truncated: NotRequired[bool]


class Kept(TypedDict):
    id: str
    memory_id: str
    content: str
    timestamp: str
    keywords: list[str]
    tags: list[str]
    importance: float
    block_index: NotRequired[int]
    expires_at: NotRequired[str]
    truncated: NotRequired[bool]


class Passing(TypedDict):
    id: str
    content: str
    ttl_type: str
    importance: float
    timestamp: str
    expires_at: str
    remaining_seconds: int
    truncated: NotRequired[bool]


class Deleted(TypedDict):
    id: str
    deleted: bool
    message: str


MOST_LISTED_BYTES = 300_000
"""Of all texts in one answer. Some clients take no message over 1 MiB, and an answer holds each text twice."""


def bounded(listed: Sequence[Found | Kept | Passing]) -> None:
    """Cut the longest texts of a list so that the whole stays sendable; each can be had whole by its id."""
    share = MOST_LISTED_BYTES // max(len(listed), 1)
    if sum(len(one["content"].encode()) for one in listed) <= MOST_LISTED_BYTES:
        return
    for one in listed:
        if len(one["content"].encode()) > share:
            one["content"] = one["content"].encode()[:share].decode("utf-8", "ignore")
            one["truncated"] = True


def stamp(moment: datetime) -> str:
    """As the reference writes times: UTC, whole seconds, Z."""
    return f"{moment.astimezone(UTC).isoformat(timespec='seconds')[:19]}Z"


def block_id(memory: Memory) -> str:
    """`block_12`; a short-term memory has no block and goes by its own id."""
    return memory.id if memory.block is None else f"block_{memory.block}"


def reference(memory_id: str, field: str = "memory_id") -> Reference:
    """What a caller means by `block_12`, `12` or a memory's id."""
    text = memory_id.strip()
    number = text.removeprefix("block_")
    if number.isascii() and number.isdigit() and len(number) <= 15:
        return Reference(block=int(number))
    if is_uuid(text.lower()):
        return Reference(id=MemoryId(text.lower()))
    raise Invalid(field, f"{text[:80]!r} is no memory id: give block_12, 12, or the id of a memory")


def added(memory: Memory) -> Added:
    assert memory.block is not None
    return {
        "id": block_id(memory),
        "block_index": memory.block,
        "timestamp": stamp(memory.created_at),
        "keywords": list(memory.keywords),
        "tags": list(memory.tags),
        "importance": memory.importance,
    }


def explained(hit: Hit) -> dict[str, Any]:
    """What each kind of evidence adds to the score by which a memory has its place."""
    parts = {name: round(part, 4) for name, part in hit.reasons.items()}
    return {"id": block_id(hit.memory), "score": round(hit.score, 4), **parts}


def found(hit: Hit) -> Found:
    answer: Found = {
        "id": block_id(hit.memory),
        "content": hit.memory.content,
        "similarity": round(hit.similarity, 4),
        "timestamp": stamp(hit.memory.created_at),
        "keywords": list(hit.memory.keywords),
        "tags": list(hit.memory.tags),
        "importance": hit.memory.importance,
    }
    if hit.memory.ephemeral:
        answer["expires_at"] = stamp(hit.memory.ephemeral.ends_at)
    return answer


def kept(memory: Memory) -> Kept:
    answer: Kept = {
        "id": block_id(memory),
        "memory_id": memory.id,
        "content": memory.content,
        "timestamp": stamp(memory.created_at),
        "keywords": list(memory.keywords),
        "tags": list(memory.tags),
        "importance": memory.importance,
    }
    if memory.block is not None:
        answer["block_index"] = memory.block
    if memory.ephemeral:
        answer["expires_at"] = stamp(memory.ephemeral.ends_at)
    return answer


def ttl_type(memory: Memory, settings: Settings) -> str:
    """The type whose life is long enough; memories of other dialects have lives of any length."""
    assert memory.ephemeral is not None
    seconds = memory.ephemeral.ttl.total_seconds()
    if seconds <= settings.ttl_short:
        return "short"
    return "medium" if seconds <= settings.ttl_medium else "long"


def passing(memory: Memory, settings: Settings, now: datetime) -> Passing:
    assert memory.ephemeral is not None
    return {
        "id": memory.id,
        "content": memory.content,
        "ttl_type": ttl_type(memory, settings),
        "importance": memory.importance,
        "timestamp": stamp(memory.created_at),
        "expires_at": stamp(memory.ephemeral.ends_at),
        "remaining_seconds": int(memory.ephemeral.remaining(now).total_seconds()),
    }


def head(block: Block, memory: Memory | None) -> dict[str, object]:
    """A block as it may be shown: hashes to everyone, the text to those who may see it."""
    shown: dict[str, object] = {
        "id": f"block_{block.index}",
        "block_index": block.index,
        "timestamp": block.timestamp,
        "previous_hash": block.previous_hash,
        "hash": block.hash,
    }
    if memory:
        shown |= {"content": memory.content, "keywords": list(memory.keywords), "tags": list(memory.tags)}
        shown["importance"] = memory.importance
    return shown
