from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.pictures import view
from commonplace.pictures.calendar import stretches
from commonplace.pictures.census import micros
from commonplace.pictures.counting import counted
from tests.pictures.samples import NOW, dot, of

ZONES = ("UTC", "Asia/Tokyo", "Europe/Paris", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe")
MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("days", "unit"), [(0.5, "hour"), (1.5, "hour"), (20, "day"), (200, "week"), (1000, "month"), (40000, "year")]
)
def test_the_unit_follows_the_span(days: float, unit: str) -> None:
    assert stretches(of(), NOW - timedelta(days=days), NOW, 62).unit == unit


@given(MOMENTS, MOMENTS, st.sampled_from(ZONES), st.integers(14, 62))
def test_every_instant_has_its_stretch(one: datetime, other: datetime, zone: str, most: int) -> None:
    first, last = sorted((one, other))
    found = stretches(of(zone=zone), first, last, most)
    assert 1 <= len(found.starts) <= most
    assert list(found.starts) == sorted(set(found.starts))
    assert found.of(first) == 0
    assert sum(found.counts(np.array([micros(first), micros(last)]))) == 2
    assert len(found.labels) == len(found.names) == len(found.starts)


def test_a_day_is_the_callers_day() -> None:
    """16:00 in London is already tomorrow in Tokyo."""
    late = datetime(2026, 3, 1, 16, 0, tzinfo=UTC)
    dots = [dot(0, created_at=late), dot(1, created_at=late - timedelta(days=10))]
    names = {
        zone: [
            box["name"] for box in view("timeline", of(*dots, zone=zone))["panels"][0]["boxes"] if "1" in box["value"]
        ]
        for zone in ("Europe/London", "Asia/Tokyo")
    }
    assert names == {"Europe/London": ["2026-02-19", "2026-03-01"], "Asia/Tokyo": ["2026-02-20", "2026-03-02"]}


def test_a_timeline_shows_only_its_time() -> None:
    dots = [dot(at) for at in range(30)]
    seen = view("timeline", of(*dots, since=NOW - timedelta(days=10), until=NOW - timedelta(days=5)))
    assert {spot["id"] for spot in seen["panels"][0]["spots"]} == {f"m{at}" for at in range(5, 11)}


def test_an_empty_time_says_how_many_there_are_in_all() -> None:
    seen = view("timeline", of(dot(1), since=NOW + timedelta(days=1)))
    assert seen["panels"][0]["words"][0]["text"] == "No memories in this period"


def test_a_busy_day_counts_what_it_cannot_show() -> None:
    dots = [dot(at, created_at=NOW - timedelta(days=40 if at else 0)) for at in range(5000)]
    panel = view("timeline", of(*dots))["panels"][0]
    (more,) = [int(words["text"][1:]) for words in panel["words"] if words.get("role") == "more"]
    assert len(panel["spots"]) + more == 5000


def test_columns_of_a_day_with_a_changed_clock_stay_apart() -> None:
    paris = ZoneInfo("Europe/Paris")
    night = datetime(2025, 10, 26, 1, 30, tzinfo=paris)
    found = stretches(of(zone="Europe/Paris"), night, night + timedelta(hours=5), 62)
    assert found.labels[:4] == ("01:00", "02:00", "02:00", "03:00")


@given(st.lists(MOMENTS, min_size=1), st.sampled_from(ZONES))
def test_hours_are_counted_as_the_clock_showed_them(instants: list[datetime], zone: str) -> None:
    snapshot = of(*(dot(at, created_at=instant) for at, instant in enumerate(instants)), zone=zone)
    local = [snapshot.local(at) for at in instants]
    assert +counted(snapshot).by_hour(ZoneInfo(zone)) == Counter((at.weekday(), at.hour) for at in local)


@pytest.mark.parametrize("hours", range(48))
def test_hours_of_a_day_when_the_clock_is_set_are_counted_too(hours: int) -> None:
    at, zone = datetime(2026, 3, 29, tzinfo=UTC) + timedelta(minutes=30 * hours), ZoneInfo("Europe/Paris")
    local = at.astimezone(zone)
    assert +counted(of(dot(0, created_at=at))).by_hour(zone) == {(local.weekday(), local.hour): 1}
