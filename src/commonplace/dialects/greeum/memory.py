"""메모리 관리 도구: long-term memory."""

from datetime import timedelta
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.greeum._greeum import greeum
from commonplace.dialects.greeum.answers import (
    Added,
    Deleted,
    Found,
    Kept,
    added,
    block_id,
    bounded,
    explained,
    found,
    kept,
    reference,
    stamp,
)
from commonplace.domain import limits
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.memory import DEFAULT_IMPORTANCE, Change, Draft
from commonplace.engine.recall import Moment, Question, Recalled

MOST_BLOCKS = 50
"""search_time has no limit of its own."""
MOST_MARGIN = 24 * 366 * 10

_LEXICAL_ONLY = "Searched by words only, not by meaning: "
_NOT_WHOLE = "Some memories still wait for their vectors; until then they are found by their words only."
_DAMAGED = "Part of the file is damaged, and what stands there was left out; put back a backup. It says: "

_PHRASED = 'Words with a time phrase, at most 20,000 characters: "meeting last week", "어제 회의", 2024-01-01'

Importance = Annotated[float, Field(description="From 0.0 to 1.0")]
MemoryRef = Annotated[str, Field(description="block_12, 12 or a memory's id")]


SearchRange = TypedDict("SearchRange", {"from": str, "to": str})  # `from` is a keyword


class TimeFound(TypedDict):
    detected: bool
    blocks: list[Kept]
    total: int
    has_more: bool
    time_expression: NotRequired[str]
    search_range: NotRequired[SearchRange]
    searched_range: NotRequired[SearchRange]


@greeum.writes
async def add_memory(
    call: Call,
    content: Annotated[str, Field(description="The text to keep, at most 1 MB")],
    keywords: Annotated[list[str] | None, Field(description="At most 50; extracted when left out")] = None,
    tags: Annotated[list[str] | None, Field(description="At most 20; extracted when left out")] = None,
    importance: Importance = DEFAULT_IMPORTANCE,
) -> Added:
    """Store a text in long-term memory as a new block of the chain."""
    limits.content(content)
    draft = Draft(
        content,
        tags=tuple(extracted_tags(content) if tags is None else tags),
        keywords=tuple(extracted_keywords(content) if keywords is None else keywords),
        importance=importance,
    )
    return added(await call.engine.memories.remember(call.actor, draft))


def extracted_keywords(text: str, language: str = "auto", limit: int = 10) -> list[str]:
    from commonplace.language.keywords import keywords  # with word lists that a start need not wait for

    return keywords(text, language, limit)


def extracted_tags(text: str, language: str = "auto") -> list[str]:
    from commonplace.language.tags import tags

    return tags(text, language)


@greeum.reads
async def query_memory(
    call: Call,
    query: Annotated[str, Field(description="What to look for, in any language, at most 20,000 characters")],
    limit: Annotated[Whole, Field(description="How many at most")] = 5,
    min_importance: Annotated[float | None, Field(description="Only from this importance on, 0.0 to 1.0")] = None,
) -> Answer[list[Found]]:
    """Find the memories closest in meaning and words, best first.

    similarity: 0.9+ very close, 0.7+ related, 0.5+ somewhat; a right answer in another language may lie lower.
    """
    least = None if min_importance is None else limits.importance(min_importance, "min_importance")
    recalled = await call.engine.recall.recall(call.actor, Question(query, limit, importance_min=least))
    answer = [found(hit) for hit in recalled.hits]
    bounded(answer)
    return Answer(answer, shortcoming(recalled), reasons=lambda: [explained(hit) for hit in recalled.hits])


def shortcoming(*searches: Recalled | Moment | None) -> str:
    """What a caller should know of searches that could not go everywhere."""
    made = [one.reach for one in searches if one]
    told = [_DAMAGED + one.damage for one in made if one.damage][:1]
    told += [_LEXICAL_ONLY + one.lexical_only for one in made if one.lexical_only][:1]
    if not told and not all(one.whole for one in made):
        told = [_NOT_WHOLE]
    return "\n".join(told)


@greeum.reads
async def retrieve_memory(call: Call, memory_id: MemoryRef) -> Kept | None:
    """Get one memory by its id or block index; null when there is none."""
    try:
        return kept(await call.engine.memories.get(call.actor, reference(memory_id)))
    except NotFound:
        return None


@greeum.writes
async def update_memory(
    call: Call,
    memory_id: MemoryRef,
    importance: Annotated[float | None, Field(description="The new importance, 0.0 to 1.0")] = None,
    tags: Annotated[list[str] | None, Field(description="The new tags, at most 20; they replace the old ones")] = None,
) -> Kept:
    """Change the importance or the tags of a memory. The chain, which covers what was first written, stays valid."""
    if importance is None and tags is None:
        raise Invalid("importance", "give a new importance, new tags, or both")
    change = Change(importance=importance, tags=None if tags is None else tuple(tags))
    return kept(await call.engine.memories.revise(call.actor, reference(memory_id), change))


@greeum.destroys
async def delete_memory(call: Call, memory_id: MemoryRef) -> Deleted:
    """Delete a memory for good; this cannot be undone. The chain keeps the block's hashes and stays valid."""
    memory = await call.engine.memories.forget(call.actor, reference(memory_id))
    return {"id": block_id(memory), "deleted": True, "message": "메모리가 삭제되었습니다"}


@greeum.reads
async def search_time(
    call: Call,
    query: Annotated[str, Field(description=_PHRASED)],
    language: Annotated[str, Field(description="ko, en, ja, zh, fr or auto")] = "auto",
    margin_hours: Annotated[Whole, Field(description="Hours by which the time is widened on both sides")] = 12,
) -> Answer[TimeFound]:
    """Find memories of the time a phrase names, ranked by the rest of the query; without one, an ordinary search."""
    limits.within("margin_hours", margin_hours, 0, MOST_MARGIN)
    moment = await call.engine.recall.recall_time(
        call.actor, query, language=language, margin=timedelta(hours=margin_hours), limit=MOST_BLOCKS
    )
    return Answer(_time_found(moment), shortcoming(moment))


def _time_found(moment: Moment) -> TimeFound:
    answer: TimeFound = {
        "detected": moment.phrase is not None,
        "blocks": [kept(memory) for memory in moment.memories],
        "total": moment.total,
        "has_more": moment.total > len(moment.memories),
    }
    bounded(answer["blocks"])
    if moment.phrase and moment.searched_from and moment.searched_to:
        answer["time_expression"] = moment.phrase.expression
        answer["search_range"] = {"from": stamp(moment.phrase.start), "to": stamp(moment.phrase.end)}
        answer["searched_range"] = {"from": stamp(moment.searched_from), "to": stamp(moment.searched_to)}
    return answer
