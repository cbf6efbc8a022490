"""記憶操作: store, search, get, get_related, update, delete."""

from datetime import timedelta

import pytest

from commonplace.engine import Engine
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
BRIEF = {"memory_id", "content", "domain", "tags", "category", "importance", "created_at"}


@behaviour("assoc.store.answer")
async def test_storing_answers_with_the_new_memory(talk: AssocConversation) -> None:
    body = await talk.told(
        "memory",
        action="store",
        content="TypeScriptの型安全性について",
        domain="user",
        tags=["programming", "typescript"],
        category="dev",
        importance=0.8,
    )
    data = body["data"]
    assert set(data) == {
        "memory_id", "domain", "created_at", "tags", "category", "importance", "expires_at", "associations"
    }  # fmt: skip
    assert body["message"] == f"記憶を保存しました (ID: {data['memory_id']})"
    assert (data["domain"], data["tags"], data["category"]) == ("user", ["programming", "typescript"], "dev")
    assert (data["importance"], data["expires_at"]) == (0.8, None)
    assert data["created_at"].endswith("Z")


@behaviour("assoc.store.domains")
async def test_a_memory_is_stored_in_each_of_the_four_domains(talk: AssocConversation) -> None:
    project = await talk.project()
    session = (await talk.call("user", action="create_session"))["session_id"]
    for domain, more in (
        ("global", {}),
        ("user", {}),
        ("project", {"project_id": project}),
        ("project", {"project_id": f"proj_{project}"}),
        ("session", {"session_id": session}),
        ("session", {"session_id": f"sess_{session}"}),
        ("session", {}),
    ):
        whole = await talk.get(await talk.store(domain=domain, **more))
        me = whole["author_id"]
        places = {"user": (me, None, None), "project": (None, project, None), "session": (None, None, session)}
        assert (whole["user_id"], whole["project_id"], whole["session_id"]) == places.get(domain, (None,) * 3)
        assert (whole["domain"], whole["expires_at"] is not None) == (domain, domain == "session")


@behaviour("assoc.store.session")
async def test_what_goes_into_a_session_is_told_which_it_was(local: AssocConversation) -> None:
    session = (await local.call("user", action="create_session"))["session_id"]
    for named in (None, session):
        body = await local.told("memory", action="store", content=unique(), domain="session", session_id=named)
        assert body["data"]["session_id"] == session
        assert body["message"] == f"記憶を保存しました (ID: {body['data']['memory_id']}) (session_id: {session})"
    other = await local.store()
    body = await local.told("memory_manage", action="change_domain", memory_ids=[other], new_domain="session")
    assert body["data"]["session_id"] == session
    assert body["message"].startswith(f"1件の記憶をsessionドメインに移しました (session_id: {session}。")
    config = {"source_domain": "user", "target_domain": "session"}
    for force in (False, True):
        body = await local.told("admin", action="migrate_domain", migration_config=config, force=force)
        assert body["data"]["session_id"] == session
        assert f" (session_id: {session}。" in body["message"]


@behaviour("assoc.store.domains")
async def test_a_project_must_be_named_and_be_there(talk: AssocConversation) -> None:
    said = await talk.invalid("memory", action="store", content="x", domain="project")
    assert said == "project_id: ドメイン 'project' では必須です"
    for absent in (ABSENT, "proj_789", ""):
        code, _ = await talk.refused("memory", action="store", content="x", domain="project", project_id=absent)
        assert code == ("PROJECT_NOT_FOUND" if absent else "VALIDATION_ERROR")


@behaviour("assoc.store.session_required")
async def test_without_a_session_one_is_required(local: AssocConversation) -> None:
    code, said = await local.refused("memory", action="store", content="x", domain="session")
    assert code == "SESSION_REQUIRED"
    assert said == (
        "セッションが必要です: 現在のセッションがありません。"
        "user の create_session で作成するか、switch_session で切り替えるか、session_id を指定してください"
    )
    code, _ = await local.refused("memory", action="store", content="x", domain="session", session_id=ABSENT)
    assert code == "SESSION_NOT_FOUND"


@behaviour("assoc.store.limits")
async def test_what_is_stored_has_limits(talk: AssocConversation) -> None:
    for arguments, field in (
        ({"content": " "}, "content"),
        ({"content": "x" * (1024 * 1024 + 1)}, "content"),
        ({"importance": 1.01}, "importance"),
        ({"importance": -0.1}, "importance"),
        ({"tags": ["x" * 201]}, "tags"),
        ({"tags": [""]}, "tags"),
        ({"tags": [str(n) for n in range(21)]}, "tags"),
        ({"category": "x" * 201}, "category"),
        ({"category": " "}, "category"),
        ({"domain": "team"}, "domain"),
        ({"associate_with": [unique() for _ in range(101)]}, "associate_with"),
    ):
        said = await talk.invalid("memory", **{"action": "store", "content": "x", "domain": "user", **arguments})
        assert said.startswith(f"{field}: "), said


@behaviour("assoc.store.to_the_letter")
async def test_a_text_is_kept_to_the_letter(talk: AssocConversation) -> None:
    text = f"  行頭の空白\r\n\tタブ \u3000全角 e\u0301 👩‍👩‍👧 <b>&amp;</b> '; DROP TABLE memories;--\n{unique()}\n"
    kept = await talk.store(text, tags=[" e\u0301 ", "É", "é", "タグ"])
    whole = await talk.get(kept)
    assert whole["content"] == text
    assert whole["tags"] == ["é", "É", "タグ"]


@behaviour("assoc.store.importance")
async def test_an_importance_left_out_is_judged_by_the_text(talk: AssocConversation) -> None:
    async def judged(text: str) -> float:
        kept = await talk.call("memory", action="store", content=text, domain="user")
        return float(kept["importance"])

    word = unique()
    plain = await judged(f"昼食に{word}を食べた気がする日だった")
    heavy = await judged(f"重要: {word}の締切は必ず守ること。パスワードは絶対に共有禁止")
    light = await judged(f"テスト、こんにちは、{word}かも")
    assert light < plain < heavy
    assert await judged(f"重要: {word}の締切は必ず守ること。パスワードは絶対に共有禁止") == heavy


@behaviour("assoc.store.associations")
async def test_what_is_stored_is_tied_to_what_is_close_and_to_what_was_just_stored(local: AssocConversation) -> None:
    first = await local.store("grey cats sleep on the warm roof")
    other = await local.store("invoice numbers for september")
    kept = await local.call("memory", action="store", content="grey cats sleep on the warm roof at noon", domain="user")
    assert kept["associations"] == 3
    near = await local.call("memory", action="get_related", memory_id=kept["memory_id"], depth=1)
    kinds = {one["memory_id"]: one["type"] for one in near["related_memories"]}
    assert kinds == {first: "semantic", other: "temporal"}


@behaviour("assoc.store.manual")
async def test_memories_are_tied_by_hand(local: AssocConversation, clock: Clock) -> None:
    one = await local.store("the harbour")
    clock.advance(timedelta(hours=1))
    other = await local.store("an umbrella", associate_with=[one, f"mem_{one}"])
    near = await local.call("memory", action="get_related", memory_id=one)
    assert [(n["memory_id"], n["type"], n["strength"]) for n in near["related_memories"]] == [(other, "manual", 1.0)]
    clock.advance(timedelta(hours=1))
    third = await local.store("seventeen pears")
    said = await local.says("memory", action="update", memory_id=third, associate_with=[one])
    assert said == f"記憶を更新しました (ID: {third})"
    near = await local.call("memory", action="get_related", memory_id=third)
    assert [(n["memory_id"], n["depth"]) for n in near["related_memories"]] == [(one, 1), (other, 2)]


@behaviour("assoc.update.untie")
async def test_memories_are_untied_by_hand(local: AssocConversation) -> None:
    one = await local.store("the harbour")
    other = await local.store("the harbour again", associate_with=[one])
    apart = await local.store("seventeen pears")
    await local.call("memory", action="update", memory_id=apart, dissociate_from=[one, other])
    near = await local.call("memory", action="get_related", memory_id=apart)
    assert near["related_memories"] == []
    code, said = await local.refused(
        "memory", action="update", memory_id=other, content="changed", dissociate_from=[one, apart]
    )
    assert (code, said.startswith("関連付けが見つかりません"), "get_related" in said) == (
        "VALIDATION_ERROR",
        True,
        True,
    )
    both = {"associate_with": [one], "dissociate_from": [one]}
    assert (await local.invalid("memory", action="update", memory_id=other, **both)).startswith("dissociate_from: ")
    assert (await local.get(other))["content"] == "the harbour again"
    near = await local.call("memory", action="get_related", memory_id=other)
    assert {(n["memory_id"], n["type"]) for n in near["related_memories"]} == {(one, "manual")}
    await local.call("memory", action="update", memory_id=one, dissociate_from=[other, f"mem_{other.upper()}"])
    assert (await local.call("memory", action="get_related", memory_id=other))["related_memories"] == []


@behaviour("assoc.store.manual")
async def test_a_tie_to_nothing_stores_nothing(talk: AssocConversation) -> None:
    word = unique()
    code, _ = await talk.refused("memory", action="store", content=word, domain="user", associate_with=[ABSENT])
    assert code == "MEMORY_NOT_FOUND"
    assert await talk.finds(word) == []


@behaviour("assoc.search.answer")
async def test_a_search_answers_with_the_closest_first(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(f"{word} の型安全性について", tags=["x"], category="dev", importance=0.4)
    await talk.store(f"{word} と天気の話。洗濯物は外に干せそうだ")
    body = await talk.told("memory", action="search", query=f"{word} の型安全性", include_domains=["user", "global"])
    first = body["data"]["results"][0]
    assert set(first) == {*BRIEF, "score"}
    assert (first["memory_id"], first["tags"], first["category"], first["importance"]) == (kept, ["x"], "dev", 0.4)
    assert 0.7 <= first["score"] <= 1.0
    assert body["data"]["count"] == len(body["data"]["results"])
    assert body["data"]["query"] == f"{word} の型安全性"
    assert body["message"] == f"{body['data']['count']}件の記憶が見つかりました"


@behaviour("assoc.search.answer")
async def test_the_example_of_the_reference_finds_what_it_stored(talk: AssocConversation) -> None:
    kept = await talk.store("TypeScriptの型安全性について", tags=["programming", "typescript"])
    found = await talk.call("memory", action="search", query="TypeScript", include_domains=["user", "global"])
    assert kept in [one["memory_id"] for one in found["results"]]
    await talk.call("memory", action="delete", memory_id=kept)


@behaviour("assoc.search.domains")
async def test_a_search_looks_in_global_and_user_unless_told(talk: AssocConversation) -> None:
    word = unique()
    project, hidden = await talk.project(), await talk.project()
    await talk.call("user", action="create_session")
    for domain, more in (
        ("global", {}),
        ("user", {}),
        ("project", {"project_id": project}),
        ("project", {"project_id": hidden}),
        ("session", {}),
    ):
        await talk.store(f"{word} in {domain}", domain=domain, **more)

    async def found(**more: object) -> list[str]:
        data = await talk.call("memory", action="search", query=word, threshold=0.0, **more)
        return sorted(one["domain"] for one in data["results"] if word in one["content"])

    assert await found() == ["global", "user"]
    assert await found(include_domains=[]) == ["global", "user"]
    assert await found(include_domains=["session"]) == ["session"]
    assert await found(include_domains=["project"]) == ["project", "project"]
    assert await found(include_domains=["project"], project_id=project) == ["project"]
    assert await found(project_id=project) == ["global", "project", "user"]
    assert await found(include_domains=["global", "user", "project", "session"]) == [
        "global", "project", "project", "session", "user"
    ]  # fmt: skip


@behaviour("assoc.search.session")
async def test_a_search_in_a_session_means_the_current_one_unless_another_is_named(talk: AssocConversation) -> None:
    word = unique()
    sessions = []
    for turn in range(2):
        sessions.append((await talk.call("user", action="create_session"))["session_id"])
        await talk.store(f"{word} turn {turn}", domain="session")
    for session, turn in ((None, 1), (sessions[0], 0), (sessions[1], 1)):
        found = await talk.call(
            "memory", action="search", query=word, threshold=0.0, include_domains=["session"], session_id=session
        )
        assert [one["content"] for one in found["results"]] == [f"{word} turn {turn}"]


@behaviour("assoc.search.session")
async def test_a_search_in_no_session_says_what_to_do(local: AssocConversation) -> None:
    for tool, arguments, remedy in (
        ("memory", {"action": "search", "query": "x", "include_domains": ["session"]}, "session_id を指定"),
        ("search", {"type": "semantic", "query": "x", "filters": {"domains": ["session"]}}, "switch_session"),
        ("search", {"type": "tags", "tags": ["x"], "filters": {"domains": ["session"]}}, "switch_session"),
        ("memory_manage", {"action": "stats", "target_domain": "session"}, "session_id を指定"),
        ("visualize", {"type": "timeline", "target_domain": "session"}, "session_id を指定"),
    ):
        said = await local.says(tool, **arguments)
        assert "現在のセッションがないため" in said
        assert remedy in said
        assert "threshold" not in said
    await local.call("user", action="create_session")
    assert "セッション" not in await local.says("memory", action="search", query="x", include_domains=["session"])


@behaviour("assoc.search.filters")
async def test_tags_and_category_filter_a_search(talk: AssocConversation) -> None:
    word = unique()
    both = await talk.store(f"{word} alpha", tags=[f"{word}é"], category=word)
    await talk.store(f"{word} beta", tags=["other"])
    for more in (
        {"tags": [f"{word}e\u0301"]},
        {"category": f" {word} "},
        {"tags": [f"{word}é", "x"], "category": word},
    ):
        found = await talk.call("memory", action="search", query=word, threshold=0.0, **more)
        assert [one["memory_id"] for one in found["results"]] == [both], more


@behaviour("assoc.search.limits")
async def test_a_search_has_limits(talk: AssocConversation) -> None:
    word = unique()
    for number in range(3):
        await talk.store(f"{word} number {number}")
    found = await talk.call("memory", action="search", query=word, threshold=0.0, limit=2)
    assert found["count"] == len(found["results"]) == 2
    for arguments, field in (
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"threshold": 1.1}, "threshold"),
        ({"threshold": -0.1}, "threshold"),
        ({"query": " "}, "query"),
        ({"query": "x" * 20_001}, "query"),
        ({"include_domains": ["team"]}, "include_domains[0]"),
    ):
        said = await talk.invalid("memory", **{"action": "search", "query": "x", **arguments})
        assert said.startswith(f"{field}: "), said


@behaviour("assoc.search.limits")
async def test_ten_are_found_unless_told(local: AssocConversation) -> None:
    for number in range(12):
        await local.store(f"bananas {number}")
    assert (await local.call("memory", action="search", query="bananas", threshold=0.0))["count"] == 10


@behaviour("assoc.search.more")
async def test_a_search_says_whether_more_was_found_than_it_shows(local: AssocConversation) -> None:
    base = await local.store("bananas and oranges")
    for number in range(3):
        await local.store(f"bananas and oranges {number}")
    await local.store("tax forms are due")
    asked = {"query": "bananas and oranges"}
    for tool, arguments, found in (
        ("memory", {"action": "search", **asked}, 4),
        ("search", {"type": "semantic", **asked}, 4),
        ("search", {"type": "advanced", **asked}, 4),
        ("search", {"type": "similar", "memory_id": base}, 3),
    ):
        for limit in (found - 1, found, found + 1):
            data = await local.call(tool, **arguments, limit=limit)
            assert (data["count"], data["has_more"]) == (min(limit, found), limit < found), (tool, arguments, limit)
    nothing = await local.call("memory", action="search", query="zzyzx qwrtp", limit=1)
    assert (nothing["count"], nothing["has_more"]) == (0, False)


@behaviour("assoc.search.threshold")
async def test_nothing_below_the_threshold_is_found(talk: AssocConversation) -> None:
    word = unique()
    await talk.store(f"{word} と散歩に出かけた")
    for threshold in (0.0, 0.3, 0.7, 1.0):
        found = await talk.call("memory", action="search", query=f"{word} 散歩", threshold=threshold)
        assert all(one["score"] >= threshold - 1e-4 for one in found["results"])
    unrelated = await talk.told("memory", action="search", query="量子色力学の繰り込み群方程式")
    assert unrelated["data"]["results"] == []
    assert unrelated["message"].startswith("0件の記憶が見つかりました (類似度0.7以上の記憶はありません")


@behaviour("assoc.search.closest")
async def test_where_nothing_is_close_enough_the_closest_are_named(local: AssocConversation) -> None:
    asked = {"query": "Quel restaurant avait réservé Camille pour son anniversaire ?"}
    assert "closest" not in await local.call("memory", action="search", **asked)
    kept = await local.store("Pour fêter ses trente ans, Camille a choisi la table du Vieux-Port, vue sur la mer.")
    for number in range(5):
        await local.store(f"Le compte rendu {number} parle de la base de données et de ses index.")
    for tool, arguments in (("memory", {"action": "search"}), ("search", {"type": "semantic"})):
        body = await local.told(tool, **arguments, **asked)
        assert (body["data"]["results"], body["data"]["count"]) == ([], 0)
        assert body["data"]["closest"][0]["memory_id"] == kept
        assert all(0.2 <= one["score"] < 0.7 for one in body["data"]["closest"])
        assert len(body["data"]["closest"]) <= 3
        assert "closest" in body["message"]
        found = await local.call(tool, **arguments, **asked, threshold=0.3)
        assert found["results"][0]["memory_id"] == kept
        assert "closest" not in found
    assert "closest" not in await local.call("memory", action="search", query="zzyzx qwrtp", threshold=0.9)


@behaviour("assoc.search.labels")
async def test_a_memory_is_found_by_the_words_of_its_tags_and_of_its_category(talk: AssocConversation) -> None:
    tag, category = unique(), unique()
    kept = await talk.store("Call Hiroshi before noon about the shipment", tags=[tag, f"緊急{tag}"], category=category)
    for query in (tag, category.upper(), f"緊急 {tag}", f"{tag} shipment {category}"):
        for tool, more in (("memory", {"action": "search"}), ("search", {"type": "semantic"})):
            found = (await talk.call(tool, **more, query=query))["results"]
            assert found[0]["memory_id"] == kept
            assert found[0]["score"] >= 0.7
    await talk.call("memory", action="update", memory_id=kept, tags=[])
    found = (await talk.call("memory", action="search", query=tag))["results"]
    assert kept not in [one["memory_id"] for one in found]


@behaviour("assoc.search.elsewhere")
async def test_who_finds_nothing_is_told_where_was_searched(local: AssocConversation) -> None:
    project = await local.project()
    await local.store("Apollo uses the Kestrel engine for rendering", domain="project", project_id=project)
    asked = "which engine does Apollo use?"
    assert "include_domains" in await local.says("memory", action="search", query=asked)
    for more in ({"type": "semantic", "query": asked}, {"type": "tags", "tags": ["x"]}, {"type": "advanced"}):
        assert "filters.domains" in await local.says("search", **more)
    for narrower in ({"include_domains": ["global"]}, {"project_id": project}):
        assert "include_domains" not in await local.says("memory", action="search", query=asked, **narrower)


@behaviour("assoc.search.barred")
async def test_where_no_memory_meets_the_conditions_they_are_named_and_not_the_threshold(
    local: AssocConversation,
) -> None:
    kept = await local.store("Apollo uses the Kestrel engine", tags=["engine"], category="design", importance=0.5)
    await local.store("Lunch is at noon", tags=["lunch"])
    memory = {"action": "search", "query": "Apollo engine"}
    semantic = {"type": "semantic", "query": "Apollo engine"}
    advanced = {**semantic, "type": "advanced"}
    for tool, asked, named in (
        ("memory", {**memory, "tags": ["boats"]}, "tags"),
        ("memory", {**memory, "tags": ["boats"], "threshold": 0.0}, "tags"),
        ("memory", {**memory, "tags": ["engine"], "category": "food"}, "category"),
        ("memory", {**memory, "tags": ["lunch"], "category": "design"}, "tagsとcategory"),
        ("search", {**semantic, "filters": {"categories": ["food"], "domains": []}}, "filters.categories"),
        ("search", {**semantic, "filters": {"importance_max": 0.0}}, "filters.importance_max"),
        ("search", {**advanced, "tags": ["boats"], "end_time": "2020-01-01"}, "tagsとend_time"),
        ("search", {**advanced, "tags": ["boats"], "end_time": "2030-01-01"}, "tags"),
        ("search", {"type": "similar", "memory_id": kept, "filters": {"categories": ["design"]}}, "filters.categories"),
    ):
        body = await local.told(tool, **asked)
        assert body["data"]["count"] == 0
        assert body["message"].startswith(f"0件の記憶が見つかりました ({named}の条件に合う記憶はありません"), asked
        assert "threshold" not in body["message"]
        assert ("global" in body["message"]) == (asked.get("type") != "similar")


@behaviour("assoc.search.barred")
async def test_a_list_without_a_query_names_the_conditions_that_no_memory_meets(local: AssocConversation) -> None:
    await local.store("Apollo uses the Kestrel engine", tags=["engine"], category="design", importance=0.5)
    await local.store("Lunch is at noon", tags=["lunch"])
    early = {"start_time": "2019-01-01", "end_time": "2020-01-01"}
    for asked, named in (
        ({"type": "tags", "tags": ["boats"]}, "tags"),
        ({"type": "tags", "tags": ["engine"], "filters": {"categories": ["food"]}}, "filters.categories"),
        ({"type": "tags", "tags": ["lunch"], "filters": {"categories": ["design"]}}, "tagsとfilters.categories"),
        ({"type": "timerange", **early}, "end_time"),
        ({"type": "advanced", "tags": ["boats"], "filters": {"importance_min": 0.9}}, "tagsとfilters.importance_min"),
    ):
        said = await local.says("search", **asked)
        assert said.startswith(f"0件の記憶が見つかりました ({named}の条件に合う記憶はありません。検索したのは"), said


@behaviour("assoc.search.barred")
async def test_where_a_memory_meets_the_conditions_it_was_not_close_enough(local: AssocConversation) -> None:
    await local.store("Apollo uses the Kestrel engine", tags=["engine"])
    for query, reason in (("zzyzx qwrtp", "thresholdを下げると"), ("Apollo Kestrel hangar gate door", "closest")):
        said = await local.says("memory", action="search", query=query, tags=["engine"], threshold=0.9)
        assert said.startswith("0件の記憶が見つかりました (類似度0.9以上の記憶はありません"), said
        assert reason in said


@behaviour("assoc.search.long_texts")
async def test_long_texts_in_a_list_are_cut_and_get_has_them_whole(local: AssocConversation) -> None:
    text = "漢字" * 100_000
    ids = [await local.store(f"marker{number} {text}") for number in range(2)]
    found = await local.call("search", type="timerange", start_time="2020-01-01")
    assert {one["memory_id"] for one in found["results"]} == set(ids)
    assert all(one["truncated"] and one["content"].endswith("…") for one in found["results"])
    assert sum(len(one["content"].encode()) for one in found["results"]) < 101_000
    assert (await local.get(ids[0]))["content"].endswith(text)


@behaviour("assoc.search.excerpts")
async def test_of_a_long_text_a_search_quotes_what_stands_around_the_part_that_answers(
    local: AssocConversation, engine: Engine
) -> None:
    filler = [f"Paragraph {number} of the minutes is about chairs, lamps and carpets." for number in range(3000)]
    filler[2000] = "The vault combination of the Geneva office is 48-15-16."
    kept = await local.store("\n\n".join(filler))
    short = await local.store("The Geneva office has no parking lot")
    await engine.upkeep.embed_missing()
    for more in ({"action": "search"}, {"type": "semantic"}):
        tool = "memory" if "action" in more else "search"
        found = await local.call(tool, query="vault combination of the Geneva office", threshold=0, **more)
        quoted = {one["memory_id"]: one for one in found["results"]}
        assert "48-15-16" in quoted[kept]["content"], more
        assert quoted[kept]["truncated"] is True
        assert len(quoted[kept]["content"].encode()) <= 100_000
        assert "truncated" not in quoted[short]


@behaviour("assoc.summarize.summary")
async def test_a_summary_is_added_on_request(talk: AssocConversation) -> None:
    word = unique()
    sentence = f"{word}の会議は毎週火曜日に開かれる。"
    kept = await talk.store(sentence + "".join(f"{n}番目の参加者は{word}の会議で発言した。" for n in range(60)))
    for arguments in (
        {"action": "get", "memory_id": kept},
        {"action": "search", "query": f"{word}の会議", "threshold": 0.0},
    ):
        data = await talk.call("memory", **arguments, summarize=True)
        assert word in data["summary"]
        assert len(data["summary"]) <= 300
        assert "summary" not in await talk.call("memory", **arguments, summarize=False)
        assert "summary" not in await talk.call("memory", **arguments)
    alone = await talk.store()
    related = await talk.call("memory", action="get_related", memory_id=alone, summarize=True)
    assert "summary" in related


@behaviour("assoc.get.record")
async def test_get_answers_with_the_whole_record(talk: AssocConversation) -> None:
    kept = await talk.store("全体", tags=["t"], category="c", importance=0.3)
    body = await talk.told("memory", action="get", memory_id=kept)
    assert body["message"] == "記憶を取得しました"
    whole = body["data"]
    assert set(whole) == {
        *BRIEF, "updated_at", "access_count", "metadata", "user_id", "project_id", "session_id", "author_id",
        "expires_at", "version",
    }  # fmt: skip
    assert (whole["content"], whole["tags"], whole["category"], whole["importance"]) == ("全体", ["t"], "c", 0.3)
    assert (whole["version"], whole["metadata"], whole["created_at"]) == (1, {}, whole["updated_at"])


@behaviour("assoc.get.ids")
async def test_a_memory_is_named_by_its_id_or_its_block(local: AssocConversation) -> None:
    kept = await local.store("named")
    for name in (kept, f"mem_{kept}", f" {kept} ", "block_0", kept.upper(), f"MEM_{kept.upper()}"):
        assert (await local.get(name))["memory_id"] == kept
    for name in (ABSENT, "mem_123", "block_7", "block_", "block_x", "x" * 5000):
        code, said = await local.refused("memory", action="get", memory_id=name)
        assert code == "MEMORY_NOT_FOUND"
        assert len(said) < 200


@behaviour("assoc.get.uses")
async def test_looking_at_a_memory_and_finding_it_are_counted(engine: Engine, local: AssocConversation) -> None:
    kept = await local.store("counted")
    await local.get(kept)
    await local.call("memory", action="search", query="counted", threshold=0.0)
    assert (await local.get(kept))["access_count"] == 3
    await engine.recall.flush_uses()
    assert [(await local.get(kept))["access_count"] for _ in range(3)] == [4, 5, 6]


async def _chain(talk: AssocConversation, clock: Clock, *texts: str) -> list[str]:
    """Memories far apart in time, each tied by hand to the one before."""
    ids: list[str] = []
    for text in texts:
        clock.advance(timedelta(days=1))
        ids.append(await talk.store(text, associate_with=ids[-1:]))
    return ids


@behaviour("assoc.related.answer")
async def test_related_memories_come_with_strength_type_depth_and_path(local: AssocConversation, clock: Clock) -> None:
    ids = await _chain(local, clock, "ostriches", "marmalade", "trombones")
    body = await local.told("memory", action="get_related", memory_id=ids[0])
    assert body["message"] == "2件の関連記憶が見つかりました"
    assert body["data"]["source_memory_id"] == ids[0]
    assert body["data"]["count"] == 2
    first, second = body["data"]["related_memories"]
    assert set(first) == {*BRIEF, "strength", "type", "depth", "path"}
    assert (first["depth"], first["path"]) == (1, ids[:2])
    assert (second["depth"], second["path"], second["content"]) == (2, ids, "trombones")


@behaviour("assoc.related.depth")
async def test_depth_says_how_far_associations_are_followed(local: AssocConversation, clock: Clock) -> None:
    ids = await _chain(local, clock, "ostriches", "marmalade", "trombones", "glaciers")
    for depth, reached in ((None, 2), (1, 1), (2, 2), (3, 3), (5, 3)):
        data = await local.call("memory", action="get_related", memory_id=ids[0], depth=depth)
        assert data["count"] == reached
    for depth in (0, 6):
        assert "depth: 1から5までの値" in await local.invalid(
            "memory", action="get_related", memory_id=ids[0], depth=depth
        )


@behaviour("assoc.related.limits")
async def test_related_memories_are_bounded_by_limit(local: AssocConversation) -> None:
    hub = await local.store("hub of everything")
    for number in range(12):
        await local.store(f"spoke {unique()} {number}", associate_with=[hub] if number % 2 else None)
    data = await local.call("memory", action="get_related", memory_id=hub, depth=1)
    assert data["count"] == len(data["related_memories"]) <= 10
    strengths = [one["strength"] for one in data["related_memories"]]
    assert strengths == sorted(strengths, reverse=True)
    assert (await local.call("memory", action="get_related", memory_id=hub, limit=3))["count"] == 3
    for limit in (0, 201):
        said = await local.invalid("memory", action="get_related", memory_id=hub, limit=limit)
        assert said.startswith("limit: ")
    assert (await local.refused("memory", action="get_related", memory_id=ABSENT))[0] == "MEMORY_NOT_FOUND"


@behaviour("assoc.related.more")
async def test_related_memories_come_with_whether_there_are_more(local: AssocConversation, clock: Clock) -> None:
    hub = await local.store("hub of everything")
    for _ in range(3):
        clock.advance(timedelta(hours=1))
        last = await local.store(associate_with=[hub])
    for limit in (2, 3, 4):
        data = await local.call("memory", action="get_related", memory_id=hub, limit=limit)
        assert (data["count"], data["has_more"]) == (min(limit, 3), limit < 3)
    for depth, more in ((1, False), (2, True)):
        data = await local.call("memory", action="get_related", memory_id=last, depth=depth, limit=1)
        assert (data["count"], data["has_more"]) == (1, more)


@behaviour("assoc.related.threshold")
async def test_a_threshold_of_similarity_hides_no_association(local: AssocConversation) -> None:
    hub, later = await local.store("ostriches"), await local.store("marmalade")
    usual = await local.told("memory", action="get_related", memory_id=hub)
    assert [(one["memory_id"], one["type"]) for one in usual["data"]["related_memories"]] == [(later, "temporal")]
    assert usual["data"]["related_memories"][0]["strength"] < 0.7
    for threshold in (0.0, 0.7, 1.0):
        told = await local.told("memory", action="get_related", memory_id=hub, threshold=threshold)
        assert told["data"] == usual["data"]
        assert told["message"] == f"{usual['message']} (使わなかったパラメータ: threshold)"


@behaviour("assoc.update.answer")
async def test_an_update_changes_what_is_named_and_nothing_else(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(f"{word} 以前", tags=["old"], category="c", importance=0.3)
    body = await talk.told(
        "memory", action="update", memory_id=kept, content=f"{word} 更新された内容", tags=["updated"]
    )
    assert body["message"] == f"記憶を更新しました (ID: {kept})"
    assert set(body["data"]) == {
        "memory_id", "domain", "tags", "category", "importance", "created_at", "updated_at", "version"
    }  # fmt: skip
    assert (body["data"]["version"], body["data"]["tags"], body["data"]["category"]) == (2, ["updated"], "c")
    whole = await talk.get(kept)
    assert (whole["content"], whole["importance"]) == (f"{word} 更新された内容", 0.3)
    await talk.call("memory", action="update", memory_id=kept, importance=0.9, category=" d ")
    whole = await talk.get(kept)
    assert (whole["content"], whole["importance"], whole["category"], whole["version"]) == (
        f"{word} 更新された内容", 0.9, "d", 3
    )  # fmt: skip
    found = await talk.call("memory", action="search", query=f"{word} 更新された内容")
    assert found["results"][0]["memory_id"] == kept
    await talk.call("memory", action="update", memory_id=kept, category="", tags=[])
    assert ((await talk.get(kept))["category"], (await talk.get(kept))["tags"]) == ("", [])


@behaviour("assoc.update.same")
async def test_an_update_to_what_is_there_already_changes_nothing_and_says_so(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(word, tags=["a"], category="design", importance=0.7)
    for same in ({"content": word}, {"content": word, "tags": ["a"], "category": "design", "importance": 0.7}):
        body = await talk.told("memory", action="update", memory_id=kept, **same)
        assert body["data"]["version"] == 1
        assert "何も変更していません" in body["message"]
    body = await talk.told("memory", action="update", memory_id=kept, content=word, importance=0.8)
    assert body["data"]["version"] == 2
    assert "記憶を更新しました" in body["message"]


@behaviour("assoc.update.domain")
async def test_who_gives_an_update_a_domain_is_told_what_moves_a_memory(talk: AssocConversation) -> None:
    kept = await talk.store()
    told = "ドメインを変えるには memory_manage の change_domain を使ってください"
    update = {"action": "update", "memory_id": kept, "domain": "global"}
    assert (await talk.invalid("memory", **update)).endswith(told)
    said = await talk.says("memory", **update, category="c")
    assert said == f"記憶を更新しました (ID: {kept})。{told} (使わなかったパラメータ: domain)"
    assert (await talk.get(kept))["domain"] == "user"
    assert told not in await talk.says("memory", action="update", memory_id=kept, category="d", session_id="x")


@behaviour("assoc.update.limits")
async def test_an_update_has_the_limits_of_storing(talk: AssocConversation) -> None:
    kept = await talk.store("unchanged")
    assert (await talk.invalid("memory", action="update", memory_id=kept)).startswith(
        "content: 更新する内容がありません"
    )
    for arguments, field in (
        ({"content": ""}, "content"),
        ({"content": " \u3000"}, "content: 空や空白だけにはできません"),
        ({"importance": 2}, "importance"),
        ({"tags": [" "]}, "tags"),
        ({"category": "x" * 201}, "category"),
        ({"category": "\t"}, "category"),
        ({"associate_with": [kept]}, "associate_with"),
        ({"content": "changed", "associate_with": [kept]}, "associate_with"),
    ):
        said = await talk.invalid("memory", action="update", memory_id=kept, **arguments)
        assert said.startswith(field), said
    for more in ({"content": "x"}, {"associate_with": [kept]}):
        assert (await talk.refused("memory", action="update", memory_id=ABSENT, **more))[0] == "MEMORY_NOT_FOUND"
    assert (await talk.get(kept))["version"] == 1


@behaviour("assoc.delete.answer")
async def test_a_deleted_memory_is_gone(talk: AssocConversation) -> None:
    word = unique()
    kept = await talk.store(word)
    body = await talk.told("memory", action="delete", memory_id=kept)
    assert (body["data"], body["message"]) == ({"memory_id": kept}, f"記憶を削除しました (ID: {kept})")
    for action in ("get", "get_related", "delete"):
        code, said = await talk.refused("memory", action=action, memory_id=kept)
        assert (code, said) == (
            "MEMORY_NOT_FOUND",
            f"記憶が見つかりません: '{kept}'。memory の search で探して、IDを確認してください",
        )
    assert await talk.finds(word) == []
