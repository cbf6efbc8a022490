"""Creo: ephemeral memories, atlases, teams, annotations, subscriptions, presence."""

from commonplace.dialects.creo import (  # noqa: F401  (they register themselves)
    annotation,
    atlas,
    category,
    context,
    label,
    log,
    memory,
    presence,
    relation,
    session,
    shared_context,
    shared_key,
    subscription,
    team,
    todo,
    user,
    work_log,
)
from commonplace.dialects.creo._creo import creo

__all__ = ["creo"]

_CHAPTERS = (
    memory,
    label,
    category,
    atlas,
    shared_key,
    session,
    user,
    log,
    todo,
    relation,
    annotation,
    shared_context,
    team,
    subscription,
    presence,
    work_log,
)
"""In the order of the reference, which is the order clients list the tools in."""
creo.tools = {
    name: tool
    for chapter in _CHAPTERS
    for name, tool in creo.tools.items()
    if tool.function.__module__ == chapter.__name__
}
