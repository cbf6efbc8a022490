"""A process on a shared folder: does what its standard input says, a line at a time, and answers on standard output.

`write COUNT` keeps so many memories, several at a time, and names each when it is acknowledged; `plant COUNT` does so
under one address, titles left out, with an edit and a removed alias in between; the other words are the engine's
verbs. Started as `python -m tests.storage.peer FOLDER NAME`.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from zoneinfo import ZoneInfo

from commonplace.domain.access import Actor
from commonplace.domain.address import address
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.paths import Signpost
from commonplace.engine.recall import Question
from commonplace.models.sentences import SentenceSummariser
from commonplace.storage.sqlite.store import SqliteStore
from tests.fakes import Embedder

AT_ONCE = 3


class MachineClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Peer:
    """The near end: what a test holds."""

    def __init__(self, folder: Path, name: str) -> None:
        command = [sys.executable, "-m", "tests.storage.peer", str(folder), name]
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)

    @property
    def _stdin(self) -> IO[str]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def _stdout(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def tell(self, *words: object) -> None:
        self._stdin.write(" ".join(map(str, words)) + "\n")
        self._stdin.flush()

    def answer(self) -> object:
        line = self._stdout.readline()
        assert line.endswith("\n"), "the process ended"
        return json.loads(line)

    def ask(self, *words: object) -> object:
        self.tell(*words)
        return self.answer()

    def acknowledged(self) -> list[str]:
        """What it still said before it ended; half a line is not an acknowledgement."""
        return [json.loads(line) for line in self._stdout if line.endswith("\n")]

    def kill(self) -> None:
        self.process.kill()

    def end(self) -> None:
        self._stdin.close()
        try:
            self.process.wait(30)
        finally:
            self.process.kill()
            self.process.wait()
            self._stdout.close()


@contextmanager
def peers(folder: Path, *names: str) -> Iterator[list[Peer]]:
    """Several at once, all started before the first is waited for; gone when this ends."""
    started = [Peer(folder, name) for name in names]
    try:
        assert [peer.answer() for peer in started] == ["ready"] * len(started)
        yield started
    finally:
        for peer in started:
            peer.end()


def say(answer: object) -> None:
    # One write, so that a line is whole or not there when the process is killed.
    os.write(1, (json.dumps(answer) + "\n").encode())


async def keep(engine: Engine, owner: Actor, texts: Iterator[str]) -> None:
    for text in texts:
        await engine.memories.remember(owner, Draft(text))
        say(text)


async def grow(engine: Engine, owner: Actor, name: str, numbers: Iterator[int]) -> None:
    parent = address("core://log")
    for number in numbers:
        node = await engine.paths.plant(owner, parent, Draft(f"{name} planted {number}"), Signpost(number % 5, name))
        assert node.memory
        side = parent.parent.child(f"{name}-{number}")
        await engine.paths.alias(owner, side, node.address, Signpost())
        content = f"{node.memory.content} and wrote"
        await engine.paths.edit(owner, node.address, node.memory, content=content, signpost=Signpost())
        if number % 2:
            await engine.paths.prune(owner, side)
        say([str(node.address), content])


async def obey(engine: Engine, owner: Actor, name: str, line: str) -> None:
    verb, _, rest = line.strip().partition(" ")
    if verb == "write":
        texts = (f"{name} wrote {number}" for number in range(int(rest)))
        await asyncio.gather(*(keep(engine, owner, texts) for _ in range(AT_ONCE)))
        say("done")
    elif verb == "plant":
        numbers = iter(range(int(rest)))
        await asyncio.gather(*(grow(engine, owner, name, numbers) for _ in range(AT_ONCE)))
        say("done")
    elif verb == "remember":
        say((await engine.memories.remember(owner, Draft(rest))).id)
    elif verb == "recall":
        say([hit.memory.content for hit in (await engine.recall.recall(owner, Question(rest))).hits])
    elif verb == "discover":
        say(await engine.links.discover())
    elif verb == "drain":
        taken: list[int] = []
        while news := (await engine.watches.take(owner, int(rest))).news:
            taken += [one.notice.event.number for one in news]
        say(taken)
    elif verb == "count":
        say((await engine.memories.page(owner, 1)).total)


async def main(folder: str, name: str) -> None:
    # Without the bootstrap: it brings the protocol along, which takes longer to load than all the rest.
    model = Embedder()
    store = SqliteStore(Path(folder), model.fingerprint)
    engine = Engine(store, model, MachineClock(), ZoneInfo("UTC"), SentenceSummariser())
    owner = (await engine.access.local_owner()).through("test")
    say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        await obey(engine, owner, name, line)
    await engine.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
