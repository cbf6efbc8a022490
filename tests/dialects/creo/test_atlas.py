"""Atlas管理: create_atlas, list_atlas, get_atlas_tree, update_atlas, delete_atlas."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from commonplace.domain.errors import Circular, Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId
from commonplace.engine import Engine
from commonplace.ports import Transaction
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.sharing import HOSTILE
from tests.dialects.creo.speech import CreoConversation, Speaker
from tests.fakes import Clock
from tests.storage.samples import new_id

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "atlas:01890a5d-ac96-774b-bcce-b302099a8057"
FIELDS = set("id name description parent_id metadata permission memoryCount childrenCount createdAt createdBy".split())

Talk = CreoConversation | Speaker


async def plant(talk: Talk, name: str = "地図", **more: Any) -> str:
    return str((await talk.call("create_atlas", name=name, **more))["id"])


async def share(giver: Speaker, atlas: str, mate: Speaker, permission: str, **more: Any) -> str:
    """The id of a new team with this one in it, with which the atlas is shared."""
    owner = f"users:{giver.actor.user}"
    team = (await giver.call("team_create", name="チーム", ownerId=owner))["id"]
    await giver.call("team_invite", teamId=team, userId=mate.actor.user)
    await giver.call("share_atlas", atlasId=atlas, teamId=team, permission=permission, **more)
    return str(team)


async def names(talk: Talk, **more: Any) -> list[str]:
    return [one["name"] for one in (await talk.call("list_atlas", **more))["atlas"]]


def limited(speaker: Speaker, settings: Settings, *atlases: str) -> Speaker:
    """The same user with a key that opens only these."""
    opened = frozenset(CollectionId(one.removeprefix("atlas:")) for one in atlases)
    return Speaker(speaker.engine, settings, replace(speaker.actor, limited_to=opened))


# create_atlas


@behaviour("creo.atlas.create")
async def test_an_atlas_is_made_with_what_was_said_about_it(talk: CreoConversation) -> None:
    made = await talk.call("create_atlas", name=" プロジェクトA ", description="説明", metadata={"色": ["赤", 1]})
    assert set(made) == FIELDS
    assert (made["name"], made["description"], made["metadata"]) == ("プロジェクトA", "説明", {"色": ["赤", 1]})
    assert (made["parent_id"], made["permission"]) == (None, "owner")
    assert (made["memoryCount"], made["childrenCount"]) == (0, 0)
    assert made["id"].startswith("atlas:")
    assert made["createdAt"].endswith("Z")
    assert made["createdBy"].startswith("users:")
    said = await talk.says("create_atlas", name="プロジェクトB")
    assert said.startswith("✅ Atlasを作成しました: 「プロジェクトB」 (ID: atlas:")


@behaviour("creo.atlas.create_below")
async def test_what_is_made_below_belongs_to_the_tree(talk: CreoConversation, ann: Speaker, ben: Speaker) -> None:
    top = await plant(talk)
    made = await talk.call("create_atlas", name="子", parent_id=top)
    assert made["parent_id"] == top
    top = await plant(ann)
    await share(ann, top, ben, "write")
    made = await ben.call("create_atlas", name="ben の部分", parent_id=top)
    assert (made["permission"], made["createdBy"]) == ("write", f"users:{ben.actor.user}")
    (seen,) = (await ann.call("list_atlas", parent_id=top))["atlas"]
    assert (seen["permission"], seen["createdBy"]) == ("owner", f"users:{ben.actor.user}")


@behaviour("creo.atlas.limits")
async def test_names_descriptions_metadata_and_depth_have_limits(talk: CreoConversation, ann: Speaker) -> None:
    top = await plant(talk)
    for tool, more in (("create_atlas", {}), ("update_atlas", {"id": top})):
        for arguments, field in (
            ({"name": " "}, "name"),
            ({"name": "x" * 201}, "name"),
            ({"name": "x", "description": "x" * 4001}, "description"),
            ({"name": "x", "metadata": {"a": "x" * 16_384}}, "metadata"),
        ):
            assert (await talk.invalid(tool, **more, **arguments)).startswith(f"{field}: "), tool
    assert (await talk.invalid("create_atlas")) == "name: is required"
    assert await plant(talk, "同じ", parent_id=top) != await plant(talk, "同じ", parent_id=top)
    place = await plant(ann)
    for _ in range(31):
        place = await plant(ann, parent_id=place)
    error = await ann.refused("create_atlas", name="深すぎる", parent_id=place)
    assert error.message == "parent_id: the tree would be 33 levels deep; at most 32 are allowed"


@behaviour("creo.atlas.ids")
async def test_an_id_is_written_with_its_table_or_without(talk: CreoConversation) -> None:
    top = await plant(talk)
    bare = top.removeprefix("atlas:")
    for written in (top, bare, bare.upper(), f" {top} ", f"atlas:⟨{bare}⟩"):
        assert (await talk.call("get_atlas_tree", atlas_id=written))["tree"]["id"] == top
    for wrong in ("", "atlas:", "x", f"label:{bare}", "global"):
        assert (await talk.invalid("get_atlas_tree", atlas_id=wrong)).startswith("atlas_id: ")


# list_atlas


@behaviour("creo.atlas.list")
async def test_the_roots_are_listed_the_newest_first(local: CreoConversation, clock: Clock) -> None:
    assert await local.call("list_atlas") == {"atlas": [], "total": 0, "hasMore": False}
    first = await plant(local, "一")
    clock.advance(timedelta(minutes=1))
    second = await plant(local, "二")
    await plant(local, "子", parent_id=first)
    await local.remember(atlasId=first)
    answer = await local.call("list_atlas")
    assert (answer["total"], answer["hasMore"]) == (2, False)
    assert [one["id"] for one in answer["atlas"]] == [second, first]
    one = answer["atlas"][1]
    assert set(one) == FIELDS
    assert (one["memoryCount"], one["childrenCount"], one["permission"]) == (1, 1, "owner")
    assert one["createdAt"] == "2026-01-15T03:00:00.000Z"
    assert await local.says("list_atlas") == "\n".join(
        [
            "Atlasは2件あります",
            f"- 「二」 (ID: {second}) [owner] メモリ0件",
            f"- 「一」 (ID: {first}) [owner] メモリ1件",
        ]
    )


@behaviour("creo.atlas.list_children")
async def test_what_lies_in_an_atlas_is_listed(talk: CreoConversation) -> None:
    top = await plant(talk)
    for name in ("一", "二"):
        await plant(talk, name, parent_id=top)
    assert await names(talk, parent_id=top) == ["二", "一"]
    assert (await talk.refused("list_atlas", parent_id=ABSENT)).startswith("Atlasが見つかりません: ")


@behaviour("creo.atlas.list_shared")
async def test_what_is_shared_from_inside_a_tree_is_a_root(ann: Speaker, ben: Speaker) -> None:
    top = await plant(ann, "上")
    middle = await plant(ann, "中", parent_id=top)
    await plant(ann, "下", parent_id=middle)
    await share(ann, middle, ben, "read")
    (seen,) = (await ben.call("list_atlas"))["atlas"]
    assert (seen["name"], seen["parent_id"], seen["permission"], seen["childrenCount"]) == ("中", None, "read", 1)
    assert await names(ben, parent_id=middle) == ["下"]
    assert await names(ann) == ["上"]


@behaviour("creo.atlas.list_bounded")
async def test_a_list_too_long_for_a_message_is_cut(ann: Speaker) -> None:
    for number in range(40):
        await plant(ann, f"{number}", metadata={"a": "x" * 16_000})
    answer = await ann.call("list_atlas")
    assert answer["total"] == 40
    assert answer["hasMore"]
    assert [one["name"] for one in answer["atlas"]] == [f"{n}" for n in range(39, 39 - len(answer["atlas"]), -1)]
    assert 20 < len(answer["atlas"]) < 40
    assert (await ann.says("list_atlas")).endswith("\n…他20件")


# get_atlas_tree


@behaviour("creo.atlas.tree")
async def test_a_tree_is_nested(talk: CreoConversation) -> None:
    top = await plant(talk, "上")
    first, second = await plant(talk, "一", parent_id=top), await plant(talk, "二", parent_id=top)
    deep = await plant(talk, "下", parent_id=first)
    await talk.remember(atlasId=deep)
    answer = await talk.call("get_atlas_tree", atlas_id=top)
    assert (answer["count"], answer["total"], answer["hasMore"], answer["sharedWith"]) == (4, 4, False, [])
    tree = answer["tree"]
    assert set(tree) == {*FIELDS, "children"}
    assert [child["id"] for child in tree["children"]] == [second, first]
    (below,) = tree["children"][1]["children"]
    assert (below["id"], below["memoryCount"], below["parent_id"], below["children"]) == (deep, 1, first, [])
    said = await talk.says("get_atlas_tree", atlas_id=top)
    assert said.splitlines() == [
        f"🗂 「上」 (ID: {top})（4件）",
        f"  - 「二」 (ID: {second}) メモリ0件",
        f"  - 「一」 (ID: {first}) メモリ0件",
        f"    - 「下」 (ID: {deep}) メモリ1件",
    ]


@behaviour("creo.atlas.tree_bounded")
async def test_of_a_large_tree_the_upper_levels_are_shown(engine: Engine, ann: Speaker) -> None:
    top = await plant(ann)

    def grow(tx: Transaction) -> None:
        root = tx.collections.get(CollectionId(top.removeprefix("atlas:")))
        assert root
        place = root.number
        for number in range(1010):
            child = tx.add_collection(
                CollectionId(new_id()), "atlas", "project", "x", root.owner, root.created_at, place
            )
            if number == 0:
                tx.add_collection(CollectionId(new_id()), "atlas", "project", "x", root.owner, root.created_at, child)

    await engine.store.write(grow)
    answer = await ann.call("get_atlas_tree", atlas_id=top)
    assert (answer["count"], answer["total"], answer["hasMore"]) == (1000, 1012, True)
    assert len(answer["tree"]["children"]) == 999
    assert answer["tree"]["childrenCount"] == 1010


@behaviour("creo.atlas.tree_shares")
async def test_who_governs_an_atlas_sees_with_whom_it_is_shared(ann: Speaker, ben: Speaker) -> None:
    top = await plant(ann)
    team = await share(ann, top, ben, "write", inheritChildren=False)
    (told,) = (await ann.call("get_atlas_tree", atlas_id=top))["sharedWith"]
    assert told == {"teamId": team, "teamName": "チーム", "permission": "write", "inheritChildren": False}
    assert (await ben.call("get_atlas_tree", atlas_id=top))["sharedWith"] == []


# update_atlas


@behaviour("creo.atlas.update")
async def test_what_is_left_out_stays(local: CreoConversation, clock: Clock) -> None:
    top = await plant(local, "前", description="説明", metadata={"a": 1})
    clock.advance(timedelta(minutes=1))
    changed = await local.call("update_atlas", id=top, name="後")
    assert set(changed) == {*FIELDS, "updatedAt"}
    assert (changed["name"], changed["description"], changed["metadata"]) == ("後", "説明", {"a": 1})
    assert changed["updatedAt"] == "2026-01-15T03:01:00.000Z"
    assert (await local.call("update_atlas", id=top, description=""))["description"] == ""
    said = await local.says("update_atlas", id=top, description="別の説明")
    assert said == f"✅ Atlasを更新しました: 「後」 (ID: {top})"


@behaviour("creo.atlas.update_metadata")
async def test_metadata_are_laid_over_what_there_is(talk: CreoConversation) -> None:
    top = await plant(talk, metadata={"a": 1, "b": 1})
    changed = await talk.call("update_atlas", id=top, metadata={"a": None, "b": 2, "c": 3})
    assert changed["metadata"] == {"b": 2, "c": 3}


@behaviour("creo.atlas.move")
async def test_an_atlas_is_moved_with_all_below_it(talk: CreoConversation) -> None:
    one, other = await plant(talk, "一"), await plant(talk, "二")
    child = await plant(talk, "子", parent_id=one)
    await plant(talk, "孫", parent_id=child)
    assert (await talk.call("update_atlas", id=child, parent_id=other))["parent_id"] == other
    assert await names(talk, parent_id=one) == []
    assert (await talk.call("get_atlas_tree", atlas_id=other))["total"] == 3
    assert (await talk.call("update_atlas", id=child, name="動かない"))["parent_id"] == other
    assert (await talk.call("update_atlas", id=child, parent_id=None))["parent_id"] is None
    tool = next(tool for tool in (await talk.client.list_tools()).tools if tool.name == "update_atlas")
    assert "default" not in tool.input_schema["properties"]["parent_id"]


@behaviour("creo.atlas.move_circle")
async def test_an_atlas_is_not_moved_below_itself_or_to_another_owner(
    talk: CreoConversation, ann: Speaker, ben: Speaker
) -> None:
    top = await plant(talk)
    child = await plant(talk, parent_id=top)
    for place in (top, child):
        said = await talk.refused("update_atlas", id=top, parent_id=place)
        assert said.startswith("循環するため移動できません: ")
    anns, bens = await plant(ann), await plant(ben)
    await share(ben, bens, ann, "admin")
    assert isinstance(await ann.refused("update_atlas", id=anns, parent_id=bens), Invalid)
    assert isinstance(await ann.refused("update_atlas", id=anns, parent_id=anns), Circular)


@behaviour("creo.atlas.nothing_to_update")
async def test_an_update_that_changes_nothing_is_refused(talk: CreoConversation) -> None:
    said = await talk.invalid("update_atlas", id=await plant(talk))
    assert said == "name: there is nothing to update: give a name, a description, metadata or parent_id"


# delete_atlas


@behaviour("creo.atlas.delete")
async def test_what_an_atlas_held_moves_to_its_parent(talk: CreoConversation) -> None:
    top = await plant(talk, "上")
    middle = await plant(talk, "中", parent_id=top)
    await plant(talk, "下", parent_id=middle)
    word = unique()
    memory = await talk.remember(f"{word} の計画", atlasId=middle)
    gone = await talk.call("delete_atlas", id=middle)
    told = {"childrenMoved": 1, "memoriesMoved": 1, "movedTo": top}
    assert gone == {"id": middle, "name": "中", "deleted": True, **told}
    found = (await talk.call("search", query=word, atlasId=top))["results"]
    assert [(one["id"], one["atlasId"]) for one in found] == [(memory, top)]
    assert await names(talk, parent_id=top) == ["下"]
    assert (await talk.refused("delete_atlas", id=middle)).startswith("Atlasが見つかりません: ")
    empty = await plant(talk, "空", parent_id=top)
    assert await talk.says("delete_atlas", id=empty) == (
        "✅ Atlasを削除しました: 「空」（メモリ0件、子Atlas0件: 親Atlasへ移動）"
    )


@behaviour("creo.atlas.delete_root")
async def test_what_a_root_held_goes_to_who_wrote_it(ann: Speaker, ben: Speaker) -> None:
    top = await plant(ann, "上")
    await plant(ann, "下", parent_id=top)
    await share(ann, top, ben, "write")
    word = unique()
    mine, his = await ann.remember(f"{word} ann", atlasId=top), await ben.remember(f"{word} ben", atlasId=top)
    answer = await ann.answer("delete_atlas", id=top)
    assert (answer.value["childrenMoved"], answer.value["memoriesMoved"], answer.value["movedTo"]) == (1, 2, "authors")
    assert answer.text == (
        "✅ Atlasを削除しました: 「上」（メモリ2件、子Atlas1件: 作成者のメモリへ、子Atlasはルートへ移動）"
    )
    for speaker, memory in ((ann, mine), (ben, his)):
        found = (await speaker.call("search", query=word))["results"]
        assert [(one["id"], one["atlasId"]) for one in found] == [(memory, None)]
    assert await names(ann) == ["下"]


# Who may


@behaviour("creo.atlas.permissions")
async def test_each_right_allows_what_it_says(ann: Speaker, ben: Speaker) -> None:
    for permission, allowed in (("read", 0), ("write", 2), ("admin", 4)):
        top = await plant(ann)
        child = await plant(ann, parent_id=top)
        await share(ann, top, ben, permission)
        assert (await ben.call("get_atlas_tree", atlas_id=top))["tree"]["permission"] == permission
        acts: list[tuple[str, dict[str, Any]]] = [
            ("create_atlas", {"name": "x", "parent_id": top}),
            ("update_atlas", {"id": child, "name": "x"}),
            ("update_atlas", {"id": child, "parent_id": top}),
            ("delete_atlas", {"id": child}),
        ]
        for number, (tool, arguments) in enumerate(acts):
            if number < allowed:
                await ben.call(tool, **arguments)
            else:
                assert isinstance(await ben.refused(tool, **arguments), Forbidden), (permission, tool)


@behaviour("creo.atlas.absent")
async def test_an_atlas_of_someone_else_is_as_if_it_were_not_there(ann: Speaker, ben: Speaker) -> None:
    hers, his = await plant(ann), await plant(ben)
    for tool, arguments in (
        ("create_atlas", {"name": "x", "parent_id": "?"}),
        ("list_atlas", {"parent_id": "?"}),
        ("get_atlas_tree", {"atlas_id": "?"}),
        ("update_atlas", {"id": "?", "name": "x"}),
        ("update_atlas", {"id": his, "parent_id": "?"}),
        ("delete_atlas", {"id": "?"}),
        ("remember", {"content": "x", "atlasId": "?"}),
    ):
        for atlas in (hers, ABSENT):
            given = {name: atlas if value == "?" else value for name, value in arguments.items()}
            error = await ben.refused(tool, **given)
            assert isinstance(error, NotFound), (tool, error)
            assert error.message == f"no atlas '{atlas.removeprefix('atlas:')}'"


@behaviour("creo.atlas.limited_key")
async def test_a_key_that_opens_an_atlas_opens_nothing_else(ann: Speaker, settings: Settings) -> None:
    top, other = await plant(ann, "上"), await plant(ann, "他")
    child = await plant(ann, "子", parent_id=top)
    key = limited(ann, settings, top, child)
    assert await names(key) == ["上"]
    assert (await key.call("get_atlas_tree", atlas_id=top))["tree"]["permission"] == "write"
    assert isinstance(await key.refused("get_atlas_tree", atlas_id=other), NotFound)
    assert (await key.call("create_atlas", name="下", parent_id=child))["parent_id"] == child
    for tool, arguments in (
        ("create_atlas", {"name": "根"}),
        ("update_atlas", {"id": child, "parent_id": None}),
        ("delete_atlas", {"id": child}),
    ):
        assert isinstance(await key.refused(tool, **arguments), Forbidden), tool


@behaviour("creo.atlas.hostile_names")
async def test_a_name_cannot_pose_as_something_else(talk: CreoConversation) -> None:
    made = await talk.call("create_atlas", name=HOSTILE)
    assert made["name"] == HOSTILE
    said = await talk.says("get_atlas_tree", atlas_id=made["id"])
    assert len(said.splitlines()) == 1
    assert "\u202e" not in said
    assert said.startswith("🗂 「『』 # 指示<script>長")
    assert len(said) < 150
