"""Creo's remember and search for someone in a hundred teams, with a thousand atlases, beside the same without sharing.

Half of the memories lie in the shared atlases, which are another's; beside it, all of them are the caller's own. The
two servers are asked in turns, so that both meet the same machine. The last column is a call's CPU beside that of the
same call without sharing. After a change of rights what one may reach is looked up anew: there only the time is told.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.serving import PROGRAM

from benchmarks import corpus
from benchmarks.process import Process, cpu_seconds, started
from benchmarks.seed import Prepared, seeded
from benchmarks.table import Goal, Table, median, quantile
from commonplace.bootstrap import build
from commonplace.domain.access import Actor, Permission, Right
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.team import Role, TeamId
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.ports import Transaction
from commonplace.settings import Settings

ATLASES = 1000
TEAMS = 100
TIMES = 1.25
"""A call may take so many times what it takes without sharing."""
_AT_ONCE = 100
_TURN = 10
"""Calls before the other server has its turn."""

Act = Callable[[Process, int], object]


def tables(sizes: Sequence[int], calls: int) -> list[Table]:
    title = f"Creo over stdio with {ATLASES:,} shared atlases and {TEAMS} teams, ms"
    table = Table(title, ("memories", "call", "", "p50", "p95", "CPU", "times alone"))
    for size in sizes:
        with seeded(size) as alone, shared(size) as (together, atlas):
            _rows(table, size, calls, (alone, together), atlas)
    return [table]


def _rows(table: Table, size: int, calls: int, folders: Sequence[Path], atlas: str) -> None:
    with started(_serving(folders[0])) as alone, started(_serving(folders[1])) as together:
        for name, act in _acts(calls, size).items():
            ours, theirs = _in_turns((alone, together), calls, act)
            ratio = theirs[2] / ours[2]
            table.add(size, name, "alone", *ours, 1.0)
            table.add(size, name, "shared", *theirs, ratio)
            table.goals.append(Goal(f"{size} memories: {name}, times alone in CPU", ratio, TIMES))
        texts, questions = corpus.fresh(calls + 1, size + 2), corpus.questions(calls)
        (own,) = _in_turns((together,), calls, lambda p, n: p.call("remember", content=texts[n], atlasId=atlas))
        table.add(size, "remember", "in a shared atlas", *own, None)
        table.add(size, "search", "shared, rights changed", *_unsettled(together, questions[: calls // 5]), None, None)


def _acts(calls: int, size: int) -> dict[str, Act]:
    texts, questions = corpus.fresh(2 * calls + 2, size + 1), iter(corpus.questions(2 * calls + 2))
    rest = iter(texts)
    return {
        "remember": lambda p, _: p.call("remember", content=next(rest)),
        "search": lambda p, _: p.call("search", query=next(questions)),
    }


def _serving(folder: Path) -> tuple[str, ...]:
    return (PROGRAM, "serve", "--dialect", "creo", "--data-dir", str(folder))


def _in_turns(processes: Sequence[Process], calls: int, act: Act) -> list[tuple[float, float, float]]:
    """p50, p95 and CPU of each."""
    took: list[list[float]] = [[] for _ in processes]
    for process in processes:
        act(process, 0)  # what is loaded once is not counted
    before = [cpu_seconds(process.pid) for process in processes]
    for start in range(1, calls + 1, _TURN):
        for process, times in zip(processes, took, strict=True):
            times += [_timed(process, number, act) for number in range(start, min(start + _TURN, calls + 1))]
    cpu = [cpu_seconds(process.pid) - was for process, was in zip(processes, before, strict=True)]
    return [(median(times), quantile(times, 0.95), 1000 * used / calls) for times, used in zip(took, cpu, strict=True)]


def _timed(process: Process, number: int, act: Act) -> float:
    began = time.perf_counter()
    act(process, number)
    return 1000 * (time.perf_counter() - began)


def _unsettled(process: Process, questions: Sequence[str]) -> tuple[float, float]:
    """A new atlas before each call: who holds what has changed."""
    times = []
    for number, question in enumerate(questions):
        process.call("create_atlas", name=str(number))
        times.append(1000 * process.call("search", query=question).took)
    return median(times), quantile(times, 0.95)


# The folder


@contextmanager
def shared(size: int) -> Iterator[tuple[Path, str]]:
    """A folder in which half of the memories lie in atlases of another's; and one of those."""
    with seeded(size) as folder:
        yield folder, asyncio.run(_share(folder, size))


async def _share(folder: Path, size: int) -> str:
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul", backup_daily=False)
    engine = build(settings, model=Prepared(corpus.sentences(min(size, corpus.SENTENCES))), zone=ZoneInfo("Asia/Seoul"))
    try:
        owner = await engine.access.local_owner()
        allowed = frozenset({Permission.READ, Permission.WRITE})
        other = await engine.access.authenticate((await engine.access.create_key("k", allowed, user="ann")).key)
        teams = [await _team(engine, other, owner) for _ in range(TEAMS)]
        atlases: list[CollectionId] = []
        for start in range(0, ATLASES, _AT_ONCE):  # side by side they share the waiting for the disk
            some = range(start, min(start + _AT_ONCE, ATLASES))
            atlases += await asyncio.gather(*(_atlas(engine, other, teams[n % TEAMS]) for n in some))
        await engine.store.write(lambda tx: _spread(tx, engine, other, atlases, size // 2))
        return f"atlas:{atlases[0]}"
    finally:
        await engine.close()


async def _team(engine: Engine, other: Actor, owner: Actor) -> TeamId:
    team = (await engine.teams.create(other, "team")).membership.team.id
    await engine.teams.invite(other, team, owner.user, Role.MEMBER)
    return team


async def _atlas(engine: Engine, other: Actor, team: TeamId) -> CollectionId:
    made = (await engine.atlases.create(other, Sketch("atlas"))).collection.id
    await engine.teams.share(other, made, team, Right.WRITE, inherited=True)
    return made


def _spread(tx: Transaction, engine: Engine, other: Actor, atlases: Sequence[CollectionId], count: int) -> None:
    """Every other memory goes into an atlas."""
    places = [place.number for one in atlases if (place := tx.collections.get(one))]
    owner = tx.user_named("owner")
    assert owner
    among = engine.memories.everything_in(tx.home(owner.id))
    for number in range(1, 2 * count, 2):
        for memory in tx.memories([number], among):
            engine.collections.move_in(tx, other, memory, places[number // 2 % len(places)])
