"""チーム共有: share_atlas, unshare_atlas, list_shared_atlas; and what that means in every dialect."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.dialects._dialect import Dialect
from commonplace.dialects.assoc import assoc
from commonplace.dialects.greeum import greeum
from commonplace.dialects.nocturne import nocturne
from commonplace.domain.access import Right
from commonplace.domain.errors import CommonplaceError, Forbidden, NotFound
from commonplace.domain.identifiers import CollectionId
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.sharing import ABSENT, finds, me, myself, plant, team_of, through
from tests.dialects.creo.speech import CreoConversation, Speaker, enrolled

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

SHARED = {"atlasId", "permission", "source", "teamId", "teamName"}
"""As the specification shows one."""


# share_atlas, unshare_atlas


@behaviour("creo.share.share")
async def test_an_atlas_is_shared_for_reading_with_all_below(talk: CreoConversation) -> None:
    user = await myself(talk)
    team = (await talk.call("team_create", name="creo-dev", ownerId=user))["id"]
    atlas = (await talk.call("create_atlas", name="地図"))["id"]
    shared = await talk.call("share_atlas", atlasId=atlas, teamId=team)
    assert shared.pop("sharedAt").endswith("Z")
    assert shared == {
        "atlasId": atlas,
        "name": "地図",
        "teamId": team,
        "teamName": "creo-dev",
        "permission": "read",
        "inheritChildren": True,
        "sharedBy": user,
    }
    said = await talk.says("share_atlas", atlasId=atlas, teamId=team, permission="write")
    assert said == "✅ Atlasを共有しました: 「地図」 → 「creo-dev」 [write]"
    assert (await talk.invalid("share_atlas", atlasId=atlas, teamId=team, permission="own")).startswith("permission: ")
    assert await talk.call("unshare_atlas", atlasId=atlas, teamId=team) == {
        "atlasId": atlas,
        "teamId": team,
        "unshared": True,
    }
    assert (await talk.refused("unshare_atlas", atlasId=atlas, teamId=team)).startswith("共有が見つかりません: ")


@behaviour("creo.share.again")
async def test_sharing_again_changes_how(ann: Speaker, ben: Speaker) -> None:
    team, atlas = await team_of(ann, ben), await plant(ann)
    for permission, inherits in (("read", True), ("admin", False), ("write", True)):
        await ann.call("share_atlas", atlasId=atlas, teamId=team, permission=permission, inheritChildren=inherits)
        (shown,) = (await ben.call("list_shared_atlas"))["atlas"]
        assert (shown["permission"], shown["inheritChildren"]) == (permission, inherits)


@behaviour("creo.share.needs")
async def test_sharing_is_for_who_governs_and_is_in_the_team(ann: Speaker, ben: Speaker) -> None:
    team, atlas = await team_of(ann, ben), await plant(ann)
    bens = await team_of(ben)
    assert isinstance(await ben.refused("share_atlas", atlasId=atlas, teamId=bens), NotFound)
    await ann.call("share_atlas", atlasId=atlas, teamId=team, permission="write")
    assert isinstance(await ben.refused("share_atlas", atlasId=atlas, teamId=bens), Forbidden)
    assert isinstance(await ann.refused("share_atlas", atlasId=atlas, teamId=bens), NotFound)
    await ann.call("share_atlas", atlasId=atlas, teamId=team, permission="admin")
    assert (await ben.call("share_atlas", atlasId=atlas, teamId=bens))["sharedBy"] == me(ben)


@behaviour("creo.share.shared_by")
async def test_who_shares_is_who_calls(ann: Speaker, ben: Speaker) -> None:
    team, atlas = await team_of(ann, ben), await plant(ann)
    shared = await ann.call("share_atlas", atlasId=atlas, teamId=team, sharedBy=me(ann))
    assert shared["sharedBy"] == me(ann)
    for other in (me(ben), f"users:{ABSENT}"):
        error = await ann.refused("share_atlas", atlasId=atlas, teamId=team, sharedBy=other)
        assert error.message == f"no user '{other}'"


@behaviour("creo.share.permissions")
async def test_each_permission_allows_what_it_says(ann: Speaker, ben: Speaker) -> None:
    for permission in ("read", "write", "admin"):
        team, atlas, word = await team_of(ann, ben), await plant(ann), unique()
        memory = await ann.remember(f"{word} の計画", atlasId=atlas)
        await ann.call("share_atlas", atlasId=atlas, teamId=team, permission=permission)
        assert await finds(ben, word) == [memory]
        acts: list[tuple[str, dict[str, Any]]] = [
            ("remember", {"content": "ben も", "atlasId": atlas}),
            ("update_memory", {"id": memory, "content": f"{word} の別の計画"}),
            ("forget", {"id": memory, "confirm": True}),
        ]
        for tool, arguments in acts:
            if permission == "read":
                assert isinstance(await ben.refused(tool, **arguments), Forbidden), tool
            else:
                await ben.call(tool, **arguments)
        governs = ("unshare_atlas", {"atlasId": atlas, "teamId": team})
        if permission == "admin":
            await ben.call(governs[0], **governs[1])
        else:
            assert isinstance(await ben.refused(governs[0], **governs[1]), Forbidden)


@behaviour("creo.share.inherit")
async def test_what_lies_below_is_shared_along_where_said(ann: Speaker, ben: Speaker) -> None:
    team, top, word = await team_of(ann, ben), await plant(ann), unique()
    child = await plant(ann, parent_id=top)
    above, below = await ann.remember(f"{word} 上", atlasId=top), await ann.remember(f"{word} 下", atlasId=child)
    await ann.call("share_atlas", atlasId=top, teamId=team, inheritChildren=False)
    assert await finds(ben, word) == [above]
    assert (await ben.call("get_atlas_tree", atlas_id=top))["total"] == 1
    assert isinstance(await ben.refused("list_atlas", parent_id=child), NotFound)
    await ann.call("share_atlas", atlasId=top, teamId=team)
    assert set(await finds(ben, word)) == {above, below}
    later = await ann.remember(f"{word} 後", atlasId=await plant(ann, parent_id=child))
    assert set(await finds(ben, word)) == {above, below, later}


@behaviour("creo.share.unshare")
async def test_a_share_is_ended_by_either_side(engine: Engine, settings: Settings, ann: Speaker, ben: Speaker) -> None:
    cleo = await enrolled(engine, settings, "cleo")
    team, atlas, word = await team_of(ben, ann, cleo), await plant(ann), unique()
    memory = await ann.remember(word, atlasId=atlas)
    for ending in (ann, ben):
        await ann.call("share_atlas", atlasId=atlas, teamId=team)
        assert await finds(cleo, word) == [memory]
        assert isinstance(await cleo.refused("unshare_atlas", atlasId=atlas, teamId=team), Forbidden)
        answer = await ending.answer("unshare_atlas", atlasId=atlas, teamId=team)
        assert answer.text == "✅ Atlasの共有を解除しました: 「地図」 → 「creo-dev」"
        assert await finds(cleo, word) == await finds(ben, word) == []
        assert isinstance(await cleo.refused("unshare_atlas", atlasId=atlas, teamId=team), NotFound)
    assert await finds(ann, word) == [memory]


# list_shared_atlas


@behaviour("creo.share.list")
async def test_what_is_shared_is_listed_as_the_specification_shows(ann: Speaker, ben: Speaker) -> None:
    assert await ben.call("list_shared_atlas") == {"atlas": [], "total": 0, "hasMore": False}
    team, atlas = await team_of(ann, ben), await plant(ann)
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    answer = await ben.answer("list_shared_atlas")
    (shown,) = answer.value["atlas"]
    assert {name: shown[name] for name in SHARED} == {
        "atlasId": atlas,
        "permission": "read",
        "source": "team",
        "teamId": team,
        "teamName": "creo-dev",
    }
    assert set(shown) - SHARED == {"name", "inheritChildren", "owned", "sharedAt"}
    assert (shown["name"], shown["inheritChildren"], shown["owned"]) == ("地図", True, False)
    assert (answer.value["total"], answer.value["hasMore"]) == (1, False)
    assert answer.text == f"共有されているAtlasは1件あります\n- 「地図」 → 「creo-dev」 [read] (ID: {atlas})"
    (own,) = (await ann.call("list_shared_atlas"))["atlas"]
    assert own["owned"]
    await ann.call("team_remove", teamId=team, userId=me(ben))
    assert (await ben.call("list_shared_atlas"))["total"] == 0


@behaviour("creo.share.list_direct")
async def test_what_was_given_to_the_caller_himself_names_no_team(engine: Engine, ann: Speaker, ben: Speaker) -> None:
    atlas = CollectionId((await plant(ann)).removeprefix("atlas:"))
    number = await engine.store.read(lambda tx: next(c.number for c in tx.collections.below([atlas])))
    now = engine.clock.now()
    await engine.store.write(lambda tx: tx.grant(ben.actor.user, number, Right.WRITE, ann.actor.user, now))
    (shown,) = (await ben.call("list_shared_atlas"))["atlas"]
    assert (shown["source"], shown["permission"]) == ("user", "write")
    assert not {"teamId", "teamName"} & set(shown)


@behaviour("creo.share.list_user")
async def test_only_an_administrator_lists_what_others_are_given(ann: Speaker, ben: Speaker, admin: Speaker) -> None:
    team, atlas = await team_of(ann, ben), await plant(ann)
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    assert (await ben.call("list_shared_atlas", userId=me(ben)))["total"] == 1
    assert (await admin.call("list_shared_atlas", userId=me(ben)))["total"] == 1
    for user in (me(ben), f"users:{ABSENT}"):
        assert (await ann.refused("list_shared_atlas", userId=user)).message == f"no user '{user}'"
    assert isinstance(await admin.refused("list_shared_atlas", userId=ABSENT), NotFound)


# Through every dialect


@behaviour("creo.share.every_dialect")
async def test_what_is_shared_is_found_through_every_dialect(settings: Settings, ann: Speaker, ben: Speaker) -> None:
    team, top, word = await team_of(ann, ben), await plant(ann), unique()
    child = await plant(ann, parent_id=top)
    memory = await ann.remember(f"{word} の計画", atlasId=child)

    async def found(speaker: Speaker) -> list[bool]:
        told = [
            await speaker.call("search", query=word),
            await through(greeum, speaker, settings, "query_memory", query=word),
            await through(assoc, speaker, settings, "memory", action="search", query=word, include_domains=["project"]),
            await through(nocturne, speaker, settings, "search_memory", query=word),
        ]
        return [f"{word} の計画" in str(one) for one in told]

    everywhere, nowhere = [True] * 4, [False] * 4
    share = {"atlasId": top, "teamId": team}
    assert (await found(ann), await found(ben)) == (everywhere, nowhere)
    await ann.call("share_atlas", **share)
    assert await found(ben) == everywhere
    await ann.call("share_atlas", **share, inheritChildren=False)
    assert await found(ben) == nowhere
    await ann.call("share_atlas", **share)
    await ann.call("team_remove", teamId=team, userId=me(ben))
    assert await found(ben) == nowhere
    await ann.call("team_invite", teamId=team, userId=me(ben))
    assert await found(ben) == everywhere
    await ann.call("unshare_atlas", **share)
    assert (await found(ben), await found(ann)) == (nowhere, everywhere)
    assert isinstance(await ben.refused("update_memory", id=memory, content="x"), NotFound)


@behaviour("creo.share.read_only_everywhere")
async def test_who_may_only_read_is_refused_through_every_dialect(
    settings: Settings, ann: Speaker, ben: Speaker
) -> None:
    team, atlas, word = await team_of(ann, ben), await plant(ann), unique()
    memory = await ann.remember(word, atlasId=atlas)
    await ann.call("share_atlas", atlasId=atlas, teamId=team)
    attempts: list[tuple[Dialect, str, dict[str, Any]]] = [
        (greeum, "update_memory", {"memory_id": memory, "tags": ["x"]}),
        (greeum, "delete_memory", {"memory_id": memory}),
        (assoc, "memory", {"action": "update", "memory_id": memory, "content": "x"}),
        (assoc, "memory", {"action": "delete", "memory_id": memory}),
        (assoc, "memory_manage", {"action": "change_domain", "memory_ids": [memory], "new_domain": "user"}),
    ]
    for dialect, tool, arguments in attempts:
        with pytest.raises(CommonplaceError) as caught:
            await through(dialect, ben, settings, tool, **arguments)
        assert isinstance(caught.value, Forbidden), (dialect.name, arguments)
    assert await finds(ann, word) == [memory]


@behaviour("creo.share.limited_key")
async def test_a_key_that_opens_an_atlas_has_no_say_in_teams(settings: Settings, ann: Speaker) -> None:
    team, atlas = await team_of(ann), await plant(ann)
    opened = frozenset({CollectionId(atlas.removeprefix("atlas:"))})
    key = Speaker(ann.engine, settings, replace(ann.actor, limited_to=opened))
    for tool, arguments in (
        ("team_create", {"name": "x", "ownerId": me(ann)}),
        ("team_list", {}),
        ("team_invite", {"teamId": team, "userId": me(ann)}),
        ("team_remove", {"teamId": team, "userId": me(ann)}),
        ("share_atlas", {"atlasId": atlas, "teamId": team}),
        ("unshare_atlas", {"atlasId": atlas, "teamId": team}),
        ("list_shared_atlas", {}),
    ):
        assert isinstance(await key.refused(tool, **arguments), Forbidden), tool
