"""Addresses are read however they are written; what cannot be one is told."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.address import MAX_ADDRESS_CHARS, MAX_NAME_CHARS, Address, address, title
from commonplace.domain.errors import Invalid

AGENT = Address("core", ("agent", "style"))


@pytest.mark.parametrize(
    "written",
    [
        "core://agent/style",
        "CORE://agent/style",
        "Core://agent/style/",
        "core:///agent/style",
        "  core://agent/style \n",
        "core://agent / style",
        "agent/style",
        "/agent/style/",
        "core%3A%2F%2Fagent%2Fstyle",
        "core://%61gent/style",
    ],
)
def test_one_address_has_many_spellings(written: str) -> None:
    assert address(written) == AGENT
    assert str(address(written)) == "core://agent/style"


@pytest.mark.parametrize("written", ["notes://", "NOTES:///", "notes:// "])
def test_a_domain_without_names_is_its_root(written: str) -> None:
    root = address(written)
    assert root == Address("notes")
    assert root.is_root
    assert str(root) == "notes://"


def test_a_name_is_not_a_domain() -> None:
    assert address("core") == Address("core", ("core",))
    assert address("writer:x") == Address("core", ("writer:x",))


@pytest.mark.parametrize("written", ["", "   ", "/", "//", "core://a//b", "://x", "core://a/ /b", "core://a/\u3000/b"])
def test_what_names_nothing_is_refused(written: str) -> None:
    with pytest.raises(Invalid):
        address(written)


@pytest.mark.parametrize("written", ["core://a\x00b", "core://a%00b", "core://\ud800", "x" * (MAX_ADDRESS_CHARS + 1)])
def test_what_cannot_be_kept_or_sent_is_refused_under_the_name_of_its_field(written: str) -> None:
    with pytest.raises(Invalid) as refusal:
        address(written, "target_uri")
    assert refusal.value.field == "target_uri"


def test_escapes_of_other_scripts_are_read_as_the_letters_they_stand_for() -> None:
    assert address("core://%E8%AE%B0%E5%BF%86/%EA%B8%B0%EC%96%B5") == Address("core", ("记忆", "기억"))
    assert address("core://caf%65%CC%81") == address("core://café")
    assert address("core://100%") == Address("core", ("100%",))
    assert "\ufffd" in str(address("core://%FF"))


def test_composed_and_decomposed_letters_are_the_same_address() -> None:
    name = "Ünïcödé-기억"
    assert address(unicodedata.normalize("NFD", f"core://{name}")) == address(f"core://{name}")


def test_case_matters_in_names_and_not_in_domains() -> None:
    assert address("CORE://Agent") != address("core://agent")
    assert address("CORE://Agent").domain == "core"


def test_parent_child_and_name_fit_together() -> None:
    assert AGENT.parent == Address("core", ("agent",))
    assert AGENT.parent.child("style") == AGENT
    assert AGENT.name == "style"
    assert AGENT.parent.parent.is_root


def test_a_very_deep_address_is_still_read() -> None:
    assert len(address("core://" + "/".join("a" * 1000)).names) == 1000


NAMES = st.text(st.characters(categories=["L", "N"]) | st.sampled_from("_-"), min_size=1, max_size=8)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_every_address_reads_back_from_its_text_and_from_its_uri(names: list[str]) -> None:
    where = Address("core", tuple(title(name) for name in names))
    assert address(str(where)) == where
    assert where.uri.isascii()
    assert address(where.uri) == where


@given(st.text(max_size=60))
def test_whatever_is_written_is_an_address_or_refused(written: str) -> None:
    try:
        found = address(written)
    except Invalid:
        return
    assert all(found.names)
    assert found.domain == found.domain.lower()


# Titles


@pytest.mark.parametrize(
    "name",
    [
        "agent",
        "agent_2",
        "a-b",
        "0",
        "记忆",
        "기억",
        "とても",
        "हिन्दी",
        "ภาษาไทย",
        "தமிழ்",
        "עִבְרִית",
        "العَرَبِيَّة",
        "Ελλάδα",
        "œuvre",
    ],
)
def test_titles_are_written_in_any_script(name: str) -> None:
    assert title(name) == unicodedata.normalize("NFC", name)
    assert address(f"core://{title(name)}").names == (title(name),)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "a b",
        "a/b",
        "a.b",
        "a%20b",
        "a:b",
        "a\nb",
        "a\x00",
        "\ud800",
        "emoji🧠",
        "zero\u200bwidth",
        "*",
        "\u0301a",
    ],
)
def test_what_would_be_lost_in_an_address_is_no_title(name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        title(name)
    assert refusal.value.field == "title"


def test_titles_are_trimmed_composed_and_short() -> None:
    assert title("  cafe\u0301\n") == "café"
    assert title("x" * MAX_NAME_CHARS) == "x" * MAX_NAME_CHARS
    with pytest.raises(Invalid, match="120"):
        title("x" * (MAX_NAME_CHARS + 1))
