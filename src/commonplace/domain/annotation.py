"""What is said about a memory: annotations, and the threads they form."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from commonplace.domain.identifiers import is_uuid

CATEGORY = "annotation"
TYPE, TARGET, THREAD, REPLY = "annotationType", "targetMemoryId", "threadId", "replyTo"
"""Under these names an annotation's metadata says of what kind it is, what it is about, and where it belongs."""


class AnnotationType(StrEnum):
    COMMENT = "comment"
    QUESTION = "question"
    CONCERN = "concern"
    SUGGESTION = "suggestion"
    APPROVAL = "approval"
    ANSWER = "answer"


class Remark(NamedTuple):
    """That one memory speaks about another, and what its metadata calls it."""

    number: int
    about: int
    kind: object


class Placed(NamedTuple):
    """A remark in its thread: what it is about, how deep it stands, and how many stand below it."""

    number: int
    about: int
    depth: int
    replies: int


def is_annotation(metadata: Mapping[str, Any]) -> bool:
    return _type(metadata.get(TYPE)) is not None


def type_of(metadata: Mapping[str, Any]) -> AnnotationType:
    return _type(metadata.get(TYPE)) or AnnotationType.COMMENT


def reply_type(metadata: Mapping[str, Any]) -> AnnotationType:
    """What a reply is where its author does not say."""
    return AnnotationType.ANSWER if type_of(metadata) is AnnotationType.QUESTION else AnnotationType.COMMENT


def noted(kind: AnnotationType, own: str, target: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """The metadata of a new annotation. On another annotation it is a reply: about the same memory, in its thread."""
    if not is_annotation(metadata):
        return {TYPE: kind.value, TARGET: target, THREAD: own}
    about, thread = (_id(metadata.get(name)) or target for name in (TARGET, THREAD))
    return {TYPE: kind.value, TARGET: about, THREAD: thread, REPLY: target}


def standing(metadata: Mapping[str, Any], own: str, about: str) -> tuple[str, str, str | None]:
    """The memory an annotation is about in the end, its thread, and the annotation it answers, if it answers one."""
    target = _id(metadata.get(TARGET)) or about
    return target, _id(metadata.get(THREAD)) or own, about if about != target else None


def threads(remarks: Iterable[Remark], start: int, kind: AnnotationType | None = None) -> list[Placed]:
    """The remarks on a memory, each followed by its replies; of the first ones only those of a kind, if one is given.

    Without recursion, because a thread may be long, and never in a circle.
    """
    below: dict[int, list[Remark]] = {}
    for remark in remarks:
        below.setdefault(remark.about, []).append(remark)
    first = (one for one in below.get(start, ()) if kind in (None, _type(one.kind) or AnnotationType.COMMENT))
    waiting = [(one, 0) for one in first][::-1]
    order: list[tuple[Remark, int]] = []
    seen = {start}
    while waiting:
        remark, depth = waiting.pop()
        if remark.number not in seen:
            seen.add(remark.number)
            order.append((remark, depth))
            waiting += [(reply, depth + 1) for reply in below.get(remark.number, ())][::-1]
    return _counted(order)


def _counted(order: list[tuple[Remark, int]]) -> list[Placed]:
    replies: Counter[int] = Counter()
    for remark, _ in reversed(order):
        replies[remark.about] += replies[remark.number] + 1
    return [Placed(one.number, one.about, depth, replies[one.number]) for one, depth in order]


def _type(value: object) -> AnnotationType | None:
    return AnnotationType(value) if isinstance(value, str) and value in set(AnnotationType) else None


def _id(value: object) -> str:
    return value if isinstance(value, str) and is_uuid(value) else ""
