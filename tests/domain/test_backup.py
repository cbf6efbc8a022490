"""When a store has left its latest automatic copy behind."""

from datetime import UTC, datetime, timedelta

import pytest

from commonplace.domain.backup import Backup, Contents, Rhythm

AT = datetime(2026, 1, 15, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def copy(memories: int) -> Backup:
    return Backup("daily-2026-01-15", AT, 1, False, "", Contents("store", 1, memories, memories, memories, ""))


@pytest.mark.parametrize(("held", "memories"), [(0, 2), (1, 2), (6, 12), (2221, 4442)])
def test_a_copy_is_outgrown_by_twice_as_many_memories_after_an_hour(held: int, memories: int) -> None:
    assert Rhythm().is_outgrown(copy(held), memories, AT + HOUR)
    assert not Rhythm().is_outgrown(copy(held), memories - 1, AT + HOUR)
    assert not Rhythm().is_outgrown(copy(held), memories, AT + HOUR - timedelta(seconds=1))


def test_of_a_copy_without_a_manifest_nobody_knows_whether_it_is_outgrown() -> None:
    assert not Rhythm().is_outgrown(Backup("daily-2026-01-15", AT, 1, False), 1000, AT + HOUR)


def test_copies_at_each_doubling_hold_together_less_than_twice_what_the_last_does() -> None:
    made = [copy(1)]
    for memories in range(2, 5000):
        if Rhythm().is_outgrown(made[-1], memories, AT + HOUR):
            made.append(copy(memories))
    held = [one.memories or 0 for one in made]
    assert sum(held) < 2 * held[-1]
