"""Dates in figures that leave out the year or half of it: 11/17, 24.3.5, 3/5/24.

Two figures are a fraction, a score or a version as often as a date. They are one
- with a slash, where a word says so: on, dated, le, du before them; since, until, between … and, 부터, から around them;
  에, 자, に or what people date (회의, 会議, 日记) after them; the date of the other end (11/17~11/20);
- with a slash, at either end of the query, when both have two figures and cannot be a share: 11/17, 03/05, not 10/12;
- with a dot or hyphen, at the beginning of a Korean query, before what people date: 11.17 회의록;
- with any mark, before a weekday in brackets, 11/17(금), or alone in the query (11-17 and 11.17 with two figures each).
The commonest fractions (1/2, 2/3, 3/4, 1/10) and the event 9/11 are dates only after on and le, before brackets and
alone; 24/7 is none.
"""

from dataclasses import replace
from datetime import datetime
from functools import partial

from commonplace.domain.timephrase.grammar import Lexicon, Needs, Reading, Rule, Values, calendar, needing
from commonplace.domain.timephrase.phrase import Span

# Not inside a longer number, a version or a name.
OPEN = r"(?<![0-9a-z_])(?<![0-9][-./:,])"
SHUT = r"(?![0-9a-z_]|[-./:,][0-9])"

SHORT_YEARS = {f"{n:02}": 2000 + n if n < 70 else 1900 + n for n in range(100)}
ONE_OR_TWO = Lexicon("[0-9]{1,2}")
LEXICONS = {
    "month": ONE_OR_TWO,
    "day": ONE_OR_TWO,
    "short_year": Lexicon("[0-9]{2}", SHORT_YEARS),
}


def ordered(values: Values, *, day_first: bool) -> Reading:
    """Two figures, and perhaps a year: one above twelve is the day, else the language decides."""
    first, second = values["first"], values["other"]
    swapped = first > 12 if max(first, second) > 12 else day_first
    month, day = (second, first) if swapped else (first, second)
    return calendar({**values, "month": month, "day": day})


def abbreviated(values: Values, *, day_first: bool) -> Reading:
    """With two figures of the year: a year far ahead is none, 10/20/30 are shares."""
    reading = ordered(values, day_first=day_first)

    def resolve(now: datetime) -> Span:
        if values["year"] > now.year + 1:
            raise ValueError("not a year anybody means")
        return reading.resolve(now)

    return replace(reading, resolve=resolve)


def shortened(values: Values, *, day_first: bool) -> Reading:
    """Without a year to show that it is a date, nobody who puts the day first is taken to have put the month first."""
    if day_first and values["other"] > 12:
        raise ValueError("no such month")
    return ordered(values, day_first=day_first)


# Nor inside a path or a code.
_APART, _ENDED = OPEN + "(?<![-/])", SHUT + "(?!/)"
_PAIR = "<first:month>/<other:month>"
_TWO_FIGURES = "(?=[0-9]{2}.[0-9]{2})"
_UNLIKELY_SHARE = r"(?!(?:24/7|9/11)(?![0-9])|(?:[1-3]/[2-5]|1/10)(?![0-9]))"
# One of them is above twelve or begins with a nought; French marks are out of twenty.
_NO_SHARE = "(?=0|../0|(?:1[3-9]|2[0-9]|3[01])/|../(?:1[3-9]|2[1-9]|3[01]))"
_OF_WHAT = "(?! (?:of|des?|du|cups?|inch(?:es)?|stars?)(?![a-z]))"
_NAMED = r"(?:(?<=^on )|(?<= on )|(?<=dated )|(?<=^le )|(?<= le )|(?<=^du )|(?<= du ))"
_BRACKET = (
    r" ?\((?:[월화수목금토일](?:요일)?|[月火水木金土日](?:曜日?)?|(?:周|週|星期|礼拜|禮拜)[一二三四五六日天]"
    r"|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}|(?:lun|mar|mer|jeu|ven|sam|dim)[a-z]{0,5})\.?\)"
)
_END_OF_QUERY = r"(?=[ ?!.]*$)"
_START_OF_QUERY = "(?:(?<=^)|(?<=^ ))"


def shared(*, day_first: bool) -> tuple[Rule, ...]:
    """What holds in every language."""
    short = partial(shortened, day_first=day_first)
    return (
        Rule(
            rf"{_APART}<first:month>/<other:month>/<year:short_year>{_ENDED}", partial(abbreviated, day_first=day_first)
        ),
        Rule(rf"{_APART}{_UNLIKELY_SHARE}{_PAIR}{_ENDED}{_OF_WHAT}", needing(Needs.JOIN, short)),
        Rule(rf"{_APART}{_NAMED}(?!24/7(?![0-9])){_PAIR}{_ENDED}{_OF_WHAT}", short),
        Rule(rf"{_APART}<first:month>[-/.]<other:month>{_BRACKET}", short),
        Rule(rf"{_APART}{_UNLIKELY_SHARE}{_PAIR}(?= ?~ ?[0-9]{{1,2}}/[0-9])", short),
        Rule(rf"(?:(?<=[0-9]~)|(?<=[0-9] ~ )){_UNLIKELY_SHARE}{_PAIR}{_ENDED}", short),
        Rule(rf"{_START_OF_QUERY}{_TWO_FIGURES}{_NO_SHARE}{_PAIR}{_ENDED}{_OF_WHAT}", short),
        Rule(rf"{_APART}{_TWO_FIGURES}{_NO_SHARE}{_PAIR}{_END_OF_QUERY}", short),
        Rule(rf"{_START_OF_QUERY}(?!24/7(?![0-9])){_PAIR}{_END_OF_QUERY}", short),
        Rule(rf"{_START_OF_QUERY}{_TWO_FIGURES}<first:month>[-.]<other:month>{_END_OF_QUERY}", short),
    )


# The month comes first, and the year before it.
_MONTH_FIRST = rf"{_APART}{_UNLIKELY_SHARE}<month>/<day>"
_YEAR_FIRST = rf"{_APART}'?<year:short_year>"
_DATED_KO = "(?:회의|미팅|모임|일정|약속|일기|메모|일지|통화|면담|기록|보고|행사|발표|출장)"
KOREAN = (
    Rule(rf"{_MONTH_FIRST}(?=에(?!서)|일?자(?![가-힣])| ?{_DATED_KO})", calendar),
    Rule(rf"{_START_OF_QUERY}<month>[-.]<day>(?= {_DATED_KO})", calendar),
    Rule(rf"{_YEAR_FIRST}/<month>/<day>{_ENDED}", calendar),
    # A version looks the same: at the beginning, or with noughts, or before what people date.
    Rule(
        rf"{_START_OF_QUERY}'?<year:short_year>\. ?<month>\. ?<day>{_ENDED}\.?(?! ?(?:버전|버젼|릴리|업데이트|패치))",
        calendar,
    ),
    Rule(rf"{_YEAR_FIRST}\.(?=[01][0-9]\.[0-3][0-9])<month>\.<day>{_ENDED}", calendar),
    Rule(rf"{_YEAR_FIRST}\. ?<month>\. ?<day>\.?(?:{_BRACKET}|(?=일?자(?![가-힣])| {_DATED_KO}))", calendar),
)
JAPANESE = (
    Rule(rf"{_MONTH_FIRST}(?=に|の?(?:会議|打ち合わせ|打合せ|ミーティング|議事録|日記|メモ|予定|電話))", calendar),
    Rule(rf"{_YEAR_FIRST}/<month>/<day>{_ENDED}", calendar),
)
CHINESE = (
    Rule(
        rf"{_MONTH_FIRST}(?=的?(?:会议|會議|开会|開會|日记|日記|记录|記錄|笔记|筆記|聊天|讨论|討論|电话|電話))",
        calendar,
    ),
    Rule(rf"{_YEAR_FIRST}/<month>/<day>{_ENDED}", calendar),
)
