"""Teams: who is in them, who decides that, and what is shared with them in which way."""

from collections.abc import Awaitable

import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Permission, Right
from commonplace.domain.credential import User
from commonplace.domain.errors import CommonplaceError, Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.team import MOST_MATES, Mate, Role, Share, TeamId
from commonplace.engine import Engine
from commonplace.engine.atlases import Sketch
from commonplace.engine.memories import Reference
from commonplace.ports import Transaction
from tests.engine.people import identity
from tests.fakes import Clock
from tests.storage.samples import new_id

pytestmark = pytest.mark.anyio

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
READ_WRITE = frozenset({Permission.READ, Permission.WRITE})
MOST = 1000


async def user(engine: Engine, name: str, permissions: frozenset[Permission] = READ_WRITE) -> Actor:
    made = await engine.access.create_key(f"key of {name}", permissions, user=name)
    return (await engine.access.authenticate(made.key)).through("test")


async def founded(engine: Engine, actor: Actor, **mates: Role) -> TeamId:
    team = (await engine.teams.create(actor, "a team")).membership.team.id
    for name, role in mates.items():
        await engine.teams.invite(actor, team, await identity(engine, name), role)
    return team


async def plant(engine: Engine, actor: Actor, below: CollectionId | None = None) -> CollectionId:
    return (await engine.atlases.create(actor, Sketch("an atlas"), below)).collection.id


async def keep(engine: Engine, actor: Actor, text: str, home: CollectionId | None = None) -> Memory:
    return await engine.memories.remember(actor, Draft(text, home=home))


async def sees(engine: Engine, actor: Actor, memory: Memory) -> bool:
    try:
        await engine.memories.get(actor, Reference(id=memory.id))
    except NotFound:
        return False
    return True


async def mates(engine: Engine, actor: Actor, team: TeamId) -> dict[str, Role]:
    found, _ = await engine.teams.all(actor, None, MOST, MOST)
    (roster,) = [one for one in found if one.membership.team.id == team]
    return {mate.name: mate.role for mate in roster.mates}


async def refused(act: Awaitable[object], kind: type[CommonplaceError]) -> CommonplaceError:
    with pytest.raises(kind) as caught:
        await act
    return caught.value


# Founding


async def test_a_team_begins_with_its_owner(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    made = await engine.teams.create(ann, " 開発 ", " why ")
    assert (made.membership.team.name, made.membership.team.description) == ("開発", "why")
    assert (made.membership.role, made.membership.mates, made.membership.atlases) == (Role.OWNER, 1, 0)
    assert made.mates == [Mate(ann.user, "ann", Role.OWNER, clock.now())]
    assert await engine.teams.all(ann, None, MOST, MOST) == ([made], 1)


async def test_only_an_administrator_names_another_owner(engine: Engine, owner: Actor) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    for other in (ben.user, UserId(ABSENT)):
        await refused(engine.teams.create(ann, "x", owner=other), NotFound)
    await refused(engine.teams.create(owner, "x", owner=UserId(ABSENT)), NotFound)
    made = await engine.teams.create(owner, "for ben", owner=ben.user)
    assert made.mates[0].name == "ben"
    assert (await engine.teams.all(owner, None, MOST, MOST))[1] == 0
    await refused(engine.teams.invite(owner, made.membership.team.id, "ann", Role.MEMBER), NotFound)


async def test_names_and_descriptions_are_checked(engine: Engine, owner: Actor) -> None:
    for name, description in ((" ", ""), ("x" * 201, ""), ("\x00", ""), ("x", "\ud800"), ("x", "x" * 4001)):
        await refused(engine.teams.create(owner, name, description), Invalid)


async def test_a_credential_that_opens_a_part_has_no_say_in_teams(engine: Engine, owner: Actor) -> None:
    team, atlas = await founded(engine, owner), await plant(engine, owner)
    limited = owner.within(frozenset({atlas}))
    for act in (
        engine.teams.create(limited, "x"),
        engine.teams.all(limited, None, MOST, MOST),
        engine.teams.invite(limited, team, "owner", Role.MEMBER),
        engine.teams.remove(limited, team, "owner"),
        engine.teams.share(limited, atlas, team, Right.READ, True),
        engine.teams.unshare(limited, atlas, team),
        engine.teams.shared(limited, None, MOST),
    ):
        await refused(act, Forbidden)


async def test_a_credential_that_only_reads_changes_no_team(engine: Engine) -> None:
    ann = await user(engine, "ann")
    team, atlas = await founded(engine, ann), await plant(engine, ann)
    made = await engine.access.create_key("looks", frozenset({Permission.READ}), user="ann")
    reader = await engine.access.authenticate(made.key)
    assert (await engine.teams.all(reader, None, MOST, MOST))[1] == 1
    for act in (
        engine.teams.create(reader, "x"),
        engine.teams.invite(reader, team, "ann", Role.MEMBER),
        engine.teams.remove(reader, team, "ann"),
        engine.teams.share(reader, atlas, team, Right.READ, True),
        engine.teams.unshare(reader, atlas, team),
    ):
        await refused(act, Forbidden)


# Who is in


async def test_a_user_is_let_in_by_the_id_he_told_or_by_name_where_they_have_met(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    hanako = await user(engine, "花子")
    elsewhere, team = await founded(engine, ann), await founded(engine, ann)
    assert (await engine.teams.invite(ann, team, ben.user, Role.ADMIN)).mate.name == "ben"
    stranger = await refused(engine.teams.invite(ann, team, "花子", Role.MEMBER), NotFound)
    unknown = await refused(engine.teams.invite(ann, team, "太郎", Role.MEMBER), NotFound)
    assert str(stranger).replace("花子", "太郎") == str(unknown)
    await engine.teams.invite(ann, elsewhere, hanako.user, Role.MEMBER)
    assert (await engine.teams.invite(ann, team, " 花子 ", Role.MEMBER)).before is None
    assert await mates(engine, ann, team) == {"ann": Role.OWNER, "ben": Role.ADMIN, "花子": Role.MEMBER}
    for nobody in (ABSENT, "nobody"):
        await refused(engine.teams.invite(ann, team, nobody, Role.MEMBER), NotFound)
    for wrong in ("", "\ud800", "\x00", "x" * 201):
        await refused(engine.teams.invite(ann, team, wrong, Role.MEMBER), Invalid)
        await refused(engine.teams.remove(ann, team, wrong), Invalid)


async def test_an_invitation_of_a_member_changes_his_role(engine: Engine) -> None:
    ann = await user(engine, "ann")
    await user(engine, "ben")
    team = await founded(engine, ann, ben=Role.MEMBER)
    again = await engine.teams.invite(ann, team, "ben", Role.ADMIN)
    assert (again.before, again.mate.role) == (Role.MEMBER, Role.ADMIN)
    assert (await engine.teams.invite(ann, team, "ben", Role.ADMIN)).before is Role.ADMIN
    await refused(engine.teams.invite(ann, team, "ann", Role.MEMBER), Invalid)
    await refused(engine.teams.invite(ann, team, "ben", Role.OWNER), Invalid)
    assert await mates(engine, ann, team) == {"ann": Role.OWNER, "ben": Role.ADMIN}


async def test_the_owner_and_admins_decide_who_is_in(engine: Engine) -> None:
    ann, ben, cleo, dora = [await user(engine, name) for name in ("ann", "ben", "cleo", "dora")]
    team = await founded(engine, ann, ben=Role.ADMIN, cleo=Role.MEMBER)
    await refused(engine.teams.invite(cleo, team, await identity(engine, "dora"), Role.MEMBER), Forbidden)
    await refused(engine.teams.remove(cleo, team, "ben"), Forbidden)
    for act in (engine.teams.invite(dora, team, "dora", Role.MEMBER), engine.teams.remove(dora, team, "ben")):
        assert str(await refused(act, NotFound)) == f"no team '{team}'"
    await engine.teams.invite(ben, team, await identity(engine, "dora"), Role.MEMBER)
    _, gone = await engine.teams.remove(ben, team, dora.user)
    assert gone.name == "dora"
    await refused(engine.teams.remove(ben, team, "dora"), NotFound)


async def test_everyone_may_leave_but_the_owner(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    team = await founded(engine, ann, ben=Role.ADMIN)
    for actor in (ann, ben):
        await refused(engine.teams.remove(actor, team, "ann"), Invalid)
    await engine.teams.remove(ben, team, "ben")
    assert (await engine.teams.all(ben, None, MOST, MOST))[1] == 0


async def test_a_team_has_a_largest_size(engine: Engine, clock: Clock) -> None:
    ann = await user(engine, "ann")
    await user(engine, "ben")
    team = await founded(engine, ann)

    def crowd(tx: Transaction) -> None:
        for number in range(MOST_MATES - 1):
            someone = User(UserId(new_id()), f"user {number}", "", clock.now())
            tx.add_user(someone)
            tx.teams.put_mate(team, someone.id, Role.MEMBER, ann.user, clock.now())

    await engine.store.write(crowd)
    await refused(engine.teams.invite(ann, team, await identity(engine, "ben"), Role.MEMBER), Invalid)
    assert (await engine.teams.invite(ann, team, "user 7", Role.ADMIN)).mate.role is Role.ADMIN


async def test_lists_are_bounded_and_say_how_many_there_are(engine: Engine) -> None:
    ann = await user(engine, "ann")
    for name in range(25):
        await user(engine, f"user {name}")
    large = await founded(engine, ann, **{f"user {name}": Role.MEMBER for name in range(25)})
    await founded(engine, ann)
    found, total = await engine.teams.all(ann, None, 1, 1)
    assert (len(found), total) == (1, 2)
    found, _ = await engine.teams.all(ann, None, MOST, 30)
    (roster,) = [one for one in found if one.membership.team.id == large]
    assert (len(roster.mates), roster.membership.mates) == (20, 26)


# What is shared


async def test_members_find_what_is_shared_until_it_is_not(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    team, atlas = await founded(engine, ann, ben=Role.MEMBER), await plant(engine, ann)
    memory = await keep(engine, ann, "a plan", atlas)
    assert not await sees(engine, ben, memory)
    await engine.teams.share(ann, atlas, team, Right.READ, True)
    assert await sees(engine, ben, memory)
    assert not await sees(engine, cleo, memory)
    await engine.teams.invite(ann, team, await identity(engine, "cleo"), Role.MEMBER)
    assert await sees(engine, cleo, memory)
    await engine.teams.remove(ann, team, "cleo")
    assert not await sees(engine, cleo, memory)
    await engine.teams.unshare(ann, atlas, team)
    assert not await sees(engine, ben, memory)


async def test_sharing_needs_a_say_over_the_atlas_and_a_place_in_the_team(engine: Engine) -> None:
    ann, ben, cleo = [await user(engine, name) for name in ("ann", "ben", "cleo")]
    team, atlas = await founded(engine, ann, ben=Role.ADMIN), await plant(engine, ann)
    elsewhere = await founded(engine, cleo)
    await engine.teams.share(ann, atlas, team, Right.WRITE, True)
    bens = await founded(engine, ben)
    await refused(engine.teams.share(ben, atlas, bens, Right.READ, True), Forbidden)
    await refused(engine.teams.share(cleo, atlas, elsewhere, Right.READ, True), NotFound)
    for unknown in (elsewhere, TeamId(ABSENT)):
        assert str(await refused(engine.teams.share(ann, atlas, unknown, Right.READ, True), NotFound)) == (
            f"no team '{unknown}'"
        )
    await engine.teams.share(ann, atlas, team, Right.ADMIN, True)
    await engine.teams.share(ben, atlas, bens, Right.READ, True)
    assert (await engine.teams.shared(ben, None, MOST))[1] == 2


async def test_sharing_again_changes_how(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    team, top = await founded(engine, ann, ben=Role.MEMBER), await plant(engine, ann)
    above, below = await keep(engine, ann, "above", top), await keep(engine, ann, "x", await plant(engine, ann, top))
    for right, inherited in ((Right.READ, True), (Right.WRITE, False), (Right.READ, True)):
        share = await engine.teams.share(ann, top, team, right, inherited)
        assert (share.right, share.inherited) == (right, inherited)
        assert await sees(engine, ben, above)
        assert await sees(engine, ben, below) is inherited
        revised = engine.memories.revise(ben, Reference(id=above.id), Change(content=f"{right}"))
        if right is Right.READ:
            await refused(revised, Forbidden)
        else:
            assert (await revised).content == "write"
    assert (await engine.teams.shared(ben, None, MOST))[1] == 1


async def test_who_may_only_read_changes_nothing(engine: Engine) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    team, atlas = await founded(engine, ann, ben=Role.MEMBER), await plant(engine, ann)
    memory = await keep(engine, ann, "a plan", atlas)
    await engine.teams.share(ann, atlas, team, Right.READ, True)
    reference = Reference(id=memory.id)
    for act in (
        engine.memories.remember(ben, Draft("mine", home=atlas)),
        engine.memories.revise(ben, reference, Change(content="mine")),
        engine.memories.forget(ben, reference),
        engine.atlases.change(ben, atlas, Sketch("mine")),
        engine.atlases.delete(ben, atlas),
    ):
        await refused(act, Forbidden)


async def test_a_share_is_ended_by_either_side(engine: Engine) -> None:
    ann, ben, cleo, dora = [await user(engine, name) for name in ("ann", "ben", "cleo", "dora")]
    team, atlas = await founded(engine, ben, ann=Role.MEMBER, cleo=Role.MEMBER), await plant(engine, ann)
    await engine.teams.share(ann, atlas, team, Right.READ, True)
    await refused(engine.teams.unshare(cleo, atlas, team), Forbidden)
    await refused(engine.teams.unshare(dora, atlas, team), NotFound)
    await engine.teams.unshare(ben, atlas, team)
    assert str(await refused(engine.teams.unshare(ann, atlas, team), NotFound)) == f"no share '{team}'"
    await refused(engine.teams.unshare(ben, atlas, team), NotFound)
    await engine.teams.share(ann, atlas, team, Right.READ, True)
    await engine.teams.remove(ann, team, "ann")
    await engine.teams.unshare(ann, atlas, team)  # it is still hers
    assert str(await refused(engine.teams.unshare(ann, atlas, team), NotFound)) == f"no team '{team}'"


async def test_what_is_shared_with_someone_is_listed_with_its_source(engine: Engine, owner: Actor) -> None:
    ann, ben = await user(engine, "ann"), await user(engine, "ben")
    team, atlas = await founded(engine, ann, ben=Role.MEMBER), await plant(engine, ann)
    await plant(engine, ann, atlas)
    await engine.teams.share(ann, atlas, team, Right.WRITE, True)
    (share,), total = await engine.teams.shared(ben, None, MOST)
    assert isinstance(share, Share)
    assert (share.atlas.id, share.right, share.inherited, total) == (atlas, Right.WRITE, True, 1)
    assert share.team
    assert share.team.id == team
    assert await engine.teams.shared(owner, ben.user, MOST) == ([share], 1)
    await refused(engine.teams.shared(ann, ben.user, MOST), NotFound)
    assert (await engine.teams.shared(ann, None, MOST))[0] == [share]  # so that she sees what she shared


async def test_what_is_done_to_teams_is_noted(engine: Engine) -> None:
    ann, ben = await user(engine, "ann", ALL_PERMISSIONS), await user(engine, "ben")
    team, atlas = await founded(engine, ann, ben=Role.MEMBER), await plant(engine, ann)
    await engine.teams.invite(ann, team, await identity(engine, "ben"), Role.ADMIN)
    await engine.teams.invite(ann, team, "ben", Role.ADMIN)
    await engine.teams.share(ann, atlas, team, Right.READ, True)
    await engine.teams.unshare(ann, atlas, team)
    await engine.teams.remove(ann, team, "ben")
    noted = sorted((d.what, d.subject) for d in (await engine.doings.latest(ann, 20)).doings if "team" in d.what)
    assert noted == [
        ("team created", team),
        ("team member changed", f"{team}/{ben.user}"),
        ("team member invited", f"{team}/{ben.user}"),
        ("team member removed", f"{team}/{ben.user}"),
    ]


async def test_a_limited_key_shares_with_no_team(engine: Engine, owner: Actor) -> None:
    team, atlas = await founded(engine, owner), await plant(engine, owner)
    with pytest.raises(Forbidden) as refusal:
        await engine.teams.share(owner.within(frozenset({atlas})), atlas, team, Right.READ, False)
    assert "use a key that is not limited" in refusal.value.remedy  # not: ask for a right on the atlas
    assert (await engine.teams.share(owner, atlas, team, Right.READ, False)).right is Right.READ
