import asyncio
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import SESSION_LENGTH, Kind, Scope
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CollectionId, MemoryId
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

ABSENT = CollectionId("01890a5d-ac96-774b-bcce-b302099a8057")
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


async def user(engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key of {name}", permissions, user=name)
    return (await engine.access.authenticate(made.key)).through("test")


async def project(engine: Engine, founder: Actor, **members: Right) -> CollectionId:
    made = await engine.collections.found(founder, Kind.PROJECT, "a project", "of ours")
    for name, right in members.items():
        await engine.collections.add_member(founder, Kind.PROJECT, made.collection.id, name, right)
    return made.collection.id


async def keep(engine: Engine, actor: Actor, text: str, home: CollectionId | None = None) -> Memory:
    return await engine.memories.remember(actor, Draft(text, home=home))


def at(memory: Memory) -> Reference:
    return Reference(id=memory.id)


async def test_a_limited_key_founds_nothing(engine: Engine, owner: Actor) -> None:
    limited = owner.within(frozenset({await project(engine, owner)}))
    for kind in (Kind.PROJECT, Kind.SESSION):
        with pytest.raises(Forbidden):
            await engine.collections.found(limited, kind, "x")


async def test_a_founder_may_do_everything_with_what_it_founded(engine: Engine) -> None:
    anna = await user(engine, "anna")
    standing = await engine.collections.found(anna, Kind.PROJECT, " e\u0301tude ", " why ")
    assert (standing.collection.name, standing.collection.description) == ("étude", "why")
    assert (standing.right, standing.members, standing.memories) == (Right.ADMIN, 1, 0)
    assert (await engine.collections.get(anna, Kind.PROJECT, standing.collection.id)) == standing


async def test_names_and_descriptions_are_checked(engine: Engine, owner: Actor) -> None:
    for name, description in ((" ", ""), ("x" * 201, ""), ("\x00", ""), ("x", "\ud800"), ("x", "x" * 4001)):
        with pytest.raises(Invalid):
            await engine.collections.found(owner, Kind.PROJECT, name, description)
    assert await engine.collections.all(owner, Kind.PROJECT) == []


async def test_a_project_is_the_members_and_nobody_elses(engine: Engine, owner: Actor) -> None:
    anna, bert, carla = [await user(engine, name) for name in ("anna", "bert", "carla")]
    home = await project(engine, anna, bert=Right.WRITE, carla=Right.READ)
    memory = await keep(engine, bert, "shared", home)
    for actor in (anna, bert, carla):
        assert (await engine.memories.get(actor, at(memory))).content == "shared"
    for stranger in (owner, await user(engine, "dora")):
        with pytest.raises(NotFound):
            await engine.memories.get(stranger, at(memory))
        with pytest.raises(NotFound):
            await engine.collections.get(stranger, Kind.PROJECT, home)
    with pytest.raises(Forbidden):
        await keep(engine, carla, "not hers to write", home)


async def test_only_the_owner_decides_who_is_in_and_everyone_may_leave(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    await user(engine, "carla")
    home = await project(engine, anna, bert=Right.WRITE)
    with pytest.raises(Forbidden):
        await engine.collections.add_member(bert, Kind.PROJECT, home, "carla", Right.READ)
    with pytest.raises(AlreadyExists):
        await engine.collections.add_member(anna, Kind.PROJECT, home, "bert", Right.READ)
    with pytest.raises(Invalid):
        await engine.collections.remove_member(bert, Kind.PROJECT, home, "anna")
    await engine.collections.remove_member(bert, Kind.PROJECT, home, "bert")
    with pytest.raises(NotFound):
        await engine.collections.get(bert, Kind.PROJECT, home)


async def test_a_session_is_no_project_and_a_home_is_neither(engine: Engine, owner: Actor) -> None:
    session = await engine.collections.found(owner, Kind.SESSION, "s", length=SESSION_LENGTH)
    memory = await keep(engine, owner, "at home")
    mine = (await engine.memories.get(owner, at(memory))).collection
    for kind in (Kind.PROJECT, Kind.SESSION):
        with pytest.raises(NotFound):
            await engine.collections.dissolve(owner, kind, mine)
    with pytest.raises(NotFound):
        await engine.collections.dissolve(owner, Kind.PROJECT, session.collection.id)


async def test_figures_of_a_collection_are_those_of_now(engine: Engine) -> None:
    anna = await user(engine, "anna")
    home = await project(engine, anna)
    await keep(engine, anna, "one", home)
    changed = await engine.collections.describe(anna, Kind.PROJECT, home, "renamed", None)
    assert (changed.memories, changed.collection.description) == (1, "of ours")
    session = await engine.collections.found(anna, Kind.SESSION, "s", length=SESSION_LENGTH)
    await keep(engine, anna, "two", session.collection.id)
    assert (await engine.collections.switch_session(anna, session.collection.id)).memories == 1


async def test_dissolving_gives_each_memory_back_to_who_wrote_it(engine: Engine) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    hers, his = await keep(engine, anna, "hers", home), await keep(engine, bert, "his", home)
    with pytest.raises(Forbidden):
        await engine.collections.dissolve(bert, Kind.PROJECT, home)
    assert (await engine.collections.dissolve(anna, Kind.PROJECT, home)).moved == 2
    assert (await engine.memories.get(anna, at(hers))).domain == "user"
    assert (await engine.memories.get(bert, at(his))).domain == "user"
    with pytest.raises(NotFound):
        await engine.memories.get(anna, at(his))


async def test_ending_a_session_erases_its_memories_and_leaves_the_chain_sound(engine: Engine, owner: Actor) -> None:
    session = await engine.collections.found(owner, Kind.SESSION, "s", length=SESSION_LENGTH)
    memory = await keep(engine, owner, "fleeting", session.collection.id)
    stays = await keep(engine, owner, "stays", session.collection.id)
    await engine.collections.move(owner, [at(stays)], None)
    assert (await engine.collections.end_session(owner, session.collection.id)).removed == 1
    with pytest.raises(NotFound):
        await engine.memories.get(owner, at(memory))
    kept = await engine.memories.get(owner, at(stays))
    assert (kept.ephemeral, kept.block is not None) == (None, True)
    assert (await engine.chain.verify(owner)).valid


async def test_the_current_session_is_the_connections_and_ends_with_it(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    session = (await engine.collections.found(owner, Kind.SESSION, "s", length=SESSION_LENGTH)).collection
    await engine.collections.switch_session(owner, session.id)
    assert (await engine.collections.current_session(owner)) == session
    assert await engine.collections.current_session(owner.through("", "another connection")) is None
    clock.advance(SESSION_LENGTH)
    assert await engine.collections.current_session(owner) is None
    assert await engine.collections.sweep() == 1
    assert await engine.collections.sweep() == 0


async def test_a_search_is_narrowed_to_what_is_named(engine: Engine, owner: Actor) -> None:
    one, other = await project(engine, owner), await project(engine, owner)
    everyones = await engine.collections.everyones()
    homes = {"mine": None, "one": one, "other": other, "everyones": everyones}
    for text, home in homes.items():
        await keep(engine, owner, text, home)

    async def seen(*domains: str, named: tuple[CollectionId, ...] = ()) -> set[str]:
        actor = await engine.collections.narrowed(owner, Scope(domains, named))
        return {memory.content for memory in (await engine.memories.page(actor, 10)).memories}

    assert await seen() == set(homes)
    assert await seen("user", "global") == {"mine", "everyones"}
    assert await seen("project") == {"one", "other"}
    assert await seen("project", "user", named=(one,)) == {"one", "mine"}
    assert await seen("none") == set()
    assert await seen("user", named=(one,)) == {"mine"}


async def test_to_name_a_project_leaves_out_other_projects_and_nothing_else(engine: Engine, owner: Actor) -> None:
    one, other = await project(engine, owner), await project(engine, owner)
    atlas = (await engine.atlases.create(owner, Sketch("charts", "", {}))).collection.id
    for text, home in {"mine": None, "one": one, "other": other, "atlas": atlas}.items():
        await keep(engine, owner, text, home)

    async def found(*domains: str) -> set[str]:
        question = Question("mine one other atlas", scope=Scope(domains, (one,)))
        return {hit.memory.content for hit in (await engine.recall.recall(owner, question)).hits}

    assert await found("global", "user", "project") == {"mine", "one", "atlas"}
    assert await found("project") == {"one"}


async def test_narrowing_never_widens(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    home = await project(engine, anna)
    await keep(engine, anna, "hers", home)
    narrowed = await engine.collections.narrowed(owner, Scope(("project",), (home,)))
    assert (await engine.memories.page(narrowed, 10)).total == 0
    twice = await engine.collections.narrowed(
        await engine.collections.narrowed(anna, Scope(("user",))), Scope(("project",), (home,))
    )
    assert (await engine.memories.page(twice, 10)).total == 0


async def test_moving_is_all_or_none_and_needs_the_right_at_both_ends(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.READ)
    shared, mine = await keep(engine, anna, "shared", home), await keep(engine, bert, "mine")
    for actor, memory, target in (
        (bert, shared, None),
        (bert, mine, home),
        (bert, mine, await engine.collections.everyones()),
    ):
        with pytest.raises(Forbidden):
            await engine.collections.move(actor, [at(memory)], target)
    for reference, target in ((Reference(id=MemoryId(ABSENT)), None), (at(mine), ABSENT), (at(shared), ABSENT)):
        with pytest.raises(NotFound):
            await engine.collections.move(bert, [at(mine), reference], target)
    assert (await engine.memories.get(bert, at(mine))).domain == "user"


async def test_a_memory_that_is_named_by_its_id_and_by_its_block_moves_once(engine: Engine, owner: Actor) -> None:
    memory, home = await keep(engine, owner, "once"), await project(engine, owner)
    moved = await engine.collections.move(owner, [at(memory), Reference(block=memory.block), at(memory)], home)
    assert [one.id for one in moved] == [memory.id]
    events = await engine.store.read(lambda tx: tx.events(0, 99))
    assert [event.kind for event in events].count(EventKind.MOVED) == 2  # told once to either side


async def test_what_may_be_seen_but_not_changed_is_forbidden_and_not_missing(engine: Engine, owner: Actor) -> None:
    anna = await user(engine, "anna")
    common = await keep(engine, owner, "common", await engine.collections.everyones())
    private = await keep(engine, owner, "private")
    for act in (engine.memories.forget, lambda a, r: engine.memories.set_end(a, r, None)):
        with pytest.raises(Forbidden, match="global:write"):
            await act(anna, at(common))
        with pytest.raises(NotFound):
            await act(anna, at(private))


async def test_figures_count_only_ties_between_what_may_be_seen(engine: Engine) -> None:
    anna = await user(engine, "anna")
    await user(engine, "bert")
    home = await project(engine, anna, bert=Right.READ)
    shared, private = await keep(engine, anna, "shared", home), await keep(engine, anna, "private")
    await engine.links.connect(anna, at(shared), at(private))
    narrowed = await engine.collections.narrowed(anna, Scope(("project",)))
    assert (await engine.collections.survey(narrowed, 5)).links == {}
    assert (await engine.collections.survey(anna, 5)).links == {"manual": 1}


async def test_twenty_stores_at_once_by_two_users_are_all_kept(engine: Engine, owner: Actor) -> None:
    anna, bert = await user(engine, "anna"), await user(engine, "bert")
    home = await project(engine, anna, bert=Right.WRITE)
    texts = [f"text {number}" for number in range(20)]
    drafts = [Draft(text, home=home) for text in texts]
    stores = [
        engine.memories.remember((anna, bert)[number % 2], draft, associate=True) for number, draft in enumerate(drafts)
    ]
    kept = await asyncio.gather(*stores)
    for actor in (anna, bert):
        narrowed = await engine.collections.narrowed(actor, Scope(("project",)))
        assert sorted(m.content for m in (await engine.memories.page(narrowed, 50)).memories) == sorted(texts)
    assert len({memory.block for memory in kept}) == 20
    assert (await engine.chain.verify(owner)).valid


@pytest.mark.parametrize("turn", range(5))
async def test_a_move_and_a_deletion_at_once_leave_one_outcome(engine: Engine, owner: Actor, turn: int) -> None:
    home = await project(engine, owner)
    memory = await keep(engine, owner, "torn")
    move, forget = engine.collections.move(owner, [at(memory)], home), engine.memories.forget(owner, at(memory))
    both = (move, forget) if turn % 2 else (forget, move)
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert all(not isinstance(one, BaseException) or isinstance(one, NotFound) for one in outcomes)
    with pytest.raises(NotFound):
        await engine.memories.get(owner, at(memory))
    assert (await engine.chain.verify(owner)).valid


async def test_storing_into_a_session_that_ends_meanwhile_leaves_nothing(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    for _ in range(5):
        session = (await engine.collections.found(owner, Kind.SESSION, "s", length=SESSION_LENGTH)).collection
        stores = [keep(engine, owner, f"late {number}", session.id) for number in range(4)]
        outcomes = await asyncio.gather(
            *stores[:2], engine.collections.end_session(owner, session.id), *stores[2:], return_exceptions=True
        )
        assert all(not isinstance(one, BaseException) or isinstance(one, NotFound) for one in outcomes)
    assert (await engine.memories.page(owner, 10)).total == 0
    clock.advance(timedelta(days=2))
    await engine.upkeep.once()
    assert (await engine.chain.verify(owner)).valid
