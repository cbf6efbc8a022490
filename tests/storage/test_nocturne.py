"""What a file of Nocturne Memory holds, however odd, and what is none of its files."""

from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from commonplace.domain.arrival import Arrival
from commonplace.domain.errors import Invalid
from commonplace.storage.foreign.nocturne import arrivals
from tests.storage.nocturne import SCHEMA, Original, everyday


def brought(original: Original) -> dict[str, Arrival]:
    """By the present text."""
    before = original.file.read_bytes()
    found = {arrival.states[-1].content: arrival for arrival in arrivals(original.file)}
    assert original.file.read_bytes() == before
    return found


def places(arrival: Arrival) -> list[str]:
    return sorted(str(path.address) for path in arrival.paths)


def test_a_memory_comes_with_all_it_was_and_all_its_paths(tmp_path: Path) -> None:
    found = brought(everyday(tmp_path / "demo.db"))
    agent = found["who I am"]
    assert [state.content for state in agent.states] == ["who I was", "who I became", "who I am"]
    assert agent.states[0].at == datetime(2025, 3, 1, 10, 20, 30, tzinfo=UTC)
    assert [(str(p.address), p.priority, p.disclosure) for p in agent.paths] == [
        ("core://agent", 1, "when asked who I am")
    ]
    assert places(found["my user"]) == ["core://agent/my_user", "notes://user"]
    assert places(found["deleted there"]) == []
    assert len(found) == 4
    assert len({origin for arrival in found.values() for origin in arrival.origins}) == 6


def test_memories_that_lead_in_a_circle_are_one_memory(tmp_path: Path) -> None:
    original = Original(tmp_path / "demo.db")
    for number, to in ((1, 2), (2, 3), (3, 1), (4, 2), (5, 5)):
        original.memory(number, f"text {number}", to=to)
    original.path("a", 1)
    original.path("b", 4)
    original.path("c", 5)
    found = brought(original)
    assert sorted(found) == ["text 3", "text 5"]
    assert places(found["text 3"]) == ["core://a", "core://b"]
    assert [state.content for state in found["text 3"].states] == ["text 1", "text 2", "text 4", "text 3"]


def test_a_memory_that_leads_to_one_that_is_gone_is_the_present_state(tmp_path: Path) -> None:
    original = Original(tmp_path / "demo.db")
    original.memory(1, "left over", to=99)
    original.path("a", 1)
    original.path("nothing", 98)
    assert places(brought(original)["left over"]) == ["core://a"]


@pytest.mark.parametrize(
    ("domain", "path", "expected"),
    [
        ("core", "/agent/", ["core://agent"]),
        ("CORE", "agent//style", ["core://agent/style"]),
        ("", " a / b ", ["core://a/b"]),
        ("core", "50%25/x", ["core://50%25/x"]),
        ("core", "cafe\u0301", ["core://café"]),
        ("core", "a\x00b", ["core://ab"]),
        ("core", 2024, ["core://2024"]),
        ("core", b"bytes", ["core://bytes"]),
        ("core", "", []),
        ("core", "///", []),
        ("my domain", "x", ["imported_my_domain://x"]),
        ("2024", "x", ["imported_2024://x"]),
        ("memory", "x", ["imported_memory://x"]),
        ("system", "x", ["imported_system://x"]),
        ("日記", "x", ["日記://x"]),
    ],
)
def test_odd_domains_and_paths_are_read_as_far_as_they_go(
    tmp_path: Path, domain: str, path: object, expected: list[str]
) -> None:
    original = Original(tmp_path / "demo.db")
    original.memory(1, "text")
    original.path(path, 1, domain=domain)
    assert places(brought(original)["text"]) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [(None, 0), (-5, 0), ("high", 0), ("3", 3), (2.9, 2), (float("inf"), 0), (2**62, 2**62)],
)
def test_odd_priorities_are_read_as_far_as_they_go(tmp_path: Path, written: object, expected: int) -> None:
    original = Original(tmp_path / "demo.db")
    original.memory(1, "text")
    original.path("a", 1, priority=written)
    assert brought(original)["text"].paths[0].priority == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2025-03-04 05:06:07", datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("2025-03-04T05:06:07+02:00", datetime(2025, 3, 4, 3, 6, 7, tzinfo=UTC)),
        ("2025-03-04", datetime(2025, 3, 4, tzinfo=UTC)),
        ("yesterday", datetime(1970, 1, 1, tzinfo=UTC)),
        ("", datetime(1970, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", datetime(1970, 1, 1, tzinfo=UTC)),
        ("9999-12-31 23:59:59", datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_time_that_cannot_be_told_is_the_beginning_of_time(tmp_path: Path, written: str, expected: datetime) -> None:
    original = Original(tmp_path / "demo.db")
    original.memory(1, "text", at=written)
    assert brought(original)["text"].states[0].at == expected


def test_bytes_and_empty_values_are_texts(tmp_path: Path) -> None:
    original = Original(tmp_path / "demo.db", SCHEMA.replace("content TEXT NOT NULL", "content"))
    original.memory(1, b"bytes \xff")
    original.memory(2, None)
    original.path("a", 1, disclosure=5)
    found = brought(original)
    assert sorted(found) == ["", "bytes \ufffd"]
    assert found["bytes \ufffd"].paths[0].disclosure == "5"


def test_what_is_still_in_the_log_of_a_running_program_is_read(tmp_path: Path) -> None:
    original = Original(tmp_path / "demo.db")
    writer = apsw.Connection(str(original.file))
    writer.execute("PRAGMA journal_mode = WAL").fetchall()
    writer.execute("INSERT INTO memories VALUES (1, 'just written', 0, NULL, NULL)")
    assert list(brought(original)) == ["just written"]
    writer.close()


def test_a_file_of_something_else_is_told(tmp_path: Path) -> None:
    for name, content in (("text.db", b"This is not a database, not even nearly." * 100), ("empty.db", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Invalid, match=name):
            arrivals(tmp_path / name)
    with pytest.raises(Invalid, match=r"missing\.db"):
        arrivals(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()
    with pytest.raises(Invalid):
        arrivals(tmp_path)
    Original(tmp_path / "other.db", "CREATE TABLE memories (id, content); CREATE TABLE paths (domain)")
    with pytest.raises(Invalid, match="created_at, deprecated, migrated_to"):
        arrivals(tmp_path / "other.db")


def test_text_that_is_no_unicode_is_told(tmp_path: Path) -> None:
    original = Original(tmp_path / "demo.db")
    connection = apsw.Connection(str(original.file))
    connection.execute("INSERT INTO memories VALUES (1, CAST(x'ff41' AS TEXT), 0, NULL, NULL)")
    connection.close()
    with pytest.raises(Invalid):
        arrivals(original.file)
