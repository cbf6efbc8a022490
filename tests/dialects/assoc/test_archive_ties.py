"""記憶管理: what is exported in pages and imported again, with its ties."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from commonplace.settings import Settings
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.assoc.test_archive import ABSENT, another
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


async def _pages(talk: AssocConversation) -> list[str]:
    pages, offset, more = [], 0, True
    while more:
        data = await talk.call("memory_manage", action="export", offset=offset)
        pages.append(data["exported_data"])
        offset, more = data.get("next_offset", 0), data["has_more"]
        assert more == bool(offset)
    return pages


@behaviour("assoc.export.pages")
@pytest.mark.parametrize("step", [1, -1], ids=["forwards", "backwards"])
async def test_what_is_too_much_for_one_export_comes_in_pages_with_all_its_ties(
    local: AssocConversation, tmp_path: Path, clock: Clock, step: int
) -> None:
    ids = []
    for number in range(10):
        ids.append(await local.store(f"{number} " + "x" * 900_000))
        clock.advance(timedelta(seconds=step < 0))  # those of one moment keep the order in which they came
    for one, other in ((0, 9), (9, 1), (8, 9), (0, 1)):
        await local.call("memory", action="update", memory_id=ids[one], associate_with=[ids[other]])
    pages = await _pages(local)
    wholes = [json.loads(page) for page in pages]
    assert [one["memory_id"] for whole in wholes for one in whole["memories"]] == ids
    assert all({(ids[0], ids[9]), (ids[9], ids[1])} <= _ends(whole) for whole in wholes)
    assert ((ids[0], ids[1]) in _ends(wholes[0])) > ((ids[0], ids[1]) in _ends(wholes[1]))
    async with another(tmp_path / "other", clock) as talk:
        for page in pages[::step]:
            await talk.call("memory_manage", action="import", import_data=page)
        assert sorted(await _pages(talk)) == sorted(pages)


LARGE: dict[str, list[dict[str, Any]]] = {
    "texts that are escaped": [{"content": f"{number} " + '"\n' * 450_000} for number in range(6)],
    "many long tags": [
        {"content": f"tagged {number}", "tags": [f"{tag:02}" + "😀" * 198 for tag in range(20)]}
        for number in range(1100)
    ],
}


@behaviour("assoc.export.requests")
@pytest.mark.parametrize("kind", LARGE)
async def test_each_page_of_an_export_fits_into_a_request(local: AssocConversation, kind: str) -> None:
    whole = {"memories": LARGE[kind], "associations": []}
    await local.call("memory_manage", action="import", import_data=json.dumps(whole))
    pages = await _pages(local)
    most = Settings().max_body_bytes - 1000  # for what stands around it
    assert all(len(json.dumps(page, ensure_ascii=False).encode()) < most for page in pages)
    brought = [one["content"] for page in pages for one in json.loads(page)["memories"]]
    assert brought == [one["content"] for one in LARGE[kind]]


def _ends(whole: dict[str, list[dict[str, str]]]) -> set[tuple[str, str]]:
    return {(tie["from_memory_id"], tie["to_memory_id"]) for tie in whole["associations"]}


@behaviour("assoc.export.pages")
@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
async def test_an_export_begins_where_it_is_told(talk: AssocConversation, form: str) -> None:
    project = await talk.project()
    for text in ("一つ", "二つ"):
        await talk.store(text, domain="project", project_id=project)
    where = {"action": "export", "export_format": form, "project_id": project}
    for offset, count in ((0, 2), (1, 1), (2, 0), (5, 0)):
        data = await talk.call("memory_manage", offset=offset, **where)
        assert (data["count"], data["total"], data["has_more"]) == (count, 2, False)
        assert ("一つ" in data["exported_data"], "二つ" in data["exported_data"]) == (count > 1, count > 0)
    said = await talk.invalid("memory_manage", offset=-1, **where)
    assert said.startswith("offset: ")


def _tie(one: str, other: str) -> dict[str, object]:
    return {"from_memory_id": one, "to_memory_id": other, "type": "manual", "strength": 0.5}


@behaviour("assoc.import.associations")
async def test_an_association_that_is_not_made_is_told(talk: AssocConversation) -> None:
    here, also_here, brought = await talk.store(), await talk.store(), str(uuid4())
    ties = [_tie(brought, ABSENT), _tie(brought, brought), _tie(here, also_here), _tie(here, brought)]
    whole = {"memories": [{"memory_id": brought, "content": unique()}], "associations": ties}
    body = await talk.told("memory_manage", action="import", import_data=json.dumps(whole))
    assert body["data"]["not_taken"] == ["associations (3)"]
    assert "associations (3)" in body["message"]
    assert [(one["to_memory_id"], one["reason"]) for one in body["data"]["associations_not_taken"]] == [
        (ABSENT, "one of the two is not here, or not yours to tie"),
        (brought, "a memory is not tied to itself"),
        (also_here, "neither of the two was brought"),
    ]
    near = await talk.call("memory", action="get_related", memory_id=brought, depth=1)
    assert here in [one["memory_id"] for one in near["related_memories"]]


@behaviour("assoc.import.contradiction")
async def test_two_entries_that_say_different_things_under_one_id_are_a_fault(talk: AssocConversation) -> None:
    word, same = unique(), str(uuid4())
    entries = [{"memory_id": same, "content": word}, {"memory_id": same.upper(), "content": f"{word} 2"}]
    said = await talk.invalid("memory_manage", action="import", import_data=json.dumps(entries))
    assert f"entry 2: memory_id: {same} is that of an earlier entry, which says something else" in said
    assert await talk.finds(word) == []
    report = await talk.call("memory_manage", action="import", import_data=json.dumps(entries[:1] * 2))
    assert (report["imported_count"], report["skipped_count"]) == (1, 1)
