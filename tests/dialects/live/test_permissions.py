"""Every tool against every kind of caller, over HTTP. A tool without a row here fails the suite."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from commonplace.bootstrap import build
from commonplace.domain.access import ALL_PERMISSIONS
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.live.reference import ADMIN, NEEDS, PUBLIC, READ, WRITE
from tests.dialects.live.speech import LIVE, RULES, LiveConversation, over_the_net
from tests.dialects.servers import Servers
from tests.fakes import Clock, Embedder
from tests.serving import OWNER_KEY, Era, Served, over_sse
from tests.transports.wire import modern_headers, post, request

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

CALLERS = ("stranger", "read", "write", "admin", "other", "this", "expired", "revoked")
"""Nobody; tokens for all spaces; tokens with all permissions, limited to another space and to this one; and tokens
that were good once."""
DONE, FORBIDDEN, MISSING, TURNED_AWAY = "done", "forbidden", "not_found", "401"
LEVELS = {"stranger": (), "read": (READ,), "write": (READ, WRITE)}
ABSENT = "nowhere-to-be-found"


@dataclass(frozen=True)
class Row:
    """A tool with arguments, in which `$name` stands for something on the stage."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    other: str = FORBIDDEN
    """What comes of it for a token limited to another space."""

    @property
    def needs(self) -> str:
        return NEEDS[self.tool]

    def outcome(self, caller: str) -> str:
        if caller in ("expired", "revoked"):
            return TURNED_AWAY
        if self.needs == PUBLIC:
            return DONE
        if self.needs not in LEVELS.get(caller, (READ, WRITE, ADMIN)):
            return FORBIDDEN
        return self.other if caller == "other" else DONE

    def __str__(self) -> str:
        return self.tool


HERE = {"space_id": "$space"}
ROWS = (
    Row("space_create", {"space_id": "$fresh", "description": "", "rules": "# R"}, DONE),
    Row("space_list", {}, DONE),
    Row("space_info", HERE),
    Row("space_rules", HERE),
    Row("space_summary", HERE),
    Row("space_export", HERE),
    Row("space_delete", {**HERE, "confirm": True}),
    Row("live_note", {**HERE, "category": "todo", "content": "x"}),
    Row("live_read", HERE),
    Row("live_search", {**HERE, "query": "x"}),
    Row("bank_read", {**HERE, "filename": "$file"}),
    Row("bank_read_all", HERE),
    Row("bank_list", HERE),
    Row("bank_consolidate", HERE),
    Row("backup_create", HERE),
    Row("backup_list", HERE),
    Row("backup_list", {}, DONE),
    Row("backup_restore", {"backup_id": "$gone", "confirm": True}),
    Row("backup_download", {"backup_id": "$backup"}),
    Row("backup_delete", {"backup_id": "$backup", "confirm": True}),
    Row("admin_create_token", {"name": "$fresh", "permissions": "read", "space_ids": "$space"}),
    Row("admin_list_tokens", {}, DONE),
    Row("admin_revoke_token", {"token_hash": "$hash"}, MISSING),
    Row("admin_update_token", {"token_hash": "$hash", "permissions": "read,write"}, MISSING),
    Row("system_health", {}),
    Row("system_about", {}),
)


@dataclass(frozen=True)
class House:
    """The callers, with their keys."""

    server: Served
    talks: Mapping[str, LiveConversation]
    keys: Mapping[str, str]

    @property
    def admin(self) -> LiveConversation:
        return self.talks["owner"]


async def _expired_token(folder: Path) -> str:
    """A token that was made long ago, for a day."""
    long_ago = Clock(datetime(2020, 1, 1, tzinfo=UTC))
    engine = build(Settings(data_dir=str(folder), timezone="UTC"), model=Embedder(), clock=long_ago)
    try:
        owner = await engine.access.local_owner()
        return (await engine.tokens.create(owner, unique(), ALL_PERMISSIONS, (), 1)).key
    finally:
        await engine.close()


@pytest.fixture(scope="module")
async def house(listening: Served, anyio_backend: str) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(over_the_net(listening, OWNER_KEY))
        everything = "read,write,admin"
        keys = {
            "stranger": "",
            "read": await owner.token("read"),
            "write": await owner.token("read,write"),
            "admin": await owner.token(everything),
            "other": await owner.token(everything, await owner.space()),
            "this": await owner.token(everything, unique()),
            "expired": await _expired_token(listening.folder),
            "revoked": await owner.token(everything),
        }
        await owner.call("admin_revoke_token", token_hash=_hash(keys["revoked"]))
        able = {caller: key for caller, key in keys.items() if caller not in ("expired", "revoked")}
        talks = {caller: await stack.enter_async_context(over_the_net(listening, key)) for caller, key in able.items()}
        yield House(listening, {**talks, "owner": owner}, keys)


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


async def _staged(house: House, wanted: str) -> dict[str, str]:
    """A space with what is wanted, opened for the token that is limited to it."""
    admin = house.admin
    stage = {"space": await admin.space(), "fresh": unique(), "file": ""}
    space = stage["space"]
    if "$file" in wanted:
        await admin.note(space, category="progress")
        await admin.call("bank_consolidate", space_id=space)
        stage["file"] = (await admin.call("bank_list", space_id=space))["files"][0]["filename"]
    if "$backup" in wanted or "$gone" in wanted:
        stage["backup"] = stage["gone"] = (await admin.call("backup_create", space_id=space))["backup_id"]
    if "$gone" in wanted:
        await admin.call("space_delete", space_id=space, confirm=True)
    if "$hash" in wanted:
        stage["hash"] = _hash(await admin.token("read", space))
    await admin.call("admin_update_token", token_hash=_hash(house.keys["this"]), space_ids=space)
    return stage


def _filled(arguments: Mapping[str, Any], stage: Mapping[str, str]) -> dict[str, Any]:
    text = json.dumps(dict(arguments))
    for name, real in stage.items():
        text = text.replace(f"${name}", real)
    filled: dict[str, Any] = json.loads(text)
    return filled


async def _outcome(house: House, caller: str, row: Row, stage: Mapping[str, str]) -> tuple[str, str]:
    arguments = _filled(row.arguments, stage)
    if caller not in house.talks:
        body = request("tools/call", modern=True, name=row.tool, arguments=arguments)
        headers = modern_headers("tools/call", row.tool, house.keys[caller])
        answer = await anyio.to_thread.run_sync(post, house.server, body, headers, LIVE)
        assert "www-authenticate" in answer.headers
        return str(answer.status_code), answer.text
    status, message = await house.talks[caller].outcome(row.tool, **arguments)
    return (DONE, "") if status in ("ok", "created", "deleted") else (status, message)


@behaviour("live.permissions.complete")
async def test_every_tool_has_a_row(house: House) -> None:
    offered = {tool.name for tool in (await house.admin.client.list_tools()).tools}
    assert offered == {row.tool for row in ROWS} == set(NEEDS)


@behaviour("live.permissions.matrix", "live.permissions.words", "live.strangers.forbidden")
@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_each_caller_gets_what_the_matrix_says(house: House, row: Row) -> None:
    wanted = json.dumps(dict(row.arguments))
    stage = await _staged(house, wanted)
    for caller in sorted(CALLERS, key=lambda caller: row.outcome(caller) == DONE):
        outcome, message = await _outcome(house, caller, row, stage)
        assert outcome == row.outcome(caller), (caller, message)
        if outcome == FORBIDDEN and caller == "other":
            assert message.startswith(f"Accès refusé à l'espace '{stage['space']}'"), message
        elif outcome == FORBIDDEN:
            assert message.startswith(f"Permission '{row.needs}' requise"), message
        if outcome == DONE and row.needs not in (READ, PUBLIC):
            stage = await _staged(house, wanted)  # what was there may be gone


@behaviour("live.permissions.listed")
async def test_each_caller_is_offered_what_it_may_use(house: House) -> None:
    for caller, levels in (*LEVELS.items(), ("admin", (READ, WRITE, ADMIN)), ("this", (READ, WRITE, ADMIN))):
        offered = {tool.name for tool in (await house.talks[caller].client.list_tools()).tools}
        assert offered == {tool for tool, needs in NEEDS.items() if needs in (*levels, PUBLIC)}, caller


@behaviour("live.permissions.unknowable")
async def test_a_limited_token_does_not_learn_whether_another_space_exists(house: House) -> None:
    rows = [row for row in ROWS if row.other == FORBIDDEN and row.needs != PUBLIC]
    for row in rows:
        stage = await _staged(house, json.dumps(dict(row.arguments)))
        status, message = await _outcome(house, "other", row, stage)
        nothing = {name: text.replace(stage["space"], ABSENT) for name, text in stage.items()}
        assert await _outcome(house, "other", row, nothing) == (status, message.replace(stage["space"], ABSENT)), row


@behaviour("live.permissions.sees")
async def test_a_limited_token_sees_only_its_spaces(house: House) -> None:
    stage = await _staged(house, "$backup")
    this, other = house.talks["this"], house.talks["other"]
    assert [one["space_id"] for one in (await this.call("space_list"))["spaces"]] == [stage["space"]]
    assert (await this.call("system_health"))["spaces_count"] == 1
    assert [one["backup_id"] for one in (await this.call("backup_list"))["backups"]] == [stage["backup"]]
    assert stage["space"] not in [one["space_id"] for one in (await other.call("space_list"))["spaces"]]
    assert stage["backup"] not in [one["backup_id"] for one in (await other.call("backup_list"))["backups"]]
    everywhere = {one["space_id"] for one in (await house.talks["read"].call("space_list"))["spaces"]}
    assert stage["space"] in everywhere


@behaviour("live.permissions.creates")
async def test_a_limited_token_that_makes_a_space_gets_it_added(house: House) -> None:
    mine, made, taken = await house.admin.space(), unique(), await house.admin.space()
    token = await house.admin.token("read,write", mine)
    async with over_the_net(house.server, token) as agent:
        await agent.call("space_create", space_id=made, description="", rules=RULES)
        await agent.note(made, "mine")
        assert {one["space_id"] for one in (await agent.call("space_list"))["spaces"]} == {mine, made}
        status, message = await agent.refused("space_create", space_id=taken, description="", rules=RULES)
        assert (status, message.partition(" : ")[0]) == ("forbidden", f"Accès refusé à l'espace '{taken}'")
        assert (await agent.refused("space_create", space_id=made, description="", rules=RULES))[0] == "already_exists"
    listed = (await house.admin.call("admin_list_tokens"))["tokens"]
    (known,) = [one for one in listed if one["hash"] == f"sha256:{_hash(token)[:16]}..."]
    assert known["space_ids"] == [mine, made]


@behaviour("live.permissions.revoked_at_once")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_revoked_token_is_refused_at_once_in_an_open_session(house: House, era: Era) -> None:
    space, token = await house.admin.space(), await house.admin.token()
    async with over_the_net(house.server, token, era) as agent:
        await agent.note(space)
        await house.admin.call("admin_revoke_token", token_hash=_hash(token))
        for tool, arguments in (("live_note", {"category": "todo", "content": "x"}), ("live_read", {})):
            with pytest.raises(MCPError):
                await agent.answer(tool, space_id=space, **arguments)
    assert len(await house.admin.notes(space)) == 1


@behaviour("live.permissions.revoked_at_once")
async def test_a_revoked_token_is_refused_at_once_on_an_open_stream(servers: Servers, anyio_backend: str) -> None:
    server = servers.chosen("live")
    async with over_the_net(server, OWNER_KEY) as admin:
        space, token = await admin.space(), await admin.token()
        async with over_sse(server, key=token) as client:
            agent = LiveConversation(client)
            await agent.note(space)
            await admin.call("admin_revoke_token", token_hash=_hash(token))
            with anyio.move_on_after(2), pytest.raises(MCPError):
                await agent.note(space)
        assert len(await admin.notes(space)) == 1


@behaviour("live.permissions.changed_at_once")
async def test_what_a_token_may_do_changes_at_once_in_an_open_session(house: House) -> None:
    space, token = await house.admin.space(), await house.admin.token("read")
    async with over_the_net(house.server, token) as agent:
        note = {"space_id": space, "category": "todo", "content": "x"}
        assert (await agent.outcome("live_note", **note))[0] == "forbidden"
        await house.admin.call("admin_update_token", token_hash=_hash(token), permissions="read,write")
        assert (await agent.outcome("live_note", **note))[0] == "created"
        await house.admin.call("admin_update_token", token_hash=_hash(token), space_ids=ABSENT)
        assert (await agent.outcome("live_note", **note))[0] == "forbidden"
