"""The contract of Files, over a folder and over a bucket: written once, kept by both."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.domain.errors import AlreadyExists, CommonplaceError, Conflict, FilesFailed, Invalid
from commonplace.ports.files import NOTHING, Files, file_path, is_file_path
from commonplace.storage.files import Connection, files_at
from tests.storage.buckets import CROWD, CROWD_SIZE, SHELF, connection, count, raw, serving, started

pytestmark = pytest.mark.anyio

HOSTILE = [
    "",
    "/etc/passwd",
    "..",
    "a/../b",
    "a/..",
    ".",
    "./a",
    "a//b",
    "a/",
    "/",
    "a\\b",
    "..\\b",
    "nul\0",
    "line\nbreak",
    "tab\t",
    "del\x7f",
    "c1\x85",
    "\ud800",
    "\uffff",
    "x" * 256,
    "日" * 86,
    "/".join(["folder"] * 150),
    ".commonplace-lock",
    "a/.commonplace-draft-0/b",
]
NAMES = [
    "日本語のノート.md",
    "한국어 메모.md",
    "中文/笔记.md",
    "é.md",
    "e\u0301.md",
    "a b+c%20d.md",
    "what?#&=;:@$,.md",
    "\"quoted\" 'twice'.md",
    "<tag>&amp;.md",
    "~[x]{y}|^`*.md",
    "🙂.md",
    "right\u202eleft.md",
    "line\u2028separator.md",
    " spaces ",
    "...",
    "-rf",
    "x" * 255,
]


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        return files_at(str(tmp_path / "files"), Path())
    return files_at(f"s3://{SHELF}/{tmp_path.parent.name}/{tmp_path.name}", Path(), reached(request))


def reached(request: pytest.FixtureRequest) -> Connection:
    return connection(request.getfixturevalue("endpoint"))


@pytest.fixture(params=["folder", "bucket"])
def crowd(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "bucket":
        return files_at(f"s3://{CROWD}", Path(), reached(request))
    (tmp_path / "many").mkdir()
    for number in range(CROWD_SIZE):
        (tmp_path / f"many/{number:05}.md").write_bytes(b"x")
    return files_at("", tmp_path)


# Reading and writing


async def test_what_is_written_is_read_back_with_the_tag_and_the_time(files: Files) -> None:
    tag = await files.write("space/live/note.md", b"a note\n")
    held = await files.read("space/live/note.md")
    assert held is not None
    assert (held.data, held.tag) == (b"a note\n", tag)
    assert abs(datetime.now(UTC) - held.modified) < timedelta(minutes=1)


async def test_nothing_is_read_where_nothing_is(files: Files) -> None:
    await files.write("a/b", b"x")
    assert [await files.read(path) for path in ("c", "a", "a/c", "a/b/c")] == [None] * 4


async def test_a_write_replaces_and_gives_another_tag(files: Files) -> None:
    tags = {await files.write("a", data) for data in (b"one", b"two", b"")}
    held = await files.read("a")
    assert len(tags) == 3
    assert held is not None
    assert held.data == b""


async def test_a_large_file_comes_back_whole(files: Files) -> None:
    data = bytes(range(256)) * (5 * 1024 * 4)
    await files.write("large.bin", data)
    await files.write("large.bin", data, over=(await files.listed())[0].tag)
    held = await files.read("large.bin")
    assert held is not None
    assert held.data == data


async def test_names_in_any_script_come_back_as_they_were(files: Files) -> None:
    for name in NAMES:
        await files.write(f"odd/{name}", name.encode())
    assert [entry.path for entry in await files.listed("odd")] == sorted(f"odd/{name}" for name in NAMES)
    for name in NAMES:
        held = await files.read(f"odd/{name}")
        assert held is not None
        assert held.data == name.encode()
        await files.remove(f"odd/{name}")
    assert await files.listed() == []


async def test_a_hostile_path_is_refused_by_every_verb(files: Files) -> None:
    for path in HOSTILE:
        below = f"{path}/x"
        for attempt in (
            files.read(path),
            files.write(path, b""),
            files.remove(path),
            files.remove_all(below),
            files.listed(below),
            files.folders(below),
        ):
            with pytest.raises(Invalid):
                await attempt
    assert await files.listed() == []


@given(st.text(alphabet=st.characters() | st.sampled_from("/.\\\0\n"), max_size=40))
@example("a" * 10_000)
def test_a_path_is_either_refused_or_stays_below_the_root(path: str) -> None:
    if not is_file_path(path):
        with pytest.raises(Invalid):
            file_path(path)
    else:
        root = Path("/srv/files")
        assert (root / path).is_relative_to(root)
        assert {"", ".", ".."}.isdisjoint(path.split("/"))
        assert "\0" not in path


# Listing


async def test_a_listing_goes_deep_and_is_sorted(files: Files) -> None:
    for path in ("b/2", "b/10", "b/c/d/e", "a-b", "a/z", "bb/1"):
        await files.write(path, path.encode())
    assert [entry.path for entry in await files.listed()] == ["a-b", "a/z", "b/10", "b/2", "b/c/d/e", "bb/1"]
    assert [entry.path for entry in await files.listed("b")] == ["b/10", "b/2", "b/c/d/e"]
    assert await files.listed("b/") == await files.listed("b")
    assert [await files.listed(prefix) for prefix in ("none", "a-b", "b/c/none")] == [[], [], []]


async def test_a_listing_says_what_reading_says(files: Files) -> None:
    await files.write("a/b", b"four")
    (entry,) = await files.listed("a")
    held = await files.read(entry.path)
    assert held is not None
    assert (entry.size, entry.tag) == (4, held.tag)
    assert abs(entry.modified - held.modified) < timedelta(seconds=2)


async def test_an_empty_file_is_listed(files: Files) -> None:
    await files.write("a/.keep", b"")
    assert [(entry.path, entry.size) for entry in await files.listed()] == [("a/.keep", 0)]


async def test_folders_are_those_that_hold_files(files: Files) -> None:
    for path in ("b/x", "a/c/d", "a/e", "top", "日本/x"):
        await files.write(path, b"")
    assert await files.folders() == ["a", "b", "日本"]
    assert await files.folders("a") == ["c"]
    assert [await files.folders(prefix) for prefix in ("b", "top", "none")] == [[], [], []]
    await files.remove("a/c/d")
    await files.remove("b/x")
    assert await files.folders() == ["a", "日本"]
    assert await files.folders("a") == []


async def test_thousands_of_files_are_listed_and_removed(crowd: Files) -> None:
    await crowd.write("one", b"1")
    assert [entry.path for entry in await crowd.listed("many")] == [f"many/{n:05}.md" for n in range(CROWD_SIZE)]
    assert await crowd.folders() == ["many"]
    await crowd.remove_all("many")
    assert [entry.path for entry in await crowd.listed()] == ["one"]
    assert await crowd.folders() == []


# Removing


async def test_removing_twice_is_like_removing_once(files: Files) -> None:
    await files.write("a/b", b"x")
    await files.remove("a/b")
    await files.remove("a/b")
    await files.remove("a")
    assert await files.read("a/b") is None


async def test_removing_a_folder_leaves_its_neighbours(files: Files) -> None:
    for path in ("a/b/1", "a/b/c/2", "a/bb/3", "a/b.md"):
        await files.write(path, b"x")
    await files.remove_all("a/b")
    await files.remove_all("a/b/")
    await files.remove_all("a/b.md")
    await files.remove("a")
    assert [entry.path for entry in await files.listed()] == ["a/b.md", "a/bb/3"]


async def test_the_root_is_not_removed(files: Files) -> None:
    await files.write("a", b"x")
    with pytest.raises(Invalid):
        await files.remove_all("")
    assert await files.read("a")


# Conditions


async def test_creating_fails_where_a_file_is(files: Files) -> None:
    tag = await files.write("a", b"first", over=NOTHING)
    with pytest.raises(AlreadyExists):
        await files.write("a", b"first", over=NOTHING)
    held = await files.read("a")
    assert held is not None
    assert (held.data, held.tag) == (b"first", tag)
    await files.remove("a")
    assert await files.write("a", b"again", over=NOTHING)


async def test_writing_over_a_tag_fails_when_the_file_is_another_or_gone(files: Files) -> None:
    first = await files.write("a", b"first")
    second = await files.write("a", b"second", over=first)
    for tag in (first, "made-up", '"made-up"'):
        with pytest.raises(Conflict):
            await files.write("a", b"third", over=tag)
    held = await files.read("a")
    assert held is not None
    assert (held.data, held.tag) == (b"second", second)
    await files.remove("a")
    with pytest.raises(Conflict):
        await files.write("a", b"third", over=second)
    assert await files.read("a") is None


async def test_of_twenty_who_create_one_path_exactly_one_wins(files: Files) -> None:
    for data in (b"all the same", b""):
        path = f"locks/{len(data)}"
        won = await asyncio.gather(*(attempted(files, path, data, NOTHING) for _ in range(20)))
        assert [outcome for outcome in won if not isinstance(outcome, AlreadyExists)] == [
            entry.tag for entry in await files.listed("locks") if entry.path == path
        ]


async def test_of_twenty_who_write_over_one_tag_exactly_one_wins(files: Files) -> None:
    tag = await files.write("a", b"first")
    outcomes = await asyncio.gather(*(attempted(files, "a", str(n).encode(), tag) for n in range(20)))
    (won,) = (number for number, outcome in enumerate(outcomes) if not isinstance(outcome, Conflict))
    held = await files.read("a")
    assert held is not None
    assert (held.data, held.tag) == (str(won).encode(), outcomes[won])


async def test_no_addition_is_lost_when_several_count_at_once(files: Files) -> None:
    await asyncio.gather(*(count(files, 5) for _ in range(4)))
    held = await files.read("count")
    assert held is not None
    assert held.data == b"20"


async def attempted(files: Files, path: str, data: bytes, over: str) -> str | CommonplaceError:
    try:
        return await files.write(path, data, over=over)
    except (AlreadyExists, Conflict, FilesFailed) as refusal:
        return refusal


# The place


async def test_a_check_says_how_long_it_took(files: Files) -> None:
    assert 0 < await files.check() < 10
    await files.write("a", b"x")
    assert await files.check() > 0
    assert [entry.path for entry in await files.listed()] == ["a"]


async def test_a_bucket_that_does_not_exist_is_a_failure_and_not_empty(endpoint: str) -> None:
    files = files_at("s3://nowhere/below", Path(), connection(endpoint))
    attempts = (
        files.read("a"),
        files.write("a", b""),
        files.remove("a"),
        files.listed(),
        files.folders(),
        files.check(),
    )
    for attempt in attempts:
        with pytest.raises(FilesFailed, match="s3://nowhere/below failed: it answered 404 NoSuchBucket"):
            await attempt


async def test_folders_that_a_console_made_are_no_files(endpoint: str, tmp_path: Path) -> None:
    for key in ("", "space/", "space/live/"):
        raw(endpoint, "PUT", f"{SHELF}/{tmp_path.name}/{key}")
    files = files_at(f"s3://{SHELF}/{tmp_path.name}", Path(), connection(endpoint))
    await files.write("space/empty.md", b"")
    await files.write("space/ノート.md", b"x")
    assert [entry.path for entry in await files.listed()] == ["space/empty.md", "space/ノート.md"]
    assert f"<Key>{tmp_path.name}/space/ノート.md</Key>" in raw(endpoint, "GET", SHELF)


async def test_the_environment_does_not_lead_elsewhere_and_the_process_ends_well(endpoint: str) -> None:
    await files_at(f"s3://{SHELF}/environment", Path(), connection(endpoint)).write("note.md", b"here")
    elsewhere = {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    process = started("read", f"s3://{SHELF}/environment", endpoint, **elsewhere)
    assert process.communicate(timeout=30)[0] == "here\n"
    assert process.returncode == 0
