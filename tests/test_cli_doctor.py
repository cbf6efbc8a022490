"""What the doctor says of copies that killed processes have left and of backups, and that it is true."""

import json
from datetime import UTC, datetime, timedelta
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
from commonplace.storage.sqlite.rekeying import rekey
from tests.damage import lose_table
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


@pytest.mark.parametrize(("hours", "mark"), [(0, "ok"), (2, "warn")])
async def test_the_doctor_says_how_much_of_the_store_is_in_the_newest_backup(
    engine: Engine, folder: Path, hours: int, mark: str
) -> None:
    owner = await engine.access.local_owner()
    await engine.memories.remember(owner, Draft("one"))
    at = datetime.now(UTC) - timedelta(hours=hours)
    await SqliteVault(folder, folder / "backups").create("first", at)
    for text in ("two", "three"):
        await engine.memories.remember(owner, Draft(text))
    found = await to_thread.run_sync(lambda: list(findings(Settings(data_dir=str(folder), timezone="UTC"))))
    (backups,) = (finding for finding in found if finding.what == "backups")
    assert backups.mark == mark
    assert "it holds 1 memory, the store 3 memories" in backups.words
    assert bool(backups.remedy) == (mark == "warn")


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


# One finding for each thing that is wrong, and none that is not so

KEY = "a key that is long enough"


def told(folder: Path, key: str = "") -> list[tuple[str, str]]:
    settings = Settings(data_dir=str(folder), encryption_key=key, timezone="UTC")
    return [(finding.mark, finding.what) for finding in findings(settings)]


async def kept(engine: Engine) -> None:
    """A store with two backups, closed."""
    owner = await engine.access.local_owner()
    await engine.memories.remember(owner, Draft("one"))
    for name in ("first", "second"):
        await engine.backups.create(owner, name)
    await engine.close()


async def test_a_store_that_lacks_its_key_is_not_also_said_not_to_be_encrypted(engine: Engine, folder: Path) -> None:
    await kept(engine)
    rekey(folder, folder / "backups", "", KEY)
    without = await to_thread.run_sync(told, folder)
    assert [what for mark, what in without if mark == "fail"] == ["store"]
    assert "encryption" not in [what for _, what in without]
    assert ("ok", "encryption") in await to_thread.run_sync(told, folder, KEY)


async def test_a_store_in_the_clear_is_not_said_to_be_encrypted_where_a_key_is_given(
    engine: Engine, folder: Path
) -> None:
    await kept(engine)
    found = await to_thread.run_sync(told, folder, KEY)
    assert [what for mark, what in found if mark == "fail"] == ["store"]
    assert "encryption" not in [what for _, what in found]


@pytest.mark.parametrize("key", ["", KEY])
async def test_a_half_changed_key_is_one_finding(engine: Engine, folder: Path, key: str) -> None:
    await kept(engine)
    for place in (folder, folder / "backups"):
        (place / ".key-change").write_text("on\n")
    found = await to_thread.run_sync(told, folder, key)
    assert [what for mark, what in found if mark == "fail"] == ["rekey"]
    assert "encryption" not in [what for _, what in found]


async def test_the_backups_are_not_said_to_be_encrypted_where_one_is_in_the_clear(engine: Engine, folder: Path) -> None:
    await kept(engine)
    plain = (folder / "backups" / "first.db").read_bytes()
    rekey(folder, folder / "backups", "", KEY)
    (folder / "backups" / "first.db").write_bytes(plain)
    settings = Settings(data_dir=str(folder), encryption_key=KEY, timezone="UTC")
    found = await to_thread.run_sync(lambda: list(findings(settings)))
    assert [one.words for one in found if one.what == "encryption"] == ["on: the store"]


@pytest.mark.parametrize("table", ["blocks", "credentials"])
async def test_a_damage_is_told_once(engine: Engine, folder: Path, table: str) -> None:
    await kept(engine)
    lose_table(folder / "commonplace.db", table)
    found = await to_thread.run_sync(told, folder)
    assert [what for mark, what in found if mark == "fail"] == ["file"]
