"""Keys that users make themselves: never more than what they were made with."""

from datetime import timedelta
from itertools import combinations

import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission, Right
from commonplace.domain.credential import key_hash
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, Unauthenticated
from commonplace.domain.identifiers import CollectionId, CredentialId
from commonplace.domain.memory import Draft
from commonplace.domain.team import Role
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.keys import MOST_KEYS
from tests.engine.people import identity
from tests.fakes import Clock

pytestmark = pytest.mark.anyio

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})
DAY = timedelta(days=1)


async def user(
    engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE, key: str = "", days: int = 0
) -> Actor:
    until = engine.clock.now() + days * DAY if days else None
    made = await engine.access.create_key(key or f"key of {name}", permissions, user=name, expires_at=until)
    return (await engine.access.authenticate(made.key)).through("test", f"{name}/1")


async def atlas(engine: Engine, actor: Actor, name: str, parent: CollectionId | None = None) -> CollectionId:
    return (await engine.atlases.create(actor, Sketch(name), parent)).collection.id


async def test_a_key_is_the_maker_s_with_its_permissions_and_only_its_hash_is_kept(engine: Engine) -> None:
    ann = await user(engine, "ann")
    made = await engine.keys.generate(ann, " Läptop ")
    shown = await engine.access.authenticate(made.key)
    assert (shown.user, shown.permissions, shown.limited_to) == (ann.user, READ_WRITE, None)
    assert (made.credential.name, shown.credential) == ("Läptop", "ann/Läptop")
    assert made.credential.hash == key_hash(made.key)
    kept = await engine.store.read(lambda tx: repr(tx.credentials()))
    assert made.key not in kept


@pytest.mark.parametrize("permissions", [frozenset(some) for n in (1, 2, 3) for some in combinations(Permission, n)])
async def test_a_key_never_allows_more_than_what_it_was_made_with(
    engine: Engine, permissions: frozenset[Permission]
) -> None:
    ann = await user(engine, "ann", permissions)
    if Permission.WRITE not in permissions:
        with pytest.raises(Forbidden):
            await engine.keys.generate(ann)
        return
    made = await engine.keys.generate(ann)
    assert (await engine.access.authenticate(made.key)).permissions == permissions


async def test_a_key_never_lasts_longer_than_what_it_was_made_with(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann", days=10)
    now = clock.now()
    made = [await engine.keys.generate(ann, lasting=given) for given in (None, 3 * DAY, 30 * DAY)]
    lasts = [one.credential.expires_at for one in made]
    assert lasts == [now + 10 * DAY, now + 3 * DAY, now + 10 * DAY]
    for_ever = await user(engine, "ben")
    assert (await engine.keys.generate(for_ever)).credential.expires_at is None
    vouched = await engine.access.vouched("ben", READ_WRITE, "jwt", now + DAY)
    assert (await engine.keys.generate(vouched)).credential.expires_at == now + DAY
    clock.advance(3 * DAY)
    short = await engine.keys.generate(ann, lasting=DAY)
    clock.advance(DAY)
    with pytest.raises(Unauthenticated):
        await engine.access.authenticate(short.key)


async def test_names_are_one_s_own(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    await engine.keys.generate(ann, "laptop")
    assert (await engine.keys.generate(ben, "laptop")).credential.name == "laptop"
    assert (await engine.keys.generate(ben, "key of ann")).credential.name == "key of ann"
    with pytest.raises(AlreadyExists) as caught:
        await engine.keys.generate(ann, "laptop")
    assert caught.value.name == "laptop"
    for name in (" ", "x" * 201, "a\nb", "\x00", "\ud800"):
        with pytest.raises(Invalid):
            await engine.keys.generate(ann, name)


async def test_there_is_an_end_to_how_many_one_makes(engine: Engine) -> None:
    ann = await user(engine, "ann")
    for _ in range(MOST_KEYS - 1):
        await engine.keys.generate(ann)
    with pytest.raises(Invalid):
        await engine.keys.generate(ann)


async def test_a_shared_key_opens_its_atlas_and_what_is_below_and_nothing_else(engine: Engine) -> None:
    ann = await user(engine, "ann")
    top = await atlas(engine, ann, "top")
    opened = await atlas(engine, ann, "opened", top)
    below = await atlas(engine, ann, "below", opened)
    beside = await atlas(engine, ann, "beside", top)
    for place in (None, top, opened, below, beside):
        await engine.memories.remember(ann, Draft(f"in {place}", home=place))
    made = await engine.keys.share(ann, "for all", opened, Right.READ)
    shown = await engine.access.authenticate(made.key)
    assert shown.permissions == {Permission.READ}
    seen = {memory.collection for memory in (await engine.memories.page(shown, 100)).memories}
    assert seen == {opened, below}
    later = await atlas(engine, ann, "later", below)
    await engine.memories.remember(ann, Draft("later", home=later))
    shown = await engine.access.renewed(shown)
    assert (await engine.memories.page(shown, 100)).total == 3
    with pytest.raises(Forbidden):
        await engine.memories.remember(shown, Draft("no", home=opened))


async def test_a_shared_key_that_writes_writes_there_only(engine: Engine) -> None:
    ann = await user(engine, "ann")
    opened, other = await atlas(engine, ann, "opened"), await atlas(engine, ann, "other")
    made = await engine.keys.share(ann, "for all", opened, Right.WRITE)
    shown = await engine.access.authenticate(made.key)
    assert shown.permissions == READ_WRITE
    assert (await engine.memories.remember(shown, Draft("yes", home=opened))).collection == opened
    for place in (other, None):
        with pytest.raises(Forbidden):
            await engine.memories.remember(shown, Draft("no", home=place))


async def test_without_an_atlas_a_shared_key_opens_those_that_are_the_maker_s_now(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    with pytest.raises(Invalid):
        await engine.keys.share(ann, "none", None, Right.READ)
    roots = frozenset([await atlas(engine, ann, "one"), await atlas(engine, ann, "two")])
    await atlas(engine, ben, "bens")
    made = await engine.keys.share(ann, "mine", None, Right.READ)
    await atlas(engine, ann, "three")
    assert set(made.credential.collections or ()) == roots
    assert (await engine.access.authenticate(made.key)).limited_to == roots


async def test_only_who_governs_an_atlas_shares_it(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await atlas(engine, ann, "anns")
    for absent in (place, CollectionId(ABSENT)):
        with pytest.raises(NotFound):
            await engine.keys.share(ben, "x", absent, Right.READ)
    team = (await engine.teams.create(ann, "crew")).membership.team
    await engine.teams.invite(ann, team.id, await identity(engine, "ben"), Role.MEMBER)
    for right in (Right.READ, Right.WRITE):
        await engine.teams.share(ann, place, team.id, right, inherited=True)
        with pytest.raises(Forbidden):
            await engine.keys.share(ben, "x", place, Right.READ)
    await engine.teams.share(ann, place, team.id, Right.ADMIN, inherited=True)
    made = await engine.keys.share(ben, "x", place, Right.READ)
    await engine.memories.remember(ann, Draft("shared", home=place))
    shown = await engine.access.authenticate(made.key)
    assert (await engine.memories.page(shown, 10)).total == 1
    await engine.teams.unshare(ann, place, team.id)
    assert (await engine.memories.page(shown, 10)).total == 0


async def test_shared_keys_are_listed_for_their_maker_only(engine: Engine, clock: Clock) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    place = await atlas(engine, ann, "anns")
    for name in ("one", "two"):
        await engine.keys.share(ann, name, place, Right.READ)
        clock.advance(DAY)
    await engine.keys.generate(ann, "no shared key")
    assert [one.name for one in await engine.keys.shared(ann)] == ["two", "one"]
    assert await engine.keys.shared(ben) == []


async def test_revoking_and_deleting_are_at_once_and_for_the_maker_only(engine: Engine, clock: Clock) -> None:
    ann, root = await user(engine, "ann"), await user(engine, "root", ALL_PERMISSIONS)
    place = await atlas(engine, ann, "anns")
    made = await engine.keys.share(ann, "one", place, Right.READ)
    plain = await engine.keys.generate(ann, "plain")
    shown = await engine.access.authenticate(made.key)
    for who, key in ((root, made.credential.id), (ann, plain.credential.id), (ann, CredentialId(ABSENT))):
        for refused in (engine.keys.revoke(who, key), engine.keys.delete(who, key)):
            with pytest.raises(NotFound):
                await refused
    first = await engine.keys.revoke(ann, made.credential.id)
    clock.advance(DAY)
    assert (await engine.keys.revoke(ann, made.credential.id)).revoked_at == first.revoked_at
    assert not await engine.access.is_current(shown)
    with pytest.raises(Unauthenticated):
        await engine.access.authenticate(made.key)
    assert [one.revoked_at for one in await engine.keys.shared(ann)] == [first.revoked_at]
    await engine.keys.delete(ann, made.credential.id)
    assert await engine.keys.shared(ann) == []
    living = await engine.keys.share(ann, "one", place, Right.READ)
    shown = await engine.access.authenticate(living.key)
    await engine.keys.delete(ann, living.credential.id)
    assert not await engine.access.is_current(shown)
    told = [one.what for one in (await engine.doings.latest(ann, 20)).doings if "key" in one.what]
    assert sorted(told) == [
        "key created",
        "shared key created",
        "shared key created",
        "shared key deleted",
        "shared key deleted",
        "shared key revoked",
    ]


async def test_a_key_that_opens_only_a_part_makes_lists_and_removes_none(engine: Engine) -> None:
    ann = await user(engine, "ann")
    place = await atlas(engine, ann, "anns")
    made = await engine.keys.share(ann, "one", place, Right.WRITE)
    shown = await engine.access.authenticate(made.key)
    for refused in (
        engine.keys.generate(shown),
        engine.keys.share(shown, "more", place, Right.READ),
        engine.keys.shared(shown),
        engine.keys.revoke(shown, made.credential.id),
        engine.keys.delete(shown, made.credential.id),
    ):
        with pytest.raises(Forbidden):
            await refused
