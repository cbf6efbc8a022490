"""search: by meaning, words and filters, within what the caller may see."""

from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.engine import Engine
from tests.dialects.conversation import text_of, unique
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057"


async def _ids(talk: CreoConversation | Speaker, **arguments: Any) -> list[str]:
    return [one["id"] for one in (await talk.call("search", **arguments))["results"]]


@behaviour("creo.search.query")
async def test_what_answers_best_comes_first_with_its_similarity(talk: CreoConversation) -> None:
    word = unique()
    kept = await talk.remember(f"{word} デプロイは毎週木曜日に行う", tags=["deploy"], category="infra")
    await talk.remember("猫は一日中寝ている")
    answer = await talk.call("search", query=f"{word} デプロイの曜日")
    first = answer["results"][0]
    assert first["id"] == kept
    assert 0.3 < first["similarity"] <= 1.0
    assert answer["count"] == len(answer["results"])
    assert (first["category"], first["tags"]) == ("infra", ["deploy"])
    assert answer["count"] <= 10


@behaviour("creo.search.query")
async def test_the_words_name_each_result(talk: CreoConversation) -> None:
    word = unique()
    kept = await talk.remember(f"{word}\n二行目", category="設計", tags=["あ", word])
    words = await talk.says("search", query=word, tags=[word])
    assert words.startswith("🔍 1件のメモリが見つかりました")
    assert f"1. 「{word} 二行目」" in words
    assert f"ID: {kept} | 類似度: " in words
    assert f"カテゴリ: 設計 | タグ: あ, {word} | 作成: 20" in words


@behaviour("creo.search.listing")
async def test_without_a_query_the_newest_come_first(talk: CreoConversation) -> None:
    tag = unique()
    kept = [await talk.remember(tags=[tag]) for _ in range(4)]
    answer = await talk.call("search", tags=[tag], limit=3)
    assert [one["id"] for one in answer["results"]] == kept[:0:-1]
    assert (answer["count"], answer["total"], answer["hasMore"]) == (3, 4, True)
    assert all("similarity" not in one for one in answer["results"])
    assert "他にもあります" in await talk.says("search", tags=[tag], limit=3)
    assert (await talk.call("search", tags=[tag], query=""))["total"] == 4


@behaviour("creo.search.filters")
async def test_filters_hold_together_and_any_of_several_tags_is_enough(talk: CreoConversation) -> None:
    one, other = unique(), unique()
    kept = await talk.remember(f"{one} design", category="design", tags=[one])
    debug = await talk.remember(f"{one} debug", category="debug", tags=[one, other])
    assert set(await _ids(talk, query=one, tags=[one, other], threshold=0.2)) == {kept, debug}
    assert await _ids(talk, query=one, tags=[one], category="debug") == [debug]
    assert await _ids(talk, tags=[one], category="design") == [kept]
    assert await _ids(talk, query=one, tags=[other], category="design") == []
    assert await _ids(talk, category=unique()) == []


@behaviour("creo.search.labels")
async def test_labels_filter_and_are_ones_own(local: CreoConversation, ann: Speaker, ben: Speaker) -> None:
    label = (await local.call("label_create", name="重要"))["id"]
    kept = await local.remember("labelled text", labelIds=[label])
    await local.remember("another text")
    assert await _ids(local, labelIds=[label]) == [kept]
    assert await _ids(local, labelIds=[label.removeprefix("label:")], query="text") == [kept]
    theirs = (await ann.call("label_create", name="theirs"))["id"]
    words = set()
    for unknown in (theirs, f"label:{NOBODY}"):
        refused = await ben.refused("search", labelIds=[unknown])
        assert isinstance(refused, NotFound)
        words.add(refused.message.replace(unknown.partition(":")[2], "ID"))
    assert len(words) == 1


@behaviour("creo.search.labels")
async def test_a_key_for_a_part_cannot_search_by_labels(ann: Speaker, engine: Engine) -> None:
    label = (await ann.call("label_create", name="mine"))["id"]
    ann.actor = ann.actor.within(frozenset())
    assert isinstance(await ann.refused("search", labelIds=[label]), Forbidden)


@behaviour("creo.search.atlas")
async def test_an_atlas_is_searched_with_everything_below_it(talk: CreoConversation) -> None:
    word = unique()
    top = (await talk.call("create_atlas", name="top"))["id"]
    below = (await talk.call("create_atlas", name="below", parent_id=top))["id"]
    deep = (await talk.call("create_atlas", name="deep", parent_id=below))["id"]
    kept = [await talk.remember(f"{word} text", atlasId=atlas) for atlas in (top, below, deep)]
    outside = await talk.remember(f"{word} text")
    assert {*kept, outside} <= set(await _ids(talk, query=word))
    assert set(await _ids(talk, query=word, atlasId=top)) == set(kept)
    assert set(await _ids(talk, atlasId=below)) == set(kept[1:])
    assert await _ids(talk, atlasId=deep) == kept[2:]


@behaviour("creo.search.atlas")
async def test_an_atlas_and_a_label_go_together(local: CreoConversation) -> None:
    atlas = (await local.call("create_atlas", name="A"))["id"]
    label = (await local.call("label_create", name="L"))["id"]
    kept = await local.remember("both", atlasId=atlas, labelIds=[label])
    await local.remember("label only", labelIds=[label])
    await local.remember("atlas only", atlasId=atlas)
    assert await _ids(local, atlasId=atlas, labelIds=[label]) == [kept]


@behaviour("creo.search.shared")
async def test_what_is_shared_with_ones_team_is_found_and_nothing_else(ann: Speaker, ben: Speaker) -> None:
    me = {who: f"users:{one.actor.user}" for who, one in (("ann", ann), ("ben", ben))}
    atlas = (await ann.call("create_atlas", name="shared"))["id"]
    below = (await ann.call("create_atlas", name="below", parent_id=atlas))["id"]
    shared = {await ann.remember("the plan for the launch", atlasId=place) for place in (atlas, below)}
    await ann.remember("the plan for the launch, private")
    assert await _ids(ben, query="the plan for the launch") == []
    team = (await ann.call("team_create", name="crew", ownerId=me["ann"]))["id"]
    await ann.call("team_invite", teamId=team, userId=me["ben"])
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    assert set(await _ids(ben, query="the plan for the launch")) == shared
    found = (await ben.call("search", atlasId=atlas))["results"]
    assert {one["atlasId"] for one in found} == {atlas, below}
    assert {one["author"] for one in found} == {me["ann"]}
    await ann.call("unshare_atlas", atlasId=atlas, teamId=team)
    assert await _ids(ben, query="the plan for the launch") == []


@behaviour("creo.search.dates")
async def test_dates_are_instants_or_whole_days_of_the_users(local: CreoConversation, clock: Clock) -> None:
    # The user is in Seoul, nine hours ahead; the clock says 03:00 UTC.
    first = await local.remember("on the fifteenth at noon")
    clock.advance(timedelta(hours=12) - timedelta(microseconds=1))
    last = await local.remember("on the fifteenth, at its last instant")
    clock.advance(timedelta(microseconds=1))
    second = await local.remember("on the sixteenth, at its first instant")
    for arguments, expected in (
        ({"fromDate": "2026-01-15", "toDate": "2026-01-15"}, [last, first]),
        ({"fromDate": "2026-01-16"}, [second]),
        ({"toDate": "2026-01-14"}, []),
        ({"fromDate": "2026-01-15T15:00:00Z"}, [second]),
        ({"fromDate": "2026-01-16T00:00"}, [second]),
        ({"toDate": "2026-01-15T03:00:00.000Z"}, [first]),
        ({"toDate": "2026-01-15T12:00:00+09:00"}, [first]),
    ):
        assert await _ids(local, **arguments) == expected, arguments
        assert set(await _ids(local, query="the fifteenth sixteenth", **arguments)) == set(expected), arguments


@behaviour("creo.search.dates")
async def test_what_is_no_date_is_refused(talk: CreoConversation) -> None:
    for field in ("fromDate", "toDate"):
        for strange in ("yesterday", "", "2026-13-01", "2026-01-01T25:00", "9" * 500, "0001-01-01T00:00:00+23:00"):
            assert (await talk.invalid("search", **{field: strange})).startswith(f"{field}: "), strange
    assert "fromDate" in await talk.invalid("search", fromDate="2026-01-02", toDate="2026-01-01")
    assert await talk.call("search", fromDate="0001-01-02", toDate="9999-12-30", limit=1)


@behaviour("creo.search.types")
async def test_semantic_goes_by_meaning_alone(local: CreoConversation, embedder: Embedder) -> None:
    kept = await local.remember("PostgreSQL holds the data")
    both = (await local.call("search", query="PostgreSQL"))["results"][0]
    meaning = (await local.call("search", query="PostgreSQL", searchType="semantic"))["results"][0]
    assert both["id"] == meaning["id"] == kept
    assert both["similarity"] > meaning["similarity"]
    assert (await local.call("search", query="PostgreSQL", searchType="hybrid"))["results"][0] == both
    assert "searchType" in await local.invalid("search", searchType="keyword")


@behaviour("creo.search.types")
async def test_without_a_model_words_are_searched_and_the_answer_says_so(
    local: CreoConversation, embedder: Embedder
) -> None:
    kept = await local.remember("PostgreSQL holds the data")
    embedder.broken = "no model"
    for kind in ("hybrid", "semantic"):
        result = await local.answer("search", query="PostgreSQL", searchType=kind)
        assert result.structured_content
        assert [one["id"] for one in result.structured_content["results"]] == [kept]
        assert "意味検索は使えません" in text_of(result)


@behaviour("creo.search.threshold")
async def test_a_threshold_leaves_out_what_is_less_alike(local: CreoConversation) -> None:
    close = await local.remember("the database is PostgreSQL")
    await local.remember("cats sleep all day")
    assert await _ids(local, query="the database is PostgreSQL") == [close]  # without one, only noise is left out
    assert len(await _ids(local, query="the database is PostgreSQL", threshold=0)) == 2
    assert await _ids(local, query="the database is PostgreSQL", threshold=0.7) == [close]
    words = await local.says("search", query="violins", threshold=0.9)
    assert words.startswith("🔍 メモリが見つかりませんでした（類似度0.9以上")
    for threshold in (1.01, -0.1, "0.7"):
        assert "threshold" in await local.invalid("search", query="x", threshold=threshold)
    assert await local.call("search", query="x", threshold=1)


@behaviour("creo.search.threshold")
async def test_the_guide_holds_for_the_model_that_is_used(talk: CreoConversation) -> None:
    text = f"{unique()} 本番環境へのデプロイは毎週木曜日の午後に行う"
    kept = await talk.remember(text)
    near = (await talk.call("search", query=text, limit=1))["results"][0]
    assert (near["id"], near["similarity"] >= 0.9) == (kept, True)
    about = await talk.call("search", query="本番デプロイは木曜午後に実施", searchType="semantic", limit=5)
    assert 0.5 <= next(one["similarity"] for one in about["results"] if one["id"] == kept) < 0.95
    other = await talk.call("search", query="猫の写真の撮り方", searchType="semantic", limit=100)
    assert all(one["similarity"] < 0.5 for one in other["results"] if one["id"] == kept)


@behaviour("creo.search.languages")
async def test_a_question_in_another_language_finds_the_answer(talk: CreoConversation) -> None:
    for text, question in (
        ("会議は毎週月曜日の午前10時に開かれる", "weekly meeting time"),
        ("휴가 신청은 최소 2주 전에 해야 한다", "休暇申請の期限"),
        ("The login bug was caused by an expired session cookie", "로그인 버그 원인"),
    ):
        tag = unique()
        kept = await talk.remember(text, tags=[tag])
        await talk.remember("The museum opens at nine", tags=[tag])
        assert (await _ids(talk, query=question, tags=[tag]))[0] == kept


@behaviour("creo.search.limit")
async def test_up_to_a_hundred_results_are_given(local: CreoConversation) -> None:
    for number in range(105):
        await local.remember(f"note number {number}")
    answer = await local.call("search", query="note number", limit=100)
    assert (answer["count"], answer["hasMore"]) == (100, True)
    assert (await local.call("search", query="note number"))["count"] == 10
    assert (await local.call("search", limit=100))["total"] == 105
    for limit in (0, 101, -1, 2.5, "10"):
        assert "limit" in await local.invalid("search", limit=limit)
    assert (await local.call("search", limit=5.0))["count"] == 5


@behaviour("creo.search.ephemeral")
async def test_an_ephemeral_result_says_how_long_it_lasts(local: CreoConversation, clock: Clock) -> None:
    await local.remember("only for an hour", ttl=3600)
    clock.advance(timedelta(minutes=15))
    result = await local.answer("search", query="only for an hour")
    assert result.structured_content
    (found,) = result.structured_content["results"]
    assert found["ephemeral"] == {"ttl": 3600, "expiresAt": "2026-01-15T04:00:00.000Z", "remaining": "残り 45分"}
    assert "   Ephemeral: TTL 1時間, 残り 45分" in text_of(result).splitlines()


@behaviour("creo.search.ephemeral")
@pytest.mark.parametrize(("ttl", "passed", "words"), [
    (3600, 900, "TTL 1時間, 残り 45分"),
    (5400, 0, "TTL 1時間30分, 残り 1時間"),
    (604_800, 86_400 * 2 - 1, "TTL 7日, 残り 5日"),
    (90, 60, "TTL 1分30秒, 残り 30秒"),
    (60, 59.5, "TTL 1分, 残り 1秒"),
    (2_592_000, 1, "TTL 30日, 残り 29日"),
    (172_800, 0.001, "TTL 2日, 残り 2日"),
])  # fmt: skip
async def test_time_is_told_in_its_largest_unit(
    local: CreoConversation, clock: Clock, ttl: int, passed: float, words: str
) -> None:
    await local.remember("for a while", ttl=ttl)
    clock.advance(timedelta(seconds=passed))
    assert f"Ephemeral: {words}" in await local.says("search")


@behaviour("creo.search.size")
async def test_long_texts_are_cut_in_a_long_list_and_whole_alone(local: CreoConversation) -> None:
    text = "長い" * 80_000
    await local.remember("x" + text)
    assert (await local.call("search"))["results"][0]["content"] == "x" + text
    assert len(await local.says("search")) < 1000
    await local.remember("y" + text)
    await local.remember("short")
    answer = await local.call("search")
    assert answer["truncated"] is True
    assert sum(len(one["content"].encode()) for one in answer["results"]) <= 300_010
    assert [one.get("truncated", False) for one in answer["results"]] == [False, True, True]
    (whole,) = (await local.call("search", query="x" + text[:50], limit=1))["results"]
    assert whole["content"][1:] == text


@behaviour("creo.search.others")
async def test_users_find_only_their_own(ann: Speaker, ben: Speaker) -> None:
    await ann.remember("the secret plan", category="design", tags=["t"])
    for arguments in ({}, {"query": "the secret plan"}, {"tags": ["t"]}, {"category": "design"}):
        answer = await ben.call("search", **arguments)
        assert (answer["results"], answer["total"], answer["hasMore"]) == ([], 0, False)


@behaviour("creo.search.query")
async def test_a_query_that_is_too_long_is_refused(ann: Speaker) -> None:
    assert isinstance(await ann.refused("search", query="x" * 20_001), Invalid)
