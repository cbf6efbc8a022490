"""Trees of places for memories: who makes, sees, moves and ends them, and what becomes of what they hold."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.atlas import MAX_DEPTH, MAX_METADATA_BYTES, Atlas
from commonplace.domain.errors import Circular, CommonplaceError, Forbidden, Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Draft, Memory
from commonplace.domain.team import Role, TeamId
from commonplace.domain.watch import Wish
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from tests.engine.people import identity
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

ABSENT = CollectionId("01890a5d-ac96-774b-bcce-b302099a8057")
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})
MOST = 1000


async def user(engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key of {name}", permissions, user=name)
    return (await engine.access.authenticate(made.key)).through("test")


async def plant(
    engine: Engine, actor: Actor, name: str = "an atlas", below: CollectionId | None = None
) -> CollectionId:
    return (await engine.atlases.create(actor, Sketch(name), below)).collection.id


async def shared(
    engine: Engine, actor: Actor, atlas: CollectionId, right: Right, *mates: str, inherited: bool = True
) -> TeamId:
    team = (await engine.teams.create(actor, "a team")).membership.team.id
    for mate in mates:
        await engine.teams.invite(actor, team, await identity(engine, mate), Role.MEMBER)
    await engine.teams.share(actor, atlas, team, right, inherited)
    return team


async def keep(engine: Engine, actor: Actor, text: str, home: CollectionId | None = None) -> Memory:
    return await engine.memories.remember(actor, Draft(text, home=home))


async def seen(engine: Engine, actor: Actor, memory: Memory) -> Memory:
    return await engine.memories.get(actor, Reference(id=memory.id))


async def names(engine: Engine, actor: Actor, parent: CollectionId | None = None) -> list[str]:
    return [one.collection.name for one in (await engine.atlases.all(actor, parent, MOST)).atlases]


async def refused(act: Awaitable[object], kind: type[CommonplaceError]) -> CommonplaceError:
    with pytest.raises(kind) as caught:
        await act
    return caught.value


# Making


async def test_a_root_belongs_to_who_made_it(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    made = await engine.atlases.create(ann, Sketch(" e\u0301tude ", " why ", {"色": ["赤", 1, None]}))
    assert (made.collection.name, made.collection.description) == ("étude", "why")
    assert (made.collection.kind, made.collection.domain, made.collection.owner) == ("atlas", "project", ann.user)
    assert (made.right, made.owned, made.parent, made.created_by) == (Right.ADMIN, True, None, ann.user)
    assert made.metadata == {"色": ["赤", 1, None]}
    assert (made.memories, made.children, made.updated_at) == (0, 0, None)
    assert (await engine.atlases.all(ann, None, MOST)).atlases == [made]


async def test_what_is_made_below_belongs_to_the_owner_of_the_tree(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann)
    team = await shared(engine, ann, top, Right.WRITE, "ben")
    made = await engine.atlases.create(ben, Sketch("ben's part"), top)
    assert (made.collection.owner, made.created_by, made.parent) == (ann.user, ben.user, top)
    assert (made.owned, made.right) == (False, Right.WRITE)
    memory = await keep(engine, ben, "ben wrote this", made.collection.id)
    await engine.teams.unshare(ann, top, team)
    assert await names(engine, ben) == []
    await refused(seen(engine, ben, memory), NotFound)
    assert (await seen(engine, ann, memory)).content == "ben wrote this"


async def test_making_below_needs_the_right_to_write_there(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    top = await plant(engine, ann)
    await shared(engine, ann, top, Right.READ, "ben")
    for actor, place, kind in ((ben, top, Forbidden), (cleo, top, NotFound), (cleo, ABSENT, NotFound)):
        await refused(engine.atlases.create(actor, Sketch("x"), place), kind)
    project = await engine.collections.everyones()
    await refused(engine.atlases.create(ann, Sketch("x"), project), NotFound)
    reader = await user(engine, "reader", frozenset({Permission.READ}))
    await refused(engine.atlases.create(reader, Sketch("x")), Forbidden)


async def test_nobody_makes_what_he_would_not_see(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann)
    await shared(engine, ann, top, Right.WRITE, "ben", inherited=False)
    await refused(engine.atlases.create(ben, Sketch("x"), top), Forbidden)
    assert await names(engine, ann, top) == []


async def test_a_limited_key_makes_only_below_what_it_opens(engine: Engine, owner: Actor) -> None:
    top, other = await plant(engine, owner), await plant(engine, owner)
    limited = owner.within(frozenset({top}))
    await refused(engine.atlases.create(limited, Sketch("a root")), Forbidden)
    await refused(engine.atlases.create(limited, Sketch("x"), other), NotFound)
    made = await engine.atlases.create(limited, Sketch("below"), top)
    assert (made.right, made.owned, made.parent) == (Right.WRITE, False, top)


async def test_what_is_said_about_an_atlas_is_checked(engine: Engine, owner: Actor) -> None:
    deep: dict[str, object] = {}
    for _ in range(3000):
        deep = {"a": deep}
    for sketch in (
        Sketch(None),
        Sketch(" "),
        Sketch("x" * 201),
        Sketch("\x00"),
        Sketch("x", "\ud800"),
        Sketch("x", "x" * 4001),
        Sketch("x", metadata={"a": "\ud800"}),
        Sketch("x", metadata={"a": float("nan")}),
        Sketch("x", metadata={"a": "x" * MAX_METADATA_BYTES}),
        Sketch("x", metadata=deep),
    ):
        await refused(engine.atlases.create(owner, sketch), Invalid)
    assert await names(engine, owner) == []


async def test_a_tree_is_so_deep_and_no_deeper(engine: Engine, owner: Actor) -> None:
    place: CollectionId | None = None
    for _ in range(MAX_DEPTH):
        place = await plant(engine, owner, below=place)
    error = await refused(engine.atlases.create(owner, Sketch("too deep"), place), Invalid)
    assert "at most 32" in error.message
    pair = await plant(engine, owner)
    await plant(engine, owner, below=pair)
    await refused(engine.atlases.change(owner, pair, Sketch(), place), Invalid)


# Looking


async def test_the_roots_are_those_whose_parent_is_not_seen(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann, "top")
    middle = await plant(engine, ann, "middle", top)
    await plant(engine, ann, "bottom", middle)
    await plant(engine, ben, "ben's own")
    await shared(engine, ann, middle, Right.READ, "ben")
    assert await names(engine, ann) == ["top"]
    assert await names(engine, ben) == ["ben's own", "middle"]
    assert await names(engine, ben, middle) == ["bottom"]
    found = (await engine.atlases.all(ben, None, MOST)).atlases[1]
    assert (found.parent, found.right, found.owned, found.children) == (None, Right.READ, False, 1)
    await refused(engine.atlases.all(ben, top, MOST), NotFound)


async def test_lists_are_bounded_and_say_how_many_there_are(engine: Engine, owner: Actor) -> None:
    for number in range(5):
        await plant(engine, owner, f"{number}")
    found = await engine.atlases.all(owner, None, 2)
    assert ([one.collection.name for one in found.atlases], found.total) == (["4", "3"], 5)


async def test_a_tree_shows_only_what_the_caller_sees(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann, "top")
    hidden = await plant(engine, ann, "hidden", top)
    deep = await plant(engine, ann, "deep", hidden)
    team = await shared(engine, ann, top, Right.READ, "ben", inherited=False)
    await engine.teams.share(ann, deep, team, Right.READ, True)
    whole = await engine.atlases.tree(ann, top, MOST)
    assert [one.collection.name for one in whole.atlases] == ["top", "hidden", "deep"]
    assert [share.team.id for share in whole.shares if share.team] == [team]
    part = await engine.atlases.tree(ben, top, MOST)
    assert ([one.collection.name for one in part.atlases], part.total) == (["top"], 1)
    assert (part.atlases[0].children, part.shares) == (0, ())
    assert sorted(await names(engine, ben)) == ["deep", "top"]


async def test_a_large_tree_is_told_from_above(engine: Engine, owner: Actor) -> None:
    top = await plant(engine, owner, "top")
    children = [await plant(engine, owner, f"{n}", top) for n in range(3)]
    await plant(engine, owner, "below 0", children[0])
    grove = await engine.atlases.tree(owner, top, 3)
    assert ([one.collection.name for one in grove.atlases], grove.total) == (["top", "2", "1"], 5)


async def test_memories_are_counted_without_those_that_have_ended(engine: Engine, owner: Actor, clock: Clock) -> None:
    top = await plant(engine, owner)
    await keep(engine, owner, "stays", top)
    await engine.memories.remember(owner, Draft("goes", home=top, ttl=timedelta(seconds=60)))
    assert (await engine.atlases.tree(owner, top, MOST)).atlases[0].memories == 2
    clock.advance(timedelta(seconds=60))
    assert (await engine.atlases.tree(owner, top, MOST)).atlases[0].memories == 1


# Changing


async def test_what_is_not_said_stays(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await engine.atlases.create(owner, Sketch("before", "words", {"a": 1, "b": 1}))
    clock.advance(timedelta(hours=1))
    changed = await engine.atlases.change(owner, made.collection.id, Sketch(name="after", metadata={"b": 2}))
    assert (changed.collection.name, changed.collection.description) == ("after", "words")
    assert changed.metadata == {"a": 1, "b": 2}
    assert (changed.updated_at, changed.created_by) == (clock.now(), owner.user)
    assert (await engine.atlases.tree(owner, made.collection.id, MOST)).atlases == [changed]
    await refused(engine.atlases.change(owner, made.collection.id, Sketch()), Invalid)
    emptied = await engine.atlases.change(owner, made.collection.id, Sketch(description="", metadata={"a": None}))
    assert (emptied.collection.description, emptied.metadata) == ("", {"b": 2})


async def test_metadata_cannot_grow_bit_by_bit(engine: Engine, owner: Actor) -> None:
    top = await plant(engine, owner)
    half = "x" * (MAX_METADATA_BYTES * 2 // 3)
    await engine.atlases.change(owner, top, Sketch(metadata={"a": half}))
    await refused(engine.atlases.change(owner, top, Sketch(metadata={"b": half})), Invalid)


async def test_who_may_write_describes_and_who_governs_moves(engine: Engine) -> None:
    ann = await user(engine, "ann")
    top, other = await plant(engine, ann, "top"), await plant(engine, ann, "other")
    child = await plant(engine, ann, "child", top)
    for name, right, describes, moves in (
        ("reader", Right.READ, False, False),
        ("writer", Right.WRITE, True, False),
        ("admin", Right.ADMIN, True, True),
    ):
        actor = await user(engine, name)
        await shared(engine, ann, top, right, name)
        await shared(engine, ann, other, right, name)
        if describes:
            assert (await engine.atlases.change(actor, child, Sketch(name))).collection.name == name
        else:
            await refused(engine.atlases.change(actor, child, Sketch(name)), Forbidden)
        if moves:
            assert (await engine.atlases.change(actor, child, Sketch(), other)).parent == other
        else:
            await refused(engine.atlases.change(actor, child, Sketch(), other), Forbidden)
    stranger = await user(engine, "stranger")
    await refused(engine.atlases.change(stranger, child, Sketch("x")), NotFound)


async def test_nobody_moves_an_atlas_out_of_his_own_reach(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann)
    child = await plant(engine, ann, "child", top)
    await shared(engine, ann, top, Right.ADMIN, "ben")
    await refused(engine.atlases.change(ben, child, Sketch(), None), Forbidden)
    assert await names(engine, ann, top) == ["child"]
    assert (await engine.atlases.change(ann, child, Sketch(), None)).parent is None


async def test_an_atlas_never_lies_below_itself(engine: Engine, owner: Actor) -> None:
    top = await plant(engine, owner)
    child = await plant(engine, owner, below=top)
    grandchild = await plant(engine, owner, below=child)
    for atlas, place in ((top, top), (top, child), (top, grandchild), (child, grandchild)):
        await refused(engine.atlases.change(owner, atlas, Sketch(), place), Circular)
    await engine.atlases.change(owner, grandchild, Sketch(), top)
    await engine.atlases.change(owner, child, Sketch(), grandchild)
    tree = (await engine.atlases.tree(owner, top, MOST)).atlases
    assert [one.collection.id for one in tree] == [top, grandchild, child]


async def test_two_who_move_at_once_make_no_circle(engine: Engine, owner: Actor) -> None:
    one, other = await plant(engine, owner), await plant(engine, owner)
    outcomes = await asyncio.gather(
        engine.atlases.change(owner, one, Sketch(), other),
        engine.atlases.change(owner, other, Sketch(), one),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [Atlas.__name__, Circular.__name__]


async def test_an_atlas_stays_among_those_of_its_owner(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    anns, bens = await plant(engine, ann), await plant(engine, ben)
    await shared(engine, ben, bens, Right.ADMIN, "ann")
    await refused(engine.atlases.change(ann, anns, Sketch(), bens), Invalid)
    await refused(engine.atlases.change(ben, bens, Sketch(), anns), NotFound)


async def test_what_is_moved_is_shared_as_its_new_place_is(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    open_, closed = await plant(engine, ann), await plant(engine, ann)
    child = await plant(engine, ann, below=closed)
    memory = await keep(engine, ann, "a plan", child)
    await shared(engine, ann, open_, Right.READ, "ben")
    await refused(seen(engine, ben, memory), NotFound)
    await engine.atlases.change(ann, child, Sketch(), open_)
    assert (await seen(engine, ben, memory)).id == memory.id
    await engine.atlases.change(ann, child, Sketch(), None)
    await refused(seen(engine, ben, memory), NotFound)


# Ending


async def test_what_an_atlas_held_goes_to_what_it_lay_in(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann, "top")
    middle = await plant(engine, ann, "middle", top)
    bottom = await plant(engine, ann, "bottom", middle)
    await shared(engine, ann, middle, Right.WRITE, "ben")
    kept = [await keep(engine, actor, f"of {actor.credential}", middle) for actor in (ann, ben)]
    before = await engine.store.read(lambda tx: tx.last_event())
    gone = await engine.atlases.delete(ann, middle)
    assert (gone.parent, gone.rooted, gone.children, gone.memories) == (top, False, 1, 2)
    assert {(await seen(engine, ann, memory)).collection for memory in kept} == {top}
    assert await names(engine, ann, top) == ["bottom"]
    assert (await engine.atlases.tree(ann, bottom, MOST)).atlases[0].parent == top
    for actor, atlas in ((ann, middle), (ben, middle), (ben, bottom)):
        await refused(engine.atlases.tree(actor, atlas, MOST), NotFound)
    events = await engine.store.read(lambda tx: tx.events(before, 10))
    assert [event.kind for event in events] == [EventKind.MOVED] * 4  # for both sides of each


async def test_what_a_root_held_goes_back_to_who_wrote_it(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann)
    await plant(engine, ann, "child", top)
    await shared(engine, ann, top, Right.WRITE, "ben")
    anns, bens = await keep(engine, ann, "ann's", top), await keep(engine, ben, "ben's", top)
    gone = await engine.atlases.delete(ann, top)
    assert (gone.parent, gone.rooted, gone.children, gone.memories) == (None, True, 1, 2)
    assert await names(engine, ann) == ["child"]
    assert (await seen(engine, ann, anns)).domain == (await seen(engine, ben, bens)).domain == "user"
    await refused(seen(engine, ann, bens), NotFound)
    await refused(seen(engine, ben, anns), NotFound)


async def test_more_memories_than_a_batch_are_all_carried_out(engine: Engine, owner: Actor) -> None:
    top = await plant(engine, owner)
    child = await plant(engine, owner, below=top)
    await asyncio.gather(*(keep(engine, owner, f"number {n}", child) for n in range(501)))
    assert (await engine.atlases.delete(owner, child)).memories == 501
    assert (await engine.atlases.tree(owner, top, MOST)).atlases[0].memories == 501


async def test_a_memory_that_has_an_end_keeps_it(engine: Engine, owner: Actor, clock: Clock) -> None:
    top = await plant(engine, owner)
    memory = await engine.memories.remember(owner, Draft("for a while", home=top, ttl=timedelta(hours=1)))
    await engine.atlases.delete(owner, top)
    assert (await seen(engine, owner, memory)).ephemeral == memory.ephemeral
    clock.advance(timedelta(hours=1))
    await refused(seen(engine, owner, memory), NotFound)


async def test_ending_an_atlas_needs_the_right_to_govern_it(engine: Engine) -> None:
    ann = await user(engine, "ann")
    top = await plant(engine, ann)
    child = await plant(engine, ann, below=top)
    for name, right in (("reader", Right.READ), ("writer", Right.WRITE), ("stranger", None)):
        actor = await user(engine, name)
        if right:
            await shared(engine, ann, child, right, name)
        await refused(engine.atlases.delete(actor, child), Forbidden if right else NotFound)
    limited = ann.within(frozenset({top, child}))
    await refused(engine.atlases.delete(limited, child), Forbidden)
    admin = await user(engine, "admin")
    await shared(engine, ann, child, Right.ADMIN, "admin")
    gone = await engine.atlases.delete(admin, child)
    assert (gone.parent, gone.rooted) == (None, False)  # where it went is not the admin's to know
    await refused(engine.atlases.delete(ann, child), NotFound)


async def test_nobody_is_told_of_children_he_does_not_see(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    top = await plant(engine, ann)
    await plant(engine, ann, "hidden", top)
    await shared(engine, ann, top, Right.ADMIN, "ben", inherited=False)
    assert (await engine.atlases.delete(ben, top)).children == 0
    assert await names(engine, ann) == ["hidden"]


async def test_what_is_done_to_trees_is_noted(engine: Engine, owner: Actor) -> None:
    top, other = await plant(engine, owner), await plant(engine, owner)
    await engine.atlases.change(owner, top, Sketch(), other)
    await engine.atlases.delete(owner, top)
    noted = {(doing.what, doing.subject) for doing in (await engine.doings.latest(owner, 10)).doings}
    created = {("atlas created", atlas) for atlas in (top, other)}
    assert noted == {*created, ("atlas moved", top), ("atlas deleted", top)}


async def test_who_watches_an_atlas_watches_what_it_lay_in_when_it_ends(engine: Engine) -> None:
    ann = await user(engine, "ann")
    root = await engine.atlases.create(ann, Sketch(name="root"))
    leaf = await engine.atlases.create(ann, Sketch(name="leaf"), root.collection.id)
    await engine.watches.add(ann, Wish(collection=leaf.collection.id))
    await engine.memories.remember(ann, Draft("a leaf", home=leaf.collection.id))
    await engine.watches.take(ann, 10)
    await engine.atlases.delete(ann, leaf.collection.id)
    assert [one.wish.collection for one in await engine.watches.all(ann)] == [root.collection.id]
    told = await engine.watches.take(ann, 10)
    assert [one.notice.event.kind for one in told.news] == [EventKind.MOVED]
