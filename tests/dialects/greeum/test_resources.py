"""memory_block, memory_chain, stm_list, server_config."""

import hashlib
import json
import math
from typing import Any

import pytest
from mcp_types import INVALID_PARAMS

from tests.dialects.conversation import Conversation, unique
from tests.serving import OWNER_KEY

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

FIELDS = ["id", "content", "timestamp", "keywords", "tags", "importance", "embedding", "previous_hash", "hash"]
DIMENSIONS = 512
"""Of the default embedder."""


@behaviour("greeum.memory_block.fields", "greeum.limits.embedding")
async def test_a_block_has_the_fields_of_the_reference(talk: Conversation) -> None:
    content = unique()
    added = await talk.call("add_memory", content=content, keywords=["k"], tags=["t"], importance=0.8)
    block = await talk.read(f"memory_block://{added['id']}")
    assert list(block) == FIELDS
    assert block["content"] == content
    assert {name: block[name] for name in added if name != "block_index"} == {
        name: value for name, value in added.items() if name != "block_index"
    }
    assert len(block["embedding"]) == DIMENSIONS
    assert math.isclose(sum(value * value for value in block["embedding"]), 1.0, rel_tol=0.01)


@behaviour("greeum.memory_block.addresses")
async def test_a_block_is_read_under_all_its_addresses(talk: Conversation) -> None:
    added = await talk.call("add_memory", content=unique())
    memory = await talk.call("retrieve_memory", memory_id=added["id"])
    block = await talk.read(f"memory_block/{added['id']}")
    for head in ("memory_block/", "memory_block://"):
        for name in (added["id"], added["block_index"], memory["memory_id"]):
            assert await talk.read(f"{head}{name}") == block


def _hash(block: dict[str, Any], timestamp: str, importance: float) -> str:
    covered = {
        "block_index": int(block["id"].removeprefix("block_")),
        "context": block["content"],
        "timestamp": timestamp,
        "prev_hash": block["previous_hash"],
        "importance": importance,
    }
    canonical = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@behaviour("greeum.memory_block.hashes", "greeum.memory_block.first")
async def test_blocks_are_chained_by_their_hashes(local: Conversation) -> None:
    for number in range(3):
        await local.call("add_memory", content=f"기억 {number}", importance=0.25)
        head = (await local.read("memory_chain://"))["head_block"]
        block = await local.read(f"memory_block://{number}")
        assert head["hash"] == block["hash"] == _hash(block, head["timestamp"], 0.25)
        before = (await local.read(f"memory_block://{number - 1}"))["hash"] if number else ""
        assert block["previous_hash"] == before


@behaviour("greeum.memory_block.absent")
@pytest.mark.parametrize("name", ["block_999999999", "999999999", "nonsense", "-1", "%00", "..", "a/b"])
async def test_a_block_that_is_not_there_is_not_found(talk: Conversation, name: str) -> None:
    for head in ("memory_block/", "memory_block://"):
        error = await talk.unreadable(head + name)
        assert (error.code, "not found" in error.message) == (INVALID_PARAMS, True)


@behaviour("greeum.memory_block.short_term")
async def test_a_short_term_memory_is_no_block(talk: Conversation) -> None:
    added = await talk.call("add_stm", content=unique())
    assert (await talk.unreadable(f"memory_block://{added['id']}")).code == INVALID_PARAMS


@behaviour("greeum.memory_chain.fields", "greeum.memory_chain.addresses", "greeum.memory_chain.head")
async def test_the_chain_shows_its_length_and_its_head(talk: Conversation) -> None:
    first = await talk.call("add_memory", content=unique())
    content = unique()
    added = await talk.call("add_memory", content=content)
    chain = await talk.read("memory_chain")
    assert chain == await talk.read("memory_chain://")
    assert list(chain) == ["total_blocks", "head_block", "chain_valid", "created_at"]
    assert (chain["total_blocks"], chain["chain_valid"]) == (added["block_index"] + 1, True)
    assert "" < chain["created_at"] <= first["timestamp"]
    head, block = chain["head_block"], await talk.read(f"memory_block://{added['id']}")
    assert (head["id"], head["content"]) == (added["id"], content)
    assert (head["hash"], head["previous_hash"]) == (block["hash"], block["previous_hash"])


@behaviour("greeum.memory_chain.empty")
async def test_an_empty_chain_is_valid(local: Conversation) -> None:
    assert await local.read("memory_chain://") == {
        "total_blocks": 0,
        "head_block": None,
        "chain_valid": True,
        "created_at": None,
    }


@behaviour("greeum.stm_list.content", "greeum.stm_list.addresses")
async def test_the_short_term_list_is_that_of_the_tool(talk: Conversation) -> None:
    added = await talk.call("add_stm", content=unique())
    for uri in ("stm_list", "stm_list://"):
        listed = await talk.read(uri)
        asked = await talk.call("get_stm_memories", limit=1000)
        assert listed["memories"][0]["id"] == added["id"]
        assert [memory["id"] for memory in listed["memories"]] == [memory["id"] for memory in asked["memories"]]
        assert (listed["total"], listed["has_more"]) == (asked["total"], False)


@behaviour("greeum.server_config.content", "greeum.server_config.addresses", "greeum.versions.current")
async def test_the_config_says_how_the_server_is_set_up(talk: Conversation) -> None:
    config = await talk.read("server_config")
    assert config == await talk.read("server_config://")
    assert config["version"] == "0.2.0"
    assert config["config"] == (await talk.call("server_status"))["config"]
    assert config["limits"] == {"max_memory_bytes": 1048576, "max_keywords": 50, "max_tags": 20}
    assert config["time_zone"] == "Asia/Seoul"
    assert config["read_only"] is False
    assert config["embedding"]["embedder"]


@behaviour("greeum.server_config.secrets")
async def test_no_key_is_in_the_config(talk: Conversation) -> None:
    assert OWNER_KEY not in json.dumps(await talk.read("server_config://"))
    assert OWNER_KEY not in json.dumps(await talk.call("server_status"))


@behaviour("greeum.resources.unknown")
@pytest.mark.parametrize(
    "uri", ["nothing://", "memory_block://", "memory_block", "memory_chain://1", "file:///etc", ""]
)
async def test_an_unknown_address_is_refused(talk: Conversation, uri: str) -> None:
    assert (await talk.unreadable(uri)).code == INVALID_PARAMS
