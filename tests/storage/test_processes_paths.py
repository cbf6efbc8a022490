"""Several processes at work on one tree, and processes that are killed while they plant."""

from pathlib import Path

import apsw
import pytest

from commonplace.domain.access import Actor
from commonplace.domain.address import address
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.paths import Signpost
from commonplace.storage.sqlite.store import FILE_NAME
from tests.storage.peer import Peer, peers

pytestmark = pytest.mark.anyio

COUNT = 20


@pytest.fixture
async def log(engine: Engine, owner: Actor) -> None:
    await engine.paths.plant(owner, address("core://"), Draft("the log"), Signpost(), "log")


async def texts(engine: Engine, owner: Actor) -> dict[str, str]:
    """By address, everything under the log."""
    node = await engine.paths.look(owner, address("core://log"), most=100_000)
    where = [node.address.child(branch.path.name) for branch in node.branches]
    return {str(one): memory.content for one in where if (memory := (await engine.paths.look(owner, one)).memory)}


def assert_sound(folder: Path) -> None:
    """Every path leads from and to a memory, every memory is in the index of letters, every name in that of names."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    connection.set_busy_timeout(30_000)
    # First: it trusts what this connection has read of a full-text index, and others write between the statements.
    assert connection.pragma("integrity_check") == "ok"
    for table in ("letters", "names"):
        # With rank 1 the index is compared with the rows themselves.
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    unnoted = """
    SELECT count(*) FROM memories AS m
    WHERE NOT EXISTS (SELECT 1 FROM paths AS p WHERE p.memory = m.number)
    AND NOT EXISTS (SELECT 1 FROM orphans AS o WHERE o.memory = m.number)
    """
    assert connection.execute(unnoted).get == 0, "a memory was kept without its path"
    unheard = """
    SELECT count(*) FROM events AS e
    WHERE e.kind IN ('planted', 'pruned') AND NOT EXISTS (SELECT 1 FROM amendments AS a WHERE a.event = e.number)
    """
    assert connection.execute(unheard).get == 0, "a path was changed without a trace of how"
    connection.close()


@pytest.mark.usefixtures("log")
async def test_four_processes_plant_under_one_parent_and_nothing_is_lost(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    names = ["north", "east", "south", "west"]
    with peers(folder, *names) as planters:
        for planter in planters:
            planter.tell("plant", COUNT)
        said = [planter.answer() for planter in planters for _ in range(COUNT + 1)]
    told = {where: content for one in said if isinstance(one, list) for where, content in [one]}
    total = COUNT * len(names)
    assert set(told) == {f"core://log/{number}" for number in range(1, total + 1)}
    assert sorted(told.values()) == sorted(f"{name} planted {n} and wrote" for name in names for n in range(COUNT))
    assert await texts(engine, owner) == told
    assert (await engine.paths.outline(owner, 10_000)).total == 1 + total + total // 2
    assert (await engine.literal.search(owner, "planted 1 and", 10)).total == len(names)
    assert_sound(folder)


@pytest.mark.usefixtures("log")
async def test_a_process_that_is_killed_leaves_no_half_of_a_planting(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    acknowledged: dict[str, str] = {}
    planting = [started(folder, f"life-{number}") for number in range(2)]
    for kill in range(6):
        planting.append(started(folder, f"life-{kill + 2}"))
        victim = planting.pop(0)
        assert victim.answer() == "ready"
        acknowledged.update(told(victim.answer()) for _ in range(2 + (kill * 7) % 11))
        victim.kill()
        acknowledged.update(map(told, victim.acknowledged()))
        victim.end()
        assert_sound(folder)
    for survivor in planting:
        survivor.kill()
        acknowledged.update(told(one) for one in survivor.acknowledged() if str(one) != "ready")
        survivor.end()
    found = await texts(engine, owner)
    assert len(acknowledged) > 30
    assert acknowledged.items() <= found.items()
    assert set(found) == {f"core://log/{number}" for number in range(1, len(found) + 1)}
    assert (await engine.chain.verify(owner)).valid
    assert_sound(folder)


def started(folder: Path, name: str) -> Peer:
    """A process that plants until it is killed."""
    peer = Peer(folder, name)
    peer.tell("plant", 1_000_000)
    return peer


def told(answer: object) -> tuple[str, str]:
    assert isinstance(answer, list)
    where, content = answer
    return where, content
