"""단기 메모리 도구: short-term memory, which is the ephemeral memory of the other dialects."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Call, Whole
from commonplace.dialects.greeum._greeum import greeum
from commonplace.dialects.greeum.answers import Deleted, Passing, bounded, passing, reference
from commonplace.dialects.greeum.memory import Importance
from commonplace.domain import limits
from commonplace.domain.memory import DEFAULT_IMPORTANCE, Draft
from commonplace.engine.recall import MOST_RESULTS
from commonplace.settings import Settings

TtlType = Literal["short", "medium", "long"]


class ShortTerm(TypedDict):
    memories: list[Passing]
    total: int
    has_more: bool


class Cleaned(TypedDict):
    cleaned: int
    message: str


@greeum.writes
async def add_stm(
    call: Call,
    content: Annotated[str, Field(description="The text to keep for a while, at most 1 MB")],
    ttl_type: Annotated[TtlType, Field(description="short: an hour, medium: a day, long: a week")] = "medium",
    importance: Importance = DEFAULT_IMPORTANCE,
) -> Passing:
    """Keep a text in short-term memory; it ends by itself."""
    ttl = timedelta(seconds=_seconds(call.settings)[ttl_type])
    draft = Draft(content, importance=importance, ttl=ttl)
    memory = await call.engine.memories.remember(call.actor, draft)
    return passing(memory, call.settings, call.engine.clock.now())


@greeum.reads
async def get_stm_memories(
    call: Call,
    limit: Annotated[Whole, Field(description="How many at most")] = 10,
    ttl_type: Annotated[TtlType | None, Field(description="Only of this type")] = None,
) -> ShortTerm:
    """List the short-term memories that are still alive, newest first."""
    return await listed(call, limits.within("limit", limit, 1, MOST_RESULTS), ttl_type)


async def listed(call: Call, limit: int, ttl_type: TtlType | None = None) -> ShortTerm:
    seconds = _seconds(call.settings)
    over = {"medium": seconds["short"], "long": seconds["medium"]}.get(ttl_type or "")
    upto = {"short": seconds["short"], "medium": seconds["medium"]}.get(ttl_type or "")
    page = await call.engine.memories.page(call.actor, limit, ephemeral=True, ttl_over=over, ttl_upto=upto)
    now = call.engine.clock.now()
    memories = [passing(memory, call.settings, now) for memory in page.memories]
    bounded(memories)
    return {"memories": memories, "total": page.total, "has_more": page.total > len(memories)}


@greeum.destroys
async def forget_stm(
    call: Call, memory_id: Annotated[str, Field(description="The id of a short-term memory")]
) -> Deleted:
    """Delete a short-term memory at once."""
    memory = await call.engine.memories.forget(call.actor, reference(memory_id), ephemeral=True)
    return {"id": memory.id, "deleted": True, "message": "단기 메모리가 삭제되었습니다"}


@greeum.destroys
async def cleanup_expired_memories(call: Call) -> Cleaned:
    """Remove the short-term memories that have ended."""
    cleaned = await call.engine.memories.sweep(call.actor)
    return {"cleaned": cleaned, "message": f"{cleaned}개의 만료된 메모리가 정리되었습니다"}


def _seconds(settings: Settings) -> dict[str, int]:
    return {"short": settings.ttl_short, "medium": settings.ttl_medium, "long": settings.ttl_long}
