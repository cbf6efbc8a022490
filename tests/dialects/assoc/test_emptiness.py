"""Where there is nothing to be found yet, nobody is sent to look harder."""

from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.storage.sqlite.store import FILE_NAME
from tests.damage import lose_part, reopened, written
from tests.dialects.assoc.speech import AssocConversation, spoken_to

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOTHING = "0件の記憶が見つかりました (検索した範囲にはまだ記憶がありません"
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory", {"action": "search", "query": "Apollo"}),
    ("memory", {"action": "search", "query": "Apollo", "threshold": 0.0}),
    ("memory", {"action": "search", "query": "Apollo", "tags": ["engine"]}),
    ("memory", {"action": "search", "query": "Apollo", "include_domains": ["global"]}),
    ("search", {"type": "semantic", "query": "Apollo", "filters": {"domains": ["global", "user"]}}),
    ("search", {"type": "advanced", "query": "Apollo", "start_time": "2020-01-01"}),
    ("search", {"type": "advanced"}),
    ("search", {"type": "tags", "tags": ["engine"]}),
    ("search", {"type": "timerange", "start_time": "2020-01-01"}),
)


@behaviour("assoc.search.empty")
@pytest.mark.parametrize("elsewhere", [False, True], ids=["in an empty store", "with memories elsewhere"])
async def test_where_there_are_no_memories_yet_a_search_says_so(local: AssocConversation, elsewhere: bool) -> None:
    project, empty = await local.project(), await local.project()
    if elsewhere:
        await local.store("Apollo uses the Kestrel engine", domain="project", project_id=project, tags=["engine"])
    for tool, arguments in (
        *ASKED,
        ("memory", {"action": "search", "query": "Apollo", "include_domains": ["project"], "project_id": empty}),
        ("search", {"type": "semantic", "query": "Apollo", "filters": {"project_ids": [empty]}}),
    ):
        said = await local.says(tool, **arguments)
        assert said.startswith(NOTHING), (arguments, said)
        assert "threshold" not in said
        assert "条件" not in said


@behaviour("assoc.search.empty")
async def test_with_a_memory_there_it_is_not_said(local: AssocConversation) -> None:
    await local.store("Lunch is at noon")
    for tool, arguments in ASKED:
        if arguments.get("include_domains") != ["global"]:
            assert "まだ" not in await local.says(tool, **arguments), arguments


@behaviour("assoc.search.empty")
async def test_a_memory_that_is_alone_is_like_no_other_yet(local: AssocConversation) -> None:
    alone = await local.store("Apollo uses the Kestrel engine")
    for filters in ({}, {"categories": ["design"]}, {"domains": ["global"]}):
        said = await local.says("search", type="similar", memory_id=alone, filters=filters)
        assert said == "0件の記憶が見つかりました (検索した範囲にはまだ他の記憶がありません)"
    await local.store("Lunch is at noon")
    assert "まだ" not in await local.says("search", type="similar", memory_id=alone)


@behaviour("assoc.search.empty")
async def test_a_damaged_file_is_not_said_to_be_empty(
    engine: Engine, owner: Actor, folder: Path, settings: Settings
) -> None:
    await written(engine, owner, folder)
    lose_part(folder / FILE_NAME, "memories")
    async with reopened(folder) as engine, spoken_to(engine, settings) as talk:
        for filters in ({"domains": ["global"]}, {"categories": ["design"]}, {"importance_max": 0.0}):
            said = await talk.says("search", type="semantic", query="x", filters=filters)
            assert "壊れていて" in said
            assert not any(words in said for words in ("まだ", "条件"))
