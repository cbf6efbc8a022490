"""The table of assoc's reference, chapter 5.1: store and search on each transport, with one client and at full load.

With one client the goal is a tenth of what the reference allows; with as many as it promises, what it allows. Full load
is every client at work: one call each every PACE seconds, as busy agents make them. Beside it, without a goal, the
same crowd without a pause: then a call waits for all others, and the time is the crowd divided by what the machine can
do. The clients are those of the SDK and share the machine with the server. Acknowledged writes are asked for again
after a kill -9.

How fast a shared machine is changes from minute to minute, so one client has ROUNDS, each with a server of its own,
and every figure is the one in the middle. Beside it the bare server answers the same client as much: what is left to us
of the time. And beside that a fixed loop, between the rounds: on a machine of one's own it takes its best time always,
and as many times that as others slow down this one. "best" is every search by the best of its rounds, which is nearer
to what it would take there; it is not judged.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.serving import PROGRAM, Served, Wire, environment, over_http, over_sse, served, stdio

from benchmarks import corpus
from benchmarks.load import Outcome, Request, bare_served, called, connected, crowd
from benchmarks.machine import paced
from benchmarks.process import started
from benchmarks.seed import seeded
from benchmarks.start import BARE
from benchmarks.table import Goal, Table, median, quantile

PACE = 5.0
ROUNDS = 3
UNLIMITED = ("--rate-limit", "0", "--address-rate-limit", "0")
ALLOWED = {"stdio": (500, 200), "http": (600, 300), "sse": (800, 400)}
"""Milliseconds for a store and for a search."""


class Load(NamedTuple):
    """So many clients on one wire, and the seconds from one call of a client to its next."""

    wire: Wire
    clients: int
    pace: float = 0.0

    @property
    def judged(self) -> bool:
        return self.clients == 1 or self.pace > 0

    def __str__(self) -> str:
        return f"{self.wire}, {self.clients} client{'s' * (self.clients > 1)}"


STDIO, HTTP, OLD_HTTP = Wire("stdio", "2026-07-28"), Wire("http", "2026-07-28"), Wire("http", "legacy")
SSE = Wire("sse", "legacy")
LOADS = (
    *(Load(wire, 1) for wire in (STDIO, HTTP, OLD_HTTP, SSE)),
    *(Load(HTTP, 50, PACE), Load(OLD_HTTP, 50, PACE), Load(SSE, 100, PACE)),
    *(Load(HTTP, 50), Load(SSE, 100)),
)
_STORE_EVERY = 5
_LOOPS = 200


def tables(size: int, calls: int, requests: int) -> list[Table]:
    columns = ("wire", "clients", "pause", "call", "calls", "p50", "p95", "p99", "allowed", "errors", "lost")
    table, best = Table(f"Assoc's promises at {size} memories, ms", columns), inf
    for load in LOADS:
        if load.clients > 1:
            _rows(table, load, [_measured(load, size, requests)])
            continue
        rounds = [(_measured(load, size, calls), paced(_LOOPS)) for _ in range(ROUNDS)]
        _rows(table, load, [measured for measured, _ in rounds])
        _row(table, load, "best", [_best([outcome.took["search"] for (outcome, _), _ in rounds])])
        if load.wire.transport != "sse":
            _row(table, load, "bare", [_bare(load.wire, calls) for _ in range(ROUNDS)])
        _row(table, load, "loop", [loops for _, loops in rounds])
        best = min(best, *(min(loops) for _, loops in rounds))
    table.notes.append(f"the loop's best: {1000 * best:.2f} ms")
    return [table]


def _best(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Of each call the shortest time of all rounds; they ask the same in the same order."""
    return [min(same) for same in zip(*rounds, strict=False)]


def _row(table: Table, load: Load, name: str, rounds: Sequence[Sequence[float]]) -> None:
    """Something to compare with."""
    table.add(str(load.wire), 1, load.pace, name, sum(map(len, rounds)), *_times(rounds), None, None, None)


def _rows(table: Table, load: Load, rounds: Sequence[tuple[Outcome, int]]) -> None:
    errors, lost = [error for outcome, _ in rounds for error in outcome.errors], sum(lost for _, lost in rounds)
    for kind, allowed in zip(("store", "search"), ALLOWED[load.wire.transport], strict=True):
        took = [outcome.took[kind] for outcome, _ in rounds]
        times, calls = _times(took), sum(map(len, took))
        table.add(str(load.wire), load.clients, load.pace, kind, calls, *times, allowed, len(errors), lost)
        if load.judged:
            limit = allowed / 10 if load.clients == 1 else allowed
            table.goals.append(Goal(f"{load}: {kind}, p95", times[1], limit))
    table.goals.append(Goal(f"{load}: errors and lost writes", len(errors) + lost, 0))
    table.notes += [f"first error: {error}" for error in errors[:1]]


def _times(rounds: Sequence[Sequence[float]]) -> list[float]:
    return [1000 * median([quantile(took, share) for took in rounds]) for share in (0.5, 0.95, 0.99)]


def _measured(load: Load, size: int, calls: int) -> tuple[Outcome, int]:
    with seeded(size) as folder:
        if load.wire.transport == "stdio":
            outcome = anyio.run(crowd, partial(_over_stdio, folder), load.clients, calls, _mixed(calls), 1)
        else:
            with served(folder, "--dialect", "assoc", *UNLIMITED, COMMONPLACE_BACKUP_DAILY="no") as server:
                connect, pid = partial(_over, load.wire, server), server.process.pid
                outcome = anyio.run(crowd, connect, load.clients, calls, _mixed(calls), pid, load.pace)
                server.process.kill()
        return outcome, _lost(folder, outcome)


def _bare(wire: Wire, calls: int) -> list[float]:
    """Seconds that a client on this wire waits for a server which does nothing but answer."""
    if wire.transport == "stdio":
        command = StdioServerParameters(command=BARE[0], args=list(BARE[1:]), env=environment())
        return anyio.run(_echoed, lambda: Client(stdio_client(command), mode=wire.era), calls)
    with bare_served() as (url, _):
        return anyio.run(_echoed, partial(connected, url, wire.era), calls)


async def _echoed(connect: Callable[[], AbstractAsyncContextManager[Client]], calls: int) -> list[float]:
    took = []
    async with connect() as client:
        await called(client, "learn", answer={"results": [{"content": text} for text in corpus.fresh(10, 12)]})
        for question in corpus.questions(calls):
            began = time.perf_counter()
            await called(client, "echo", query=question)
            took.append(time.perf_counter() - began)
    return took


def _over_stdio(folder: Path) -> AbstractAsyncContextManager[Client]:
    return stdio(folder, "--dialect", "assoc", era=STDIO.era, COMMONPLACE_BACKUP_DAILY="no")


def _over(wire: Wire, server: Served) -> AbstractAsyncContextManager[Client]:
    return over_sse(server) if wire.transport == "sse" else over_http(server, era=wire.era)


def _mixed(calls: int) -> Callable[[Outcome], Request]:
    questions, texts = corpus.questions(calls + 1), corpus.fresh(calls + 1, 11)

    def kind(outcome: Outcome) -> Request:
        async def act(client: Client, number: int) -> str:
            if number % _STORE_EVERY:
                await called(client, "memory", action="search", query=questions[number])
                return "search"
            added = await called(client, "memory", action="store", domain="user", content=texts[number])
            outcome.acknowledged[added["data"]["memory_id"]] = texts[number]
            return "store"

        return act

    return kind


def _lost(folder: Path, outcome: Outcome) -> int:
    """How many acknowledged texts a new process does not know."""
    lost = 0
    with started((PROGRAM, "serve", "--dialect", "assoc", "--data-dir", str(folder))) as process:
        for memory_id, text in outcome.acknowledged.items():
            answer = process.call("memory", action="get", memory_id=memory_id).answer["structuredContent"]
            lost += answer["data"]["content"] != text
    return lost
