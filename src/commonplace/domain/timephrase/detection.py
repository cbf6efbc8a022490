"""Finding the time phrase of a query.

Only the first REACH characters are looked at: a query is a sentence, and memory text may be a megabyte.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from itertools import pairwise

from commonplace.domain.errors import Invalid
from commonplace.domain.timephrase import phrase
from commonplace.domain.timephrase.chinese import CHINESE
from commonplace.domain.timephrase.dates import figures
from commonplace.domain.timephrase.english import ENGLISH
from commonplace.domain.timephrase.folding import Folded, fold
from commonplace.domain.timephrase.french import FRENCH, SIGNS
from commonplace.domain.timephrase.grammar import Bound, Build, Grain, Join, Language, Lexicon, Needs, Reading
from commonplace.domain.timephrase.japanese import JAPANESE
from commonplace.domain.timephrase.korean import KOREAN
from commonplace.domain.timephrase.phrase import Span, TimePhrase, Unit

REACH = 2000
LANGUAGES = ("ko", "en", "ja", "zh", "fr")
TONGUES = {tongue.code: tongue for tongue in (KOREAN, ENGLISH, JAPANESE, CHINESE, FRENCH)}
KANA = re.compile("[ぁ-んァ-ヶ]")
FRENCH_SIGNS = re.compile(SIGNS)
# No connecting words are longer.
CONTEXT = 24


@dataclass(frozen=True, slots=True)
class Point:
    """A phrase at a place in the folded text."""

    start: int
    end: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class Found:
    """A range at a place in the folded text."""

    start: int
    end: int
    grain: Grain
    span: Span


@dataclass(frozen=True, slots=True)
class Matcher:
    pattern: re.Pattern[str]
    lexicons: Mapping[str, Lexicon]
    build: Build

    def read(self, match: re.Match[str]) -> Reading | None:
        values: dict[str, int] = {}
        for name, text in match.groupdict().items():
            value = self.lexicons[name].value(text) if text else None
            if text and value is None:
                return None
            if value is not None:
                values[name] = value
        try:
            return self.build(values)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Connector:
    join: Join
    before: re.Pattern[str]
    between: re.Pattern[str]
    after: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Recogniser:
    """A language, compiled."""

    language: Language
    script: re.Pattern[str]
    phrases: re.Pattern[str] | None
    readings: Mapping[str, Reading]
    matchers: tuple[Matcher, ...]
    connectors: tuple[Connector, ...]
    link: re.Pattern[str]
    leading: re.Pattern[str] | None
    trailing: re.Pattern[str] | None

    def points(self, text: str) -> Iterator[Point]:
        if self.phrases:
            for match in self.phrases.finditer(text):
                yield Point(match.start(), match.end(), self.readings[match[0].replace(" ", "")])
        for matcher in self.matchers:
            for match in matcher.pattern.finditer(text):
                reading = matcher.read(match)
                if reading and match.end() > match.start():
                    yield Point(match.start(), match.end(), reading)


def detect(query: str, now: datetime, language: str = "auto") -> TimePhrase | None:
    """The most precise time phrase of a query, the longest of equals, the first of those; none if there is none."""
    if now.tzinfo is None:
        raise Invalid("now", "needs a time zone", now)
    tongues = _tongues(language)
    text = fold(query[:REACH])
    found = _best(text, _recognisers(text.text, tongues), now.replace(microsecond=0), cut=len(query) > REACH)
    return _phrase(query, text, found, tongues) if found else None


def _tongues(language: str) -> tuple[Language, ...]:
    if language == "auto":
        return tuple(TONGUES.values())
    if language not in TONGUES:
        raise Invalid("language", f"must be one of auto, {', '.join(LANGUAGES)}", language)
    return (TONGUES[language],)


def _recognisers(text: str, tongues: Sequence[Language]) -> list[Recogniser]:
    """Those that have something to find in a text of such letters, and the figures all share."""
    plain = text.translate(FRENCH.accents)
    day_first = tongues == (FRENCH,) or (len(tongues) > 1 and bool(FRENCH_SIGNS.search(plain)))
    chosen = [recogniser for recogniser in map(compiled, (t.code for t in tongues)) if recogniser.script.search(text)]
    if len(chosen) > 1 and KANA.search(text):
        chosen = [recogniser for recogniser in chosen if recogniser.language is not CHINESE]
    shared = compiled("day first" if day_first else "month first")
    return [*chosen, shared] if shared.script.search(text) else chosen


@cache
def compiled(code: str) -> Recogniser:
    language = TONGUES.get(code) or figures(day_first=code == "day first")
    return Recogniser(
        language=language,
        script=re.compile(language.script),
        phrases=_phrase_pattern(language),
        readings={
            name.replace(" ", ""): reading for names, reading in language.phrases.items() for name in names.split("|")
        },
        matchers=tuple(_matcher(language, rule.pattern, rule.build) for rule in language.rules),
        connectors=tuple(_connector(join) for join in language.joins),
        link=re.compile(language.link),
        leading=re.compile(rf"(?:(?<![^\W_])|(?<=[^a-zà-ÿ])){language.leading}$", re.I) if language.leading else None,
        trailing=re.compile(language.trailing, re.I) if language.trailing else None,
    )


def _phrase_pattern(language: Language) -> re.Pattern[str] | None:
    names = sorted("|".join(language.phrases).split("|"), key=lambda name: (-len(name), name))
    if not language.phrases:
        return None
    guarded = (_guarded(language, name) for name in names)
    opening, closing = language.edges
    return re.compile(f"{opening}(?:{'|'.join(guarded)}){closing}")


def _guarded(language: Language, name: str) -> str:
    before, after = language.guards.get(name, ("", ""))
    return before + language.gap.join(map(re.escape, name.split(" "))) + after


def _matcher(language: Language, pattern: str, build: Build) -> Matcher:
    lexicons: dict[str, Lexicon] = {}

    def group(token: re.Match[str]) -> str:
        lexicon = language.lexicons[token[2] or token[1]]
        lexicons[token[1]] = lexicon
        return f"(?P<{token[1]}>{lexicon.pattern})"

    expanded = re.sub(r"<([a-z_]+)(?::([a-z_]+))?>", group, pattern)
    opening, closing = language.edges
    return Matcher(re.compile(f"{opening}(?:{expanded}){closing}"), lexicons, build)


def _connector(join: Join) -> Connector:
    before = re.compile(rf"(?<![a-zà-ÿ])(?:{join.before})$")
    return Connector(join, before, re.compile(join.between), re.compile(join.after))


def _best(text: Folded, recognisers: Sequence[Recogniser], now: datetime, *, cut: bool) -> Found | None:
    points = _merged(text, recognisers, _settled(text, recognisers, now, cut=cut))
    candidates = [*_single(points, now), *_joined(text, recognisers, points, now)]
    return max(candidates, key=lambda found: (found.grain, found.end - found.start, -found.start), default=None)


def _settled(text: Folded, recognisers: Sequence[Recogniser], now: datetime, *, cut: bool) -> list[Point]:
    """The phrases that do not overlap a longer one, in the order of the text. 2월 30일 is no date, and no 2월 either."""
    points = [
        point for recogniser in recognisers for point in recogniser.points(text.plain(recogniser.language.accents))
    ]
    if cut:
        # A word at the cut may go on beyond it.
        points = [point for point in points if point.end < len(text.text)]
    points.sort(key=lambda point: (point.start - point.end, point.reading.needs is not Needs.NOTHING, point.start))
    taken, settled = bytearray(len(text.text)), []
    for point in points:
        if any(taken[point.start : point.end]):
            continue
        taken[point.start : point.end] = b"\x01" * (point.end - point.start)
        if point.reading.at(now):
            settled.append(point)
    return sorted(settled, key=lambda point: point.start)


def _merged(text: Folded, recognisers: Sequence[Recogniser], points: list[Point]) -> list[Point]:
    """A day and a part of it that stand together become one phrase."""
    merged: list[Point] = []
    for point in points:
        both = _day_part(merged[-1], point) if merged and _linked(text, recognisers, merged[-1], point) else None
        if both:
            merged[-1] = both
        else:
            merged.append(point)
    return merged


def _linked(text: Folded, recognisers: Sequence[Recogniser], left: Point, right: Point) -> bool:
    gap = text.text[left.end : right.start]
    return len(gap) <= CONTEXT and any(
        recogniser.link.fullmatch(gap.translate(recogniser.language.accents)) for recogniser in recognisers
    )


def _day_part(left: Point, right: Point) -> Point | None:
    for whole, piece in ((left.reading, right.reading), (right.reading, left.reading)):
        if whole.grain is not Grain.DAY or whole.needs is not Needs.NOTHING or piece.needs is not Needs.DAY:
            continue
        if piece.window and _width(piece.window) < _width(whole.window):
            window = _inside(piece.window, whole.window)
            reading = replace(whole, resolve=partial(_within, whole=whole, window=window), window=window)
            return Point(left.start, right.end, reading)
    return None


def _width(window: tuple[int, int] | None) -> int:
    return window[1] - window[0] if window else phrase.DAY_SECONDS


def _inside(piece: tuple[int, int], whole: tuple[int, int] | None) -> tuple[int, int]:
    """Nine o'clock last night is nine in the evening, and two o'clock lies in the night after that day."""
    first, last = whole or (0, phrase.DAY_SECONDS)
    for later in (0, phrase.DAY_SECONDS // 2, phrase.DAY_SECONDS):
        if first <= piece[0] + later <= last:
            return piece[0] + later, piece[1] + later
    return piece


def _within(now: datetime, whole: Reading, window: tuple[int, int]) -> Span:
    return phrase.window(whole.resolve(now).start.date(), *window, phrase.zone_of(now))


def _single(points: Sequence[Point], now: datetime) -> Iterator[Found]:
    for point in points:
        if point.reading.needs is Needs.NOTHING:
            yield from _placed((point.start, point.end), point.reading, now)


def _joined(text: Folded, recognisers: Sequence[Recogniser], points: Sequence[Point], now: datetime) -> Iterator[Found]:
    for recogniser in recognisers:
        plain = text.plain(recogniser.language.accents)
        for connector in recogniser.connectors:
            if connector.join.bound is Bound.BETWEEN:
                for left, right in pairwise(points):
                    yield from _between(plain, connector, left, right, now)
            else:
                for point in points:
                    yield from _open_ended(plain, connector, point, now)


def _around(text: str, connector: Connector, start: int, end: int) -> tuple[int, int] | None:
    """Where the connecting words before and after a place begin and end, if they are there."""
    before = connector.before.search(text, max(0, start - CONTEXT), start) if connector.join.before else None
    after = connector.after.match(text, end) if connector.join.after else None
    if (connector.join.before and not before) or (connector.join.after and not after):
        return None
    return start - len(before[0]) if before else start, after.end() if after else end


def _between(text: str, connector: Connector, left: Point, right: Point, now: datetime) -> Iterator[Found]:
    gap = text[left.end : right.start]
    if len(gap) > CONTEXT or not connector.between.fullmatch(gap) or not _joinable(connector.join, left, right):
        return
    place = _around(text, connector, left.start, right.end)
    if place:
        bridge = Reading(partial(_bridge, left=left.reading, right=right.reading), Grain.RANGE)
        yield from _placed(place, bridge, now)


def _joinable(join: Join, left: Point, right: Point) -> bool:
    sides = ((left.reading, right.reading), (right.reading, left.reading))
    barred = (Needs.DAY, Needs.JOIN) if join.firm else (Needs.DAY,)
    return all(one.needs not in barred and (other.dated or one.needs is not Needs.DATE) for one, other in sides)


def _bridge(now: datetime, left: Reading, right: Reading) -> Span:
    """From one to the other. What comes round every year, month or week is meant beside the one that does not."""
    if right.period and (not left.period or right.period < left.period):
        first = left.resolve(now)
        last = right.resolve(_one_period_on(first.start, right.period))
    else:
        # A weekday alone is never today, but a range of them may end today.
        last = right.resolve(phrase.shifted(now, Unit.DAY, 1) if right.period is Unit.WEEK else now)
        first = left.resolve(last.start if left.period else now)
    if phrase.utc(first.start) > phrase.utc(last.end):
        first, last = last, first
    return Span(first.start, last.end)


def _one_period_on(start: datetime, period: Unit) -> datetime:
    """The last day by which a thing that comes round must have come after a start. A weekday is never today."""
    day = phrase.moved(start.date(), period, 1)
    if period is not Unit.WEEK:
        day = phrase.moved(day, Unit.DAY, -1)
    return phrase.instant(day, 0, phrase.zone_of(start))


def _open_ended(text: str, connector: Connector, point: Point, now: datetime) -> Iterator[Found]:
    place = _around(text, connector, point.start, point.end)
    if place and point.reading.needs in (Needs.NOTHING, Needs.JOIN):
        limited = Reading(partial(_limited, bound=connector.join.bound, reading=point.reading), Grain.RANGE)
        yield from _placed(place, limited, now)


def _limited(now: datetime, bound: Bound, reading: Reading) -> Span:
    """Open at one end: what has begun lasts until now, and what ends has no beginning."""
    span = reading.resolve(now)
    if bound is Bound.UNTIL:
        return Span(phrase.earliest(now), span.end)
    if bound is Bound.BEFORE:
        return Span(phrase.earliest(now), phrase.elapsed(span.start, Unit.SECOND, -1))
    start = span.start if bound is Bound.SINCE else phrase.elapsed(span.end, Unit.SECOND, 1)
    return Span(start, now if phrase.utc(start) <= phrase.utc(now) else phrase.latest(now))


def _placed(place: tuple[int, int], reading: Reading, now: datetime) -> Iterator[Found]:
    span = reading.at(now)
    if span:
        yield Found(*place, reading.grain, span)


def _phrase(query: str, text: Folded, found: Found, tongues: Sequence[Language]) -> TimePhrase:
    start, end = text.source(found.start, found.end)
    return TimePhrase(query[start:end], found.span.start, found.span.end, _rest(query[:start], query[end:], tongues))


def _rest(left: str, right: str, tongues: Sequence[Language]) -> str:
    """What is left of the query, without words that only tied the phrase to it."""
    for recogniser in [compiled(tongue.code) for tongue in tongues] * 2:
        left = left.rstrip()
        loose = recogniser.leading.search(left, max(0, len(left) - CONTEXT)) if recogniser.leading else None
        left = left[: loose.start()] if loose else left
        loose = recogniser.trailing.match(right) if recogniser.trailing else None
        right = right[loose.end() :] if loose else right
    rest = re.sub(r" ([?!.,;:。、])", r"\1", " ".join(f"{left} {right}".split())).strip(" ,;:、，-")
    return rest if re.search(r"\w", rest) else ""
