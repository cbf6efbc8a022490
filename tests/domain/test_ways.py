"""From paths to addresses: by every alias, never in circles, never for ever."""

from datetime import UTC, datetime

from commonplace.domain.address import Address, address
from commonplace.domain.path import Path, Place
from commonplace.domain.ways import Ways

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def path(name: str, memory: int, below: int | str = "core", priority: int = 0) -> Path:
    place = Place(1, below) if isinstance(below, str) else Place(1, parent=below)
    return Path(place, name, memory, priority, "", NOW)


def texts(addresses: list[Address]) -> list[str]:
    return sorted(map(str, addresses))


def test_a_memory_is_where_its_names_lead() -> None:
    ways = Ways([path("a", 1), path("b", 2, 1), path("c", 3, 2)])
    assert ways.first(3) == address("core://a/b/c")
    assert ways.every(3, 10) == [address("core://a/b/c")]
    assert ways.domains(3) == {"core"}


def test_the_first_address_is_by_the_path_that_comes_first() -> None:
    first, second = path("first", 1, priority=0), path("second", 1, "notes", priority=5)
    ways = Ways([first, second, path("child", 2, 1)])
    assert ways.first(1) == address("core://first")
    assert ways.first(2) == address("core://first/child")
    assert ways.of(second) == address("notes://second")
    assert texts(ways.every(2, 10)) == ["core://first/child", "notes://second/child"]
    assert ways.domains(2) == {"core", "notes"}


def test_a_memory_without_a_way_from_a_root_has_no_address() -> None:
    below_nothing = path("child", 2, 1)
    ways = Ways([below_nothing])
    assert ways.first(1) is None
    assert ways.first(2) is None
    assert ways.of(below_nothing) is None
    assert ways.every(2, 10) == []
    assert ways.domains(2) == frozenset()


def test_a_way_that_leads_nowhere_gives_way_to_one_that_does() -> None:
    ways = Ways([path("lost", 3, 1, priority=0), path("found", 3, 2, priority=9), path("b", 2)])
    assert ways.first(3) == address("core://b/found")
    assert ways.every(3, 1) == [address("core://b/found")]


def test_many_ways_that_lead_nowhere_do_not_hide_the_one_that_does() -> None:
    dead = [path(f"dead{n}", 1, 1000 + n) for n in range(50)]
    ways = Ways([path("b", 2), path("real", 1, 2), *dead])
    assert ways.every(1, 10) == [address("core://b/real")]
    assert ways.first(1) == address("core://b/real")


def test_a_path_knows_all_addresses_that_end_in_it() -> None:
    leaf = path("leaf", 2, 1)
    ways = Ways([path("one", 1), path("other", 1, "notes"), leaf, path("elsewhere", 2)])
    assert texts(ways.through(leaf, 10)) == ["core://one/leaf", "notes://other/leaf"]


def test_each_diamond_doubles_the_addresses_and_no_more_are_made_than_asked_for() -> None:
    paths = [path("a", 0), path("b", 0)]
    for level in range(1, 40):
        paths += [path("a", level, level - 1), path("b", level, level - 1)]
    ways = Ways(paths)
    found = ways.every(39, 100)
    assert len(set(found)) == 100
    assert {len(one.names) for one in found} == {40}
    assert ways.first(39) == Address("core", ("a",) * 40)
    assert ways.domains(39) == {"core"}
    assert len(Ways(paths[:6]).every(2, 100)) == 8


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    ways = Ways([path("0", 0), *(path(str(n), n, n - 1) for n in range(1, 5000))])
    found = ways.first(4999)
    assert found is not None
    assert len(found.names) == 5000
