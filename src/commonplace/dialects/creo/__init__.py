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
