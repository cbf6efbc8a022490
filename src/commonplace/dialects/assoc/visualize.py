"""可視化: five pictures in four forms."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import AppPage, Call
from commonplace.dialects.assoc import scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Reply, unused_note
from commonplace.dialects.assoc.parameters import (
    MAY_BE_EMPTY,
    Count,
    DateTime,
    Domain,
    between,
    described,
    is_blank,
    reference,
)
from commonplace.domain import limits
from commonplace.domain.access import Actor
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
    start: DateTime
    end: DateTime


def _unused(arguments: Mapping[str, Any]) -> list[str]:
    """What is around a memory is of any time; without a memory in the middle there are no steps to take."""
    empty = [name for name, value in arguments.items() if name in MAY_BE_EMPTY and is_blank(value)]
    middle = None if "center_memory_id" in empty else arguments.get("center_memory_id")
    around = arguments.get("type") == "memory_map" and middle is not None
    return [*empty, *(["time_range"] if around else ["center_memory_id", "depth"])]


@assoc.leaves_aside(_unused)
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

    aim = await scope.aimed(call, target_domain, project_id, session_id)
    steps = limits.within("depth", DEPTH if depth is None else depth, 1, DEEPEST)
    times = _times(call, time_range)
    view = await _view(call, aim.actor, center_memory_id, steps, times)
    center = view.memories[0].id if center_memory_id else None
    chosen = format or "html"
    # In a thread: thousands of memories take seconds to lay out, and others are waiting for their answers.
    drawn = await asyncio.to_thread(draw, type, _snapshot(call, type, view, center, steps, times), chosen)
    data = {"type": type, "format": chosen, "content": drawn, "memory_count": len(view.memories), "total": view.total}
    message = f"{_TITLES[type]}を作成しました{aim.remark}{unused_note([*aim.unused, *call.unused])}"
    return {"success": True, "data": data, "message": message, "error": None}


def _times(call: Call, time_range: TimeRange | None) -> tuple[datetime | None, datetime | None]:
    chosen: Any = time_range or {}
    start, end = ((chosen.get(side) or "").strip() or None for side in ("start", "end"))
    return between(call.actor.zone, ("time_range.start", start), ("time_range.end", end))


async def _view(
    call: Call, looking: Actor, center: str | None, depth: int, times: tuple[datetime | None, datetime | None]
) -> View:
    if center:
        at = reference(center, "center_memory_id")
        return await call.engine.views.around(looking, at, depth=depth, most=MOST_AROUND)
    return await call.engine.views.all(looking, MOST_DOTS, since=times[0], until=times[1])


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
