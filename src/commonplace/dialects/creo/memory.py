"""メモリ操作."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import (
    Kept,
    atlases_of,
    bounded,
    cut,
    flat,
    instant,
    kept,
    lifetime,
    quoted,
    shortcoming,
    shown,
)
from commonplace.dialects.creo.dates import moment
from commonplace.domain import limits
from commonplace.domain.access import Actor, require_whole
from commonplace.domain.errors import Invalid
from commonplace.domain.memory import LONGEST_TTL, SHORTEST_TTL, Change, Draft, Memory
from commonplace.engine.derivations import Lasting, Remembered, Revised
from commonplace.engine.recall import Hit, Question, Recalled

MOST_FOUND = 100
LEAST_LIKE = 0.2
"""Unless the caller says otherwise: below it there is nothing but noise."""
_EXCERPT = 200
_CUT_MARKS = 2
_ECHO = 10_000
"""Bytes of a text that are sent back to who has just sent it."""
_AS_IT_IS = 0
"""In place of a time to live that was not given: null is one that says something."""


def _without_default(schema: dict[str, Any]) -> None:
    """What stands for "left out" is nobody's business."""
    schema.pop("default", None)


Seconds = Annotated[Whole, Field(ge=int(SHORTEST_TTL.total_seconds()), le=int(LONGEST_TTL.total_seconds()))]
MemoryRef = Annotated[str, Field(description="The memory's id: a UUID, alone or as memories:UUID")]
ContentType = Literal["text", "markdown"]


class Ending(TypedDict):
    ttl: int
    expiresAt: str


class RelatedMemory(TypedDict):
    id: str
    content: str
    similarity: float
    category: str | None
    createdAt: str


class Stored(TypedDict):
    id: str
    memory: Kept
    ephemeral: NotRequired[Ending]
    relatedMemories: list[RelatedMemory]


class Found(Kept):
    similarity: NotRequired[float]


class Results(TypedDict):
    results: list[Found]
    count: int
    total: int
    hasMore: bool
    truncated: NotRequired[bool]


class Updated(TypedDict):
    id: str
    memory: Kept
    promoted: NotRequired[bool]


class Deleted(TypedDict):
    id: str
    deleted: bool


@creo.writes
async def remember(
    call: Call,
    content: Annotated[str, Field(description="The text to keep, at most 1 MB")],
    category: Annotated[str | None, Field(description="e.g. design, decision, debug, learning; any name")] = None,
    tags: Annotated[list[str] | None, Field(description="At most 20")] = None,
    labelIds: Annotated[list[str] | None, Field(description="Labels of yours to put on it")] = None,
    metadata: Annotated[
        dict[str, Any] | None, Field(description="Any JSON object; derivedFrom names the memories it came from")
    ] = None,
    contentType: Annotated[ContentType, Field(description="How the text is written")] = "text",
    atlasId: Annotated[str | None, Field(description="The atlas to put it in; your own memory when left out")] = None,
    ttl: Annotated[
        Seconds | None, Field(description="Seconds after which it ends by itself, 60 or more; kept when left out")
    ] = None,
) -> Answer[Stored]:
    """Keep a text, with ttl only for a while. Answers with up to 3 related earlier memories."""
    draft = Draft(
        content,
        tags=tuple(tags or ()),
        category=category or "",
        metadata=metadata or {},
        content_type=contentType,
        ttl=None if ttl is None else timedelta(seconds=ttl),
        home=None if atlasId is None else ids.atlas("atlasId", atlasId),
    )
    done = await call.engine.derivations.remember(call.actor, draft, labels=_labels(call, labelIds))
    return Answer(await _stored(call, done), text=_told(done, call.engine.clock.now()))


@creo.reads
async def search(
    call: Call,
    query: Annotated[str | None, Field(description="What to look for, in any language; without it, the newest")] = None,
    category: Annotated[str | None, Field(description="Only with this category")] = None,
    tags: Annotated[list[str] | None, Field(description="Only with any of these tags")] = None,
    labelIds: Annotated[list[str] | None, Field(description="Only with any of these labels of yours")] = None,
    atlasId: Annotated[str | None, Field(description="Only in this atlas and those below it")] = None,
    fromDate: Annotated[str | None, Field(description="Only from then on; ISO 8601, a date alone is the day")] = None,
    toDate: Annotated[str | None, Field(description="Only up to then, a date alone is the whole day")] = None,
    searchType: Annotated[
        Literal["semantic", "hybrid"], Field(description="By meaning alone, or by meaning and words")
    ] = "hybrid",
    limit: Annotated[Whole, Field(description="How many at most", ge=1, le=MOST_FOUND)] = 10,
    threshold: Annotated[
        float,
        Field(
            description="Least similarity: 0.9 very close, 0.7 related, 0.5 somewhat",
            ge=0,
            le=1,
        ),
    ] = LEAST_LIKE,
) -> Answer[Results]:
    """Find memories by meaning, words and filters, best first; without a query, the newest that pass the filters."""
    since, until = _times(call, fromDate, toDate)
    looking = await _looking(call, atlasId)
    conditions: dict[str, Any] = {
        "since": since,
        "until": until,
        "tags": limits.tags(tags or ()),
        "categories": (limits.label("category", category),) if category else (),
        "labels": _labels(call, labelIds),
    }
    if query is None or not query.strip():
        page = await call.engine.memories.page(looking, limit, **conditions)
        return await _listed(call, [(memory, None) for memory in page.memories], page.total)
    question = Question(query, limit + 1, threshold, words=searchType == "hybrid", **conditions)
    recalled = await call.engine.recall.recall(looking, question)
    found: list[tuple[Memory, float | None]] = [(hit.memory, hit.similarity) for hit in recalled.hits]
    return await _listed(call, found[:limit], len(found), _remark(recalled, threshold), query)


@creo.writes
async def update_memory(
    call: Call,
    id: MemoryRef,
    content: Annotated[str | None, Field(description="The new text; it is embedded anew only if it differs")] = None,
    contentType: Annotated[ContentType | None, Field(description="How the text is written")] = None,
    category: Annotated[str | None, Field(description="The new category; empty for none")] = None,
    tags: Annotated[list[str] | None, Field(description="The new tags; they replace the old ones")] = None,
    metadata: Annotated[
        dict[str, Any] | None, Field(description="Laid over what is there; an entry that is null goes")
    ] = None,
    ttl: Annotated[
        Seconds | None,
        Field(
            description="Seconds from now after which it ends; null keeps it for good; left out, nothing changes",
            json_schema_extra=_without_default,
        ),
    ] = _AS_IT_IS,
) -> Answer[Updated]:
    """Change a memory in place; what is left out stays. ttl: null keeps a temporary one for good (promotes it)."""
    change = Change(
        content=content,
        tags=None if tags is None else tuple(tags),
        category=category,
        metadata=metadata,
        content_type=contentType,
    )
    lasting = None if ttl == _AS_IT_IS else Lasting(None if ttl is None else timedelta(seconds=ttl))
    if not change.fields and lasting is None:
        raise Invalid("id", "there is nothing to update: give content, contentType, category, tags, metadata or ttl")
    done = await call.engine.derivations.revise(call.actor, ids.memory("id", id), change, lasting=lasting)
    answer: Updated = {"id": done.memory.id, "memory": (await kept(call, [done.memory]))[0]}
    if lasting and lasting.ttl is None:
        answer["promoted"] = done.before.ephemeral is not None
    cut(answer["memory"], _ECHO)
    return Answer(answer, text=_changed(done, lasting))


@creo.destroys
async def forget(
    call: Call,
    id: MemoryRef,
    confirm: Annotated[bool, Field(description="Must be true: deleting cannot be undone")],
) -> Answer[Deleted]:
    """Delete a memory for good, with its history. This cannot be undone."""
    reference = ids.memory("id", id)
    if not confirm:
        raise Invalid(
            "confirm", "must be true: deleting cannot be undone. Call forget again with confirm: true to do it"
        )
    memory = await call.engine.memories.forget(call.actor, reference)
    return Answer({"id": memory.id, "deleted": True}, text=f"メモリを削除しました (ID: {memory.id})")


# Where and when


def _times(call: Call, first: str | None, last: str | None) -> tuple[datetime | None, datetime | None]:
    since = None if first is None else moment("fromDate", first, call.actor.zone)
    until = None if last is None else moment("toDate", last, call.actor.zone, last=True)
    limits.in_order("fromDate", since, "toDate", until)
    return since, until


def _labels(call: Call, labels: list[str] | None) -> tuple[str, ...]:
    """Labels are a user's own: a key that opens only a part of his memories knows nothing of them."""
    if labels:
        require_whole(call.actor)
    return tuple(dict.fromkeys(ids.bare("labelIds", label, "label") for label in labels or ()))


async def _looking(call: Call, atlas: str | None) -> Actor:
    """The caller, or, where an atlas is named, the caller with nothing but that atlas in sight."""
    if atlas is None:
        return call.actor
    return await call.engine.atlases.within(call.actor, ids.atlas("atlasId", atlas))


# Words


async def _stored(call: Call, done: Remembered) -> Stored:
    (memory,) = await kept(call, [done.memory])
    cut(memory, _ECHO)
    answer: Stored = {"id": memory["id"], "memory": memory, "relatedMemories": [_related(hit) for hit in done.related]}
    if "ephemeral" in memory:
        answer["ephemeral"] = {"ttl": memory["ephemeral"]["ttl"], "expiresAt": memory["ephemeral"]["expiresAt"]}
    return answer


def _related(hit: Hit) -> RelatedMemory:
    return {
        "id": hit.memory.id,
        "content": flat(hit.memory.content, _EXCERPT),
        "similarity": round(hit.similarity, 4),
        "category": hit.memory.category or None,
        "createdAt": instant(hit.memory.created_at),
    }


def _told(done: Remembered, now: datetime) -> str:
    lines = [f"✅ メモリを保存しました (ID: {done.memory.id})"]
    if done.memory.ephemeral:
        lines.append(f"Ephemeral: {lifetime(done.memory.ephemeral, now)}")
    if done.related:
        lines += ["", "🔗 関連する過去の記憶"]
    for place, hit in enumerate(done.related, 1):
        lines.append(
            f"{place}. {quoted(hit.memory.content, _EXCERPT)} (類似度 {hit.similarity:.2f}, ID: {hit.memory.id})"
        )
    return "\n".join(lines)


async def _listed(
    call: Call, found: list[tuple[Memory, float | None]], total: int, remark: str = "", query: str = ""
) -> Answer[Results]:
    """Whole in the object; in the words, of a long one what stands around the part that answers."""
    now = call.engine.clock.now()
    atlases = await atlases_of(call, (memory for memory, _ in found))
    results = [_found(memory, similarity, shown(memory, now, atlases)) for memory, similarity in found]
    answer: Results = {
        "results": results,
        "count": len(results),
        "total": total,
        "hasMore": total > len(results),
    }
    quotable = [memory for memory, _ in found]
    if query:
        quotable = await call.engine.recall.to_the_point(quotable, query, _EXCERPT - _CUT_MARKS)
    lines = [_line(place, memory, found[place - 1][1], now) for place, memory in enumerate(quotable, 1)]
    if bounded(results):
        answer["truncated"] = True
        lines.append("（長い本文は省略しました）")
    if answer["hasMore"]:
        lines.append("（他にもあります。limitを増やすか条件を絞ってください）")
    heading = f"🔍 {len(results)}件のメモリが見つかりました" if results else "🔍 メモリが見つかりませんでした"
    return Answer(answer, text="\n".join([heading + remark, *lines]))


def _found(memory: Memory, similarity: float | None, shape: Kept) -> Found:
    found: Found = {**shape}  # type: ignore[typeddict-item]
    if similarity is not None:
        found["similarity"] = round(similarity, 4)
    return found


def _line(place: int, memory: Memory, similarity: float | None, now: datetime) -> str:
    facts = [f"ID: {memory.id}"]
    if similarity is not None:
        facts.append(f"類似度: {similarity:.2f}")
    if memory.category:
        facts.append(f"カテゴリ: {flat(memory.category, 60)}")
    if memory.tags:
        facts.append(f"タグ: {flat(', '.join(memory.tags), 120)}")
    facts.append(f"作成: {instant(memory.created_at)}")
    end = f"\n   Ephemeral: {lifetime(memory.ephemeral, now)}" if memory.ephemeral else ""
    return f"{place}. {quoted(memory.content, _EXCERPT)}\n   {' | '.join(facts)}{end}"


def _remark(recalled: Recalled, least: float) -> str:
    """What a caller should know of a search beside its results."""
    if short := shortcoming(recalled.reach, "メモリ"):
        return short
    if not recalled.hits and least > 0:
        return f"（類似度{least:g}以上のものはありません。thresholdを下げると見つかることがあります）"
    return ""


def _changed(done: Revised, lasting: Lasting | None) -> str:
    lines = []
    if done.memory.version != done.before.version:
        lines.append("メモリを更新しました")
    elif lasting is None:
        lines.append("メモリはすでにその内容です。変更はありません")
    if lasting and lasting.ttl is not None:
        lines.append(f"メモリのTTLを更新しました（{int(lasting.ttl.total_seconds())}秒）")
    elif lasting:
        promoted = done.before.ephemeral is not None
        lines.append("メモリを永続化（昇格）しました" if promoted else "メモリはすでに永続化されています")
    return "\n".join(lines)
