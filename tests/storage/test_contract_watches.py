"""What every store promises about wishes to hear of changes, and about who is here: written once, run against each."""

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from commonplace.domain.access import Actor, Permission, Right, reach
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId
from commonplace.domain.memory import Memory
from commonplace.domain.presence import Focus, Presence, Status
from commonplace.domain.team import Role, Team, TeamId
from commonplace.domain.watch import Channel, Notice, Occurrence, Watch, WatchId, Wish
from commonplace.ports import Transaction
from tests.storage.samples import NOW, House, new_id

pytestmark = pytest.mark.anyio

EVERYWHERE = 1_000


async def watch(house: House, owner: UserId | None = None, **wish: Any) -> Watch:
    made = Watch(WatchId(new_id()), owner or house.ada, Wish(**wish), NOW)
    await house.store.write(lambda tx: tx.watches.add(made))
    return made


async def atlas(house: House, owner: UserId | None = None, parent: int | None = None) -> tuple[int, CollectionId]:
    identifier = CollectionId(new_id())
    number = await house.store.write(
        lambda tx: tx.add_collection(identifier, "atlas", "project", "a", owner or house.ada, NOW, parent)
    )
    return number, identifier


async def keep(house: House, content: str, **fields: Any) -> Memory:
    """A memory in any collection."""
    drafted = house.drafted(content, **fields)
    return await house.store.write(lambda tx: house.put(tx, drafted))


async def within(house: House, actor: Actor) -> frozenset[int]:
    return await house.store.read(lambda tx: reach(actor, Right.READ, tx.holdings(actor.user)))


async def happen(
    house: House,
    kind: EventKind,
    memory: Memory,
    at: datetime = NOW,
    *,
    where: int | None = None,
    detail: dict[str, int] | None = None,
) -> int:
    place = memory.home if where is None else where
    happening = Happening(kind, at, house.author(), memory.id, memory.number, place, detail or {})
    return await house.store.write(lambda tx: tx.record(happening))


async def notices(
    house: House, owner: UserId | None = None, channel: Channel = Channel.MCP, after: int = 0, limit: int = 100
) -> list[Notice]:
    everywhere = frozenset(range(EVERYWHERE))
    return list(
        await house.store.read(lambda tx: tx.watches.notices(owner or house.ada, channel, everywhere, limit, after))
    )


async def test_a_watch_is_kept_as_it_was_made(house: House) -> None:
    _, place = await atlas(house)
    full = await watch(
        house,
        name="設計",
        category="design",
        collection=place,
        tags=("é", "b"),
        happenings=(Occurrence.DELETED,),
        channel=Channel.WEBSOCKET,
    )
    bare = await watch(house)
    await watch(house, house.ben)
    assert await house.store.read(lambda tx: tx.watches.of(house.ada)) == [full, bare]


async def test_a_watch_is_removed_by_its_owner_only_and_its_notices_go_along(house: House) -> None:
    made = await watch(house)
    await keep(house, "a text")
    assert len(await notices(house)) == 1
    assert not await house.store.write(lambda tx: tx.watches.remove(house.ben, made.id))
    assert await house.store.write(lambda tx: tx.watches.remove(house.ada, made.id))
    assert not await house.store.write(lambda tx: tx.watches.remove(house.ada, made.id))
    assert await notices(house) == []


async def test_an_event_is_noticed_once_with_every_watch_it_concerns(house: House) -> None:
    first, second = await watch(house), await watch(house)
    await watch(house, channel=Channel.WEBSOCKET)
    memory = await keep(house, "a text")
    (notice,) = await notices(house)
    assert (notice.happening, notice.watches) == (Occurrence.CREATED, (first.id, second.id))
    assert (notice.event.memory, notice.event.collection) == (memory.id, house.home)
    assert len(await notices(house, channel=Channel.WEBSOCKET)) == 1
    assert await notices(house, house.ben) == []


async def test_only_changes_of_the_memory_itself_are_noticed(house: House) -> None:
    memory = await keep(house, "a text")
    await watch(house)
    kinds = [kind for kind in EventKind if kind is not EventKind.REMEMBERED]
    for kind in kinds:
        await happen(house, kind, memory)
    assert [notice.event.kind for notice in await notices(house)] == [
        EventKind.REVISED,
        EventKind.PROMOTED,
        EventKind.EXTENDED,
        EventKind.FORGOTTEN,
        EventKind.EXPIRED,
        EventKind.MOVED,
        EventKind.LABELLED,
    ]


async def test_category_and_place_must_hold_and_any_of_the_tags(house: House) -> None:
    place, identifier = await atlas(house)
    await watch(house, category="design", collection=identifier, tags=("x", "Y"))
    for index, fields in enumerate(
        [
            {"category": "design", "home": place, "tags": ("a", "y")},
            {"category": "design", "home": place, "tags": ("X",)},
            {"category": "other", "home": place, "tags": ("x",)},
            {"category": "design", "home": house.home, "tags": ("x",)},
            {"category": "design", "home": place, "tags": ("z",)},
            {"category": "design", "home": place},
        ]
    ):
        await keep(house, f"text {index}", **fields)
    assert len(await notices(house)) == 2


async def test_a_watch_tells_only_what_it_was_made_for(house: House) -> None:
    memory = await keep(house, "a text")
    await watch(house, happenings=(Occurrence.UPDATED, Occurrence.DELETED))
    for kind in (EventKind.REMEMBERED, EventKind.REVISED, EventKind.FORGOTTEN):
        await happen(house, kind, memory)
    assert [notice.happening for notice in await notices(house)] == [Occurrence.UPDATED, Occurrence.DELETED]


async def test_what_is_below_a_place_belongs_to_it(house: House) -> None:
    top, identifier = await atlas(house)
    middle, _ = await atlas(house, parent=top)
    below, _ = await atlas(house, parent=middle)
    beside, _ = await atlas(house)
    await watch(house, collection=identifier)
    kept = [await keep(house, f"in {place}", home=place) for place in (top, middle, below, beside)]
    assert [notice.event.memory for notice in await notices(house)] == [memory.id for memory in kept[:3]]


async def test_only_those_who_may_read_there_are_told(house: House) -> None:
    for user in (house.ada, house.ben):
        await watch(house, user)
    await keep(house, "of ada")
    await keep(house, "of ben", home=house.elsewhere)
    await keep(house, "of all", home=house.common)
    assert [one.event.collection for one in await notices(house)] == [house.home, house.common]
    assert [one.event.collection for one in await notices(house, house.ben)] == [house.elsewhere, house.common]


async def test_a_grant_is_enough_and_goes_down_the_tree_where_it_is_inherited(house: House) -> None:
    await watch(house, house.ben)
    top, _ = await atlas(house)
    below, _ = await atlas(house, parent=top)
    foreign, _ = await atlas(house, house.ben, parent=top)
    await house.store.write(lambda tx: tx.grant(house.ben, top, Right.READ, house.ada, NOW))
    for place in (top, below, foreign, house.home):
        await keep(house, f"in {place}", home=place)
    assert [one.event.collection for one in await notices(house, house.ben)] == [top, below, foreign]


async def test_what_is_shared_with_a_team_is_told_to_its_members(house: House) -> None:
    await watch(house, house.ben)
    top, _ = await atlas(house)
    below, _ = await atlas(house, parent=top)
    team = Team(TeamId(new_id()), "a team", "", NOW)
    await house.store.write(lambda tx: tx.teams.add(team))
    await house.store.write(lambda tx: tx.teams.grant(team.id, top, Right.READ, False, house.ada, NOW))
    await keep(house, "before ben is in it", home=top)
    await house.store.write(lambda tx: tx.teams.put_mate(team.id, house.ben, Role.MEMBER, house.ada, NOW))
    for place in (top, below):
        await keep(house, f"in {place}", home=place)
    assert [one.event.collection for one in await notices(house, house.ben)] == [top]
    await house.store.write(lambda tx: tx.teams.grant(team.id, top, Right.READ, True, house.ada, NOW))
    await keep(house, "now it goes down", home=below)
    assert [one.event.collection for one in await notices(house, house.ben)] == [top, below]


async def test_the_owner_of_a_place_reads_what_others_have_below_it(house: House) -> None:
    await watch(house)
    top, _ = await atlas(house)
    foreign, _ = await atlas(house, house.ben, parent=top)
    await keep(house, "of ben, below ada's", home=foreign, author=house.author(house.ben))
    assert [one.event.collection for one in await notices(house)] == [foreign]


@pytest.mark.parametrize("seed", range(4))
async def test_those_who_are_told_are_exactly_those_who_may_read(house: House, seed: int) -> None:
    """In any tree of places with any owners, grants and teams."""
    chance = random.Random(seed)
    users = [house.ada, house.ben]
    for user in users:
        await watch(house, user)

    def work(tx: Transaction) -> None:
        teams = [Team(TeamId(new_id()), f"team {number}", "", NOW) for number in range(2)]
        for team in teams:
            tx.teams.add(team)
            tx.teams.put_mate(team.id, chance.choice(users), Role.MEMBER, house.ada, NOW)
        places: list[int] = [house.home, house.elsewhere, house.common]
        for _ in range(12):
            parent = chance.choice([None, *places[3:]])
            owner = chance.choice([*users, None])
            place = tx.add_collection(CollectionId(new_id()), "atlas", "project", "a", owner, NOW, parent)
            places.append(place)
            if chance.random() < 0.4:
                tx.teams.grant(chance.choice(teams).id, place, Right.READ, chance.random() < 0.5, house.ada, NOW)
            if chance.random() < 0.3:
                tx.grant(chance.choice(users), place, Right.WRITE, house.ada, NOW)
        for place in places:
            tx.record(Happening(EventKind.REVISED, NOW, house.author(), MemoryId(new_id()), 1, place))

    await house.store.write(work)
    for user in users:
        actor = Actor(user, "key", frozenset({Permission.READ}), ZoneInfo("UTC"))
        assert {one.event.collection for one in await notices(house, user)} == await within(house, actor)


async def test_a_move_is_told_once_and_to_those_who_cannot_follow_it_where_it_left(house: House) -> None:
    top, identifier = await atlas(house)
    below, _ = await atlas(house, parent=top)
    await house.store.write(lambda tx: tx.grant(house.ben, top, Right.READ, house.ada, NOW))
    memory = await keep(house, "a text", home=top)
    everything = await watch(house)
    tree = await watch(house, collection=identifier)
    await watch(house, house.ben)

    async def move(start: int, end: int) -> None:
        for where in (start, end):
            await happen(house, EventKind.MOVED, memory, where=where, detail={"from": start, "to": end})

    await move(top, below)
    (inside,) = await notices(house)
    assert (inside.event.collection, inside.watches) == (below, (everything.id, tree.id))
    await move(below, house.home)
    left, arrived = (await notices(house))[1:]
    assert (left.event.collection, left.watches) == (below, (tree.id,))
    assert (arrived.event.collection, arrived.watches) == (house.home, (everything.id,))
    assert [one.event.collection for one in await notices(house, house.ben)] == [below, below]


async def test_notices_come_in_order_within_a_limit_and_only_of_these_collections(house: House) -> None:
    await watch(house)
    kept = [await keep(house, f"text {n}", home=house.common if n == 1 else house.home) for n in range(4)]
    first = await notices(house, limit=2)
    assert [one.event.memory for one in first] == [memory.id for memory in kept[:2]]
    rest = await notices(house, after=first[-1].event.number)
    assert [one.event.memory for one in rest] == [memory.id for memory in kept[2:]]
    only = frozenset({house.common})
    read = house.store.read
    seen = await read(lambda tx: tx.watches.notices(house.ada, Channel.MCP, only, 10))
    assert [one.event.memory for one in seen] == [kept[1].id]
    assert await read(lambda tx: tx.watches.count_notices(house.ada, Channel.MCP, only)) == 1
    assert await read(lambda tx: tx.watches.has_notices(house.ada, Channel.MCP, first[-1].event.number))
    assert not await read(lambda tx: tx.watches.has_notices(house.ada, Channel.MCP, rest[-1].event.number))
    assert not await read(lambda tx: tx.watches.has_notices(house.ada, Channel.WEBSOCKET))


async def test_notices_are_dropped_up_to_an_event(house: House) -> None:
    await watch(house)
    await watch(house, channel=Channel.WEBSOCKET)
    for number in range(3):
        await keep(house, f"text {number}")
    second = (await notices(house))[1].event.number
    await house.store.write(lambda tx: tx.watches.drop(house.ada, Channel.MCP, second))
    assert len(await notices(house)) == 1
    assert len(await notices(house, channel=Channel.WEBSOCKET)) == 3


async def test_old_notices_and_the_oldest_of_too_many_are_pruned(house: House) -> None:
    memory = await keep(house, "a text")
    old, many = await watch(house), await watch(house, house.ben, channel=Channel.WEBSOCKET)
    for days in (40, 35, 5):
        await happen(house, EventKind.REVISED, memory, NOW - timedelta(days=days))
    for number in range(6):
        await keep(house, f"of ben {number}", home=house.elsewhere)
    before = NOW - timedelta(days=30)
    assert await house.store.read(lambda tx: tx.watches.overdue(before, 100))
    assert not await house.store.read(lambda tx: tx.watches.overdue(NOW - timedelta(days=50), 6))
    assert await house.store.write(lambda tx: tx.watches.prune(before, 4)) > 0
    assert not await house.store.read(lambda tx: tx.watches.overdue(before, 4))
    (left,) = await notices(house)
    assert (left.event.at, left.watches) == (NOW - timedelta(days=5), (old.id,))
    kept = await notices(house, house.ben, Channel.WEBSOCKET)
    assert [one.watches for one in kept] == [(many.id,)] * 4
    read = house.store.read
    assert await read(lambda tx: tx.watches.pruned(house.ben, Channel.WEBSOCKET)) == kept[0].event.number - 1
    assert await read(lambda tx: tx.watches.pruned(house.ben, Channel.MCP)) == 0


async def test_a_watch_goes_with_the_place_it_is_about(house: House) -> None:
    number, identifier = await atlas(house)
    await watch(house, collection=identifier)
    await happen(house, EventKind.REMEMBERED, await keep(house, "a text", home=house.home), where=number)
    assert len(await notices(house)) == 1
    await house.store.write(lambda tx: tx.collections.remove(number))
    assert await house.store.read(lambda tx: tx.watches.of(house.ada)) == []
    assert await notices(house) == []


# Who is here


def here(user: UserId, connection: str = "one", **fields: Any) -> Presence:
    usual = Presence(connection, user, "shown", Status.ACTIVE, Focus("memory", "memories:x", "設計"), NOW, NOW)
    return replace(usual, **fields)


async def put(house: House, presence: Presence) -> None:
    await house.store.write(lambda tx: tx.attendance.put(presence))


async def test_a_connection_is_kept_as_it_was_put(house: House) -> None:
    await put(house, here(house.ada))
    assert await house.store.read(lambda tx: tx.attendance.get("one")) == here(house.ada)
    assert await house.store.read(lambda tx: tx.attendance.get("other")) is None
    await put(house, here(house.ada, name="", focus=None, status=Status.BUSY))
    found = await house.store.read(lambda tx: tx.attendance.get("one"))
    assert found == here(house.ada, name="ada", focus=None, status=Status.BUSY), "without a name, its user's"


async def test_every_change_but_a_sign_of_life_is_counted(house: House) -> None:
    count = [await house.store.read(lambda tx: tx.attendance.last_change())]
    for presence in (here(house.ada), here(house.ada), here(house.ben, "two")):
        await put(house, presence)
        count.append(await house.store.read(lambda tx: tx.attendance.last_change()))
    assert count == sorted(set(count))
    later = NOW + timedelta(minutes=20)
    await house.store.write(lambda tx: tx.attendance.touch("one", later))
    assert await house.store.read(lambda tx: tx.attendance.last_change()) == count[-1]
    assert await house.store.read(lambda tx: tx.attendance.overdue(NOW))
    assert await house.store.write(lambda tx: tx.attendance.prune(NOW)) == 1
    assert not await house.store.read(lambda tx: tx.attendance.overdue(NOW))
    assert await house.store.read(lambda tx: tx.attendance.last_change()) == count[-1], "it never goes back"


async def test_those_heard_of_lately_are_listed(house: House) -> None:
    for presence in (
        here(house.ben, "late", connected_at=NOW + timedelta(seconds=1)),
        here(house.ada, "early"),
        here(house.ada, "silent", seen_at=NOW - timedelta(hours=1)),
        here(house.ada, "gone", status=Status.GONE),
    ):
        await put(house, presence)
    since = NOW - timedelta(minutes=10)
    assert [p.connection for p in await house.store.read(lambda tx: tx.attendance.since(since))] == ["early", "late"]
    of_ben = await house.store.read(lambda tx: tx.attendance.since(since, house.ben))
    assert [p.connection for p in of_ben] == ["late"]


async def test_teammates_are_those_in_a_team_together(house: House) -> None:
    team = Team(TeamId(new_id()), "a team", "", NOW)

    def work(tx: Transaction) -> None:
        tx.teams.add(team)
        for user in (house.ada, house.ben):
            tx.teams.put_mate(team.id, user, Role.MEMBER, house.ada, NOW)

    assert await house.store.read(lambda tx: tx.attendance.teammates(house.ada)) == frozenset()
    await house.store.write(work)
    assert await house.store.read(lambda tx: tx.attendance.teammates(house.ada)) >= {house.ben}
