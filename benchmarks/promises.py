"""The table of assoc's reference, chapter 5.1: store and search on each transport, with one client and at full load.

With one client the goal is a tenth of what the reference allows; with as many as it promises, what it allows. Full load
is every client at work: one call each every PACE seconds, as busy agents make them. Beside it, without a goal, the
same crowd without a pause: then a call waits for all others, and the time is the crowd divided by what the machine can
do. The clients are those of the SDK and share the machine with the server. Acknowledged writes are asked for again
after a kill -9.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from mcp.client.client import Client
from tests.serving import OWNER_KEY, PROGRAM, Served, over_http, over_sse, served, stdio

from benchmarks import corpus
from benchmarks.load import Outcome, Request, called, crowd
from benchmarks.process import started
from benchmarks.seed import seeded
from benchmarks.table import Goal, Table, quantile

PACE = 5.0
UNLIMITED = ("--rate-limit", "0", "--address-rate-limit", "0")
ALLOWED = {"stdio": (500, 200), "http": (600, 300), "sse": (800, 400)}
"""Milliseconds for a store and for a search."""
CROWDS = {
    "stdio": ((1, 0.0),),
    "http": ((1, 0.0), (50, PACE), (50, 0.0)),
    "sse": ((1, 0.0), (100, PACE), (100, 0.0)),
}
"""How many clients, and the seconds from one call of a client to its next."""
_STORE_EVERY = 5

Connect = Callable[[], AbstractAsyncContextManager[Client]]


def tables(size: int, calls: int, requests: int) -> list[Table]:
    columns = ("transport", "clients", "pause", "call", "calls", "p50", "p95", "p99", "allowed", "errors", "lost")
    table = Table(f"Assoc's promises at {size} memories, ms", columns)
    for transport, crowds in CROWDS.items():
        for clients, pace in crowds:
            outcome, lost = _measured(transport, clients, pace, size, calls if clients == 1 else requests)
            _rows(table, transport, clients, pace, outcome, lost)
    return [table]


def _rows(table: Table, transport: str, clients: int, pace: float, outcome: Outcome, lost: int) -> None:
    for kind, allowed in zip(("store", "search"), ALLOWED[transport], strict=True):
        times = [1000 * quantile(outcome.took[kind], share) for share in (0.5, 0.95, 0.99)]
        table.add(transport, clients, pace, kind, len(outcome.took[kind]), *times, allowed, len(outcome.errors), lost)
        limit = allowed / 10 if clients == 1 else allowed
        if clients > 1 and not pace:
            continue
        table.goals.append(Goal(f"{transport}, {clients} clients: {kind}, p95", times[1], limit))
    table.goals.append(Goal(f"{transport}, {clients} clients: errors and lost writes", len(outcome.errors) + lost, 0))
    table.notes += [f"first error: {error}" for error in outcome.errors[:1]]


def _measured(transport: str, clients: int, pace: float, size: int, calls: int) -> tuple[Outcome, int]:
    with seeded(size) as folder:
        if transport == "stdio":
            outcome = anyio.run(crowd, partial(_over_stdio, folder), clients, calls, _mixed(calls), 1)
        else:
            with served(folder, "--dialect", "assoc", *UNLIMITED, COMMONPLACE_BACKUP_DAILY="no") as server:
                outcome = anyio.run(
                    crowd, partial(_over, transport, server), clients, calls, _mixed(calls), server.process.pid, pace
                )
                server.process.kill()
        return outcome, _lost(folder, outcome)


@asynccontextmanager
async def _over_stdio(folder: Path) -> AsyncIterator[Client]:
    async with stdio(folder, "--dialect", "assoc", COMMONPLACE_BACKUP_DAILY="no") as client:
        yield client


@asynccontextmanager
async def _over(transport: str, server: Served) -> AsyncIterator[Client]:
    connection = over_sse(server, key=OWNER_KEY) if transport == "sse" else over_http(server, key=OWNER_KEY)
    async with connection as client:
        yield client


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
