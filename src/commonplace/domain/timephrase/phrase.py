"""What a time phrase is, and calendar arithmetic that is true to a time zone.

A day is a calendar day of the zone, 23 or 25 hours long when the clocks change. An elapsed time (seconds, minutes,
hours) is counted in real time.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import IntEnum


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A time expression found in a query, the range it stands for, and what is left of the query."""

    expression: str
    start: datetime
    end: datetime
    rest: str


@dataclass(frozen=True, slots=True)
class Span:
    """From the first to the last whole second, both included."""

    start: datetime
    end: datetime


class Unit(IntEnum):
    SECOND = 1
    MINUTE = 2
    HOUR = 3
    DAY = 4
    WEEK = 5
    WEEKEND = 6
    MONTH = 7
    YEAR = 8


# A month short of what a datetime can hold: callers widen ranges and convert them to other zones.
EARLIEST = datetime(1, 2, 1)  # noqa: DTZ001 - gets its zone from the caller's clock
LATEST = datetime(9999, 11, 30, 23, 59, 59)  # noqa: DTZ001

DAY_SECONDS = 86_400
ELAPSED = {Unit.SECOND: 1, Unit.MINUTE: 60, Unit.HOUR: 3600}
# Half the window around "N units ago": it is one unit wide, but for seconds, which nobody means exactly.
HALF = {Unit.SECOND: 1, Unit.MINUTE: 30, Unit.HOUR: 1800}
HALF_DAYS = {Unit.DAY: 0, Unit.WEEK: 3, Unit.MONTH: 15}
# "A few units ago": from the nearer to the farther.
FEW = {
    Unit.SECOND: (2, 60),
    Unit.MINUTE: (2, 10),
    Unit.HOUR: (2, 7),
    Unit.DAY: (2, 7),
    Unit.WEEK: (2, 5),
    Unit.MONTH: (2, 6),
    Unit.YEAR: (2, 5),
}


def zone_of(now: datetime) -> tzinfo:
    return now.tzinfo or UTC


def utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def earliest(now: datetime) -> datetime:
    return EARLIEST.replace(tzinfo=zone_of(now))


def latest(now: datetime) -> datetime:
    return LATEST.replace(tzinfo=zone_of(now))


def instant(day: date, seconds: int, zone: tzinfo, *, closing: bool = False) -> datetime:
    """The wall clock that many seconds into a day; a closing one that the zone shows twice is the later of both."""
    moment = (datetime.combine(day, time()) + timedelta(seconds=seconds)).replace(tzinfo=zone)
    if closing:
        moment = max(moment, moment.replace(fold=1), key=utc)
    # Through UTC and back: a wall clock the zone skips becomes one that exists.
    return utc(moment).astimezone(zone)


def days(first: date, last: date, zone: tzinfo) -> Span:
    return Span(instant(first, 0, zone), instant(last, DAY_SECONDS - 1, zone, closing=True))


def window(day: date, first: int, last: int, zone: tzinfo) -> Span:
    """A part of a day, in seconds from its midnight; the last may lie in the night after it."""
    return Span(instant(day, first, zone), instant(day, last, zone, closing=True))


def moved(day: date, unit: Unit, count: int) -> date:
    """The day that many units later; a day the month lacks becomes the last one it has."""
    if unit in (Unit.DAY, Unit.WEEK):
        return day + timedelta(days=count * (7 if unit is Unit.WEEK else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit is Unit.YEAR else 1)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(day.day, monthrange(date(year, month, 1).year, month)[1]))


def elapsed(now: datetime, unit: Unit, count: int) -> datetime:
    return (utc(now) + timedelta(seconds=count * ELAPSED[unit])).astimezone(zone_of(now))


def shifted(now: datetime, unit: Unit, count: int) -> datetime:
    """The same time of day on the day that many units later; for units below a day, that much later."""
    if unit in ELAPSED:
        return elapsed(now, unit, count)
    seconds = now.hour * 3600 + now.minute * 60 + now.second
    return instant(moved(now.date(), unit, count), seconds, zone_of(now))


def around(now: datetime, unit: Unit, count: int) -> Span:
    """The window one unit wide whose middle lies that many units away."""
    if unit in ELAPSED:
        middle, half = elapsed(now, unit, count), HALF[unit]
        return Span(elapsed(middle, Unit.SECOND, -half), elapsed(middle, Unit.SECOND, half))
    day = moved(now.date(), unit, count)
    if unit is Unit.YEAR:
        return days(moved(day, Unit.MONTH, -6), moved(day, Unit.MONTH, 6), zone_of(now))
    half = HALF_DAYS[unit]
    return days(moved(day, Unit.DAY, -half), moved(day, Unit.DAY, half), zone_of(now))


def rolling(now: datetime, unit: Unit, count: int) -> Span:
    """The last (count below zero) or next units, up to or from now."""
    other = shifted(now, unit, count)
    return Span(other, now) if count < 0 else Span(now, other)


def few(now: datetime, unit: Unit, sign: int) -> Span:
    """Some units away: whole days where the unit is a day or more."""
    near, far = (sign * count for count in FEW[unit])
    first, last = sorted((near, far))
    if unit in ELAPSED:
        return Span(elapsed(now, unit, first), elapsed(now, unit, last))
    return days(moved(now.date(), unit, first), moved(now.date(), unit, last), zone_of(now))


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def block(now: datetime, unit: Unit, offset: int) -> Span:
    """The whole calendar unit that many before or after the present one."""
    zone, today = zone_of(now), now.date()
    if unit is Unit.DAY:
        day = moved(today, unit, offset)
        return days(day, day, zone)
    if unit in (Unit.WEEK, Unit.WEEKEND):
        first = moved(monday(today), Unit.WEEK, offset)
        opening = moved(first, Unit.DAY, 5) if unit is Unit.WEEKEND else first
        return days(opening, moved(first, Unit.DAY, 6), zone)
    if unit is Unit.MONTH:
        first = moved(today.replace(day=1), unit, offset)
        return whole_month(first.year, first.month, zone)
    return whole_year(today.year + offset, zone)


def whole_month(year: int, month: int, zone: tzinfo) -> Span:
    first = date(year, month, 1)
    return days(first, first.replace(day=monthrange(year, month)[1]), zone)


def whole_year(year: int, zone: tzinfo) -> Span:
    return days(date(year, 1, 1), date(year, 12, 31), zone)


def latest_date(today: date, month: int, day: int) -> date:
    """The last time that date came round, today included; 29 February may lie eight years back."""
    for year in range(today.year, max(today.year - 9, 0), -1):
        if day <= monthrange(year, month)[1] and date(year, month, day) <= today:
            return date(year, month, day)
    raise ValueError("no such date")


def latest_day_of_month(today: date, day: int) -> date:
    """The last time a month had that day, today included."""
    for back in range(3):
        first = moved(today.replace(day=1), Unit.MONTH, -back)
        if day <= monthrange(first.year, first.month)[1] and first.replace(day=day) <= today:
            return first.replace(day=day)
    raise ValueError("no such day")
