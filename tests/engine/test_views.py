"""Everything that may be seen, in figures."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from itertools import pairwise

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.views import Census
from commonplace.ports import Transaction
from tests.engine.test_collections import user
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


def groups(census: Census) -> Counter[tuple[str, str]]:
    return Counter(tuple(census.crowd.groups[at]) for at in census.crowd.group.tolist())


def texts(memories: Iterable[Memory]) -> list[str]:
    return [memory.content for memory in memories]


async def written(engine: Engine, owner: Actor, clock: Clock, count: int) -> list[Memory]:
    """One each day: of two categories, each more important than the one before."""
    made = []
    for at in range(count):
        clock.advance(timedelta(days=1))
        draft = Draft(f"text {at}", category=("odd" if at % 2 else "even"), importance=at / count, tags=(f"t{at % 3}",))
        made.append(await engine.memories.remember(owner, draft))
    return made


async def test_a_census_counts_what_may_be_seen_and_nothing_else(engine: Engine, owner: Actor, clock: Clock) -> None:
    made = await written(engine, owner, clock, 7)
    other = await user(engine, "ada")
    await engine.memories.remember(other, Draft("hers", category="hers", tags=("hers",)))
    await engine.memories.remember(owner, Draft("passing", category="passing", ttl=timedelta(minutes=1)))
    clock.advance(timedelta(hours=1))

    def beside(tx: Transaction) -> None:
        for one, two in pairwise(made):
            tx.links.add(Link(one.id, two.id, LinkKind.MANUAL, 0.5, clock.now()))
        tx.count_uses({made[2].number: 5, made[4].number: 9}, clock.now())

    await engine.store.write(beside)
    census = await engine.views.counted(owner, ties=True, lists=True)
    assert (census.total, groups(census)) == (7, {("user", "even"): 4, ("user", "odd"): 3})
    assert [(bond.source, bond.target, bond.links, bond.strength) for bond in census.bonds] == [
        ("user", "user", 6, 3.0)
    ]
    assert list(census.tags) == [("t0", 3), ("t1", 2), ("t2", 2)]
    assert texts(census.most_used) == ["text 4", "text 2"]
    assert texts(census.latest) == texts(census.most_important) == [f"text {at}" for at in (6, 5, 4, 3, 2)]
    since = await engine.views.counted(owner, since=made[4].created_at, ties=True)
    assert (since.total, [bond.links for bond in since.bonds]) == (3, [2])


async def test_of_too_many_the_most_important_of_each_time_are_shown(
    engine: Engine, owner: Actor, clock: Clock
) -> None:
    await written(engine, owner, clock, 8)
    assert len((await engine.views.counted(owner, most=8)).spread) == 8
    assert texts((await engine.views.counted(owner, most=2)).spread) == ["text 3", "text 7"]
