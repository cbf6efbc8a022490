"""Every behaviour has a test, and every test a behaviour."""

import tests.dialects.creo as package
from tests.dialects.manifest import behaviours, marks_of


def _named() -> dict[str, set[str]]:
    return {name: ids for name, ids in marks_of(package).items() if not name.startswith(f"{__name__}.")}


def test_every_behaviour_has_a_test() -> None:
    assert sorted(behaviours("creo").keys() - set().union(*_named().values())) == []


def test_every_test_names_a_behaviour() -> None:
    assert [name for name, ids in _named().items() if not ids] == []


def test_no_test_names_an_unknown_behaviour() -> None:
    known = behaviours("creo")
    assert {name: unknown for name, ids in _named().items() if (unknown := ids - known.keys())} == {}


def test_every_entry_says_where_it_comes_from_and_what_it_is_in_one_sentence() -> None:
    for entry in behaviours("creo").values():
        assert entry.source
        assert entry.behaviour.endswith(".")
        assert len(entry.behaviour) < 160, entry.id
