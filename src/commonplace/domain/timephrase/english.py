"""English: yesterday, last week, 3 days ago, last Monday, March 5th 2024, between Monday and Friday."""

from commonplace.domain.timephrase import terms
from commonplace.domain.timephrase.grammar import (
    A_WHILE_AGO,
    AFTERNOON,
    DAYS_AGO,
    EVENING,
    HALF_HOUR_AGO,
    JUST_NOW,
    MORNING,
    NIGHT,
    NOON,
    NOW,
    RECENTLY,
    Bound,
    Join,
    Language,
    Lexicon,
    Needs,
    Rule,
    ago,
    ago_about,
    ahead,
    away,
    calendar,
    clock,
    day,
    doubled,
    last_units,
    month,
    needing,
    next_few,
    next_units,
    on,
    past_few,
    same_day,
    same_season,
    stretch,
    turned,
    week,
    weekday,
    words,
    year,
)
from commonplace.domain.timephrase.halves import and_a_half_ago
from commonplace.domain.timephrase.numbers import english
from commonplace.domain.timephrase.phrase import Unit
from commonplace.domain.timephrase.short_dates import ONE_OR_TWO

PHRASES = {
    "today|earlier today|later today": day(0),
    "yesterday": day(-1),
    "yesterday and today": stretch(-1, 0),
    "today and tomorrow": stretch(0, 1),
    "tomorrow": day(1),
    "day before yesterday|the day before yesterday": day(-2),
    "day after tomorrow|the day after tomorrow": day(2),
    "now|right now|at the moment": NOW,
    "just now|a moment ago|moments ago|a minute ago|a second ago": JUST_NOW,
    "a while ago|a little while ago|a short while ago|a bit ago|a little earlier": A_WHILE_AGO,
    "recently|lately|these days|not long ago": RECENTLY,
    "the other day": DAYS_AGO,
    "half an hour ago|a half hour ago": HALF_HOUR_AGO,
    "half a year ago": away(Unit.MONTH, -6),
    "last night": on(-1, NIGHT),
    "tonight": on(0, NIGHT),
    "this morning": on(0, MORNING),
    "this afternoon": on(0, AFTERNOON),
    "this evening": on(0, EVENING),
    "tomorrow night": on(1, NIGHT),
    "week before last|the week before last": week(-2),
    "month before last|the month before last": month(-2),
    "year before last|the year before last": year(-2),
    "week after next|the week after next": week(2),
    "morning": MORNING,
    "noon|lunchtime|midday": NOON,
    "afternoon": AFTERNOON,
    "evening": EVENING,
    "night": NIGHT,
}

COUNTS = {
    "hundred": 100, "a hundred": 100, "one hundred": 100, "couple": 2, "couple of": 2, "a couple": 2, "a couple of": 2,
    "half a dozen": 6, "a dozen": 12,
}  # fmt: skip
ONE = {"a": 1, "an": 1}
UNITS = {
    "second": Unit.SECOND, "sec": Unit.SECOND, "minute": Unit.MINUTE, "min": Unit.MINUTE, "hour": Unit.HOUR, "hr": Unit.HOUR,
    "day": Unit.DAY, "week": Unit.WEEK, "month": Unit.MONTH, "year": Unit.YEAR, "yr": Unit.YEAR, "weekend": Unit.WEEKEND,
}  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTH = {name: number for number, name in enumerate(MONTHS, start=1)}
SHORT_MONTHS = {name[:3]: number for name, number in MONTH.items()} | {"sept": 9}
FULL_DAY = {name: number for number, name in enumerate(WEEKDAYS)}

LEXICONS = {
    "n": english(COUNTS | ONE),
    "unit": words({f"{name}{s}": unit for name, unit in UNITS.items() if unit is not Unit.WEEKEND for s in ("", "s")}),
    "one": words(ONE),
    "long_unit": words({f"{name}{s}": UNITS[name] for name in ("week", "month", "year") for s in ("", "s")}),
    "fortnight": words({"fortnight": Unit.WEEK, "fortnights": Unit.WEEK}),
    # "In a day" is a rate as often as a time.
    "count": english(COUNTS),
    "short_unit": words({"minute": Unit.MINUTE, "hour": Unit.HOUR}),
    "turn": words({"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}),
    "before_or_after": words({"last": -1, "next": 1}),
    "span": words({name: UNITS[name] for name in ("week", "weekend", "month", "year")}),
    "weekday": words(FULL_DAY),
    "any_weekday": words(FULL_DAY | SHORT_DAYS),
    # A verb and a noun besides: these two are months only in company.
    "plain_month": words({name: number for name, number in MONTH.items() if name not in ("march", "may")}),
    "month": words(MONTH),
    "any_month": words(MONTH | SHORT_MONTHS),
    "year": Lexicon("(?:19|20)[0-9]{2}"),
    "day": ONE_OR_TWO,
    "noon": words({"am": 0, "a.m.": 0, "pm": 12, "p.m.": 12}),
    "hour": ONE_OR_TWO,
    "minute": Lexicon("[0-9]{2}"),
}

NTH = "(?:st|nd|rd|th)?"
YEAR_AFTER = "(?:(?:-|,? (?:of )?)<year>| (?:of )?<year_turn:turn> year)?"
IN_MONTH = "(?:(?<=in )|(?<=during )|(?<=early )|(?<=late )|(?<=mid-)|(?<=month of ))"
IN_YEAR = "(?:(?<=in )|(?<=during )|(?<=year )|(?<=of )|(?<=early )|(?<=late ))"
RULES = (
    Rule("(?:about )?<n> ?<unit> (?:ago|back)", ago),
    Rule("(?:about )?<n> <unit> and a half (?:ago|back)", and_a_half_ago),
    Rule("(?:about )?<n> and a half <unit> (?:ago|back)", and_a_half_ago),
    Rule("(?:about )?<n> ?(?:-|~|or|to) ?<m:n> ?<unit> (?:ago|back)", ago_about),
    Rule("<n:one> <unit> or (?:two|so) (?:ago|back)", ago_about),
    Rule("(?:about )?<n> <unit:fortnight> (?:ago|back)", doubled(ago)),
    Rule("(?:the )?(?:last|past|previous) (?:<n> )?<unit:fortnight>", doubled(last_units)),
    Rule("in (?:about )?<n> <unit:fortnight>", doubled(ahead)),
    Rule("<n> <unit:long_unit> ago (?:today|to the day)", same_day),
    Rule("(?:on )?(?:this|the same) day,? <year_turn:before_or_after> year", same_day),
    Rule("(?:on )?(?:this|the same) day,? <month_turn:before_or_after> month", same_day),
    Rule("(?:around |about )?(?:this|the same) time,? <year_turn:before_or_after> year", same_season),
    Rule("(?:a few|few|several|some) <unit> (?:ago|back)", past_few),
    Rule("in (?:about )?<n:count> ?<unit>", ahead),
    Rule("<n> ?<unit> (?:from now|from today|later)", ahead),
    Rule("in (?:a few|several) <unit>", next_few),
    Rule("(?:the )?(?:last|past|previous) <n> <unit>", last_units),
    Rule("(?:the )?past <unit>", last_units),
    Rule("(?:the )?last <unit:short_unit>", last_units),
    Rule("(?:the )?(?:next|coming) <n> <unit>", next_units),
    Rule("<turn> <span>", turned),
    # Remembered too loosely to leave out the rest.
    Rule("(?:the )?(?:beginning|start|middle|end) of <turn> <span>", turned),
    Rule("<weekday>", weekday),
    Rule("<turn> <weekday>", weekday),
    Rule("(?:<turn:before_or_after> |(?<=on ))<weekday:any_weekday>", weekday),
    Rule("<weekday:any_weekday>,? (?:of )?<week:turn> week", weekday),
    Rule("<week:turn> week(?:'s)?,? (?:on )?<weekday:any_weekday>", weekday),
    Rule("<month:plain_month>", calendar),
    Rule("<month>", needing(Needs.JOIN, calendar)),
    Rule(f"{IN_MONTH}<month:any_month>", calendar),
    Rule("<turn:before_or_after> <month:any_month>", calendar),
    Rule("this <month:plain_month>", calendar),
    Rule("<month:any_month>\\.?,? (?:of )?<year>", calendar),
    Rule("<month:any_month> (?:of )?<year_turn:turn> year", calendar),
    Rule(f"<month:any_month>\\.? (?:the )?<day>{NTH}(?!:){YEAR_AFTER}", calendar),
    Rule(f"<day>{NTH}[ -](?:of )?<month:any_month>\\.?{YEAR_AFTER}", calendar),
    Rule(f"{IN_YEAR}<year>", calendar),
    Rule("<year>", needing(Needs.JOIN, calendar)),
    Rule(f"<day>{NTH}(?= (?:to|and|until|till|through) )", needing(Needs.DATE, calendar)),
    Rule(
        f"(?:(?<=to )|(?<=and )|(?<=until )|(?<=till )|(?<=through )|(?<=[0-9][-~]))(?:the )?<day>{NTH}",
        needing(Needs.DATE, calendar),
    ),
    Rule("<hour>(?::<minute>)? ?<noon>", clock),
    Rule("<hour> o'clock", clock),
)

JOINS = (
    Join(Bound.BETWEEN, before="(?:between|from) (?:the )?", between=" (?:and|to|until|till|through|thru) (?:the )?"),
    Join(Bound.BETWEEN, between=" (?:to|until|till|through|thru) | ?[-~] ?", firm=True),
    Join(Bound.SINCE, before="(?:ever )?since (?:the )?|starting (?:from |in |on )?"),
    Join(Bound.SINCE, before="(?:from )?", after=" onwards?"),
    Join(Bound.AFTER, before="after (?:the )?"),
    Join(Bound.UNTIL, before="(?:until|till|up to|up until) (?:the )?"),
    Join(Bound.BEFORE, before="(?:before|prior to|earlier than) (?:the )?"),
)

ENGLISH = Language(
    code="en",
    script="[a-z]",
    phrases=PHRASES,
    lexicons=LEXICONS | terms.ENGLISH_LEXICONS,
    rules=RULES + terms.ENGLISH,
    joins=JOINS,
    edges=("(?<![a-z0-9_à-ÿ@])", "(?![a-z0-9_à-ÿ@])"),
    guards={"now": ("(?<!-)", "(?!-)")},
    link=r",? ?(?:in |on |of )?(?:the |at |around |about )?",
    leading=r"(?:from|on|in|at|of|during|for|the|by|early|late)",
    trailing=r"['’]s",
)
