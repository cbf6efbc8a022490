"""Wishes to hear of changes: what is wished for, and what there is to hear."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from commonplace.domain import limits
from commonplace.domain.errors import Invalid
from commonplace.domain.event import Event
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.memory import MAX_TAGS

WatchId = NewType("WatchId", str)

MOST_WATCHES = 100
"""For each user."""
KEPT_FOR = timedelta(days=30)
MOST_KEPT = 10_000
"""Notices of one watch; the oldest go first."""


class Occurrence(StrEnum):
    """What an event is to those who watch memories."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class Channel(StrEnum):
    """How notices reach who wished for them: fetched, or pushed and kept to be pushed again."""

    MCP = "mcp"
    WEBSOCKET = "websocket"


@dataclass(frozen=True, slots=True)
class Wish:
    """What someone wants to hear of. All conditions must hold, of the tags any; an absent one holds always."""

    name: str = ""
    category: str = ""
    collection: CollectionId | None = None
    """This one and what is below it."""
    tags: tuple[str, ...] = ()
    happenings: tuple[Occurrence, ...] = tuple(Occurrence)
    channel: Channel = Channel.MCP


@dataclass(frozen=True, slots=True)
class Watch:
    """A wish that was made."""

    id: WatchId
    owner: UserId
    wish: Wish
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Notice:
    """An event, and the watches of one user that it concerns."""

    event: Event
    happening: Occurrence
    watches: tuple[WatchId, ...]


def checked(wish: Wish) -> Wish:
    """The wish in its kept form, or Invalid."""
    if not wish.happenings:
        raise Invalid("events", "name at least one")
    return Wish(
        name=limits.label("name", wish.name) if wish.name.strip() else "",
        category=limits.label("category", wish.category) if wish.category else "",
        collection=wish.collection,
        tags=limits.labels("tags", wish.tags, MAX_TAGS),
        happenings=tuple(one for one in Occurrence if one in wish.happenings),
        channel=wish.channel,
    )
