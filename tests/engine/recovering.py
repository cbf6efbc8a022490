"""Puts back a part of a backup in a process of its own, which may die at any statement of the transaction.

Started as `python -m tests.engine.recovering STEP FOLDER`; 0 lets it finish.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from commonplace.bootstrap import build
from commonplace.domain.backup import Part
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder
from tests.storage.keeping import Fate

PARTS = frozenset({Part.MEMORIES, Part.PROJECTS, Part.ASSOCIATIONS})


def recovering(step: int, folder: Path) -> "subprocess.Popen[str]":
    """The process, started."""
    command = [sys.executable, "-m", "tests.engine.recovering", str(step), str(folder)]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)


async def put_back(step: int, folder: Path) -> None:
    engine = build(Settings(data_dir=str(folder), timezone="UTC"), model=Embedder(), clock=Clock())
    owner = await engine.access.local_owner()
    fate = Fate(step)
    await engine.store.write(lambda tx: fate.connected(tx._connection))  # type: ignore[attr-defined]
    os.write(1, b"begun\n")
    await engine.backups.restore(owner, "first", PARTS)
    os.write(1, b"done\n")
    await engine.close()


if __name__ == "__main__":
    asyncio.run(put_back(int(sys.argv[1]), Path(sys.argv[2])))
