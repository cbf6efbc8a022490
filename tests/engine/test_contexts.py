"""Shared contexts: who is in, what is lent, and what becomes of it."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.context import Guest, Invitee
from commonplace.domain.errors import Forbidden, Invalid, NotFound, NotTheAuthor
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.team import Role
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from tests.engine.people import identity
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

ABSENT = CollectionId("01890a5d-ac96-774b-bcce-b302099a8057")
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


async def user(engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key of {name}", permissions, user=name)
    return (await engine.access.authenticate(made.key)).through("test", f"{name}/1")


def named(*names: str) -> list[Invitee]:
    return [Invitee(name, name) for name in names]


async def context(engine: Engine, owner: Actor, *others: Actor, length: timedelta | None = None) -> CollectionId:
    made = await engine.contexts.create(owner, "a talk", "about it", length, named(*(one.user for one in others)))
    for one in others:
        await engine.contexts.join(one, made.context.collection.id)
    return made.context.collection.id


async def keep(engine: Engine, actor: Actor, text: str, home: CollectionId | None = None) -> Memory:
    return await engine.memories.remember(actor, Draft(text, home=home))


async def lend(engine: Engine, actor: Actor, place: CollectionId, text: str) -> Memory:
    return (await engine.contexts.add(actor, place, at(await keep(engine, actor, text)))).memory


def at(memory: Memory) -> Reference:
    return Reference(id=memory.id)


async def sees(engine: Engine, actor: Actor, memory: Memory) -> bool:
    """By its id, in a listing and in a search: all the same."""
    found = await engine.recall.recall(actor, Question(memory.content, 10))
    listed = memory.id in {one.id for one in (await engine.memories.page(actor, 100)).memories}
    assert listed == (memory.id in {hit.memory.id for hit in found.hits})
    try:
        await engine.memories.get(actor, at(memory))
    except NotFound:
        assert not listed
    else:
        assert listed
    return listed


async def seers(engine: Engine, actors: Sequence[Actor], memory: Memory) -> list[bool]:
    return [await sees(engine, actor, memory) for actor in actors]


async def test_its_maker_owns_a_context_and_is_in_it(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    made = await engine.contexts.create(ann, " e\u0301tude ", " why ", HOUR)
    assert (made.context.collection.name, made.context.collection.description) == ("étude", "why")
    assert made.context.collection.ends_at == clock.now() + HOUR
    assert [(m.name, m.owner) for m in made.context.members] == [("ann", True)]
    assert await engine.contexts.all(ann) == [made.context]
    assert (await engine.contexts.get(ann, made.context.collection.id)).context == made.context


async def test_what_a_context_is_called_and_how_long_it_lasts_is_checked(engine: Engine) -> None:
    ann = await user(engine, "ann")
    for name, about, length in (
        (" ", "", None),
        ("x" * 201, "", None),
        ("\x00", "", None),
        ("x", "\ud800", None),
        ("x", "x" * 4001, None),
        ("x", "", timedelta(seconds=59)),
        ("x", "", timedelta(days=30, seconds=1)),
    ):
        with pytest.raises(Invalid):
            await engine.contexts.create(ann, name, about, length)
    assert await engine.contexts.all(ann) == []


async def test_an_id_alone_opens_nothing(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann)
    memory = await lend(engine, ann, place, "for us only")
    bens = await keep(engine, ben, "bens")
    told = []
    for wanted in (place, ABSENT, CollectionId("nonsense")):
        for refused in (
            engine.contexts.join(ben, wanted),
            engine.contexts.get(ben, wanted),
            engine.contexts.leave(ben, wanted),
            engine.contexts.add(ben, wanted, at(bens)),
        ):
            with pytest.raises(NotFound) as caught:
                await refused
            told.append(caught.value.message.replace(wanted, "ID"))
    assert set(told) == {"no context 'ID'"}
    assert not await sees(engine, ben, memory)
    assert await engine.contexts.all(ben) == []


async def test_who_was_invited_may_join_and_is_told_nothing_of_the_inside_before(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    made = await engine.contexts.create(ann, "talk", invite=named("ben"))
    place = made.context.collection.id
    memory = await lend(engine, ann, place, "inside")
    assert made.invited == 1
    (waiting,) = await engine.contexts.all(ben)
    assert (waiting.joined, waiting.memories, waiting.members, waiting.owner_name) == (False, 0, (), "ann")
    with pytest.raises(NotFound):
        await engine.contexts.get(ben, place)
    assert not await sees(engine, ben, memory)
    joined = await engine.contexts.join(ben, place)
    assert joined.anew
    assert [m.name for m in joined.context.members] == ["ann", "ben"]
    assert await sees(engine, ben, memory)
    assert not (await engine.contexts.join(ben, place)).anew
    (one,) = await engine.contexts.all(ben)
    assert one.joined


async def test_the_owner_invites_later_too_and_nobody_else_does(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    place = await context(engine, ann, ben)
    with pytest.raises(Forbidden):
        await engine.contexts.join(ben, place, named("cleo"))
    again = await engine.contexts.join(ann, place, named("cleo", "ben", "ann"))
    assert (again.anew, again.invited) == (False, 1)
    assert (await engine.contexts.join(cleo, place)).anew
    for name in ("nobody", ABSENT):
        with pytest.raises(NotFound):
            await engine.contexts.join(ann, place, named(name))
    with pytest.raises(Invalid):
        await engine.contexts.join(ann, place, named(*(f"user{n}" for n in range(51))))


async def test_a_member_of_an_invited_team_may_join_and_only_one_s_own_teams_can_be_invited(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    team = (await engine.teams.create(ann, "crew")).membership.team
    await engine.teams.invite(ann, team.id, await identity(engine, "ben"), Role.MEMBER)
    theirs = (await engine.teams.create(cleo, "others")).membership.team
    place = (await engine.contexts.create(ann, "talk", invite=named("crew"))).context.collection.id
    assert [one.joined for one in await engine.contexts.all(ben)] == [False]
    assert (await engine.contexts.join(ben, place)).anew
    with pytest.raises(NotFound):
        await engine.contexts.join(cleo, place)
    for name in (theirs.id, "others", ABSENT):
        with pytest.raises(NotFound) as caught:
            await engine.contexts.join(ann, place, [Invitee(name, "t", Guest.TEAM)])
        assert caught.value.message == "no team 't'"
    with pytest.raises(NotFound):
        await engine.contexts.join(ann, place, [Invitee("crew", "crew", Guest.USER)])


async def test_all_who_are_in_read_and_write_what_was_lent(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    place = await context(engine, ann, ben)
    memory = await lend(engine, ann, place, "first words")
    assert await seers(engine, (ann, ben, cleo), memory) == [True, True, False]
    await engine.memories.revise(ben, at(memory), Change(content="better words"))
    assert (await engine.memories.get(ann, at(memory))).content == "better words"
    opened = await engine.contexts.get(ben, place)
    assert ([one.id for one in opened.page.memories], opened.page.total) == ([memory.id], 1)
    assert opened.context.memories == 1


async def test_lending_is_for_the_author_and_who_owns_the_place(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    project = (await engine.collections.found(ann, Kind.PROJECT, "p")).collection.id
    for name in ("ben", "cleo"):
        await engine.collections.add_member(ann, Kind.PROJECT, project, name, Right.WRITE)
    memory = await keep(engine, ben, "bens", project)
    place = await context(engine, cleo, ann, ben)
    with pytest.raises(NotTheAuthor):
        await engine.contexts.add(cleo, place, at(memory))
    lent = await engine.contexts.add(ann, place, at(memory))
    assert lent.anew
    assert await seers(engine, (ann, ben, cleo), lent.memory) == [True, True, True]
    assert not (await engine.contexts.add(ben, place, at(memory))).anew
    with pytest.raises(NotFound):
        await engine.contexts.add(cleo, place, at(await keep(engine, ann, "ann's alone")))
    await engine.contexts.leave(cleo, place)
    assert (await engine.memories.get(ann, at(memory))).collection == project


async def test_one_who_may_only_read_lends_nothing(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben", frozenset({Permission.READ}))
    place = (await engine.contexts.create(ann, "talk", invite=named("ben"))).context.collection.id
    for refused in (
        engine.contexts.join(ben, place),
        engine.contexts.leave(ben, place),
        engine.contexts.create(ben, "talk"),
        engine.contexts.add(ben, place, Reference()),
    ):
        with pytest.raises(Forbidden):
            await refused


async def test_who_leaves_sees_no_more_of_the_others_and_keeps_what_is_its_own(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann, ben)
    anns, bens = await lend(engine, ann, place, "ann's words"), await lend(engine, ben, place, "ben's words")
    left = await engine.contexts.leave(ben, place)
    assert (left.ended, left.returned) == (False, 0)
    assert await seers(engine, (ann, ben), anns) == [True, False]
    assert await seers(engine, (ann, ben), bens) == [True, True]
    for refused in (engine.contexts.get(ben, place), engine.contexts.join(ben, place)):
        with pytest.raises(NotFound):
            await refused
    await engine.contexts.leave(ann, place)
    assert await seers(engine, (ann, ben), bens) == [False, True]


async def test_when_the_owner_leaves_every_memory_goes_home(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    project = (await engine.collections.found(ben, Kind.PROJECT, "p")).collection.id
    place = await context(engine, ann, ben)
    anns = await lend(engine, ann, place, "ann's words")
    bens = await keep(engine, ben, "bens words", project)
    await engine.contexts.add(ben, place, at(bens))
    left = await engine.contexts.leave(ann, place)
    assert (left.ended, left.returned) == (True, 2)
    assert await seers(engine, (ann, ben), anns) == [True, False]
    assert await seers(engine, (ann, ben), bens) == [False, True]
    assert (await engine.memories.get(ben, at(bens))).collection == project
    assert await engine.contexts.all(ben) == await engine.contexts.all(ann) == []
    kinds = await engine.store.read(lambda tx: {c.kind for c in tx.collections.below([place])})
    assert kinds == set()


async def test_a_former_home_that_is_gone_is_the_author_s_own(engine: Engine) -> None:
    ann = await user(engine, "ann")
    project = (await engine.collections.found(ann, Kind.PROJECT, "p")).collection.id
    memory = await keep(engine, ann, "words", project)
    place = await context(engine, ann)
    await engine.contexts.add(ann, place, at(memory))
    await engine.collections.dissolve(ann, Kind.PROJECT, project)
    await engine.contexts.leave(ann, place)
    assert (await engine.memories.get(ann, at(memory))).domain == "user"


async def test_at_its_end_a_context_is_nobody_s_and_each_finds_its_own(engine: Engine, clock: Clock) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    place = await context(engine, ann, ben, cleo, length=HOUR)
    anns, bens = await lend(engine, ann, place, "ann's words"), await lend(engine, ben, place, "ben's words")
    clock.advance(HOUR - INSTANT)
    assert await seers(engine, (ann, ben, cleo), bens) == [True, True, True]
    clock.advance(INSTANT)
    for swept in (False, True):
        assert await seers(engine, (ann, ben, cleo), anns) == [True, False, False], swept
        assert await seers(engine, (ann, ben, cleo), bens) == [False, True, False], swept
        for actor in (ann, ben, cleo):
            assert await engine.contexts.all(actor) == []
            for refused in (engine.contexts.get(actor, place), engine.contexts.join(actor, place)):
                with pytest.raises(NotFound):
                    await refused
        if not swept:
            with pytest.raises(NotFound):
                await engine.contexts.add(ben, place, at(bens))
            with pytest.raises(Forbidden):
                await keep(engine, ben, "late", place)
            assert await engine.contexts.sweep() == 2
    assert await engine.contexts.sweep() == 0
    assert (await engine.memories.get(ben, at(bens))).domain == "user"


async def test_what_is_written_straight_into_a_context_is_its_author_s_when_that_ends(
    engine: Engine, clock: Clock
) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann, ben, length=HOUR)
    anns = await lend(engine, ann, place, "ann's words")
    written = await keep(engine, ben, "written there", place)
    beside = await keep(engine, ben, "written where ann's words lie", anns.collection)
    assert await engine.contexts.around([written.home, beside.home, anns.home]) == {
        written.home: place,
        (await engine.memories.get(ann, at(anns))).home: place,
    }
    for memory in (written, beside):
        assert await seers(engine, (ann, ben), memory) == [True, True]
    clock.advance(HOUR)
    for memory in (written, beside):
        assert await seers(engine, (ann, ben), memory) == [False, True]
    late = await keep(engine, ben, "added to it", written.collection)
    assert late.domain == "user"
    await engine.upkeep.once()
    for memory in (written, beside):
        assert await seers(engine, (ann, ben), memory) == [False, True]
        assert (await engine.memories.get(ben, at(memory))).domain == "user"


async def test_who_has_left_or_never_was_in_writes_nothing_there(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    place = await context(engine, ann, ben)
    lent = await lend(engine, ben, place, "ben's words")
    await engine.contexts.leave(ben, place)
    shelf = (await engine.memories.get(ben, at(lent))).collection
    for actor in (ben, cleo):
        for where in (place, shelf):
            with pytest.raises(Forbidden):
                await keep(engine, actor, "from outside", where)
    assert (await engine.contexts.get(ann, place)).page.total == 1


async def test_many_memories_go_home(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann, ben, length=HOUR)
    for number in range(230):
        await lend(engine, ben if number % 2 else ann, place, f"number {number}")
    opened = await engine.contexts.get(ann, place)
    assert (len(opened.page.memories), opened.page.total) == (100, 230)
    clock.advance(HOUR)
    assert await engine.contexts.sweep() == 230
    for actor in (ann, ben):
        assert (await engine.memories.page(actor, 1)).total == 115


async def test_a_memory_lent_from_one_context_to_another_goes_to_its_first_home(engine: Engine) -> None:
    ann = await user(engine, "ann")
    project = (await engine.collections.found(ann, Kind.PROJECT, "p")).collection.id
    memory = await keep(engine, ann, "words", project)
    one, other = await context(engine, ann), await context(engine, ann)
    await engine.contexts.add(ann, one, at(memory))
    await engine.contexts.add(ann, other, at(memory))
    assert (await engine.contexts.leave(ann, one)).returned == 0
    assert (await engine.contexts.leave(ann, other)).returned == 1
    assert (await engine.memories.get(ann, at(memory))).collection == project


async def test_an_ephemeral_memory_ends_in_a_context_as_it_would_have(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann, ben)
    memory = await engine.memories.remember(ann, Draft("for an hour", ttl=HOUR))
    await engine.contexts.add(ann, place, at(memory))
    clock.advance(HOUR)
    assert await seers(engine, (ann, ben), memory) == [False, False]


async def test_coming_and_going_is_on_the_trail(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann, ben)
    await engine.contexts.leave(ben, place)
    await engine.contexts.leave(ann, place)
    assert {one.what for one in (await engine.doings.latest(ann, 10)).doings} == {
        "context created",
        "invited to context",
        "context ended",
    }
    assert {one.what for one in (await engine.doings.latest(ben, 10)).doings} == {"context joined", "context left"}


async def test_a_key_that_opens_only_a_part_has_no_contexts(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await context(engine, ann)
    await engine.contexts.create(ben, "for ann", invite=named("ann"))
    limited = ann.within(frozenset())
    assert await engine.contexts.all(limited) == []
    for refused in (engine.contexts.get(limited, place), engine.contexts.add(limited, place, Reference())):
        with pytest.raises(NotFound):
            await refused
    for refused_whole in (
        engine.contexts.create(limited, "x"),
        engine.contexts.join(limited, place),
        engine.contexts.leave(limited, place),
    ):
        with pytest.raises(Forbidden):
            await refused_whole


async def test_what_was_lent_may_be_changed_by_those_who_are_in_and_removed_by_its_author_only(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    memory = await lend(engine, ann, await context(engine, ann, ben), "the plan")
    await engine.memories.revise(ben, at(memory), Change(content="the other plan"))
    with pytest.raises(NotTheAuthor):
        await engine.memories.forget(ben, at(memory))
    await engine.memories.forget(ann, at(memory))
