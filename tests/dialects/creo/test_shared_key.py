"""Domain Shared Key管理: create, list, revoke and delete keys that open one atlas."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.domain.access import Permission
from commonplace.domain.errors import Forbidden, Invalid, NotFound, Unauthenticated
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CREO, CreoConversation, Speaker, enrolled
from tests.dialects.servers import Servers
from tests.serving import over_http, over_sse

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


async def atlas(speaker: Speaker | CreoConversation, name: str = "", **more: Any) -> str:
    return str((await speaker.call("create_atlas", name=name or unique(), **more))["id"])


async def opened(speaker: Speaker, **arguments: Any) -> Speaker:
    """Whoever holds a new shared key."""
    made = await speaker.call("create_domain_shared_key", name=unique(), **arguments)
    return Speaker(speaker.engine, speaker._settings, await speaker.engine.access.authenticate(made["key"]))


@behaviour("creo.shared_key.create")
async def test_a_shared_key_is_made_and_shown_once(talk: CreoConversation) -> None:
    place, name = await atlas(talk), unique()
    answer = await talk.answer("create_domain_shared_key", name=name, atlas_id=place)
    made: dict[str, Any] = answer.structured_content or {}
    words = answer.content[0].text  # type: ignore[union-attr]
    assert made["id"].startswith("domain_shared_key:")
    assert (made["name"], made["permission"], made["status"]) == (name, "read", "active")
    assert made["atlasIds"] == [place]
    assert words.count(made["key"]) == 1
    assert "このキーは一度だけ表示されます" in words
    listed = await talk.answer("list_domain_shared_keys")
    (entry,) = [one for one in (listed.structured_content or {})["keys"] if one["id"] == made["id"]]
    assert entry == {key: value for key, value in made.items() if key != "key"}
    assert made["key"] not in str(listed)
    assert len(entry["hashPrefix"]) == 8


@behaviour("creo.shared_key.opens")
async def test_a_shared_key_opens_its_atlas_and_what_is_below_it_only(ann: Speaker) -> None:
    top = await atlas(ann, "top")
    place = await atlas(ann, "place", parent_id=top)
    below = await atlas(ann, "below", parent_id=place)
    kept = {where: await ann.remember(f"word {where}", atlasId=where) for where in (top, place, below)}
    outside = await ann.remember("word outside")
    holder = await opened(ann, atlas_id=place)
    found = str(await holder.call("search", query="word", threshold=0.0, limit=50))
    assert kept[place] in found
    assert kept[below] in found
    assert kept[top] not in found
    assert outside not in found
    me = await holder.call("get_user")
    assert me["limitedTo"] == sorted([place, below])
    assert (me["teams"], me["permissions"]) == ([], ["read"])


@behaviour("creo.shared_key.write")
async def test_a_key_that_writes_writes_in_its_atlas_only(ann: Speaker) -> None:
    place, other = await atlas(ann), await atlas(ann)
    reader, writer = await opened(ann, atlas_id=place), await opened(ann, atlas_id=place, permission="write")
    memory = await writer.remember("written with the key", atlasId=place)
    assert (await ann.call("search", query="written with the key"))["total"] == 1
    await writer.call("update_memory", id=memory, content="changed")
    for where in ({"atlasId": other}, {}):
        assert isinstance(await writer.refused("remember", content="x", **where), Forbidden | NotFound)
    assert isinstance(await reader.refused("remember", content="x", atlasId=place), Forbidden)
    assert isinstance(await ann.refused("create_domain_shared_key", name="x", permission="admin"), Invalid)


@behaviour("creo.shared_key.all_roots")
async def test_without_an_atlas_a_key_opens_the_roots_its_maker_owns_now(ann: Speaker) -> None:
    assert isinstance(await ann.refused("create_domain_shared_key", name="x"), Invalid)
    roots = [await atlas(ann, "one"), await atlas(ann, "two")]
    await atlas(ann, "child", parent_id=roots[0])
    made = await ann.call("create_domain_shared_key", name="all")
    assert sorted(made["atlasIds"]) == sorted(roots)
    words = await ann.says("create_domain_shared_key", name="again")
    assert all(root in words for root in roots)


@behaviour("creo.shared_key.govern")
async def test_only_who_governs_an_atlas_makes_keys_for_it(ann: Speaker, ben: Speaker) -> None:
    place = await atlas(ann)
    refused = await ben.refused("create_domain_shared_key", name="x", atlas_id=place)
    absent = await ben.refused("create_domain_shared_key", name="x", atlas_id=f"atlas:{ABSENT}")
    assert isinstance(refused, NotFound)
    assert refused.message.replace(place.partition(":")[2], ABSENT) == absent.message


@behaviour("creo.shared_key.own")
async def test_keys_are_listed_revoked_and_deleted_by_their_maker_only(ann: Speaker, ben: Speaker) -> None:
    made = await ann.call("create_domain_shared_key", name="anns", atlas_id=await atlas(ann))
    assert (await ben.call("list_domain_shared_keys"))["total"] == 0
    for tool in ("revoke_domain_shared_key", "delete_domain_shared_key"):
        refused = await ben.refused(tool, id=made["id"])
        assert isinstance(refused, NotFound)
        assert (await ben.refused(tool, id=ABSENT)).message == refused.message.replace(made["id"][18:], ABSENT)
    assert (await ann.call("list_domain_shared_keys"))["keys"][0]["status"] == "active"


@behaviour("creo.shared_key.revoke")
async def test_a_revoked_key_opens_nothing_and_stays_listed(talk: CreoConversation, servers: Servers) -> None:
    made = await talk.call("create_domain_shared_key", name=unique(), atlas_id=await atlas(talk))
    first = await talk.call("revoke_domain_shared_key", id=made["id"])
    assert first["status"] == "revoked"
    assert (await talk.call("revoke_domain_shared_key", id=made["id"].partition(":")[2])) == first
    assert "✅ 共有キーを無効化しました" in await talk.says("revoke_domain_shared_key", id=made["id"])
    (entry,) = [one for one in (await talk.call("list_domain_shared_keys"))["keys"] if one["id"] == made["id"]]
    assert (entry["status"], entry["revokedAt"]) == ("revoked", first["revokedAt"])


@behaviour("creo.shared_key.delete")
async def test_a_deleted_key_opens_nothing_and_is_gone(talk: CreoConversation) -> None:
    for revoked in (True, False):
        made = await talk.call("create_domain_shared_key", name=unique(), atlas_id=await atlas(talk))
        if revoked:
            await talk.call("revoke_domain_shared_key", id=made["id"])
        gone = await talk.call("delete_domain_shared_key", id=made["id"])
        assert gone == {"id": made["id"], "deleted": True}
        assert made["id"] not in str(await talk.call("list_domain_shared_keys"))
        assert "キーが見つかりません" in await talk.refused("delete_domain_shared_key", id=made["id"])


@behaviour("creo.shared_key.at_once")
@pytest.mark.parametrize("tool", ["revoke_domain_shared_key", "delete_domain_shared_key"])
async def test_open_connections_are_closed_to_a_key_at_once(servers: Servers, tool: str) -> None:
    server = servers.chosen("creo")
    async with over_http(server, path=CREO) as owners:
        owner = CreoConversation(owners)
        place = await atlas(owner)
        made = await owner.call("create_domain_shared_key", name=unique(), atlas_id=place)
        async with (
            over_http(server, path=CREO, key=made["key"]) as http,
            over_http(server, path=CREO, key=made["key"], era="2026-07-28") as modern,
            over_sse(server, key=made["key"]) as sse,
        ):
            for client in (http, modern, sse):
                assert (await CreoConversation(client).call("get_user"))["limitedTo"] == [place]
            await owner.call(tool, id=made["id"])
            for client in (http, modern, sse):
                with pytest.raises(MCPError, match="the credential is not valid"):
                    await client.call_tool("get_user", {})


@behaviour("creo.shared_key.hashed")
async def test_only_the_hash_of_a_key_is_kept(ann: Speaker) -> None:
    made = await ann.call("create_domain_shared_key", name="x", atlas_id=await atlas(ann))
    kept = await ann.engine.store.read(lambda tx: repr(tx.credentials()))
    assert made["key"] not in kept
    assert made["hashPrefix"] in kept
    with pytest.raises(Unauthenticated):
        await ann.engine.access.authenticate(made["key"] + "x")


@behaviour("creo.shared_key.read_only")
async def test_who_may_only_read_makes_no_keys(engine: Engine, settings: Settings, ann: Speaker) -> None:
    place = await atlas(ann)
    reader = await enrolled(engine, settings, "ann", Permission.READ)
    assert isinstance(await reader.refused("create_domain_shared_key", name="x", atlas_id=place), Forbidden)
    assert (await reader.call("list_domain_shared_keys"))["total"] == 0
