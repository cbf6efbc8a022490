"""Dates in figures, which every language shares: 2024-01-01, 1/2/2024, 2024년 1월 1일, 2024年1月1日, ISO datetimes."""

from datetime import UTC, datetime, timedelta, timezone
from functools import partial

from commonplace.domain.timephrase import phrase, short_dates
from commonplace.domain.timephrase.grammar import (
    DIGITS_CJK,
    Bound,
    Grain,
    Join,
    Language,
    Lexicon,
    Needs,
    Reading,
    Rule,
    Values,
    calendar,
    clock,
    needing,
)
from commonplace.domain.timephrase.numbers import han
from commonplace.domain.timephrase.phrase import Span
from commonplace.domain.timephrase.short_dates import ONE_OR_TWO, OPEN, SHORT_YEARS, SHUT, ordered

# What may follow a Korean time noun: anything but a letter of a longer word, so particles and a few nouns of time.
KOREAN_END = (
    r"(?=(?:에서는|에서도|에서|에는|에도|에|엔|의|은|는|이나|이랑|이|가|을|를|도|만|과|와|로|으로|쯤|경|께|중순|중|초|말|내"
    r"|자|동안|부터의|부터|까지의|까지|이후|이전|이래|인|였던|이던|처럼|보다|아침|점심|저녁|오전|오후|새벽|밤|낮)?(?![가-힣]))"
)


def stamped(values: Values) -> Reading:
    """A date with a time, and perhaps the offset it was written in."""
    return Reading(partial(_stamp, values=values), Grain.MOMENT)


def _stamp(now: datetime, values: Values) -> Span:
    zone = phrase.zone_of(now)
    wall = clock(values).window
    assert wall is not None
    day = datetime(values["year"], values["month"], values["day"], tzinfo=zone)
    if "offset" not in values and "utc" not in values:
        return phrase.window(day.date(), *wall, zone)
    written = timezone(_offset(values)) if "offset" in values else UTC
    start, end = (day.replace(tzinfo=written) + timedelta(seconds=seconds) for seconds in wall)
    return Span(start.astimezone(zone), end.astimezone(zone))


def _offset(values: Values) -> timedelta:
    return values["offset"] * timedelta(hours=values["offset_hour"], minutes=values.get("offset_minute", 0))


YEAR, TWO = Lexicon("[0-9]{4}"), Lexicon("[0-9]{2}")
# Figure by figure, and in the eras of Japan: the years of living memory.
_HAN_YEARS = {"".join(f"〇{DIGITS_CJK}"[int(figure)] for figure in str(year)): year for year in range(1900, 2100)}
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_HAN_YEARS |= {f"{era}{n}": before + n for era, before in _ERAS.items() for n in range(1, 100)}
_HAN_YEARS |= {f"{era}元": before + 1 for era, before in _ERAS.items()}
_HAN_YEAR = f"(?<![0-9])[0-9]{{4}}|[〇零{DIGITS_CJK}]{{4}}|(?:{'|'.join(_ERAS)})(?:元|[0-9]{{1,2}})"
LEXICONS = short_dates.LEXICONS | {
    "year": YEAR,
    # Two figures only before a month: 24년 by itself may be how long something took.
    "month_year": Lexicon("[0-9]{4}|[0-9]{2}", SHORT_YEARS),
    "han_month_year": Lexicon(f"{_HAN_YEAR}|(?<![0-9])[0-9]{{2}}", _HAN_YEARS | SHORT_YEARS),
    "common_year": Lexicon("(?:19|20)[0-9]{2}"),
    "cjk_year": Lexicon(_HAN_YEAR, _HAN_YEARS),
    "two": TWO,
    "number": han(),
    "hour": ONE_OR_TWO,
    "minute": TWO,
    "second": TWO,
    "mark": Lexicon("[-/]", {"-": 0, "/": 1}),
    "utc": Lexicon("z", {"z": 1}),
    "sign": Lexicon("[-+]", {"-": -1, "+": 1}),
}
STAMP = (
    r"<hour>:<minute>(?::<second>(?:[.,][0-9]{1,9})?)?(?:<utc>| ?<offset:sign><offset_hour:two>:?<offset_minute:two>?)?"
)
HAN_YEAR_END = r"(?![代间間来來级級])"
# Names that begin like a month: May rain, the band Mayday.
HAN_MONTH_END = r"(?!雨|天(?!气|気)|蝇|蠅)"


def _rules(day_first: bool) -> tuple[Rule, ...]:
    return (
        Rule(rf"{OPEN}<year>-<month>-<day>(?:t| ){STAMP}{SHUT}", stamped),
        Rule(rf"{OPEN}<year><mark><month>(?P=mark)<day>{SHUT}", calendar),
        Rule(rf"{OPEN}<year>\. ?<month>\. ?<day>{SHUT}(?:\.(?! ?[0-9]))?", calendar),
        Rule(rf"{OPEN}<year:common_year><month:two><day:two>{SHUT}", calendar),
        Rule(rf"{OPEN}<year:common_year>[-/]<month:two>{SHUT}", calendar),
        Rule(rf"{OPEN}<first:month><mark><other:month>(?P=mark)<year>{SHUT}", partial(ordered, day_first=day_first)),
        # With dots nobody puts the month first.
        Rule(rf"{OPEN}<first:month>\.<other:month>\.<year>{SHUT}", partial(ordered, day_first=True)),
        Rule(rf"{OPEN}<hour>:<minute>(?::<second>)?{SHUT}", clock),
        Rule(rf"(?<![0-9])(?:<year:month_year>년 ?)?<month>월 ?<day>일{KOREAN_END}", calendar),
        Rule(rf"(?<![0-9])(?:<year:month_year>년 ?)?<month>월{KOREAN_END}", calendar),
        Rule(rf"(?<![0-9])<year>년도?{KOREAN_END}", calendar),
        Rule(rf"(?<![0-9])<day>일{KOREAN_END}", needing(Needs.DATE, calendar)),
        Rule(r"(?:<year:han_month_year>年 ?)?<month:number>月 ?<day:number>[日号號]", calendar),
        Rule(rf"(?:<year:han_month_year>年 ?)?<month:number>月份?{HAN_MONTH_END}", calendar),
        Rule(rf"(?<![0-9〇零{DIGITS_CJK}])<year:cjk_year>年度?{HAN_YEAR_END}", calendar),
        Rule(r"<day:number>[日号號](?!本|間|间|目|曜)", needing(Needs.DATE, calendar)),
        *short_dates.shared(day_first=day_first),
    )


def figures(*, day_first: bool) -> Language:
    """The dates in figures, as the language all languages share."""
    return Language(
        code="",
        script="[0-9月年]",
        phrases={},
        lexicons=LEXICONS,
        rules=_rules(day_first),
        joins=(Join(Bound.BETWEEN, between=r" ?(?:~|-|\.\.\.?) ?", firm=True),),
        link=r" ?",
    )
