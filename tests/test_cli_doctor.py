"""What the doctor says of copies that killed processes have left and of backups, and that it is true."""

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from commonplace.bootstrap import build
from commonplace.cli.doctor import Finding, findings
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.storage.sqlite.backup import SqliteVault
from tests.models.stand_in import standing_in

pytestmark = pytest.mark.anyio


def leftovers(folder: Path) -> list[Finding]:
    from_outside = takewhile(lambda finding: finding.what != "disk", findings(Settings(data_dir=str(folder))))
    return [finding for finding in from_outside if finding.what == "leftovers"]


async def test_the_doctor_names_copies_that_were_left_and_not_those_in_use(engine: Engine, folder: Path) -> None:
    owner = await engine.access.local_owner()
    await engine.memories.remember(owner, Draft("one"))
    await engine.backups.create(owner, "first")
    vault = SqliteVault(folder, folder / "backups")
    async with vault.opened("first"):
        assert leftovers(folder) == []
        left = [folder / ".restoring-0123abcd", folder / "backups" / ".first.0123abcd"]
        for one in left:
            one.mkdir()
            (one / "commonplace.lock").touch()
        (found,) = leftovers(folder)
        assert found.mark == "warn"
        assert all(str(one) in found.words for one in left)
        assert "the next start of a server, backup or restore removes them" in found.remedy
        await engine.backups.create(owner, "second")
        assert leftovers(folder) == []


@pytest.mark.parametrize("damaged", ["first", "second", None])
async def test_the_doctor_reads_the_newest_backup_back(engine: Engine, folder: Path, damaged: str | None) -> None:
    owner = await engine.access.local_owner()
    await engine.memories.remember(owner, Draft("one"))
    for name in ("first", "second"):
        await engine.backups.create(owner, name)
    if damaged:
        file = folder / "backups" / f"{damaged}.db"
        file.write_bytes(file.read_bytes() + b"more")
    found = await to_thread.run_sync(lambda: list(findings(Settings(data_dir=str(folder), timezone="UTC"))))
    (backups,) = (finding for finding in found if finding.what == "backups")
    assert "the newest is second" in backups.words
    if damaged == "second":
        assert backups.mark == "fail"
        assert "it does not pass `verify`" in backups.words
        assert "the checksum differs" in backups.words
        assert backups.remedy == "`commonplace backup` makes one"
    else:
        assert backups.mark != "fail"
        assert "passes `verify`" in backups.words


async def test_the_doctor_names_the_memories_whose_text_the_embedder_refuses(folder: Path) -> None:
    def answered(body: Any) -> tuple[int, bytes]:
        rows = [{"index": n, "embedding": [len(text), 1]} for n, text in enumerate(body["input"])]
        return 400 if "an odd one" in body["input"] else 200, json.dumps({"data": rows}).encode()

    with standing_in() as endpoint:
        endpoint.next_answer = answered  # type: ignore[method-assign]
        settings = Settings(data_dir=str(folder), embedder="openai", embedder_url=endpoint.url, timezone="UTC")
        engine = build(settings)
        owner = await engine.access.local_owner()
        odd = await engine.memories.remember(owner, Draft("an odd one"))
        await engine.memories.remember(owner, Draft("a plain one"))
        await engine.close()
        found = await to_thread.run_sync(lambda: list(findings(settings)))
    told = {finding.what: finding for finding in found}
    assert told["embedder"].mark == "ok"
    assert (
        told["vectors"].mark,
        f"1 of 2 memories have none, their text is refused: {odd.id}" in str(told["vectors"]),
    ) == (
        "warn",
        True,
    )
