"""add_alias and delete_memory: several ways to a memory, and none."""

import anyio
import pytest

from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import children, content, number, plant, pruned

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


async def _alias(talk: ProseConversation, target: str, new: str = "", **more: int | str) -> str:
    new = new or f"notes://{unique()}"
    await talk.call("add_alias", new_uri=new, target_uri=target, **more)
    return new


@behaviour("nocturne.add_alias.answer", "nocturne.add_alias.same_text")
async def test_an_alias_is_the_same_text_and_follows_every_edit(talk: ProseConversation) -> None:
    uri = await plant(talk, content="text")
    alias = f"notes://{unique()}"
    said = await talk.call("add_alias", new_uri=alias, target_uri=uri)
    assert said == f"Success: Alias '{alias}' now points to the same memory as '{uri}'"
    assert await number(talk, uri) == await number(talk, alias)
    await talk.call("update_memory", uri=uri, append=" edited")
    assert await content(talk, alias) == "text edited"
    await talk.call("update_memory", uri=alias, old_string="edited", new_string="again")
    assert await content(talk, uri) == "text again"


@behaviour("nocturne.add_alias.own_metadata")
async def test_an_alias_has_its_own_priority_and_disclosure(talk: ProseConversation) -> None:
    uri = await plant(talk, priority=5, disclosure="always")
    alias, plain = await _alias(talk, uri, priority=9, disclosure="never"), await _alias(talk, uri)
    assert "Priority: 9\nDisclosure: never\n" in await talk.call("read_memory", uri=alias)
    assert "Priority: 0\nDisclosure: (not set)\n" in await talk.call("read_memory", uri=plain)
    await talk.call("update_memory", uri=alias, priority=1, disclosure="")
    assert "Priority: 5\nDisclosure: always\n" in await talk.call("read_memory", uri=uri)
    assert "Priority: 1\nDisclosure: (not set)\n" in await talk.call("read_memory", uri=alias)


@behaviour("nocturne.add_alias.children")
async def test_children_are_reached_through_every_alias(talk: ProseConversation) -> None:
    uri = await plant(talk)
    alias = await _alias(talk, uri)
    below = await plant(talk, uri, "child", title="below")
    assert await children(talk, alias) == [f"{alias}/below"]
    assert await content(talk, f"{alias}/below") == "child"
    deeper = await plant(talk, f"{alias}/below", "grandchild", title="deeper")
    assert deeper == f"{alias}/below/deeper"
    assert await content(talk, f"{below}/deeper") == "grandchild"
    assert await plant(talk, alias, title=None) == f"{alias}/1"
    assert await plant(talk, uri, title=None) == f"{uri}/2"


@behaviour("nocturne.add_alias.no_circle")
async def test_no_circle_can_arise(talk: ProseConversation) -> None:
    uri = await plant(talk)
    below = await plant(talk, uri, title="below")
    deeper = await plant(talk, below, title="deeper")
    alias = await _alias(talk, below)
    for new, target in ((f"{uri}/x", uri), (f"{deeper}/x", uri), (f"{alias}/deeper/x", uri), (f"{below}/x", alias)):
        said = await talk.refused("add_alias", new_uri=new, target_uri=target)
        assert said == (
            f"'{new}' would lie below '{target}' itself: the tree would run in a circle. "
            "Choose a place that is not below the target."
        )
    assert await _alias(talk, deeper, f"{uri}/shortcut")


@behaviour("nocturne.add_alias.no_circle")
async def test_no_circle_arises_when_two_aliases_are_made_at_once(talk: ProseConversation) -> None:
    one, two = await plant(talk), await plant(talk)
    outcomes: list[bool] = []

    async def alias(new: str, target: str) -> None:
        outcomes.append((await talk.answer("add_alias", new_uri=new, target_uri=target)).is_error or False)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(alias, f"{one}/x", two)
        tasks.start_soon(alias, f"{two}/x", one)
    assert sorted(outcomes) == [False, True]
    assert one in await talk.call("read_memory", uri="system://index")


@behaviour("nocturne.add_alias.refusals")
async def test_an_alias_needs_a_free_name_a_parent_and_a_target(talk: ProseConversation) -> None:
    uri, other = await plant(talk), await plant(talk)
    assert await talk.refused("add_alias", new_uri=uri, target_uri=other) == (
        f"Path '{uri}' already exists. Choose another name, or change what is there with update_memory."
    )
    absent = f"core://{unique()}"
    assert f"Parent '{absent}' does not exist." in await talk.refused(
        "add_alias", new_uri=f"{absent}/x", target_uri=uri
    )
    assert f"URI '{absent}' not found." in await talk.refused("add_alias", new_uri="notes://x", target_uri=absent)
    assert "may hold only letters" in await talk.refused("add_alias", new_uri="notes://a b", target_uri=uri)
    assert "give a path in it" in await talk.refused("add_alias", new_uri="notes://", target_uri=uri)
    assert "not a memory" in await talk.refused("add_alias", new_uri="notes://x", target_uri="core://")
    assert "priority" in await talk.refused("add_alias", new_uri="notes://x", target_uri=uri, priority=-1)


@behaviour("nocturne.delete_memory.answer", "nocturne.delete_memory.other_paths")
async def test_deleting_removes_one_path_and_leaves_the_others(talk: ProseConversation) -> None:
    uri = await plant(talk, content="text")
    alias = await _alias(talk, uri)
    said = await talk.call("delete_memory", uri=uri)
    assert said == f"Success: Memory '{uri}' deleted.\nThe memory is still at {alias}."
    assert "not found" in await talk.refused("read_memory", uri=uri)
    assert await content(talk, alias) == "text"


@behaviour("nocturne.delete_memory.last_path", "nocturne.delete_memory.orphans")
async def test_a_memory_that_loses_its_last_path_is_kept_and_can_be_placed_again(talk: ProseConversation) -> None:
    text = unique()
    uri = await plant(talk, content=text, disclosure="always")
    said = await talk.call("delete_memory", uri=uri)
    itself = said.partition("The text is kept: ")[2].partition(" ")[0]
    assert said == (
        f"Success: Memory '{uri}' deleted.\n"
        f"That was its last path. The text is kept: {itself} (add_alias gives it a path again)."
    )
    listed = await talk.call("read_memory", uri="memory://")
    assert f"- URI: {itself}  was: {uri}\n  Snippet: {text}" in listed
    assert itself in await talk.call("search_memory", query=text)
    again = await _alias(talk, itself)
    assert await content(talk, again) == text
    assert f"was: {uri}\n" not in await talk.call("read_memory", uri="memory://")


@behaviour("nocturne.delete_memory.stranding")
async def test_children_are_never_left_without_a_path(talk: ProseConversation) -> None:
    uri = await plant(talk)
    first, second = await plant(talk, uri, title="1"), await plant(talk, uri, title="2")
    alias = await _alias(talk, second)
    said = await talk.refused("delete_memory", uri=uri)
    assert said == (
        f"'{uri}' has children that would be left without any path: {first}. "
        "Delete them first, or give them another path."
    )
    await talk.call("delete_memory", uri=first)
    assert "deleted" in await talk.call("delete_memory", uri=uri)
    assert "not found" in await talk.refused("read_memory", uri=second)
    assert await content(talk, alias)


@behaviour("nocturne.delete_memory.stranding")
async def test_a_parent_with_another_path_may_lose_one(talk: ProseConversation) -> None:
    uri = await plant(talk)
    below = await plant(talk, uri, title="below")
    alias = await _alias(talk, uri)
    await talk.call("delete_memory", uri=uri)
    assert "not found" in await talk.refused("read_memory", uri=below)
    assert await content(talk, f"{alias}/below")
    assert "left without any path" in await talk.refused("delete_memory", uri=alias)


@behaviour("nocturne.delete_memory.stranding")
async def test_very_many_children_are_not_all_named(talk: ProseConversation) -> None:
    uri = await plant(talk)
    for _ in range(12):
        await plant(talk, uri, "x", title=None)
    said = await talk.refused("delete_memory", uri=uri)
    assert said.count(f"{uri}/") == 10
    assert "and 2 more" in said


@behaviour("nocturne.delete_memory.refusals")
async def test_only_a_path_that_exists_can_be_deleted(talk: ProseConversation) -> None:
    uri = await plant(talk)
    await talk.call("delete_memory", uri=uri)
    assert f"URI '{uri}' not found." in await talk.refused("delete_memory", uri=uri)
    assert await talk.refused("delete_memory", uri="core://") == (
        "uri: core:// is the root of a domain and cannot be deleted."
    )


@behaviour("nocturne.delete_memory.name_is_free")
async def test_a_deleted_path_may_be_used_again(talk: ProseConversation) -> None:
    uri = await plant(talk, content="old")
    itself = await pruned(talk, uri)
    assert await plant(talk, content="new", title=uri.removeprefix("core://")) == uri
    assert (await content(talk, uri), await content(talk, itself)) == ("new", "old")


@behaviour("nocturne.delete_memory.orphans")
async def test_memories_without_a_path_are_counted_and_the_newest_shown(local: ProseConversation) -> None:
    assert "All without a path: 0" in await local.call("read_memory", uri="memory://")
    for _ in range(52):
        await local.call("delete_memory", uri=await plant(local, content="x"))
    page = await local.call("read_memory", uri="memory://")
    assert "Orphans, which have lost their last path: 52, newest first" in page
    assert "All without a path: 52, newest first" in page
    assert page.count("... and 2 more") == 2
