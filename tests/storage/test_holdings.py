"""What users hold is kept at hand, and never a moment longer than it is true."""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import apsw
import pytest

from commonplace.domain.access import Holding, Right
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.team import Role, Team, TeamId
from commonplace.ports import Reading, Transaction
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.holdings import MOST_USERS, Held
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore
from tests.fakes import Embedder
from tests.storage.samples import NOW, House, Spoilt, new_id
from tests.storage.test_plans import plan

pytestmark = pytest.mark.anyio

Change = Callable[[Transaction], None]


class Shuffle:
    """Changes to who holds what, one after the other, each chosen by chance."""

    def __init__(self, house: House, seed: int) -> None:
        self._chance = random.Random(seed)
        self._users = [house.ada, house.ben]
        self.atlases: list[CollectionId] = []
        self.teams: list[TeamId] = []

    def next(self) -> Change:
        """By its weight: there must be something before it can be shared."""
        acts: list[Change] = [self._plant, self._plant, self._team, self._join, self._join, self._leave]
        acts += [self._share, self._share, self._unshare, self._give, self._take, self._move, self._fell, self._end]
        return self._chance.choice(acts)

    def _number(self, tx: Reading) -> int | None:
        found = tx.collections.get(self._chance.choice(self.atlases)) if self.atlases else None
        return found.number if found else None

    def _user(self) -> UserId:
        return self._chance.choice(self._users)

    def _plant(self, tx: Transaction) -> None:
        identifier = CollectionId(new_id())
        parent = self._chance.choice([None, self._number(tx)])
        tx.add_collection(identifier, "atlas", "project", "", self._user(), NOW, parent)
        self.atlases.append(identifier)

    def _team(self, tx: Transaction) -> None:
        team = TeamId(new_id())
        tx.teams.add(Team(team, "", "", NOW))
        self.teams.append(team)

    def _known(self, tx: Reading) -> TeamId | None:
        known = [team for team in self.teams if tx.teams.get(team)]
        return self._chance.choice(known) if known else None

    def _join(self, tx: Transaction) -> None:
        if team := self._known(tx):
            tx.teams.put_mate(team, self._user(), self._chance.choice(list(Role)), self._users[0], NOW)

    def _leave(self, tx: Transaction) -> None:
        if team := self._known(tx):
            tx.teams.remove_mate(team, self._user())

    def _share(self, tx: Transaction) -> None:
        team, number = self._known(tx), self._number(tx)
        if team and number:
            right, inherited = self._chance.choice(list(Right)), self._chance.random() < 0.5
            tx.teams.grant(team, number, right, inherited, self._users[0], NOW)

    def _unshare(self, tx: Transaction) -> None:
        team, number = self._known(tx), self._number(tx)
        if team and number:
            tx.teams.ungrant(team, number)

    def _give(self, tx: Transaction) -> None:
        if number := self._number(tx):
            tx.grant(self._user(), number, self._chance.choice(list(Right)), self._users[0], NOW)

    def _take(self, tx: Transaction) -> None:
        if number := self._number(tx):
            tx.collections.ungrant(number, self._user())

    def _move(self, tx: Transaction) -> None:
        number, parent = self._number(tx), self._number(tx)
        if number and parent and number not in (parent, *(one.number for one in tx.collections.above(parent))):
            tx.collections.put_below(number, parent)

    def _fell(self, tx: Transaction) -> None:
        number = self._number(tx)
        found = tx.collections.numbered(number) if number else None
        if found:
            tx.collections.put_all_below(found.number, found.parent)
            tx.collections.remove(found.number)

    def _end(self, tx: Transaction) -> None:
        number = self._number(tx)
        found = tx.collections.numbered(number) if number else None
        if found:
            tx.collections.describe(replace(found, ends_at=NOW + timedelta(hours=self._chance.randrange(9))))


def truly(folder: Path, user: UserId) -> list[Holding]:
    """What the file says, to someone who never looked before."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    found = [rows.holding(row) for row in connection.execute(queries()["holdings"], {"user": user})]
    connection.close()
    return found


def told(user: UserId, tx: Reading) -> Sequence[Holding]:
    return tx.holdings(user)


def spoilt(change: Change) -> Change:
    def work(tx: Transaction) -> None:
        change(tx)
        raise Spoilt

    return work


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_changed_or_taken_back_counts_at_once(folder: Path, house: House, seed: int) -> None:
    shuffle, chance = Shuffle(house, seed), random.Random(seed)
    other = SqliteStore(folder, Embedder().fingerprint)  # as another process would have it open
    for _ in range(60):
        writing, change = chance.choice([house.store, other]), shuffle.next()
        looking = _looking(change, house)
        with suppress(Spoilt):
            await writing.write(spoilt(looking) if chance.random() < 0.2 else looking)
        for user in (house.ada, house.ben):
            for reading in (house.store, other):
                assert list(await reading.read(partial(told, user))) == truly(folder, user)
    await other.close()


def _looking(change: Change, house: House) -> Change:
    """A change by someone who looks before and after, as the engine does; what it saw may be taken back."""

    def work(tx: Transaction) -> None:
        tx.holdings(house.ada)
        change(tx)
        tx.holdings(house.ada)
        tx.holdings(house.ben)

    return work


def test_what_was_found_under_one_mark_does_not_count_under_another() -> None:
    held, ada = Held(), UserId("ada")
    one, other = [(Holding(n, CollectionId(""), "user", ada, None),) for n in (1, 2)]
    assert held.of(ada, 7, lambda: one) == one
    assert held.of(ada, 7, lambda: other) == one
    assert held.of(ada, 8, lambda: other) == other


def test_those_who_have_not_asked_for_longest_are_let_go() -> None:
    held, looked = Held(), list[UserId]()

    def ask(user: UserId) -> None:
        def look() -> Sequence[Holding]:
            looked.append(user)
            return ()

        held.of(user, 1, look)

    users = [UserId(f"{n}") for n in range(MOST_USERS + 1)]
    for user in (*users[:-1], users[0], users[-1], users[0], users[1]):
        ask(user)
    assert looked == [*users, users[1]]


@pytest.mark.usefixtures("house")
async def test_looking_goes_from_the_users_own_to_what_belongs_to_it(folder: Path) -> None:
    steps = plan(folder, "holdings")
    assert not any(step.startswith("SCAN") and step not in ("SCAN g",) for step in steps), steps
    grants = [step for step in steps if step.startswith("SEARCH g ")]
    assert grants == ["SEARCH g USING PRIMARY KEY (subject_kind=? AND subject=?)"] * 2


async def test_a_thousand_shared_atlases_cost_nothing_the_second_time(house: House) -> None:
    def work(tx: Transaction) -> None:
        teams = [TeamId(new_id()) for _ in range(100)]
        for team in teams:
            tx.teams.add(Team(team, "", "", NOW))
            tx.teams.put_mate(team, house.ben, Role.MEMBER, house.ada, NOW)
        for number in range(1000):
            atlas = tx.add_collection(CollectionId(new_id()), "atlas", "project", "", house.ada, NOW)
            tx.teams.grant(teams[number % 100], atlas, Right.READ, True, house.ada, NOW)

    def looks(tx: Reading) -> float:
        began = time.perf_counter()
        assert len(tx.holdings(house.ben)) == 1002
        return time.perf_counter() - began

    await house.store.write(work)
    await house.store.read(looks)
    assert statistics.median([await house.store.read(looks) for _ in range(20)]) < 0.002
