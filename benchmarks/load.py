"""Many clients at once over HTTP, four searches to each store call, beside a bare server under the same clients.

The clients are those of the SDK and take CPU of their own on the same machine, so that the server's CPU a request
tells more than requests a second do. At the end the server is killed, as by a power cut, and every write it had
acknowledged is asked for from a new process.
"""

import contextlib
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.serving import OWNER_KEY, PROGRAM, Era, environment, free_port, served

from benchmarks import corpus
from benchmarks.process import cpu_seconds, started
from benchmarks.seed import seeded
from benchmarks.start import BARE
from benchmarks.table import Goal, Table, quantile

_STORE_EVERY = 5

Request = Callable[[Client, int], Awaitable[str]]
Connect = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass
class Outcome:
    """What a crowd of clients saw."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"search": [], "store": [], "echo": []})
    errors: list[str] = field(default_factory=list)
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Texts by the id the server gave them."""
    seconds: float = 0.0
    cpu: float = 0.0

    @property
    def requests(self) -> int:
        return sum(map(len, self.took.values()))


def tables(crowds: Sequence[int], requests: int, size: int) -> list[Table]:
    columns = ("clients", "", "requests", "per s", "p50", "p95", "p99", "server CPU", "x bare", "errors", "lost")
    table = Table(f"Clients over HTTP, {size} memories, ms", columns)
    for clients in crowds:
        bare = _bare(clients, requests)
        ours, lost = _ours(clients, requests, size)
        price = 1000 * bare.cpu / bare.requests
        _rows(table, clients, bare, "bare", price, None)
        _rows(table, clients, ours, "mixed", price, lost)
        table.goals.append(Goal(f"{clients} clients: errors", len(ours.errors), 0))
        table.goals.append(Goal(f"{clients} clients: acknowledged writes lost after kill -9", lost, 0))
        table.notes += [f"first error: {error}" for error in ours.errors[:1]]
    return [table]


def _rows(table: Table, clients: int, outcome: Outcome, name: str, price: float, lost: int | None) -> None:
    cpu = 1000 * outcome.cpu / max(outcome.requests, 1)
    every = [one for took in outcome.took.values() for one in took]
    kinds = {name: every} | {kind: took for kind, took in outcome.took.items() if took and kind != "echo"}
    for kind, took in kinds.items():
        times = [1000 * quantile(took, share) for share in (0.5, 0.95, 0.99)]
        whole = kind == name
        ratio = cpu / price if price else None  # a few calls may take less CPU than the kernel counts
        of_all = (cpu, ratio, len(outcome.errors), lost) if whole else (None, None, None, None)
        table.add(clients, kind, len(took), len(took) / outcome.seconds, *times, *of_all)


def _ours(clients: int, requests: int, size: int) -> tuple[Outcome, int]:
    with seeded(size) as folder:
        with served(folder, "--rate-limit", "0", "--address-rate-limit", "0", COMMONPLACE_BACKUP_DAILY="no") as server:
            connect = partial(connected, server.url())
            outcome = anyio.run(crowd, connect, clients, requests, _mixed(requests), server.process.pid)
            server.process.kill()
        return outcome, _lost(folder, outcome)


def _bare(clients: int, requests: int) -> Outcome:
    with bare_served() as (url, pid):
        return anyio.run(crowd, partial(connected, url), clients, requests, lambda outcome: _echo, pid)


@contextmanager
def bare_served() -> Iterator[tuple[str, int]]:
    port = free_port()
    process = subprocess.Popen([*BARE, str(port)], env=environment())
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx2.HTTPError):
                httpx2.get(f"http://127.0.0.1:{port}/health", timeout=1)
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp/", process.pid
    finally:
        process.kill()
        process.wait()


async def crowd(
    connect: Connect, clients: int, requests: int, kind: Callable[[Outcome], Request], pid: int, pace: float = 0.0
) -> Outcome:
    """All clients connect, then all begin; at a pace each waits so many seconds from one request to the next."""
    outcome = Outcome()
    act = kind(outcome)
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(connect()) for _ in range(clients)]
        await act(people[0], 0)  # the model and the index are loaded once, before
        outcome.took = {name: [] for name in outcome.took}
        began, before = time.perf_counter(), cpu_seconds(pid)
        async with anyio.create_task_group() as tasks:
            for place, client in enumerate(people):
                tasks.start_soon(_busy, client, range(1 + place, 1 + requests, clients), act, outcome, pace)
        outcome.seconds, outcome.cpu = time.perf_counter() - began, cpu_seconds(pid) - before
    return outcome


async def _busy(client: Client, numbers: Sequence[int], act: Request, outcome: Outcome, pace: float) -> None:
    await anyio.sleep(pace * (numbers[0] % 97) / 97)  # not all in the same moment
    for number in numbers:
        began = time.perf_counter()
        try:
            kind = await act(client, number)
        except Exception as error:
            outcome.errors.append(f"{type(error).__name__}: {error}")
        else:
            outcome.took[kind].append(time.perf_counter() - began)
        await anyio.sleep(max(began + pace - time.perf_counter(), 0.0) if pace else 0.0)


def _mixed(requests: int) -> Callable[[Outcome], Request]:
    questions, texts = corpus.questions(requests + 1), corpus.fresh(requests + 1, 7)

    def kind(outcome: Outcome) -> Request:
        async def act(client: Client, number: int) -> str:
            if number % _STORE_EVERY:
                await called(client, "query_memory", query=questions[number])
                return "search"
            added = await called(client, "add_memory", content=texts[number])
            outcome.acknowledged[added["id"]] = texts[number]
            return "store"

        return act

    return kind


async def _echo(client: Client, number: int) -> str:
    await called(client, "echo", query="")
    return "echo"


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(str(result.content))
    return result.structured_content


@asynccontextmanager
async def connected(url: str, era: Era = "2026-07-28") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {OWNER_KEY}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as web,
        Client(streamable_http_client(url, http_client=web), mode=era) as client,
    ):
        yield client


def _lost(folder: Path, outcome: Outcome) -> int:
    """How many acknowledged texts a new process does not know."""
    with started((PROGRAM, "serve", "--dialect", "greeum", "--data-dir", str(folder))) as process:
        answers = {
            block: process.call("retrieve_memory", memory_id=block).answer["structuredContent"]
            for block in outcome.acknowledged
        }
    return sum(answers[block].get("content") != text for block, text in outcome.acknowledged.items())
