"""A unit and a half ago: 1년 반 전, an hour and a half ago, 一个半月前, il y a un an et demi.

Who counts in halves remembers to within half a unit, so that is how wide the window is.
"""

from datetime import datetime
from functools import partial

from commonplace.domain.timephrase import phrase
from commonplace.domain.timephrase.grammar import Grain, Reading, Values
from commonplace.domain.timephrase.phrase import ELAPSED, Span, Unit

# The half of a unit in smaller ones, and half of that: to either side.
_HALVES = {
    Unit.YEAR: (Unit.MONTH, 6, 3),
    Unit.MONTH: (Unit.DAY, 15, 7),
    Unit.WEEK: (Unit.DAY, 3, 2),
    Unit.DAY: (Unit.HOUR, 12, 6),
    Unit.HOUR: (Unit.MINUTE, 30, 15),
    Unit.MINUTE: (Unit.SECOND, 30, 15),
}


def and_a_half_ago(values: Values) -> Reading:
    unit = Unit(values["unit"])
    if unit not in _HALVES:
        raise ValueError("nobody halves this")
    grain = Grain.MOMENT if unit <= Unit.DAY else Grain.MONTH
    return Reading(partial(_around, unit=unit, count=values["n"]), grain)


def _around(now: datetime, unit: Unit, count: int) -> Span:
    smaller, half, quarter = _HALVES[unit]
    middle = phrase.shifted(phrase.shifted(now, unit, -count), smaller, -half)
    if smaller in ELAPSED:
        return Span(phrase.elapsed(middle, smaller, -quarter), phrase.elapsed(middle, smaller, quarter))
    first, last = (phrase.moved(middle.date(), smaller, distance) for distance in (-quarter, quarter))
    return phrase.days(first, last, phrase.zone_of(now))
