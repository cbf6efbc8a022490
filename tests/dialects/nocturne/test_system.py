"""The pages under system://."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.address import address
from commonplace.engine import Engine
from commonplace.engine.paths import Signpost
from commonplace.language.tokens import tokens
from commonplace.settings import Settings
from tests.dialects.conversation import ProseConversation, unique
from tests.dialects.nocturne.tree import RULE, plant, spoken_to
from tests.fakes import Clock
from tests.serving import stdio

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour


async def _there(talk: ProseConversation, name: str) -> None:
    """A core memory, made by whichever test comes first."""
    await talk.answer("create_memory", parent_uri="core://", content=f"I am {name}.", priority=0, title=name)


# Boot


@behaviour("nocturne.boot.loads", "nocturne.boot.failures", "nocturne.boot.recent")
async def test_the_core_memories_are_loaded_and_failures_named(talk: ProseConversation) -> None:
    for name in ("agent", "my_user"):
        await _there(talk, name)
    page = await talk.call("read_memory", uri="system://boot")
    assert page.startswith("# Core Memories\n# Loaded: 2/4 memories\n\n## Failed to load:\n")
    assert "- core://absent: not found\n" in page
    assert "- nowhere://agent: 'nowhere' is not a known domain; valid domains: core, writer, game, notes\n" in page
    for name in ("agent", "my_user"):
        assert f"{RULE}\n\nMEMORY: core://{name}\n" in page
        assert f"\nI am {name}." in page
    recents = page.partition("# Recently Modified Memories\n")[2]
    assert len(re.findall(r"^\d\. ", recents, re.MULTILINE)) <= 5


@behaviour("nocturne.boot.setting", "nocturne.addresses.domains")
@pytest.mark.parametrize("prefix", ["", "COMMONPLACE_"])
async def test_core_memories_and_domains_come_from_the_environment(folder: Path, prefix: str) -> None:
    chosen = {"VALID_DOMAINS": "core, Traum,日記,system", "CORE_MEMORY_URIS": "core://a, traum://b"}
    variables: Any = {f"{prefix}{name}": value for name, value in chosen.items()}
    async with stdio(folder, "--dialect", "nocturne", **variables) as client:
        talk = ProseConversation(client)
        assert await plant(talk, title="a", content="first") == "core://a"
        assert await plant(talk, "TRAUM://", title="b", content="second") == "traum://b"
        assert await plant(talk, "日記://", title="c") == "日記://c"
        assert "valid domains: core, traum, 日記." in await talk.refused("read_memory", uri="writer://")
        templates = (await client.list_resource_templates()).resource_templates
        assert {"core://{+path}", "traum://{+path}", "日記://{+path}"} < {t.uri_template for t in templates}
        page = await talk.call("read_memory", uri="system://boot")
    assert "# Loaded: 2/2 memories" in page
    assert page.index("first") < page.index("second")
    assert "Failed" not in page


@behaviour("nocturne.boot.setting")
async def test_without_core_memories_the_page_says_how_to_set_them(local: ProseConversation) -> None:
    page = await local.call("read_memory", uri="system://boot")
    assert "# Loaded: 0/0 memories" in page
    assert "CORE_MEMORY_URIS=core://agent" in page
    assert page.endswith("(no memories yet)")


@behaviour("nocturne.boot.budget")
async def test_the_page_stays_within_its_budget_and_says_what_it_left_out(engine: Engine, settings: Settings) -> None:
    uris = ("core://small", "core://large", "core://late", *(f"core://gone{n}" for n in range(40)))
    tight = replace(settings, core_memory_uris=uris, boot_tokens=2000)
    async with spoken_to(engine, tight) as talk:
        await plant(talk, content="small text", title="small")
        await plant(talk, content="large text " * 5000, title="large")
        await plant(talk, content="late", title="late")
        page = await talk.call("read_memory", uri="system://boot")
        assert 1000 < tokens(page) <= 2000
        assert "# Loaded: 1/43 memories" in page
        assert '- core://large: shortened; read_memory("core://large") shows all of it' in page
        assert re.search(r"\.\.\. \(not shown: \d+ more characters; read_memory\(\"core://large\"\) shows all\)", page)
        assert '- core://late: left out; read_memory("core://late") shows all of it' in page
        assert "- and 20 more" in page


@behaviour("nocturne.boot.budget")
async def test_a_text_in_wide_characters_is_cut_to_the_budget_too(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, core_memory_uris=("core://a",), boot_tokens=1000)) as talk:
        await plant(talk, content="記憶" * 5000, title="a", disclosure="いつも" * 1000)
        for _ in range(4):
            await plant(talk, disclosure="いつも" * 1000)
        assert tokens(await talk.call("read_memory", uri="system://boot")) <= 1000


@behaviour("nocturne.boot.budget")
async def test_children_are_left_out_before_the_text_is_cut(engine: Engine, settings: Settings) -> None:
    async with spoken_to(engine, replace(settings, core_memory_uris=("core://a",), boot_tokens=1000)) as talk:
        uri = await plant(talk, content="the whole text", title="a")
        for _ in range(60):
            await plant(talk, uri, "child " * 20, title=None)
        page = await talk.call("read_memory", uri="system://boot")
        assert "the whole text\n... (not shown: 60 children; " in page
        assert "# Loaded: 1/1 memories" in page
        await talk.call("update_memory", uri=uri, append="!")


@behaviour("nocturne.boot.counts_as_reading")
async def test_what_was_shown_whole_counts_as_read_and_what_was_cut_does_not(
    engine: Engine, settings: Settings
) -> None:
    owner = await engine.access.local_owner()
    tight = replace(settings, core_memory_uris=("core://a", "core://b"), boot_tokens=1000)
    async with spoken_to(engine, tight) as talk:
        await plant(talk, content="whole", title="a")
        await plant(talk, content="cut " * 5000, title="b")
        for title in ("a", "b"):  # another session changes both: what this one knew is stale
            await _changed_elsewhere(engine, owner, f"core://{title}")
        assert "has changed" in await talk.refused("update_memory", uri="core://a", append="!")
        await talk.call("read_memory", uri="system://boot")
        await talk.call("update_memory", uri="core://a", append="!")
        assert "has changed" in await talk.refused("update_memory", uri="core://b", append="!")


async def _changed_elsewhere(engine: Engine, owner: Actor, uri: str) -> None:
    actor = owner.through("test", "elsewhere")
    memory = (await engine.paths.look(actor, address(uri))).memory
    assert memory
    await engine.paths.edit(actor, address(uri), memory, content=memory.content + " changed", signpost=Signpost())


# Index


@behaviour("nocturne.index.page")
async def test_the_index_lists_all_paths_by_domain_and_first_name(local: ProseConversation) -> None:
    agent = await plant(local, title="agent", priority=1)
    await plant(local, agent, title="b", priority=2)
    await plant(local, agent, title="a", priority=2)
    await plant(local, title="zoo", priority=0)
    await plant(local, "writer://", title="novel", priority=3)
    await local.call("add_alias", new_uri="notes://me", target_uri=agent, priority=5)
    assert await local.call("read_memory", uri="system://index") == "\n".join(
        [
            "# Memory Index",
            "# 6 paths; the same [#id] twice is an alias; [★n] is the priority",
            *("", "## core://"),
            *("", "### zoo", "- core://zoo [#4] [★0]"),
            *("", "### agent", "- core://agent [#1] [★1]"),
            *("- core://agent/a [#3] [★2]", "- core://agent/b [#2] [★2]"),
            *("", "## notes://", "", "### me", "- notes://me [#1] [★5]  (children as at core://agent)"),
            *("", "## writer://", "", "### novel", "- writer://novel [#5] [★3]"),
        ]
    )


@behaviour("nocturne.index.page")
async def test_an_empty_index_says_so(local: ProseConversation) -> None:
    assert (await local.call("read_memory", uri="system://index")).endswith("\n\n(no memories yet)")


@behaviour("nocturne.index.page")
async def test_the_index_is_there_on_every_wire(talk: ProseConversation) -> None:
    uri = await plant(talk)
    assert f"\n- {uri} [#" in await talk.call("read_memory", uri="SYSTEM://index/")


@behaviour("nocturne.index.bounded")
async def test_a_very_large_index_shows_the_levels_that_fit(
    local: ProseConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commonplace.dialects.nocturne.system.MOST_INDEXED", 3)
    for title in ("a", "b"):
        above = await plant(local, title=title)
        for _ in range(2):
            await plant(local, above, title=None)
    page = await local.call("read_memory", uri="system://index")
    assert "# 4 are left out; read_memory shows what lies below an entry" in page
    assert "- core://a [#1] [★1]  (+2 below)" in page
    assert "core://a/1" not in page


# Recent


@behaviour("nocturne.recent.page", "nocturne.recent.ten")
async def test_the_latest_changes_come_first_with_time_and_disclosure(
    local: ProseConversation, engine: Engine, clock: Clock
) -> None:
    made = []
    for number in range(12):
        clock.advance(timedelta(minutes=1))
        made.append(await plant(local, title=f"m{number}", disclosure="" if number else "when\nasked"))
    clock.advance(timedelta(minutes=1))
    await local.call("update_memory", uri=made[0], append="changed")
    page = await local.call("read_memory", uri="system://recent")
    assert page.startswith(
        "# Recently Modified Memories\n# Showing 10 most recent entries, newest first\n\n"
        "1. core://m0  [★1]  modified: 2026-01-15 12:13\n   When to recall: when asked\n"
        "2. core://m11  [★1]  modified: 2026-01-15 12:12\n"
        '   When to recall: (not set: give it one with update_memory("core://m11", disclosure="..."))\n'
    )
    shown = re.findall(r"^\d+\. (\S+)", page, re.MULTILINE)
    assert shown == [made[0], *made[:2:-1]]


@behaviour("nocturne.recent.count")
async def test_as_many_are_shown_as_asked_for(talk: ProseConversation) -> None:
    made = [await plant(talk) for _ in range(3)]
    page = await talk.call("read_memory", uri="system://recent/2")
    assert re.findall(r"^\d+\. (\S+)", page, re.MULTILINE) == [made[2], made[1]]
    assert await talk.call("read_memory", uri="system://recent/100")
    for wrong in ("0", "101", "-1", "x", "1.5", "٣", "99999999"):
        said = await talk.refused("read_memory", uri=f"system://recent/{wrong}")
        assert said == f"uri: system://recent/N takes a number from 1 to 100, not '{wrong}'."


@behaviour("nocturne.recent.aliases")
async def test_a_memory_with_an_alias_is_recent_once(talk: ProseConversation) -> None:
    uri = await plant(talk, priority=1)
    await talk.call("add_alias", new_uri=f"notes://{unique()}", target_uri=uri, priority=2)
    before = await plant(talk)
    await talk.call("update_memory", uri=uri, append="!")
    page = await talk.call("read_memory", uri="system://recent/2")
    assert re.findall(r"^\d+\. (\S+)", page, re.MULTILINE) == [uri, before]


@behaviour("nocturne.system.unknown")
async def test_an_unknown_page_is_refused_with_the_known_ones(talk: ProseConversation) -> None:
    for uri in ("system://what", "system://", "system://boot/x", "system://recent/1/2"):
        said = await talk.refused("read_memory", uri=uri)
        assert said == (
            f"There is no page '{uri}'. There are system://boot, system://index, system://recent, system://recent/N."
        )
