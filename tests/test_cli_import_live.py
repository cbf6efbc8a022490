"""Moving in from Live Memory, through the real program; and working on its files in place, each after the other."""

import json
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import Unauthenticated
from commonplace.engine.memories import Reference
from commonplace.storage.files import files_at
from tests.engine.outside import Household, body, household
from tests.storage.buckets import ACCESS_KEY, SECRET_KEY, SHELF, connection, serving
from tests.storage.live_bucket import REVOKED, RULES, TOKEN, laid_down, lying_in, note, original
from tests.test_cli import run

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

FIRST = "20260220T180512_cline-dev_observation_a3f8b2c1.md"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return laid_down(tmp_path / "theirs", original())


def brought(source: object, folder: Path, **environment: str) -> list[str]:
    answer = run("import", "live", str(source), "--data-dir", str(folder), **environment)
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout.splitlines()


async def seen(folder: Path) -> dict[str, Any]:
    """What is in the store now."""
    async with household(folder, None) as home:
        contents = await home.engine.spaces.contents(home.owner, "alpha")
        spaces = [space.collection.name for space in await home.engine.spaces.all(home.owner)]
        keys = sorted(credential.name for credential, _ in await home.engine.access.keys())
        files = {f"{file.kind}/{file.name}": file.content for file in contents.files}
        return {"spaces": spaces, "files": files, "keys": keys, "meta": dict(contents.space.metadata)}


async def test_everything_comes_once_however_often_it_is_brought(theirs: Path, folder: Path) -> None:
    before = lying_in(theirs)
    first = brought(theirs, folder)
    assert first[:2] == [
        "spaces brought: 2, notes: 4, other files: 5, tokens: 2",
        "changed there since: 0, known already: 0, left: 2",
    ]
    assert sorted(first[2:]) == [
        "_backups: 2 files of backups stay where they are",
        "_system/tokens.json: what 1 of its tokens allow is not clear",
    ]
    assert lying_in(theirs) == before
    found = await seen(folder)
    assert found["spaces"] == ["alpha", "beta"]
    assert found["keys"] == ["bob", "eve"]
    assert found["meta"]["consolidation_count"] == 3
    assert found["meta"]["foreign"]["graph_memory"]["memory_id"] == "m"
    assert found["files"][f"note/{FIRST}"] == "The build passes.\n\n---\n\nA rule below."
    assert found["files"]["bank/empty.md"] == ""
    second = brought(theirs, folder)
    assert second[0] == "spaces brought: 0, notes: 0, other files: 0, tokens: 0"
    assert await seen(folder) == found
    assert run("verify", "--data-dir", str(folder)).returncode == 0


async def test_notes_are_understood_as_they_were_meant(theirs: Path, folder: Path) -> None:
    brought(theirs, folder)
    async with household(folder, None) as home:
        notes = {note.name[-11:-3]: note for note in (await home.engine.notes.page(home.owner, "alpha", 9)).notes}
        first = notes["a3f8b2c1"]
        assert (first.agent, first.category, first.tags) == ("cline-dev", "observation", ("auth", "é"))
        assert first.at.isoformat() == "2026-02-20T18:05:12+00:00"
        assert notes["b3f8b2c1"].agent == 'bob "the" builder: 1'
        plain = notes["c3f8b2c1"]
        assert (plain.agent, plain.category, plain.content) == ("ann", "todo", "no front matter at all")
        assert plain.at.isoformat() == "2026-02-20T18:05:14+00:00"
        assert notes["d3f8b2c1"].category == "observation"
        found = await home.engine.memories.latest(home.owner, 20)
        assert "We take S3." in [memory.content for memory in found]


async def test_tokens_open_what_they_opened_and_no_more(theirs: Path, folder: Path) -> None:
    brought(theirs, folder)
    async with household(folder, None) as home:
        bob = await home.engine.access.authenticate(TOKEN)
        assert sorted(bob.permissions) == ["read", "write"]
        assert [space.collection.name for space in await home.engine.spaces.all(bob)] == ["alpha"]
        for key in (REVOKED, "lm_odd"):
            with pytest.raises(Unauthenticated):
                await home.engine.access.authenticate(key)


async def test_what_was_worked_in_or_changed_here_is_not_undone_by_bringing_it_again(
    theirs: Path, folder: Path
) -> None:
    brought(theirs, folder)
    async with household(folder, None) as home:
        await home.consolidate()
        bank = await home.bank()
        assert "We take S3." in "".join(bank.values())
    assert brought(theirs, folder)[0] == "spaces brought: 0, notes: 0, other files: 0, tokens: 0"
    (theirs / "alpha/live/20260222T180512_ann_issue_00000001.md").write_text(note("ann", "issue", "new there"))
    (theirs / "alpha/bank/empty.md").write_text("no longer empty")
    assert brought(theirs, folder)[:2] == [
        "spaces brought: 0, notes: 1, other files: 0, tokens: 0",
        "changed there since: 1, known already: 10, left: 2",
    ]
    async with household(folder, None) as home:
        assert await home.notes() == ["new there"]
        assert await home.bank() == bank | {"empty.md": "no longer empty"}


async def test_a_space_that_was_deleted_here_may_be_brought_again(theirs: Path, folder: Path) -> None:
    brought(theirs, folder)
    async with household(folder, None) as home:
        await home.engine.spaces.dissolve(home.owner, "alpha")
    assert brought(theirs, folder)[0] == "spaces brought: 1, notes: 4, other files: 4, tokens: 0"


async def test_what_cannot_be_kept_is_named_and_everything_else_comes(theirs: Path, folder: Path) -> None:
    (theirs / "alpha/bank/latin.md").write_bytes("é".encode("latin-1"))
    (theirs / "alpha/bank/huge.md").write_bytes(b"x" * 3_000_000)
    (theirs / "alpha/live/large.md").write_bytes(b"x" * 1_080_000)
    (theirs / "alpha/live/long.md").write_text("long " * 40_000)
    (theirs / "alpha/readme.txt").write_text("?")
    (theirs / "od\x1b[31md").mkdir()
    (theirs / "no id").mkdir()
    (theirs / "no id/_meta.json").write_text("{}")
    (theirs / "gamma").mkdir()
    (theirs / "gamma/_meta.json").write_text("[")
    lines = brought(theirs, folder)
    assert lines[0] == "spaces brought: 2, notes: 5, other files: 5, tokens: 2"
    for left in (
        "alpha/bank/latin.md: it is no text in UTF-8",
        "alpha/bank/huge.md: it is larger than 1 MB",
        "alpha/live/large.md: it is larger than 1 MB",
        "alpha/readme.txt: it is no file of a space",
        "no id/_meta.json: it is no file of a space",
        "gamma/_meta.json: it is no description of a space",
    ):
        assert left in lines
    again = brought(theirs, folder)
    assert "alpha/bank/latin.md: it is no text in UTF-8" in again  # until someone does something about it


def packed(file: Path, files: dict[str, bytes], **names: str) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, BytesIO(data))
        for path, target in names.items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return file


@pytest.mark.parametrize("above", ["", "./", "bucket/of/ours/"])
def test_an_archive_is_brought_wherever_in_it_the_spaces_lie(tmp_path: Path, folder: Path, above: str) -> None:
    archive = packed(tmp_path / "all.tar.gz", {above + path: data for path, data in original().items()})
    assert brought(archive, folder)[0] == "spaces brought: 2, notes: 4, other files: 5, tokens: 2"


def test_a_single_space_is_brought_from_its_own_folder_or_export(tmp_path: Path, theirs: Path, folder: Path) -> None:
    assert brought(theirs / "alpha", folder)[0] == "spaces brought: 1, notes: 4, other files: 4, tokens: 0"
    own = {path.removeprefix("alpha/"): data for path, data in original().items() if path.startswith("alpha/")}
    assert brought(packed(tmp_path / "one.tar.gz", own), folder)[0].startswith("spaces brought: 0, notes: 0")


@pytest.mark.parametrize("source", ["missing", "empty", "text.tar.gz", "link.tar.gz", "https://x/y", "s3://x"])
def test_what_holds_no_spaces_is_told_and_nothing_is_founded(tmp_path: Path, folder: Path, source: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.tar.gz").write_text("no archive")
    packed(tmp_path / "link.tar.gz", original(), **{"alpha/bank/passwd.md": "/etc/passwd"})
    given = source if "://" in source else str(tmp_path / source)
    answer = run("import", "live", given, "--data-dir", str(folder))
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr
    assert "Traceback" not in answer.stderr
    assert not folder.exists()


# In a bucket, and in place


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


async def test_a_bucket_is_brought(endpoint: str, tmp_path: Path, folder: Path) -> None:
    location = f"s3://{SHELF}/{tmp_path.name}"
    files = files_at(location, Path(), connection(endpoint))
    for path, data in original().items():
        await files.write(path, data)
    keys = {"COMMONPLACE_S3_ACCESS_KEY": ACCESS_KEY, "COMMONPLACE_S3_SECRET_KEY": SECRET_KEY}
    words = ("import", "live", location, "--data-dir", str(folder), "--s3-endpoint", endpoint)
    first, second = run(*words, **keys), run(*words, **keys)
    assert first.stdout.splitlines()[0] == "spaces brought: 2, notes: 4, other files: 5, tokens: 2"
    assert second.stdout.splitlines()[0] == "spaces brought: 0, notes: 0, other files: 0, tokens: 0"


async def worked_on(home: Household) -> None:
    await home.settle()
    await home.note('Written here: ---, "quoted", 漢字', agent='ann "x" --- y', tags=["a, b", "---", "é"])
    await home.settle()


def reads_like_the_original(path: str, data: bytes) -> dict[str, Any]:
    """Small and independent: split at the fences, line by line, tags as JSON, no YAML anywhere."""
    text = data.decode()
    if path.endswith(".json"):
        found: dict[str, Any] = json.loads(text)
        return found
    if "/live/" in path:
        values, content = body(text)
        return {**values, "content": content}
    return {"content": text}


async def test_a_folder_of_the_original_is_worked_on_in_place_and_read_by_it_again(theirs: Path, folder: Path) -> None:
    before = lying_in(theirs)
    async with household(folder, files_at(str(theirs), Path())) as home:
        await worked_on(home)
        assert len(await home.notes()) == 5
        assert await home.bank() == {"progress.md": "# Progress\n\n- done\n", "empty.md": ""}
    after = lying_in(theirs)
    (new,) = set(after) - set(before) - {"beta/live/.keep", "beta/bank/.keep"}
    assert {path: after[path] for path in before} == before  # what was there is as it was
    values = reads_like_the_original(new, after[new])
    assert (values["space_id"], values["category"]) == ("alpha", "observation")
    assert values["tags"] == ["a, b", "---", "é"]
    assert values["content"] == 'Written here: ---, "quoted", 漢字'
    async with household(folder, files_at(str(theirs), Path())) as home:
        await home.consolidate()
        await home.settle()
    files = {path: reads_like_the_original(path, data) for path, data in lying_in(theirs).items()}
    assert not [path for path in files if "/live/2" in path]
    meta = files["alpha/_meta.json"]
    assert (meta["consolidation_count"], meta["total_notes_processed"], meta["version"]) == (4, 47, 1)
    assert meta["graph_memory"]["memory_id"] == "m"
    assert files["alpha/_rules.md"]["content"] == RULES
    assert "We take S3." in "".join(file["content"] for path, file in files.items() if "/bank/" in path)


async def test_what_is_written_here_is_read_here_again_from_its_files_alone(theirs: Path, tmp_path: Path) -> None:
    async with household(tmp_path / "one", files_at(str(theirs), Path())) as home:
        await worked_on(home)
        token = await home.engine.tokens.create(home.owner, "new", frozenset(home.owner.permissions), ["alpha"], 3)
        await home.settle()
        first = await home.notes()
    async with household(tmp_path / "two", files_at(str(theirs), Path())) as home:
        await home.settle()
        assert await home.notes() == first
        page = await home.engine.notes.page(home.owner, "alpha", 9, agent='ann "x" --- y')
        assert [note.tags for note in page.notes] == [("a, b", "---", "é")]
        again = await home.engine.access.authenticate(token.key)
        assert again.limited_to is not None
        history = await home.engine.memories.history(home.owner, Reference(page.notes[0].id))
        assert history == []
