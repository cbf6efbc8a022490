"""What is said of a store whose beginning is damaged: never that it has another key than it has."""

import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client

from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.rekeying import rekey
from tests.serving import OWNER_KEY, PROGRAM, Served, environment, free_port, over_http, served, standing
from tests.storage.keeping import NOW
from tests.test_cli import run
from tests.test_cli_keeping import filled, found

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

KEY = {"COMMONPLACE_ENCRYPTION_KEY": "a key that is long enough"}
PLAIN: dict[str, str] = {}


async def damaged(folder: Path, place: slice, data: bytes, key: dict[str, str]) -> None:
    """A store with a backup, of which this part was written over."""
    await filled(folder, "the lighthouse keeper sleeps", **key)
    await SqliteVault(folder, folder / "backups", *key.values()).create("first", NOW)
    written = bytearray((folder / "commonplace.db").read_bytes())
    written[place] = data
    (folder / "commonplace.db").write_bytes(written)


@pytest.mark.parametrize(
    ("key", "given", "place", "data"),
    [
        (PLAIN, PLAIN, slice(0, 16), b"sixteen of noise"),
        (PLAIN, KEY, slice(0, 16), b"sixteen of noise"),
        (PLAIN, PLAIN, slice(0, 4096), bytes(4096)),
        (KEY, KEY, slice(0, 16), b"SQLite format 3\0"),
        (KEY, PLAIN, slice(0, 16), b"SQLite format 3\0"),
        (KEY, KEY, slice(16, 24), bytes(8)),
    ],
)
async def test_a_damaged_beginning_is_called_damage_and_the_backup_named(
    folder: Path, key: dict[str, str], given: dict[str, str], place: slice, data: bytes
) -> None:
    await damaged(folder, place, data, key)
    for command in ("serve", "verify", "doctor"):
        answer = run(command, "--data-dir", str(folder), **given)
        said = answer.stdout + answer.stderr
        assert answer.returncode in (1, 2)
        assert "its first bytes are neither those of a store nor of an encrypted one" in said
        assert "no encryption key is set" not in said
        if key == given:
            assert re.search(r"`commonplace restore (first|daily-\S+) --yes`", said)
    assert run("restore", "first", "--yes", "--data-dir", str(folder), **key).returncode == 0
    assert "lighthouse" in await found(folder, "lighthouse", **key)


async def test_a_key_that_opens_a_backup_but_not_the_store_leaves_both_causes_open(folder: Path) -> None:
    await damaged(folder, slice(0, 16), b"sixteen of noise", KEY)
    said = run("doctor", "--data-dir", str(folder), **KEY).stdout
    assert re.search(r"the key opens the backup (first|daily-\S+): ", said)
    assert re.search(r"`commonplace restore (first|daily-\S+) --yes`", said)
    wrong = run("doctor", "--data-dir", str(folder), COMMONPLACE_ENCRYPTION_KEY="another that is long enough").stdout
    assert "the key opens" not in wrong
    assert "the key it was encrypted with" in wrong


# Beside an encrypted store


async def test_files_in_the_clear_beside_an_encrypted_store_are_told_by_rekey_doctor_and_server(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    (folder / "spaces" / "team").mkdir(parents=True)
    (folder / "spaces" / "team" / "_rules.md").write_text("rules")
    where = ("--data-dir", str(folder))
    answer = run("rekey", *where, COMMONPLACE_NEW_ENCRYPTION_KEY=KEY["COMMONPLACE_ENCRYPTION_KEY"])
    assert answer.returncode == 1
    assert f"{folder / 'spaces'} is in the clear" in answer.stderr
    more = KEY | {"COMMONPLACE_SPACES": str(folder / "elsewhere")}
    said = run("doctor", *where, **more).stdout
    assert "warn exposed: " in said
    assert "warn spaces: " in said
    with served(folder, "--spaces", str(folder / "elsewhere"), **KEY) as server:
        server.process.terminate()
        _, log = server.process.communicate(timeout=30)
        assert b"the store is encrypted, but the files of spaces in" in log


async def test_an_interrupted_rekey_is_told_with_the_command_that_finishes_it(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    await SqliteVault(folder, folder / "backups").create("first", NOW)
    where = ("--data-dir", str(folder))
    rekey(folder, folder / "backups", "", KEY["COMMONPLACE_ENCRYPTION_KEY"])
    for one in (folder, folder / "backups"):  # as if it had been killed at the very end
        (one / ".key-change").write_text("on\n")
    for command in (["serve"], ["verify"], ["verify", "first"], ["restore", "first", "--yes"], ["rekey", "--remove"]):
        answer = run(*command, *where)
        assert answer.returncode == 2
        assert "a `rekey` was interrupted" in answer.stderr
        assert "finish it: `commonplace rekey` with the same new key" in answer.stderr
    assert "a `rekey` was interrupted" in run("verify", *where, **KEY).stderr
    assert "fail rekey: " in run("doctor", *where, **KEY).stdout
    assert run("rekey", *where, COMMONPLACE_NEW_ENCRYPTION_KEY=KEY["COMMONPLACE_ENCRYPTION_KEY"]).returncode == 0
    assert "fail rekey" not in run("doctor", *where, **KEY).stdout


# Where the store is gone


async def test_after_a_new_store_was_begun_the_backups_of_the_one_before_are_still_told(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    where = ("--data-dir", str(folder))
    assert run("backup", "before", *where).returncode == 0
    for file in folder.glob("commonplace.db*"):
        file.unlink()
    for command in ("verify", "backup", "keys list", "history sessions"):
        answer = run(*command.split(), *where)
        assert answer.returncode == 2
        assert "there are backups of one: `commonplace restore before --yes`" in answer.stderr
    await filled(folder, "something else")
    said = run("doctor", *where).stdout
    assert "warn backups: none of this store" in said or "ok   backups: the newest is daily-" in said


# Where nothing is found


async def test_a_folder_without_backups_is_told_from_one_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    missing = run("backups", "--data-dir", str(folder))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert f"no folder of backups '{folder / 'backups'}'" in missing.stderr
    assert run("keys", "create", "one", "--user", "bob", "--data-dir", str(folder)).returncode == 0
    none = run("backups", "--data-dir", str(folder))
    assert (none.returncode, none.stdout) == (0, "")
    assert "no backups in" in none.stderr
    assert run("backups", "--data-dir", str(folder), "--backup-dir", str(tmp_path / "slip")).returncode == 2


async def test_what_one_user_does_not_see_is_looked_for_as_another(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    await filled(folder, "the lighthouse keeper sleeps")
    assert "--user" not in run("history", "session", "none", *where).stderr
    assert run("keys", "create", "one", "--user", "bob", *where).returncode == 0
    for command in (("session", "none"), ("versions", "core://none"), ("take-back", "none")):
        answer = run("history", *command, *where)
        assert answer.returncode == 2
        assert "looked as owner; --user NAME looks as another, like bob" in answer.stderr
    assert "nothing yet; looked as bob" in run("history", "sessions", "--user", "bob", *where).stderr


# In the log


async def test_a_log_in_every_detail_holds_no_text_of_memories(folder: Path, tmp_path: Path) -> None:
    async with spoken_to(folder, tmp_path / "log") as client:
        for text in ("PLUMBAGO by the gate", "PLUMBAGO by the wall"):
            assert not (await client.call_tool("add_memory", {"content": text})).is_error
        assert "PLUMBAGO" in str((await client.call_tool("query_memory", {"query": "PLUMBAGO"})).content)
        assert (await client.call_tool("add_memory", {"contents": "PLUMBAGO"})).is_error
    log = (tmp_path / "log").read_bytes()
    assert b" INFO " in log
    assert b"PLUMBAGO" not in log


@asynccontextmanager
async def spoken_to(folder: Path, log: Path) -> AsyncIterator[Client]:
    """A server over HTTP that logs everything into a file: as a pipe that nobody empties it would stand still."""
    port = free_port()
    command = [PROGRAM, "serve", "--transport", "http", "--http-port", str(port), "--log-level", "debug"]
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [*command, "--data-dir", str(folder)], env=environment(COMMONPLACE_OWNER_KEY=OWNER_KEY), stderr=stderr
        ) as process,
    ):
        standing(process, port)
        async with over_http(Served(folder, port, 0, process)) as client:
            yield client
        process.terminate()
