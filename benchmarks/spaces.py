"""Live's notes over HTTP, one client, with the files in a folder and in a bucket: write, read 500, search.

The reference took 27, 52 and 43 ms with 500 notes in RAM. Here a note is on the disk when it is acknowledged, and its
file follows. The bucket is moto's server on the same machine: it takes CPU, but nobody waits for it. The client is a
plain one, which reads the whole answer; that of the SDK also checks it against its schema, which takes it longer than
the server takes to answer.
"""

import asyncio
import hashlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Self
from zoneinfo import ZoneInfo

import httpx2
from tests.serving import OWNER_KEY, served
from tests.storage.buckets import ACCESS_KEY, SECRET_KEY, SHELF

from benchmarks import corpus
from benchmarks.calls import flush_time
from benchmarks.seed import KEPT, Prepared, seeding_version
from benchmarks.table import Goal, Table, quantile
from commonplace.bootstrap import build, space_files
from commonplace.domain.bank import Category
from commonplace.domain.front_matter import NoteText, file_name
from commonplace.domain.space import Mirrored
from commonplace.engine.finds import digest
from commonplace.engine.mirror import desired
from commonplace.engine.spaces import entered
from commonplace.ports import Transaction
from commonplace.settings import Settings

REFERENCE = {"live_note": 27, "live_read of 500": 52, "live_search": 43}
_SPACE = "bench"
_AT_ONCE = 1000
_CATEGORIES = [category.value for category in Category]

Asked = Callable[[int], tuple[str, dict[str, Any]]]


def tables(size: int, calls: int) -> list[Table]:
    columns = ("files in", "notes", "call", "p50", "p95", "reference", "flush to disk")
    table = Table("Live's notes over HTTP, ms", columns)
    for place in ("a folder", "a bucket"):
        with _noted(size, place) as run, _outside(run, place) as options:
            _acquaint(run, options)
            took = _measured(run / "data", options, calls)
            _rows(table, place, size, took, flush_time(run, 4096))
    return [table]


def _rows(table: Table, place: str, size: int, took: dict[str, list[float]], flush: float) -> None:
    for name, times in took.items():
        usual, slow = (1000 * quantile(times, share) for share in (0.5, 0.95))
        table.add(place, size, name, usual, slow, REFERENCE[name], flush if name == "live_note" else None)
        table.goals.append(Goal(f"{name}, files in {place}, p50", usual, REFERENCE[name]))


def _measured(folder: Path, options: dict[str, str], calls: int) -> dict[str, list[float]]:
    texts, words = corpus.fresh(calls + 1, 5), corpus.questions(calls + 1)
    asked: dict[str, Asked] = {
        "live_note": lambda n: ("live_note", {"category": _CATEGORIES[n % 7], "content": texts[n]}),
        "live_read of 500": lambda n: ("live_read", {"limit": 500}),
        "live_search": lambda n: ("live_search", {"query": max(words[n].split(), key=len)}),
    }
    with served(folder, "--rate-limit", "0", **options) as server, _Caller(server.url("/live/mcp")) as caller:
        return {name: [caller.timed(*call(n)) for n in range(calls + 1)][1:] for name, call in asked.items()}


class _Caller:
    """A client that speaks the protocol and no more."""

    def __init__(self, url: str) -> None:
        kinds = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        self._web = httpx2.Client(headers={"Authorization": f"Bearer {OWNER_KEY}", **kinds}, timeout=60)
        self._url = url

    def __enter__(self) -> Self:
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        answer = self._post({"id": 0, "method": "initialize", "params": version})
        self._web.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        self._post({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._web.close()

    def timed(self, tool: str, arguments: dict[str, Any]) -> float:
        """Seconds until the whole answer is there."""
        call = {"name": tool, "arguments": {"space_id": _SPACE, **arguments}}
        began = time.perf_counter()
        answer = self._post({"id": 1, "method": "tools/call", "params": call})
        took = time.perf_counter() - began
        assert '"status"' in answer.text, answer.text[:300]
        assert '"isError":true' not in answer.text, answer.text[:300]
        return took

    def _post(self, message: dict[str, Any]) -> httpx2.Response:
        return self._web.post(self._url, json={"jsonrpc": "2.0", **message})


# What is there before


@contextmanager
def _noted(size: int, place: str) -> Iterator[Path]:
    """A folder with a store of so many notes in `data` and their files in `files`, to be thrown away."""
    original = KEPT / f"notes-{size}-{seeding_version()}"
    if not (original / "done").exists():
        shutil.rmtree(original, ignore_errors=True)
        asyncio.run(_fill(original, size))
        (original / "done").touch()
    run = KEPT / f"run-notes-{time.time_ns()}"
    shutil.copytree(original / "data", run / "data")
    if place == "a folder":
        shutil.copytree(original / "files", run / "files")
    else:
        (run / "files").symlink_to(original / "files")  # a bucket only reads them
    try:
        yield run
    finally:
        shutil.rmtree(run)


async def _fill(folder: Path, size: int) -> None:
    model = Prepared(corpus.sentences(min(size, corpus.SENTENCES)))
    settings = Settings(data_dir=str(folder / "data"), spaces="none")
    engine = build(settings, model=model, zone=ZoneInfo("Asia/Seoul"))
    try:
        owner = (await engine.access.local_owner()).through("benchmark")
        await engine.spaces.found(owner, _SPACE, "", "- `progress.md`: everything\n", "")
        wanted, began = corpus.memories(size), datetime.now(UTC) - timedelta(days=1)
        while batch := list(islice(wanted, _AT_ONCE)):
            prints = model.prints(batch)
            began += timedelta(minutes=1)

            def work(tx: Transaction, some: Sequence[Any] = prints, at: datetime = began) -> None:
                space = entered(tx, owner, _SPACE)
                for number, (text, its) in enumerate(some):
                    note = NoteText("bench", _CATEGORIES[number % 7], (), at + timedelta(milliseconds=number), text)
                    chance = hashlib.blake2b(text.encode(), digest_size=4).digest()
                    name = file_name("bench", note.category, note.at, chance)
                    engine.notes.write_in(tx, owner, space, note, name, its)

            await engine.store.write(work)
        await engine.store.read(lambda tx: tx.facts(()))
        paths = await engine.store.read(lambda tx: [one.path for one in tx.spaces.unmirrored(-1)])
        for path in paths:
            data = await engine.store.read(lambda tx, one=path: desired(tx, one))  # type: ignore[misc]
            (folder / "files" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "files" / path).write_bytes(data or b"")
    finally:
        await engine.close()


@contextmanager
def _outside(run: Path, place: str) -> Iterator[dict[str, str]]:
    """The settings of a server whose files are there."""
    if place == "a folder":
        yield {"COMMONPLACE_SPACES": str(run / "files")}
        return
    command = [sys.executable, "-m", "benchmarks.bucket", str(run / "files")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield {
                "COMMONPLACE_SPACES": f"s3://{SHELF}",
                "COMMONPLACE_S3_ENDPOINT": f"http://127.0.0.1:{int(process.stdout.readline())}",
                "COMMONPLACE_S3_ACCESS_KEY": ACCESS_KEY,
                "COMMONPLACE_S3_SECRET_KEY": SECRET_KEY,
            }
        finally:
            process.kill()


def _acquaint(run: Path, options: dict[str, str]) -> None:
    """Tell the store that the files stand there already, as they would after a while."""
    given = {name.removeprefix("COMMONPLACE_").lower(): value for name, value in options.items()}
    settings = Settings(data_dir=str(run / "data"), **given)  # type: ignore[arg-type]
    asyncio.run(_know(settings))


async def _know(settings: Settings) -> None:
    files = space_files(settings, settings.spaces)
    engine = build(settings, model=Prepared(corpus.sentences(10)), zone=ZoneInfo("Asia/Seoul"))
    listed = await files.listed()

    def work(tx: Transaction) -> None:
        for entry in listed:
            tx.spaces.know(Mirrored(entry.path, entry.tag, digest(desired(tx, entry.path) or b"")))
            tx.spaces.unmark(entry.path)
        tx.set_meta("mirror", f"{files.location} ")

    try:
        await engine.store.write(work)
    finally:
        await engine.close()
