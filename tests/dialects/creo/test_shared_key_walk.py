"""A shared key against every tool and resource of every dialect: nothing from outside its atlas is ever seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Act, Call
from commonplace.domain.access import ALL_PERMISSIONS, Actor
from commonplace.domain.collection import Kind
from commonplace.domain.errors import CommonplaceError, Forbidden
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.creo.speech import Speaker, enrolled
from tests.dialects.walking import BAIT, DIALECTS, answered, call_by, read, said

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ACCOUNT: Mapping[str, Mapping[str, Any]] = {
    "create_domain_shared_key": {"name": "x"},
    "list_domain_shared_keys": {},
    "revoke_domain_shared_key": {"id": "$key"},
    "delete_domain_shared_key": {"id": "$key"},
    "generate_api_key": {},
    "get_logs": {},
    "search_logs": {"query": "x"},
    "create_shared_context": {"name": "x"},
    "join_shared_context": {"contextId": "$context"},
    "leave_shared_context": {"contextId": "$context"},
    "team_create": {"name": "x", "ownerId": "$user"},
    "team_list": {},
    "team_invite": {"teamId": "$team", "userId": "$user"},
    "team_remove": {"teamId": "$team", "userId": "$user"},
    "share_atlas": {"atlasId": "$place", "teamId": "$team"},
    "unshare_atlas": {"atlasId": "$place", "teamId": "$team"},
    "list_shared_atlas": {},
    "create_atlas": {"name": "a root of its own"},
    "create_todo": {"content": "x"},
    "list_todos": {},
    "update_todo": {"id": "$todo", "content": "x"},
    "complete_todo": {"id": "$todo"},
    "delete_todo": {"id": "$todo"},
    "label_create": {"name": "x"},
    "label_list": {},
    "label_update": {"id": "$label", "name": "x"},
    "label_delete": {"id": "$label"},
    "category_create": {"name": "x"},
    "category_update": {"id": "$category", "name": "x"},
    "category_delete": {"id": "$category"},
    "subscribe_memories": {},
    "unsubscribe_memories": {"subscriptionId": "$subscription"},
    "list_subscriptions": {},
    "check_notifications": {},
    "update_presence": {"status": "active"},
    "get_presence": {},
}
"""What concerns the user as a whole."""


@dataclass
class Stage:
    """Ann's account, full of words that nobody else may read, and a key of hers that opens one atlas."""

    engine: Engine
    settings: Settings
    holder: Actor
    secrets: list[str] = field(default_factory=list)
    inside: dict[str, list[str]] = field(default_factory=dict)
    outside: dict[str, list[str]] = field(default_factory=dict)

    def secret(self, text: str = "") -> str:
        self.secrets.append(unique())
        return f"{text} {self.secrets[-1]}".strip()

    def text(self) -> str:
        return self.secret(BAIT)

    def call(self, dialect: str, tool: str) -> Call:
        return call_by(self.engine, self.settings, self.holder, f"{dialect}.{tool}", "walk/1")


async def _as(engine: Engine, settings: Settings, actor: Actor, dialect: str, tool: str, **arguments: Any) -> Any:
    """What the owner of the account does with other dialects."""
    call = call_by(engine, settings, actor, f"{dialect}.{tool}", "ann/1")
    return (await dialect_named(dialect).tools[tool](call, arguments)).value


@pytest.fixture
async def stage(engine: Engine, settings: Settings, ann: Speaker, ben: Speaker) -> Stage:
    stage = Stage(engine, settings, ann.actor)
    root = await enrolled(engine, settings, "root", *ALL_PERMISSIONS)
    await _furnish_atlases(stage, ann)
    await _furnish_memories(stage, ann, ben, root)
    await _furnish_account(stage, ann)
    await _furnish_dialects(stage, ann)
    made = await ann.call("create_domain_shared_key", name="key", atlas_id=stage.inside["atlas"][0], permission="write")
    stage.holder = await engine.access.authenticate(made["key"])
    stage.outside["key"] = [made["id"]]
    return stage


async def _furnish_atlases(stage: Stage, ann: Speaker) -> None:
    async def atlas(name: str, **more: Any) -> str:
        return str((await ann.call("create_atlas", name=name, **more))["id"])

    outer = await atlas(stage.secret(), description=stage.secret())
    place = await atlas("open", parent_id=outer)
    stage.inside["atlas"] = [place, await atlas("below", parent_id=place)]
    stage.outside["atlas"] = [outer, await atlas(stage.secret(), parent_id=outer), await atlas(stage.secret())]


async def _furnish_memories(stage: Stage, ann: Speaker, ben: Speaker, root: Speaker) -> None:
    outside = [await ann.remember(stage.text(), tags=[stage.secret()], category=stage.secret()[:40])]
    outside += [await ann.remember(stage.text(), atlasId=place) for place in stage.outside["atlas"]]
    outside.append(await ann.remember(stage.text(), ttl=3600))
    outside.append(await ben.remember(stage.text()))
    everyones = await stage.engine.collections.everyones()
    outside.append((await stage.engine.memories.remember(root.actor, Draft(stage.text(), home=everyones))).id)
    context = (await ann.call("create_shared_context", name=stage.secret(), description=stage.secret()))["id"]
    lent = await ann.remember(stage.text())
    await ann.call("add_to_shared_context", contextId=context, memoryId=lent)
    mention = f"{BAIT} inside memories:{outside[0]} [[{outside[1]}]]"
    inside = [
        await ann.remember(mention, atlasId=place, metadata={"derivedFrom": outside[0]}, category="design")
        for place in stage.inside["atlas"]
    ]
    outside.append(await ann.remember(f"{stage.text()} memories:{inside[0]}", metadata={"derivedFrom": inside[0]}))
    stage.inside["memory"], stage.outside["memory"] = inside, [*outside, lent]
    stage.outside["context"] = [context]


async def _furnish_account(stage: Stage, ann: Speaker) -> None:
    label = (await ann.call("label_create", name=stage.secret()))["id"]
    for memory in (stage.inside["memory"][0], stage.outside["memory"][0]):
        await ann.call("label_attach", memory_id=memory, label_id=label)
    category = await ann.call("category_create", name=stage.secret()[:40], description=stage.secret())
    await ann.call("category_attach", memory_id=stage.outside["memory"][0], category_id=category["id"])
    todo = (await ann.call("create_todo", content=stage.text(), tags=[stage.secret()]))["id"]
    me = (await ann.call("get_user"))["id"]
    team = (await ann.call("team_create", name=stage.secret(), ownerId=me, description=stage.secret()))["id"]
    await ann.call("share_atlas", atlasId=stage.outside["atlas"][0], teamId=team)
    watch = (await ann.call("subscribe_memories", name=stage.secret()))["subscriptionId"]
    await ann.call("update_presence", status="busy", displayName=stage.secret())
    await ann.call("generate_api_key", name=stage.secret())
    await ann.remember(stage.text())  # something to be notified of
    stage.outside |= {"label": [label], "category": [category["id"]], "todo": [todo], "team": [team]}
    stage.outside |= {"user": [me], "subscription": [watch], "session": ["session:ann%2F1", "ann/1"]}


async def _furnish_dialects(stage: Stage, ann: Speaker) -> None:
    engine, actor = stage.engine, ann.actor
    project = (await engine.collections.found(actor, Kind.PROJECT, stage.secret(), stage.secret())).collection.id
    begun = {"action": "create_session", "session_name": stage.secret()}
    made = await _as(engine, stage.settings, actor, "assoc", "user", **begun)
    session = made["data"]["session_id"]
    for place in ({"domain": "project", "project_id": project}, {"domain": "session", "session_id": session}):
        await _as(engine, stage.settings, actor, "assoc", "memory", action="store", content=stage.text(), **place)
    await _as(engine, stage.settings, actor, "greeum", "add_memory", content=stage.text())
    await _as(engine, stage.settings, actor, "greeum", "add_stm", content=stage.text())
    for parent, title in (("core://", "known"), ("core://known", stage.secret()), ("core://", stage.secret())):
        branch = {"parent_uri": parent, "title": title, "priority": 1, "disclosure": stage.secret()}
        await _as(engine, stage.settings, actor, "nocturne", "create_memory", content=stage.text(), **branch)
    stage.outside |= {"project": [project], "place": [session], "uri": ["core://known", "core://"]}
    stage.inside["uri"] = ["core://", "system://boot", "system://index", "system://recent", "system://recent/50"]


def _leaks(stage: Stage, words: str) -> list[str]:
    return [secret for secret in stage.secrets if secret in words]


@behaviour("creo.shared_key.walk")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_no_tool_shows_or_changes_what_is_outside(stage: Stage, ann: Speaker, dialect: str) -> None:
    before = await _memories(stage, ann)
    assert len(before) >= 8
    tools = dialect_named(dialect).tools.values()
    order = list(Act)
    calls = 0
    for tool in sorted(tools, key=lambda one: order.index(one.act)):
        for arguments in said(tool, stage.inside, stage.outside):
            words = await answered(stage.call(dialect, tool.name), dialect, tool, arguments)
            assert not _leaks(stage, words), f"{dialect}.{tool.name}({arguments}): {words[:2000]}"
            calls += 1
    assert calls > len(tools)
    assert await _memories(stage, ann) == before


async def _memories(stage: Stage, ann: Speaker) -> dict[str, Any]:
    """What ann sees of what is outside."""
    seen = {}
    for memory in stage.outside["memory"]:
        try:
            found = await stage.engine.memories.get(ann.actor, Reference(memory))  # type: ignore[arg-type]
        except CommonplaceError:
            continue  # it is someone else's
        seen[memory] = (found.content, found.tags, found.category, found.collection, found.version, found.ephemeral)
    return seen


@behaviour("creo.shared_key.walk_resources")
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_no_resource_shows_what_is_outside(stage: Stage, dialect: str) -> None:
    call = stage.call(dialect, "resource")
    variables = [*stage.outside["memory"], *map(str, range(12)), "50"]
    for uri, words in await read(call, dialect, variables, [*stage.inside["uri"], *stage.outside["uri"]]):
        assert not _leaks(stage, words.replace(uri, "")), f"{uri}: {words[:2000]}"


@behaviour("creo.shared_key.account")
async def test_what_concerns_the_account_is_refused(stage: Stage) -> None:
    names = {f"${pool}": ids[0] for pool, ids in stage.outside.items()} | {"$place": stage.inside["atlas"][0]}
    holder = Speaker(stage.engine, stage.settings, stage.holder)
    for tool, arguments in ACCOUNT.items():
        refused = await holder.refused(tool, **{key: names.get(value, value) for key, value in arguments.items()})
        assert isinstance(refused, Forbidden), (tool, refused)
