"""Engines whose spaces have files in a folder or a bucket, and someone else who works on those files too."""

import json
import shutil
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from commonplace.domain.access import Actor
from commonplace.domain.space import SpaceFile
from commonplace.engine import Engine, Outside
from commonplace.engine.consolidation import Consolidated
from commonplace.models.sentences import SentenceSummariser
from commonplace.ports.completions import Completer
from commonplace.ports.files import Entry, Files, Held
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.store import SqliteStore
from tests.fakes import Clock, Embedder

T = TypeVar("T")
RULES = """# Memory bank

- `activeContext.md`: decisions and questions
- `progress.md`: progress, todos, issues, observations, insights
"""


class Household:
    """An engine over a store, as its owner uses it."""

    def __init__(self, engine: Engine, owner: Actor, clock: Clock) -> None:
        self.engine = engine
        self.owner = owner
        self.clock = clock

    async def space(self, name: str = "alpha", rules: str = RULES) -> str:
        await self.engine.spaces.found(self.owner, name, "a space", rules, "ann")
        return name

    async def note(self, content: str, space: str = "alpha", **more: Any) -> SpaceFile:
        given = {"category": "observation", "agent": "ann", **more}
        return await self.engine.notes.write(self.owner, space, content=content, **given)

    async def notes(self, space: str = "alpha") -> list[str]:
        """Their texts, sorted."""
        page = await self.engine.notes.page(self.owner, space, 500)
        assert page.total == len(page.notes)
        return sorted(note.content for note in page.notes)

    async def bank(self, space: str = "alpha") -> dict[str, str]:
        return {file.name: file.content for file in await self.engine.bank.files(self.owner, space)}

    async def consolidate(self, space: str = "alpha") -> Consolidated:
        async def silent(done: int, total: int) -> None:
            return None

        return await self.engine.consolidation.run(self.owner, space, "ann", silent)

    async def settle(self) -> None:
        """Let the files follow and look at what others did, until nothing is left to do."""
        for _ in range(10):
            self.clock.advance(timedelta(minutes=2))
            await self.engine.mirror.keep_up()
            if not await self.engine.mirror.waiting() and not await self.engine.mirror.pull():
                return
        raise AssertionError("the files and the store do not come to agree")


@asynccontextmanager
async def household(
    folder: Path,
    files: Files | None,
    clock: Clock | None = None,
    completer: Completer | None = None,
    store: type[SqliteStore] = SqliteStore,
    **more: Any,
) -> AsyncIterator[Household]:
    clock, embedder = clock or Clock(), Embedder()
    opened = store(folder, embedder.fingerprint)
    vault = SqliteVault(folder, folder / "backups")
    outside = Outside(files, completer, **more)
    zone = ZoneInfo("Asia/Seoul")
    engine = Engine(opened, embedder, clock, zone, SentenceSummariser(), vault=vault, outside=outside)
    try:
        yield Household(engine, (await engine.access.local_owner()).through("test", "test"), clock)
    finally:
        await engine.close()


class Neighbour:
    """Someone else who reads and writes the same files."""

    def __init__(self, files: Files) -> None:
        self.files = files

    async def all(self) -> dict[str, bytes]:
        """Every file of every space, by path; the sentinels are left out."""
        return {
            entry.path: await self.data(entry.path)
            for entry in await self.files.listed()
            if not entry.path.endswith(".keep") and not entry.path.startswith("_backups/")
        }

    async def data(self, path: str) -> bytes:
        held = await self.files.read(path)
        assert held is not None, path
        return held.data

    async def text(self, path: str) -> str:
        return (await self.data(path)).decode()

    async def write(self, path: str, text: str | bytes) -> None:
        await self.files.write(path, text if isinstance(text, bytes) else text.encode())

    async def meta(self, space: str, **more: Any) -> None:
        described = {"space_id": space, "description": "theirs", "created_at": "2026-02-20T18:00:00+00:00", **more}
        await self.write(f"{space}/_meta.json", json.dumps(described))
        await self.write(f"{space}/_rules.md", RULES)

    async def notes(self, space: str = "alpha") -> list[str]:
        """The texts of the notes, sorted, read as another server reads them."""
        files = await self.all()
        return sorted(body(data.decode())[1] for path, data in files.items() if path.startswith(f"{space}/live/"))

    async def wipe(self) -> None:
        """Remove everything, the way people do."""
        location = self.files.location
        if location.startswith("s3://"):
            for name in await self.files.folders():
                await self.files.remove_all(name)
        else:
            shutil.rmtree(location)


def body(text: str) -> tuple[dict[str, Any], str]:
    """A note as a server reads it that knows no YAML: split at the fences, a line a value, tags in JSON."""
    if not text.startswith("---"):
        return {}, text.strip()
    _, head, content = text.split("---", 2)
    values: dict[str, Any] = {}
    for line in head.strip().splitlines():
        key, _, value = line.partition(":")
        value = value.strip()
        values[key.strip()] = json.loads(value) if value.startswith("[") else value.strip('"')
    return values, content.strip()


class Counting:
    """Files that count what they are asked for."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.reads: list[str] = []
        self.writes: list[str] = []

    @property
    def location(self) -> str:
        return self._files.location

    def step(self) -> None:
        """Before each question and after each answer."""

    async def read(self, path: str) -> Held | None:
        self.reads.append(path)
        return await self._stepped(self._files.read(path))

    async def listed(self, prefix: str = "") -> list[Entry]:
        return await self._stepped(self._files.listed(prefix))

    async def folders(self, prefix: str = "") -> list[str]:
        return await self._stepped(self._files.folders(prefix))

    async def write(self, path: str, data: bytes, *, over: str | None = None) -> str:
        self.writes.append(path)
        return await self._stepped(self._files.write(path, data, over=over))

    async def remove(self, path: str) -> None:
        await self._stepped(self._files.remove(path))

    async def remove_all(self, prefix: str) -> None:
        await self._stepped(self._files.remove_all(prefix))

    async def check(self) -> float:
        return await self._stepped(self._files.check())

    async def _stepped(self, work: Awaitable[T]) -> T:
        self.step()
        answer = await work
        self.step()
        return answer
