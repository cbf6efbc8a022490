"""How the queries on the tree go about it: from where they are, never through the whole of it."""

import re
from pathlib import Path

import apsw
import pytest

from commonplace.storage.sqlite.connection import can_fold
from commonplace.storage.sqlite.queries import queries
from commonplace.storage.sqlite.store import FILE_NAME
from tests.storage.samples import House

pytestmark = pytest.mark.anyio


def plan(folder: Path, name: str) -> list[str]:
    query = queries()[name]
    connection = apsw.Connection(str(folder / FILE_NAME))
    can_fold(connection)
    values = dict.fromkeys(re.findall(r":([a-z_]+)", query))
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    connection.close()
    return steps


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize("name", ["ancestors", "rooted", "ways", "descendants"])
async def test_climbing_looks_only_at_paths_of_what_was_reached(folder: Path, name: str) -> None:
    steps = plan(folder, name)
    assert any(re.search(r"SEARCH p USING INDEX paths_(of|below) \((memory|parent)=\?", step) for step in steps)
    assert not any("paths_of_tree" in step or step.startswith("SCAN p") for step in steps)


async def test_the_latest_are_read_in_order_without_sorting_all(folder: Path, house: House) -> None:
    steps = plan(folder, "latest_with_path")
    assert "SCAN m USING INDEX memories_by_revision" in steps
    assert not any("ORDER BY" in step for step in steps)


@pytest.mark.usefixtures("house")
async def test_tags_are_looked_up_and_counted_in_the_order_of_their_index(folder: Path) -> None:
    assert any("SEARCH tags USING COVERING INDEX tags_by_fold (folded=?)" in step for step in plan(folder, "tagged"))
    assert plan(folder, "census_tags") == ["SCAN tags USING COVERING INDEX tags_by_fold"]
