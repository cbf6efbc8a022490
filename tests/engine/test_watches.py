"""Wishes to hear of changes: who is told what, once, and only what he may see."""

import asyncio
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Draft
from commonplace.domain.watch import Channel, Occurrence, WatchId, Wish
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.watches import Taken
from commonplace.ports import Transaction
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder
from tests.storage.peer import peers

pytestmark = pytest.mark.anyio

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
async def ann(engine: Engine) -> Actor:
    return await user(engine, "ann")


@pytest.fixture
async def ben(engine: Engine) -> Actor:
    return await user(engine, "ben")


async def user(engine: Engine, name: str, *permissions: Permission) -> Actor:
    allowed = frozenset(permissions or (Permission.READ, Permission.WRITE))
    made = await engine.access.create_key(f"{name} {len(await engine.access.keys())}", allowed, user=name)
    return (await engine.access.authenticate(made.key)).through("test", f"session of {name}")


async def project(engine: Engine, owner: Actor, **members: Right) -> CollectionId:
    made = (await engine.collections.found(owner, Kind.PROJECT, "together")).collection
    for name, right in members.items():
        await engine.collections.add_member(owner, Kind.PROJECT, made.id, name, right)
    return made.id


async def atlas(engine: Engine, owner: Actor, *readers: Actor) -> CollectionId:
    made = (await engine.collections.found(owner, Kind.ATLAS, "a tree")).collection

    def work(tx: Transaction) -> None:
        for reader in readers:
            tx.grant(reader.user, made.number, Right.READ, owner.user, engine.clock.now())

    await engine.store.write(work)
    return made.id


def kinds(taken: Taken) -> list[tuple[str, str]]:
    return [(one.notice.happening.value, one.memory.content if one.memory else "") for one in taken.news]


async def test_every_change_is_told_in_order_with_what_is_there_now(engine: Engine, ann: Actor) -> None:
    watch = await engine.watches.add(ann, Wish(name=" 設計 "))
    assert watch.wish.name == "設計"
    first = await engine.memories.remember(ann, Draft("first"))
    second = await engine.memories.remember(ann, Draft("second"))
    await engine.memories.revise(ann, Reference(first.id), Change(content="changed"))
    await engine.memories.forget(ann, Reference(second.id))
    taken = await engine.watches.take(ann, 50)
    assert kinds(taken) == [("created", "changed"), ("created", ""), ("updated", "changed"), ("deleted", "")]
    assert [one.notice.watches for one in taken.news] == [(watch.id,)] * 4
    assert taken.remaining == 0
    assert (await engine.watches.take(ann, 50)).news == ()


async def test_what_was_before_a_watch_is_not_told(engine: Engine, ann: Actor) -> None:
    await engine.memories.remember(ann, Draft("before"))
    await engine.watches.add(ann, Wish())
    assert (await engine.watches.take(ann, 50)).news == ()


async def test_some_at_a_time_and_what_is_left_is_counted(engine: Engine, ann: Actor) -> None:
    await engine.watches.add(ann, Wish())
    for number in range(7):
        await engine.memories.remember(ann, Draft(f"text {number}"))
    seen: list[str] = []
    for left in (4, 1, 0):
        taken = await engine.watches.take(ann, 3)
        seen += [text for _, text in kinds(taken)]
        assert taken.remaining == left
    assert seen == [f"text {number}" for number in range(7)]
    for limit in (0, 501):
        with pytest.raises(Invalid):
            await engine.watches.take(ann, limit)


async def test_others_are_told_only_where_they_may_read(engine: Engine, ann: Actor, ben: Actor) -> None:
    await engine.watches.add(ben, Wish())
    shared = await project(engine, ann, ben=Right.READ)
    await engine.memories.remember(ann, Draft("her own"))
    await engine.memories.remember(ann, Draft("shared", home=shared))
    assert kinds(await engine.watches.take(ben, 50)) == [("created", "shared")]


async def test_what_may_no_longer_be_seen_is_dropped_and_never_shown(engine: Engine, ann: Actor, ben: Actor) -> None:
    await engine.watches.add(ben, Wish())
    shared = await project(engine, ann, ben=Right.READ)
    await engine.memories.remember(ann, Draft("shared for a while", home=shared))
    await engine.memories.remember(ben, Draft("his own"))
    await engine.collections.remove_member(ann, Kind.PROJECT, shared, "ben")
    taken = await engine.watches.take(ben, 1)
    assert (kinds(taken), taken.remaining) == ([("created", "his own")], 0)
    await engine.collections.add_member(ann, Kind.PROJECT, shared, "ben", Right.READ)
    assert (await engine.watches.take(ben, 50)).news == (), "it does not come back with the right"


async def test_a_memory_that_cannot_be_seen_any_more_is_told_without_its_contents(
    engine: Engine, ann: Actor, ben: Actor
) -> None:
    await engine.watches.add(ben, Wish())
    shared = await project(engine, ann, ben=Right.READ)
    memory = await engine.memories.remember(ann, Draft("a secret later", home=shared))
    await engine.collections.move(ann, [Reference(memory.id)], None)
    assert kinds(await engine.watches.take(ben, 50)) == [("created", ""), ("updated", "")]


async def test_an_atlas_is_watched_by_those_who_may_read_it(engine: Engine, ann: Actor, ben: Actor) -> None:
    open_to_ben, closed = await atlas(engine, ann, ben), await atlas(engine, ann)
    watch = await engine.watches.add(ben, Wish(collection=open_to_ben))
    assert watch.wish.collection == open_to_ben
    elsewhere = await project(engine, ben)
    for refused in (closed, CollectionId(ABSENT), elsewhere):
        with pytest.raises(NotFound) as caught:
            await engine.watches.add(ben, Wish(collection=refused))
        assert caught.value.message == f"no atlas {refused!r}"
    await engine.memories.remember(ann, Draft("in it", home=open_to_ben))
    await engine.memories.remember(ben, Draft("not in it"))
    assert kinds(await engine.watches.take(ben, 50)) == [("created", "in it")]


async def test_a_wish_must_make_sense(engine: Engine, ann: Actor) -> None:
    for wish in (
        Wish(happenings=()),
        Wish(tags=("",)),
        Wish(tags=tuple(map(str, range(21)))),
        Wish(category="x" * 201),
        Wish(name="a\x00b"),
        Wish(name="\ud800"),
    ):
        with pytest.raises(Invalid):
            await engine.watches.add(ann, wish)
    odd = Wish(happenings=(Occurrence.DELETED, Occurrence.CREATED, Occurrence.DELETED), tags=("é", "é"))
    made = await engine.watches.add(ann, odd)
    assert made.wish.happenings == (Occurrence.CREATED, Occurrence.DELETED)
    assert made.wish.tags == ("é",)


async def test_a_user_has_a_hundred_watches_at_most(engine: Engine, ann: Actor, ben: Actor) -> None:
    await asyncio.gather(*(engine.watches.add(ann, Wish()) for _ in range(100)))
    with pytest.raises(Invalid):
        await engine.watches.add(ann, Wish())
    await engine.watches.add(ben, Wish())
    first = (await engine.watches.all(ann))[0]
    await engine.watches.remove(ann, first.id)
    await engine.watches.add(ann, Wish())


async def test_watches_are_a_users_own(engine: Engine, ann: Actor, ben: Actor) -> None:
    watch = await engine.watches.add(ann, Wish())
    assert await engine.watches.all(ann) == [watch]
    assert await engine.watches.all(ben) == []
    messages = []
    for actor, name in ((ben, watch.id), (ann, WatchId(ABSENT))):
        with pytest.raises(NotFound) as caught:
            await engine.watches.remove(actor, name)
        messages.append(caught.value.message.replace(name, ""))
    assert len(set(messages)) == 1
    assert await engine.watches.remove(ann, watch.id) == watch


async def test_a_limited_key_and_one_that_only_reads_change_nothing(engine: Engine, ann: Actor) -> None:
    limited = ann.within(frozenset({await project(engine, ann)}))
    reading = await user(engine, "ann", Permission.READ)
    await engine.watches.add(ann, Wish())
    for actor in (limited, reading):
        with pytest.raises(Forbidden):
            await engine.watches.add(actor, Wish())
        with pytest.raises(Forbidden):
            await engine.watches.remove(actor, WatchId(ABSENT))
        with pytest.raises(Forbidden):
            await engine.watches.take(actor, 50)
    with pytest.raises(Forbidden):
        await engine.watches.all(limited)
    assert len(await engine.watches.all(reading)) == 1


# Once


async def test_each_notice_is_taken_once_by_two_engines_on_one_folder_at_once(
    folder: Path, engine: Engine, ann: Actor, clock: Clock
) -> None:
    await engine.watches.add(ann, Wish())
    for number in range(120):
        await engine.memories.remember(ann, Draft(f"text {number}"))
    settings = Settings(data_dir=str(folder))
    other = build(settings, model=Embedder(), clock=clock, zone=ZoneInfo("UTC"))
    try:

        async def drain(one: Engine) -> list[str]:
            found: list[str] = []
            while news := (await one.watches.take(ann, 7)).news:
                found += [each.notice.event.memory for each in news]
            return found

        found = await asyncio.gather(*(drain(one) for one in (engine, other) for _ in range(3)))
    finally:
        await other.close()
    everything = [memory for part in found for memory in part]
    assert len(everything) == len(set(everything)) == 120
    assert sum(1 for part in found if part) > 1, "several of them took part"


async def test_each_notice_is_taken_once_by_several_processes(folder: Path, engine: Engine, owner: Actor) -> None:
    await engine.watches.add(owner, Wish())
    for number in range(90):
        await engine.memories.remember(owner, Draft(f"text {number}"))
    with peers(folder, "one", "two", "three") as clients:
        for client in clients:
            client.tell("drain", 4)
        answers = [client.answer() for client in clients]
    taken = [number for answer in answers if isinstance(answer, list) for number in answer]
    assert len(taken) == len(set(taken)) == 90


# Being told


async def test_a_listener_hears_from_any_event_on_and_nothing_is_taken(engine: Engine, ann: Actor) -> None:
    await engine.watches.add(ann, Wish(channel=Channel.WEBSOCKET))
    start = await engine.events.last()
    for number in range(5):
        await engine.memories.remember(ann, Draft(f"text {number}"))
    for _ in range(2):
        first = (await engine.watches.told([(ann, start)], 2))[ann.user, start]
        assert (len(first.news), first.more, first.complete) == (2, True, True)
        rest = (await engine.watches.told([(ann, first.through)], 10))[ann.user, first.through]
        assert (len(rest.news), rest.more) == (3, False)
        assert rest.through == await engine.events.last()
    ahead = rest.through + 10
    assert not (await engine.watches.told([(ann, ahead)], 10))[ann.user, ahead].complete


async def test_old_notices_are_pruned_and_a_listener_is_told_that_some_are_missing(
    engine: Engine, ann: Actor, clock: Clock
) -> None:
    for channel in Channel:
        await engine.watches.add(ann, Wish(channel=channel))
    start = await engine.events.last()
    await engine.memories.remember(ann, Draft("old"))
    clock.advance(timedelta(days=31))
    await engine.memories.remember(ann, Draft("new"))
    assert await engine.watches.prune() == 2
    assert await engine.watches.prune() == 0, "not again at once"
    stretch = (await engine.watches.told([(ann, start)], 10))[ann.user, start]
    assert ([one.memory.content for one in stretch.news if one.memory], stretch.complete) == (["new"], False)
    assert (await engine.watches.told([(ann, start + 1)], 10))[ann.user, start + 1].complete
    assert kinds(await engine.watches.take(ann, 50)) == [("created", "new")]


async def test_upkeep_prunes(engine: Engine, ann: Actor, clock: Clock) -> None:
    await engine.watches.add(ann, Wish())
    await engine.memories.remember(ann, Draft("old"))
    clock.advance(timedelta(days=31))
    await engine.upkeep.once()
    assert (await engine.watches.take(ann, 50)).news == ()


async def test_what_ends_by_itself_is_told_when_it_is_removed(engine: Engine, ann: Actor, clock: Clock) -> None:
    await engine.watches.add(ann, Wish(happenings=(Occurrence.DELETED,)))
    await engine.memories.remember(ann, Draft("for a minute", ttl=timedelta(seconds=60)))
    clock.advance(timedelta(seconds=61))
    await engine.memories.sweep()
    assert kinds(await engine.watches.take(ann, 50)) == [("deleted", "")]
