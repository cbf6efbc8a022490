"""History on the command line, through the real program."""

import asyncio
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.cli import main
from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from tests.engine.gardening import Gardener
from tests.fakes import Clock, Embedder
from tests.test_cli import run

pytestmark = pytest.mark.anyio

MISSING = "018f0000-0000-7000-8000-000000000000"


@pytest.fixture
async def memory(engine: Engine, owner: Actor) -> Memory:
    """Changed by two sessions, the second of which has planted another and steers terminals."""
    first = Gardener(engine, owner).during("first session")
    second = first.during("second\x1b[31m")
    await first.plant("core://agent", "one\ntwo\nthree", 3, "told")
    await second.write("core://agent", "one\n2\x1b[31m\nthree")
    await second.plant("core://agent/new", "planted by the second")
    await second.label("core://agent", priority=1)
    return await first.at("core://agent")


async def test_sessions_changes_and_versions_are_shown(folder: Path, memory: Memory) -> None:
    history = ("history", "--data-dir", str(folder))
    sessions = run("history", "sessions", *history[1:])
    header, latest, earliest = sessions.stdout.splitlines()
    assert header.split("\t") == ["LAST CHANGE", "CHANGES", "MEMORIES", "BY", "SESSION"]
    assert latest.split("\t")[1:] == ["4", "2", "local", "second [31m"]
    assert earliest.split("\t")[1:] == ["2", "1", "local", "first session"]
    changes = run("history", "session", "first session", *history[1:]).stdout.splitlines()
    assert [line.split("\t")[1:4] for line in changes] == [
        ["remembered", "test", "core://agent"],
        ["planted", "test", "core://agent"],
    ]
    for name in ("agent", memory.id, "block_0"):
        versions = run("history", "versions", name, *history[1:])
        assert [line.split("\t")[0] for line in versions.stdout.splitlines()] == ["1", "2"], name
    assert "\x1b" not in sessions.stdout + versions.stdout


async def test_what_is_deleted_is_shown_as_deleted_and_taking_back_tells_of_the_backups(
    folder: Path, engine: Engine, owner: Actor
) -> None:
    agent = owner.through("test", "tidying")
    kept, gone = [await engine.memories.remember(agent, Draft(text)) for text in ("kept\nas it is", "gone")]
    await engine.memories.forget(agent, Reference(gone.id))
    shown = run("history", "session", "tidying", "--data-dir", str(folder)).stdout.splitlines()
    assert [line.split("\t")[1:] for line in shown] == [
        ["remembered", "test", kept.id, "kept as it is"],
        ["remembered", "test", gone.id, "(deleted)"],
        ["forgotten", "test", gone.id, "(deleted)"],
    ]
    plan = run("history", "take-back", "tidying", "--data-dir", str(folder))
    assert f"left alone\t{gone.id}\tit was removed for good and cannot be brought back" in plan.stdout
    assert "may be in a backup from before: `commonplace backups`" in plan.stderr


async def test_of_a_tie_the_other_end_is_shown(folder: Path, engine: Engine, owner: Actor) -> None:
    agent = owner.through("test", "tying")
    one, other, gone = [await engine.memories.remember(owner, Draft(text)) for text in ("one", "the\x1bother", "gone")]
    for end in (other, gone):
        await engine.links.connect(agent, Reference(one.id), Reference(end.id))
    await engine.memories.forget(owner, Reference(gone.id))
    shown = run("history", "session", "tying", "--data-dir", str(folder)).stdout.splitlines()
    assert [line.split("\t")[1:] for line in shown] == [
        ["linked", "test", one.id, "one", other.id, "the other"],
        ["linked", "test", one.id, "one", "gone, or not yours to see", ""],
    ]


async def test_of_a_tie_that_is_taken_back_both_ends_are_shown(folder: Path, engine: Engine, owner: Actor) -> None:
    first, second = owner.through("test", "first"), owner.through("test", "second")
    one, other, wanted, gone = [
        await engine.memories.remember(owner, Draft(text)) for text in ("one", "the\x1bother", "wanted", "gone")
    ]
    await engine.links.connect(owner, Reference(one.id), Reference(gone.id))
    for end in (other, wanted):
        await engine.links.connect(first, Reference(one.id), Reference(end.id))
    await engine.links.disconnect(first, Reference(one.id), Reference(gone.id))
    await engine.memories.forget(owner, Reference(gone.id))
    await engine.links.connect(second, Reference(wanted.id), Reference(one.id))
    done = run("history", "take-back", "first", "--data-dir", str(folder), "--yes")
    assert done.stdout.splitlines() == [
        "left alone\tone\tgone, or not yours to see\twhat it was tied to is gone, or not yours to see",
        "left alone\tone\twanted\tit was tied or untied later by someone else",
        "tie removed\tone\tthe other",
        "1 taken back, 2 left alone",
    ]


async def test_two_versions_are_compared_and_one_is_restored(folder: Path, memory: Memory, engine: Engine) -> None:
    where = ("core://agent", "--data-dir", str(folder))
    compared = run("history", "compare", where[0], "1", "2", *where[1:])
    assert compared.stdout.splitlines()[2:] == ["@@ -1,3 +1,3 @@", " one", "-two", "+2 [31m", " three"]
    restored = run("history", "restore", where[0], "1", *where[1:])
    assert (restored.returncode, "now version 3" in restored.stdout) == (0, True)
    assert len(run("history", "versions", *where).stdout.splitlines()) == 3
    owner = await engine.access.local_owner()
    assert (await Gardener(engine, owner).at("core://agent")).content == "one\ntwo\nthree"


async def test_a_session_is_taken_back_only_when_that_is_said_twice(
    folder: Path, memory: Memory, engine: Engine
) -> None:
    ann = Gardener(engine, await engine.access.local_owner())
    session = ("second\x1b[31m", "--data-dir", str(folder))
    planned = run("history", "take-back", *session)
    assert planned.returncode == 0
    assert "nothing was changed" in planned.stderr
    assert await ann.children("core://agent") == ["new"]
    done = run("history", "take-back", *session, "--yes")
    assert done.stdout == planned.stdout
    assert done.stdout.splitlines() == [
        "labels put back\tcore://agent\tpriority: 1 -> 3",
        "path removed\tcore://agent/new",
        "removed\tplanted by the second",
        "restored\tone 2 [31m three -> one two three",
        "4 taken back, 0 left alone",
    ]
    node = await ann.look("core://agent")
    assert node.memory
    assert node.path
    assert (node.memory.content, node.path.priority, node.branches) == ("one\ntwo\nthree", 3, ())
    again = run("history", "take-back", *session, "--yes")
    assert again.stdout == "0 taken back, 0 left alone; of 2 memories nothing is left to take back\n"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one memory of two versions."""
    folder = tmp_path_factory.mktemp("house") / "data"

    async def change() -> None:
        engine = build(Settings(data_dir=str(folder)), model=Embedder(), clock=Clock(), zone=ZoneInfo("UTC"))
        ann = Gardener(engine, (await engine.access.local_owner()).through("test", "s"))
        await ann.plant("core://agent", "one")
        await ann.write("core://agent", "two")
        await engine.close()

    asyncio.run(change())
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("versions", "nope"), "no memory 'nope'; give its address (core://agent), its id or its block (block_12)"),
        (("versions", "core://nowhere"), "no memory 'core://nowhere'"),
        (("versions", "core://"), "core://"),
        (("versions", "a//b"), "empty name"),
        (("versions", "77"), "block_77"),
        (("versions", "9" * 30), "9" * 30),
        (("versions", "block_99"), "99"),
        (("versions", "block_" + "9" * 5000), "no memory 'block_99"),
        (("versions", MISSING), MISSING),
        (("compare", "core://agent", "1", "9"), "1 to 2"),
        (("restore", "core://agent", "99999999999999999999999"), "1 to 2"),
        (("session", "nobody"), "nobody"),
        (("session", b"\xff\xfe".decode(errors="surrogateescape")), "Unicode"),
        (("take-back", "nobody"), "nobody"),
        (("sessions", "--limit", "0"), "limit"),
    ],
)
def test_a_mistake_is_explained_in_one_line(
    changed: Path, arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["history", *arguments, "--data-dir", str(changed)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert len(told.strip().splitlines()) <= 2


def test_without_a_store_there_is_no_history(folder: Path) -> None:
    answer = run("history", "sessions", "--data-dir", str(folder))
    assert (answer.returncode, "no store" in answer.stderr) == (2, True)
    assert not folder.exists()
    assert run("history").returncode == 2
