"""記憶管理: what is exported in pages and imported again, with its ties."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from commonplace.domain.record import MOST_RECORDS
from commonplace.settings import Settings
from tests.dialects.assoc.speech import AssocConversation, good
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


@behaviour("assoc.export.ties")
async def test_a_form_without_ties_tells_how_many_it_leaves_out(local: AssocConversation, clock: Clock) -> None:
    first = await local.store("灯台")
    clock.advance(timedelta(days=1))
    await local.store("数学の試験", associate_with=[first])
    for form, count in (("json", 0), ("csv", 1), ("markdown", 1)):
        body = await local.told("memory_manage", action="export", export_format=form)
        assert body["data"]["associations_left_out"] == count
        told = f" (関連付け1件は {form} に含まれません。json には含まれます)" if count else ""
        assert body["message"] == f"2件の記憶をエクスポートしました{told}"


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


def _many(count: int) -> list[dict[str, Any]]:
    """Memories of all kinds, in the order of an export: some of one moment, changed, used or of someone else."""
    start = datetime(2020, 1, 1, tzinfo=UTC)
    return [
        {
            "memory_id": str(uuid4()),
            "content": f'{number}番目の記憶 "quoted"\n',
            "tags": [f"タグ{number % 7}", "all"][: number % 3],
            "category": f"c{number % 5}",
            "created_at": (start + timedelta(minutes=number // 3)).isoformat(),
            "updated_at": (start + timedelta(minutes=number)).isoformat(),
            "access_count": number % 4,
            "author": "花子" if number % 11 == 0 else "",
            "metadata": {"number": number} if number % 13 == 0 else {},
        }
        for number in range(count)
    ]


async def _brought(talk: AssocConversation, data: str) -> Any:
    """What an import says that may take longer than other calls are given."""
    call = {"action": "import", "import_data": data}
    return good(await talk.client.call_tool("memory_manage", call))["data"]


@pytest.mark.thorough
@behaviour("assoc.export.pages")
async def test_more_memories_than_a_page_holds_come_back_as_they_went_out(
    local: AssocConversation, tmp_path: Path, clock: Clock
) -> None:
    memories = _many(MOST_RECORDS + 3)
    ids = [one["memory_id"] for one in memories]
    for some, ties in (
        (memories[:MOST_RECORDS], [_tie(one, other) for one, other in pairwise(ids[:MOST_RECORDS:3])]),
        (memories[MOST_RECORDS:], [_tie(ids[-1], ids[0]), _tie(ids[1], ids[-1]), _tie(ids[-1], ids[-2])]),
    ):
        assert len(await _pages(local)) == 1
        report = await _brought(local, json.dumps({"memories": some, "associations": ties}))
        assert (report["imported_count"], report["not_taken"]) == (len(some), [])
    pages = await _pages(local)
    wholes = [json.loads(page) for page in pages]
    assert [one["memory_id"] for whole in wholes for one in whole["memories"]] == ids
    assert [len(whole["memories"]) for whole in wholes] == [MOST_RECORDS, 3]
    assert _ends(wholes[0]) & _ends(wholes[1]) == {(ids[-1], ids[0]), (ids[1], ids[-1])}
    async with another(tmp_path / "other", clock) as talk:
        reports = [await _brought(talk, page) for page in pages]
        assert [(one["imported_count"], one["error_count"]) for one in reports] == [(MOST_RECORDS, 0), (3, 0)]
        assert await _pages(talk) == pages


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
        (ABSENT, "一方の記憶がここにないか、関連付ける権限がありません"),
        (brought, "記憶を自分自身に関連付けることはできません"),
        (also_here, "どちらの記憶も取り込まれていません"),
    ]
    near = await talk.call("memory", action="get_related", memory_id=brought, depth=1)
    assert here in [one["memory_id"] for one in near["related_memories"]]


@behaviour("assoc.import.contradiction")
async def test_two_entries_that_say_different_things_under_one_id_are_a_fault(talk: AssocConversation) -> None:
    word, same = unique(), str(uuid4())
    entries = [{"memory_id": same, "content": word}, {"memory_id": same.upper(), "content": f"{word} 2"}]
    said = await talk.invalid("memory_manage", action="import", import_data=json.dumps(entries))
    assert f"2件目: memory_id: {same} は、内容の異なる前の要素と同じIDです" in said
    assert await talk.finds(word) == []
    report = await talk.call("memory_manage", action="import", import_data=json.dumps(entries[:1] * 2))
    assert (report["imported_count"], report["skipped_count"]) == (1, 1)
