"""Moving in from Nocturne Memory, through the real program."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

from commonplace.domain.access import Actor
from commonplace.engine import Engine
from tests.engine.gardening import Gardener
from tests.storage.nocturne import Original, everyday
from tests.test_cli import run

pytestmark = pytest.mark.anyio


def moved_in(original: Original, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The file is only read."""
    before, beside = original.file.read_bytes(), sorted(original.file.parent.iterdir())
    answer = run("import", "nocturne", str(original.file), "--data-dir", str(folder))
    assert original.file.read_bytes() == before
    assert [path for path in sorted(original.file.parent.iterdir()) if path != folder] == beside
    return answer


@pytest.fixture
def original(tmp_path: Path) -> Original:
    (tmp_path / "theirs").mkdir()
    return everyday(tmp_path / "theirs" / "demo.db")


async def test_all_of_it_is_brought_twice_without_doubling(
    original: Original, folder: Path, engine: Engine, owner: Actor
) -> None:
    first = moved_in(original, folder)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.splitlines()[:2] == [
        "memories brought: 4 (with 2 older versions), known already: 0",
        "paths brought: 4, known already: 0; without a path: 1",
    ]
    assert len(first.stdout.splitlines()) == 4
    ann = Gardener(engine, owner)
    outline = await ann.outline()
    assert "core://agent/my_user" in outline
    second = moved_in(original, folder)
    assert second.stdout.splitlines() == [
        "memories brought: 0 (with 0 older versions), known already: 4",
        "paths brought: 0, known already: 4; without a path: 1",
    ]
    assert await ann.outline() == outline
    original.edit(3, 40, "edited there")
    third = moved_in(original, folder)
    assert "with 1 older versions" in third.stdout
    assert (await ann.at("core://agent")).content == "edited there"
    versions = run("history", "versions", "core://agent", "--data-dir", str(folder)).stdout.splitlines()
    assert [line.split("\t")[1][:10] for line in versions[:3]] == ["2025-03-01", "2025-03-02", "2025-03-03"]
    assert run("verify", "--data-dir", str(folder)).returncode == 0


def test_odd_names_are_told_without_steering_the_terminal_and_domains_with_their_setting(
    original: Original, folder: Path
) -> None:
    original.memory(50, "odd")
    original.path("od\x1b[31md\nname", 50, domain="diary")
    answer = moved_in(original, folder)
    assert answer.returncode == 0
    assert "\x1b" not in answer.stdout
    assert "brought under the name" in answer.stdout
    assert answer.stdout.splitlines()[-1].endswith(",diary")
    assert "VALID_DOMAINS=" in answer.stdout


@pytest.mark.parametrize("content", [b"not a database" * 1000, b""])
def test_a_file_that_is_none_is_told_and_nothing_is_founded(tmp_path: Path, folder: Path, content: bytes) -> None:
    (tmp_path / "file.db").write_bytes(content)
    answer = run("import", "nocturne", str(tmp_path / "file.db"), "--data-dir", str(folder))
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "file.db" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not folder.exists()


def test_a_missing_file_is_told_and_not_made(tmp_path: Path, folder: Path) -> None:
    answer = run("import", "nocturne", str(tmp_path / "missing.db"), "--data-dir", str(folder))
    assert answer.returncode == 2
    assert "missing.db is not there, or is no file: name the SQLite file of Nocturne Memory" in answer.stderr
    assert not (tmp_path / "missing.db").exists()
    assert run("import").returncode == 2


def test_what_cannot_be_brought_as_it_is_written_is_told(tmp_path: Path) -> None:
    file = tmp_path / "odd.db"
    connection = sqlite3.connect(file)
    connection.executescript(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, deprecated, migrated_to INTEGER, created_at);"
        "CREATE TABLE paths (domain, path, memory_id INTEGER, created_at, priority, disclosure);"
        "INSERT INTO memories VALUES (1, 'text', 0, NULL, 'some day');"
        "INSERT INTO paths VALUES ('core', 'kept', 1, '', -5, NULL), ('core', 'dangling', 9, '', 0, NULL),"
        " ('system', 'mine', 1, '', 0, NULL), ('core', '', 1, '', 0, NULL);"
    )
    connection.close()
    said = run("import", "nocturne", str(file), "--data-dir", str(tmp_path / "data")).stdout
    assert "core://dangling: left out: it leads to memory 9, which is not there" in said
    assert "core://kept: its priority -5 is now 0" in said
    assert "system://mine: its domain is now imported_system" in said
    assert "core://: left out: it has no name" in said
    assert "memory 1: its date cannot be read; taken as 1970" in said
