"""Tokens: who may make them for what, how they are found, and what is taken over from a registry."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission, Right
from commonplace.domain.credential import Credential, key_hash
from commonplace.domain.errors import Forbidden, Invalid, NotFound, SpaceForbidden, Unauthenticated
from commonplace.domain.identifiers import CollectionId, CredentialId
from commonplace.domain.space import MOST_OPENED
from commonplace.engine import Engine
from commonplace.engine.tokens import KIND, registry, space_names
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

READ = frozenset({Permission.READ})
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})
HASH = key_hash("some token")


async def shown(engine: Engine, key: str) -> Actor:
    return (await engine.access.authenticate(key)).through("test")


async def adopted(engine: Engine, *entries: dict[str, Any]) -> int:
    return await engine.store.write(lambda tx: engine.tokens.adopt_in(tx, entries))


async def known(engine: Engine) -> list[Credential]:
    return await engine.store.read(lambda tx: [one for one in tx.credentials() if one.kind == KIND])


async def test_a_token_is_lm_and_43_characters_and_its_hash_is_kept(engine: Engine, owner: Actor) -> None:
    made = await engine.tokens.create(owner, " agent ", READ_WRITE, ("b", "a", "b"), 0)
    assert (made.key[:3], len(made.key)) == ("lm_", 46)
    assert made.credential.hash == key_hash(made.key)
    assert (made.credential.name, space_names(made.credential)) == ("agent", ["b", "a"])
    assert made.key not in await engine.store.read(lambda tx: repr(tx.credentials()))


async def test_whoever_is_no_administrator_governs_no_token(engine: Engine, owner: Actor) -> None:
    agent = await shown(engine, (await engine.tokens.create(owner, "agent", READ_WRITE, (), 0)).key)
    for attempt in (
        engine.tokens.create(agent, "more", READ, (), 0),
        engine.tokens.all(agent),
        engine.tokens.revoke(agent, HASH),
        engine.tokens.update(agent, HASH, READ, None),
    ):
        with pytest.raises(Forbidden) as caught:
            await attempt
        assert caught.value.needs == "admin"


async def test_a_token_ends_with_its_last_day(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await engine.tokens.create(owner, "brief", READ, (), 2)
    clock.advance(timedelta(days=2, microseconds=-1))
    assert await shown(engine, made.key)
    clock.advance(timedelta(microseconds=1))
    with pytest.raises(Unauthenticated):
        await shown(engine, made.key)


async def test_a_token_never_lasts_longer_than_what_it_was_made_with(engine: Engine, clock: Clock) -> None:
    now = clock.now()
    short = await engine.access.create_key("short", ALL_PERMISSIONS, expires_at=now + timedelta(days=2))
    vouched = await engine.access.vouched("owner", ALL_PERMISSIONS, "jwt", now + timedelta(minutes=5))
    for maker, own in ((await shown(engine, short.key), timedelta(days=2)), (vouched, timedelta(minutes=5))):
        for days in (0, 400):
            made = await engine.tokens.create(maker, "lasting", READ, (), days)
            assert made.credential.expires_at == now + own


async def test_two_hashes_that_begin_alike_are_told_apart_by_more_of_them(engine: Engine, owner: Actor) -> None:
    first = await engine.tokens.create(owner, "first", READ, (), 0)
    begin = first.credential.hash[:20]
    second = begin + "0" * 44 if first.credential.hash[20] != "0" else begin + "1" * 44
    twin = Credential(
        CredentialId("twin"), first.credential.user, "twin", second, READ, first.credential.created_at, kind=KIND
    )
    await engine.store.write(lambda tx: tx.add_credential(twin))
    for short in (begin[:16], begin):
        for attempt in (engine.tokens.revoke(owner, short), engine.tokens.update(owner, short, READ_WRITE, None)):
            with pytest.raises(Invalid, match="2 tokens begin so"):
                await attempt
    assert [one.revoked_at for one in await known(engine)] == [None, None]
    assert (await engine.tokens.revoke(owner, second[:21])).credential.name == "twin"


async def test_a_prefix_is_looked_for_at_the_beginning_and_letter_by_letter(engine: Engine, owner: Actor) -> None:
    made = await engine.tokens.create(owner, "agent", READ, (), 0)
    whole = made.credential.hash
    for wrong in (whole[1:], whole + "0", whole[:16] + ("0" if whole[16] != "0" else "1")):
        with pytest.raises(NotFound):
            await engine.tokens.revoke(owner, wrong)
    for bad in (made.key, whole[:15], "%" * 20, "_" * 64, "", "\ud800" * 20):
        with pytest.raises(Invalid) as caught:
            await engine.tokens.revoke(owner, bad)
        assert made.key not in caught.value.message


async def test_to_revoke_again_changes_nothing(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await engine.tokens.create(owner, "agent", READ, (), 0)
    await engine.tokens.revoke(owner, made.credential.hash)
    (before,) = await known(engine)
    clock.advance(timedelta(days=1))
    await engine.tokens.revoke(owner, made.credential.hash)
    assert await known(engine) == [before]


async def test_a_limited_administrator_cannot_reach_beyond_his_spaces_through_tokens(
    engine: Engine, owner: Actor
) -> None:
    head = await shown(engine, (await engine.tokens.create(owner, "head", ALL_PERMISSIONS, ("a", "b"), 0)).key)
    for spaces in ((), ("c",), ("a", "c")):
        with pytest.raises(SpaceForbidden):
            await engine.tokens.create(head, "more", READ, spaces, 0)
    inside = await engine.tokens.create(head, "inside", READ, ("a",), 0)
    for beyond in ([], ["c"]):
        with pytest.raises(SpaceForbidden):
            await engine.tokens.update(head, inside.credential.hash, None, beyond)
    outside = await engine.tokens.create(owner, "outside", READ, ("a", "c"), 0)
    for attempt in (
        engine.tokens.revoke(head, outside.credential.hash),
        engine.tokens.update(head, outside.credential.hash, READ, None),
        engine.tokens.update(head, outside.credential.hash, None, ["a"]),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert {one.name for one, _ in await engine.tokens.all(head)} == {"head", "inside"}


async def test_a_limited_administrator_made_for_one_call_governs_nothing(engine: Engine, owner: Actor) -> None:
    narrowed = owner.within(frozenset({CollectionId("x")}))
    assert await engine.tokens.all(narrowed) == []
    with pytest.raises(SpaceForbidden):
        await engine.tokens.create(narrowed, "more", READ, ("a",), 0)


async def test_a_token_names_so_many_spaces_and_no_more(engine: Engine, owner: Actor) -> None:
    names = [f"s{number}" for number in range(MOST_OPENED + 1)]
    assert await engine.tokens.create(owner, "many", READ, names[:-1], 0)
    with pytest.raises(Invalid):
        await engine.tokens.create(owner, "more", READ, names, 0)


async def test_the_keys_of_a_user_cannot_be_changed_so_that_all_of_them_open_spaces(
    engine: Engine, owner: Actor
) -> None:
    made = await engine.access.create_key("ann's", READ_WRITE, user="ann")
    with pytest.raises(Invalid):
        await engine.tokens.update(owner, made.credential.hash, None, [])
    ann = await shown(engine, made.key)
    holdings = await engine.store.read(lambda tx: tx.holdings(ann.user))
    assert Right.ADMIN not in {one.granted for one in holdings}


# From a registry of someone else


async def test_tokens_of_a_registry_open_what_they_say(engine: Engine, owner: Actor) -> None:
    await engine.spaces.found(owner, "alpha", "", "# R", "")
    await engine.spaces.found(owner, "beta", "", "# R", "")
    entry = {
        "hash": f"sha256:{HASH}",
        "name": "équipe",
        "permissions": ["read", "write"],
        "space_ids": ["alpha"],
        "expires_at": "2027-01-01T00:00:00",
        "revoked": False,
    }
    assert await adopted(engine, entry) == 1
    assert await adopted(engine, entry) == 0
    agent = await shown(engine, "some token")
    assert agent.permissions == READ_WRITE
    assert [one.collection.name for one in await engine.spaces.all(agent)] == ["alpha"]
    (kept,) = await known(engine)
    assert (kept.name, kept.expires_at) == ("équipe", datetime(2027, 1, 1, tzinfo=UTC))
    (written,) = (await engine.store.read(registry))["tokens"]
    assert {key: written[key] for key in ("hash", "name", "permissions", "space_ids")} == {
        key: entry[key] for key in ("hash", "name", "permissions", "space_ids")
    }


async def test_what_a_registry_revokes_is_revoked_and_what_it_restores_is_not(engine: Engine, owner: Actor) -> None:
    made = await engine.tokens.create(owner, "agent", READ, (), 0)
    entry = {"hash": f"sha256:{made.credential.hash}", "name": "agent", "permissions": ["read"], "space_ids": []}
    await adopted(engine, {**entry, "revoked": True})
    with pytest.raises(Unauthenticated):
        await shown(engine, made.key)
    await adopted(engine, {**entry, "revoked": False, "permissions": ["read", "write", "admin"]})
    with pytest.raises(Unauthenticated):
        await shown(engine, made.key)
    assert (await known(engine))[0].permissions == READ


@pytest.mark.parametrize(
    "change",
    [
        {"hash": None},
        {"hash": "sha256:"},
        {"hash": "x" * 64},
        {"hash": HASH[:-1]},
        {"permissions": None},
        {"permissions": []},
        {"permissions": "admin"},
        {"permissions": ["root"]},
        {"permissions": [["read"]]},
        {"space_ids": "alpha"},
        {"space_ids": ["../x"]},
        {"space_ids": [None]},
        {"space_ids": {"alpha": True}},
        {"space_ids": [f"s{n}" for n in range(MOST_OPENED + 1)]},
        {"expires_at": "some day"},
        {"expires_at": 5},
        {"expires_at": "0001-01-01T00:00:00+14:00"},
    ],
    ids=repr,
)
async def test_what_is_not_clear_opens_nothing(engine: Engine, owner: Actor, change: dict[str, Any]) -> None:
    good = {"hash": HASH, "name": "x", "permissions": ["read"], "space_ids": ["alpha"], "expires_at": None}
    assert await adopted(engine, {**good, **change}) == 0
    assert await known(engine) == []
    with pytest.raises(Unauthenticated):
        await shown(engine, "some token")


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("hash", "name", "permissions", "space_ids", "expires_at", "revoked", "created_at")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(entry=st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)))
async def test_nothing_in_a_registry_upsets_us(engine: Engine, owner: Actor, entry: dict[str, Any]) -> None:
    for one in (entry, {**entry, "hash": HASH, "permissions": ["read"]}):
        await adopted(engine, one)
    for kept in await known(engine):
        assert kept.name.isprintable()
