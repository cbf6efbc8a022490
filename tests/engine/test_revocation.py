"""Whoever loses a key loses what was made with it: a thief may have made himself others."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission
from commonplace.domain.errors import Invalid, NotFound, Unauthenticated
from commonplace.engine import Engine
from commonplace.engine.access import NewKey
from commonplace.engine.revocation import ALONG
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

READ = frozenset({Permission.READ})


async def entered(engine: Engine, made: NewKey) -> Actor:
    return await engine.access.authenticate(made.key)


async def family(engine: Engine) -> dict[str, NewKey]:
    """A stolen key, what the thief made with it and with that, and a key that has nothing to do with it."""
    stolen = await engine.access.create_key("stolen", ALL_PERMISSIONS)
    thief = await entered(engine, stolen)
    second = await engine.keys.generate(thief, "second")
    token = await engine.tokens.create(await entered(engine, second), "token", ALL_PERMISSIONS, [], 0)
    third = await engine.tokens.create(await entered(engine, token), "third", READ, [], 0)
    other = await engine.access.create_key("other", ALL_PERMISSIONS)
    return {"stolen": stolen, "owner/second": second, "token": token, "third": third, "other": other}


async def opening(engine: Engine, keys: dict[str, NewKey]) -> set[str]:
    found = set()
    for name, made in keys.items():
        try:
            await entered(engine, made)
        except Unauthenticated:
            continue
        found.add(name)
    return found


async def test_with_a_key_goes_all_that_was_made_with_it(engine: Engine, owner: Actor) -> None:
    keys = await family(engine)
    told = await engine.access.revocable("stolen")
    assert [one.name for one in told.along] == ["owner/second", "token", "third"]
    assert await opening(engine, keys) == set(keys)
    gone = await engine.access.revoke_key("stolen")
    assert gone == told
    assert await opening(engine, keys) == {"other"}
    noted = (await engine.doings.latest(owner, 100)).doings
    assert sum(one.what == ALONG for one in noted) == 3


async def test_with_a_token_goes_only_what_was_made_with_it(engine: Engine, owner: Actor) -> None:
    keys = await family(engine)
    gone = await engine.tokens.revoke(owner, keys["token"].credential.hash)
    assert [one.name for one in gone.along] == ["third"]
    assert await opening(engine, keys) == {"stolen", "owner/second", "other"}


async def test_a_key_may_go_alone_where_it_is_exchanged_for_another(engine: Engine) -> None:
    keys = await family(engine)
    assert (await engine.access.revocable("stolen", alone=True)).along == ()
    assert (await engine.access.revoke_key("stolen", alone=True)).along == ()
    assert await opening(engine, keys) == set(keys) - {"stolen"}


async def test_of_the_keys_of_one_name_the_valid_one_is_revoked(engine: Engine, clock: Clock) -> None:
    await engine.access.create_key("agent", READ, expires_at=clock.now() + timedelta(days=1))
    clock.advance(timedelta(days=2))
    later = await engine.access.create_key("agent", READ)
    await engine.access.revoke_key("agent")
    with pytest.raises(Unauthenticated):
        await entered(engine, later)


async def test_a_name_of_several_valid_ones_is_refused_with_their_ids(engine: Engine, owner: Actor) -> None:
    key = await engine.access.create_key("agent", READ)
    token = await engine.tokens.create(owner, "agent", READ, [], 0)
    with pytest.raises(Invalid, match=token.credential.id):
        await engine.access.revoke_key("agent")
    await engine.access.revoke_key(token.credential.id)
    assert await entered(engine, key)


async def test_what_stayed_open_behind_a_revoked_key_can_still_be_revoked(engine: Engine, folder: Path) -> None:
    """As a release left it that revoked the key alone."""
    keys = await family(engine)
    now = engine.clock.now()
    await engine.store.write(lambda tx: tx.revoke_credential(keys["stolen"].credential.id, now))
    assert len((await engine.access.revoke_key("stolen")).along) == 3
    assert await opening(engine, keys) == {"other"}
    with pytest.raises(NotFound):
        await engine.access.revoke_key("stolen")


async def test_of_an_earlier_release_the_audit_trail_tells_what_was_made_with_what(
    engine: Engine, folder: Path
) -> None:
    keys = await family(engine)
    expected = {one.id: one.made_with for one, _ in await engine.access.keys()}
    await engine.close()
    connection = apsw.Connection(str(folder / FILE_NAME))
    for table, column in (("credentials", "made_with"), ("unembedded", "refused")):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}").fetchall()
    connection.execute("PRAGMA user_version = 14").fetchall()
    connection.close()
    store = SqliteStore(folder, Embedder().fingerprint)
    assert {one.id: one.made_with for one in await store.read(lambda tx: list(tx.credentials()))} == expected
    assert expected[keys["third"].credential.id] == keys["token"].credential.id
    await store.close()
