"""注釈."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import Kept, atlases_of, bounded, cut, quoted, shown
from commonplace.dialects.creo.authorship import Recorder, recorder
from commonplace.domain.annotation import AnnotationType, standing, type_of
from commonplace.engine.annotations import Annotation

_EXCERPT = 200
_ECHO = 10_000
"""Bytes of a text that are sent back to who has just sent it."""
_DEEPEST = 20
"""How deep replies stand in one another; deeper ones stand side by side, and each says what it answers."""
_WORDS = {
    AnnotationType.COMMENT: "コメント",
    AnnotationType.QUESTION: "質問",
    AnnotationType.CONCERN: "懸念事項",
    AnnotationType.SUGGESTION: "提案",
    AnnotationType.APPROVAL: "承認",
    AnnotationType.ANSWER: "回答",
}
Remark = Literal["comment", "question", "concern", "suggestion", "approval"]
Reply = Literal["comment", "question", "concern", "suggestion", "approval", "answer"]


class Thread(Kept, TypedDict):
    """An annotation with its replies, as far as they are asked for."""

    annotationType: str
    targetMemoryId: str
    threadId: str
    replyTo: str | None
    recordedBy: Recorder
    replyCount: int
    replies: list[Thread]


class Said(TypedDict):
    id: str
    annotation: Thread


class Threads(TypedDict):
    memoryId: str
    annotations: list[Thread]
    count: int
    total: int
    hasMore: bool
    truncated: bool


@creo.writes
async def annotate(
    call: Call,
    targetMemoryId: Annotated[str, Field(description="The memory to speak about; an annotation is replied to")],
    content: Annotated[str, Field(description="What to say about it, at most 1 MB")],
    annotationType: Annotated[Remark, Field(description="What kind of remark it is")] = "comment",
    contentType: Annotated[Literal["text", "markdown"], Field(description="How the text is written")] = "text",
) -> Answer[Said]:
    """Say something about a memory. It is kept as a memory beside it; who sees the one sees the other."""
    made = await call.engine.annotations.annotate(
        call.actor,
        ids.memory("targetMemoryId", targetMemoryId),
        content,
        AnnotationType(annotationType),
        contentType,
    )
    return await _made(call, made, "注釈を追加しました")


@creo.reads
async def get_annotations(
    call: Call,
    memoryId: Annotated[str, Field(description="The memory, or an annotation whose replies are wanted")],
    annotationType: Annotated[Reply | None, Field(description="Only threads that begin with this kind")] = None,
    includeReplies: Annotated[bool, Field(description="With the replies, in threads")] = True,
) -> Answer[Threads]:
    """What is said about a memory, in threads, the oldest first; at most 200."""
    reference = ids.memory("memoryId", memoryId)
    kind = None if annotationType is None else AnnotationType(annotationType)
    discussion = await call.engine.annotations.of(call.actor, reference, kind=kind, replies=includeReplies)
    listed = await _shown(call, discussion.annotations)
    answer: Threads = {
        "memoryId": str(reference),
        "annotations": _nested(discussion.annotations, listed),
        "count": len(listed),
        "total": discussion.total,
        "hasMore": discussion.total > len(listed),
        "truncated": bounded(listed),
    }
    return Answer(answer, text=_told(discussion.annotations, answer))


@creo.writes
async def reply_annotation(
    call: Call,
    annotationMemoryId: Annotated[str, Field(description="The annotation to answer")],
    content: Annotated[str, Field(description="What to answer, at most 1 MB")],
    annotationType: Annotated[
        Reply | None, Field(description="What kind of remark it is; left out, a question is answered, else a comment")
    ] = None,
) -> Answer[Said]:
    """Answer an annotation; answers can be answered in turn."""
    kind = None if annotationType is None else AnnotationType(annotationType)
    reference = ids.memory("annotationMemoryId", annotationMemoryId)
    made = await call.engine.annotations.reply(call.actor, reference, content, kind)
    return await _made(call, made, "返信を追加しました")


# Words


async def _made(call: Call, made: Annotation, words: str) -> Answer[Said]:
    (thread,) = await _shown(call, [made])
    cut(thread, _ECHO)
    text = f"✅ {words} (ID: {made.memory.id}, タイプ: {_WORDS[type_of(made.memory.metadata)]})"
    return Answer({"id": made.memory.id, "annotation": thread}, text=text)


async def _shown(call: Call, annotations: Sequence[Annotation]) -> list[Thread]:
    now = call.engine.clock.now()
    atlases = await atlases_of(call, (one.memory for one in annotations))
    return [_thread(one, shown(one.memory, now, atlases)) for one in annotations]


def _thread(one: Annotation, shape: Kept) -> Thread:
    memory = one.memory
    target, thread, reply = standing(memory.metadata, memory.id, one.about)
    return {
        **shape,
        "annotationType": type_of(memory.metadata).value,
        "targetMemoryId": target,
        "threadId": thread,
        "replyTo": reply,
        "recordedBy": recorder(memory.author),
        "replyCount": one.replies,
        "replies": [],
    }


def _nested(annotations: Sequence[Annotation], threads: Sequence[Thread]) -> list[Thread]:
    """Each follows what it answers: the last one that stands less deep holds it."""
    first: list[Thread] = []
    holders = [first]
    for one, thread in zip(annotations, threads, strict=True):
        depth = min(one.depth, _DEEPEST)
        del holders[depth + 1 :]
        holders[depth].append(thread)
        holders.append(thread["replies"])
    return first


def _told(annotations: Sequence[Annotation], answer: Threads) -> str:
    total = answer["total"]
    lines = [f"💬 {total}件の注釈があります" if total else "💬 注釈はありません"]
    lines += [_line(one) for one in annotations]
    if answer["truncated"]:
        lines.append("（長い本文は省略しました）")
    if answer["hasMore"]:
        lines.append(f"（他に{total - answer['count']}件あります）")
    return "\n".join(lines)


def _line(one: Annotation) -> str:
    memory = one.memory
    words = f"[{_WORDS[type_of(memory.metadata)]}] {quoted(memory.content, _EXCERPT)}"
    return f"{'  ' * min(one.depth, _DEEPEST)}- {words} (ID: {memory.id}, users:{memory.author.user})"
