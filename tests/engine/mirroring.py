"""A day in a space, in a process that is killed at a step of it; and what is there when another has taken over.

`python -m tests.engine.mirroring FOLDER STRIDE [LOCATION ENDPOINT]` kills one process at every so-manieth step, has
another make up for it, and says how many were killed. A step is a question to the files, an answer from them, or a
write to the store, before it and after it.
"""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from commonplace.domain.errors import NotFound
from commonplace.domain.memory import Change
from commonplace.engine.memories import Reference
from commonplace.engine.snapshots import laid_out
from commonplace.ports import Transaction
from commonplace.ports.files import Files
from commonplace.storage.files import files_at
from commonplace.storage.sqlite.store import SqliteStore
from tests.engine.outside import Counting, Household, Neighbour, household
from tests.fakes import Clock
from tests.storage.buckets import connection

T = TypeVar("T")


class Fate:
    """Kills the process at a step."""

    left = 0

    @classmethod
    def step(cls) -> None:
        cls.left -= 1
        if not cls.left:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingFiles(Counting):
    def step(self) -> None:
        Fate.step()


class DyingStore(SqliteStore):
    async def write(self, work: Callable[[Transaction], T]) -> T:
        Fate.step()
        result = await super().write(work)
        Fate.step()
        return result


class Diary:
    """What was acknowledged, for whoever comes after."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, line: str) -> None:
        with self._file.open("a") as file:
            file.write(f"{line}\n")

    @property
    def lines(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []


async def day(home: Household, other: Neighbour, diary: Diary) -> None:
    """Notes come, are changed, forgotten and worked in; someone else writes too; a space comes and goes."""
    await home.space()
    notes = []
    for number in range(3):
        notes.append(await home.note(f"note {number}.", category="progress"))
        diary.write(f"note {number}.")
    await home.engine.mirror.push()
    await home.engine.memories.revise(home.owner, Reference(notes[0].id), Change(content="note 0. changed"))
    diary.write("revised")
    diary.write("forgetting")
    await home.engine.memories.forget(home.owner, Reference(notes[1].id))
    diary.write("forgot")
    await home.engine.mirror.push()
    await other.write("alpha/live/20260115T030000_bob_progress_0123abcd.md", "from bob.")
    diary.write("from bob.")
    await home.settle()
    await home.consolidate()
    diary.write("consolidated")
    await home.note("note 3.")
    diary.write("note 3.")
    await home.engine.mirror.push()
    await home.space("beta")
    await home.note("note 4.", "beta")
    await home.engine.mirror.push()
    await home.engine.spaces.dissolve(home.owner, "beta")
    diary.write("dissolved")
    await home.settle()


async def died(folder: Path, files: Files) -> None:
    async with household(folder, DyingFiles(files), store=DyingStore) as home:
        await day(home, Neighbour(files), Diary(folder / "diary"))


async def recovered(folder: Path, files: Files) -> None:
    """Everything that was acknowledged is there once, and the files say the same as the store."""
    diary, other = Diary(folder / "diary").lines, Neighbour(files)
    async with household(folder, files, after_the_kill()) as home:
        with suppress(NotFound):
            diary += await regretted(home)
        await home.settle()
        with suppress(NotFound):
            await check(home, other, diary)
        expected: dict[str, bytes] = {}
        for space in await home.engine.spaces.all(home.owner):
            contents = await home.engine.spaces.contents(home.owner, space.collection.name)
            expected |= {f"{space.collection.name}/{path}": data for path, data in laid_out(contents).items()}
        theirs = "alpha/live/20260115T030000_bob_progress_0123abcd.md"
        found = await other.all()
        assert {path for path in expected if not path.endswith(".keep")} == set(found)
        assert all(expected[path] == data for path, data in found.items() if path != theirs)


async def regretted(home: Household) -> list[str]:
    """Forget a note whose file may be written or not: it must not come back as a new one."""
    page = await home.engine.notes.page(home.owner, "alpha", 9)
    regretted = [note for note in page.notes if note.content == "note 2."]
    for note in regretted:
        await home.engine.memories.forget(home.owner, Reference(note.id))
    return ["regretted"] if regretted else []


async def check(home: Household, other: Neighbour, diary: list[str]) -> None:
    notes, bank = await home.notes(), "\n".join((await home.bank()).values())
    kept = notes + bank.splitlines()
    for line in diary:
        text = "note 0. changed" if line == "note 0." and "revised" in diary else line
        count = sum(text.removesuffix(".") in one for one in kept)
        gone = (line == "note 1." and "forgetting" in diary) or (line == "note 2." and "regretted" in diary)
        if line.startswith(("note", "from")) and not gone:
            assert count == 1, (line, kept)
    if "regretted" in diary:
        assert not any("note 2." in one for one in kept), kept
    if "forgot" in diary:
        assert not any("note 1." in one for one in kept), kept
    if "consolidated" in diary:
        assert not [one for one in notes if one != "note 3."], notes
    assert await other.notes() == sorted(note.strip() for note in notes)


def after_the_kill() -> Clock:
    """Whatever was leased is free."""
    from datetime import timedelta

    clock = Clock()
    clock.advance(timedelta(minutes=30))
    return clock


def in_a_child(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """The status a process ends with that does this."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        asyncio.run(work())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main(folder: str, stride: str, location: str = "", endpoint: str = "") -> None:
    step, killed = 1 if int(stride) == 1 else int(stride) // 2, 0
    while True:
        place = Path(folder) / f"{step:04}"
        place.mkdir(parents=True)
        way = connection(endpoint) if endpoint else None
        where = f"{location}/{step:04}" if location else str(place / "files")
        Fate.left = step
        status = in_a_child(lambda w=where, p=place, c=way: died(p, files_at(w, Path(), c)))  # type: ignore[misc]
        Fate.left = 0
        after = in_a_child(lambda w=where, p=place, c=way: recovered(p, files_at(w, Path(), c)))  # type: ignore[misc]
        if after or status not in (0, signal.SIGKILL):
            sys.exit(f"killed at step {step}: {status}, {after}")
        if not status:
            break
        killed += 1
        step += int(stride)
    sys.stdout.write(f"{killed}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
