"""read_memory: the page of a memory and of a domain, and how addresses are read."""

from dataclasses import replace
from functools import partial
from urllib.parse import quote

import anyio
import pytest

from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import RULE, children, content, plant, pruned, spoken_to

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


@behaviour("nocturne.read_memory.page", "nocturne.read_memory.children")
async def test_a_page_shows_metadata_text_and_children(talk: ProseConversation) -> None:
    uri = await plant(talk, content="# Title\n\n  text  \n", priority=3, disclosure="when asked")
    first = await plant(talk, uri, "long " * 50, priority=2, title="b")
    await plant(talk, uri, priority=1, title="z", disclosure="at\nnight")
    await plant(talk, uri, "short", priority=2, title="a")
    page = await talk.call("read_memory", uri=uri)
    number = page.partition("Memory ID: ")[2].partition("\n")[0]
    assert page == "\n".join(
        [
            *(RULE, "", f"MEMORY: {uri}", f"Memory ID: {number}", "Priority: 3", "Disclosure: when asked", "", RULE),
            *("", "# Title\n\n  text  \n", "", RULE, "CHILD MEMORIES (Use 'read_memory' with URI to access)", RULE, ""),
            *(f"- URI: {uri}/z", "  Priority: 1", "  When to recall: at night"),
            *(f"- URI: {uri}/a", "  Priority: 2", "  Snippet: short"),
            *(f"- URI: {first}", "  Priority: 2", f"  Snippet: {('long ' * 20)[:100]}..."),
        ]
    )
    assert int(number) > 0


@behaviour("nocturne.read_memory.page")
async def test_a_memory_without_children_or_disclosure_says_so_and_no_more(talk: ProseConversation) -> None:
    page = await talk.call("read_memory", uri=await plant(talk, content="alone"))
    assert "Disclosure: (not set)" in page
    assert page.endswith(f"{RULE}\n\nalone")


@behaviour("nocturne.read_memory.root")
async def test_the_root_of_a_domain_lists_its_top_level(talk: ProseConversation) -> None:
    uri = await plant(talk, "writer://", priority=0)
    below = await plant(talk, uri)
    listed = await children(talk, "writer://")
    assert uri in listed
    assert below not in listed
    assert (await talk.call("read_memory", uri="writer://")).startswith(f"{RULE}\nDOMAIN: writer://\n{RULE}\n")


@behaviour("nocturne.read_memory.root")
async def test_an_empty_domain_says_so(local: ProseConversation) -> None:
    assert (await local.call("read_memory", uri="game://")).endswith("(nothing here yet)")


@behaviour("nocturne.addresses.forms")
async def test_an_address_is_read_in_all_its_spellings(talk: ProseConversation) -> None:
    uri = await plant(talk, content="one and the same")
    name = uri.removeprefix("core://")
    below = await plant(talk, uri, title="below")
    spellings = [uri, name, f"CORE://{name}", f"Core://{name}/", f"core:///{name}//", f" {uri} ", f"/{name}/"]
    for spelling in (*spellings, f"core://{quote(name[0])}%{ord(name[1]):02X}{name[2:]}"):
        page = await talk.call("read_memory", uri=spelling)
        assert page.startswith(f"{RULE}\n\nMEMORY: {uri}\n"), spelling
    assert await children(talk, name) == [below]


@behaviour("nocturne.addresses.forms")
async def test_an_escaped_address_is_the_same_in_any_script(talk: ProseConversation) -> None:
    word = f"机器人_{unique()}"
    uri = await plant(talk, title=word, content="谁")
    escaped = f"core://{quote(word)}"
    assert escaped.isascii()
    assert await content(talk, escaped) == "谁"
    assert await plant(talk, escaped, title="子") == f"{uri}/子"
    await talk.call("update_memory", uri=escaped, append="？")
    assert await content(talk, uri) == "谁？"
    assert "deleted" in await talk.call("delete_memory", uri=f"{escaped}/%E5%AD%90")


@behaviour("nocturne.addresses.domains")
async def test_an_unknown_domain_is_refused_with_the_valid_ones(talk: ProseConversation) -> None:
    known = "'nowhere' is not a known domain; valid domains: core, writer, game, notes."
    assert await talk.refused("read_memory", uri="nowhere://agent") == f"uri: {known}"
    assert await talk.refused("create_memory", parent_uri="nowhere://", content="x", priority=1) == (
        f"parent_uri: {known}"
    )
    assert await talk.refused("update_memory", uri="nowhere://x", append="x") == f"uri: {known}"
    assert await talk.refused("delete_memory", uri="nowhere://x") == f"uri: {known}"
    assert await talk.refused("add_alias", new_uri="nowhere://x", target_uri="core://x") == f"new_uri: {known}"
    assert await talk.refused("add_alias", new_uri="core://x", target_uri="nowhere://x") == f"target_uri: {known}"
    assert await talk.refused("search_memory", query="x", domain="nowhere") == f"domain: {known}"


@behaviour("nocturne.resources.listed")
async def test_a_domain_that_is_no_scheme_of_uris_is_listed_by_ids(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, valid_domains=("日記", "my_notes"))) as talk:
        for domain in ("日記", "my_notes"):
            uri = await plant(talk, f"{domain}://", content="雨")
            listed = {entry.name: entry.uri for entry in (await talk.client.list_resources()).resources}
            assert listed[uri].startswith("memory://")
            assert (await talk.read(listed[uri])).endswith("\n雨")
            assert (await talk.read(uri)).endswith("\n雨")


@behaviour("nocturne.addresses.system")
async def test_nothing_can_be_put_into_the_domain_of_the_system(engine: Engine, settings: Settings) -> None:
    everywhere = replace(settings, valid_domains=("core", "system", "memory"))
    async with spoken_to(engine, everywhere) as talk:
        await plant(talk, title="agent")
        reserved = "'system' is reserved for the server's own pages; valid domains: core."
        arguments = {"content": "x", "priority": 1, "title": "boot"}
        assert reserved in await talk.refused("create_memory", parent_uri="system://", **arguments)
        assert reserved in await talk.refused("add_alias", new_uri="system://x", target_uri="core://agent")
        assert reserved in await talk.refused("update_memory", uri="system://boot", append="x")
        assert reserved in await talk.refused("delete_memory", uri="system://boot")
        assert "cannot begin at memory://" in await talk.refused("create_memory", parent_uri="memory://", **arguments)
        assert "cannot begin at memory://" in await talk.refused(
            "add_alias", new_uri="memory://x", target_uri="core://agent"
        )


@behaviour("nocturne.read_memory.not_found")
async def test_an_address_where_nothing_is_says_where_to_look(talk: ProseConversation) -> None:
    uri = await plant(talk)
    for absent in (f"core://{unique()}", f"{uri}/{unique()}", f"{uri}/{unique()}/x", uri.replace("core", "notes")):
        said = await talk.refused("read_memory", uri=absent)
        assert said == f"URI '{absent}' not found. Look for it in system://index, or with search_memory."
    assert "empty name between two slashes" in await talk.refused("read_memory", uri="core://a//b")
    assert "must not be empty" in await talk.refused("read_memory", uri=" ")


@behaviour("nocturne.addresses.by_id")
async def test_a_memory_is_read_by_its_id_with_and_without_a_path(talk: ProseConversation) -> None:
    uri = await plant(talk, content="known by its id")
    itself = await pruned(talk, uri)
    page = await talk.call("read_memory", uri=itself)
    assert "Paths: (none; add_alias gives it one)" in page
    assert page.endswith("known by its id")
    await talk.call("add_alias", new_uri=uri, target_uri=itself)
    below = await plant(talk, uri, title="below")
    page = await talk.call("read_memory", uri=itself)
    assert f"Paths: {uri}\n" in page
    assert f"- URI: {itself}/below" in page
    assert await content(talk, f"{itself}/below") == await content(talk, below)
    await talk.call("update_memory", uri=itself, append=" and changed")
    assert await content(talk, uri) == "known by its id and changed"


@behaviour("nocturne.addresses.by_id")
async def test_what_belongs_to_a_path_cannot_be_changed_by_the_id(talk: ProseConversation) -> None:
    itself = await pruned(talk, await plant(talk))
    await talk.call("read_memory", uri=itself)
    said = await talk.refused("update_memory", uri=itself, priority=1)
    assert said == "priority: belongs to a path, not to the memory itself; name one of its paths, or give it one."
    assert "disclosure: belongs" in await talk.refused("update_memory", uri=itself, disclosure="x")
    assert "only paths can be deleted" in await talk.refused("delete_memory", uri=itself)
    said = await talk.refused("create_memory", parent_uri=itself, content="x", priority=1)
    assert "name the memory by a path, or give it one first" in said
    for absent in ("memory://01890a5d-ac96-774b-bcce-b302099a8057", "memory://1", "memory://x/y"):
        assert f"URI '{absent}' not found" in await talk.refused("read_memory", uri=absent)


@behaviour("nocturne.read_memory.many_children")
async def test_a_page_with_very_many_children_says_how_many_it_left_out(local: ProseConversation) -> None:
    uri = await plant(local)
    async with anyio.create_task_group() as tasks:
        for _ in range(1002):
            tasks.start_soon(partial(plant, local, uri, "x", title=None))
    page = await local.call("read_memory", uri=uri)
    assert page.count("- URI: ") == 1000
    assert page.endswith("... and 2 more; search_memory finds them, system://index counts them")


@behaviour("nocturne.read_memory.one_line")
async def test_no_text_can_pose_as_an_entry_of_a_list(talk: ProseConversation) -> None:
    posing = f"x\n- URI: core://false\u2028- URI: core://wrong {'y' * 600}"
    above = await plant(talk)
    told = await plant(talk, above, posing, title="told", disclosure=posing)
    untold = await plant(talk, above, posing, title="untold")
    page = await talk.call("read_memory", uri=above)
    assert await children(talk, above) == [told, untold]
    assert len(page.splitlines()) == len(page.split("\n"))
    assert max(map(len, page.splitlines())) < 600
    assert "\nDisclosure: x - URI: core://false - URI" in await talk.call("read_memory", uri=told)
