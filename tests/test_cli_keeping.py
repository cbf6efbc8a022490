"""Backup, restore, verify, rekey and doctor, as people type them."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from commonplace.storage.sqlite.rekeying import rekey
from tests.damage import lose_table
from tests.serving import PROGRAM, environment, free_port, over_http, served, stdio
from tests.test_cli import run

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

GUIDE = (Path(__file__).parent.parent / "docs" / "keeping.md").read_text(encoding="utf-8")
SECRET = "PLUMBAGO the secret"
NEW = "a new key that is long enough"


async def filled(folder: Path, *texts: str, **more: str) -> None:
    async with stdio(folder, "--dialect", "greeum", era="legacy", **more) as client:
        for text in texts:
            assert not (await client.call_tool("add_memory", {"content": text})).is_error


async def found(folder: Path, words: str, **more: str) -> str:
    async with stdio(folder, "--dialect", "greeum", era="legacy", **more) as client:
        return str((await client.call_tool("query_memory", {"query": words})).content)


def marks(output: str) -> dict[str, str]:
    return {what: mark for mark, what in re.findall(r"^(ok|warn|fail) +(\w+):", output, re.MULTILINE)}


def holding(folder: Path, words: str) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]


async def test_a_backup_is_made_listed_verified_and_restored(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    await filled(folder, "the lighthouse keeper sleeps")
    made = run("backup", "first", *where)
    assert (made.returncode, made.stdout) == (0, "first\n")
    listed = run("backups", *where)
    header, *rows = [line.split("\t")[0] for line in listed.stdout.splitlines()]
    assert header == "NAME"
    assert "first" in rows
    verified = run("verify", "first", *where)
    assert verified.returncode == 0
    assert "1 memories" in verified.stdout
    assert "the chain is valid" in verified.stdout
    await filled(folder, "a storm comes up")
    refused = run("restore", "first", *where)
    assert refused.returncode == 2
    assert "now (2 memories) by 'first' (1 memory); repeat it with --yes" in refused.stderr
    restored = run("restore", "first", "--yes", *where)
    assert restored.returncode == 0
    assert "restored first: 1 memory in place of 2 memories\n" in restored.stdout
    assert "before-restore-" in restored.stdout
    assert "a storm comes up" not in await found(folder, "storm")


async def test_a_backup_is_removed_by_name_and_one_that_is_not_there_is_named(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    await filled(folder, "the lighthouse keeper sleeps")
    for name in ("first", "second"):
        run("backup", name, *where)
    assert run("backups", "--remove", "first", *where).returncode == 0
    left = {path.stem for path in (folder / "backups").iterdir()}  # perhaps with the backup of the day
    assert "second" in left
    assert "first" not in left
    for command in (("backups", "--remove", "first"), ("restore", "first"), ("restore", "../second", "--yes")):
        refused = run(*command, *where)
        assert refused.returncode == 2
        assert refused.stderr
        assert "Traceback" not in refused.stderr
    for command in (("backups", "--remove", "none"), ("restore", "none"), ("verify", "none")):
        refused = run(*command, *where)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "there is no backup 'none'; `commonplace backups` lists them" in refused.stderr
    absent = ("--data-dir", str(folder / "mistyped"), "--backup-dir", str(folder / "backups"))
    assert run("restore", "second", "--include", "memories", "--yes", *absent).returncode == 2
    assert not (folder / "mistyped").exists()


async def test_a_part_is_restored_beside_what_is_newer(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    await filled(folder, "the lighthouse keeper sleeps")
    run("backup", "first", *where)
    async with stdio(folder, "--dialect", "greeum", era="legacy") as client:
        await client.call_tool("delete_memory", {"memory_id": "block_0"})
    await filled(folder, "a storm comes up")
    refused = run("restore", "first", "--include", "memories", *where)
    assert (refused.returncode, "back what it was in 'first'; repeat it with --yes" in refused.stderr) == (2, True)
    for include, words in ((" , ", "names nothing"), ("memories,weather", "weather: choose from memories")):
        refused = run("restore", "first", "--include", include, "--yes", *where)
        assert (refused.returncode, words in refused.stderr) == (2, True)
    restored = run("restore", "first", "--include", "memories, associations", "--yes", *where)
    assert "restored first in part:\n  memories: 1 put back\n  associations: none" in restored.stdout, restored.stderr
    assert "before-restore-" in restored.stdout
    assert "a storm comes up" in await found(folder, "storm")
    assert "the lighthouse keeper sleeps" in await found(folder, "lighthouse")
    assert run("verify", *where).returncode == 0


async def test_a_part_needs_a_store_that_can_be_opened(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    run("backup", "first", "--data-dir", str(folder))
    (folder / "commonplace.db").write_bytes(b"nonsense" * 5000)
    answer = run("restore", "first", "--include", "memories", "--yes", "--data-dir", str(folder))
    assert (answer.returncode, "Traceback" in answer.stderr) == (2, False)
    assert (folder / "commonplace.db").read_bytes() == b"nonsense" * 5000


async def test_a_running_server_answers_from_the_restored_state(folder: Path) -> None:
    with served(folder, "--dialect", "greeum") as server:
        async with over_http(server) as client:
            await client.call_tool("add_memory", {"content": "the lighthouse keeper sleeps"})
            assert run("backup", "first", "--data-dir", str(folder)).returncode == 0
            await client.call_tool("add_memory", {"content": "a storm comes up"})
            assert run("restore", "first", "--yes", "--data-dir", str(folder)).returncode == 0
            answer = str((await client.call_tool("query_memory", {"query": "storm"})).content)
            assert "a storm comes up" not in answer
            await client.call_tool("add_memory", {"content": "the sea lies calm"})
            assert "the sea lies calm" in str((await client.call_tool("query_memory", {"query": "calm sea"})).content)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("backup",), "no store"),
        (("restore", "missing", "--yes"), "no backup 'missing'"),
        (("verify", "../out"), "name:"),
        (("backup", "--data-dir", ".", "a/b"), "no store"),
        (("rekey",), "give one of"),
        (("rekey", "--remove"), "no store"),
        (("rekey", "--new-key-file", "nowhere"), "nowhere"),
        (("verify", "--encryption-key-file", "nowhere"), "no store"),
    ],
)
def test_a_mistake_is_explained_in_one_line(
    folder: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    answer = subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(COMMONPLACE_DATA_DIR=str(folder)),
        timeout=60,
    )
    assert answer.returncode == 2
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_damaged_backup_is_not_called_valid(folder: Path) -> None:
    run("keys", "create", "first", "--data-dir", str(folder))
    run("backup", "first", "--data-dir", str(folder))
    with (folder / "backups" / "first.db").open("r+b") as file:
        file.seek(9000)
        file.write(b"\xaa" * 3000)
    answer = run("verify", "first", "--data-dir", str(folder))
    assert answer.returncode == 1
    assert "cannot be relied on" in answer.stdout


async def test_a_store_that_cannot_be_opened_is_restored_all_the_same(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    run("backup", "first", "--data-dir", str(folder))
    (folder / "commonplace.db").write_bytes(b"nonsense" * 5000)
    checked = run("doctor", "--data-dir", str(folder))
    assert checked.returncode == 1
    assert marks(checked.stdout)["store"] == "fail"
    refused = run("restore", "first", "--data-dir", str(folder))
    assert "now (memories that cannot be counted) by 'first' (1 memory)" in refused.stderr
    answer = run("restore", "first", "--yes", "--data-dir", str(folder))
    assert answer.returncode == 0, answer.stderr
    assert "restored first: 1 memory in place of memories that cannot be counted\n" in answer.stdout
    (aside,) = (folder / "backups").glob("damaged-*")
    assert (aside / "commonplace.db").read_bytes() == b"nonsense" * 5000
    assert "lighthouse" in await found(folder, "lighthouse")


@pytest.mark.parametrize("table", ["memories", "words_data", "credentials"])
async def test_a_store_with_lost_pages_is_restored_once_no_server_runs(folder: Path, table: str) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    where = ("--data-dir", str(folder))
    run("backup", "first", *where)
    lose_table(folder / "commonplace.db", table)
    found_marks = marks(run("doctor", *where).stdout)
    assert (found_marks["file"], found_marks["backups"]) == ("fail", "ok")
    async with stdio(folder, "--dialect", "greeum", era="legacy"):
        refused = run("restore", "first", "--yes", *where)
        assert refused.returncode == 2
        assert "stop" in refused.stderr
    answer = run("restore", "first", "--yes", *where)
    assert answer.returncode == 0, answer.stderr
    assert len(list((folder / "backups").glob("damaged-*"))) == 1
    assert "lighthouse" in await found(folder, "lighthouse")
    assert run("verify", *where).returncode == 0


async def test_a_damaged_store_is_held_against_the_backup_before_it_is_replaced(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    await filled(folder, "the lighthouse keeper sleeps")
    run("backup", "first", *where)
    await filled(folder, "a storm comes up", "the sea lies calm")
    lose_table(folder / "commonplace.db", "words_data")
    refused = run("restore", "first", *where)
    assert "now (3 memories) by 'first' (1 memory)" in refused.stderr
    answer = run("restore", "first", "--yes", *where)
    assert "restored first: 1 memory in place of 3 memories\n" in answer.stdout, answer.stderr
    assert "the damaged files are in" in answer.stdout


def test_a_server_that_meets_damage_at_its_start_says_what_to_do(folder: Path) -> None:
    assert run("keys", "create", "one", "--data-dir", str(folder)).returncode == 0
    lose_table(folder / "commonplace.db", "users")
    answer = run("serve", "--transport", "http", "--http-port", str(free_port()), "--data-dir", str(folder))
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert "commonplace restore" in answer.stderr


# Encryption


async def test_a_folder_served_with_a_key_holds_no_text(folder: Path) -> None:
    key = {"COMMONPLACE_ENCRYPTION_KEY": "a long sentence that nobody else would write"}
    with served(folder, "--dialect", "greeum", **key) as server:
        async with over_http(server) as client:
            await client.call_tool("add_memory", {"content": SECRET})
            assert run("backup", "first", "--data-dir", str(folder), **key).returncode == 0
            assert SECRET in str((await client.call_tool("query_memory", {"query": "PLUMBAGO"})).content)
            assert holding(folder, "PLUMBAGO") == []
    assert holding(folder, "PLUMBAGO") == []
    assert not holding(folder, key["COMMONPLACE_ENCRYPTION_KEY"])
    assert SECRET in await found(folder, "PLUMBAGO", **key)


async def test_rekeying_needs_that_no_server_runs(folder: Path) -> None:
    await filled(folder, SECRET)
    with served(folder):
        answer = run("rekey", "--data-dir", str(folder), COMMONPLACE_NEW_ENCRYPTION_KEY=NEW)
        assert answer.returncode == 2
        assert "stop every server" in answer.stderr
    assert run("rekey", "--data-dir", str(folder), COMMONPLACE_NEW_ENCRYPTION_KEY=NEW).returncode == 0
    assert holding(folder, "PLUMBAGO") == []
    former = {"COMMONPLACE_ENCRYPTION_KEY": "old"}
    for given, words in (({}, "no encryption key is set"), (former, "does not open it")):
        refused = run("verify", "--data-dir", str(folder), **given)
        assert refused.returncode == 2
        assert words in refused.stderr
        assert "COMMONPLACE_ENCRYPTION_KEY" in refused.stderr
    assert run("verify", "--data-dir", str(folder), COMMONPLACE_ENCRYPTION_KEY=NEW).returncode == 0


async def test_a_new_key_that_could_be_guessed_is_refused_and_an_old_one_opens_as_ever(folder: Path) -> None:
    where, short = ("--data-dir", str(folder)), {"COMMONPLACE_ENCRYPTION_KEY": "a short one"}
    refused = run("serve", *where, **short)
    assert (refused.returncode, "encryption-key: is too short to be safe" in refused.stderr) == (2, True)
    assert not (folder / "commonplace.db").exists()
    await filled(folder, SECRET)
    assert "too short" in run("rekey", *where, COMMONPLACE_NEW_ENCRYPTION_KEY="a short one").stderr
    assert holding(folder, "PLUMBAGO")
    rekey(folder, folder / "backups", "", "a short one")
    assert run("verify", *where, **short).returncode == 0
    assert "too short" not in run("restore", "none", *where, **short).stderr


def test_a_folder_where_no_backup_can_be_is_refused_before_anything_is_made(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        answer = run("serve", "--data-dir", str(folder), "--backup-dir", str(place))
        assert answer.returncode == 2
        assert "backup-dir: " in answer.stderr
        assert "choose" in answer.stderr
    assert not folder.exists()


def test_the_key_is_no_option_and_is_never_printed(folder: Path, tmp_path: Path) -> None:
    for command in ("serve", "rekey", "backup", "doctor"):
        assert not re.search(r"--encryption-key(?!-file)|--new-key(?!-file)", run(command, "--help").stdout)
    said = run("serve", "--encryption-key", "x")
    assert said.returncode == 2
    (tmp_path / "key").write_text("correct horse battery\nnot this line\n")
    keyed = {"COMMONPLACE_ENCRYPTION_KEY_FILE": str(tmp_path / "key")}
    assert run("keys", "create", "a", "--data-dir", str(folder), **keyed).returncode == 0
    other = run("verify", "--data-dir", str(folder), COMMONPLACE_ENCRYPTION_KEY="correct horse battery")
    assert other.returncode == 0
    for arguments in (("doctor",), ("backup",), ("rekey", "--remove")):
        answer = run(*arguments, "--data-dir", str(folder), **keyed)
        assert "correct horse" not in answer.stdout + answer.stderr


# The doctor


async def test_the_doctor_finds_a_healthy_house_healthy(folder: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    run("backup", "first", "--data-dir", str(folder))
    answer = run("doctor", "--data-dir", str(folder))
    assert answer.returncode == 0, answer.stdout
    assert set(marks(answer.stdout)) == {
        *("permissions", "disk", "servers", "encryption", "file", "chain", "embedder", "vectors", "index", "backups")
    }
    assert "fail" not in marks(answer.stdout).values()
    assert "none on this folder" in answer.stdout


async def test_the_doctor_names_what_is_wrong_and_what_to_do(folder: Path, tmp_path: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps", COMMONPLACE_BACKUP_DAILY="no")
    folder.chmod(0o755)
    (folder / ".rekeying-12345678").write_text("left")
    with served(folder, COMMONPLACE_BACKUP_DAILY="no"):
        (folder / ".rekeying-12345678").write_text("left")
        answer = run(
            *("doctor", "--data-dir", str(folder)),
            COMMONPLACE_EMBEDDER="openai",
            COMMONPLACE_EMBEDDER_URL="http://127.0.0.1:9/v1",
        )
    assert answer.returncode == 1
    said = marks(answer.stdout)
    assert said["permissions"] == said["leftovers"] == said["backups"] == "warn"
    assert said["embedder"] == "fail"
    assert f"chmod go= {folder}" in answer.stdout
    assert "has the folder open" in answer.stdout
    assert "`commonplace backup` makes one" in answer.stdout


@pytest.mark.parametrize("damage", ["a directory", "cut off", "a byte"])
async def test_the_doctor_says_when_the_copy_of_the_index_cannot_be_read(folder: Path, damage: str) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    copy = folder / "index-0123456789ab.npz"
    if damage == "a directory":
        copy.mkdir()
    else:
        np.savez(copy, numbers=np.arange(1000))
        whole = bytearray(copy.read_bytes())
        whole[1000] ^= 1
        copy.write_bytes(whole if damage == "a byte" else whole[:-100])
    answer = run("doctor", "--data-dir", str(folder))
    assert answer.returncode == 0
    assert marks(answer.stdout)["index"] == "warn"
    assert f"`rm -r {copy}`, and the next start builds it anew" in answer.stdout


def test_the_doctor_says_when_there_is_no_store(folder: Path) -> None:
    answer = run("doctor", "--data-dir", str(folder))
    assert answer.returncode == 1
    assert "no store" in answer.stdout
    assert not folder.exists()


@pytest.mark.parametrize("lost", ["removed", "emptied"])
async def test_a_store_that_is_gone_is_not_passed_over_beside_its_backups(folder: Path, lost: str) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    assert run("backup", "--data-dir", str(folder), "before").returncode == 0
    for file in folder.glob("commonplace.db*"):
        file.unlink()
    if lost == "emptied":
        (folder / "commonplace.db").touch()
    answer = run("doctor", "--data-dir", str(folder))
    assert answer.returncode == 1
    assert "there are backups of one" in answer.stdout
    assert "`commonplace restore before --yes` puts the latest back" in answer.stdout
    served = run("serve", "--data-dir", str(folder))
    assert "`commonplace restore before --yes` puts the latest back" in served.stderr
    assert served.returncode == (2 if lost == "emptied" else 0)
    assert run("restore", "--data-dir", str(folder), "before", "--yes").returncode == 0
    assert run("verify", "--data-dir", str(folder)).returncode == 0


# The guide


async def test_the_commands_of_the_guide_run(folder: Path, tmp_path: Path) -> None:
    await filled(folder, "the lighthouse keeper sleeps")
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL))
    path = str(Path(PROGRAM).parent) + os.pathsep + os.environ["PATH"]
    answer = subprocess.run(
        ["sh", "-e", "-u", "-c", commands],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(COMMONPLACE_DATA_DIR=str(folder), PATH=path),
        timeout=120,
    )
    assert answer.returncode == 0, answer.stderr
    assert "fail" not in marks(answer.stdout).values()


def test_the_settings_of_the_guide_exist() -> None:
    known = set()
    for command in ("serve", "rekey", "restore", "doctor"):
        known |= set(re.findall(r"--[a-z][a-z-]+", run(command, "--help").stdout))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE)) <= known
