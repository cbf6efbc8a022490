"""Tokens: made, listed, changed, revoked."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.access import Permission
from commonplace.domain.identifiers import CredentialId
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.live.speech import LiveConversation, on_disk, spoken_to_as
from tests.fakes import Clock

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

WARNING = "⚠️ Ce token ne sera PLUS JAMAIS affiché !"
LISTED = {
    "name", "user", "kind", "hash", "permissions", "space_ids", "created_at", "expires_at", "revoked"
}  # fmt: skip


async def _listed(talk: LiveConversation, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = (await talk.call("admin_list_tokens"))["tokens"]
    (named,) = [one for one in found if one["name"] == name]
    return named


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


# Making


@behaviour("live.admin_create_token.answer")
async def test_a_token_is_told_as_the_reference_shows_it(local: LiveConversation) -> None:
    made = await local.call(
        "admin_create_token", name="agent-cline", permissions="read,write", space_ids="projet-alpha"
    )
    assert re.fullmatch(r"lm_[A-Za-z0-9_-]{43}", made.pop("token"))
    assert made == {
        "status": "created",
        "name": "agent-cline",
        "permissions": ["read", "write"],
        "space_ids": ["projet-alpha"],
        "expires_at": None,
        "warning": WARNING,
    }


@behaviour("live.admin_create_token.permissions")
async def test_permissions_are_named_in_words(talk: LiveConversation) -> None:
    for given, kept in (
        ("read", ["read"]),
        ("read,write", ["read", "write"]),
        (" write , read ", ["read", "write"]),
        ("read,write,admin", ["read", "write", "admin"]),
        ("admin", ["read", "write", "admin"]),
    ):
        made = await talk.call("admin_create_token", name=unique(), permissions=given)
        assert made["permissions"] == kept
    for given in ("", ",", "reed", "read;write", "READ", "read,root"):
        assert (await talk.invalid("admin_create_token", name="x", permissions=given)).startswith("permissions: ")


@behaviour("live.admin_create_token.spaces")
async def test_spaces_are_named_between_commas_and_none_means_all(talk: LiveConversation) -> None:
    made = await talk.call("admin_create_token", name=unique(), permissions="read", space_ids=" a ,b,, a")
    assert made["space_ids"] == ["a", "b"]
    assert (await talk.call("admin_create_token", name=unique(), permissions="read"))["space_ids"] == []
    for given in ("a b", "../x", "é", "a,*"):
        said = await talk.invalid("admin_create_token", name="x", permissions="read", space_ids=given)
        assert said.startswith("space_id: must be 1 to 64 letters"), given


@behaviour("live.admin_create_token.name")
async def test_a_name_is_one_line_in_any_script(talk: LiveConversation) -> None:
    for name in (f"équipe 日本 {unique()}", unique() * 2):
        assert (await talk.call("admin_create_token", name=f" {name} ", permissions="read"))["name"] == name
    for name in ("", " ", "a\nb", "x" * 201, "\u202e"):
        assert (await talk.invalid("admin_create_token", name=name, permissions="read")).startswith("name: ")


@behaviour("live.admin_create_token.name")
async def test_two_tokens_may_have_one_name_and_are_strangers_to_each_other(
    engine: Engine, local: LiveConversation
) -> None:
    actors = [await engine.access.authenticate(await local.token(name="twin")) for _ in range(2)]
    assert actors[0].user != actors[1].user


@behaviour("live.admin_create_token.expires")
async def test_a_token_expires_after_its_days(
    engine: Engine, local: LiveConversation, settings: Settings, clock: Clock
) -> None:
    made = await local.call("admin_create_token", name="brief", permissions="read", expires_in_days=3)
    assert made["expires_at"] == "2026-01-18T03:00:00Z"
    async with spoken_to_as(engine, settings, made["token"]) as agent:
        clock.advance(timedelta(days=3, microseconds=-1))
        await agent.call("space_list")
        clock.advance(timedelta(microseconds=1))
        assert (await agent.refused("space_list"))[0] == "forbidden"
    for days in (-1, 36_501):
        said = await local.invalid("admin_create_token", name="x", permissions="read", expires_in_days=days)
        assert said == f"expires_in_days: must be from 0 to 36500, not {days}"


@behaviour("live.admin_create_token.at_rest")
async def test_only_the_hash_of_a_token_is_kept(
    engine: Engine, local: LiveConversation, folder: Path, outside: Path
) -> None:
    token = await local.token("read,write", "alpha", name="agent")
    await engine.mirror.push()
    registry = json.loads(on_disk(outside)["_system/tokens.json"])
    assert registry == {
        "version": 1,
        "tokens": [
            {
                "hash": f"sha256:{_hash(token)}",
                "name": "agent",
                "permissions": ["read", "write"],
                "space_ids": ["alpha"],
                "created_at": "2026-01-15T03:00:00Z",
                "expires_at": None,
                "last_used_at": None,
                "revoked": False,
            }
        ],
    }
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert token.encode() not in kept
    assert token[3:].encode() not in kept


# Listing


@behaviour("live.admin_list_tokens.answer")
async def test_tokens_are_listed_without_being_shown(local: LiveConversation) -> None:
    token = await local.token("read,write", "alpha", name="agent")
    listed = await local.call("admin_list_tokens")
    assert (listed["status"], listed["total"], listed["has_more"]) == ("ok", 1, False)
    (found,) = listed["tokens"]
    assert set(found) == LISTED
    assert found["hash"] == f"sha256:{_hash(token)[:16]}..."
    assert (found["permissions"], found["space_ids"], found["revoked"]) == (["read", "write"], ["alpha"], False)
    assert token not in json.dumps(listed)
    assert _hash(token) not in json.dumps(listed)


@behaviour("live.admin_list_tokens.one_table")
async def test_keys_made_elsewhere_are_in_the_list(engine: Engine, local: LiveConversation) -> None:
    await engine.access.create_key("laptop", frozenset({Permission.READ}), user="ann")
    found = await _listed(local, "laptop")
    assert (found["kind"], found["user"], found["permissions"]) == ("key", "ann", ["read"])


# Revoking


@behaviour("live.admin_revoke_token.by_hash")
async def test_a_token_is_revoked_by_what_the_list_shows_or_more_of_it(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    for short in (
        lambda hashed: f"sha256:{hashed[:16]}...",
        lambda hashed: hashed[:16],
        lambda hashed: f"sha256:{hashed}",
        lambda hashed: hashed.upper(),
        lambda hashed: f" {hashed[:40]} ",
    ):
        name = unique()
        token = await local.token(name=name)
        async with spoken_to_as(engine, settings, token) as agent:
            await agent.call("space_list")
            gone = await local.call("admin_revoke_token", token_hash=short(_hash(token)))
            assert gone == {
                "status": "ok",
                "name": name,
                "token_hash": f"sha256:{_hash(token)[:16]}...",
                "message": "Token révoqué",
            }
            assert (await agent.refused("space_list"))[0] == "forbidden"
        assert (await _listed(local, name))["revoked"] is True


@behaviour("live.admin_revoke_token.along")
async def test_with_a_token_goes_what_was_made_with_it(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    stolen, name = await local.token("read,write,admin", name="stolen"), unique()
    async with spoken_to_as(engine, settings, stolen) as thief:
        second = await thief.token("read,write,admin", name=name)
    assert (await _listed(local, name))["made_with"] == "stolen"
    assert "made_with" not in await _listed(local, "stolen")
    gone = await local.call("admin_revoke_token", token_hash=_hash(stolen))
    assert gone["revoked_along"] == [{"name": name, "token_hash": f"sha256:{_hash(second)[:16]}..."}]
    assert (gone["along_total"], gone["message"]) == (1, "Token révoqué, avec 1 accès créé(s) par lui")
    assert (await _listed(local, name))["revoked"] is True


@behaviour("live.admin_revoke_token.hash")
async def test_less_than_16_characters_of_a_hash_are_refused(talk: LiveConversation) -> None:
    token = await talk.token()
    for given in ("", "sha256:", _hash(token)[:15], f"sha256:{_hash(token)[:15]}...", token, "x" * 64, "é" * 20, "*"):
        for tool, more in (("admin_revoke_token", {}), ("admin_update_token", {"permissions": "read"})):
            said = await talk.invalid(tool, token_hash=given, **more)
            assert said == "token_hash: needs at least 16 characters of the hash, as the list shows it"
            assert not given or given not in said
    status, message = await talk.refused("admin_revoke_token", token_hash="0" * 16)
    assert (status, message) == ("not_found", "Token introuvable : no token '0000000000000000'")


@behaviour("live.admin_revoke_token.ambiguous")
async def test_a_prefix_that_two_hashes_share_is_refused(engine: Engine, local: LiveConversation) -> None:
    token = await local.token(name="one")
    first = await engine.store.read(lambda tx: tx.credential_by_hash(_hash(token)))
    assert first
    twin = replace(first, id=CredentialId("twin"), name="twin", hash=first.hash[:32] + first.hash[31::-1])
    await engine.store.write(lambda tx: tx.add_credential(twin))
    for tool, more in (("admin_revoke_token", {}), ("admin_update_token", {"permissions": "read"})):
        said = await local.invalid(tool, token_hash=(await _listed(local, "one"))["hash"], **more)
        assert said == "token_hash: 2 tokens begin so: give more of the hash"
    assert (await local.call("admin_revoke_token", token_hash=twin.hash))["name"] == "twin"
    assert (await _listed(local, "one"))["revoked"] is False


# Changing


@behaviour("live.admin_update_token.answer")
async def test_a_token_gets_other_permissions_and_other_spaces(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    alpha, beta = await local.space("alpha"), await local.space("beta")
    token = await local.token("read", alpha, name="agent")
    known = (await _listed(local, "agent"))["hash"]
    async with spoken_to_as(engine, settings, token) as agent:
        assert (await agent.outcome("live_note", space_id=alpha, category="todo", content="x"))[0] == "forbidden"
        changed = await local.call("admin_update_token", token_hash=known, permissions="read,write")
        assert changed == {
            "status": "ok",
            "name": "agent",
            "token_hash": known,
            "permissions": ["read", "write"],
            "space_ids": [alpha],
            "message": "Token mis à jour",
        }
        await agent.note(alpha)
        assert (await agent.outcome("live_read", space_id=beta))[0] == "forbidden"
        await local.call("admin_update_token", token_hash=known, space_ids=beta)
        assert (await agent.outcome("live_read", space_id=beta))[0] == "ok"
        assert (await agent.outcome("live_read", space_id=alpha))[0] == "forbidden"
        await local.call("admin_update_token", token_hash=known, space_ids="*")
        assert {one["space_id"] for one in (await agent.call("space_list"))["spaces"]} == {alpha, beta}
        await local.call("admin_update_token", token_hash=known, permissions="read", space_ids=f"{alpha},{beta}")
        assert (await agent.outcome("live_note", space_id=alpha, category="todo", content="x"))[0] == "forbidden"


@behaviour("live.admin_update_token.nothing")
async def test_a_change_of_nothing_is_refused(talk: LiveConversation) -> None:
    token = await talk.token()
    for given in ({}, {"space_ids": " ", "permissions": ""}):
        said = await talk.invalid("admin_update_token", token_hash=_hash(token), **given)
        assert said == "permissions: there is nothing to change: give space_ids, permissions or both"


@behaviour("live.admin_update_token.only_tokens")
async def test_a_key_of_a_user_is_not_changed_into_a_token(engine: Engine, local: LiveConversation) -> None:
    space = await local.space()
    made = await engine.access.create_key("laptop", frozenset(Permission), user="ann")
    found = await _listed(local, "laptop")
    said = await local.invalid("admin_update_token", token_hash=found["hash"], space_ids=space)
    assert said == "token_hash: is the hash of a key, not of a token; it can only be revoked"
    ann = await engine.access.authenticate(made.key)
    assert await engine.spaces.all(ann) == []
    assert (await local.call("admin_revoke_token", token_hash=found["hash"]))["name"] == "laptop"


# Administrators of some spaces


@behaviour("live.admin.limited")
async def test_an_administrator_of_some_spaces_governs_only_tokens_of_these(
    engine: Engine, local: LiveConversation, settings: Settings
) -> None:
    mine, theirs = await local.space("mine"), await local.space("theirs")
    inside = await local.token("read", mine, name="inside")
    outside = await local.token("read", mine, theirs, name="outside")
    everywhere = await local.token("read", name="everywhere")
    async with spoken_to_as(engine, settings, await local.token("read,write,admin", mine, name="head")) as head:
        assert {one["name"] for one in (await head.call("admin_list_tokens"))["tokens"]} == {"inside", "head"}
        for spaces in ("", theirs, f"{mine},{theirs}"):
            given = {"name": "more", "permissions": "read", "space_ids": spaces}
            status, message = await head.refused("admin_create_token", **given)
            assert (status, message.partition(" : ")[0]) == (
                "forbidden",
                f"Accès refusé à l'espace '{theirs if spaces else '*'}'",
            )
        for token in (outside, everywhere):
            for tool, more in (("admin_revoke_token", {}), ("admin_update_token", {"permissions": "read,write"})):
                assert (await head.refused(tool, token_hash=_hash(token), **more))[0] == "not_found"
        for spaces in ("*", theirs):
            assert (await head.refused("admin_update_token", token_hash=_hash(inside), space_ids=spaces))[
                0
            ] == "forbidden"
        assert (await head.call("admin_create_token", name="more", permissions="read", space_ids=mine))["token"]
        await head.call("admin_update_token", token_hash=_hash(inside), permissions="read,write")
        await head.call("admin_revoke_token", token_hash=_hash(inside))
