from collections.abc import Awaitable
from dataclasses import replace

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.collection import Kind
from commonplace.domain.doing import Sought
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound
from commonplace.domain.event import EventKind
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.label import BUILT_IN, MOST_CATEGORIES, MOST_ON_A_MEMORY, Category
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.categories import MOST_FOLLOWING, MOST_LISTED
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.ports import Prints, Transaction
from tests.engine.test_collections import at, keep, project, user

pytestmark = pytest.mark.anyio

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


async def kept(engine: Engine, actor: Actor, category: str, text: str = "a text") -> Memory:
    return await engine.memories.remember(actor, Draft(text, category=category))


async def of(engine: Engine, actor: Actor, memory: Memory) -> list[str]:
    return [category.name for category in (await engine.categories.of(actor, at(memory))).categories]


async def first(engine: Engine, actor: Actor, memory: Memory) -> str:
    return (await engine.memories.get(actor, at(memory))).category


async def counts(engine: Engine, actor: Actor) -> dict[str, int]:
    """Of all that some memory bears, and of the actor's own."""
    entries = (await engine.categories.all(actor)).entries
    return {one.category.name: one.memories for one in entries if one.memories or not one.category.is_built_in}


async def told(engine: Engine, memory: Memory) -> list[tuple[EventKind, bool | None]]:
    events = [event for event in await engine.events.after(0) if event.memory == memory.id]
    return [(event.kind, event.detail.get("attached")) for event in events]


# What there is


async def test_ten_categories_exist_for_everyone(engine: Engine, owner: Actor) -> None:
    survey = await engine.categories.all(owner)
    assert [one.category.name for one in survey.entries] == list(BUILT_IN)
    assert len(BUILT_IN) == survey.total == 10
    assert all(one.category.is_built_in and one.category.description for one in survey.entries)
    assert {one.memories for one in survey.entries} == {0}


async def test_names_that_memories_bear_are_listed_behind_those_that_were_made(engine: Engine, owner: Actor) -> None:
    for name in ("rare", "often", "often", "design"):
        await kept(engine, owner, name)
    made = await engine.categories.create(owner, "made", "for tests")
    survey = await engine.categories.all(owner)
    assert [(one.category.name, one.category.id, one.memories) for one in survey.entries[10:]] == [
        ("made", made.id, 0),
        ("often", "", 2),
        ("rare", "", 1),
    ]
    assert (await counts(engine, owner))["design"] == 1


async def test_a_long_list_is_bounded_and_says_how_long_it_is(engine: Engine, owner: Actor) -> None:
    bare = Prints((), None, engine.embedding.fingerprint)

    def fill(tx: Transaction) -> None:
        for number in range(MOST_LISTED):
            engine.memories.remember_in(tx, owner, Draft("x", category=f"c{number}"), bare)

    await engine.store.write(fill)
    survey = await engine.categories.all(owner)
    assert (len(survey.entries), survey.total) == (MOST_LISTED, MOST_LISTED + 10)


async def test_a_category_is_made_once_and_never_one_of_everyones(engine: Engine, owner: Actor) -> None:
    await kept(engine, owner, "borne")
    made = await engine.categories.create(owner, " e\u0301tude ", " why ")
    assert (made.name, made.description) == ("étude", "why")
    await engine.categories.create(owner, "borne")
    for name in ("étude", "design", "borne"):
        with pytest.raises(AlreadyExists):
            await engine.categories.create(owner, name)
    for name, about in (("", ""), ("\ud800", ""), ("x" * 101, ""), (ABSENT, ""), ("x", "x" * 501), ("x", "\x00")):
        with pytest.raises(Invalid):
            await engine.categories.create(owner, name, about)
    await engine.categories.create(await user(engine, "ben"), "étude")


async def test_there_is_an_end_to_categories(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "0")

    def fill(tx: Transaction) -> None:
        for number in range(1, MOST_CATEGORIES):
            tx.labels.add_category(Category(f"{number}", "", f"{number}", made.created_at), owner.user)

    await engine.store.write(fill)
    with pytest.raises(Invalid, match="delete one"):
        await engine.categories.create(owner, "one more")


# On a memory


async def test_the_first_category_is_the_memorys_own_and_the_others_come_after(engine: Engine, owner: Actor) -> None:
    memory = await keep(engine, owner, "a text")
    done = await engine.categories.attach(owner, at(memory), "design")
    assert (done.changed, done.memory.category, done.memory.version) == (True, "design", 2)
    done = await engine.categories.attach(owner, at(memory), "debug")
    assert (done.changed, done.memory.version) == (True, 2)
    assert await of(engine, owner, memory) == ["design", "debug"]
    assert await first(engine, owner, memory) == "design"
    kinds = [kind for kind, _ in await told(engine, memory)]
    assert kinds == [EventKind.REMEMBERED, EventKind.REVISED, EventKind.LABELLED]


async def test_attaching_what_is_there_changes_nothing(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    await engine.categories.attach(owner, at(memory), "debug")
    before = await told(engine, memory)
    for name in ("design", "debug"):
        assert not (await engine.categories.attach(owner, at(memory), name)).changed
    assert await told(engine, memory) == before


async def test_in_place_of_a_detached_first_comes_the_next(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    for name in ("debug", "infra"):
        await engine.categories.attach(owner, at(memory), name)
    assert (await engine.categories.detach(owner, at(memory), "design")).changed
    assert (await first(engine, owner, memory), await of(engine, owner, memory)) == ("debug", ["debug", "infra"])
    await engine.categories.detach(owner, at(memory), "infra")
    assert await of(engine, owner, memory) == ["debug"]
    await engine.categories.detach(owner, at(memory), "debug")
    assert (await first(engine, owner, memory), await of(engine, owner, memory)) == ("", [])
    assert not (await engine.categories.detach(owner, at(memory), "debug")).changed
    history = await engine.memories.history(owner, at(memory))
    assert [version.category for version in history] == ["design", "debug"]


async def test_replacing_sets_exactly_these_in_this_order(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    wanted: tuple[str, ...]
    for wanted in (("debug", "design", "infra"), ("infra", "debug"), ("infra", "debug"), ("spec",), ()):
        done = await engine.categories.replace(owner, at(memory), (*wanted, *wanted))
        assert [category.name for category in done.categories] == list(wanted)
        assert await of(engine, owner, memory) == list(wanted)
        assert await first(engine, owner, memory) == (wanted[0] if wanted else "")
    assert (await engine.chain.verify(owner)).broken is None


async def test_replacing_by_the_same_changes_nothing(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    assert not (await engine.categories.replace(owner, at(memory), ["design"])).changed
    assert (await engine.categories.replace(owner, at(memory), ["design", "spec"])).changed
    assert not (await engine.categories.replace(owner, at(memory), ["design", "spec"])).changed
    assert await told(engine, memory) == [(EventKind.REMEMBERED, None), (EventKind.LABELLED, True)]


async def test_a_memory_has_so_many_categories_and_no_more(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    made = [(await engine.categories.create(owner, f"c{n}")).id for n in range(MOST_ON_A_MEMORY)]
    for one in made[1:]:
        await engine.categories.attach(owner, at(memory), one)
    with pytest.raises(Invalid, match="at most 20"):
        await engine.categories.attach(owner, at(memory), made[0])
    with pytest.raises(Invalid, match="at most 20"):
        await engine.categories.replace(owner, at(memory), [*made, "design"])
    assert len(await of(engine, owner, memory)) == MOST_ON_A_MEMORY


async def test_what_sets_the_first_alone_and_what_sets_them_all_agree(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "design")
    await engine.categories.attach(owner, at(memory), "debug")
    await engine.memories.revise(owner, at(memory), Change(category="debug"))
    assert await of(engine, owner, memory) == ["debug"]
    await engine.categories.attach(owner, at(memory), "infra")
    await engine.memories.revise(owner, at(memory), Change(category=""))
    assert await of(engine, owner, memory) == ["infra"]
    await engine.categories.attach(owner, at(memory), "spec")
    assert (await first(engine, owner, memory), await of(engine, owner, memory)) == ("spec", ["spec", "infra"])


async def test_a_category_is_found_by_id_by_name_and_by_use(engine: Engine, owner: Actor) -> None:
    made, memory = await engine.categories.create(owner, "mine"), await keep(engine, owner, "a text")
    await kept(engine, owner, "borne")
    for one in (made.id, "mine", "borne", "design"):
        await engine.categories.attach(owner, at(memory), one)
    assert await of(engine, owner, memory) == ["mine", "borne", "design"]
    for unknown in ("unheard of", ABSENT):
        for verb in (*_changing(engine, owner, at(memory), unknown), *_defining(engine, owner, unknown)):
            with pytest.raises(NotFound, match=f"^no category '{unknown}'$"):
                await verb


async def test_search_finds_by_a_further_category(engine: Engine, owner: Actor) -> None:
    memory, other = await kept(engine, owner, "design", "grey cats"), await kept(engine, owner, "spec", "grey cats too")
    await engine.categories.attach(owner, at(memory), "debug")
    found = await engine.recall.recall(owner, Question("grey cats", categories=("debug",)))
    assert [hit.memory.id for hit in found.hits] == [memory.id]
    page = await engine.memories.page(owner, 10, categories=("debug", "spec"))
    assert {one.id for one in page.memories} == {memory.id, other.id}


# Renaming and deleting


async def test_memories_follow_when_their_category_is_renamed(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "old", "about")
    as_first, as_further = await kept(engine, owner, "old"), await kept(engine, owner, "design")
    bystander = await kept(engine, owner, "older")
    await engine.categories.attach(owner, at(as_further), made.id)
    changed = await engine.categories.change(owner, made.id, name="new")
    assert (changed.category, changed.memories) == (replace(made, name="new"), 2)
    assert await of(engine, owner, as_first) == ["new"]
    assert await of(engine, owner, as_further) == ["design", "new"]
    assert await of(engine, owner, bystander) == ["older"]
    assert await counts(engine, owner) == {"new": 2, "design": 1, "older": 1}
    assert [version.category for version in await engine.memories.history(owner, at(as_first))] == ["old"]
    assert (await engine.chain.verify(owner)).broken is None


async def test_a_description_changes_no_memory(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "mine")
    memory = await kept(engine, owner, "mine")
    changed = await engine.categories.change(owner, made.id, description="why", name="mine")
    assert (changed.category.description, changed.memories) == ("why", 0)
    assert (await engine.memories.get(owner, at(memory))).version == 1
    with pytest.raises(Invalid, match="nothing to change"):
        await engine.categories.change(owner, made.id)


async def test_a_new_name_must_be_free(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "mine")
    await engine.categories.create(owner, "taken")
    await kept(engine, owner, "borne")
    for name in ("taken", "design", "borne"):
        with pytest.raises(AlreadyExists):
            await engine.categories.change(owner, made.id, name=name)
    assert await counts(engine, owner) == {"mine": 0, "taken": 0, "borne": 1}


async def test_one_that_was_only_borne_becomes_the_users_own_when_it_is_changed(engine: Engine, owner: Actor) -> None:
    memory = await kept(engine, owner, "borne")
    changed = (await engine.categories.change(owner, "borne", name="named", description="why")).category
    assert changed.id
    assert (await engine.categories.of(owner, at(memory))).categories == [changed]
    assert await counts(engine, owner) == {"named": 1}


async def test_a_deleted_category_is_off_the_users_memories(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "mine")
    alone, beside = await kept(engine, owner, "mine"), await kept(engine, owner, "mine")
    await engine.categories.attach(owner, at(beside), "spec")
    assert (await engine.categories.delete(owner, made.id)).memories == 2
    assert (await of(engine, owner, alone), await of(engine, owner, beside)) == ([], ["spec"])
    await kept(engine, owner, "borne")
    assert (await engine.categories.delete(owner, "borne")).memories == 1
    assert await counts(engine, owner) == {"spec": 1}


async def test_everyones_categories_stay_as_they_are(engine: Engine, owner: Actor) -> None:
    describing = engine.categories.change(owner, "design", description="x")
    for verb in (describing, *_defining(engine, owner, "design")):
        with pytest.raises(Invalid, match="exists for everyone"):
            await verb


async def test_too_many_memories_do_not_follow_at_once(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "crowded")
    bare = Prints((), None, engine.embedding.fingerprint)
    one = await kept(engine, owner, "crowded")

    def fill(tx: Transaction) -> None:
        for number in range(MOST_FOLLOWING):
            tx.add(replace(one, id=MemoryId(f"{number}")), bare)

    await engine.store.write(fill)
    for verb in _defining(engine, owner, made.id):
        with pytest.raises(Invalid, match="more than 10000 memories"):
            await verb
    assert (await engine.categories.change(owner, made.id, description="still")).memories == 0
    assert await counts(engine, owner) == {"crowded": MOST_FOLLOWING + 1}


async def test_renaming_leaves_what_others_wrote_and_what_may_not_be_changed(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    home = await project(engine, ann, ben=Right.WRITE)
    of_ann = await engine.memories.remember(ann, Draft("of ann", category="ours", home=home))
    of_ben = await engine.memories.remember(ben, Draft("of ben", category="ours", home=home))
    await engine.collections.remove_member(ann, Kind.PROJECT, home, "ben")
    await engine.collections.add_member(ann, Kind.PROJECT, home, "ben", Right.READ)
    made = await engine.categories.create(ben, "ours")
    assert (await engine.categories.change(ben, made.id, name="mine")).memories == 0
    assert (await engine.categories.change(ann, "ours", name="anns")).memories == 1
    assert (await first(engine, ann, of_ann), await first(engine, ann, of_ben)) == ("anns", "ours")
    for verb in _defining(engine, ann, "ours"):
        with pytest.raises(NotFound):
            await verb


async def test_what_a_user_says_of_a_category_is_for_that_user(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    home = await project(engine, ann, ben=Right.WRITE)
    memory = await engine.memories.remember(ann, Draft("shared", category="plan", home=home))
    made = await engine.categories.create(ann, "plan", "my secret")
    seen = (await engine.categories.of(ben, at(memory))).categories
    assert seen == [Category("plan")]
    assert await counts(engine, ben) == {"plan": 1}
    for verb in (*_defining(engine, ben, made.id), *_changing(engine, ben, at(memory), made.id)):
        with pytest.raises(NotFound):
            await verb
    limited = ann.within(frozenset({home}))
    assert (await engine.categories.of(limited, at(memory))).categories == [Category("plan")]
    assert await counts(engine, limited) == {"plan": 1}


async def test_counts_and_names_are_of_what_the_caller_sees(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    hidden, mine = await kept(engine, ann, "secret"), await keep(engine, ben, "mine")
    assert await counts(engine, ben) == {}
    for verb in (*_changing(engine, ben, at(mine), "secret"), *_defining(engine, ben, "secret")):
        with pytest.raises(NotFound, match="no category"):
            await verb
    for memory in (at(hidden), Reference(id=MemoryId(ABSENT))):
        for verb in (engine.categories.of(ben, memory), *_changing(engine, ben, memory)):
            with pytest.raises(NotFound, match="no memory"):
                await verb


async def test_changing_needs_leave_to_write(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    home = await project(engine, ann, ben=Right.READ)
    memory = await keep(engine, ann, "a text", home)
    reader = replace(ann, permissions=frozenset({Permission.READ}))
    for verb in (
        *_changing(engine, ben, at(memory)),
        *_changing(engine, reader, at(memory)),
        engine.categories.create(reader, "x"),
        *_defining(engine, reader, "x"),
    ):
        with pytest.raises(Forbidden):
            await verb
    assert await of(engine, reader, memory) == []


async def test_a_key_that_opens_a_part_sorts_what_is_there_and_makes_no_categories(engine: Engine) -> None:
    ann = await user(engine, "ann")
    home = await project(engine, ann)
    inside, outside = await keep(engine, ann, "inside", home), await keep(engine, ann, "outside")
    limited = ann.within(frozenset({home}))
    for verb in (engine.categories.create(limited, "x"), *_defining(engine, limited, "x")):
        with pytest.raises(Forbidden):
            await verb
    await engine.categories.attach(limited, at(inside), "design")
    assert await of(engine, ann, inside) == ["design"]
    with pytest.raises(NotFound):
        await engine.categories.attach(limited, at(outside), "design")


async def test_what_is_done_to_categories_leaves_a_trace_without_their_names(engine: Engine, owner: Actor) -> None:
    made = await engine.categories.create(owner, "secret")
    await kept(engine, owner, "borne")
    await engine.categories.change(owner, made.id, name="other")
    await engine.categories.delete(owner, made.id)
    await engine.categories.delete(owner, "borne")
    found = await engine.store.read(lambda tx: tx.doings.latest(Sought(owner.user), 10))
    traces = [(doing.what, doing.subject) for doing in found if doing.what.startswith("category")]
    assert sorted(traces) == [
        ("category changed", f"category:{made.id}"),
        ("category created", f"category:{made.id}"),
        ("category deleted", ""),
        ("category deleted", f"category:{made.id}"),
    ]


def _changing(
    engine: Engine, actor: Actor, memory: Reference, category: str = "design"
) -> tuple[Awaitable[object], ...]:
    return (
        engine.categories.attach(actor, memory, category),
        engine.categories.detach(actor, memory, category),
        engine.categories.replace(actor, memory, [category]),
    )


def _defining(engine: Engine, actor: Actor, category: str) -> tuple[Awaitable[object], ...]:
    return engine.categories.change(actor, category, name="x"), engine.categories.delete(actor, category)
