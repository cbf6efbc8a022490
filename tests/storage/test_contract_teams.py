"""What every store promises about teams, what is shared with them, and trees of collections."""

from datetime import timedelta

import pytest

from commonplace.domain.access import Holding, Right
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.team import Mate, Membership, Role, Share, Team, TeamId
from commonplace.ports import Reading, Transaction
from tests.storage.samples import NOW, House, new_id

pytestmark = pytest.mark.anyio

LATER = NOW + timedelta(hours=1)


def _atlas(tx: Transaction, owner: UserId, parent: int | None = None, name: str = "地図") -> int:
    return tx.add_collection(CollectionId(new_id()), "atlas", "project", name, owner, NOW, parent)


def _team(tx: Transaction, owner: UserId, *mates: UserId, name: str = "開発 🧠") -> Team:
    team = Team(TeamId(new_id()), name, "'; DROP TABLE teams; --", NOW)
    tx.teams.add(team)
    tx.teams.put_mate(team.id, owner, Role.OWNER, owner, NOW)
    for mate in mates:
        tx.teams.put_mate(team.id, mate, Role.MEMBER, owner, LATER)
    return team


def _held(tx: Reading, user: UserId) -> dict[int, Right | None]:
    return {holding.number: holding.granted for holding in tx.holdings(user)}


# Teams


async def test_a_team_comes_back_as_it_was_handed_over(house: House) -> None:
    team = await house.store.write(lambda tx: _team(tx, house.ada))
    assert await house.store.read(lambda tx: tx.teams.get(team.id)) == team
    assert await house.store.read(lambda tx: tx.teams.get(TeamId(new_id()))) is None


async def test_members_come_with_the_owner_first_and_then_by_their_say(house: House) -> None:
    def work(tx: Transaction) -> TeamId:
        team = _team(tx, house.ben, house.ada)
        return team.id

    team = await house.store.write(work)
    mates = [Mate(house.ben, "ben", Role.OWNER, NOW), Mate(house.ada, "ada", Role.MEMBER, LATER)]
    assert await house.store.read(lambda tx: tx.teams.mates(team, 10)) == mates
    assert await house.store.read(lambda tx: tx.teams.mates(team, 1)) == mates[:1]
    assert await house.store.read(lambda tx: tx.teams.count_mates(team)) == 2


async def test_a_member_who_is_put_again_gets_the_role_and_keeps_his_time(house: House) -> None:
    def work(tx: Transaction) -> list[Mate]:
        team = _team(tx, house.ada, house.ben)
        tx.teams.put_mate(team.id, house.ben, Role.ADMIN, house.ada, LATER + timedelta(days=1))
        return list(tx.teams.mates(team.id, 10))

    assert (await house.store.write(work))[1] == Mate(house.ben, "ben", Role.ADMIN, LATER)


async def test_who_is_in_which_team_as_what(house: House) -> None:
    def work(tx: Transaction) -> tuple[Team, Team]:
        return _team(tx, house.ada, house.ben), _team(tx, house.ben)

    ours, bens = await house.store.write(work)

    def roles(tx: Reading) -> list[Role | None]:
        return [tx.teams.role(team.id, user) for team in (ours, bens) for user in (house.ada, house.ben)]

    assert await house.store.read(roles) == [Role.OWNER, Role.MEMBER, None, Role.OWNER]
    assert await house.store.read(lambda tx: tx.teams.count_of(house.ben)) == 2
    assert await house.store.read(lambda tx: tx.teams.count_of(house.ben, Role.OWNER)) == 1


async def test_the_teams_of_a_user_come_with_figures(house: House) -> None:
    def work(tx: Transaction) -> tuple[Team, Team]:
        first, second = _team(tx, house.ada, house.ben), _team(tx, house.ada)
        tx.teams.grant(first.id, _atlas(tx, house.ada), Right.READ, True, house.ada, NOW)
        return first, second

    first, second = await house.store.write(work)
    expected = [Membership(second, Role.OWNER, 1, 0), Membership(first, Role.OWNER, 2, 1)]
    found = await house.store.read(lambda tx: tx.teams.of_user(house.ada, 10))
    assert sorted(found, key=lambda one: one.team.id) == sorted(expected, key=lambda one: one.team.id)
    assert len(await house.store.read(lambda tx: tx.teams.of_user(house.ada, 1))) == 1


# What is shared


async def test_what_a_team_is_given_its_members_hold_and_nobody_else(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, TeamId]:
        team, atlas = _team(tx, house.ada, house.ben), _atlas(tx, house.ada)
        tx.teams.grant(team.id, atlas, Right.WRITE, True, house.ada, NOW)
        return atlas, team.id

    atlas, team = await house.store.write(work)
    assert (await house.store.read(lambda tx: _held(tx, house.ben)))[atlas] is Right.WRITE
    assert (await house.store.read(lambda tx: _held(tx, house.ada)))[atlas] is None  # it is her own
    await house.store.write(lambda tx: tx.teams.remove_mate(team, house.ben))
    assert atlas not in await house.store.read(lambda tx: _held(tx, house.ben))


async def test_a_grant_goes_down_the_tree_where_it_is_inherited(house: House) -> None:
    def work(tx: Transaction) -> tuple[TeamId, list[int]]:
        team, top = _team(tx, house.ada, house.ben), _atlas(tx, house.ada)
        middle = _atlas(tx, house.ada, top)
        bottom, beside = _atlas(tx, house.ada, middle), _atlas(tx, house.ada)
        tx.teams.grant(team.id, top, Right.READ, True, house.ada, NOW)
        return team.id, [top, middle, bottom, beside]

    team, (top, middle, bottom, beside) = await house.store.write(work)
    held = await house.store.read(lambda tx: _held(tx, house.ben))
    assert {top, middle, bottom} <= held.keys()
    assert beside not in held
    await house.store.write(lambda tx: tx.teams.grant(team, top, Right.READ, False, house.ada, NOW))
    held = await house.store.read(lambda tx: _held(tx, house.ben))
    assert top in held
    assert not {middle, bottom} & held.keys()


async def test_a_right_that_comes_in_several_ways_counts_at_its_best(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, list[Holding]]:
        top = _atlas(tx, house.ada)
        atlas = _atlas(tx, house.ada, top)
        for right, where in ((Right.READ, top), (Right.ADMIN, atlas)):
            tx.teams.grant(_team(tx, house.ada, house.ben).id, where, right, True, house.ada, NOW)
        tx.grant(house.ben, atlas, Right.WRITE, house.ada, NOW)
        return atlas, list(tx.holdings(house.ben))

    atlas, holdings = await house.store.write(work)
    assert {h.granted for h in holdings if h.number == atlas} == {Right.READ, Right.WRITE, Right.ADMIN}


async def test_shares_are_found_from_both_ends(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, int, Team]:
        team, atlas, direct = _team(tx, house.ada, house.ben), _atlas(tx, house.ada), _atlas(tx, house.ada)
        project = tx.add_collection(CollectionId(new_id()), "project", "project", "p", house.ada, NOW)
        tx.teams.grant(team.id, atlas, Right.ADMIN, False, house.ada, LATER)
        tx.grant(house.ben, direct, Right.READ, house.ada, NOW)
        tx.grant(house.ben, project, Right.READ, house.ada, NOW)
        return atlas, direct, team

    atlas, direct, team = await house.store.write(work)

    def shares(tx: Reading) -> list[Share]:
        one, other = tx.collections.numbered(atlas), tx.collections.numbered(direct)
        assert one
        assert other
        return [Share(one, Right.ADMIN, False, LATER, team), Share(other, Right.READ, True, NOW)]

    expected = await house.store.read(shares)
    assert await house.store.read(lambda tx: tx.teams.shared_with(house.ben, 10)) == expected
    assert await house.store.read(lambda tx: tx.teams.shared_with(house.ben, 1)) == expected[:1]
    assert await house.store.read(lambda tx: tx.teams.count_shared_with(house.ben)) == 2
    assert await house.store.read(lambda tx: tx.teams.shares_of(atlas, 10)) == expected[:1]
    assert await house.store.read(lambda tx: tx.teams.share(atlas, team.id)) == expected[0]
    assert await house.store.read(lambda tx: tx.teams.share(direct, team.id)) is None


async def test_sharing_again_changes_how(house: House) -> None:
    def work(tx: Transaction) -> Share | None:
        team, atlas = _team(tx, house.ada), _atlas(tx, house.ada)
        tx.teams.grant(team.id, atlas, Right.READ, True, house.ada, NOW)
        tx.teams.grant(team.id, atlas, Right.WRITE, False, house.ada, LATER)
        return tx.teams.share(atlas, team.id)

    share = await house.store.write(work)
    assert share
    assert (share.right, share.inherited, share.since) == (Right.WRITE, False, NOW)


async def test_what_is_taken_back_or_gone_is_shared_no_more(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, int, TeamId]:
        team, one, other = _team(tx, house.ada, house.ben), _atlas(tx, house.ada), _atlas(tx, house.ada)
        for atlas in (one, other):
            tx.teams.grant(team.id, atlas, Right.READ, True, house.ada, NOW)
        return one, other, team.id

    one, other, team = await house.store.write(work)
    await house.store.write(lambda tx: tx.teams.ungrant(team, one))
    assert one not in await house.store.read(lambda tx: _held(tx, house.ben))
    await house.store.write(lambda tx: tx.collections.remove(other))
    assert await house.store.read(lambda tx: tx.teams.shared_with(house.ben, 10)) == []
    assert await house.store.read(lambda tx: tx.teams.count_shared_with(house.ben)) == 0


# Trees


async def test_places_tell_what_lies_in_what(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, int]:
        top = _atlas(tx, house.ada)
        return top, _atlas(tx, house.ada, top)

    top, below = await house.store.write(work)
    numbers = [house.home, below, top, 999_999]
    assert await house.store.read(lambda tx: tx.collections.places("atlas", numbers)) == {top: None, below: top}
    assert await house.store.read(lambda tx: tx.collections.places("atlas", [])) == {}
