"""Of a memory that is removed for good, its names and disclosures go as well, from every file."""

from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.address import address
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.paths import Signpost
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

TRACES = "quizzaci vjqkwz 鬱蒼森林 brlmpf qxname1 qxname2 qxname3 qxtold1 qxtold2 qxtold3 qxorigin".split()


def traces(folder: Path) -> set[str]:
    data = b"".join(path.read_bytes() for path in folder.iterdir()).lower()
    return {word for word in TRACES if word.encode() in data}


async def told(engine: Engine, owner: Actor) -> Reference:
    """A memory whose text, names and disclosures have all been changed at least once."""
    for n in range(30):
        await engine.paths.plant(owner, address("core://"), Draft(f"another text {n}"), Signpost(n, f"reason {n}"))
    draft = Draft("quizzaciously hidden vjqkwz 鬱蒼森林")
    node = await engine.paths.plant(owner, address("core://"), draft, Signpost(0, "qxtold1"), "qxname1")
    assert node.memory
    await engine.paths.alias(owner, address("core://1/qxname2"), node.address, Signpost(0, "qxtold2"))
    await engine.paths.alias(owner, address("notes://qxname3"), node.address, Signpost(0, "x"))
    signpost = Signpost(disclosure="qxtold3")
    node = await engine.paths.edit(
        owner, address("notes://qxname3"), node.memory, content="now brlmpf", signpost=signpost
    )
    await engine.paths.prune(owner, address("core://qxname1"))
    await engine.store.write(
        lambda tx: tx.put_origin("elsewhere", "qxorigin", node.memory.number if node.memory else 0)
    )
    assert node.memory
    return Reference(node.memory.id)


async def test_of_a_forgotten_memory_no_text_name_or_disclosure_is_left(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    reference = await told(engine, owner)
    assert traces(folder) == set(TRACES)
    await engine.memories.forget(owner, reference)
    await engine.store.vacuum()
    assert traces(folder) == set()
    assert (await engine.paths.outline(owner, 100)).total == 30
    await engine.close()
    assert traces(folder) == set()


async def test_of_a_memory_that_lost_its_last_path_nothing_is_left_either_once_it_is_removed(
    engine: Engine, owner: Actor, folder: Path
) -> None:
    reference = await told(engine, owner)
    await engine.paths.prune(owner, address("core://1/qxname2"))
    await engine.paths.prune(owner, address("notes://qxname3"))
    assert (await engine.paths.orphans(owner, 10))[1] == 1
    await engine.memories.forget(owner, reference)
    await engine.store.vacuum()
    assert traces(folder) == set()


async def test_of_a_memory_that_has_ended_nothing_is_left_after_the_sweep(
    engine: Engine, owner: Actor, folder: Path, clock: Clock
) -> None:
    reference = await told(engine, owner)
    await engine.memories.set_end(owner, reference, timedelta(hours=1))
    clock.advance(timedelta(hours=1))
    assert await engine.memories.sweep() == 1
    await engine.store.settle()
    assert traces(folder) == set(), "without a vacuum too"


async def test_a_session_taken_back_leaves_nothing_of_what_it_made(engine: Engine, owner: Actor, folder: Path) -> None:
    await told(engine, owner.through("test", "s"))
    await engine.undo.take_back(owner.through("person", "person"), "s")
    await engine.store.vacuum()
    assert traces(folder) == set()
