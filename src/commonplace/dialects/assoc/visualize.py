"""可視化: five pictures in four forms."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import AppPage, Call
from commonplace.dialects.assoc import scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Reply
from commonplace.dialects.assoc.parameters import Count, Domain, described, moment, reference
from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.memory import Memory
from commonplace.engine.views import View

MOST_DOTS = 5000
MOST_AROUND = 150
DEEPEST = 3
DEPTH = 2
APP = "ui://commonplace/visualize"

_TITLES = {
    "memory_map": "記憶マップ",
    "stats_dashboard": "統計ダッシュボード",
    "domain_graph": "ドメイングラフ",
    "timeline": "タイムライン",
    "category_chart": "カテゴリチャート",
}


class TimeRange(TypedDict, total=False):
    start: str
    end: str


@assoc.reads
async def visualize(
    call: Call,
    type: Annotated[
        Literal["memory_map", "stats_dashboard", "domain_graph", "timeline", "category_chart"],
        Field(description="Which picture"),
    ],
    target_domain: Annotated[Domain | None, described("Only this domain")] = None,
    project_id: Annotated[str | None, described("Only this project")] = None,
    session_id: Annotated[str | None, described("Only this session")] = None,
    center_memory_id: Annotated[str | None, described("Draw what is around this memory (memory_map)")] = None,
    depth: Annotated[Count, described("How many steps around it, 1 to 3", DEPTH)] = None,
    format: Annotated[
        Literal["html", "svg", "json", "graphviz"] | None, described("Form of the picture", "html")
    ] = None,
    time_range: Annotated[TimeRange | None, described("Only memories of this time (start, end as date-time)")] = None,
) -> Reply:
    """Draw memories: a map, a dashboard, a graph of domains, a timeline, a chart of categories."""
    from commonplace.pictures import draw

    chosen = format or "html"
    steps = limits.within("depth", DEPTH if depth is None else depth, 1, DEEPEST)
    view, times = await _view(call, type, target_domain, project_id, session_id, center_memory_id, steps, time_range)
    center = view.memories[0].id if center_memory_id and type == "memory_map" else None
    # In a thread: thousands of memories take seconds to lay out, and others are waiting for their answers.
    drawn = await asyncio.to_thread(draw, type, _snapshot(call, type, view, center, steps, times), chosen)
    unused = ["center_memory_id"] if center_memory_id and type != "memory_map" else []
    note = f" (このタイプで使わないパラメータ: {', '.join(unused)})" if unused else ""
    data = {"type": type, "format": chosen, "content": drawn, "memory_count": len(view.memories), "total": view.total}
    return {"success": True, "data": data, "message": f"{_TITLES[type]}を作成しました{note}", "error": None}


async def _view(
    call: Call,
    kind: str,
    domain: str | None,
    project_id: str | None,
    session_id: str | None,
    center: str | None,
    depth: int,
    time_range: TimeRange | None,
) -> tuple[View, tuple[Any, Any]]:
    chosen: Any = time_range or {}
    since = moment("time_range.start", chosen["start"]) if "start" in chosen else None
    until = moment("time_range.end", chosen["end"]) if "end" in chosen else None
    if since and until and since > until:
        raise Invalid("time_range", "start must not be later than end")
    looking = call.actor
    if domain or project_id or session_id:
        named = domain or ("project" if project_id else "session")
        looking = await scope.looking(call, [named], [project_id] if project_id else [], session_id)
    if center and kind == "memory_map":
        view = await call.engine.views.around(
            looking, reference(center, "center_memory_id"), depth=depth, most=MOST_AROUND
        )
    else:
        view = await call.engine.views.all(looking, MOST_DOTS, since=since, until=until)
    return view, (since, until)


def _snapshot(call: Call, kind: str, view: View, center: str | None, depth: int, times: tuple[Any, Any]) -> Any:
    from commonplace.pictures import Snapshot, Tie

    return Snapshot(
        dots=tuple(_dot(memory, view) for memory in view.memories),
        ties=tuple(Tie(link.source, link.target, link.kind.value, link.strength) for link in view.links),
        total=view.total,
        title=_TITLES[kind],
        zone=call.actor.zone,
        now=call.engine.clock.now(),
        center=center,
        depth=depth,
        since=times[0],
        until=times[1],
        language="ja",
    )


@assoc.resource(APP, "visualize_app")
async def app(call: Call) -> AppPage:
    """The page in which hosts with MCP Apps show a picture."""
    return AppPage(files("commonplace.pictures").joinpath("static", "app.html").read_text(encoding="utf-8"))


assoc.apps["visualize"] = APP


def _dot(memory: Memory, view: View) -> Any:
    from commonplace.pictures import Dot

    return Dot(
        id=memory.id,
        text=memory.content,
        domain=memory.domain,
        category=memory.category,
        tags=memory.tags,
        importance=memory.importance,
        created_at=memory.created_at,
        uses=memory.uses,
        used_at=memory.used_at,
        vector=view.vectors.get(memory.number),
    )
