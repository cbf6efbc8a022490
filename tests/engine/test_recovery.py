"""A part of a backup is put back: what is missing or changed comes back, what is newer stays, all of it or nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Right
from commonplace.domain.backup import Part
from commonplace.domain.collection import SESSION_LENGTH, Kind
from commonplace.domain.errors import Forbidden, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.engine.test_collections import at, keep, project, user
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

RICH = Draft(
    "東京の灰色の猫は夜に歩く",
    tags=("動物", "夜"),
    keywords=("猫",),
    category="観察",
    importance=0.75,
    metadata={"出典": ["日記", None]},
    content_type="markdown",
)


@dataclass(frozen=True)
class Back:
    """How many were put back, or given back what they were."""

    memories: int = 0
    projects: int = 0
    sessions: int = 0
    associations: int = 0


async def put_back(engine: Engine, actor: Actor, *kinds: str, name: str = "first") -> Back:
    done = await engine.backups.restore(actor, name, kinds)
    assert done.includes == kinds
    assert done.recovered is not None
    assert (await engine.chain.verify(actor)).valid
    assert [file.name for file in Path(engine.backups.location).iterdir() if file.name.startswith(".")] == []
    return Back(*(done.recovered.restored(part) for part in Part))


async def texts(engine: Engine, actor: Actor) -> list[str]:
    return sorted(memory.content for memory in (await engine.memories.page(actor, 1000)).memories)


async def found(engine: Engine, actor: Actor, text: str) -> Memory:
    (memory,) = [one for one in (await engine.memories.page(actor, 1000)).memories if one.content == text]
    return memory


async def ties(engine: Engine) -> set[tuple[str, str, str]]:
    links = await engine.store.read(lambda tx: tx.links.leaving(range(1000)))
    return {(link.source, link.target, link.kind.value) for link in links}


@asynccontextmanager
async def house(folder: Path, clock: Clock, **settings: object) -> AsyncIterator[tuple[Engine, Actor]]:
    """Another process, or with another folder another house."""
    chosen = Settings(data_dir=str(folder), timezone="Asia/Seoul", **settings)  # type: ignore[arg-type]
    engine = build(chosen, model=Embedder(), clock=clock, zone=ZoneInfo("Asia/Seoul"))
    try:
        yield engine, (await engine.access.local_owner()).through("test")
    finally:
        await engine.close()


# Memories


async def test_what_was_erased_comes_back_with_all_it_had(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await engine.memories.remember(owner, RICH)
    await engine.recall.recall(owner, Question("灰色の猫"))
    await engine.recall.flush_uses()
    before = await engine.memories.get(owner, at(memory))
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    clock.advance(timedelta(days=2))
    newer = await keep(engine, owner, "newer")
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    back = await engine.memories.get(owner, at(memory))
    assert back == replace(before, number=back.number, block=newer.block + 1 if newer.block else None)
    assert back.uses == 1
    hits = (await engine.recall.recall(owner, Question("灰色の猫"))).hits
    assert hits[0].memory.id == back.id
    assert (await engine.memories.get(owner, at(newer))).content == "newer"


async def test_the_same_restore_a_second_time_adds_nothing(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, RICH)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    back = await found(engine, owner, RICH.content)
    assert await put_back(engine, owner, "memories", "associations") == Back()
    assert await found(engine, owner, RICH.content) == back


async def test_what_came_back_and_was_changed_gets_its_fields_back_again(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, RICH)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    await put_back(engine, owner, "memories")
    back = await found(engine, owner, RICH.content)
    await engine.memories.revise(owner, at(back), Change(metadata={}, tags=()))
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    again = await engine.memories.get(owner, at(back))
    assert (again.tags, again.metadata, again.version) == (RICH.tags, dict(RICH.metadata), 3)
    assert await put_back(engine, owner, "memories") == Back()


async def test_a_memory_keeps_its_id_however_often_it_goes_and_comes_back(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, RICH)
    await engine.backups.create(owner, "first")
    for number, name in enumerate(("first", "second", "first"), 1):
        await engine.memories.forget(owner, at(memory))
        assert await put_back(engine, owner, "memories", name=name) == Back(memories=1)
        assert (await engine.memories.get(owner, at(memory))).block == number
        if name == "first":
            await engine.backups.create(owner, "second" if number == 1 else "third")
    for name in ("first", "second", "third"):
        assert await put_back(engine, owner, "memories", name=name) == Back()
    blocks = [await engine.chain.block(owner, index) for index in range(4)]
    assert [(block.memory, block.erased_at is None) for block in blocks if block] == [
        (memory.id, False), (memory.id, False), (memory.id, False), (memory.id, True)
    ]  # fmt: skip
    assert (await engine.memories.get(owner, Reference(block=0))).id == memory.id
    await engine.backups.restore(owner, "first")
    assert (await engine.memories.get(owner, at(memory))).block == 0
    assert await put_back(engine, owner, "memories", name="third") == Back()


async def test_what_was_sealed_when_it_was_erased_is_sealed_when_it_comes_back_with_an_end(
    engine: Engine, owner: Actor
) -> None:
    memory = await engine.memories.remember(owner, Draft("one", ttl=timedelta(days=1)))
    await engine.backups.create(owner, "first")
    await engine.memories.set_end(owner, at(memory), None)
    await engine.memories.forget(owner, at(memory))
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    back = await engine.memories.get(owner, at(memory))
    assert (back.ephemeral, back.block) == (memory.ephemeral, 1)


async def test_what_was_changed_gets_its_fields_back_as_a_new_version(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    changed = await engine.memories.remember(anna, RICH)
    same = await keep(engine, anna, "the same")
    await engine.backups.create(owner, "first")
    later = Change("もっと新しい文章", (), ("x",), "", 0.1, {"b": 1}, "text")
    await engine.memories.revise(anna, at(changed), later)
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    now = await engine.memories.get(anna, at(changed))
    assert (
        Draft(now.content, now.tags, now.keywords, now.category, now.importance, now.metadata, now.content_type) == RICH
    )
    assert (now.version, now.author.user, now.reviser) == (3, anna.user, owner.author)
    assert (await engine.memories.history(anna, at(changed)))[1].content == "もっと新しい文章"
    assert (await engine.memories.get(anna, at(same))).version == 1
    assert (await engine.recall.recall(anna, Question("灰色の猫"))).hits[0].memory.id == changed.id
    await engine.history.restore(anna, at(changed), 2)
    assert (await engine.memories.get(anna, at(changed))).content == "もっと新しい文章"


async def test_a_change_that_leaves_the_text_alone_embeds_nothing(
    engine: Engine, owner: Actor, embedder: Embedder
) -> None:
    memory = await engine.memories.remember(owner, RICH)
    gone = await keep(engine, owner, "gone with its vector")
    vector = await engine.memories.embedding_of(owner, at(gone))
    await engine.backups.create(owner, "first")
    await engine.memories.revise(owner, at(memory), Change(importance=0.1))
    await engine.memories.forget(owner, at(gone))
    embedder.batches.clear()
    assert await put_back(engine, owner, "memories") == Back(memories=2)
    assert embedder.batches == []
    assert (await engine.upkeep.statistics()).unembedded == 0
    back = await found(engine, owner, "gone with its vector")
    assert await engine.memories.embedding_of(owner, at(back)) == vector


async def test_vectors_of_another_embedder_are_made_anew_or_later(
    engine: Engine, owner: Actor, folder: Path, clock: Clock
) -> None:
    memory = await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(memory))
    model = Embedder("another", 32)
    model.broken = "out of order"
    other = build(Settings(data_dir=str(folder)), model=model, clock=clock, zone=ZoneInfo("UTC"))
    assert await put_back(other, owner, "memories") == Back(memories=1)
    assert (await other.upkeep.statistics()).unembedded == 1
    model.broken = ""
    other.embedding.forgive()
    assert await other.upkeep.embed_missing() == 1
    assert len(await other.memories.embedding_of(owner, at(await found(other, owner, "one")))) == 32
    await other.close()


async def test_what_ends_comes_back_with_the_time_it_has_left_and_under_its_id(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    short = await engine.memories.remember(owner, Draft("short", ttl=timedelta(hours=1)))
    long = await engine.memories.remember(owner, Draft("long", ttl=timedelta(days=3)))
    for memory in (short, long):
        await engine.memories.set_end(owner, at(memory), memory.ephemeral.ttl if memory.ephemeral else None)
    await engine.backups.create(owner, "first")
    for memory in (short, long):
        await engine.memories.forget(owner, at(memory))
    clock.advance(timedelta(hours=2))
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    back = await engine.memories.get(owner, at(long))
    assert (back.ephemeral, back.block, dict(back.metadata)) == (long.ephemeral, None, {})
    assert await texts(engine, owner) == ["long"]
    clock.advance(timedelta(days=3))
    assert await engine.memories.sweep() == 1


async def test_what_stayed_there_and_has_ended_here_comes_back_once(engine: Engine, owner: Actor, clock: Clock) -> None:
    memory = await keep(engine, owner, "one")
    await engine.backups.create(owner, "first")
    for sweep_first in (False, True):
        await engine.memories.set_end(owner, at(memory), timedelta(hours=1))
        clock.advance(timedelta(hours=2))
        assert await engine.memories.sweep() == 1 if sweep_first else True
        assert await put_back(engine, owner, "memories") == Back(memories=1)
        assert await put_back(engine, owner, "memories") == Back()
        assert await engine.memories.sweep() == 0
        back = await engine.memories.get(owner, at(memory))
        assert (back.content, back.ephemeral) == ("one", None)
    assert await texts(engine, owner) == ["one"]


async def test_memories_of_all_users_come_back_where_they_were(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    hers = await keep(engine, anna, "hers")
    ours = await keep(engine, bert, "ours", home)
    everyones = await keep(engine, owner, "everyone's", await engine.collections.everyones())
    await engine.backups.create(owner, "first")
    for actor, memory in ((anna, hers), (bert, ours), (owner, everyones)):
        await engine.memories.forget(actor, at(memory))
    assert await put_back(engine, owner, "memories") == Back(memories=3)
    assert await texts(engine, anna) == ["everyone's", "hers", "ours"]
    assert await texts(engine, bert) == ["everyone's", "ours"]
    assert await texts(engine, owner) == ["everyone's"]
    assert (await found(engine, anna, "ours")).collection == home
    assert (await found(engine, anna, "ours")).author == ours.author


async def test_where_the_place_is_gone_it_is_the_authors_own(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    ours = await keep(engine, bert, "ours", home)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(bert, at(ours))
    await engine.collections.dissolve(anna, Kind.PROJECT, home)
    assert await put_back(engine, owner, "memories") == Back(memories=1)
    assert (await found(engine, bert, "ours")).domain == "user"
    assert await texts(engine, anna) == []
    # The project comes back later; what is somewhere else by now stays there.
    assert await put_back(engine, owner, "memories", "projects") == Back(projects=1)
    assert await texts(engine, anna) == []


async def test_a_backup_of_another_house_is_the_callers(
    engine: Engine, owner: Actor, clock: Clock, tmp_path: Path
) -> None:
    anna = await user(engine, "anna")
    home = await project(engine, anna, owner=Right.READ)
    first, second = await keep(engine, anna, "hers"), await keep(engine, anna, "ours", home)
    await engine.links.connect(anna, at(first), at(second))
    await keep(engine, owner, "everyone's", await engine.collections.everyones())
    await engine.backups.create(owner, "first")
    async with house(tmp_path / "elsewhere", clock, backup_dir=engine.backups.location) as (other, caller):
        kinds = ("memories", "projects", "associations")
        assert await put_back(other, caller, *kinds) == Back(memories=3, projects=1, associations=1)
        back = await found(other, caller, "hers")
        assert (back.id, back.author.user, back.domain) == (first.id, caller.user, "user")
        assert back.metadata == {"imported_author": "anna"}
        assert (await found(other, caller, "everyone's")).domain == "global"
        standing = await other.collections.get(caller, Kind.PROJECT, home)
        assert (standing.collection.owner, standing.members, standing.memories) == (caller.user, 1, 1)
        assert await put_back(other, caller, *kinds) == Back()
        await other.collections.dissolve(caller, Kind.PROJECT, home)
        assert (await found(other, caller, "ours")).domain == "user"


# Projects and sessions


async def test_a_project_comes_back_with_its_members_and_its_memories(engine: Engine, owner: Actor) -> None:
    anna, bert, carla = [await user(engine, name) for name in ("anna", "bert", "carla")]
    home = await project(engine, anna, bert=Right.WRITE, carla=Right.READ)
    before = await engine.collections.get(anna, Kind.PROJECT, home)
    members = await engine.collections.members(anna, Kind.PROJECT, home)
    await keep(engine, bert, "ours", home)
    await engine.backups.create(owner, "first")
    await engine.memories.forget(bert, at(await found(engine, bert, "ours")))
    await engine.collections.dissolve(anna, Kind.PROJECT, home)
    assert await put_back(engine, owner, "memories", "projects") == Back(memories=1, projects=1)
    after = await engine.collections.get(anna, Kind.PROJECT, home)
    assert after.collection == replace(before.collection, number=after.collection.number)
    assert await engine.collections.members(anna, Kind.PROJECT, home) == members
    assert await texts(engine, carla) == ["ours"]
    assert [p.collection.id for p in await engine.collections.all(owner, Kind.PROJECT)] == []
    with pytest.raises(Forbidden):
        await keep(engine, carla, "not hers to write", home)


async def test_a_project_that_is_here_stays_as_it_is(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    await engine.backups.create(owner, "first")
    await engine.collections.describe(anna, Kind.PROJECT, home, "new name", "new words")
    await engine.collections.remove_member(anna, Kind.PROJECT, home, "bert")
    later = await project(engine, anna)
    assert await put_back(engine, owner, "projects", "sessions") == Back()
    standing = await engine.collections.get(anna, Kind.PROJECT, home)
    assert (standing.collection.name, standing.collection.description, standing.members) == ("new name", "new words", 1)
    assert await engine.collections.get(anna, Kind.PROJECT, later)
    with pytest.raises(NotFound):
        await engine.collections.get(bert, Kind.PROJECT, home)


async def session(engine: Engine, actor: Actor, name: str, length: timedelta = SESSION_LENGTH) -> CollectionId:
    return (await engine.collections.found(actor, Kind.SESSION, name, "夜話", length=length)).collection.id


async def test_a_session_comes_back_unless_its_time_is_over(engine: Engine, owner: Actor, clock: Clock) -> None:
    short, long = await session(engine, owner, "short", timedelta(hours=1)), await session(engine, owner, "long")
    for place, text in ((short, "at once"), (long, "tonight")):
        await engine.memories.remember(owner, Draft(text, home=place, ttl=timedelta(hours=20)))
    await engine.backups.create(owner, "first")
    for place in (short, long):
        await engine.collections.end_session(owner, place)
    clock.advance(timedelta(hours=2))
    assert await put_back(engine, owner, "projects") == Back()
    assert await put_back(engine, owner, "memories") == Back()
    assert await put_back(engine, owner, "memories", "sessions") == Back(memories=1, sessions=1)
    (standing,) = await engine.collections.all(owner, Kind.SESSION)
    assert (standing.collection.name, standing.collection.description, standing.memories) == ("long", "夜話", 1)
    assert await texts(engine, owner) == ["tonight"]
    clock.advance(SESSION_LENGTH)
    await engine.collections.sweep()
    await engine.memories.sweep()
    assert await texts(engine, owner) == []


# Associations


async def test_associations_come_back_between_what_is_here(engine: Engine, owner: Actor) -> None:
    one, two, three = [await keep(engine, owner, text) for text in ("one", "two", "three")]
    for first, second, strength in ((one, two, 0.25), (two, three, 0.5), (three, one, 1.0)):
        await engine.links.connect(owner, at(first), at(second), strength)
    await engine.backups.create(owner, "first")
    await engine.links.disconnect(owner, at(one), at(two))
    await engine.memories.forget(owner, at(three))
    newer = await keep(engine, owner, "newer")
    await engine.links.connect(owner, at(newer), at(one))
    assert await put_back(engine, owner, "associations") == Back(associations=1)
    assert await ties(engine) == {(one.id, two.id, "manual"), (newer.id, one.id, "manual")}
    (tie,) = [tie for tie in await engine.links.of(owner, at(one)) if tie.other == two.number]
    assert tie.strength == 0.25
    assert await put_back(engine, owner, "associations") == Back()


async def test_associations_of_what_comes_back_lead_to_it_again(engine: Engine, owner: Actor) -> None:
    one, two, three = [await keep(engine, owner, text) for text in ("one", "two", "three")]
    for first, second in ((one, two), (two, three), (three, one)):
        await engine.links.connect(owner, at(first), at(second))
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(one))
    await engine.memories.forget(owner, at(two))
    assert await put_back(engine, owner, "memories") == Back(memories=2)
    assert await ties(engine) == set()
    assert await put_back(engine, owner, "associations") == Back(associations=3)
    assert await ties(engine) == {
        (one.id, two.id, "manual"),
        (two.id, three.id, "manual"),
        (three.id, one.id, "manual"),
    }
    await engine.memories.forget(owner, at(one))
    assert await put_back(engine, owner, "memories", "associations") == Back(memories=1, associations=2)
    assert await put_back(engine, owner, "memories", "associations") == Back()


# Who hears of it


async def test_other_processes_and_those_who_follow_hear_of_it(
    engine: Engine, owner: Actor, folder: Path, clock: Clock
) -> None:
    gone, changed = await keep(engine, owner, "the lighthouse keeper"), await keep(engine, owner, "a calm sea")
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(gone))
    await engine.memories.revise(owner, at(changed), Change("a storm"))
    async with house(folder, clock) as (other, _):
        assert (await other.recall.recall(owner, Question("lighthouse keeper"))).hits[0].memory.content == "a storm"
        last = await engine.events.last()
        await put_back(engine, owner, "memories")
        hits = (await other.recall.recall(owner, Question("lighthouse keeper"))).hits
        assert hits[0].memory.content == "the lighthouse keeper"
        assert (await other.recall.recall(owner, Question("calm sea"))).hits[0].memory.id == changed.id
    events = await engine.store.read(lambda tx: tx.events(last, 10))
    assert [event.kind for event in events] == [EventKind.REMEMBERED, EventKind.REVISED]
    assert {event.by for event in events} == {owner.author}


async def test_what_was_imported_and_came_back_is_not_imported_again(engine: Engine, owner: Actor) -> None:
    memory = await keep(engine, owner, "one")
    bundle, _ = await engine.archive.bundle(owner)
    await engine.memories.forget(owner, at(memory))
    assert (await engine.archive.bring(owner, bundle)).imported == 1
    await engine.backups.create(owner, "first")
    await engine.memories.forget(owner, at(await found(engine, owner, "one")))
    await put_back(engine, owner, "memories")
    assert (await engine.archive.bring(owner, bundle)).imported == 0
    assert await texts(engine, owner) == ["one"]
