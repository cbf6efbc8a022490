"""유틸리티 도구: prompts, extraction, the chain, the server's state."""

from __future__ import annotations

from functools import partial
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.greeum._greeum import API_VERSION, greeum
from commonplace.dialects.greeum.memory import extracted_keywords, extracted_tags, shortcoming
from commonplace.dialects.greeum.prompt import MOST_CHARS, enriched
from commonplace.domain import limits
from commonplace.domain.access import Permission
from commonplace.domain.errors import StoreCorrupt, StoreFailed
from commonplace.domain.memory import MAX_KEYWORDS
from commonplace.engine.chain import Verdict
from commonplace.engine.recall import Question
from commonplace.ports import Statistics

MOST_IN_PROMPT = 100
MATTERS = 0.25
"""Below this similarity, a long-term memory does not belong into a prompt; nor below BESIDE of the best one's."""
BESIDE = 0.65

Text = Annotated[str, Field(description="The text to look at")]
Language = Annotated[str, Field(description="ko, en, ja, zh, fr or auto")]


class ChainVerdict(TypedDict):
    valid: bool
    total_blocks: int
    message: str
    first_bad_block: NotRequired[int]


class MemoryStats(TypedDict):
    total_blocks: int | None
    active_stm: int | None
    cache_size: int | None


class Config(TypedDict):
    data_dir: str
    ttl_short: int
    ttl_medium: int
    ttl_long: int


class EmbeddingState(TypedDict):
    embedder: str
    search: str
    pending: int | None
    total: int | None
    reason: str


class StorageState(TypedDict):
    writable: bool
    reason: str


class Status(TypedDict):
    status: str
    version: str
    memory_stats: MemoryStats
    config: Config
    embedding: EmbeddingState
    storage: StorageState


@greeum.reads
async def generate_prompt(
    call: Call,
    user_input: Annotated[str, Field(description="What the user said, at most 20,000 characters")],
    max_blocks: Annotated[Whole, Field(description="How many long-term memories at most")] = 5,
    max_stm: Annotated[Whole, Field(description="How many short-term memories at most")] = 3,
    include_stm: Annotated[bool, Field(description="Whether to put in short-term memories")] = True,
) -> Answer[str]:
    """Put the memories that matter for an input in front of it, within a token budget."""
    limits.within("max_blocks", max_blocks, 0, MOST_IN_PROMPT)
    limits.within("max_stm", max_stm, 0, MOST_IN_PROMPT)
    limits.query(user_input, "user_input")
    ask = call.engine.recall.recall
    short = long = None
    if include_stm and max_stm:
        short = await ask(call.actor, Question(user_input, max_stm, ephemeral=True, fold=True))
    if max_blocks:
        long = await ask(call.actor, Question(user_input, max_blocks, MATTERS, ephemeral=False, fold=True))
    best = max((hit.similarity for hit in long.hits), default=0.0) if long else 0.0
    point = partial(call.engine.recall.to_the_point, question=user_input, most=MOST_CHARS)
    prompt = enriched(
        user_input,
        await point([hit.memory for hit in short.hits] if short else []),
        await point([hit.memory for hit in long.hits if hit.similarity >= best * BESIDE] if long else []),
        call.settings.prompt_tokens,
        call.actor.zone,
    )
    return Answer(prompt, shortcoming(short, long))


@greeum.reads
async def extract_keywords(
    call: Call,
    text: Text,
    language: Language = "auto",
    max_keywords: Annotated[Whole, Field(description="How many at most")] = 10,
) -> list[str]:
    """The telling words of a text, most telling first."""
    limits.within("max_keywords", max_keywords, 1, MAX_KEYWORDS)
    return extracted_keywords(limits.content(text, "text"), language, max_keywords)


@greeum.reads
async def extract_tags(call: Call, text: Text, language: Language = "auto") -> list[str]:
    """Topics and moods of a text."""
    return extracted_tags(limits.content(text, "text"), language)


@greeum.reads
async def verify_chain(call: Call) -> ChainVerdict:
    """Recompute the whole chain; names the first block that was tampered with."""
    return chain_verdict(await call.engine.chain.verify(call.actor, call.progress))


def chain_verdict(verdict: Verdict) -> ChainVerdict:
    if verdict.broken is None:
        return {"valid": True, "total_blocks": verdict.total, "message": "체인이 유효합니다"}
    return {
        "valid": False,
        "total_blocks": verdict.total,
        "message": f"체인이 손상되었습니다: block_{verdict.broken.index} ({verdict.broken.reason})",
        "first_bad_block": verdict.broken.index,
    }


@greeum.reads
async def server_status(call: Call) -> Status:
    """Whether the server is well, and its figures."""
    return await status(call)


async def status(call: Call) -> Status:
    figures, active, damage = await _figures(call)
    failure = call.engine.embedding.failure
    store = call.engine.store
    trouble = store.trouble or ("" if store.writable else f"the store at {store.location} can only be read")
    return {
        "status": "degraded" if failure or trouble or damage else "healthy",
        "version": API_VERSION,
        "memory_stats": {
            "total_blocks": figures.blocks if figures else None,
            "active_stm": active,
            "cache_size": figures.cached if figures else None,
        },
        "config": config(call),
        "embedding": {
            "embedder": call.engine.embedding.name,
            "search": "lexical only" if failure else "hybrid",
            "pending": figures.unembedded if figures else None,
            "total": figures.memories if figures else None,
            "reason": failure or (figures.unembedded_reason if figures else ""),
        },
        "storage": {"writable": not trouble, "reason": trouble or damage},
    }


async def _figures(call: Call) -> tuple[Statistics | None, int | None, str]:
    """Of the store, and of one's own short-term memories; and what of the file cannot be read."""
    try:
        figures = await call.engine.upkeep.statistics()
        mine = await call.engine.memories.page(call.actor, 1, ephemeral=True)
    except StoreFailed as failure:  # then, if ever, it is asked how the server is
        return None, None, failure.in_full
    store = call.engine.store
    if store.damage and await store.check():  # looked at again: a backup may have been put back since
        return figures, mine.total, StoreCorrupt(store.location, store.damage).in_full
    return figures, mine.total, ""


def config(call: Call) -> Config:
    """Without secrets; where the data lies is for administrators."""
    shown = call.engine.store.location if Permission.ADMIN in call.actor.permissions else "(hidden)"
    return {
        "data_dir": shown,
        "ttl_short": call.settings.ttl_short,
        "ttl_medium": call.settings.ttl_medium,
        "ttl_long": call.settings.ttl_long,
    }
