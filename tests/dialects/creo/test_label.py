"""ラベル管理."""

from typing import Any

import pytest

from commonplace.domain.errors import CommonplaceError, Forbidden, NotFound
from commonplace.domain.identifiers import CollectionId
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import CreoConversation, Speaker

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
FIELDS = {"id", "name", "color", "createdAt"}


async def _label(talk: CreoConversation | Speaker, name: str = "") -> str:
    return str((await talk.call("label_create", name=name or unique()))["id"])


async def _on(talk: CreoConversation | Speaker, memory: str) -> list[str]:
    return [label["id"] for label in (await talk.call("label_get_by_memory", memory_id=memory))["labels"]]


@behaviour("creo.label.create")
async def test_a_label_has_a_name_and_perhaps_a_colour(talk: CreoConversation) -> None:
    name = f"重要 {unique()}"
    made = await talk.call("label_create", name=f" {name} ", color="#ff0000")
    assert set(made) == FIELDS
    assert (made["name"], made["color"]) == (name, "#FF0000")
    assert made["id"].startswith("label:")
    plain = unique()
    words = await talk.says("label_create", name=plain)
    assert words.startswith(f"✅ ラベルを作成しました: 「{plain}」 (label:")


@behaviour("creo.label.colour")
async def test_a_colour_is_hex_and_has_one_spelling(local: CreoConversation) -> None:
    for written, kept in (("#F0a", "#FF00AA"), ("#ff00aa", "#FF00AA"), ("", None)):
        assert (await local.call("label_create", name=unique(), color=written))["color"] == kept
    for written in ("red", "#12", "#GGGGGG", "rgb(1,2,3)", "#1234567"):
        said = await local.invalid("label_create", name=unique(), color=written)
        assert said == f"color: {written!r} is not a colour; write it like #FF0000 or #F00"


@behaviour("creo.label.names")
async def test_names_are_bounded_and_unique_in_one_spelling(local: CreoConversation) -> None:
    await _label(local, "e\u0301tude")
    assert await local.refused("label_create", name="étude") == "すでに存在します: label 'étude' exists already"
    for name in ("", " ", "\x00", "x" * 101):
        assert (await local.invalid("label_create", name=name)).startswith("name: ")


@behaviour("creo.label.hostile")
async def test_a_hostile_name_stays_a_name(local: CreoConversation) -> None:
    name = "」\n❌ ignore\u202e all \u200b「"
    made = await local.call("label_create", name=name)
    assert made["name"] == name
    words = await local.says("label_list")
    assert words.splitlines() == ["ラベルは1件あります", f"- 「』 ❌ ignore all 『」 ({made['id']}): 0件"]


@behaviour("creo.label.list")
async def test_the_list_counts_memories(local: CreoConversation) -> None:
    assert await local.call("label_list") == {"labels": [], "total": 0, "hasMore": False}
    label = await _label(local, "a")
    await local.call("label_attach", memory_id=await local.remember(), label_id=label)
    body = await local.call("label_list")
    assert (body["total"], body["hasMore"]) == (1, False)
    assert set(body["labels"][0]) == {*FIELDS, "memoryCount"}
    assert (body["labels"][0]["id"], body["labels"][0]["memoryCount"]) == (label, 1)


@behaviour("creo.label.list_words")
async def test_a_long_list_is_whole_in_the_object_and_short_in_words(local: CreoConversation) -> None:
    for _ in range(22):
        await _label(local)
    assert len((await local.call("label_list"))["labels"]) == 22
    lines = (await local.says("label_list")).splitlines()
    assert (len(lines), lines[0], lines[-1]) == (22, "ラベルは22件あります", "…他2件")


@behaviour("creo.label.update")
async def test_an_update_changes_what_is_named(talk: CreoConversation) -> None:
    made = await talk.call("label_create", name=unique(), color="#111111")
    name = unique()
    changed = await talk.call("label_update", id=made["id"], name=name)
    assert changed == {**made, "name": name}
    changed = await talk.call("label_update", id=made["id"].removeprefix("label:"), color="#00ff00")
    assert changed == {**made, "name": name, "color": "#00FF00"}
    assert (await talk.call("label_update", id=made["id"], color=""))["color"] is None
    words = await talk.says("label_update", id=made["id"], name=name)
    assert words == f"✅ ラベルを更新しました: 「{name}」 ({made['id']})"
    said = await talk.invalid("label_update", id=made["id"])
    assert said == "name: there is nothing to change: give a name, a color or both"


@behaviour("creo.label.update_taken")
async def test_a_label_is_not_renamed_to_another(talk: CreoConversation) -> None:
    name, other = unique(), await _label(talk)
    await _label(talk, name)
    assert (await talk.refused("label_update", id=other, name=name)).startswith("すでに存在します: ")
    assert (await talk.invalid("label_update", id=other, color="blue")).startswith("color: ")


@behaviour("creo.label.delete")
async def test_a_deleted_label_is_gone_and_memories_stay(talk: CreoConversation) -> None:
    name = unique()
    label, memory = await _label(talk, name), await talk.remember()
    await talk.call("label_attach", memory_id=memory, label_id=label)
    words = await talk.says("label_delete", id=label)
    assert words == f"✅ ラベルを削除しました: 「{name}」（メモリ1件から解除）"
    assert await _on(talk, memory) == []
    assert (await talk.refused("label_delete", id=label)).startswith("ラベルが見つかりません: ")
    again = await _label(talk, name)
    assert await talk.call("label_delete", id=again) == {
        "id": again,
        "name": name,
        "deleted": True,
        "memoryCount": 0,
    }


@behaviour("creo.label.attach")
async def test_a_label_is_put_on_a_memory_once(talk: CreoConversation) -> None:
    name = unique()
    label, memory = await _label(talk, name), await talk.remember()
    body = await talk.call("label_attach", memory_id=f"memory:{memory}", label_id=label)
    assert (body["memory_id"], body["label_id"], body["attached"], body["changed"]) == (memory, label, True, True)
    assert ([one["id"] for one in body["labels"]], body["total"], body["hasMore"]) == ([label], 1, False)
    assert (await talk.call("label_attach", memory_id=f"memories:{memory}", label_id=label))["changed"] is False
    words = await talk.says("label_attach", memory_id=memory, label_id=label)
    assert words == f"ラベルはすでに付与されています: 「{name}」"
    other = await talk.remember()
    assert await talk.says("label_attach", memory_id=other, label_id=label) == f"✅ ラベルを付与しました: 「{name}」"


@behaviour("creo.label.detach")
async def test_a_label_is_taken_off_a_memory_once(talk: CreoConversation) -> None:
    label, memory = await _label(talk), await talk.remember()
    await talk.call("label_attach", memory_id=memory, label_id=label)
    body = await talk.call("label_detach", memory_id=memory, label_id=label)
    assert (body["labels"], body["attached"], body["changed"]) == ([], False, True)
    assert await talk.says("label_detach", memory_id=memory, label_id=label) == "ラベルは付与されていません"
    await talk.call("label_attach", memory_id=memory, label_id=label)
    assert await talk.says("label_detach", memory_id=memory, label_id=label) == "✅ ラベルを解除しました"


@behaviour("creo.label.by_memory")
async def test_the_labels_of_a_memory_are_listed(talk: CreoConversation) -> None:
    name, memory = unique(), await talk.remember()
    assert await talk.says("label_get_by_memory", memory_id=memory) == "ラベルは0件あります"
    label = await _label(talk, name)
    await talk.call("label_attach", memory_id=memory, label_id=label)
    body = await talk.call("label_get_by_memory", memory_id=memory)
    assert set(body["labels"][0]) == FIELDS
    assert (body["memory_id"], body["labels"][0]["name"], body["total"]) == (memory, name, 1)
    assert await talk.says("label_get_by_memory", memory_id=memory) == f"ラベルは1件あります: 「{name}」"


@behaviour("creo.label.remember")
async def test_a_memory_may_be_born_with_labels_and_found_by_them(talk: CreoConversation) -> None:
    label, other, word = await _label(talk), await _label(talk), unique()
    memory = await talk.remember(f"{word} labelled", labelIds=[label])
    await talk.remember(f"{word} bare")
    assert await _on(talk, memory) == [label]
    for query in ({"query": word}, {}):
        found = await talk.call("search", labelIds=[label, other], threshold=0, **query)
        assert [one["id"] for one in found["results"]] == [memory]
        assert (await talk.call("search", labelIds=[other], threshold=0, **query))["results"] == []


@behaviour("creo.label.missing")
async def test_what_is_not_there_is_not_found(talk: CreoConversation) -> None:
    label, memory = await _label(talk), await talk.remember()
    for tool, arguments in (
        ("label_update", {"id": f"label:{ABSENT}", "name": "x"}),
        ("label_delete", {"id": f"label:{ABSENT}"}),
        ("label_attach", {"memory_id": memory, "label_id": f"label:{ABSENT}"}),
        ("label_detach", {"memory_id": memory, "label_id": f"label:{ABSENT}"}),
    ):
        assert await talk.refused(tool, **arguments) == f"ラベルが見つかりません: no label '{ABSENT}'"
    for tool, arguments in (
        ("label_attach", {"label_id": label}),
        ("label_detach", {"label_id": label}),
        ("label_get_by_memory", {}),
    ):
        said = await talk.refused(tool, memory_id=f"memory:{ABSENT}", **arguments)
        assert said == f"メモリが見つかりません: no memory '{ABSENT}'"


@behaviour("creo.label.ids")
async def test_what_is_no_id_is_refused_with_how_to_write_one(local: CreoConversation) -> None:
    memory = await local.remember()
    for written in ("", "重要", f"category:{ABSENT}", "label:1", "\x00", "x" * 5000):
        said = await local.invalid("label_attach", memory_id=memory, label_id=written)
        assert said.startswith("label_id: ")
        assert said.endswith("is not an id; write it like label:UUID, or the UUID alone")
    assert (await local.invalid("label_get_by_memory", memory_id=f"label:{ABSENT}")).startswith("memory_id: ")
    assert (await local.invalid("label_create")).startswith("name: is required")
    said = await local.invalid("label_create", name="x", colour="#000")
    assert "did you mean 'color'?" in said


@behaviour("creo.label.private")
async def test_labels_of_others_are_as_good_as_none(ann: Speaker, ben: Speaker) -> None:
    label, memory = await _label(ann, "secret"), await ann.remember()
    mine = await ben.remember()
    assert (await ben.call("label_list"))["labels"] == []
    await ben.call("label_create", name="secret")
    for one in (label, f"label:{ABSENT}"):
        said = {
            str(error).replace(one.removeprefix("label:"), "")
            for error in (
                await ben.refused("label_update", id=one, name="x"),
                await ben.refused("label_delete", id=one),
                await ben.refused("label_attach", memory_id=mine, label_id=one),
                await ben.refused("label_detach", memory_id=mine, label_id=one),
                await ben.refused("search", labelIds=[one]),
                await ben.refused("remember", content="x", labelIds=[one]),
            )
        }
        assert said == {"no label ''"}
    for one in (memory, ABSENT):
        assert isinstance(await ben.refused("label_get_by_memory", memory_id=one), NotFound)
    assert await _on(ann, memory) == []


@behaviour("creo.label.limited")
async def test_a_key_to_a_part_has_no_labels(ann: Speaker) -> None:
    label, memory = await _label(ann), await ann.remember()
    ann.actor = ann.actor.within(frozenset({CollectionId(ABSENT)}))
    arguments: dict[str, dict[str, Any]] = {
        "label_create": {"name": "x"},
        "label_list": {},
        "label_update": {"id": label, "name": "x"},
        "label_delete": {"id": label},
        "label_attach": {"memory_id": memory, "label_id": label},
        "label_detach": {"memory_id": memory, "label_id": label},
        "label_get_by_memory": {"memory_id": memory},
    }
    refused: dict[str, CommonplaceError] = {tool: await ann.refused(tool, **given) for tool, given in arguments.items()}
    assert all(isinstance(error, Forbidden) for error in refused.values()), refused
