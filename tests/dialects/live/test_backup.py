"""Backups of spaces: made, listed, taken home, put back, deleted."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from commonplace.bootstrap import build
from commonplace.domain.errors import AlreadyExists
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.live.reference import CATEGORIES
from tests.dialects.live.speech import LiveConversation, on_disk, spoken_to, spoken_to_as, unpacked
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

LISTED = {"backup_id", "space_id", "timestamp", "files_count", "total_size", "description", "complete"}
SECOND = timedelta(seconds=1)


async def _filled(talk: LiveConversation, name: str = "") -> str:
    """A space with everything in it that one can have."""
    space = await talk.space(name, description="概要 é", owner="moi")
    await talk.note(space, "worked in", category="progress", tags="日本")
    await talk.call("bank_consolidate", space_id=space)
    for category in CATEGORIES:
        await talk.note(space, f"---\n{category} 日本語", category=category, agent="ベン: 'x'", tags='a,"b",---')
    return space


async def _everything(talk: LiveConversation, space: str) -> dict[str, Any]:
    told = await talk.call("space_summary", space_id=space)
    return {**told, "notes": (await talk.call("live_read", space_id=space))["notes"]}


@behaviour("live.backup_create.answer")
async def test_a_backup_is_told_as_the_reference_shows_it(local: LiveConversation) -> None:
    space = await _filled(local, "projet-alpha")
    export = unpacked(await local.call("space_export", space_id=space))
    assert await local.call("backup_create", space_id=space, description="avant 日本") == {
        "status": "created",
        "backup_id": "projet-alpha/2026-01-15T03-00-00",
        "space_id": "projet-alpha",
        "files_backed_up": len(export),
        "total_size": sum(map(len, export.values())),
        "description": "avant 日本",
    }


@behaviour("live.backup_create.files")
async def test_a_backup_is_a_copy_of_the_folder_of_the_space(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    space = await _filled(local, "alpha")
    await local.call("backup_create", space_id=space)
    await engine.mirror.push()
    copied = on_disk(outside / "_backups" / "alpha" / "2026-01-15T03-00-00")
    copied.pop("_backup.json")
    assert copied == on_disk(outside / "alpha")
    assert {"_meta.json", "_rules.md", "_synthesis.md", "live/.keep", "bank/progress.md"} <= copied.keys()


@behaviour("live.backup_create.names")
async def test_two_backups_within_a_second_have_names_of_their_own(local: LiveConversation) -> None:
    space = await local.space()
    made = [(await local.call("backup_create", space_id=space))["backup_id"] for _ in range(3)]
    assert made == [f"{space}/2026-01-15T03-00-0{second}" for second in range(3)]


@behaviour("live.backup_create.description")
async def test_a_description_is_kept_and_listed_and_has_500_characters_at_most(talk: LiveConversation) -> None:
    space = await talk.space()
    await talk.call("backup_create", space_id=space, description="日" * 500)
    (listed,) = (await talk.call("backup_list", space_id=space))["backups"]
    assert listed["description"] == "日" * 500
    said = await talk.invalid("backup_create", space_id=space, description="x" * 501)
    assert said == "description: is 501 characters long; at most 500 are allowed"


@behaviour("live.backup_create.consistent")
async def test_a_backup_is_one_moment_though_notes_arrive_and_are_consolidated(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    space = await local.space()
    made: list[str] = []

    async def agent(number: int) -> None:
        for turn in range(12):
            await local.note(space, f"[{number}.{turn}]", category="progress", agent=f"a{number}")

    async def consolidate() -> None:
        async with spoken_to(engine, settings) as other:
            for _ in range(4):
                await other.call("bank_consolidate", space_id=space)

    async def back_up() -> None:
        async with spoken_to(engine, settings) as other:
            made.extend([(await other.call("backup_create", space_id=space))["backup_id"] for _ in range(6)])

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(agent, number)
        group.start_soon(consolidate)
        group.start_soon(back_up)
    seen = 0
    for backup in made:
        files = unpacked(await local.call("backup_download", backup_id=backup))
        meta = json.loads(files[f"{space}/_meta.json"])
        notes = [data for path, data in files.items() if path.startswith(f"{space}/live/") and path.endswith(".md")]
        filed = files.get(f"{space}/bank/progress.md", b"").count(b"[")
        # Each note is in the folder of notes or in the bank, in neither twice and never in both.
        assert meta["total_notes_processed"] == filed
        for number in range(4):
            turns = sum(data.count(f"[{number}.".encode()) for path, data in files.items() if "_synthesis" not in path)
            everything = b"".join(data for path, data in files.items() if "_synthesis" not in path)
            assert all(everything.count(f"[{number}.{turn}]".encode()) == 1 for turn in range(turns))
        assert len(notes) + filed >= seen
        seen = len(notes) + filed


@behaviour("live.backup_list.answer")
async def test_backups_are_listed_the_newest_first(local: LiveConversation, clock: Clock) -> None:
    one, other = await local.space("one"), await local.space("other")
    for space in (one, other, one):
        await local.call("backup_create", space_id=space, description=space)
        clock.advance(SECOND)
    listed = await local.call("backup_list")
    assert (listed["status"], listed["total"], listed["has_more"]) == ("ok", 3, False)
    assert all(set(entry) == LISTED for entry in listed["backups"])
    assert [entry["backup_id"] for entry in listed["backups"]] == [
        "one/2026-01-15T03-00-02",
        "other/2026-01-15T03-00-01",
        "one/2026-01-15T03-00-00",
    ]
    only = await local.call("backup_list", space_id=one)
    assert [entry["timestamp"] for entry in only["backups"]] == ["2026-01-15T03:00:02Z", "2026-01-15T03:00:00Z"]
    assert only["backups"][0]["files_count"] == 4
    assert only["backups"][0]["complete"] is True


@behaviour("live.backup_list.empty")
async def test_without_backups_the_list_is_empty(local: LiveConversation) -> None:
    nothing = {"status": "ok", "backups": [], "total": 0, "has_more": False}
    assert await local.call("backup_list") == nothing
    assert await local.call("backup_list", space_id=await local.space()) == nothing


@behaviour("live.backup_restore.whole")
async def test_a_restored_space_is_what_it_was(
    engine: Engine, local: LiveConversation, clock: Clock, outside: Path
) -> None:
    space = await _filled(local)
    await engine.mirror.push()
    before, files = await _everything(local, space), on_disk(outside / space)
    made = await local.call("backup_create", space_id=space)
    await local.note(space, "after the backup")
    await local.call("space_delete", space_id=space, confirm=True)
    clock.advance(timedelta(days=3))
    restored = await local.call("backup_restore", backup_id=made["backup_id"], confirm=True)
    assert restored == {
        "status": "ok",
        "backup_id": made["backup_id"],
        "space_id": space,
        "files_restored": made["files_backed_up"],
    }
    after = await _everything(local, space)
    for one in (before, after):
        one["notes"].sort(key=lambda note: note["filename"])  # the files tell no more than the second
    assert after == before
    await engine.mirror.push()
    assert on_disk(outside / space) == files
    assert len(await local.finds(space, "日本語")) == 7


@behaviour("live.backup_restore.absence")
async def test_a_space_is_restored_only_where_there_is_none(local: LiveConversation) -> None:
    space = await local.space()
    made = (await local.call("backup_create", space_id=space))["backup_id"]
    await local.note(space, "newer")
    status, message = await local.refused("backup_restore", backup_id=made, confirm=True)
    assert (status, message) == ("already_exists", f"Existe déjà : space '{space}' exists already")
    assert await local.notes(space) == ["newer"]


@behaviour("live.backup_restore.absence")
async def test_of_many_restores_at_once_one_restores(engine: Engine, local: LiveConversation) -> None:
    space = await _filled(local)
    made = (await local.call("backup_create", space_id=space))["backup_id"]
    before = await local.call("space_summary", space_id=space)
    await local.call("space_delete", space_id=space, confirm=True)
    owner, outcomes = await engine.access.local_owner(), list[str]()

    async def restore() -> None:
        try:
            await engine.snapshots.restore(owner, made)
            outcomes.append("restored")
        except AlreadyExists:
            outcomes.append("refused")

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(restore)
    assert sorted(outcomes) == ["refused"] * 4 + ["restored"]
    assert await local.call("space_summary", space_id=space) == before


@behaviour("live.backup_restore.confirm", "live.backup_delete.confirm")
async def test_restoring_and_deleting_are_to_be_confirmed(talk: LiveConversation) -> None:
    space = await talk.space()
    made = (await talk.call("backup_create", space_id=space))["backup_id"]
    await talk.call("space_delete", space_id=space, confirm=True)
    for tool in ("backup_restore", "backup_delete"):
        for given in ({}, {"confirm": False}):
            said = await talk.invalid(tool, backup_id=made, **given)
            assert said == f"confirm: must be true to delete or restore backup {made}: it cannot be undone"
    assert (await talk.refused("space_info", space_id=space))[0] == "not_found"
    assert (await talk.call("backup_list", space_id=space))["total"] == 1


@behaviour("live.backup_restore.half")
async def test_half_a_backup_is_listed_as_such_and_not_relied_on(local: LiveConversation, outside: Path) -> None:
    space = await _filled(local)
    made = [(await local.call("backup_create", space_id=space))["backup_id"] for _ in range(3)]
    await local.call("space_delete", space_id=space, confirm=True)
    (outside / "_backups" / made[0] / "_rules.md").unlink()  # as if the process had been killed before
    notes = sorted((outside / "_backups" / made[1] / "live").glob("*.md"))
    notes[0].write_bytes(notes[0].read_bytes()[:10])
    listed = (await local.call("backup_list", space_id=space))["backups"]
    assert [entry["complete"] for entry in listed] == [True, False, False]
    for broken in made[:2]:
        for tool, more in (("backup_restore", {"confirm": True}), ("backup_download", {})):
            status, message = await local.refused(tool, backup_id=broken, **more)
            assert status == "error"
            assert "cannot be relied on" in message
    assert (await local.refused("space_info", space_id=space))[0] == "not_found"
    assert (await local.call("backup_delete", backup_id=made[0], confirm=True))["status"] == "deleted"
    assert (await local.call("backup_restore", backup_id=made[2], confirm=True))["status"] == "ok"


@behaviour("live.backup_restore.foreign")
async def test_a_backup_without_our_manifest_is_restored_as_well(local: LiveConversation, outside: Path) -> None:
    folder = outside / "_backups" / "older" / "2025-12-31T23-59-59"
    (folder / "live").mkdir(parents=True)
    meta = {"space_id": "older", "description": "d", "owner": "o", "created_at": "2025-01-01T00:00:00Z", "version": 1}
    (folder / "_meta.json").write_text(json.dumps(meta))
    (folder / "_rules.md").write_text("# Rules\n")
    (folder / "live" / "20251231T120000_cline_todo_0123abcd.md").write_text("no head at all\n")
    await local.space()
    (listed,) = (await local.call("backup_list"))["backups"]
    assert (listed["files_count"], listed["description"], listed["complete"]) == (3, "", True)
    await local.call("backup_restore", backup_id="older/2025-12-31T23-59-59", confirm=True)
    told = await local.call("space_info", space_id="older")
    assert (told["description"], told["owner"], told["created_at"]) == ("d", "o", "2025-01-01T00:00:00Z")
    (note,) = (await local.call("live_read", space_id="older"))["notes"]
    assert (note["agent"], note["category"], note["timestamp"]) == ("cline", "todo", "2025-12-31T12:00:00Z")


@behaviour("live.backup_download.archive")
async def test_a_download_is_the_space_as_it_was(local: LiveConversation) -> None:
    space = await _filled(local)
    export = unpacked(await local.call("space_export", space_id=space))
    made = await local.call("backup_create", space_id=space)
    await local.note(space, "later")
    answer = await local.call("backup_download", backup_id=made["backup_id"])
    assert unpacked(answer) == export
    assert set(answer) == {"status", "backup_id", "space_id", "archive_base64", "archive_size", "files_count"}
    assert (answer["backup_id"], answer["space_id"]) == (made["backup_id"], space)
    assert answer["files_count"] == made["files_backed_up"]
    assert b64decode(answer["archive_base64"])[:2] == b"\x1f\x8b"


@behaviour("live.backup_delete.gone")
async def test_a_deleted_backup_is_gone_and_the_others_stay(local: LiveConversation, outside: Path) -> None:
    space = await local.space()
    made = [(await local.call("backup_create", space_id=space))["backup_id"] for _ in range(2)]
    gone = await local.call("backup_delete", backup_id=made[0], confirm=True)
    assert gone == {"status": "deleted", "backup_id": made[0], "files_deleted": 4}
    assert [entry["backup_id"] for entry in (await local.call("backup_list"))["backups"]] == made[1:]
    assert not (outside / "_backups" / made[0]).exists()
    assert await local.call("space_info", space_id=space)


@behaviour("live.backup.missing")
async def test_a_backup_that_is_not_there_is_not_found(talk: LiveConversation) -> None:
    space = await talk.space()
    for tool, more in (
        ("backup_restore", {"confirm": True}),
        ("backup_download", {}),
        ("backup_delete", {"confirm": True}),
    ):
        absent = f"{space}/2020-01-01T00-00-00"
        assert await talk.refused(tool, backup_id=absent, **more) == (
            "not_found",
            f"Backup introuvable : no backup '{absent}'",
        )
        assert (await talk.refused(tool, backup_id=f"{unique()}/2020-01-01T00-00-00", **more))[0] == "not_found"
        for identifier in ("", "x", space, f"{space}/", f"{space}/..", f"../{space}/2020-01-01T00-00-00",
                           f"{space}/2020-01-01T00-00-00/..", f"{space}/2020-01-01T00:00:00", "/2020-01-01T00-00-00",
                           f"{space}/２０２０-01-01T00-00-00"):  # fmt: skip
            said = await talk.invalid(tool, backup_id=identifier, **more)
            assert said == "backup_id: is written like space-id/2026-02-20T18-00-00", identifier


@pytest.fixture
async def without_files(folder: Path) -> AsyncIterator[LiveConversation]:
    """A server whose spaces have no files."""
    settings = Settings(data_dir=str(folder), timezone="UTC", spaces="none")
    engine = build(settings, model=Embedder(), clock=Clock())
    async with spoken_to(engine, settings) as talk:
        yield talk
    await engine.close()


@behaviour("live.backup.no_files")
async def test_without_a_place_for_files_backups_say_so_and_all_else_works(without_files: LiveConversation) -> None:
    talk = without_files
    space = await _filled(talk)
    for tool, more in (
        ("backup_create", {"space_id": space}),
        ("backup_list", {}),
        ("backup_download", {"backup_id": f"{space}/2020-01-01T00-00-00"}),
    ):
        status, message = await talk.refused(tool, **more)
        assert status == "error"
        assert message.startswith("Stockage des fichiers indisponible")
        assert "--spaces" in message
    assert len(unpacked(await talk.call("space_export", space_id=space))) > 7
    health = await talk.call("system_health")
    assert (health["status"], health["services"]["s3"]["status"]) == ("ok", "off")


@behaviour("live.backup.failing_files")
async def test_a_backup_that_cannot_be_written_is_an_error_and_no_backup(
    local: LiveConversation, outside: Path
) -> None:
    space = await local.space()
    outside.write_text("a file where a folder should be")
    status, message = await local.refused("backup_create", space_id=space)
    assert status == "error"
    assert message.startswith("Stockage des fichiers indisponible")
    outside.unlink()
    assert (await local.call("backup_list"))["total"] == 0


@behaviour("live.backup_list.accessible")
async def test_backups_are_listed_for_the_spaces_that_the_caller_may_see(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    mine, other, gone = [await local.space(name) for name in ("mine", "other", "gone")]
    for space in (mine, other, gone):
        await local.call("backup_create", space_id=space)
    await local.call("space_delete", space_id=gone, confirm=True)
    async with spoken_to_as(engine, settings, await local.token("read", mine, gone)) as agent:
        assert {one["space_id"] for one in (await agent.call("backup_list"))["backups"]} == {mine, gone}
        assert (await agent.call("backup_list", space_id=gone))["total"] == 1
        assert (await agent.refused("backup_list", space_id=other))[0] == "forbidden"
    async with spoken_to_as(engine, settings, await local.token("read")) as agent:
        assert (await agent.call("backup_list"))["total"] == 3
