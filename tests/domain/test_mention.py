"""How one memory names others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.domain.mention import MOST, checked_sources, mentioned, named, sources

ONE = "01890a5d-ac96-774b-bcce-b302099a8057"
OTHER = "01890a5d-ac96-774b-bcce-b302099a8058"


@pytest.mark.parametrize("text", [
    f"see memories:{ONE}", f"see memory:{ONE}.", f"[[{ONE}]]", f"[[memories:{ONE}]]", f"[[ {ONE} ]]",
    f"これはmemories:{ONE}から", f"memories:⟨{ONE}⟩", f"MEMORIES no, memories:{ONE.upper()}", f"[[{ONE}|title]]",
])  # fmt: skip
def test_a_text_names_a_memory_in_several_ways(text: str) -> None:
    assert mentioned(text) == {ONE}


@pytest.mark.parametrize("text", [
    ONE, f"xmemories:{ONE}", f"memories:{ONE}0", f"memories:{ONE}-1", f"label:{ONE}", f"[{ONE}]", "[[no id]]", "",
])  # fmt: skip
def test_other_texts_name_none(text: str) -> None:
    assert mentioned(text) == frozenset()


def test_a_text_names_a_hundred_at_most() -> None:
    text = " ".join(f"memories:{ONE[:-4]}{number:04x}" for number in range(MOST + 20))
    assert len(mentioned(text)) == MOST


@given(st.text())
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    assert mentioned(text) == frozenset()
    assert named(text) is None


def test_a_million_beginnings_are_read_at_once() -> None:
    assert mentioned("[[" * 500_000) == frozenset()
    assert mentioned("memories:" * 100_000) == frozenset()


def test_sources_are_an_id_or_several() -> None:
    assert sources({"derivedFrom": ONE}) == {ONE}
    assert sources({"derivedFrom": [f"memories:{ONE}", f"memory:{OTHER}", ONE]}) == {ONE, OTHER}
    assert sources({}) == sources({"derivedFrom": None}) == frozenset()


def test_what_is_no_id_is_no_source_and_is_refused_where_it_is_given() -> None:
    for strange in (5, "x", {"id": ONE}, [ONE, 5], [[ONE]], True, f"label:{ONE}"):
        assert sources({"derivedFrom": strange}) <= {ONE}
        with pytest.raises(Invalid) as caught:
            checked_sources({"derivedFrom": strange})
        assert caught.value.field == "metadata.derivedFrom"


def test_more_sources_than_a_hundred_are_refused() -> None:
    with pytest.raises(Invalid, match="at most 100"):
        checked_sources({"derivedFrom": [ONE] * (MOST + 1)})
