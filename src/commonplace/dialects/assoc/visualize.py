"""可視化: five pictures in four forms. A map shows single memories, the others figures over all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import AppPage, Call
from commonplace.dialects.assoc import scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Reply, unused_note
from commonplace.dialects.assoc.answers import housed
from commonplace.dialects.assoc.parameters import (
    MAY_BE_EMPTY,
    STATED,
    Count,
    DateTime,
    Domain,
    between,
    counted,
    described,
    is_blank,
    reference,
)
from commonplace.domain import limits
from commonplace.domain.access import Actor
from commonplace.domain.link import Link
from commonplace.domain.memory import Memory
from commonplace.engine.views import Census as Counted

if TYPE_CHECKING:
    from commonplace.pictures import Census, Dot, Snapshot, Tie

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


Times: TypeAlias = tuple[datetime | None, datetime | None]


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
    depth: Annotated[Count, counted("How many steps around it", DEPTH, minimum=1, maximum=DEEPEST)] = None,
    format: Annotated[
        Literal["html", "svg", "json", "graphviz"] | None, described("Form of the picture", "html")
    ] = None,
    time_range: Annotated[
        TimeRange | None, STATED, described("Only memories of this time (start, end as date-time)")
    ] = None,
) -> Reply:
    """Draw memories: a map, a dashboard, a graph of domains, a timeline, a chart of categories."""
    from commonplace.pictures import draw

    aim = await scope.aimed(call, target_domain, project_id, session_id)
    steps = limits.within("depth", DEPTH if depth is None else depth, 1, DEEPEST)
    times = _times(call, time_range)
    if type == "memory_map":
        shown, snapshot = await _mapped(call, aim.actor, center_memory_id, steps, times)
    else:
        shown, snapshot = await _counted(call, aim.actor, type, times)
    chosen = format or "html"
    # In a thread: thousands of memories take seconds to lay out, and others are waiting for their answers.
    drawn = await asyncio.to_thread(draw, type, snapshot, chosen)
    data = {"type": type, "format": chosen, "content": drawn, "memory_count": shown, "total": snapshot.total}
    places = housed(await call.engine.collections.places(aim.actor)) if type == "domain_graph" else ""
    message = f"{_TITLES[type]}を作成しました{places}{aim.remark}{unused_note([*aim.unused, *call.unused])}"
    return {"success": True, "data": data, "message": message, "error": None}


def _times(call: Call, time_range: TimeRange | None) -> Times:
    chosen: Any = time_range or {}
    start, end = ((chosen.get(side) or "").strip() or None for side in ("start", "end"))
    return between(call.actor.zone, ("time_range.start", start), ("time_range.end", end))


async def _mapped(call: Call, looking: Actor, center: str | None, depth: int, times: Times) -> tuple[int, Snapshot]:
    """Single memories, of many the newest; how many there are, and what to draw."""
    if center:
        at = reference(center, "center_memory_id")
        view = await call.engine.views.around(looking, at, depth=depth, most=MOST_AROUND)
    else:
        view = await call.engine.views.all(looking, MOST_DOTS, since=times[0], until=times[1])
    middle = view.memories[0].id if center else None
    drawn = _snapshot(call, "memory_map", _dots(view.memories, view.vectors), view.total, times)
    return len(view.memories), replace(drawn, ties=_ties(view.links), center=middle, depth=depth)


async def _counted(call: Call, looking: Actor, kind: str, times: Times) -> tuple[int, Snapshot]:
    """Figures over everything; how much that is, and what to draw."""
    census = await call.engine.views.counted(
        looking,
        since=times[0],
        until=times[1],
        ties=kind in ("stats_dashboard", "domain_graph"),
        lists=kind in ("stats_dashboard", "timeline"),
        most=MOST_DOTS if kind == "timeline" else 0,
    )
    drawn = _snapshot(call, kind, _dots(census.spread), census.total, times)
    return census.total, replace(drawn, census=_columns(census))


def _snapshot(call: Call, kind: str, dots: tuple[Dot, ...], total: int, times: Times) -> Snapshot:
    from commonplace.pictures import Snapshot

    zone, now = call.actor.zone, call.engine.clock.now()
    since, until = times
    return Snapshot(dots, (), total, _TITLES[kind], zone, now, since=since, until=until, language="ja")


def _columns(found: Counted) -> Census:
    from commonplace.pictures import Bond, Census, Group

    crowd = found.crowd
    return Census(
        created=crowd.created,
        importance=crowd.importance,
        group=crowd.group,
        groups=tuple(Group(group.domain, group.category) for group in crowd.groups),
        used=int((crowd.uses > 0).sum()),
        bonds=tuple(Bond(*bond) for bond in found.bonds),
        tags=tuple(found.tags),
        latest=_dots(found.latest),
        most_used=_dots(found.most_used),
        most_important=_dots(found.most_important),
    )


@assoc.resource(APP, "visualize_app")
async def app(call: Call) -> AppPage:
    """The page in which hosts with MCP Apps show a picture."""
    return AppPage(files("commonplace.pictures").joinpath("static", "app.html").read_text(encoding="utf-8"))


assoc.apps["visualize"] = APP


def _ties(links: Iterable[Link]) -> tuple[Tie, ...]:
    from commonplace.pictures import Tie

    return tuple(Tie(link.source, link.target, link.kind.value, link.strength) for link in links)


def _dots(memories: Iterable[Memory], vectors: Mapping[int, Any] | None = None) -> tuple[Dot, ...]:
    from commonplace.pictures import Dot

    return tuple(
        Dot(
            id=memory.id,
            text=memory.content,
            domain=memory.domain,
            category=memory.category,
            tags=memory.tags,
            importance=memory.importance,
            created_at=memory.created_at,
            uses=memory.uses,
            used_at=memory.used_at,
            vector=vectors.get(memory.number) if vectors else None,
        )
        for memory in memories
    )
