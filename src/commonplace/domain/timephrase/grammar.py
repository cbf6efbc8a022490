"""How a language says times: readings of phrases, rules that build them, and the tables a language is made of.

A rule is a pattern with `<names>` in it. Each name stands for the words a language's lexicon gives under it, and the
values of those words are what the rule's builder gets.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from enum import Enum, IntEnum
from functools import partial

from commonplace.domain.timephrase import phrase
from commonplace.domain.timephrase.phrase import Span, Unit

Values = Mapping[str, int]


class Grain(IntEnum):
    """How precise a phrase is; of several in a query the most precise is taken."""

    VAGUE = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    MOMENT = 4
    RANGE = 5


class Needs(Enum):
    """What must stand beside words that are not a time by themselves."""

    NOTHING = "nothing"
    JOIN = "a word such as since or between"
    DAY = "a day, which this is a part of"
    DATE = "another date, whose month this shares"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a phrase means at a given now. `period` is set where it comes round again, and the latest one is meant."""

    resolve: Callable[[datetime], Span]
    grain: Grain
    period: Unit | None = None
    needs: Needs = Needs.NOTHING
    window: tuple[int, int] | None = None
    # A date with its month: one beside it may leave the month out.
    dated: bool = False

    def at(self, now: datetime) -> Span | None:
        """The range; none for a date that does not exist or that no calendar reaches."""
        try:
            span = self.resolve(now)
            inside = phrase.earliest(now) <= span.start and span.end <= phrase.latest(now)
            inside = inside and phrase.utc(span.start) <= phrase.utc(span.end)
        except (OverflowError, ValueError):
            return None
        return span if inside else None


Build = Callable[[Values], Reading]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words that may stand under a name, and their values; digits without one are their own."""

    pattern: str
    values: Values = field(default_factory=dict)

    def value(self, text: str) -> int | None:
        return self.values.get(text, int(text) if text.isdecimal() else None)


@dataclass(frozen=True, slots=True)
class Rule:
    pattern: str
    build: Build


class Bound(Enum):
    BETWEEN = "between"
    SINCE = "since"
    AFTER = "after"
    UNTIL = "until"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Join:
    """Words around one phrase, or around and between two, that open or close a range.

    A firm join is too common a word to make a time of what is not one by itself: "2 to 5", "may-be".
    """

    bound: Bound
    before: str = ""
    between: str = ""
    after: str = ""
    firm: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the recogniser knows of one language, as tables."""

    code: str
    script: str
    phrases: Mapping[str, Reading]
    lexicons: Mapping[str, Lexicon]
    rules: tuple[Rule, ...]
    joins: tuple[Join, ...] = ()
    # What must not stand directly before and after a phrase: of all, and of some.
    edges: tuple[str, str] = ("", "")
    guards: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # Between a day and its part; where a space in a phrase may be left out; words left dangling.
    link: str = " "
    gap: str = " "
    leading: str = ""
    trailing: str = ""
    accents: Mapping[int, int] = field(default_factory=dict)


# Not the end of a longer number, and not below zero: "-3 days ago".
NUMBER = r"(?<![0-9.,])(?<!^-)(?<![ (]-)[0-9]{1,6}"
DIGITS_CJK = "一二三四五六七八九"
HOUR = 3600


def words(values: Values, *, digits: str = "") -> Lexicon:
    """A lexicon of written-out words, the longest tried first, and of digits where there is a pattern for them."""
    spelled = "|".join(re.escape(word) for word in sorted(values, key=lambda word: (-len(word), word)))
    return Lexicon("|".join(part for part in (spelled, digits) if part), values)


# Readings that need no values.


def block(unit: Unit, offset: int) -> Reading:
    grains = {Unit.DAY: Grain.DAY, Unit.YEAR: Grain.YEAR}
    return Reading(partial(phrase.block, unit=unit, offset=offset), grains.get(unit, Grain.MONTH))


day = partial(block, Unit.DAY)
week = partial(block, Unit.WEEK)
weekend = partial(block, Unit.WEEKEND)
month = partial(block, Unit.MONTH)
year = partial(block, Unit.YEAR)


def stretch(first: int, last: int) -> Reading:
    """Several days in one word, by their distance from today."""
    return Reading(partial(_day_to_day, first=first, last=last), Grain.RANGE)


def _day_to_day(now: datetime, first: int, last: int) -> Span:
    return Span(phrase.block(now, Unit.DAY, first).start, phrase.block(now, Unit.DAY, last).end)


def away(unit: Unit, count: int) -> Reading:
    grain = Grain.DAY if unit is Unit.DAY else Grain.MOMENT if unit < Unit.DAY else Grain.MONTH
    return Reading(partial(phrase.around, unit=unit, count=count), grain)


def some(unit: Unit, sign: int) -> Reading:
    return Reading(partial(phrase.few, unit=unit, sign=sign), Grain.MONTH)


def rolling(unit: Unit, count: int, grain: Grain = Grain.MONTH) -> Reading:
    return Reading(partial(phrase.rolling, unit=unit, count=count), grain)


NOW = JUST_NOW = rolling(Unit.MINUTE, -10, Grain.VAGUE)
A_WHILE_AGO = rolling(Unit.HOUR, -1, Grain.VAGUE)
RECENTLY = rolling(Unit.DAY, -7, Grain.VAGUE)
DAYS_AGO = some(Unit.DAY, -1)
# The middle of an hour has a window of half an hour.
HALF_HOUR_AGO = Reading(
    lambda now: Span(phrase.elapsed(now, Unit.MINUTE, -45), phrase.elapsed(now, Unit.MINUTE, -15)), Grain.MOMENT
)


def part(first: int, last: int) -> Reading:
    """A part of some day, in hours; beyond 24 lies the night after it."""
    return _seconds(first * HOUR, last * HOUR - 1)


def _seconds(first: int, last: int) -> Reading:
    window = (first, last)
    return Reading(partial(_window_of_day, offset=0, window=window), Grain.DAY, needs=Needs.DAY, window=window)


def on(offset: int, piece: Reading) -> Reading:
    """A part of the day that many days from today, for words such as tonight."""
    assert piece.window is not None
    return replace(piece, resolve=partial(_window_of_day, offset=offset, window=piece.window), needs=Needs.NOTHING)


def _window_of_day(now: datetime, offset: int, window: tuple[int, int]) -> Span:
    return phrase.window(now.date() + timedelta(days=offset), *window, phrase.zone_of(now))


DAWN, MORNING, NOON = part(0, 6), part(5, 12), part(11, 14)
AFTERNOON, EVENING, NIGHT = part(12, 18), part(17, 24), part(18, 30)
# The halves of a day by the clock: 오후 and 午後 have an eight o'clock too.
BEFORE_NOON, AFTER_NOON = part(0, 12), part(12, 24)


# Builders: from the values of a rule's names to a reading.


def ago(values: Values) -> Reading:
    """So many units back. A thousand years and more is a year that was meant, not a distance."""
    return _distance(values, -1)


def ahead(values: Values) -> Reading:
    return _distance(values, 1)


def _distance(values: Values, sign: int) -> Reading:
    unit, count = Unit(values.get("unit", Unit.DAY)), values["n"]
    if unit is Unit.YEAR and count >= 1000:
        raise ValueError("not a distance")
    return away(unit, sign * count)


def ago_about(values: Values) -> Reading:
    """Two or three units back: from the farther (`m`, else one more than `n`) to the nearer, their windows included."""
    unit, near = Unit(values.get("unit", Unit.DAY)), values["n"]
    far = values.get("m", near + 1)
    if far <= near:
        raise ValueError("not in order")
    return Reading(partial(_between_distances, unit=unit, near=near, far=far), Grain.MONTH)


def _between_distances(now: datetime, unit: Unit, near: int, far: int) -> Span:
    return Span(phrase.around(now, unit, -far).start, phrase.around(now, unit, -near).end)


def doubled(build: Build) -> Build:
    """For units that are two of another: a fortnight."""
    return lambda values: build({**values, "n": 2 * values.get("n", 1)})


def past_few(values: Values) -> Reading:
    return some(Unit(values["unit"]), -1)


def next_few(values: Values) -> Reading:
    return some(Unit(values["unit"]), 1)


def last_units(values: Values) -> Reading:
    return rolling(Unit(values.get("unit", Unit.DAY)), -values.get("n", 1))


def next_units(values: Values) -> Reading:
    return rolling(Unit(values.get("unit", Unit.DAY)), values.get("n", 1))


def turned(values: Values) -> Reading:
    """The last, present or next week, weekend, month or year."""
    return block(Unit(values["span"]), values["turn"])


def whole_month(values: Values) -> Reading:
    return block(Unit.MONTH, values["month_turn"])


def whole_year(values: Values) -> Reading:
    return block(Unit.YEAR, values["year_turn"])


def same_day(values: Values) -> Reading:
    """Today's date in another month or year, its weekday in another week: 작년 오늘, "two years ago today"."""
    turns = {"week": Unit.WEEK, "month_turn": Unit.MONTH, "year_turn": Unit.YEAR}
    unit, count = next(
        ((unit, values[name]) for name, unit in turns.items() if name in values),
        (Unit(values.get("unit", Unit.DAY)), -values.get("n", 0)),
    )
    return Reading(partial(_moved_day, unit=unit, count=count), Grain.DAY)


def _moved_day(now: datetime, unit: Unit, count: int) -> Span:
    chosen = phrase.moved(now.date(), unit, count)
    return phrase.days(chosen, chosen, phrase.zone_of(now))


def same_season(values: Values) -> Reading:
    """About this date in another year, as wide as so many months ago."""
    return away(Unit.MONTH, 12 * values["year_turn"])


def weekday(values: Values) -> Reading:
    """A day of a given week (`week`), or the last, present or next of its name; without a word, the latest past."""
    wanted, turn = values["weekday"], values.get("turn", values.get("turn_after", -1))
    if "week" in values or turn == 0:
        return Reading(partial(_day_of_week, wanted=wanted, week=values.get("week", 0)), Grain.DAY)
    bare = "turn" not in values and "turn_after" not in values
    return Reading(partial(_nearest_weekday, wanted=wanted, turn=turn), Grain.DAY, Unit.WEEK if bare else None)


def _day_of_week(now: datetime, wanted: int, week: int) -> Span:
    chosen = phrase.monday(now.date()) + timedelta(days=7 * week + wanted)
    return phrase.days(chosen, chosen, phrase.zone_of(now))


def _nearest_weekday(now: datetime, wanted: int, turn: int) -> Span:
    """Never today: who means today says so."""
    away = (now.date().weekday() - wanted) % 7 or 7
    chosen = now.date() + timedelta(days=-away if turn < 0 else 7 - away or 7)
    return phrase.days(chosen, chosen, phrase.zone_of(now))


def calendar(values: Values) -> Reading:
    """A date, a month or a year; what is not said is the latest past one (for a month, or the present one)."""
    if "day" in values:
        bare_month = "month_turn" not in values
        period = None if _has_year(values) or not bare_month else Unit.YEAR if "month" in values else Unit.MONTH
        return Reading(partial(_calendar_day, values=values), Grain.DAY, period, dated="month" in values)
    if "month" in values:
        period = None if _has_year(values) or "turn" in values else Unit.YEAR
        return Reading(partial(_calendar_month, values=values), Grain.MONTH, period)
    return Reading(partial(_calendar_year, values=values), Grain.YEAR)


def _has_year(values: Values) -> bool:
    return "year" in values or "year_turn" in values


def _year(values: Values, now: datetime) -> int:
    return values["year"] if "year" in values else now.year + values["year_turn"]


def _calendar_day(now: datetime, values: Values) -> Span:
    today = now.date()
    if "month_turn" in values:
        chosen = phrase.moved(today.replace(day=1), Unit.MONTH, values["month_turn"]).replace(day=values["day"])
    elif "month" not in values:
        chosen = phrase.latest_day_of_month(today, values["day"])
    elif _has_year(values):
        chosen = date(_year(values, now), values["month"], values["day"])
    else:
        chosen = phrase.latest_date(today, values["month"], values["day"])
    return phrase.days(chosen, chosen, phrase.zone_of(now))


def _calendar_month(now: datetime, values: Values) -> Span:
    wanted, turn = values["month"], values.get("turn")
    if _has_year(values):
        chosen = _year(values, now)
    elif turn is None:
        chosen = now.year - (wanted > now.month)
    elif turn == 0:
        chosen = now.year
    else:
        chosen = now.year - (wanted >= now.month) if turn < 0 else now.year + (wanted <= now.month)
    return phrase.whole_month(chosen, wanted, phrase.zone_of(now))


def _calendar_year(now: datetime, values: Values) -> Span:
    return phrase.whole_year(_year(values, now), phrase.zone_of(now))


def clock(values: Values) -> Reading:
    """A time of day as wide as it is precise. Without a half of the day named, the hour is as on a 24-hour clock."""
    hour, minute = values["hour"], values.get("minute", values.get("half"))
    if "noon" in values:
        hour = hour % 12 + values["noon"]
    if hour > 24 or (minute or 0) > 59 or values.get("second", 0) > 59:
        raise ValueError("no such time")
    start = hour * HOUR + (minute or 0) * 60 + values.get("second", 0)
    width = 1 if "second" in values else HOUR if minute is None else 60
    return _seconds(start, start + width - 1)


def needing(needs: Needs, build: Build) -> Build:
    """The same reading, of words that are no time by themselves."""
    return lambda values: replace(build(values), needs=needs)
