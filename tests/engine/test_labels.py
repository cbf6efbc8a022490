from collections.abc import Awaitable
from dataclasses import replace

import pytest

from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.doing import Sought
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound
from commonplace.domain.event import Event, EventKind
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.label import MOST_LABELS, Label, color
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.ports import Transaction
from tests.engine.test_collections import at, keep, project, user

pytestmark = pytest.mark.anyio

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


async def names(engine: Engine, actor: Actor) -> list[str]:
    return [use.label.name for use in await engine.labels.all(actor)]


async def events(engine: Engine) -> list[Event]:
    return [event for event in await engine.events.after(0) if event.kind is EventKind.LABELLED]


@pytest.mark.parametrize(
    ("written", "kept"),
    [("#FF0000", "#FF0000"), (" #ff00aa ", "#FF00AA"), ("#f0a", "#FF00AA"), ("", ""), ("  ", "")],
)
def test_a_colour_has_one_spelling(written: str, kept: str) -> None:
    assert color(written) == kept


@pytest.mark.parametrize(
    "written", ["red", "#FF00", "FF0000", "#GG0000", "#FF0000\n#", "#FF0000FF", "#１２３", "#\ud800"]
)
def test_what_is_no_colour_is_refused_with_what_to_write(written: str) -> None:
    with pytest.raises(Invalid, match="like #FF0000 or #F00"):
        color(written)


async def test_a_label_is_made_once_under_a_name_in_one_spelling(engine: Engine, owner: Actor) -> None:
    made = await engine.labels.create(owner, " e\u0301tude ", "#f00")
    assert (made.name, made.color, made.owner) == ("étude", "#FF0000", owner.user)
    with pytest.raises(AlreadyExists):
        await engine.labels.create(owner, "étude")
    await engine.labels.create(await user(engine, "ben"), "étude")
    for name in ("", " ", "\x00", "\ud800", "x" * 101):
        with pytest.raises(Invalid):
            await engine.labels.create(owner, name)
    assert await names(engine, owner) == ["étude"]


async def test_there_is_an_end_to_labels(engine: Engine, owner: Actor) -> None:
    first = await engine.labels.create(owner, "0")

    def fill(tx: Transaction) -> None:
        for number in range(1, MOST_LABELS):
            tx.labels.add(Label(f"{number}", owner.user, f"{number}", "", first.created_at))

    await engine.store.write(fill)
    with pytest.raises(Invalid, match="delete one"):
        await engine.labels.create(owner, "one more")
    await engine.labels.delete(owner, first.id)
    await engine.labels.create(owner, "one more")


async def test_a_change_sets_what_is_given(engine: Engine, owner: Actor) -> None:
    made = await engine.labels.create(owner, "a", "#111111")
    await engine.labels.create(owner, "taken")
    changed = await engine.labels.change(owner, made.id, name="b")
    assert (changed.id, changed.name, changed.color) == (made.id, "b", "#111111")
    changed = await engine.labels.change(owner, made.id, color="", name="b")
    assert (changed.name, changed.color) == ("b", "")
    with pytest.raises(AlreadyExists):
        await engine.labels.change(owner, made.id, name="taken")
    with pytest.raises(Invalid, match="nothing to change"):
        await engine.labels.change(owner, made.id)
    with pytest.raises(Invalid):
        await engine.labels.change(owner, made.id, color="red")
    assert sorted(await names(engine, owner)) == ["b", "taken"]


async def test_attaching_twice_is_attaching_once(engine: Engine, owner: Actor) -> None:
    memory, made = await keep(engine, owner, "a text"), await engine.labels.create(owner, "a")
    done = await engine.labels.attach(owner, at(memory), made.id)
    assert (done.memory.id, done.labels, done.changed) == (memory.id, [made], True)
    assert not (await engine.labels.attach(owner, at(memory), made.id)).changed
    assert [(e.memory, e.detail) for e in await events(engine)] == [(memory.id, {"label": made.id, "attached": True})]
    assert [(use.label.name, use.memories) for use in await engine.labels.all(owner)] == [("a", 1)]


async def test_detaching_twice_is_detaching_once(engine: Engine, owner: Actor) -> None:
    memory, made = await keep(engine, owner, "a text"), await engine.labels.create(owner, "a")
    await engine.labels.attach(owner, at(memory), made.id)
    done = await engine.labels.detach(owner, at(memory), made.id)
    assert (done.labels, done.changed) == ([], True)
    assert not (await engine.labels.detach(owner, at(memory), made.id)).changed
    assert [e.detail["attached"] for e in await events(engine)] == [True, False]


async def test_labelling_makes_no_version(engine: Engine, owner: Actor) -> None:
    memory, made = await keep(engine, owner, "a text"), await engine.labels.create(owner, "a")
    await engine.labels.attach(owner, at(memory), made.id)
    assert (await engine.memories.get(owner, at(memory))).version == 1


async def test_a_deleted_label_is_off_every_memory(engine: Engine, owner: Actor) -> None:
    memory, made = await keep(engine, owner, "a text"), await engine.labels.create(owner, "a")
    await engine.labels.attach(owner, at(memory), made.id)
    assert (await engine.labels.delete(owner, made.id)).memories == 1
    assert (await engine.labels.of(owner, at(memory))).labels == []
    with pytest.raises(NotFound):
        await engine.labels.delete(owner, made.id)


async def test_recall_finds_by_any_of_the_labels(engine: Engine, owner: Actor) -> None:
    first, second, bare = [await keep(engine, owner, f"grey cats {word}") for word in ("sleep", "eat", "run")]
    a, b = [await engine.labels.create(owner, name) for name in "ab"]
    await engine.labels.attach(owner, at(first), a.id)
    await engine.labels.attach(owner, at(second), b.id)

    async def found(*labels: str) -> set[str]:
        recalled = await engine.recall.recall(owner, Question("grey cats", labels=labels))
        page = await engine.memories.page(owner, 10, labels=labels)
        assert {hit.memory.id for hit in recalled.hits} == {memory.id for memory in page.memories}
        return {memory.id for memory in page.memories}

    assert await found(a.id) == {first.id}
    assert await found(a.id, b.id) == {first.id, second.id}
    assert await found() == {first.id, second.id, bare.id}
    await engine.labels.detach(owner, at(first), a.id)
    assert await found(a.id) == set()


async def test_labels_are_their_owners_alone(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    home = await project(engine, ann, ben=Right.WRITE)
    shared = await keep(engine, ann, "shared", home)
    anns = await engine.labels.create(ann, "private word")
    await engine.labels.attach(ann, at(shared), anns.id)
    assert (await engine.labels.of(ben, at(shared))).labels == []
    assert await engine.labels.all(ben) == []
    for label in (anns.id, ABSENT):
        refused = {
            str(await _refusal(engine.labels.change(ben, label, name="x"))).replace(label, ""),
            str(await _refusal(engine.labels.delete(ben, label))).replace(label, ""),
            str(await _refusal(engine.labels.attach(ben, at(shared), label))).replace(label, ""),
            str(await _refusal(engine.labels.detach(ben, at(shared), label))).replace(label, ""),
            str(await _refusal(engine.recall.recall(ben, Question("shared", labels=(label,))))).replace(label, ""),
        }
        assert refused == {"no label ''"}
    bens = await engine.labels.create(ben, "mine")
    await engine.labels.attach(ben, at(shared), bens.id)
    assert [label.name for label in (await engine.labels.of(ann, at(shared))).labels] == ["private word"]


async def _refusal(verb: Awaitable[object]) -> NotFound:
    with pytest.raises(NotFound) as caught:
        await verb
    return caught.value


async def test_labelling_needs_leave_to_change_the_memory(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    home = await project(engine, ann, ben=Right.READ)
    seen, hidden = await keep(engine, ann, "seen", home), await keep(engine, ann, "hidden")
    made = await engine.labels.create(ben, "b")
    with pytest.raises(Forbidden):
        await engine.labels.attach(ben, at(seen), made.id)
    with pytest.raises(Forbidden):
        await engine.labels.detach(ben, at(seen), made.id)
    for memory in (at(hidden), Reference(id=MemoryId(ABSENT))):
        with pytest.raises(NotFound, match="no memory"):
            await engine.labels.attach(ben, memory, made.id)
        with pytest.raises(NotFound, match="no memory"):
            await engine.labels.of(ben, memory)
    assert (await engine.labels.of(ben, at(seen))).labels == []


async def test_a_key_that_only_reads_or_opens_a_part_makes_no_labels(engine: Engine) -> None:
    ann = await user(engine, "ann")
    memory, made = await keep(engine, ann, "text"), await engine.labels.create(ann, "a")
    reader = replace(ann, permissions=frozenset({Permission.READ}))
    limited = ann.within(frozenset({memory.collection}))
    for verb in (
        engine.labels.create(limited, "x"),
        engine.labels.all(limited),
        engine.labels.change(limited, made.id, name="x"),
        engine.labels.delete(limited, made.id),
        engine.labels.attach(limited, at(memory), made.id),
        engine.labels.detach(limited, at(memory), made.id),
        engine.labels.of(limited, at(memory)),
        engine.labels.create(reader, "x"),
        engine.labels.change(reader, made.id, name="x"),
        engine.labels.delete(reader, made.id),
        engine.labels.attach(reader, at(memory), made.id),
        engine.labels.detach(reader, at(memory), made.id),
    ):
        with pytest.raises(Forbidden):
            await verb
    assert [use.label for use in await engine.labels.all(reader)] == [made]


async def test_what_is_done_to_labels_leaves_a_trace_without_their_names(engine: Engine, owner: Actor) -> None:
    made = await engine.labels.create(owner, "secret word")
    await engine.labels.change(owner, made.id, color="#000")
    await engine.labels.delete(owner, made.id)
    found = await engine.store.read(lambda tx: tx.doings.latest(Sought(owner.user), 10))
    assert sorted(doing.what for doing in found) == ["label changed", "label created", "label deleted"]
    assert {doing.subject for doing in found} == {f"label:{made.id}"}
