"""The files of spaces follow the store, in a folder and in a bucket; what others do to them is taken in."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.memory import Change
from commonplace.engine.memories import Reference
from commonplace.ports.files import Files
from commonplace.storage.files import files_at
from tests.engine.outside import RULES, Counting, Household, Neighbour, body, household
from tests.fakes import Clock
from tests.storage.buckets import SHELF, connection, serving

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with serving() as endpoint:
        yield endpoint


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        return files_at(str(tmp_path / "files"), Path())
    way = connection(request.getfixturevalue("endpoint"))
    return files_at(f"s3://{SHELF}/{tmp_path.parent.name}/{tmp_path.name}", Path(), way)


@pytest.fixture
async def home(folder: Path, files: Files) -> AsyncIterator[Household]:
    async with household(folder, files) as home:
        yield home


@pytest.fixture
def other(files: Files) -> Neighbour:
    return Neighbour(files)


async def forget(home: Household, identifier: object) -> None:
    await home.engine.memories.forget(home.owner, Reference(identifier))  # type: ignore[arg-type]


# Out


async def test_the_files_are_laid_out_as_the_reference_has_them(home: Household, other: Neighbour) -> None:
    await home.space()
    note = await home.note("The build passes.", tags=["auth", "module"])
    assert await other.all() == {}
    assert await home.engine.mirror.push() == 5
    assert set(await other.all()) == {"alpha/_meta.json", "alpha/_rules.md", f"alpha/live/{note.name}"}
    assert await other.data("alpha/live/.keep") == await other.data("alpha/bank/.keep") == b""
    assert await other.text("alpha/_rules.md") == RULES
    values, content = body(await other.text(f"alpha/live/{note.name}"))
    assert content == "The build passes."
    assert values == {
        "timestamp": "2026-01-15T03:00:00Z",
        "agent": "ann",
        "category": "observation",
        "tags": ["auth", "module"],
        "space_id": "alpha",
    }
    assert len(await other.data(f"alpha/live/{note.name}")) == note.size


async def test_a_consolidation_and_a_dissolved_space_are_followed(home: Household, other: Neighbour) -> None:
    await home.space()
    for number in range(3):
        await home.note(f"note {number}", category="progress")
    await home.engine.mirror.push()
    await home.consolidate()
    await home.note("later")
    await home.engine.mirror.push()
    assert await other.notes() == ["later"]
    bank = await home.bank()
    assert {path: await other.text(f"alpha/bank/{path}") for path in bank} == bank
    assert json.loads(await other.data("alpha/_meta.json"))["total_notes_processed"] == 3
    assert "alpha/_synthesis.md" in await other.all()
    await home.engine.spaces.dissolve(home.owner, "alpha")
    await home.engine.mirror.push()
    assert await other.files.listed() == []


async def test_a_note_that_is_changed_or_forgotten_through_another_dialect_is_followed(
    home: Household, other: Neighbour
) -> None:
    await home.space()
    changed, gone = await home.note("first"), await home.note("second")
    await home.engine.mirror.push()
    reference = Reference(changed.id)
    await home.engine.memories.revise(home.owner, reference, Change(content="first, corrected"))
    await forget(home, gone.id)
    await home.engine.mirror.push()
    assert await other.notes() == ["first, corrected"]
    await home.engine.memories.revise(home.owner, reference, Change(tags=("überall", '"---"')))
    await home.engine.mirror.push()
    path = f"alpha/live/{changed.name}"
    assert 'tags: ["überall", "\\"-\\u002d-\\""]' in await other.text(path)
    await home.engine.memories.revise(home.owner, reference, Change(category="decision"))
    await home.engine.mirror.push()
    assert 'category: "decision"' in await other.text(path)
    (shown,) = (await home.engine.notes.page(home.owner, "alpha", 5)).notes
    assert shown.size == len(await other.data(path))
    assert not await home.engine.mirror.waiting()


async def test_what_changes_nothing_in_a_file_does_not_write_it(folder: Path, files: Files) -> None:
    counting = Counting(files)
    async with household(folder, counting) as home:
        await home.space()
        note = await home.note("as it was")
        await home.engine.mirror.push()
        counting.writes.clear()
        await home.engine.memories.revise(home.owner, Reference(note.id), Change(importance=0.9))
        assert await home.engine.mirror.push() == 1
        assert counting.writes == []


async def test_a_note_is_there_at_once_for_two_engines_and_its_file_once(
    folder: Path, files: Files, other: Neighbour
) -> None:
    async with household(folder, files) as one, household(folder, files) as two:
        await one.space()
        for number in range(10):
            await (one, two)[number % 2].note(f"note {number}")
        await one.engine.mirror.push()
        await two.engine.mirror.push()
        assert await one.notes() == await two.notes() == await other.notes() == [f"note {n}" for n in range(10)]
        assert await two.engine.mirror.push() == 0


async def test_a_path_that_cannot_be_written_holds_up_no_other(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "alpha").write_text("in the way")
    files = files_at(str(tmp_path / "files"), Path())
    async with household(folder, files) as home:
        await home.space()
        await home.space("beta")
        await home.note("kept", "beta")
        await home.engine.mirror.keep_up()
        assert await Neighbour(files).notes("beta") == ["kept"]
        assert "'alpha' is no folder" in home.engine.mirror.trouble
        (tmp_path / "files" / "alpha").unlink()
        await home.engine.mirror.keep_up()
        assert not home.engine.mirror.trouble
        assert not await home.engine.mirror.waiting()


# In


async def test_what_someone_else_adds_changes_and_removes_is_taken_in(home: Household, other: Neighbour) -> None:
    await home.space()
    changed, gone = await home.note("before"), await home.note("to go")
    await home.note("to stay")
    await home.settle()
    text = await other.text(f"alpha/live/{changed.name}")
    await other.write(f"alpha/live/{changed.name}", text.replace("before", "after").replace("[]", '["new"]'))
    await other.files.remove(f"alpha/live/{gone.name}")
    await other.write("alpha/live/20260220T180512_bob_issue_0123abcd.md", "no front matter\n")
    await other.write("alpha/bank/progress.md", "# Progress\n")
    assert await home.engine.mirror.pull() == 4
    # What is missing was lost, or deleted where nothing asks who may: it is put back.
    assert await home.notes() == ["after", "no front matter\n", "to go", "to stay"]
    assert await home.bank() == {"progress.md": "# Progress\n"}
    page = await home.engine.notes.page(home.owner, "alpha", 5, agent="bob", category="issue")
    assert [(note.at.year, note.at.month) for note in page.notes] == [(2026, 2)]
    history = await home.engine.memories.history(home.owner, Reference(changed.id))
    assert [version.content for version in history] == ["before"]
    revised = await home.engine.memories.get(home.owner, Reference(changed.id))
    assert (revised.content, revised.tags) == ("after", ("new",))
    before = await other.all()
    await home.settle()
    # What others write stays as they wrote it, and what they took away is there again.
    assert {path: data for path, data in (await other.all()).items() if path != f"alpha/live/{gone.name}"} == before
    assert await other.text(f"alpha/live/{gone.name}")


async def test_what_is_as_it_was_is_not_read(folder: Path, files: Files, other: Neighbour) -> None:
    counting = Counting(files)
    async with household(folder, counting) as home:
        await home.space()
        for number in range(120):
            await other.write(f"alpha/live/20260220T1805{number:02}_bob_issue_0123abcd.md", f"note {number}")
        await home.settle()
        assert len(await home.notes()) == 120
        counting.reads.clear()
        assert await home.engine.mirror.pull() == 0
        assert counting.reads == []
        await other.write("alpha/bank/one.md", "changed")
        assert await home.engine.mirror.pull() == 1
        assert counting.reads == ["alpha/bank/one.md"]


async def test_a_file_written_again_as_it_was_makes_no_version(home: Household, other: Neighbour) -> None:
    await home.space()
    note = await home.note("the same")
    await home.settle()
    path = f"alpha/live/{note.name}"
    await other.write(path, await other.data(path))
    await home.settle()
    assert await home.engine.memories.history(home.owner, Reference(note.id)) == []


async def test_files_without_a_description_wait_for_it(home: Household, other: Neighbour) -> None:
    await other.write("beta/live/20260220T180512_bob_issue_0123abcd.md", "early")
    assert await home.engine.mirror.pull() == 0
    await other.meta("beta", graph_memory={"url": "x"})
    await home.settle()
    assert await home.notes("beta") == ["early"]


async def test_what_cannot_be_kept_is_left_and_blocks_nothing(
    home: Household, other: Neighbour, caplog: pytest.LogCaptureFixture
) -> None:
    await home.space()
    kept = await home.note("ours")
    await home.settle()
    await other.write("alpha/bank/latin.md", "é".encode("latin-1"))
    await other.write("alpha/bank/huge.md", b"x" * 3_000_000)
    await other.write("alpha/bank/nul.md", b"a\x00b")
    await other.write("alpha/bank/fine.md", "fine")
    await other.write(f"alpha/live/{kept.name}", b"\xff\xfe")
    await other.write("gamma/_meta.json", "no json")
    await other.write("alpha/live/long.md", "x" * 200_000)
    await home.settle()
    assert await home.bank() == {"fine.md": "fine"}
    assert await home.notes() == ["ours", "x" * 200_000]
    for name in ("latin.md", "huge.md", "nul.md", kept.name, "gamma"):
        assert sum(name in record.getMessage() for record in caplog.records) == 1, name
    # Nothing of theirs is written over unseen, even where ours goes on.
    await home.engine.memories.revise(home.owner, Reference(kept.id), Change(content="ours again"))
    await home.settle()
    files = await other.all()
    assert files["alpha/bank/latin.md"] == b"\xe9"
    assert files["alpha/bank/huge.md"] == b"x" * 3_000_000
    assert [data for path, data in files.items() if path.startswith(f"alpha/live/{kept.name}.")] == [b"\xff\xfe"]
    assert body(files[f"alpha/live/{kept.name}"].decode())[1] == "ours again"


async def test_an_emptied_file_is_written_again(home: Household, other: Neighbour) -> None:
    await home.space()
    note = await home.note("what it said")
    await home.settle()
    await other.write(f"alpha/live/{note.name}", "")
    await home.settle()
    assert await other.notes() == await home.notes() == ["what it said"]


async def test_an_empty_bank_file_is_kept_and_may_be_filled(home: Household, other: Neighbour) -> None:
    await home.space()
    await other.write("alpha/bank/empty.md", "")
    await home.settle()
    assert await home.bank() == {"empty.md": ""}
    await other.write("alpha/bank/empty.md", "filled")
    await home.settle()
    assert await home.bank() == {"empty.md": "filled"}
    newest = await home.engine.memories.latest(home.owner, 5)
    assert [memory.content for memory in newest] == ["filled"]  # and a memory like any other


async def test_rules_and_descriptions_that_were_removed_are_put_back(home: Household, other: Neighbour) -> None:
    await home.space()
    await home.note("stays")
    await home.settle()
    before = await other.all()
    for path in ("alpha/_rules.md", "alpha/_meta.json", "alpha/live/.keep"):
        await other.files.remove(path)
    await home.settle()
    assert await other.all() == before
    assert await home.notes() == ["stays"]


async def test_notes_that_another_server_has_worked_in_are_done_with_even_if_it_is_slow(
    home: Household, other: Neighbour
) -> None:
    await home.space()
    first, second, third = [await home.note(text) for text in ("first", "second", "third")]
    await home.settle()
    meta = json.loads(await other.data("alpha/_meta.json"))
    await other.write("alpha/bank/progress.md", "first and second")
    await other.write("alpha/_meta.json", json.dumps({**meta, "consolidation_count": 1}))
    await other.files.remove(f"alpha/live/{first.name}")
    await home.engine.mirror.pull()
    home.clock.advance(timedelta(minutes=1))
    await other.files.remove(f"alpha/live/{second.name}")
    await home.settle()
    assert await home.notes() == await other.notes() == ["third"]
    home.clock.advance(timedelta(minutes=20))
    await other.files.remove(f"alpha/live/{third.name}")  # but this one nobody has worked in
    await home.settle()
    assert await home.notes() == await other.notes() == ["third"]


async def test_a_space_that_was_removed_outside_is_put_back(home: Household, other: Neighbour) -> None:
    await home.space()
    await home.space("beta")
    for number in range(20):
        await home.note(f"note {number}")
    await home.settle()
    before = await other.all()
    await other.files.remove_all("alpha")
    await home.settle()
    assert await other.all() == before
    await other.wipe()
    await home.settle()
    assert await other.all() == before
    assert len(await home.notes()) == 20


async def test_a_space_that_is_being_removed_file_by_file_is_put_back_too(home: Household, other: Neighbour) -> None:
    await home.space()
    for number in range(6):
        await home.note(f"note {number}")
    await home.settle()
    before = await other.all()
    paths = sorted(before)
    for path in paths[:4]:  # the description is the first
        await other.files.remove(path)
    await home.engine.mirror.keep_up()
    home.clock.advance(timedelta(minutes=2))
    for path in paths[4:]:
        await other.files.remove(path)
    await home.settle()
    assert await other.all() == before
    home.clock.advance(timedelta(minutes=20))
    await other.files.remove(paths[-1])
    await home.settle()
    assert len(await home.notes()) == 6


# Both


async def test_what_was_changed_on_both_sides_keeps_both(home: Household, other: Neighbour) -> None:
    await home.space()
    note = await home.note("first")
    await home.settle()
    path = f"alpha/live/{note.name}"
    await other.write(path, (await other.text(path)).replace("first", "theirs"))
    await home.engine.memories.revise(home.owner, Reference(note.id), Change(content="ours"))
    await home.settle()
    assert await other.notes() == await home.notes() == ["ours"]
    history = await home.engine.memories.history(home.owner, Reference(note.id))
    assert "theirs" in [version.content for version in history]


async def test_a_note_that_someone_changed_while_it_was_worked_in_comes_back(home: Household, other: Neighbour) -> None:
    await home.space()
    note = await home.note("first", category="progress")
    await home.settle()
    path = f"alpha/live/{note.name}"
    await other.write(path, (await other.text(path)).replace("first", "first, and more"))
    await home.consolidate()
    await home.settle()
    assert await home.notes() == ["first, and more"]


async def test_rules_that_differ_on_both_sides_are_kept_beside(home: Household, other: Neighbour) -> None:
    await other.meta("alpha", graph_memory={"url": "x"})
    await home.space(rules="- `other.md`: everything\n")  # before the first look
    await home.settle()
    files = await other.all()
    assert files["alpha/_rules.md"] == b"- `other.md`: everything\n"
    assert [data.decode() for path, data in files.items() if path.startswith("alpha/_rules.md.")] == [RULES]
    assert json.loads(files["alpha/_meta.json"])["graph_memory"] == {"url": "x"}


async def test_what_others_keep_in_a_description_or_a_registry_stays(home: Household, other: Neighbour) -> None:
    theirs = {
        "hash": "sha256:" + "ab" * 32,
        "name": "bob",
        "permissions": ["read", "write"],
        "space_ids": ["alpha"],
        "created_at": "2026-02-20T18:00:00+00:00",
        "expires_at": None,
        "last_used_at": "2026-02-21T18:00:00+00:00",
        "revoked": False,
        "email": "bob@example.org",
    }
    odd = {"hash": "sha256:nonsense", "name": "odd"}
    await other.write("_system/tokens.json", json.dumps({"version": 1, "tokens": [theirs, odd]}))
    await other.meta("alpha", graph_memory={"url": "x"}, consolidation_count=7, version=3)
    await home.settle()
    await home.note("worked in", category="progress")
    await home.consolidate()
    made = await home.engine.tokens.create(home.owner, "ann", home.owner.permissions, [], 0)
    await home.settle()
    meta = json.loads(await other.data("alpha/_meta.json"))
    assert (meta["graph_memory"], meta["consolidation_count"], meta["version"]) == ({"url": "x"}, 8, 3)
    assert meta["created_at"] == "2026-02-20T18:00:00Z"
    tokens = {one["hash"]: one for one in json.loads(await other.data("_system/tokens.json"))["tokens"]}
    assert tokens[theirs["hash"]]["email"] == "bob@example.org"
    assert tokens[theirs["hash"]]["last_used_at"] == theirs["last_used_at"]
    assert tokens[odd["hash"]] == odd
    assert f"sha256:{made.credential.hash}" in tokens
    assert made.key not in await other.text("_system/tokens.json")


# Elsewhere, and back in time


async def test_at_another_place_everything_is_written_and_nothing_taken_for_removed(
    folder: Path, files: Files, tmp_path: Path, clock: Clock
) -> None:
    first = files_at(str(tmp_path / "first"), Path())
    async with household(folder, first, clock) as home:
        await home.space()
        await home.note("early")
        await home.settle()
        for path, data in (await Neighbour(first).all()).items():  # someone copies the files
            await files.write(path, data)
        await home.note("late")
        await home.settle()
    async with household(folder, files, clock) as home:
        await home.settle()
        assert await home.notes() == await Neighbour(files).notes() == ["early", "late"]


async def test_what_was_to_be_removed_is_removed_at_another_place_too(
    tmp_path: Path, folder: Path, clock: Clock
) -> None:
    first, second = (files_at(str(tmp_path / name), Path()) for name in ("first", "second"))
    async with household(folder, first, clock) as home:
        await home.space()
        await home.note("worked in", category="progress")
        await home.settle()
        await home.consolidate()  # and before the files can follow, the folder is moved
    (tmp_path / "first").rename(tmp_path / "second")
    async with household(folder, second, clock) as home:
        await home.settle()
        assert await home.notes() == await Neighbour(second).notes() == []


async def test_after_the_store_was_restored_the_files_follow_it_and_nothing_is_lost(
    home: Household, other: Neighbour
) -> None:
    await home.space()
    await home.note("worked in later", category="progress")
    await home.settle()
    await home.engine.backups.create(home.owner, "before")
    await home.consolidate()
    await home.note("newer")
    await home.settle()
    await home.engine.backups.restore(home.owner, "before")
    await home.settle()
    assert await home.notes() == await other.notes() == ["newer", "worked in later"]


async def test_two_stores_on_one_place_come_to_agree(tmp_path: Path, files: Files, other: Neighbour) -> None:
    async with household(tmp_path / "one", files) as one, household(tmp_path / "two", files) as two:

        async def calm() -> dict[str, bytes]:
            for _ in range(3):
                await one.settle()
                await two.settle()
            return await other.all()

        await one.space()
        await one.note("from one", category="progress")
        await calm()
        await two.note("from two", category="progress")
        await calm()
        assert await one.notes() == await two.notes() == ["from one", "from two"]
        await one.consolidate()
        await calm()
        assert await one.notes() == await two.notes() == []
        assert await one.bank() == await two.bank()
        (bank,) = await one.bank()
        for home in (one, two):  # both at once
            file = await home.engine.bank.file(home.owner, "alpha", bank)
            text = f"{file.content}\nby {home.engine.store.location}\n"
            await home.engine.memories.revise(home.owner, Reference(file.id), Change(content=text))
        settled = await calm()
        assert await one.bank() == await two.bank()
        assert await calm() == settled
