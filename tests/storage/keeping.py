"""One act on a folder in a process of its own, which may die at any step of it.

Started as `python -m tests.storage.keeping STEP ACT FOLDER [MORE]`: at its STEP-th step (a statement, a file opened,
renamed, linked or removed) the process is killed as by `kill -9`; 0 lets it finish. Keys come in the environment.
"""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.doing import Doing
from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Author
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.rekeying import rekey
from commonplace.storage.sqlite.store import SqliteStore

NOW = datetime(2026, 1, 15, 3, 0, tzinfo=UTC)
BY = Author(UserId("u"), "local", "s", "test")
EVENTS = {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "shutil.copyfile"}


def acting(step: int, act: str, folder: Path, *more: str, old: str = "", new: str = "") -> "subprocess.Popen[str]":
    """The process, started."""
    command = [sys.executable, "-m", "tests.storage.keeping", str(step), act, str(folder), *more]
    environment = os.environ | {"OLD": old, "NEW": new}
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, env=environment, cwd=root, stdout=subprocess.PIPE, text=True)


def finished(process: "subprocess.Popen[str]") -> bool:
    """Whether it came to its end; False when it was killed."""
    said, _ = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGKILL), process.returncode
    return process.returncode == 0 and said == "begun\ndone\n"


class Fate:
    """Counts the steps, and ends the process at the chosen one."""

    def __init__(self, last: int) -> None:
        self._left = last

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, event: str, arguments: Any) -> None:
        if event in EVENTS:
            self.step()

    def connected(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self._traced

    def _traced(self, cursor: Any, statement: str, bindings: Any) -> bool:
        self.step()
        return True


async def act(name: str, folder: Path, more: list[str]) -> None:
    old, new = os.environ["OLD"], os.environ["NEW"]
    vault = SqliteVault(folder, folder / "backups", old)
    if name == "create":
        await vault.create(more[0], NOW)
    elif name == "restore":
        await vault.restore(more[0])
    elif name == "exchange":
        await vault.restore(more[0], Doing(NOW, BY, "restored", more[0]), more[1])
    elif name == "read":
        async with vault.opened(more[0]) as store:
            await store.read(lambda tx: tx.last_event())
    elif name == "replace":
        await vault.replace(more[0], NOW)
    elif name == "open":
        await SqliteStore(folder, "", old).close()
    elif name == "settle":
        store = SqliteStore(folder, "", old)
        await store.settle()
        await store.close()
    elif name == "rekey":
        rekey(folder, folder / "backups", old, new)


def main(step: str, name: str, folder: str, *more: str) -> None:
    fate = Fate(int(step))
    os.write(1, b"begun\n")
    apsw.connection_hooks.append(fate.connected)
    sys.addaudithook(fate.heard)
    asyncio.run(act(name, Path(folder), list(more)))
    os.write(1, b"done\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
