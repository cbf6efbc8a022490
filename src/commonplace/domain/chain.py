"""The tamper-evident chain: each block seals a text as first written and the block before it."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from commonplace.domain.errors import ChainBroken
from commonplace.domain.identifiers import MemoryId, milliseconds, milliseconds_of

GENESIS = ""


@dataclass(frozen=True, slots=True)
class Block:
    """A memory's place in the chain."""

    index: int
    memory: MemoryId
    version: int
    timestamp: str
    importance: float
    previous_hash: str
    hash: str
    erased_at: datetime | None = None
    seal: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a memory says now, where that is no longer the version in its block, and the seal of that."""

    version: int
    context: str
    seal: str | None


@dataclass(frozen=True, slots=True)
class Witness:
    """A block beside the text that the store holds for it now, and its time; None where there is none."""

    block: Block
    context: str | None
    revision: Revision | None = None
    created_at: datetime | None = None


_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object) -> bytes:
    """The one byte form of a value: keys sorted, no blanks, UTF-8."""
    text = _encoder.encode(value)
    # A text altered behind our back may hold anything; it must still hash, to something else.
    return text.encode("utf-8", "surrogatepass")


def block_hash(index: int, context: str, timestamp: str, previous_hash: str, importance: float) -> str:
    """SHA-256 over the canonical JSON of what the block covers."""
    covered = {
        "block_index": index,
        "context": context,
        "timestamp": timestamp,
        "prev_hash": previous_hash,
        "importance": importance,
    }
    return hashlib.sha256(canonical(covered)).hexdigest()


def erasure_seal(block: Block, erased_at: str) -> str:
    """What stands in for the text of an erased block, so that its remains are still covered."""
    remains = {
        "block_index": block.index,
        "timestamp": block.timestamp,
        "prev_hash": block.previous_hash,
        "importance": block.importance,
        "hash": block.hash,
        "memory": block.memory,
        "version": block.version,
        "erased_at": erased_at,
    }
    return hashlib.sha256(canonical(remains)).hexdigest()


def revision_seal(memory: MemoryId, version: int, context: str) -> str:
    """What covers a text that has been changed since its block was made."""
    return hashlib.sha256(canonical({"memory": memory, "version": version, "context": context})).hexdigest()


def time_seal(block: Block, created_at: datetime) -> str:
    """What covers the time of a memory that was not written when its block was made: brought, put back, promoted."""
    covered = {"hash": block.hash, "memory": block.memory, "created_at": created_at.astimezone(UTC).isoformat()}
    return hashlib.sha256(canonical(covered)).hexdigest()


def dated(block: Block, created_at: datetime) -> Block:
    """The block of a memory that was written then; a seal is needed where the block itself says another time."""
    if created_at == _moment(block):
        return block
    return replace(block, seal=time_seal(block, created_at))


def forge(memory: MemoryId, version: int, context: str, timestamp: str, importance: float, head: Block | None) -> Block:
    """The block that follows the head."""
    index = head.index + 1 if head else 0
    previous = head.hash if head else GENESIS
    sealed = block_hash(index, context, timestamp, previous, importance)
    return Block(index, memory, version, timestamp, importance, previous, sealed)


def check(witnesses: Iterable[Witness], previous: Block | None = None) -> Block | None:
    """Recompute a stretch of the chain that follows `previous`; its last block, or ChainBroken at the first bad one."""
    for witness in witnesses:
        _check_place(witness.block, previous)
        _check_cover(witness)
        previous = witness.block
    return previous


def _check_place(block: Block, previous: Block | None) -> None:
    expected = previous.index + 1 if previous else 0
    if block.index != expected:
        raise ChainBroken(expected, "the block is missing")
    if block.previous_hash != (previous.hash if previous else GENESIS):
        raise ChainBroken(block.index, "it does not follow the block before it")


def _check_cover(witness: Witness) -> None:
    block = witness.block
    if block.erased_at is not None:
        if witness.context is not None:
            raise ChainBroken(block.index, "it is marked as erased but its text is there")
        if erasure_seal(block, block.erased_at.isoformat()) != block.seal:
            raise ChainBroken(block.index, "what remains of the erased block was altered")
        return
    if witness.context is None:
        raise ChainBroken(block.index, "its text is gone, and no deletion was recorded")
    if block_hash(block.index, witness.context, block.timestamp, block.previous_hash, block.importance) != block.hash:
        raise ChainBroken(block.index, "its text, time, importance or hash was altered")
    if witness.created_at is not None:
        _check_time(block, witness.created_at)
    revision = witness.revision
    if revision and revision_seal(block.memory, revision.version, revision.context) != revision.seal:
        raise ChainBroken(block.index, "what it was changed to was altered")


def _check_time(block: Block, created_at: datetime) -> None:
    """What is read as the memory's time is that of its block, or the one that was sealed."""
    if block.seal:
        if time_seal(block, created_at) != block.seal:
            raise ChainBroken(block.index, "the time of its memory or its seal was altered")
        return
    made_at = _moment(block)
    if made_at is None:
        raise ChainBroken(block.index, "its time is none")
    if created_at != made_at and _was_named_at(block, made_at) and not _was_named_at(block, created_at):
        raise ChainBroken(block.index, "the time of its memory was altered")


def _was_named_at(block: Block, moment: datetime) -> bool:
    """Without a seal (earlier releases made none) only the id tells which memories were not brought from elsewhere."""
    return milliseconds_of(block.memory) == milliseconds(moment)


def _moment(block: Block) -> datetime | None:
    try:
        return datetime.fromisoformat(block.timestamp)
    except ValueError:
        return None
