"""MCP 리소스: a block, the chain, the short-term list, the settings."""

from typing import Any

from commonplace.dialects._dialect import Call
from commonplace.dialects.greeum._greeum import API_VERSION, greeum
from commonplace.dialects.greeum.answers import block_id, head, reference, stamp
from commonplace.dialects.greeum.short_term import listed
from commonplace.dialects.greeum.utility import chain_verdict, config
from commonplace.domain import memory as limits
from commonplace.domain.errors import NotFound
from commonplace.domain.memory import Memory
from commonplace.engine.memories import Reference
from commonplace.engine.recall import MOST_RESULTS


@greeum.resource(
    "greeum://memory_block/{block_id}", "memory_block", "memory_block://{block_id}", "memory_block/{block_id}"
)
async def memory_block(call: Call, block: str) -> dict[str, Any]:
    """One block of the chain with its content, embedding and hashes."""
    memory = await call.engine.memories.get(call.actor, reference(block, "block_id"))
    if memory.block is None:
        raise NotFound("block", block)
    sealed = await call.engine.chain.block(call.actor, memory.block)
    embedding = await call.engine.memories.embedding_of(call.actor, Reference(id=memory.id))
    return {
        "id": block_id(memory),
        "content": memory.content,
        "timestamp": stamp(memory.created_at),
        "keywords": list(memory.keywords),
        "tags": list(memory.tags),
        "importance": memory.importance,
        "embedding": embedding,
        "previous_hash": sealed.previous_hash if sealed else "",
        "hash": sealed.hash if sealed else "",
    }


@greeum.resource("greeum://memory_chain", "memory_chain", "memory_chain://", "memory_chain")
async def memory_chain(call: Call) -> dict[str, Any]:
    """The whole chain: how long it is, its last block, whether it is intact."""
    verdict = chain_verdict(await call.engine.chain.verify(call.actor, call.progress))
    last = await call.engine.chain.head(call.actor)
    first = await call.engine.chain.block(call.actor, 0)
    shown = head(last, await _visible(call, last.index)) if last else None
    return {
        "total_blocks": verdict["total_blocks"],
        "head_block": shown,
        "chain_valid": verdict["valid"],
        "created_at": first.timestamp[:19] + "Z" if first else None,
    }


async def _visible(call: Call, block: int) -> Memory | None:
    try:
        return await call.engine.memories.get(call.actor, Reference(block=block))
    except NotFound:
        return None


@greeum.resource("greeum://stm_list", "stm_list", "stm_list://", "stm_list")
async def stm_list(call: Call) -> Any:
    """The short-term memories that are alive, newest first."""
    return await listed(call, MOST_RESULTS)


@greeum.resource("greeum://server_config", "server_config", "server_config://", "server_config")
async def server_config(call: Call) -> dict[str, Any]:
    """How the server is set up, without secrets."""
    return {
        "version": API_VERSION,
        "config": config(call),
        "limits": {
            "max_memory_bytes": limits.MAX_CONTENT_BYTES,
            "max_keywords": limits.MAX_KEYWORDS,
            "max_tags": limits.MAX_TAGS,
        },
        "embedding": {"embedder": call.engine.embedding.name},
        "time_zone": str(call.actor.zone),
        "read_only": call.settings.read_only or not call.engine.store.writable,
    }
