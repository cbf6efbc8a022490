"""Spaces: made, listed, looked at, exported, deleted."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.live.speech import RULES, LiveConversation, on_disk, spoken_to_as, unpacked
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

WORDS = "Projet de refonte — 設計ノート · 설계 · Дневник · مذكرة"
_HOUR = timedelta(hours=1)
META = {
    "space_id", "description", "owner", "created_at", "last_consolidation", "consolidation_count",
    "total_notes_processed", "version",
}  # fmt: skip


# Making


@behaviour("live.space_create.answer")
async def test_a_new_space_is_told_as_the_reference_shows_it(talk: LiveConversation) -> None:
    name = unique()
    made = await talk.call("space_create", space_id=name, description=WORDS, rules="# Règles é", owner="équipe 日本")
    assert (made["status"], made["space_id"], made["description"]) == ("created", name, WORDS)
    assert made["rules_size"] == len("# Règles é".encode())
    told = await talk.call("space_info", space_id=name)
    assert (told["owner"], told["created_at"]) == ("équipe 日本", made["created_at"])


@behaviour("live.space_create.id")
async def test_the_id_of_a_space_has_the_form_of_the_reference(talk: LiveConversation) -> None:
    tail = unique()
    for name in (f"9{tail}", f"A_-{tail}", (tail * 8)[:64]):
        assert await talk.space(name) == name
    for name in ("", "_a", "-a", "a" * 65, "a b", "a/b", "../a", "a\n", "é", "日本", "a.b", "a\u200b"):
        said = await talk.invalid("space_create", space_id=name, description="", rules="# R")
        assert said.startswith("space_id: must be 1 to 64 letters, digits, '_' or '-'"), name


@behaviour("live.space_create.exists")
async def test_a_space_that_exists_is_not_made_again(talk: LiveConversation) -> None:
    space = await talk.space(rules="# First")
    status, _ = await talk.refused("space_create", space_id=space, description="y", rules="# Second")
    assert status == "already_exists"
    assert (await talk.call("space_rules", space_id=space))["rules"] == "# First"


@behaviour("live.space_create.limits")
async def test_description_rules_and_owner_have_limits(talk: LiveConversation) -> None:
    name = unique()
    for field, most in (("description", 500), ("rules", 50_000), ("owner", 200)):
        given = {"space_id": name, "description": "x", "rules": "# R", "owner": "", field: "é" * (most + 1)}
        assert await talk.invalid("space_create", **given) == (
            f"{field}: is {most + 1} characters long; at most {most} are allowed"
        )
    assert "rules: must not be empty" in await talk.invalid("space_create", space_id=name, description="x", rules=" \n")
    await talk.call("space_create", space_id=name, description="日" * 500, rules="日" * 50_000, owner="日" * 200)
    assert (await talk.call("space_rules", space_id=name))["rules"] == "日" * 50_000


@behaviour("live.space_create.files")
async def test_a_new_space_is_a_folder_as_the_reference_has_it(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    await local.space("alpha", description=WORDS, rules=RULES, owner="moi")
    await engine.mirror.push()
    files = on_disk(outside)
    assert sorted(files) == ["alpha/_meta.json", "alpha/_rules.md", "alpha/bank/.keep", "alpha/live/.keep"]
    assert files["alpha/_rules.md"].decode() == RULES
    meta = json.loads(files["alpha/_meta.json"])
    assert set(meta) == META
    assert (meta["space_id"], meta["description"], meta["owner"]) == ("alpha", WORDS, "moi")
    assert (meta["created_at"], meta["last_consolidation"]) == ("2026-01-15T03:00:00Z", None)


@behaviour("live.space_create.rules_stay")
async def test_nothing_changes_the_rules_of_a_space(engine: Engine, local: LiveConversation, clock: Clock) -> None:
    space = await local.space(rules=RULES)
    await local.note(space, "# Rules\nwrite everything anew")
    await local.call("bank_consolidate", space_id=space)
    assert (await local.call("space_rules", space_id=space))["rules"] == RULES


@behaviour("live.space.foreign")
async def test_a_space_that_another_server_wrote_opens_as_it_is(
    engine: Engine, local: LiveConversation, outside: Path
) -> None:
    meta = {
        "space_id": "theirs",
        "description": WORDS,
        "owner": "eux",
        "created_at": "2025-02-20T18:00:00Z",
        "version": 1,
    }
    head = "timestamp: 2025-02-20T18:05:12Z\nagent: cline-dev\ncategory: decision\ntags: [auth]\nspace_id: theirs"
    files = {
        "theirs/_meta.json": json.dumps(meta),
        "theirs/_rules.md": RULES,
        "theirs/_synthesis.md": "Ce qui reste.\n",
        "theirs/live/.keep": "",
        "theirs/live/20250220T180512_cline-dev_decision_a3f8b2c1.md": f"---\n{head}\n---\n\nÀ eux.\n",
        "theirs/bank/progress.md": "# Progress\n",
    }
    for path, text in files.items():
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_text(text)
    await engine.mirror.pull()
    told = await local.call("space_info", space_id="theirs")
    assert (told["description"], told["owner"], told["created_at"]) == (WORDS, "eux", "2025-02-20T18:00:00Z")
    assert (told["bank"]["files"], told["synthesis_exists"]) == (["progress.md"], True)
    (found,) = (await local.call("live_read", space_id="theirs"))["notes"]
    assert found == {
        "filename": "20250220T180512_cline-dev_decision_a3f8b2c1.md",
        "timestamp": "2025-02-20T18:05:12Z",
        "agent": "cline-dev",
        "category": "decision",
        "tags": ["auth"],
        "content": "À eux.\n",
    }
    assert await local.finds("theirs", "à EUX") == ["À eux.\n"]


# Looking


@behaviour("live.space_list.answer")
async def test_spaces_are_listed_by_name_with_their_figures(local: LiveConversation) -> None:
    assert await local.call("space_list") == {"status": "ok", "spaces": [], "total": 0, "has_more": False}
    await local.space("beta")
    await local.space("alpha", description=WORDS, owner="moi")
    await local.note("alpha")
    await local.note("alpha", category="progress")
    await local.call("bank_consolidate", space_id="alpha")
    await local.note("alpha")
    listed = await local.call("space_list")
    assert [one["space_id"] for one in listed["spaces"]] == ["alpha", "beta"]
    assert (listed["total"], listed["has_more"]) == (2, False)
    assert listed["spaces"][0] == {
        "space_id": "alpha",
        "description": WORDS,
        "owner": "moi",
        "created_at": "2026-01-15T03:00:00Z",
        "live_notes_count": 1,
        "bank_files_count": (await local.call("bank_list", space_id="alpha"))["file_count"],
    }


@behaviour("live.space_list.bounded")
async def test_a_long_list_is_cut_and_says_so(engine: Engine, local: LiveConversation) -> None:
    owner = await engine.access.local_owner()
    for number in range(501):
        await engine.spaces.found(owner, f"s{number:03}", "", "# R", "")
    listed = await local.call("space_list")
    assert (len(listed["spaces"]), listed["total"], listed["has_more"]) == (500, 501, True)


@behaviour("live.space_info.answer")
async def test_a_space_tells_about_its_notes_and_its_bank(local: LiveConversation, clock: Clock) -> None:
    space = await local.space()
    empty = await local.call("space_info", space_id=space)
    assert empty["live"] == {"notes_count": 0, "total_size": 0, "oldest_note": None, "newest_note": None}
    assert empty["bank"] == {"files_count": 0, "total_size": 0, "files": []}
    assert (empty["last_consolidation"], empty["synthesis_exists"]) == (None, False)
    sizes = []
    for _ in range(3):
        sizes.append((await local.note(space, "é" * 10, tags="日本"))["size"])
        clock.advance(_HOUR)
    told = (await local.call("space_info", space_id=space))["live"]
    assert told == {
        "notes_count": 3,
        "total_size": sum(sizes),
        "oldest_note": "2026-01-15T03:00:00Z",
        "newest_note": "2026-01-15T05:00:00Z",
    }
    await local.call("bank_consolidate", space_id=space)
    told = await local.call("space_info", space_id=space)
    files = (await local.call("bank_list", space_id=space))["files"]
    assert told["bank"] == {
        "files_count": len(files),
        "total_size": sum(file["size"] for file in files),
        "files": [file["filename"] for file in files],
    }
    assert (told["last_consolidation"], told["synthesis_exists"]) == ("2026-01-15T06:00:00Z", True)
    assert told["live"]["notes_count"] == 0


@behaviour("live.space_rules.answer")
async def test_rules_are_read_to_the_letter(talk: LiveConversation) -> None:
    rules = "# Règles\r\n\r\n`e\u0301` ≠ `é`\n---\n\t日本語 \n"
    space = await talk.space(rules=rules)
    assert await talk.call("space_rules", space_id=space) == {"status": "ok", "space_id": space, "rules": rules}


@behaviour("live.space_summary.answer")
async def test_a_summary_is_information_rules_and_bank_in_one(talk: LiveConversation) -> None:
    space = await talk.space()
    await talk.note(space, category="progress")
    await talk.call("bank_consolidate", space_id=space)
    await talk.note(space)
    parts = [await talk.call(tool, space_id=space) for tool in ("space_info", "space_rules", "bank_read_all")]
    assert await talk.call("space_summary", space_id=space) == {**parts[0], **parts[1], **parts[2]}
    assert parts[2]["file_count"] > 0


@behaviour("live.space.missing")
async def test_a_space_that_is_not_there_is_not_found(talk: LiveConversation) -> None:
    absent = unique()
    for tool, more in (
        ("space_info", {}),
        ("space_rules", {}),
        ("space_summary", {}),
        ("space_export", {}),
        ("space_delete", {"confirm": True}),
        ("live_note", {"category": "todo", "content": "x"}),
        ("live_read", {}),
        ("live_search", {"query": "x"}),
        ("bank_read", {"filename": "x.md"}),
        ("bank_read_all", {}),
        ("bank_list", {}),
        ("bank_consolidate", {}),
        ("backup_create", {}),
        ("backup_list", {}),
    ):
        status, message = await talk.refused(tool, space_id=absent, **more)
        assert (status, message) == ("not_found", f"Espace introuvable : no space '{absent}'"), tool
        said = await talk.invalid(tool, space_id="../secret", **more)
        assert said == "space_id: is not the id of a space", tool


# Taking along


@behaviour("live.space_export.archive")
async def test_an_export_is_the_folder_of_the_space(engine: Engine, local: LiveConversation, outside: Path) -> None:
    await local.space("alpha", description=WORDS)
    await local.space("other")
    await local.note("alpha", "un\n---\ndeux", tags='日本, --- ,"guillemets"', agent="ベン\n'x'")
    await local.call("bank_consolidate", space_id="alpha")
    await local.note("alpha", category="progress")
    answer = await local.call("space_export", space_id="alpha")
    await engine.mirror.push()
    files = unpacked(answer)
    assert {f"alpha/{path}": data for path, data in on_disk(outside / "alpha").items()} == files
    assert answer["files_count"] == len(files)
    assert {"alpha/_meta.json", "alpha/_rules.md", "alpha/_synthesis.md", "alpha/live/.keep"} <= files.keys()


# Deleting


@behaviour("live.space_delete.confirm")
async def test_a_space_is_deleted_only_when_that_is_confirmed(talk: LiveConversation) -> None:
    space = await talk.space()
    for given in ({}, {"confirm": False}):
        said = await talk.invalid("space_delete", space_id=space, **given)
        assert said == f"confirm: must be true to delete or restore space {space}: it cannot be undone"
    assert await talk.call("space_info", space_id=space)
    gone = await talk.call("space_delete", space_id=space, confirm=True)
    assert gone == {"status": "deleted", "space_id": space, "files_deleted": 4}
    assert (await talk.refused("space_info", space_id=space))[0] == "not_found"
    assert await talk.space(space) == space


@behaviour("live.space_delete.everything")
async def test_nothing_of_a_deleted_space_is_left(
    engine: Engine, local: LiveConversation, settings: Settings, outside: Path
) -> None:
    owner, word = await engine.access.local_owner(), unique()
    await local.space("alpha")
    await local.note("alpha", f"{word} first")
    await local.call("bank_consolidate", space_id="alpha")
    await local.note("alpha", f"{word} second")
    async with spoken_to_as(engine, settings, await local.token("read,write", "alpha")) as agent:
        await agent.note("alpha", f"{word} third")
    await engine.mirror.push()
    counted = len(on_disk(outside / "alpha"))
    gone = await local.call("space_delete", space_id="alpha", confirm=True)
    assert gone["files_deleted"] == counted
    await engine.mirror.push()
    assert [path for path in on_disk(outside) if path.startswith("alpha/")] == []
    assert (await engine.memories.page(owner, 100)).total == 0
    await local.space("alpha")
    assert await local.notes("alpha") == []
    assert (await local.call("bank_read_all", space_id="alpha"))["files"] == []


@behaviour("live.space_delete.backups_stay")
async def test_the_backups_of_a_deleted_space_stay(local: LiveConversation) -> None:
    space = await local.space()
    made = await local.call("backup_create", space_id=space)
    await local.call("space_delete", space_id=space, confirm=True)
    listed = await local.call("backup_list", space_id=space)
    assert [one["backup_id"] for one in listed["backups"]] == [made["backup_id"]]
