"""One house: the other dialects, many callers at once, and a server that is killed."""

import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from commonplace.domain.access import Actor
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from tests.dialects.assoc.speech import ASSOC, AssocConversation, good, refusal
from tests.dialects.conversation import Conversation, ProseConversation, unique
from tests.serving import Served, over_http, served
from tests.transports.wire import key_for

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

NOCTURNE = "/nocturne/mcp"


async def _greeum_finds(client: Client, text: str) -> bool:
    hits = await Conversation(client).call("query_memory", query=text)
    return text in [hit["content"] for hit in hits]


async def _nocturne_finds(client: Client, word: str) -> bool:
    return word in (await ProseConversation(client).call("search_memory", query=word)).partition("\n")[2]


@behaviour("assoc.dialects.found_by_others")
async def test_what_is_stored_here_is_found_by_the_other_dialects(listening: Served) -> None:
    async with (
        over_http(listening, path=ASSOC) as client,
        over_http(listening) as greeum,
        over_http(listening, path=NOCTURNE) as nocturne,
    ):
        word = unique()
        text = f"灯台守の{word}は扉を緑に塗る"
        kept = await AssocConversation(client).store(text, tags=["灯台"])
        assert await _greeum_finds(greeum, text)
        assert await _nocturne_finds(nocturne, word)
        read = await ProseConversation(nocturne).call("read_memory", uri=f"memory://{kept}")
        assert text in read
        assert (await Conversation(greeum).call("verify_chain"))["valid"]


@behaviour("assoc.dialects.finds_others")
async def test_what_other_dialects_store_is_found_here(listening: Served) -> None:
    async with over_http(listening, path=ASSOC) as client, over_http(listening) as greeum:
        talk, word = AssocConversation(client), unique()
        added = await Conversation(greeum).call("add_memory", content=f"{word} from greeum")
        (found,) = await talk.finds(word)
        block = (await Conversation(greeum).call("retrieve_memory", memory_id=added["id"]))["memory_id"]
        assert found == block
        await talk.call("memory", action="update", memory_id=found, content=f"{word} from both")
        assert await _greeum_finds(greeum, f"{word} from both")


@behaviour("assoc.dialects.places")
async def test_a_place_that_is_no_domain_is_named_with_what_is_in_it(
    local: AssocConversation, engine: Engine, owner: Actor
) -> None:
    atlas = (await engine.atlases.create(owner, Sketch("山"))).collection.id
    context = (await engine.contexts.create(owner, "相談")).context.collection.id
    await engine.spaces.found(owner, "work", "", "# Rules", "")
    written = await engine.notes.write(owner, "work", "observation", "a note", "agent")
    there = [(await engine.memories.remember(owner, Draft("there", home=home))).id for home in (atlas, atlas, context)]
    mine = await local.store("mine")
    for arguments in ({}, {"target_domain": "user"}):
        body = await local.told("memory_manage", action="stats", **arguments)
        told = [(one["kind"], one["name"], one["memory_count"]) for one in body["data"]["places"]]
        assert told == [("atlas", "山", 2), ("context", "相談", 1), ("space", "work", 1)]
        named = "アトラス '山' 2件, 共有コンテキスト '相談' 1件, スペース 'work' 1件"
        assert body["message"] == f"統計情報を取得しました (うち4件は次の場所にあります: {named})"
    assert named in await local.says("visualize", type="domain_graph", format="json")
    for memory, place in ((there[0], ("atlas", atlas, "山")), (there[2], ("context", context, "相談"))):
        whole = await local.get(memory)
        assert (whole["project_id"], *whole["place"].values()) == (None, *place)
    assert (await local.get(str(written.id)))["place"]["name"] == "work"
    assert "place" not in await local.get(mine)


@behaviour("assoc.admin.migrate_places")
async def test_a_domain_is_moved_without_what_lies_in_other_places(
    local: AssocConversation, engine: Engine, owner: Actor
) -> None:
    atlas = (await engine.atlases.create(owner, Sketch("山"))).collection.id
    await engine.spaces.found(owner, "work", "", "# Rules", "")
    note = await engine.notes.write(owner, "work", "observation", "a note", "agent")
    there, mine = await engine.memories.remember(owner, Draft("there", home=atlas)), await local.store("mine")
    project = await local.project()
    await local.store("ours", domain="project", project_id=project)
    told = " (アトラス、共有コンテキスト、スペースにある記憶は対象外です)"
    for source, criteria, said in (("user", {}, told), ("project", {}, told), ("project", {"project_id": project}, "")):
        config = {"source_domain": source, "target_domain": "global", "filter_criteria": criteria}
        body = await local.told("admin", action="migrate_domain", migration_config=config)
        assert body["message"] == f"1件が対象です。移行するには force: true を指定してください{said}"
    config = {"source_domain": "user", "target_domain": "global"}
    said = await local.says("admin", action="migrate_domain", migration_config=config, force=True)
    assert said == f"1件の記憶をglobalドメインに移しました{told}"
    assert (await local.get(mine))["domain"] == "global"
    assert (await local.get(there.id))["place"]["name"] == "山"
    assert (await local.get(str(note.id)))["place"]["name"] == "work"


@behaviour("assoc.dialects.members_only")
async def test_a_project_memory_is_seen_by_its_members_only_in_every_dialect(listening: Served) -> None:
    names = {who: unique() for who in ("founder", "member", "stranger")}
    keys = {who: await key_for(listening.folder, name) for who, name in names.items()}
    async with over_http(listening, path=ASSOC, key=keys["founder"]) as client:
        founder, word = AssocConversation(client), unique()
        project = await founder.project(**{names["member"]: "viewer"})
        text = f"{word} の設計は秘密"
        await founder.store(text, domain="project", project_id=project)
    for who, sees in (("founder", True), ("member", True), ("stranger", False)):
        async with over_http(listening, key=keys[who]) as greeum:
            assert await _greeum_finds(greeum, text) is sees
        async with over_http(listening, key=keys[who], path=NOCTURNE) as nocturne:
            assert await _nocturne_finds(nocturne, word) is sees
    async with over_http(listening) as greeum:
        assert not await _greeum_finds(greeum, text)


@behaviour("assoc.dialects.sessions_end")
async def test_a_session_that_ends_ends_in_every_dialect(listening: Served) -> None:
    key = await key_for(listening.folder, unique())
    async with (
        over_http(listening, path=ASSOC, key=key) as client,
        over_http(listening, key=key) as greeum,
        over_http(listening, path=NOCTURNE, key=key) as nocturne,
    ):
        talk, word = AssocConversation(client), unique()
        session = (await talk.call("user", action="create_session"))["session_id"]
        text = f"{word} only for tonight"
        await talk.store(text, domain="session")
        assert await _greeum_finds(greeum, text)
        await talk.call("user", action="end_session", session_id=session)
        assert not await _greeum_finds(greeum, text)
        assert not await _nocturne_finds(nocturne, word)


@behaviour("assoc.together.stores")
async def test_twenty_stores_at_once_by_two_users_into_one_project_are_all_kept(listening: Served) -> None:
    names = [unique(), unique()]
    keys = [await key_for(listening.folder, name) for name in names]
    async with (
        over_http(listening, path=ASSOC, key=keys[0]) as one,
        over_http(listening, path=ASSOC, key=keys[1]) as two,
    ):
        talks, word = [AssocConversation(one), AssocConversation(two)], unique()
        project = await talks[0].project(**{names[1]: "editor"})
        kept: list[str] = []

        async def keep(number: int) -> None:
            more = {"domain": "project", "project_id": project, "tags": [word]}
            kept.append(await talks[number % 2].store(f"{word} number {number}", **more))

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(keep, number)
        for talk in talks:
            found = await talk.call("search", type="tags", tags=[word], limit=50, filters={"project_ids": [project]})
            assert {one["memory_id"] for one in found["results"]} == set(kept)
            assert {one["content"] for one in found["results"]} == {f"{word} number {n}" for n in range(20)}
            assert (await talk.call("project", action="get", project_id=project))["memory_count"] == 20


async def _both(talk: AssocConversation, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Several calls at once; `ok` or the code of each."""
    outcomes = [""] * len(calls)

    async def call(at: int, tool: str, arguments: dict[str, Any]) -> None:
        result = await talk.answer(tool, **arguments)
        outcomes[at] = refusal(result)["error"]["code"] if result.is_error else "ok" if good(result) else ""

    async with anyio.create_task_group() as tasks:
        for at, (tool, arguments) in enumerate(calls):
            tasks.start_soon(call, at, tool, arguments)
    return outcomes


@behaviour("assoc.together.move_and_delete")
async def test_a_move_and_a_deletion_at_once_leave_one_outcome(talk: AssocConversation) -> None:
    project = await talk.project()
    for turn in range(4):
        kept = await talk.store()
        move = {"action": "change_domain", "memory_ids": [kept], "new_domain": "project", "project_id": project}
        delete = {"action": "delete", "memory_id": kept}
        calls: list[tuple[str, dict[str, Any]]] = [("memory_manage", move), ("memory", delete)]
        outcomes = await _both(talk, *(calls if turn % 2 else calls[::-1]))
        assert set(outcomes) <= {"ok", "MEMORY_NOT_FOUND"}
        assert (await talk.refused("memory", action="get", memory_id=kept))[0] == "MEMORY_NOT_FOUND"
    assert (await talk.call("project", action="get", project_id=project))["memory_count"] == 0


@behaviour("assoc.together.store_and_end")
async def test_storing_into_a_session_that_ends_meanwhile_leaves_nothing(talk: AssocConversation) -> None:
    word = unique()
    for _ in range(3):
        session = (await talk.call("user", action="create_session"))["session_id"]
        store = {"action": "store", "content": f"{word} x", "domain": "session", "session_id": session}
        end = {"action": "end_session", "session_id": session}
        outcomes = await _both(talk, ("memory", store), ("user", end), ("memory", store))
        assert outcomes[1] == "ok"
        assert {outcomes[0], outcomes[2]} <= {"ok", "SESSION_NOT_FOUND"}
        assert await talk.finds(word, include_domains=["user", "session"]) == []


@behaviour("assoc.durability.killed_import")
async def test_an_import_that_is_killed_is_completed_by_a_second_one(folder: Path) -> None:
    project = "01890a5d-ac96-774b-bcce-b302099a8057"
    entries = [
        {
            "memory_id": f"01890a5d-ac96-774b-bcce-{number:012x}",
            "content": f"entry {number} " + "と文章が続く。",
            "tags": [f"tag {number}", "all"],
            "domain": "project",
            "project_id": project,
        }
        for number in range(250)
    ]
    ties = [
        {"from_memory_id": one["memory_id"], "to_memory_id": other["memory_id"], "type": "manual", "strength": 0.5}
        for one, other in pairwise(entries)
    ]
    places = [{"id": project, "kind": "project", "name": "旅"}]
    data = json.dumps({"memories": entries, "associations": ties, "places": places})
    with served(folder, "--dialect", "assoc") as server:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_import_until_killed, server, data)
            async with over_http(server) as client:
                await _until_some(AssocConversation(client), project)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(timeout=10)
            tasks.cancel_scope.cancel()
    with served(folder, "--dialect", "assoc") as server:
        async with over_http(server) as client, over_http(server, path="/greeum/mcp") as greeum:
            talk = AssocConversation(client)
            found = await talk.call("search", type="tags", tags=["all"], limit=1000, filters={"project_ids": [project]})
            assert 0 < found["total"] < 250
            whole = {entry["content"]: entry["tags"] for entry in entries}
            assert all(whole[one["content"]] == one["tags"] for one in found["results"])
            report = await talk.call("memory_manage", action="import", import_data=data)
            assert report["imported_count"] == 250 - found["total"]
            assert report["skipped_count"] == found["total"]
            stats = await talk.call("memory_manage", action="stats", project_id=project)
            assert (stats["total_memories"], stats["associations"]["manual"]) == (250, 249)
            assert (await Conversation(greeum).call("verify_chain"))["valid"]
            assert (await talk.call("admin", action="health_check"))["troubles"] == []


async def _import_until_killed(server: Served, data: str) -> None:
    try:
        async with over_http(server) as client:
            await client.call_tool("memory_manage", {"action": "import", "import_data": data})
    except Exception:
        if server.process.poll() is None:
            raise


async def _until_some(talk: AssocConversation, project: str) -> None:
    with anyio.fail_after(60):
        while True:
            result = await talk.answer("project", action="get", project_id=project)
            if not result.is_error and (result.structured_content or {})["data"]["memory_count"] > 0:
                return
