"""高度な検索: by meaning, tags, time, several conditions, or likeness to a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc import scope
from commonplace.dialects.assoc._assoc import assoc
from commonplace.dialects.assoc.actions import Actions, Done, Reply
from commonplace.dialects.assoc.answers import CLOSEST, answering, bounded, brief, nothing_found, remark
from commonplace.dialects.assoc.parameters import (
    HOW_CLOSE,
    STATED,
    Count,
    DateTime,
    Domain,
    Share,
    Texts,
    between,
    bounds,
    counted,
    described,
    reference,
)
from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.memory import MAX_TAGS
from commonplace.engine.recall import MOST_RESULTS, Question, Recalled

LIMIT, THRESHOLD = 10, 0.7
MOST_CATEGORIES = 100
MOST_PROJECTS = 100

actions = Actions("type")


class Filters(TypedDict, total=False):
    """Conditions that must all hold."""

    domains: list[Domain]
    categories: Annotated[list[str], bounds(maxItems=MOST_CATEGORIES)]
    importance_min: Annotated[float, bounds(minimum=0, maximum=1)]
    importance_max: Annotated[float, bounds(minimum=0, maximum=1)]
    project_ids: Annotated[list[str], bounds(maxItems=MOST_PROJECTS)]


@assoc.leaves_aside(actions.unused)
@assoc.reads
async def search(
    call: Call,
    type: Annotated[
        Literal["semantic", "tags", "timerange", "advanced", "similar"], Field(description="How to search")
    ],
    query: Annotated[
        str | None, described("What to look for (semantic, advanced)", maxLength=limits.MAX_QUERY_CHARS)
    ] = None,
    tags: Annotated[Texts, described("Any of these tags (tags, advanced)", maxItems=MAX_TAGS)] = None,
    start_time: Annotated[DateTime | None, described("From this date-time on (timerange, advanced)")] = None,
    end_time: Annotated[DateTime | None, described("Up to this date-time (timerange, advanced)")] = None,
    memory_id: Annotated[str | None, described("The memory to compare with (similar)")] = None,
    filters: Annotated[
        Filters | None,
        STATED,
        described("Conditions: domains, project_ids, categories, importance_min, importance_max"),
    ] = None,
    limit: Annotated[
        Count,
        counted("How many at most; has_more says whether there are more", LIMIT, minimum=1, maximum=MOST_RESULTS),
    ] = None,
    threshold: Annotated[Share, described(HOW_CLOSE, THRESHOLD, minimum=0, maximum=1)] = None,
) -> Reply:
    """Search by meaning, tags, time range, several conditions at once, or likeness to a memory."""
    return await actions.run(call, type, locals())


@actions.reads
async def semantic(
    call: Call, *, query: str, filters: Filters | None = None, limit: int = LIMIT, threshold: float = THRESHOLD
) -> Done:
    question = _question(query, filters or {}, limit, threshold)
    aim = await _looking(call, filters)
    return await _told(call, await call.engine.recall.recall(aim.actor, question), question, {"query": query}, aim)


@actions.reads
async def tags(call: Call, *, tags: list[str], filters: Filters | None = None, limit: int = LIMIT) -> Done:
    """Those with any of the tags, the newest first."""
    wanted = limits.tags(tags)
    if not wanted:
        raise Invalid("tags", "タグを1つ以上指定してください")
    aim = await _looking(call, filters, tags=tags)
    return await _listed(call, aim, limit, filters, {"tags": list(wanted)}, tags=wanted)


@actions.reads
async def timerange(
    call: Call,
    *,
    start_time: str | None = None,
    end_time: str | None = None,
    filters: Filters | None = None,
    limit: int = LIMIT,
) -> Done:
    """The newest first."""
    since, until = _times(call, start_time, end_time)
    if since is None and until is None:
        raise Invalid("start_time", "type 'timerange' では start_time と end_time の少なくとも一方が必須です")
    aim = await _looking(call, filters, start_time=start_time, end_time=end_time)
    about = {"start_time": start_time, "end_time": end_time}
    return await _listed(call, aim, limit, filters, about, since=since, until=until)


@actions.reads
async def advanced(
    call: Call,
    *,
    query: str | None = None,
    tags: list[str] | None = None,
    start_time: str | None = None,
    end_time: str | None = None,
    filters: Filters | None = None,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
) -> Done:
    """All conditions at once; with a query the closest first, without one the newest."""
    since, until = _times(call, start_time, end_time)
    wanted = limits.tags(tags or ())
    aim = await _looking(call, filters, tags=tags, start_time=start_time, end_time=end_time)
    if query is None:
        return await _listed(call, aim, limit, filters, {}, tags=wanted, since=since, until=until)
    question = _question(query, filters or {}, limit, threshold, tags=wanted, since=since, until=until)
    return await _told(call, await call.engine.recall.recall(aim.actor, question), question, {"query": query}, aim)


@actions.reads
async def similar(
    call: Call,
    *,
    memory_id: str,
    filters: Filters | None = None,
    limit: int = LIMIT,
    threshold: float = THRESHOLD,
) -> Done:
    base = await call.engine.memories.get(call.actor, reference(memory_id))
    aim = await _looking(call, filters, usual=("global", "user", "project", "session"))
    question = _question(base.content[:2000], filters or {}, limit, threshold, apart=base.number)
    recalled = await call.engine.recall.like(aim.actor, base, question)
    return await _told(call, recalled, question, {"memory_id": base.id}, aim)


async def _looking(
    call: Call, filters: Filters | None, usual: tuple[str, ...] = scope.USUAL_DOMAINS, **beside: Any
) -> scope.Aim:
    """`beside` is what narrows the search beside the filters."""
    chosen: Any = filters or {}
    projects = list(dict.fromkeys(chosen.get("project_ids") or ()))
    if len(projects) > MOST_PROJECTS:
        raise Invalid(
            "filters.project_ids", f"{len(projects)}件あります。一度に指定できるのは{MOST_PROJECTS}件までです"
        )
    if not all(map(str.strip, projects)):
        raise Invalid("filters.project_ids", "空や空白だけの要素は含められません")
    domains = chosen.get("domains")
    if projects:  # all conditions must hold, and only what is in a project can be in these
        if domains and "project" not in domains:
            raise Invalid(
                "filters.project_ids", "filters.domains に 'project' を含めるか、filters.domains を省略してください"
            )
        domains = ["project"]
    looking = await scope.looking(call, domains, projects, usual=usual)
    alone = await scope.sessionless(call, domains, None, scope.CHOOSE_SESSION)
    elsewhere = scope.elsewhere(domains, "filters.domains") if usual is scope.USUAL_DOMAINS else ""
    given = beside | {f"filters.{name}": value for name, value in chosen.items()}
    conditions = [name for name, value in given.items() if value not in (None, [])]
    return scope.Aim(looking, remark=alone, elsewhere=elsewhere, conditions=conditions)


def _conditions(filters: Filters | None) -> dict[str, Any]:
    chosen: Any = filters or {}
    least, most = chosen.get("importance_min"), chosen.get("importance_max")
    limits.in_order("filters.importance_min", least, "filters.importance_max", most)
    return {
        "categories": limits.labels("filters.categories", chosen.get("categories") or (), MOST_CATEGORIES),
        "importance_min": None if least is None else limits.importance(least, "filters.importance_min"),
        "importance_max": None if most is None else limits.importance(most, "filters.importance_max"),
    }


def _question(query: str, filters: Filters, limit: int, threshold: float, **more: Any) -> Question:
    least = limits.importance(threshold, "threshold")
    return Question(query, limit, least, closest=CLOSEST, **_conditions(filters), **more)


def _times(call: Call, start: str | None, end: str | None) -> tuple[Any, Any]:
    return between(call.actor.zone, ("start_time", start), ("end_time", end))


async def _told(call: Call, recalled: Recalled, question: Question, about: dict[str, Any], aim: scope.Aim) -> Done:
    data = {**await answering(call, recalled, question.text), **about}
    barring = await scope.barring(call, aim.actor, question, recalled, aim.conditions)
    words = remark(recalled, question.threshold, aim.remark, aim.elsewhere, barring)
    return Done(data, f"{data['count']}件の記憶が見つかりました{words}")


async def _listed(
    call: Call, aim: scope.Aim, limit: int, filters: Filters | None, about: Mapping[str, Any], **more: Any
) -> Done:
    """The newest of what meets the conditions; where there is nothing, why, and where else to look."""
    conditions = _conditions(filters) | more
    page = await call.engine.memories.page(aim.actor, limits.within("limit", limit, 1, MOST_RESULTS), **conditions)
    results = bounded([brief(memory) for memory in page.memories])
    has_more = page.total > len(results)
    data = {"results": results, "count": len(results), "total": page.total, "has_more": has_more, **about}
    words = aim.remark
    if not (words or page.total):
        why = await scope.unmet(call, aim.actor, Question("", **conditions), aim.conditions)
        words = nothing_found(why, aim.elsewhere)
    return Done(data, f"{page.total}件の記憶が見つかりました{words}")
