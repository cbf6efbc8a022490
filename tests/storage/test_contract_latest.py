"""What every store promises about a first look around: a few at once, without the index."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.identifiers import UserId
from tests.storage.samples import NOW, House, ending
from tests.storage.test_plans import plan

pytestmark = pytest.mark.anyio


async def test_the_latest_are_those_stored_last_whenever_they_were_written(house: House) -> None:
    first, second = await house.keep("one"), await house.keep("two", created_at=NOW - timedelta(days=900))
    assert await house.store.read(lambda tx: tx.latest(house.ours, 5)) == [second, first]
    assert await house.store.read(lambda tx: tx.latest(house.ours, 1)) == [second]


async def test_what_has_ended_or_lies_elsewhere_is_not_among_them(house: House) -> None:
    kept = await house.keep("stays")
    await house.keep("ended", ephemeral=ending(timedelta(hours=1)))
    later = replace(house.ours, now=NOW + timedelta(hours=1))
    assert await house.store.read(lambda tx: tx.latest(later, 5)) == [kept]
    assert await house.store.read(lambda tx: tx.latest(replace(house.ours, collections=frozenset()), 5)) == []


async def test_one_authors_are_told_from_others(house: House) -> None:
    kept = await house.keep("mine")
    assert await house.store.read(lambda tx: tx.latest(house.ours, 5, kept.author.user)) == [kept]
    assert await house.store.read(lambda tx: tx.latest(house.ours, 5, UserId("nobody"))) == []


async def test_they_are_found_by_the_index_of_each_collection(folder: Path, house: House) -> None:
    steps = plan(folder, "latest")
    assert any("SEARCH o USING COVERING INDEX memories_by_collection (collection=?)" in step for step in steps)
    assert not any(step.startswith(("SCAN o", "SCAN m")) for step in steps), steps
