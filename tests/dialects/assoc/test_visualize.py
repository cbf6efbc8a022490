"""可視化: five pictures in four forms, and the page for hosts with MCP Apps."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.dialects.assoc.actions import ACTIONS
from tests.dialects.assoc.speech import AssocConversation
from tests.dialects.conversation import unique
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
APP = "ui://commonplace/visualize"
TITLES = dict(
    zip(
        ACTIONS["visualize"],
        ("記憶マップ", "統計ダッシュボード", "ドメイングラフ", "タイムライン", "カテゴリチャート"),
        strict=True,
    )
)


@behaviour("assoc.visualize.pictures")
async def test_every_picture_is_drawn_in_every_form(talk: AssocConversation) -> None:
    project = await talk.project()
    text = f"絵にする記憶 <script>alert(1)</script> {unique()}"
    await talk.store(text, domain="project", project_id=project, category="絵")
    for kind, title in TITLES.items():
        for form, start in (("html", "<!doctype html>"), ("svg", "<svg"), ("json", "{"), ("graphviz", "digraph")):
            body = await talk.told("visualize", type=kind, format=form, project_id=project)
            data = body["data"]
            assert set(data) == {"type", "format", "content", "memory_count", "total"}
            assert (data["type"], data["format"], data["memory_count"], data["total"]) == (kind, form, 1, 1)
            assert body["message"] == f"{title}を作成しました"
            assert data["content"].startswith(start)
            assert title in data["content"]
            assert "<script>alert" not in data["content"] or form in ("json", "graphviz")
            if form == "json":
                assert json.loads(data["content"])["type"] == kind
            if form == "svg":
                ElementTree.fromstring(data["content"])


@behaviour("assoc.visualize.format")
async def test_html_is_the_usual_form(talk: AssocConversation) -> None:
    assert (await talk.call("visualize", type="category_chart"))["format"] == "html"
    assert (await talk.invalid("visualize", type="timeline", format="png")).startswith(
        "format: 次のいずれかを指定してください"
    )


@behaviour("assoc.visualize.empty")
async def test_nothing_is_drawn_too(local: AssocConversation) -> None:
    for kind in TITLES:
        for form in ("html", "svg", "json", "graphviz"):
            data = await local.call("visualize", type=kind, format=form)
            assert (data["memory_count"], data["total"]) == (0, 0)
            assert data["content"]


@behaviour("assoc.visualize.target")
async def test_a_picture_shows_one_domain_project_or_session(talk: AssocConversation) -> None:
    # Of a store that all tests share, a picture of the last moment is small enough for one answer.
    recent = {"start": datetime.now(UTC).isoformat()}
    project, session = await talk.project(), (await talk.call("user", action="create_session"))["session_id"]
    texts = {"project": unique(), "session": unique(), "user": unique()}
    await talk.store(texts["project"], domain="project", project_id=project)
    await talk.store(texts["session"], domain="session")
    await talk.store(texts["user"])
    for more, shown in (
        ({"target_domain": "project", "project_id": project}, "project"),
        ({"project_id": project}, "project"),
        ({"target_domain": "session"}, "session"),
        ({"session_id": session}, "session"),
        ({"target_domain": "user"}, "user"),
    ):
        answer = await talk.call("visualize", type="memory_map", format="json", time_range=recent, **more)
        drawn = answer["content"]
        assert [domain for domain, text in texts.items() if text in drawn] == [shown]
    for more, code in (({"project_id": ABSENT}, "PROJECT_NOT_FOUND"), ({"session_id": ABSENT}, "SESSION_NOT_FOUND")):
        assert (await talk.refused("visualize", type="timeline", **more))[0] == code


@behaviour("assoc.visualize.center")
async def test_a_map_around_a_memory_reaches_as_far_as_its_depth(local: AssocConversation, clock: Clock) -> None:
    ids: list[str] = []
    for text in ("ostriches", "marmalade", "trombones", "glaciers", "umbrellas"):
        clock.advance(timedelta(days=1))
        ids.append(await local.store(text, associate_with=ids[-1:]))
    for depth, count in ((None, 3), (1, 2), (2, 3), (3, 4)):
        data = await local.call(
            "visualize", type="memory_map", center_memory_id=f"mem_{ids[0]}", depth=depth, format="json"
        )
        assert data["memory_count"] == count
    for depth in (0, 4):
        said = await local.invalid("visualize", type="memory_map", center_memory_id=ids[0], depth=depth)
        assert said.startswith("depth: 1から3までの値")
    code, _ = await local.refused("visualize", type="memory_map", center_memory_id=ABSENT)
    assert code == "MEMORY_NOT_FOUND"
    said = await local.says("visualize", type="memory_map", center_memory_id=ids[0], time_range={"start": "2024"})
    assert said.endswith("(使わなかったパラメータ: time_range)")


@behaviour("assoc.visualize.time_range")
async def test_a_time_range_bounds_a_picture(local: AssocConversation, clock: Clock) -> None:
    for _ in range(3):
        await local.store()
        clock.advance(timedelta(days=1))
    for times, count in (
        ({"start": "2026-01-16T00:00:00Z"}, 2),
        ({"end": "2026-01-16T00:00:00Z"}, 1),
        ({"start": "2026-01-16T00:00:00Z", "end": "2026-01-17T00:00:00Z"}, 1),
        ({"start": "2026-01-16", "end": "2026-01-16"}, 1),
        ({"end": "2026-01-16"}, 2),
        ({}, 3),
    ):
        data = await local.call("visualize", type="timeline", time_range=times, format="json")
        assert data["memory_count"] == count
    for times, said in (
        ({"start": "soon"}, "time_range.start: 'soon' は日時ではありません"),
        ({"end": "0001-01-01T00:00:00+14:00"}, "time_range.end: "),
        ({"start": "2026-01-02", "end": "2026-01-01"}, "time_range.start: time_range.end より後の日時は指定できません"),
    ):
        assert (await local.invalid("visualize", type="timeline", time_range=times)).startswith(said)


@behaviour("assoc.visualize.figures")
async def test_figures_are_over_everything_however_much(
    local: AssocConversation, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.dialects.assoc.visualize.MOST_DOTS", 3)
    last: list[str] = []
    for at in range(10):
        clock.advance(timedelta(days=1))
        domain, category = ("user", "木") if at % 5 else ("global", "石")
        last = [
            await local.store(f"{at} {unique()}", domain=domain, category=category, associate_with=last, tags=["t"])
        ]

    async def panels(kind: str) -> dict[str, Any]:
        data = await local.call("visualize", type=kind, format="json")
        assert (data["memory_count"], data["total"]) == (10, 10)
        drawn = json.loads(data["content"])
        assert drawn["subtitle"].startswith("記憶 10 件 · ")
        return {panel["name"]: panel for panel in drawn["panels"]}

    def bars(panel: Any) -> dict[str, str]:
        return {box["name"]: re.sub(r"\D", "", box["value"]) for box in panel["boxes"]}

    # What is stored may be tied by itself, too: nine ties were asked for.
    ties = sum((await local.call("memory_manage", action="stats"))["associations"].values())
    assert ties >= 9
    dashboard = await panels("stats_dashboard")
    assert [one["text"] for one in dashboard["total"]["words"][1::2]] == [str(ties), "8", "0"], "and seven days, used"
    assert (
        bars(dashboard["by_domain"])
        == {"user": "8", "global": "2"}
        == bars((await panels("domain_graph"))["by_domain"])
    )
    assert bars(dashboard["by_category"]) == {"木": "8", "石": "2"} == bars((await panels("category_chart"))["ranking"])
    assert bars(dashboard["tags"]) == {"t": "10"}
    assert sum(int(count) for count in bars(dashboard["importance"]).values()) == 10
    between = bars((await panels("domain_graph"))["links_between"])
    assert sum(map(int, between.values())) == ties
    timeline = await panels("timeline")
    assert sum(int(count) for count in bars(timeline["timeline"]).values()) == 10
    assert sum(int(count) for count in bars(timeline["rhythm"]).values()) == 10
    assert len(timeline["timeline"]["spots"]) <= 3
    part = await local.call("visualize", type="memory_map", format="json")
    assert (part["memory_count"], part["total"]) == (3, 10)
    assert json.loads(part["content"])["subtitle"].startswith("記憶 10 件のうち 3 件")


@behaviour("assoc.visualize.app")
async def test_hosts_with_apps_are_shown_a_page_for_pictures(talk: AssocConversation) -> None:
    tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
    assert {name: tool.meta for name, tool in tools.items() if tool.meta} == {"visualize": {"ui": {"resourceUri": APP}}}
    (listed,) = (await talk.client.list_resources()).resources
    assert (str(listed.uri), listed.mime_type) == (APP, "text/html;profile=mcp-app")
    page = await talk.content(APP)
    assert page.mime_type == "text/html;profile=mcp-app"
    assert page.text.lower().startswith("<!doctype html>")
    assert "http://" not in page.text.replace("http://www.w3.org/", "")
