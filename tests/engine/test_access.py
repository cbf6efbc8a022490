from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission, Right
from commonplace.domain.credential import key_hash
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, Unauthenticated
from commonplace.domain.identifiers import CollectionId
from commonplace.domain.memory import Change, Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio

READ = frozenset({Permission.READ})
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


async def actor(engine: Engine, user: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key-of-{user}", permissions, user=user)
    return (await engine.access.authenticate(made.key)).through("test")


async def test_a_key_opens_the_memories_of_its_user(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("the owner's"))
    made = await engine.access.create_key("second", READ)
    second = await engine.access.authenticate(made.key)
    assert (await engine.memories.get(second, Reference(id=memory.id))).content == "the owner's"


async def test_only_the_hash_of_a_key_is_kept(engine: Engine, folder: Path) -> None:
    made = await engine.access.create_key("agent", READ)
    assert made.credential.hash == key_hash(made.key)
    await engine.store.vacuum()
    for path in folder.iterdir():
        assert made.key.encode() not in path.read_bytes()


async def test_an_unknown_a_revoked_and_an_expired_key_are_refused_alike(engine: Engine, clock: Clock) -> None:
    revoked = await engine.access.create_key("revoked", READ)
    expiring = await engine.access.create_key("expiring", READ, expires_at=clock.now() + timedelta(days=1))
    assert await engine.access.authenticate(expiring.key)
    await engine.access.revoke_key("revoked")
    clock.advance(timedelta(days=1))
    for key in (revoked.key, expiring.key, "cp_nobody", "", "\udc00"):
        with pytest.raises(Unauthenticated):
            await engine.access.authenticate(key)


async def test_an_actor_is_current_as_long_as_its_credential_is(engine: Engine, owner: Actor, clock: Clock) -> None:
    revoked = await engine.access.create_key("revoked", READ)
    expiring = await engine.access.create_key("expiring", READ, expires_at=clock.now() + timedelta(days=1))
    first, second = [await engine.access.authenticate(made.key) for made in (revoked, expiring)]
    assert await engine.access.is_current(first)
    assert await engine.access.is_current(second)
    await engine.access.revoke_key("revoked")
    assert not await engine.access.is_current(first)
    clock.advance(timedelta(days=1))
    assert not await engine.access.is_current(second)
    assert await engine.access.is_current(owner)


async def test_the_first_owner_key_is_made_once(engine: Engine) -> None:
    key = await engine.access.first_owner_key()
    assert key is not None
    assert (await engine.access.authenticate(key)).permissions == ALL_PERMISSIONS
    assert await engine.access.first_owner_key() is None


async def test_the_owner_key_of_the_environment_is_the_owner_key(
    folder: Path, clock: Clock, embedder: Embedder
) -> None:
    settings = Settings(data_dir=str(folder), timezone="UTC", owner_key="chosen by the owner")
    engine = build(settings, model=embedder, clock=clock, zone=ZoneInfo("UTC"))
    try:
        assert await engine.access.first_owner_key() is None
        assert (await engine.access.authenticate("chosen by the owner")).permissions == ALL_PERMISSIONS
        with pytest.raises(Unauthenticated):
            await engine.access.authenticate("chosen by someone")
    finally:
        await engine.close()


async def test_a_name_has_one_valid_key(engine: Engine) -> None:
    await engine.access.create_key("agent", READ)
    with pytest.raises(AlreadyExists):
        await engine.access.create_key("agent", READ)
    await engine.access.revoke_key("agent")
    assert await engine.access.create_key("agent", READ)


async def test_revoking_what_is_not_there_says_so(engine: Engine) -> None:
    with pytest.raises(NotFound):
        await engine.access.revoke_key("nobody")


async def test_bad_keys_are_not_made(engine: Engine) -> None:
    with pytest.raises(Invalid):
        await engine.access.create_key(" ", READ)
    with pytest.raises(Invalid):
        await engine.access.create_key("agent", frozenset())
    with pytest.raises(Invalid):
        await engine.access.create_key("agent", READ, zone="Mars/Olympus")


async def test_a_user_has_a_time_zone_of_his_own(engine: Engine) -> None:
    made = await engine.access.create_key("paul", READ, user="paul", zone="Europe/Paris")
    assert (await engine.access.authenticate(made.key)).zone == ZoneInfo("Europe/Paris")


async def test_users_do_not_see_each_other(engine: Engine, owner: Actor) -> None:
    ann, bob = await actor(engine, "ann"), await actor(engine, "bob")
    memory = await engine.memories.remember(ann, Draft("ann's secret garden"))
    assert memory.block is not None
    for reference in (Reference(id=memory.id), Reference(block=memory.block)):
        for stranger in (bob, owner):
            with pytest.raises(NotFound):
                await engine.memories.get(stranger, reference)
            with pytest.raises(NotFound):
                await engine.memories.revise(stranger, reference, Change(importance=1.0))
            with pytest.raises(NotFound):
                await engine.memories.forget(stranger, reference)
    assert not (await engine.recall.recall(bob, Question("secret garden"))).hits
    assert (await engine.memories.page(bob, 10)).total == 0
    assert not await engine.events.visible(bob, 0)
    assert await engine.events.visible(ann, 0)


async def test_a_reading_key_cannot_write(engine: Engine, owner: Actor) -> None:
    memory = await engine.memories.remember(owner, Draft("kept"))
    made = await engine.access.create_key("reader", READ)
    reader = await engine.access.authenticate(made.key)
    for attempt in (
        engine.memories.remember(reader, Draft("more")),
        engine.memories.revise(reader, Reference(id=memory.id), Change(importance=1.0)),
        engine.memories.forget(reader, Reference(id=memory.id)),
        engine.memories.set_end(reader, Reference(id=memory.id), timedelta(hours=1)),
    ):
        with pytest.raises(Forbidden):
            await attempt
    assert (await engine.memories.page(owner, 10)).total == 1


async def test_a_grant_opens_a_collection_as_far_as_it_goes(engine: Engine, owner: Actor, clock: Clock) -> None:
    ann, bob = await actor(engine, "ann"), await actor(engine, "bob")
    now = clock.now()
    project = await engine.store.write(
        lambda tx: tx.add_collection(CollectionId("project-1"), "project", "project", "p", ann.user, now)
    )
    holdings = await engine.store.read(lambda tx: {h.id: h for h in tx.holdings(bob.user)})
    assert CollectionId("project-1") not in holdings
    await engine.store.write(lambda tx: tx.grant(bob.user, project, Right.READ, ann.user, now))
    granted = await engine.store.read(lambda tx: {h.id: h for h in tx.holdings(bob.user)})
    assert granted[CollectionId("project-1")].granted is Right.READ


async def test_keys_made_and_revoked_at_the_machine_leave_a_trace(engine: Engine, owner: Actor) -> None:
    made = await engine.access.create_key("agent", READ)
    await engine.access.revoke_key("agent")
    trail = (await engine.doings.latest(owner, 10)).doings
    assert [(one.what, one.subject, one.by.tool) for one in trail] == [
        ("key revoked", made.credential.id, "commonplace.keys"),
        ("key created", made.credential.id, "commonplace.keys"),
    ]
    assert made.key not in str(trail)
