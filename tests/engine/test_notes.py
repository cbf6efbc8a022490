"""Notes: append-only, memories like any other, in an order that stays."""

from datetime import timedelta

import anyio
import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import Forbidden, Invalid
from commonplace.domain.memory import Change
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

READ = frozenset({Permission.READ})


@pytest.fixture
async def space(engine: Engine, owner: Actor) -> str:
    return (await engine.spaces.found(owner, "alpha", "", "# Rules", "")).collection.name


async def texts(engine: Engine, owner: Actor, space: str, limit: int = 500) -> list[str]:
    return [note.content for note in (await engine.notes.page(owner, space, limit)).notes]


async def test_a_note_is_a_memory_of_its_space(engine: Engine, owner: Actor, space: str) -> None:
    note = await engine.notes.write(owner, space, "decision", "On part sur S3", "cline", ("auth", "日本"))
    assert note.id
    memory = await engine.memories.get(owner, Reference(note.id))
    assert (memory.content, memory.category, memory.tags) == ("On part sur S3", "decision", ("auth", "日本"))
    assert memory.metadata == {"agent": "cline", "filename": note.name}
    assert memory.domain == "project"
    assert memory.block is not None


async def test_what_others_do_to_the_memory_is_seen_in_the_note(engine: Engine, owner: Actor, space: str) -> None:
    note = await engine.notes.write(owner, space, "todo", "first", "cline", ("a",))
    assert note.id
    await engine.memories.revise(owner, Reference(note.id), Change(content="second é", tags=("b", "c")))
    (found,) = (await engine.notes.page(owner, space, 10)).notes
    assert (found.content, found.tags, found.name) == ("second é", ("b", "c"), note.name)
    await engine.mirror.push()  # what the head of a file takes is known when it is written
    figures = (await engine.spaces.overview(owner, space)).space.figures
    assert figures.notes_size == note.size + len("second é".encode()) - len("first") + len(', "c"')
    await engine.memories.forget(owner, Reference(note.id))
    assert await texts(engine, owner, space) == []


async def test_agents_in_two_processes_lose_nothing_and_agree_on_the_order(
    engine: Engine, owner: Actor, space: str, clock: Clock
) -> None:
    settings = Settings(data_dir=engine.store.location, timezone="UTC")
    other = build(settings, model=Embedder(), clock=clock)
    them = await other.access.local_owner()

    async def work(house: Engine, actor: Actor, number: int) -> None:
        for turn in range(4):
            await house.notes.write(actor, space, "todo", f"{number}/{turn}", f"a{number}")

    async with anyio.create_task_group() as group:
        for number in range(25):
            group.start_soon(work, engine, owner, number)
            group.start_soon(work, other, them, 100 + number)
    found = await texts(engine, owner, space)
    assert len(found) == len(set(found)) == 200
    assert await texts(other, them, space) == found
    await other.close()


async def test_the_order_is_by_time_and_within_an_instant_by_arrival(
    engine: Engine, owner: Actor, space: str, clock: Clock
) -> None:
    for number in range(9):
        await engine.notes.write(owner, space, "todo", str(number), "a")
        if number % 3 == 2:
            clock.advance(timedelta(microseconds=1))
    assert await texts(engine, owner, space) == list("876543210")
    assert await texts(engine, owner, space, 4) == list("8765")


async def test_an_agent_is_found_however_its_name_is_spelt_in_unicode(engine: Engine, owner: Actor, space: str) -> None:
    await engine.notes.write(owner, space, "todo", "x", "  Ame\u0301lie ")
    for agent in ("Amélie", "Ame\u0301lie", " Amélie "):
        assert (await engine.notes.page(owner, space, 10, agent=agent)).total == 1
    assert (await engine.notes.page(owner, space, 10, agent=" ")).total == 1


@pytest.mark.parametrize(
    ("category", "content", "agent", "tags"),
    [
        ("bug", "x", "a", ()),
        ("todo", "", "a", ()),
        ("todo", "\u200b\n", "a", ()),
        ("todo", "x" * 100_001, "a", ()),
        ("todo", "a\x00b", "a", ()),
        ("todo", "\ud800", "a", ()),
        ("todo", "x", "a" * 201, ()),
        ("todo", "x", "\ud800", ()),
        ("todo", "x", "a", ("",)),
        ("todo", "x", "a", ("\ud800",)),
        ("todo", "x", "a", tuple(map(str, range(21)))),
    ],
)
async def test_what_cannot_be_kept_is_refused(
    engine: Engine, owner: Actor, space: str, category: str, content: str, agent: str, tags: tuple[str, ...]
) -> None:
    with pytest.raises(Invalid):
        await engine.notes.write(owner, space, category, content, agent, tags)
    assert await texts(engine, owner, space) == []


async def test_what_cannot_be_sought_is_refused(engine: Engine, owner: Actor, space: str) -> None:
    for query in ("", " ", "\ud800", "a\x00b", "x" * 20_001):
        with pytest.raises(Invalid):
            await engine.notes.search(owner, space, query, 10)
    for agent in ("\ud800", "a\x00b"):
        with pytest.raises(Invalid):
            await engine.notes.page(owner, space, 10, agent=agent)
    with pytest.raises(Invalid):
        await engine.bank.file(owner, space, "\ud800")


async def test_a_reader_writes_no_note(engine: Engine, owner: Actor, space: str) -> None:
    made = await engine.tokens.create(owner, "reader", READ, (), 0)
    reader = (await engine.access.authenticate(made.key)).through("test")
    with pytest.raises(Forbidden):
        await engine.notes.write(reader, space, "todo", "x", "a")
    assert (await engine.notes.page(reader, space, 10)).total == 0


async def test_every_note_that_holds_a_passage_is_counted(engine: Engine, owner: Actor, space: str) -> None:
    for number in range(60):
        await engine.notes.write(owner, space, "todo", f"passage {number} Он 東", "a")
    for query in ("passage", "PASSAGE", "on 東".replace("on", "он"), "он", "東", "o", "9"):
        found = await engine.notes.search(owner, space, query, 5)
        expected = 60 if query != "9" else sum("9" in str(n) for n in range(60))
        if query == "o":
            expected = 0
        assert (found.total, len(found.notes)) == (expected, min(5, expected)), query
