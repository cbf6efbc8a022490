"""Consolidations in processes that are killed, each a little later than the one before; and what they have left.

`python -m tests.engine.consolidating FOLDER URL POINTS` prints how many were found as before, and how many as after.
"""

import asyncio
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

from commonplace.engine.snapshots import laid_out
from commonplace.models.completions import ChatCompletions
from commonplace.storage.files import files_at
from tests.engine.outside import Household, Neighbour, household
from tests.fakes import Clock

NOTES = 40
BEFORE, AFTER = 10, 11
"""What a process that looks after the kill ends with."""
LATEST = 1.5
"""The last kill, as a share of what the first one took that was left alone: the machine may be slower by then."""


async def prepared(folder: Path) -> None:
    async with household(folder, files_at(str(folder / "files"), Path())) as home:
        await home.space()
        for number in range(NOTES):
            await home.note(f"note {number:02}", category="progress")
            home.clock.advance(timedelta(seconds=1))
        await home.settle()


async def consolidated(folder: Path, url: str, told: int) -> None:
    clock = Clock()
    clock.advance(timedelta(hours=1))
    model = ChatCompletions(url=url, model="stand-in", timeout=30)
    async with household(folder, files_at(str(folder / "files"), Path()), clock, model) as home:
        os.write(told, b"b")
        await home.consolidate()
        await home.engine.mirror.push()
        os.write(told, b"e")


async def looked_at(folder: Path, url: str) -> int:
    """All before or all after; the files follow, and the next consolidation goes well."""
    clock = Clock()
    clock.advance(timedelta(hours=2))
    other = Neighbour(files_at(str(folder / "files"), Path()))
    model = ChatCompletions(url=url, model="stand-in", timeout=30)
    async with household(folder, other.files, clock, model) as home:
        found = await _state(home)
        await home.settle()
        assert await _state(home) == found
        contents = await home.engine.spaces.contents(home.owner, "alpha")
        files = {f"alpha/{path}": data for path, data in laid_out(contents).items() if not path.endswith(".keep")}
        assert await other.all() == files
        assert (await home.consolidate()).notes == (NOTES if found == BEFORE else 0)
        assert await _state(home) == AFTER
    return found


async def _state(home: Household) -> int:
    notes, bank = await home.notes(), await home.bank()
    contents = await home.engine.spaces.contents(home.owner, "alpha")
    count = contents.space.metadata.get("consolidation_count", 0)
    synthesis = [file.content for file in contents.files if file.name == "_synthesis.md"]
    texts = [f"note {number:02}" for number in range(NOTES)]
    if notes:
        assert (notes, bank, synthesis, count) == (texts, {}, [], 0)
        return BEFORE
    lines = "".join(f"- {text}\n" for text in texts)
    assert (bank, synthesis, count) == ({"progress.md": f"# Progress\n{lines}"}, [f"{NOTES} notes"], 1)
    return AFTER


def started(work: Callable[[], Coroutine[Any, Any, int | None]]) -> int:
    """The number of a process that does this, and ends with what it returns."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = asyncio.run(work()) or 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(place: Path, url: str, after: float) -> None:
    hear, tell = os.pipe()
    while signal.sigtimedwait([signal.SIGCHLD], 0):
        """Those of the ones before."""
    child = started(lambda: consolidated(place, url, tell))
    os.read(hear, 1)
    signal.sigtimedwait([signal.SIGCHLD], after)
    os.kill(child, signal.SIGKILL)
    assert ended(child) in (0, -signal.SIGKILL)
    os.close(hear)
    os.close(tell)


def duration(place: Path, url: str) -> float:
    """How long one takes that is left alone."""
    hear, tell = os.pipe()
    child = started(lambda: consolidated(place, url, tell))
    os.read(hear, 1)
    began = time.perf_counter()
    os.read(hear, 1)
    took = time.perf_counter() - began
    assert ended(child) == 0
    return took


def main(folder: str, url: str, points: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    place, template = Path(folder), Path(folder) / "template"
    assert ended(started(lambda: prepared(template))) == 0
    shutil.copytree(template, place / "first")
    whole = duration(place / "first", url)
    found = []
    for point in range(int(points)):
        copy = place / f"{point:03}"
        shutil.copytree(template, copy)
        after = LATEST * whole * point / int(points)
        killed(copy, url, after)
        found.append(ended(started(lambda c=copy: looked_at(c, url))))  # type: ignore[misc]
        if found[-1] not in (BEFORE, AFTER):
            sys.exit(f"killed after {after:.3f} s: {found[-1]}")
        shutil.rmtree(copy)
    sys.stdout.write(f"{found.count(BEFORE)} {found.count(AFTER)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
