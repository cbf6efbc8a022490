"""What every store promises about the audit trail, invitations and loans."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from commonplace.domain.access import ALL_PERMISSIONS, Actor, Right
from commonplace.domain.context import Guest, Invitation
from commonplace.domain.doing import Doing, Level, Sought
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.memory import Author
from commonplace.domain.team import Role, Team, TeamId
from commonplace.ports import Reading, Transaction
from tests.storage.samples import NOW, House, Spoilt, new_id

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)


def actor(user: UserId, tool: str = "creo.team_create", session: str = "s") -> Actor:
    return Actor(user, "Läptop", ALL_PERMISSIONS, ZoneInfo("UTC"), session, tool)


async def note(house: House, user: UserId, what: str, after: timedelta = timedelta(0), **more: str) -> None:
    await house.store.write(lambda tx: tx.doings.note(actor(user), NOW + after, what, **more))


async def told(house: House, limit: int = 50, **sought: Any) -> list[str]:
    wanted = Sought(**sought)
    return [one.what for one in await house.store.read(lambda tx: tx.doings.latest(wanted, limit))]


async def counted(house: House, **sought: Any) -> int:
    wanted = Sought(**sought)
    return await house.store.read(lambda tx: tx.doings.count(wanted))


async def test_a_doing_is_told_as_it_was_noted(house: House) -> None:
    await note(house, house.ada, "team created", subject="teams:1", level="warning")
    (one,) = await house.store.read(lambda tx: tx.doings.latest(Sought(), 10))
    by = Author(house.ada, "Läptop", "s", "creo.team_create")
    assert one == Doing(NOW, by, "team created", "teams:1", Level.WARNING, "ada")


async def test_events_and_doings_are_one_trail_the_latest_first(house: House) -> None:
    await note(house, house.ada, "first", -SECOND)
    memory = await house.keep("secret text")
    await note(house, house.ada, "last", SECOND)
    trail = await house.store.read(lambda tx: tx.doings.latest(Sought(house.ada), 10))
    assert [one.what for one in trail] == ["last", "remembered", "first"]
    assert trail[1].subject == memory.id
    assert await told(house, 2) == ["last", "remembered"]
    assert await counted(house) == 3


async def test_what_upkeep_did_to_vectors_is_not_told_and_a_move_is_told_once(house: House) -> None:
    memory = await house.keep("a")

    def work(tx: Transaction) -> None:
        house.happened(tx, EventKind.EMBEDDED, memory)
        ways = {"from": house.home, "to": house.common}
        for side in (house.home, house.common):
            tx.record(Happening(EventKind.MOVED, NOW, memory.author, memory.id, memory.number, side, ways))

    await house.store.write(work)
    assert await told(house) == ["moved", "remembered"]
    assert await counted(house) == 2


async def test_the_trail_of_one_user_has_nothing_of_another(house: House) -> None:
    await note(house, house.ada, "adas")
    await note(house, house.ben, "bens")
    await house.keep("bens", author=house.author(house.ben))
    assert await told(house, user=house.ada) == ["adas"]
    assert sorted(await told(house, user=house.ben)) == ["bens", "remembered"]
    assert (await counted(house, user=house.ben), await counted(house)) == (2, 3)


async def test_a_level_means_that_and_graver(house: House) -> None:
    for level in Level:
        await note(house, house.ada, level.value, level=level.value)
    await house.keep("an event is information")
    assert sorted(await told(house)) == ["error", "info", "remembered", "warning"]
    assert sorted(await told(house, level=Level.WARNING)) == ["error", "warning"]
    assert await told(house, level=Level.ERROR) == ["error"]
    assert await counted(house, level=Level.WARNING) == 2


@pytest.mark.parametrize("passage", ["TEAM_cre", "created", "Teams:4", "läptop", "LÄPTOP", "ADA"])
async def test_a_passage_is_found_in_every_field_whatever_its_case(house: House, passage: str) -> None:
    await note(house, house.ada, "team created", subject="teams:42")
    assert await told(house, passage=passage) == ["team created"]
    assert await counted(house, passage=passage) == 1


@pytest.mark.parametrize("passage", ["%", "_", "\\", "team%created", "nowhere"])
async def test_a_passage_is_taken_literally(house: House, passage: str) -> None:
    await note(house, house.ada, "team created")
    await house.keep("text %_\\ is no part of the trail")
    assert await told(house, passage=passage) == ([] if passage != "_" else ["team created"])  # it stands in the tool


async def test_memories_are_found_by_what_happened_and_by_id(house: House) -> None:
    memory = await house.keep("a")
    await house.forget(memory)
    assert await told(house, passage="FORGOT") == ["forgotten"]
    assert await told(house, passage=memory.id.upper()) == ["forgotten", "remembered"]


async def test_the_same_again_is_told_with_its_count(house: House) -> None:
    again = Doing(NOW, actor(house.ada).author, "refused: NotFound", level=Level.WARNING, times=7)
    await house.store.write(lambda tx: tx.doings.add(again))
    (one,) = await house.store.read(lambda tx: tx.doings.latest(Sought(), 10))
    assert one.times == 7


async def test_old_doings_can_be_let_go(house: House) -> None:
    assert await house.store.read(lambda tx: tx.doings.oldest()) is None
    await note(house, house.ada, "old", -SECOND)
    await note(house, house.ada, "new")
    assert await house.store.read(lambda tx: tx.doings.oldest()) == NOW - SECOND
    assert await house.store.write(lambda tx: tx.doings.prune(NOW)) == 1
    assert await told(house) == ["new"]


async def test_a_doing_is_kept_only_with_the_change_it_belongs_to(house: House) -> None:
    def work(tx: Transaction) -> None:
        tx.doings.note(actor(house.ada), NOW, "never")
        raise Spoilt

    with pytest.raises(Spoilt):
        await house.store.write(work)
    assert await told(house) == []


async def test_a_session_is_told_in_figures_by_user(house: House) -> None:
    await house.keep("a")
    await house.keep("b", author=house.author(house.ben))
    await note(house, house.ada, "team created", SECOND)
    await note(house, house.ada, "team created", 2 * SECOND)
    stretches = await house.store.read(lambda tx: tx.doings.of_session("s", house.ada))
    assert [(one.tool, one.what, one.change, one.count) for one in stretches] == [
        ("test", "remembered", True, 1),
        ("creo.team_create", "team created", False, 2),
    ]
    assert (stretches[1].first, stretches[1].last) == (NOW + SECOND, NOW + 2 * SECOND)
    assert len(await house.store.read(lambda tx: tx.doings.of_session("s", None))) == 3
    assert await house.store.read(lambda tx: tx.doings.of_session("other", None)) == []


# Invitations, shelves and loans


def context(tx: Transaction, house: House) -> int:
    return tx.add_collection(CollectionId(new_id()), "context", "project", "talk", house.ada, NOW)


async def test_users_and_members_of_teams_are_invited(house: House) -> None:
    def work(tx: Transaction) -> tuple[int, int]:
        one, other = context(tx, house), context(tx, house)
        tx.teams.add(Team(TeamId("t"), "crew", "", NOW))
        tx.teams.put_mate(TeamId("t"), house.ben, Role.MEMBER, house.ada, NOW)
        tx.collections.invite(Invitation(one, Guest.USER, house.ben, house.ada, NOW))
        tx.collections.invite(Invitation(one, Guest.USER, house.ben, house.ada, NOW))
        tx.collections.invite(Invitation(other, Guest.TEAM, "t", house.ada, NOW + SECOND))
        return one, other

    def invited(tx: Reading) -> list[int]:
        return [one.collection for one in tx.collections.invitations_of(house.ben)]

    one, other = await house.store.write(work)
    assert await house.store.read(invited) == [other, one]
    assert await house.store.read(lambda tx: tx.collections.invitations_of(house.ada)) == []
    await house.store.write(lambda tx: tx.collections.uninvite(one, house.ben))
    await house.store.write(lambda tx: tx.collections.uninvite(other, house.ben))
    assert await house.store.read(invited) == [other]
    await house.store.write(lambda tx: tx.collections.remove(other))
    assert await house.store.read(invited) == []


async def test_a_loan_remembers_the_home_as_long_as_there_is_one(house: House) -> None:
    memory = await house.keep("a")
    place = await house.store.write(lambda tx: context(tx, house))
    await house.store.write(lambda tx: tx.collections.lend(memory.number, house.common))
    await house.store.write(lambda tx: tx.collections.lend(memory.number, place))
    assert await house.store.read(lambda tx: tx.collections.lent_from(memory.number)) == place
    await house.store.write(lambda tx: tx.collections.remove(place))
    assert await house.store.read(lambda tx: tx.collections.lent_from(memory.number)) is None
    await house.store.write(lambda tx: tx.collections.lend(memory.number, house.home))
    await house.store.write(lambda tx: tx.collections.give_back(memory.number))
    assert await house.store.read(lambda tx: tx.collections.lent_from(memory.number)) is None


async def test_a_shelf_ends_for_everyone_but_its_owner(house: House) -> None:
    ends = NOW + SECOND

    def work(tx: Transaction) -> tuple[int, int]:
        place = context(tx, house)
        shelf = tx.add_collection(CollectionId(new_id()), "shelf", "project", "talk", house.ben, NOW, place)
        for number in (place, shelf):
            found = tx.collections.numbered(number)
            assert found
            tx.collections.describe(replace(found, ends_at=ends))
        tx.grant(house.ben, place, Right.WRITE, house.ada, NOW)
        return place, shelf

    place, shelf = await house.store.write(work)
    found = await house.store.read(lambda tx: tx.collections.shelf(place, house.ben))
    assert found
    assert (found.number, found.parent) == (shelf, place)
    assert await house.store.read(lambda tx: tx.collections.shelf(place, house.ada)) is None
    adas = await house.store.read(lambda tx: {h.number: h.ends_at for h in tx.holdings(house.ada)})
    bens = await house.store.read(lambda tx: {h.number: h.ends_at for h in tx.holdings(house.ben)})
    assert (adas[place], adas[shelf]) == (ends, ends)
    assert (bens[place], bens[shelf]) == (ends, None)
    assert adas[house.common] is adas[house.home] is None
