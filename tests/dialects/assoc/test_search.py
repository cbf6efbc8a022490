"""高度な検索: by meaning, tags, time, several conditions, likeness."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from commonplace.dialects.assoc.parameters import beginning, ending
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
BRIEF = {"memory_id", "content", "domain", "tags", "category", "importance", "created_at"}


def _ids(data: dict[str, list[dict[str, str]]]) -> list[str]:
    return [one["memory_id"] for one in data["results"]]


@behaviour("assoc.semantic.answer")
async def test_a_semantic_search_finds_by_meaning(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(f"{word} 猫は窓辺で昼寝をするのが好きだ")
    body = await talk.told("search", type="semantic", query=f"{word} 猫の昼寝", threshold=0.3)
    first = body["data"]["results"][0]
    assert (first["memory_id"], set(first)) == (kept, {*BRIEF, "score"})
    assert body["data"]["query"] == f"{word} 猫の昼寝"
    assert body["message"] == f"{body['data']['count']}件の記憶が見つかりました"


@behaviour("assoc.semantic.limits")
async def test_limit_and_threshold_have_their_ranges(talk: AssocConversation) -> None:
    kept = await talk.store()
    with_threshold = (("semantic", {"query": "x"}), ("advanced", {"query": "x"}), ("similar", {"memory_id": kept}))
    for kind, words in with_threshold:
        for arguments, field in (({"limit": 0}, "limit"), ({"limit": 1001}, "limit"), ({"threshold": 2}, "threshold")):
            assert (await talk.invalid("search", type=kind, **words, **arguments)).startswith(f"{field}: ")
    for kind, more in (("tags", {"tags": ["x"]}), ("timerange", {"start_time": "2024-01-01"}), ("advanced", {})):
        for limit in (0, 1001):
            assert (await talk.invalid("search", type=kind, limit=limit, **more)).startswith("limit: 1から")


@behaviour("assoc.tags.any")
async def test_any_of_the_tags_is_enough_and_the_newest_come_first(talk: AssocConversation) -> None:
    one, other = unique(), unique()
    first = await talk.store(tags=[one])
    both = await talk.store(tags=[one, other])
    last = await talk.store(tags=[f"{other}"])
    await talk.store(tags=[f"{one} more"])
    body = await talk.told("search", type="tags", tags=[one, f" {other} "])
    assert _ids(body["data"]) == [last, both, first]
    assert body["data"] | {"results": []} == {
        "results": [], "count": 3, "total": 3, "has_more": False, "tags": [one, other]
    }  # fmt: skip
    assert body["message"] == "3件の記憶が見つかりました"
    some = await talk.call("search", type="tags", tags=[one, other], limit=2)
    assert (some["count"], some["total"], some["has_more"]) == (2, 3, True)
    assert (await talk.invalid("search", type="tags", tags=[])) == "tags: タグを1つ以上指定してください"


@behaviour("assoc.tags.spelling")
async def test_a_tag_is_found_however_it_is_written_and_shown_as_it_was_kept(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(f"about {word}", tags=[word.capitalize()])
    wide = "".join(chr(ord(letter) - ord("!") + ord("！")) for letter in word.upper())
    for asked in (word, word.upper(), wide):
        (found,) = (await talk.call("search", type="tags", tags=[asked]))["results"]
        assert (found["memory_id"], found["tags"]) == (kept, [word.capitalize()])
        for tool, more in (
            ("search", {"type": "advanced"}),
            ("search", {"type": "advanced", "query": word, "threshold": 0.0}),
            ("memory", {"action": "search", "query": word, "threshold": 0.0}),
        ):
            assert _ids(await talk.call(tool, **more, tags=[asked])) == [kept]


@behaviour("assoc.timerange.between")
async def test_a_time_range_is_bounded_on_either_side(local: AssocConversation, clock: Clock) -> None:
    ids = []
    for number in range(3):
        ids.append(await local.store(f"day {number}"))
        clock.advance(timedelta(days=1))
    for times, expected in (
        ({"start_time": "2026-01-16T00:00:00Z"}, [2, 1]),
        ({"end_time": "2026-01-16T03:00:00Z"}, [1, 0]),
        ({"start_time": "2026-01-15T12:00:00+09:00", "end_time": "2026-01-15T03:00:00"}, [0]),
        ({"start_time": "2026-01-16T00:00:00Z", "end_time": "2026-01-17T00:00:00Z"}, [1]),
        ({"start_time": "2030-01-01T00:00:00Z"}, []),
    ):
        data = await local.call("search", type="timerange", **times)
        assert _ids(data) == [ids[number] for number in expected], times
        assert (data["start_time"], data["end_time"]) == (times.get("start_time"), times.get("end_time"))


@behaviour("assoc.timerange.seconds")
async def test_a_range_ends_with_the_last_of_the_second_that_it_names(local: AssocConversation, clock: Clock) -> None:
    clock.advance(timedelta(milliseconds=500))
    kept = await local.store("half a second past")
    shown = (await local.get(kept))["created_at"]
    for end, expected in (
        (shown, [kept]),
        ("2026-01-15T03:00", [kept]),
        ("2026-01-15T12:00:00+09:00", [kept]),
        ("2026-01-15T03:00:00.500Z", [kept]),
        ("2026-01-15T03:00:00.499Z", []),
        ("2026-01-15T03:00:00.000Z", []),
        ("2026-01-15T02:59:59Z", []),
    ):
        for kind in ("timerange", "advanced"):
            assert _ids(await local.call("search", type=kind, end_time=end)) == expected, end
        drawn = await local.call("visualize", type="timeline", format="json", time_range={"end": end})
        assert drawn["memory_count"] == len(expected)
    assert _ids(await local.call("search", type="timerange", start_time=shown, end_time=shown)) == [kept]


@behaviour("assoc.timerange.days")
async def test_a_day_alone_is_the_callers_day_from_its_first_instant_to_its_last(
    local: AssocConversation, clock: Clock
) -> None:
    hours = (0, 20 * 3600, 24 * 3600 - 1, 24 * 3600)  # from midnight in Seoul, which is 15:00 of the day before in UTC
    clock.advance(timedelta(hours=12))
    ids = []
    for before, after in pairwise((0, *hours)):
        clock.advance(timedelta(seconds=after - before))
        ids.append(await local.store(f"{after} seconds into the 16th"))
    for times, expected in (
        ({"start_time": "2026-01-16", "end_time": "2026-01-16"}, [2, 1, 0]),
        ({"end_time": " 2026-01-16 "}, [2, 1, 0]),
        ({"end_time": "2026-01-15"}, []),
        ({"start_time": "2026-01-17"}, [3]),
        ({"start_time": "20260116", "end_time": "2026-01-17"}, [3, 2, 1, 0]),
        ({"start_time": "2026-01-16", "end_time": "2026-01-16T00:00:00"}, [0]),
        ({"start_time": "0001-01-01", "end_time": "9999-12-31"}, [3, 2, 1, 0]),
    ):
        for more in ({"type": "timerange"}, {"type": "advanced"}):
            assert _ids(await local.call("search", **more, **times)) == [ids[n] for n in expected], times
        asked = {"type": "advanced", "query": "seconds into the 16th", "threshold": 0.0}
        assert set(_ids(await local.call("search", **asked, **times))) == {ids[n] for n in expected}, times


@pytest.mark.parametrize(
    ("zone", "day", "first", "last"),
    [
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00", "2018-02-18T02:59:59.999999"),  # 25 hours
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00", "2018-11-05T01:59:59.999999"),  # from 01:00 on
        ("Asia/Seoul", "0001-01-01", "0001-01-01T00:00:00", None),
        ("America/Los_Angeles", "9999-12-31", None, "9999-12-31T23:59:59.999999"),
    ],
)
@behaviour("assoc.timerange.days")
def test_a_day_is_as_long_as_the_clocks_of_its_place_make_it(
    zone: str, day: str, first: str | None, last: str | None
) -> None:
    for edge, expected in ((beginning, first), (ending, last)):
        if expected:
            assert edge("field", day, ZoneInfo(zone)) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@behaviour("assoc.timerange.invalid")
async def test_a_time_must_be_one_and_ranges_must_not_run_backwards(talk: AssocConversation) -> None:
    for kind in ("timerange", "advanced"):
        for field in ("start_time", "end_time"):
            for value in ("yesterday", "2024-13-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
                said = await talk.invalid("search", type=kind, **{field: value})
                assert said.startswith(f"{field}: {value!r} は日時ではありません")
        said = await talk.invalid("search", type=kind, start_time="2024-01-02", end_time="2024-01-01")
        assert said == "start_time: end_time より後の日時は指定できません"


@behaviour("assoc.advanced.conditions")
async def test_all_conditions_must_hold(talk: AssocConversation) -> None:
    word, project = unique(), await talk.project()
    kept = await talk.store(f"{word} 機械学習", category="research", importance=0.8, tags=[word])
    await talk.store(f"{word} 機械学習 二", category="research", importance=0.3, tags=[word])
    await talk.store(f"{word} 機械学習 三", category="news", importance=0.9)
    shared = await talk.store(
        f"{word} 機械学習 四", category="research", importance=0.9, domain="project", project_id=project
    )
    filters = {"domains": ["user", "project"], "categories": ["research"], "importance_min": 0.7}
    for query in ({"query": f"{word} 機械学習"}, {}):
        more = {"type": "advanced", "threshold": 0.0, **query}
        mine = [
            one for one in (await talk.call("search", **more, filters=filters))["results"] if word in one["content"]
        ]
        assert {one["memory_id"] for one in mine} == {kept, shared}
        for domains in (["project"], ["user", "project"], []):
            only = filters | {"project_ids": [f"proj_{project}"], "domains": domains}
            assert _ids(await talk.call("search", **more, filters=only)) == [shared]
        tagged = await talk.call("search", **more, filters={"importance_max": 0.5}, tags=[word])
        assert [one["importance"] for one in tagged["results"]] == [0.3]
        later = await talk.call("search", **more, tags=[word], start_time="2100-01-01")
        assert later["results"] == []


@behaviour("assoc.advanced.answer")
async def test_without_a_query_the_newest_come_first_with_their_total(talk: AssocConversation) -> None:
    tag = unique()
    ids = [await talk.store(tags=[tag]) for _ in range(3)]
    data = await talk.call("search", type="advanced", tags=[tag], limit=2)
    assert _ids(data) == ids[:0:-1]
    assert (data["count"], data["total"], data["has_more"]) == (2, 3, True)
    assert set(data["results"][0]) == BRIEF


@behaviour("assoc.advanced.invalid")
async def test_filters_have_limits(talk: AssocConversation) -> None:
    for filters, said in (
        ({"importance_min": 2}, "filters.importance_min: 0.0から1.0までの数値を指定してください"),
        ({"importance_max": -1}, "filters.importance_max: 0.0から1.0までの数値を指定してください"),
        (
            {"importance_min": 0.9, "importance_max": 0.1},
            "filters.importance_min: filters.importance_max より大きい値は指定できません",
        ),
        ({"categories": [""]}, "filters.categories: 空や空白だけの要素は含められません"),
        ({"categories": [str(n) for n in range(101)]}, "filters.categories: 101件あります"),
        ({"project_ids": [str(n) for n in range(101)]}, "filters.project_ids: 101件あります"),
        ({"project_ids": [" "]}, "filters.project_ids: 空や空白だけの要素は含められません"),
        ({"importance_min": "much"}, "filters.importance_min: 数値を指定してください"),
        ({"domains": ["team"]}, "filters.domains[0]: 次のいずれかを指定してください"),
        ({"domains": ["user"], "project_ids": ["p"]}, "filters.project_ids: filters.domains に 'project' を含めるか"),
    ):
        for kind, more in (("advanced", {}), ("semantic", {"query": "x"}), ("tags", {"tags": ["x"]})):
            assert (await talk.invalid("search", type=kind, filters=filters, **more)).startswith(said)
    code, _ = await talk.refused("search", type="advanced", filters={"project_ids": [ABSENT]})
    assert code == "PROJECT_NOT_FOUND"


@behaviour("assoc.similar.answer")
async def test_what_is_like_a_memory_is_found_without_the_memory(local: AssocConversation) -> None:
    base = await local.store("the old lighthouse keeper paints the door")
    project = await local.project()
    like = await local.store("the old lighthouse keeper paints the gate", domain="project", project_id=project)
    await local.store("tax forms are due")
    body = await local.told("search", type="similar", memory_id=f"mem_{base}", threshold=0.3)
    assert _ids(body["data"]) == [like]
    assert body["data"]["memory_id"] == base
    only = await local.call("search", type="similar", memory_id=base, threshold=0.3, filters={"domains": ["user"]})
    assert only["results"] == []
    assert (await local.refused("search", type="similar", memory_id=ABSENT))[0] == "MEMORY_NOT_FOUND"


@behaviour("assoc.similar.limit")
async def test_the_limit_of_a_similar_search_does_not_count_the_memory_itself(local: AssocConversation) -> None:
    base = await local.store("bananas and oranges")
    for number in range(4):
        await local.store(f"bananas and oranges {number}")
    assert (await local.call("search", type="similar", memory_id=base, threshold=0.0, limit=2))["count"] == 2
