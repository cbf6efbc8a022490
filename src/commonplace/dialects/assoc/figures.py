"""Figures about memories: how many, of what kind, since when."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from commonplace.dialects._dialect import Call
from commonplace.dialects.assoc.answers import place, stamp
from commonplace.domain.access import Actor
from commonplace.engine.collections import Survey

MOST_TAGS = 20
MOST_CATEGORIES = 50
MOST_PLACES = 50


async def figures(call: Call, actor: Actor) -> dict[str, Any]:
    """What the actor may see, in figures."""
    return told(await call.engine.collections.survey(actor, MOST_TAGS))


def told(survey: Survey) -> dict[str, Any]:
    domains: dict[str, int] = defaultdict(int)
    categories: dict[str, int] = defaultdict(int)
    for one in survey.slices:
        domains[one.domain] += one.memories
        categories[one.category] += one.memories
    total, uncategorized = sum(domains.values()), categories.pop("", 0)
    named = sorted(categories.items(), key=lambda item: (-item[1], item[0]))
    return {
        "total_memories": total,
        "by_domain": dict(domains),
        "by_category": dict(named[:MOST_CATEGORIES]),
        "category_count": len(named),
        "uncategorized": uncategorized,
        "average_importance": round(sum(one.importance for one in survey.slices) / total, 3) if total else None,
        "access_count": sum(one.uses for one in survey.slices),
        "oldest": stamp(min((one.first for one in survey.slices), default=None)),
        "newest": stamp(max((one.last for one in survey.slices), default=None)),
        "associations": dict(survey.links),
        "top_tags": [{"tag": tag, "count": count} for tag, count in survey.tags],
        "places": [{**place(one), "memory_count": one.memories} for one in survey.places[:MOST_PLACES]],
    }
