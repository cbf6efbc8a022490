"""作業ログ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import Kept, atlases_of, bounded, cut, flat, quoted, shortcoming, shown
from commonplace.dialects.creo.authorship import Recorder, recorder
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Memory
from commonplace.domain.work_log import Address, WorkLogType
from commonplace.engine.work_logs import MOST_LISTED, Found

_EXCERPT = 200
_NAME = 60
_ECHO = 10_000
"""Bytes of a text that are sent back to who has just sent it."""
_WORDS = {
    "message": "メッセージ",
    "question": "質問",
    "answer": "回答",
    "decision": "決定事項",
    "progress": "進捗報告",
    "error": "エラー報告",
    "review": "レビュー",
}
Type = Literal["message", "question", "answer", "decision", "progress", "error", "review"]
Name = str | None


class WorkLog(Kept, TypedDict):
    """A memory that says who told whom. `recordedBy` is who wrote it in truth."""

    workLogType: str | None
    sender: str | None
    receiver: str | None
    threadId: str | None
    project: str | None
    issueRef: str | None
    sharedContextId: str | None
    recordedBy: Recorder
    similarity: NotRequired[float]


class Recorded(TypedDict):
    id: str
    workLog: WorkLog


class WorkLogs(TypedDict):
    workLogs: list[WorkLog]
    count: int
    total: int
    hasMore: bool
    truncated: NotRequired[bool]


@creo.writes
async def record_work_log(
    call: Call,
    content: Annotated[str, Field(description="What is told, at most 1 MB")],
    workLogType: Annotated[Type, Field(description="What kind of entry it is")],
    sender: Annotated[str, Field(description="The agent that tells it, by any name")],
    receiver: Annotated[Name, Field(description="The agent that is told")] = None,
    threadId: Annotated[Name, Field(description="Entries with the same one belong together")] = None,
    project: Annotated[Name, Field(description="The project it is about")] = None,
    issueRef: Annotated[Name, Field(description="The issue it is about, e.g. #129")] = None,
    sharedContextId: Annotated[Name, Field(description="Keep it in this shared context, for all who are in it")] = None,
    contentType: Annotated[Literal["text", "markdown"], Field(description="How the text is written")] = "text",
) -> Answer[Recorded]:
    """Keep what one agent tells another (a memory of category work_log), to be found again in any session."""
    address = Address(WorkLogType(workLogType), sender, receiver, threadId, project, issueRef)
    context = None if sharedContextId is None else _context(sharedContextId)
    memory = await call.engine.work_logs.record(call.actor, content, address, context=context, content_type=contentType)
    (log,) = await _shown(call, Found((memory,), 1))
    cut(log, _ECHO)
    words = f"✅ 作業ログを記録しました (ID: {memory.id}, {_WORDS[workLogType]}, {flat(sender, _NAME)}"
    return Answer({"id": memory.id, "workLog": log}, text=f"{words}{_to(receiver)})")


@creo.reads
async def search_work_logs(
    call: Call,
    query: Annotated[Name, Field(description="What to look for, in any language; without it, the newest")] = None,
    sender: Annotated[Name, Field(description="Only from this agent")] = None,
    receiver: Annotated[Name, Field(description="Only to this agent")] = None,
    project: Annotated[Name, Field(description="Only about this project")] = None,
    workLogType: Annotated[Type | None, Field(description="Only of this kind")] = None,
    threadId: Annotated[Name, Field(description="Only in this thread; without a query, the oldest first")] = None,
    limit: Annotated[Whole, Field(description="How many at most", ge=1, le=MOST_LISTED)] = 20,
) -> Answer[WorkLogs]:
    """Find work logs by meaning and by who told whom; total counts those that bear the names asked for."""
    kind = None if workLogType is None else WorkLogType(workLogType)
    address = Address(kind, sender, receiver, threadId, project)
    wanted = query if query and query.strip() else None
    found = await call.engine.work_logs.search(call.actor, address, wanted, limit)
    logs = await _shown(call, found)
    answer: WorkLogs = {
        "workLogs": logs,
        "count": len(logs),
        "total": found.total,
        "hasMore": found.total > len(logs),
    }
    if bounded(logs):
        answer["truncated"] = True
    return Answer(answer, text=_told(found, answer))


def _context(value: str) -> CollectionId:
    return CollectionId(ids.bare("sharedContextId", value, "shared_contexts", "shared_context"))


# Words


async def _shown(call: Call, found: Found) -> list[WorkLog]:
    now = call.engine.clock.now()
    atlases = await atlases_of(call, found.memories)
    contexts = await call.engine.contexts.around({memory.home for memory in found.memories})
    logs = [_log(memory, shown(memory, now, atlases), contexts) for memory in found.memories]
    for log, similarity in zip(logs, found.similarities, strict=False):
        log["similarity"] = round(similarity, 4)
    return logs


def _log(memory: Memory, shape: Kept, contexts: Mapping[int, CollectionId]) -> WorkLog:
    context = contexts.get(memory.home)
    return {
        **shape,  # type: ignore[typeddict-item]
        "workLogType": _name(memory.metadata, "workLogType"),
        "sender": _name(memory.metadata, "sender"),
        "receiver": _name(memory.metadata, "receiver"),
        "threadId": _name(memory.metadata, "threadId"),
        "project": _name(memory.metadata, "project"),
        "issueRef": _name(memory.metadata, "issueRef"),
        "sharedContextId": f"shared_contexts:{context}" if context else None,
        "recordedBy": recorder(memory.author),
    }


def _name(metadata: Mapping[str, Any], name: str) -> str | None:
    value = metadata.get(name)
    return value if isinstance(value, str) else None


def _told(found: Found, answer: WorkLogs) -> str:
    count = answer["count"]
    lines = [f"📋 {count}件の作業ログが見つかりました" if count else "📋 作業ログが見つかりませんでした"]
    lines[0] += shortcoming(found.reach, "作業ログ")
    lines += [_line(place, log) for place, log in enumerate(answer["workLogs"], 1)]
    if "truncated" in answer:
        lines.append("（長い本文は省略しました）")
    if answer["hasMore"]:
        lines.append("（他にもあります。limitを増やすか条件を絞ってください）")
    return "\n".join(lines)


def _line(place: int, log: WorkLog) -> str:
    kind = _WORDS.get(log["workLogType"] or "", "作業ログ")
    facts = [
        f"ID: {log['id']}",
        f"記録者: {log['recordedBy']['userId']} ({flat(log['recordedBy']['credential'], _NAME)})",
    ]
    if "similarity" in log:
        facts.append(f"類似度: {log['similarity']:.2f}")
    facts.append(f"作成: {log['createdAt']}")
    who = f"{flat(log['sender'] or '?', _NAME)}{_to(log['receiver'])}"
    return f"{place}. [{kind}] {who}: {quoted(log['content'], _EXCERPT)}\n   {' | '.join(facts)}"


def _to(receiver: str | None) -> str:
    return f" → {flat(receiver, _NAME)}" if receiver else ""
