"""What only a folder has: links, modes, other processes, and processes that are killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.domain.errors import FilesFailed, Invalid
from commonplace.ports.files import NOTHING, Files
from commonplace.storage.files import Connection, files_at
from commonplace.storage.files.bucket import Bucket, bucket_at
from tests.storage.buckets import ROOT, started, whole

pytestmark = pytest.mark.anyio


@pytest.fixture
def files(folder: Path) -> Files:
    return files_at("", folder)


async def contents(files: Files, path: str) -> bytes:
    held = await files.read(path)
    return held.data if held else b""


# Links and the like


async def test_links_are_neither_read_nor_listed_nor_followed(files: Files, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret")
    await files.write("space/note.md", b"x")
    (folder / "space/file").symlink_to(outside / "secret.md")
    (folder / "space/folder").symlink_to(outside)
    (folder / "top").symlink_to(outside)
    for path in ("space/file", "space/folder/secret.md", "top/secret.md"):
        assert await files.read(path) is None
    assert [entry.path for entry in await files.listed()] == ["space/note.md"]
    assert await files.listed("top") == []
    assert await files.folders() == ["space"]
    for path in ("top/new.md", "space/folder/secret.md"):
        with pytest.raises(Invalid, match="no folder"):
            await files.write(path, b"changed")
    await files.write("space/file", b"a file now")
    await files.remove("top/secret.md")
    await files.remove_all("top")
    await files.remove_all("space")
    assert [file.name for file in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_bytes() == b"secret"


async def test_the_root_itself_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    await files_at(str(tmp_path / "link"), Path()).write("a", b"x")
    assert (folder / "a").read_bytes() == b"x"


async def test_a_pipe_does_not_keep_the_reader_waiting(files: Files, folder: Path) -> None:
    await files.write("a", b"x")
    os.mkfifo(folder / "pipe")
    assert await files.read("pipe") is None
    assert [entry.path for entry in await files.listed()] == ["a"]


async def test_names_that_cannot_be_asked_for_are_not_listed(files: Files, folder: Path) -> None:
    await files.write("a/b", b"x")
    for name in (b"back\\slash", b"line\nbreak", b"no \xff text"):
        (folder / "a" / os.fsdecode(name)).write_bytes(b"x")
    (folder / "empty/below").mkdir(parents=True)
    assert [entry.path for entry in await files.listed()] == ["a/b"]
    assert await files.folders() == ["a"]
    await files.remove_all("a")
    assert not (folder / "a").exists()


async def test_a_file_is_no_folder_and_a_folder_no_file(files: Files) -> None:
    await files.write("a/b", b"x")
    for path in ("a/b/c", "a"):
        with pytest.raises(Invalid, match="folder"):
            await files.write(path, b"y")
    assert [entry.path for entry in await files.listed()] == ["a/b"]


async def test_only_the_owner_may_look(files: Files, folder: Path) -> None:
    await files.write("a/b", b"x")
    await files.write("a/c", b"x", over=NOTHING)
    modes = {path.name: path.stat().st_mode & 0o777 for path in [folder, *folder.rglob("*")]}
    assert modes == {folder.name: 0o700, "a": 0o700, "b": 0o600, "c": 0o600, ".commonplace-lock": 0o600}


async def test_a_root_that_is_a_file_is_a_failure_with_a_remedy(folder: Path) -> None:
    folder.write_bytes(b"")
    files = files_at("", folder)
    for attempt in (files.write("a", b"x"), files.check()):
        with pytest.raises(FilesFailed, match=f"the files at {folder} failed: File exists") as failure:
            await attempt
        assert failure.value.remedy


# Several processes, some of which are killed


async def test_no_addition_of_several_processes_is_lost(files: Files, folder: Path) -> None:
    processes = [started("count", folder, 40) for _ in range(3)]
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert await contents(files, "count") == b"120"


async def test_a_process_killed_at_any_step_leaves_whole_files_or_none(tmp_path: Path) -> None:
    steps = int(started("die", tmp_path).communicate(timeout=60)[0])
    assert steps > 30
    left = []
    for step in range(1, steps + 1):
        root = tmp_path / f"{step:03}"
        files = files_at("", root)
        left += list(root.rglob(".commonplace-draft-*"))
        assert await contents(files, "a/old.md") in (b"old", b"new" * 50_000)
        assert await contents(files, "b/c/fresh.md") in (b"", b"fresh" * 50_000)
        assert {entry.path for entry in await files.listed()} <= {"a/old.md", "b/c/fresh.md", "b/d.md"}
        await files.write("b/c/fresh.md", b"goes on")
    assert left
    assert list(tmp_path.rglob(".commonplace-draft-*")) == []


async def test_what_a_killed_process_had_acknowledged_is_there_and_whole(files: Files) -> None:
    for least in (1, 5, 20):
        with started("overwrite", files.location) as process:
            assert process.stdout is not None
            while int(process.stdout.readline()) < least:
                pass
            process.kill()
            said = process.stdout.read().split("\n")[:-1]
        acknowledged = int(said[-1]) if said else least
        assert await contents(files, "live/note.md") in (whole(acknowledged), whole(acknowledged + 1))
    assert [entry.path for entry in await files.listed()] == ["live/note.md"]


async def test_the_draft_of_a_living_process_is_not_swept_away(files: Files, folder: Path) -> None:
    with started("overwrite", folder) as process:
        assert process.stdout is not None
        for _ in range(30):
            assert process.stdout.readline()
            await files.listed()
            await files.remove_all("live")
        process.kill()


# The setting


def test_a_setting_names_a_folder_or_a_bucket(folder: Path, tmp_path: Path) -> None:
    assert files_at("", folder).location == str(folder)
    assert files_at(str(tmp_path / "other"), folder).location == str(tmp_path / "other")
    assert files_at("s3://shelf/a/b/", folder).location == "s3://shelf/a/b"
    assert bucket_at("s3://shelf") == Bucket("shelf")
    for location in ("s3://", "s3:///a", "s3://a_b c/d", "s3://shelf/../a", "s3://shelf/" + "a" * 201, "ftp://x"):
        with pytest.raises(Invalid):
            files_at(location, folder)


def test_an_endpoint_is_https_unless_it_is_this_machine() -> None:
    for endpoint in ("https://s3.example", "http://127.0.0.1:9000", "http://localhost:9000/x", "http://[::1]:9000"):
        assert Connection(endpoint=endpoint).endpoint == endpoint
    assert Connection(endpoint="http://minio:9000", allow_http=True)
    for endpoint in ("http://minio:9000", "http://127.0.0.1.example", "s3.example", "https://user:pass@s3.example"):
        with pytest.raises(Invalid) as refusal:
            Connection(endpoint=endpoint)
        assert "pass" not in str(refusal.value)
    with pytest.raises(Invalid, match="go together"):
        Connection(access_key="only one")


def test_the_bucket_is_in_the_path_or_in_the_host() -> None:
    assert Connection(endpoint="https://s3.example:9000/").endpoint_of("shelf") == "https://s3.example:9000"
    hosted = Connection(endpoint="https://s3.example:9000/", virtual_hosted=True)
    assert hosted.endpoint_of("shelf") == "https://shelf.s3.example:9000"


def test_a_bucket_without_the_package_says_what_to_install() -> None:
    program = """
import sys
from pathlib import Path
sys.modules["obstore"] = None
from commonplace.storage.files import files_at
files_at("", Path())
try:
    files_at("s3://shelf", Path())
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    told = "Invalid: files location: buckets need one more package: pip install commonplace[s3]"
    assert ended.stderr.strip() == told
