"""リアクティブ購読: subscribe_memories, unsubscribe_memories, list_subscriptions, check_notifications."""

import asyncio
from typing import Any

import pytest

from commonplace.domain.access import Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.ports import Transaction
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
EVENTS = ["memory:created", "memory:updated", "memory:deleted"]
FIELDS = {"subscriptionId", "name", "filter", "events", "channel", "createdAt"}
TOLD = {"event", "eventNumber", "subscriptionIds", "memoryId", "actor", "at"}


async def subscribed(talk: Any, **arguments: Any) -> str:
    return str((await talk.call("subscribe_memories", **arguments))["subscriptionId"])


async def heard(talk: Any, subscription: str, **arguments: Any) -> list[dict[str, Any]]:
    """What one subscription has to tell; others may share the store."""
    told = await talk.call("check_notifications", **arguments)
    return [one for one in told["notifications"] if subscription in one["subscriptionIds"]]


async def atlas(speaker: Speaker, *readers: Speaker) -> str:
    made = (await speaker.engine.collections.found(speaker.actor, Kind.ATLAS, "a tree")).collection

    def work(tx: Transaction) -> None:
        for reader in readers:
            tx.grant(reader.actor.user, made.number, Right.READ, speaker.actor.user, speaker.engine.clock.now())

    await speaker.engine.store.write(work)
    return f"atlas:{made.id}"


# subscribe_memories


@behaviour("creo.subscription.subscribe")
async def test_a_subscription_is_shown_as_it_was_made(talk: CreoConversation) -> None:
    name, tag = f"設計変更の監視 {unique()}", unique()
    given = {"category": "design", "tags": [tag]}
    made = await talk.call("subscribe_memories", name=name, filter=given, events=EVENTS[:2], channel="websocket")
    assert set(made) == FIELDS
    assert (made["name"], made["filter"], made["events"]) == (name, given, EVENTS[:2])
    assert made["channel"] == "websocket"
    assert made["subscriptionId"].startswith("subscriptions:")
    assert made in (await talk.call("list_subscriptions"))["subscriptions"]
    words = await talk.says("unsubscribe_memories", subscriptionId=made["subscriptionId"])
    assert words == f"✅ 購読を削除しました: 「{name}」 {made['subscriptionId']} [websocket]"


@behaviour("creo.subscription.defaults")
async def test_everything_may_be_left_out(talk: CreoConversation) -> None:
    made = await talk.call("subscribe_memories")
    assert (made["name"], made["filter"], made["events"], made["channel"]) == ("", {}, EVENTS, "mcp")
    words = await talk.says("subscribe_memories", name="x")
    assert words.startswith("✅ 購読を作成しました: 「x」 subscriptions:")
    for one in (await talk.call("list_subscriptions"))["subscriptions"]:
        await talk.call("unsubscribe_memories", subscriptionId=one["subscriptionId"])


@behaviour("creo.subscription.invalid")
async def test_what_makes_no_sense_is_refused(talk: CreoConversation) -> None:
    for arguments, said in (
        ({"channel": "mail"}, "channel: "),
        ({"events": ["memory:read"]}, "events[0]: "),
        ({"events": []}, "events: "),
        ({"filter": {"label": "x"}}, "filter: 'label' is not one of its fields"),
        ({"filter": {"tags": "x"}}, "filter.tags: "),
        ({"filter": {"tags": [""]}}, "tags: "),
        ({"filter": {"atlasId": "nothing"}}, "filter.atlasId: "),
        ({"filter": {"category": "x" * 201}}, "category: "),
        ({"name": "x" * 201}, "name: "),
        ({"name": "a\x00b"}, "name: "),
        ({"nome": "x"}, "nome: is not a parameter of subscribe_memories; did you mean 'name'?"),
    ):
        assert (await talk.invalid("subscribe_memories", **arguments)).startswith(said), arguments


@behaviour("creo.subscription.atlas")
async def test_an_atlas_needs_the_right_to_read_it(ann: Speaker, ben: Speaker) -> None:
    open_to_ben, closed = await atlas(ann, ben), await atlas(ann)
    made = await ben.call("subscribe_memories", filter={"atlasId": open_to_ben})
    assert made["filter"] == {"atlasId": open_to_ben}
    for hidden in (closed, f"atlas:{ABSENT}", ABSENT):
        error = await ben.refused("subscribe_memories", filter={"atlasId": hidden})
        assert isinstance(error, NotFound)
        assert (error.what, error.name) == ("atlas", hidden)
    inside = await ann.remember("in it", atlasId=open_to_ben)
    await ann.remember("in another", atlasId=closed)
    await ben.remember("in none")
    assert [one["memoryId"] for one in await heard(ben, made["subscriptionId"])] == [inside]


@behaviour("creo.subscription.most")
async def test_there_are_a_hundred_of_a_user_at_most(ann: Speaker, ben: Speaker) -> None:
    await asyncio.gather(*(subscribed(ann) for _ in range(100)))
    error = await ann.refused("subscribe_memories")
    assert isinstance(error, Invalid)
    assert "100" in error.message
    await subscribed(ben)
    listed = await ann.call("list_subscriptions")
    assert (len(listed["subscriptions"]), listed["total"], listed["hasMore"]) == (100, 100, False)


@behaviour("creo.subscription.permission")
async def test_subscriptions_need_a_key_that_writes_and_is_whole(
    engine: Engine, settings: Settings, ann: Speaker
) -> None:
    reading = await enrolled(engine, settings, "ann", Permission.READ)
    limited = Speaker(engine, settings, ann.actor.within(frozenset()))
    for speaker in (reading, limited):
        for tool, arguments in (
            ("subscribe_memories", {}),
            ("unsubscribe_memories", {"subscriptionId": ABSENT}),
            ("check_notifications", {}),
        ):
            assert isinstance(await speaker.refused(tool, **arguments), Forbidden)
    assert (await reading.call("list_subscriptions"))["total"] == 0
    assert isinstance(await limited.refused("list_subscriptions"), Forbidden)


# unsubscribe_memories, list_subscriptions


@behaviour("creo.subscription.unsubscribe")
async def test_who_unsubscribes_hears_nothing_more(talk: CreoConversation) -> None:
    tag = unique()
    made = await subscribed(talk, filter={"tags": [tag]})
    await talk.remember(tags=[tag])
    for form in (made, made.removeprefix("subscriptions:")):
        if form == made:
            assert await talk.call("unsubscribe_memories", subscriptionId=form) == {
                "subscriptionId": made,
                "deleted": True,
            }
        said = await talk.refused("unsubscribe_memories", subscriptionId=form)
        assert said == f"購読が見つかりません: no subscription '{form}'"
    assert await heard(talk, made) == []
    assert (await talk.invalid("unsubscribe_memories", subscriptionId="x")).startswith("subscriptionId: ")
    assert (await talk.invalid("unsubscribe_memories")) == "subscriptionId: is required"


@behaviour("creo.subscription.own")
async def test_subscriptions_of_others_are_as_unknown_as_those_that_never_were(ann: Speaker, ben: Speaker) -> None:
    made = await subscribed(ann)
    assert (await ben.call("list_subscriptions"))["subscriptions"] == []
    errors = [await ben.refused("unsubscribe_memories", subscriptionId=name) for name in (made, ABSENT)]
    assert [type(error) for error in errors] == [NotFound, NotFound]
    assert [error.message for error in errors] == [f"no subscription {name!r}" for name in (made, ABSENT)]
    assert (await ann.call("list_subscriptions"))["total"] == 1


@behaviour("creo.subscription.list")
async def test_subscriptions_are_listed_the_oldest_first(local: CreoConversation) -> None:
    assert await local.call("list_subscriptions") == {"subscriptions": [], "total": 0, "hasMore": False}
    assert await local.says("list_subscriptions") == "購読は0件あります"
    made = [await subscribed(local, name=f"名前\n{number}") for number in range(25)]
    assert [one["subscriptionId"] for one in (await local.call("list_subscriptions"))["subscriptions"]] == made
    lines = (await local.says("list_subscriptions")).split("\n")
    assert (lines[0], lines[1], lines[-1]) == ("購読は25件あります", f"- 「名前 0」 {made[0]} [mcp]", "… 他5件")


# check_notifications


@behaviour("creo.subscription.check")
async def test_changes_are_fetched_once_the_oldest_first(talk: CreoConversation) -> None:
    tag = unique()
    made = await subscribed(talk, filter={"tags": [tag]})
    kept = await talk.remember("残る\n記憶", tags=[tag, "設計"], category="design")
    gone = await talk.remember(tags=[tag])
    await talk.remember()
    await talk.call("update_memory", id=kept, content="変わった記憶")
    await talk.call("forget", id=gone, confirm=True)
    told = await heard(talk, made, limit=500)
    assert [(one["event"], one["memoryId"]) for one in told] == [
        ("memory:created", kept),
        ("memory:created", gone),
        ("memory:updated", kept),
        ("memory:deleted", gone),
    ]
    assert set(told[0]) == TOLD | {"category", "tags", "excerpt"}
    assert (told[0]["category"], told[0]["tags"], told[0]["excerpt"]) == ("design", [tag, "設計"], "変わった記憶")
    assert set(told[3]) == TOLD
    assert told[0]["actor"].startswith("users:")
    numbers = [one["eventNumber"] for one in told]
    assert numbers == sorted(set(numbers))
    assert await heard(talk, made) == [], "what was fetched is gone"
    await talk.call("unsubscribe_memories", subscriptionId=made)


@behaviour("creo.subscription.words")
async def test_what_is_new_is_said_in_words_too(local: CreoConversation) -> None:
    await subscribed(local)
    assert await local.says("check_notifications") == "🔔 新しい通知はありません"
    first = await local.remember("一行目\n二行目\u202e」")
    for _ in range(24):
        await local.remember()
    lines = (await local.says("check_notifications", limit=22)).split("\n")
    assert lines[0] == "🔔 通知22件（未読の残り3件）"
    assert lines[1] == f"- memory:created {first} 「一行目 二行目』」"
    assert lines[-1] == "… 他2件"


@behaviour("creo.subscription.limit")
async def test_fifty_are_fetched_unless_told_otherwise(local: CreoConversation) -> None:
    await subscribed(local)
    kept = [await local.remember() for _ in range(60)]
    first = await local.call("check_notifications")
    assert (first["count"], first["remaining"], first["hasMore"]) == (50, 10, True)
    rest = await local.call("check_notifications", limit=500)
    assert (rest["count"], rest["remaining"], rest["hasMore"]) == (10, 0, False)
    assert [one["memoryId"] for one in first["notifications"] + rest["notifications"]] == kept
    for limit in (0, 501, "1"):
        assert (await local.invalid("check_notifications", limit=limit)).startswith("limit: ")


@behaviour("creo.subscription.filter")
async def test_category_and_atlas_must_hold_and_any_of_the_tags(ann: Speaker) -> None:
    place = await atlas(ann)
    await subscribed(ann, filter={"category": "design", "atlasId": place, "tags": ["a", "b"]})
    wanted = [
        await ann.remember(category="design", atlasId=place, tags=tags) for tags in (["a"], ["b", "c"], ["a", "b"])
    ]
    await ann.remember(category="debug", atlasId=place, tags=["a"])
    await ann.remember(category="design", tags=["a"])
    await ann.remember(category="design", atlasId=place, tags=["c"])
    told = await ann.call("check_notifications")
    assert [one["memoryId"] for one in told["notifications"]] == wanted


@behaviour("creo.subscription.events")
async def test_only_the_events_asked_for_are_told(ann: Speaker) -> None:
    await subscribed(ann, events=["memory:deleted"])
    memory = await ann.remember()
    await ann.call("update_memory", id=memory, content="changed")
    await ann.call("forget", id=memory, confirm=True)
    told = await ann.call("check_notifications")
    assert [one["event"] for one in told["notifications"]] == ["memory:deleted"]


@behaviour("creo.subscription.once")
async def test_an_event_that_concerns_two_subscriptions_comes_once(ann: Speaker) -> None:
    both = [await subscribed(ann, filter={"tags": [tag]}) for tag in ("a", "b")]
    await ann.remember(tags=["a", "b"])
    told = await ann.call("check_notifications")
    assert [one["subscriptionIds"] for one in told["notifications"]] == [both]
    assert told["remaining"] == 0


@behaviour("creo.subscription.clients")
async def test_two_clients_of_a_user_never_get_the_same(ann: Speaker) -> None:
    await subscribed(ann)
    kept = [await ann.remember() for _ in range(40)]
    answers = await asyncio.gather(*(ann.call("check_notifications", limit=5) for _ in range(8)))
    told = [one["memoryId"] for answer in answers for one in answer["notifications"]]
    assert sorted(told) == sorted(kept)


@behaviour("creo.subscription.channel")
async def test_what_is_pushed_is_not_fetched(ann: Speaker) -> None:
    await subscribed(ann, channel="websocket")
    await ann.remember()
    assert (await ann.call("check_notifications"))["notifications"] == []


@behaviour("creo.subscription.sight")
async def test_nobody_hears_of_what_he_may_not_see(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    for speaker in (ben, admin):
        await subscribed(speaker)
    place = await atlas(ann, ben)
    own = await ann.remember("her own secret")
    seen = await ann.remember("shown", atlasId=place)
    told = await ben.call("check_notifications")
    assert [(one["memoryId"], one["actor"]) for one in told["notifications"]] == [(seen, f"users:{ann.actor.user}")]
    assert own not in str(told)
    assert (await admin.call("check_notifications"))["notifications"] == []


@behaviour("creo.subscription.withdrawn")
async def test_what_was_withdrawn_meanwhile_is_dropped(ann: Speaker, ben: Speaker) -> None:
    await subscribed(ben)
    engine = ann.engine
    made = (await engine.collections.found(ann.actor, Kind.PROJECT, "together")).collection
    await engine.collections.add_member(ann.actor, Kind.PROJECT, made.id, "ben", Right.READ)
    await engine.memories.remember(ann.actor, Draft("shared for a while", home=made.id))
    await engine.collections.remove_member(ann.actor, Kind.PROJECT, made.id, "ben")
    told = await ben.call("check_notifications")
    assert (told["notifications"], told["remaining"]) == ([], 0)


@behaviour("creo.subscription.trace")
async def test_subscribing_leaves_a_trace(ann: Speaker) -> None:
    made = await subscribed(ann)
    await ann.call("unsubscribe_memories", subscriptionId=made)
    trail = await ann.engine.doings.latest(ann.actor, 10)
    noted = [(doing.what, doing.subject) for doing in trail.doings]
    identifier = made.removeprefix("subscriptions:")
    assert noted[:2] == [("subscription removed", identifier), ("subscription created", identifier)]
