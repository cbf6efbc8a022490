"""リアクティブ購読."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, get_args

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from commonplace.dialects._dialect import Answer, Call, Whole
from commonplace.dialects.creo import ids
from commonplace.dialects.creo._creo import creo
from commonplace.dialects.creo.answers import flat, instant, quoted
from commonplace.domain.errors import NotFound
from commonplace.domain.watch import Channel, Occurrence, Watch, WatchId, Wish
from commonplace.engine.watches import MOST_TAKEN, News

_EXCERPT = 200
_GLIMPSE = 60
_TOLD = 20
"""How many the words of an answer name; the object has all of them."""

MemoryEvent = Literal["memory:created", "memory:updated", "memory:deleted"]
ChannelName = Literal["mcp", "websocket"]
_ALL: tuple[MemoryEvent, ...] = get_args(MemoryEvent)


@with_config(ConfigDict(extra="forbid", strict=True))
class MemoryFilter(TypedDict, total=False):
    """All that is given must hold; of the tags, any."""

    category: Annotated[str | None, Field(description="Only memories of this category")]
    atlasId: Annotated[str | None, Field(description="Only this atlas and what is below it, like atlas:UUID")]
    tags: Annotated[list[str] | None, Field(description="Only memories with any of these tags")]


class FilterShown(TypedDict):
    category: NotRequired[str]
    atlasId: NotRequired[str]
    tags: NotRequired[list[str]]


class SubscriptionShown(TypedDict):
    subscriptionId: str
    name: str
    filter: FilterShown
    events: list[str]
    channel: str
    createdAt: str


class SubscriptionList(TypedDict):
    subscriptions: list[SubscriptionShown]
    total: int
    hasMore: bool


class Unsubscribed(TypedDict):
    subscriptionId: str
    deleted: bool


class Notification(TypedDict):
    """A change. What the memory holds is shown where it still exists and the caller may see it."""

    event: str
    eventNumber: int
    subscriptionIds: list[str]
    memoryId: str
    actor: str
    at: str
    category: NotRequired[str | None]
    tags: NotRequired[list[str]]
    excerpt: NotRequired[str]


class Notifications(TypedDict):
    notifications: list[Notification]
    count: int
    remaining: int
    hasMore: bool


@creo.writes
async def subscribe_memories(
    call: Call,
    name: Annotated[str | None, Field(description="What you call it")] = None,
    filter: Annotated[
        MemoryFilter | None, Field(description="Which memories; all that you may see if left out")
    ] = None,
    events: Annotated[
        list[MemoryEvent] | None, Field(description="Which changes; all if left out", min_length=1)
    ] = None,
    channel: Annotated[
        ChannelName, Field(description="mcp: fetched with check_notifications; websocket: pushed over /ws")
    ] = "mcp",
) -> Answer[SubscriptionShown]:
    """Be told when memories that you may see are created, updated or deleted, by anyone, yourself included."""
    wanted: MemoryFilter = filter or {}
    atlas = wanted.get("atlasId")
    wish = Wish(
        name=name or "",
        category=wanted.get("category") or "",
        collection=ids.atlas("filter.atlasId", atlas) if atlas else None,
        tags=tuple(wanted.get("tags") or ()),
        happenings=tuple(Occurrence(event.partition(":")[2]) for event in (_ALL if events is None else events)),
        channel=Channel(channel),
    )
    try:
        made = await call.engine.watches.add(call.actor, wish)
    except NotFound as error:
        raise NotFound(error.what, str(atlas)) from error
    return Answer(_shown(made), text=f"✅ 購読を作成しました: {_worded(made)}")


@creo.destroys
async def unsubscribe_memories(
    call: Call,
    subscriptionId: Annotated[str, Field(description="Its id, like subscriptions:UUID")],
) -> Answer[Unsubscribed]:
    """Stop being told; what was not fetched yet is dropped."""
    watch = WatchId(ids.bare("subscriptionId", subscriptionId, "subscriptions", "subscription"))
    try:
        gone = await call.engine.watches.remove(call.actor, watch)
    except NotFound as error:
        raise NotFound(error.what, subscriptionId) from error
    return Answer(
        {"subscriptionId": f"subscriptions:{watch}", "deleted": True}, text=f"✅ 購読を削除しました: {_worded(gone)}"
    )


@creo.reads
async def list_subscriptions(call: Call) -> Answer[SubscriptionList]:
    """Your subscriptions, the oldest first."""
    found = await call.engine.watches.all(call.actor)
    lines = [f"- {_worded(one)}" for one in found[:_TOLD]]
    rest = [f"… 他{len(found) - _TOLD}件"] if len(found) > _TOLD else []
    return Answer(
        {"subscriptions": [_shown(one) for one in found], "total": len(found), "hasMore": False},
        text="\n".join([f"購読は{len(found)}件あります", *lines, *rest]),
    )


@creo.writes
async def check_notifications(
    call: Call,
    limit: Annotated[Whole, Field(description="How many at most", ge=1, le=MOST_TAKEN)] = 50,
) -> Answer[Notifications]:
    """Fetch what your subscriptions on the channel mcp have to tell, the oldest first. What is fetched is gone."""
    taken = await call.engine.watches.take(call.actor, limit)
    told = [notification(news) for news in taken.news]
    value: Notifications = {
        "notifications": told,
        "count": len(told),
        "remaining": taken.remaining,
        "hasMore": taken.remaining > 0,
    }
    return Answer(value, text=_summed(told, taken.remaining))


def notification(news: News) -> Notification:
    """One change, as it is fetched and as it is pushed."""
    event = news.notice.event
    told: Notification = {
        "event": f"memory:{news.notice.happening}",
        "eventNumber": event.number,
        "subscriptionIds": [f"subscriptions:{watch}" for watch in news.notice.watches],
        "memoryId": event.memory,
        "actor": f"users:{event.by.user}",
        "at": instant(event.at),
    }
    if news.memory:
        told["category"] = news.memory.category or None
        told["tags"] = list(news.memory.tags)
        told["excerpt"] = flat(news.memory.content, _EXCERPT)
    return told


def _summed(told: Sequence[Notification], remaining: int) -> str:
    if not told:
        return "🔔 新しい通知はありません"
    lines = [f"- {one['event']} {one['memoryId']}{_glimpse(one)}" for one in told[:_TOLD]]
    rest = [f"… 他{len(told) - _TOLD}件"] if len(told) > _TOLD else []
    return "\n".join([f"🔔 通知{len(told)}件（未読の残り{remaining}件）", *lines, *rest])


def _glimpse(told: Notification) -> str:
    return f" {quoted(told['excerpt'], _GLIMPSE)}" if "excerpt" in told else ""


def _shown(watch: Watch) -> SubscriptionShown:
    wish = watch.wish
    filtered: FilterShown = {}
    if wish.category:
        filtered["category"] = wish.category
    if wish.collection:
        filtered["atlasId"] = f"atlas:{wish.collection}"
    if wish.tags:
        filtered["tags"] = list(wish.tags)
    return {
        "subscriptionId": f"subscriptions:{watch.id}",
        "name": wish.name,
        "filter": filtered,
        "events": [f"memory:{one}" for one in wish.happenings],
        "channel": wish.channel.value,
        "createdAt": instant(watch.created_at),
    }


def _worded(watch: Watch) -> str:
    name = f"{quoted(watch.wish.name, _GLIMPSE)} " if watch.wish.name else ""
    return f"{name}subscriptions:{watch.id} [{watch.wish.channel}]"
