"""Rows to domain values and back."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.domain.access import Holding, Permission, Right
from commonplace.domain.chain import Block, Revision, Witness
from commonplace.domain.credential import Credential, User
from commonplace.domain.event import Event, EventKind, Happening, Session
from commonplace.domain.filter import Filter
from commonplace.domain.memory import Author, Ephemeral, Memory, Version

Row = tuple[Any, ...]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def maybe_micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def maybe_moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Of a value that goes into a row: one encoder for all, because making one takes longer than using it."""


def numbers_json(numbers: Iterable[int]) -> str:
    return "[" + ",".join(map(str, numbers)) + "]"


def memory(row: Row) -> Memory:
    ephemeral = None if row[25] is None else Ephemeral(timedelta(microseconds=row[24]), moment(row[25]))
    return Memory(
        number=row[0],
        id=row[1],
        content=row[2],
        content_type=row[3],
        tags=tuple(json.loads(row[4])),
        keywords=tuple(json.loads(row[5])),
        category=row[6],
        importance=row[7],
        metadata=json.loads(row[8]),
        collection=row[9],
        home=row[27],
        domain=row[10],
        author=Author(*row[11:15]),
        created_at=moment(row[15]),
        version=row[16],
        reviser=Author(*row[17:21]),
        revised_at=moment(row[21]),
        uses=row[22] or 0,
        used_at=maybe_moment(row[23]),
        ephemeral=ephemeral,
        block=row[26],
    )


def version(row: Row) -> Version:
    return Version(
        memory=row[0],
        number=row[1],
        content=row[2],
        content_type=row[3],
        tags=tuple(json.loads(row[4])),
        keywords=tuple(json.loads(row[5])),
        category=row[6],
        importance=row[7],
        metadata=json.loads(row[8]),
        author=Author(*row[9:13]),
        made_at=moment(row[13]),
    )


def block(row: Row) -> Block:
    index, memory_id, number, timestamp, importance, previous, sealed, erased_at, seal = row[:9]
    return Block(index, memory_id, number, timestamp, importance, previous, sealed, maybe_moment(erased_at), seal)


def witness(row: Row) -> Witness:
    revision = None if row[11] is None else Revision(row[10], row[11], row[12])
    return Witness(block(row), row[9], revision, _any_moment(row[13]))


def _any_moment(value: int | None) -> datetime | None:
    """A time altered behind our back may be none; it must still be compared."""
    try:
        return maybe_moment(value)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def holding(row: Row) -> Holding:
    return Holding(row[0], row[1], row[2], row[3], Right(row[4]) if row[4] else None, maybe_moment(row[5]), row[6])


def user(row: Row) -> User:
    return User(row[0], row[1], row[2], moment(row[3]))


def credential(row: Row) -> Credential:
    permissions = frozenset(map(Permission, row[4].split(",")))
    ends = (maybe_moment(row[6]), maybe_moment(row[7]))
    opens = None if row[9] is None else tuple(json.loads(row[9]))
    return Credential(row[0], row[1], row[2], row[3], permissions, moment(row[5]), *ends, row[8], opens, row[10])


def event(row: Row) -> Event:
    by = Author(*row[3:7])
    return Event(row[0], EventKind(row[1]), moment(row[2]), by, row[7], row[8], row[9], json.loads(row[10]))


def session(row: Row) -> Session:
    return Session(row[0], Author(row[1], row[2], row[0], row[3]), moment(row[4]), moment(row[5]), row[6], row[7])


def author_bindings(author: Author) -> dict[str, Any]:
    return {"user": author.user, "credential": author.credential, "session": author.session, "tool": author.tool}


def happening_bindings(happening: Happening) -> dict[str, Any]:
    return {
        "kind": happening.kind.value,
        "at": micros(happening.at),
        "memory": happening.memory,
        "memory_number": happening.memory_number,
        "collection": happening.collection,
        "detail": as_json(happening.detail),
        **author_bindings(happening.by),
    }


def seen_bindings(among: Filter) -> dict[str, Any]:
    """For what asks only whether a memory may be seen and has not ended."""
    return {"collections": numbers_json(sorted(among.collections)), "now": micros(among.now)}


def filter_bindings(among: Filter) -> Mapping[str, Any]:
    return {
        "collections": numbers_json(sorted(among.collections)),
        "now": micros(among.now),
        "since": maybe_micros(among.since),
        "until": maybe_micros(among.until),
        "importance_min": among.importance_min,
        "importance_max": among.importance_max,
        "ephemeral": None if among.ephemeral is None else int(among.ephemeral),
        "ttl_over": None if among.ttl_over is None else int(among.ttl_over * 1_000_000),
        "ttl_upto": None if among.ttl_upto is None else int(among.ttl_upto * 1_000_000),
        "categories": as_json(among.categories) if among.categories else None,
        "tags": as_json(among.tags) if among.tags else None,
        "labels": as_json(among.labels) if among.labels else None,
        "metadata": as_json(dict(among.metadata)) if among.metadata else None,
    }
