"""Parts of a year: quarters, halves and seasons. 지난 분기, Q3 2025, 去年夏天, l'été dernier, 올 상반기.

Seasons are those of the northern half of the earth, three whole months each; a winter is of the year it begins in. By
its number alone a quarter is what a text is about as often as when it was written (Q3 revenue): it needs a year, or a
word such as since. Japan counts quarters and halves from April as often as from January: there only the last, present
and next quarter are read, which are the same either way.
"""

from datetime import date, datetime
from functools import partial

from commonplace.domain.timephrase import phrase
from commonplace.domain.timephrase.dates import KOREAN_END as END
from commonplace.domain.timephrase.dates import LEXICONS as FIGURES
from commonplace.domain.timephrase.grammar import Grain, Lexicon, Needs, Reading, Rule, Values, needing, words
from commonplace.domain.timephrase.phrase import Span, Unit

_QUARTER, _HALF = 3, 6


def quarter(values: Values) -> Reading:
    """The last, present or next one, or one by its number."""
    if "quarter" in values:
        return _term(values, 1 + _QUARTER * (values["quarter"] - 1), _QUARTER)
    return Reading(partial(_moved_quarter, turn=values["turn"]), Grain.MONTH)


def half(values: Values) -> Reading:
    return _term(values, 1 + _HALF * (values["half_year"] - 1), _HALF)


def season(values: Values) -> Reading:
    """Its value is the month it begins with."""
    return _term(values, values["season"], _QUARTER)


def _term(values: Values, first: int, months: int) -> Reading:
    """Of a year that is named, or by its turn; without either the latest that has begun."""
    if "year" in values:
        return Reading(lambda now: _months(values["year"], first, months, now), Grain.MONTH)
    if "year_turn" in values:
        return Reading(partial(_of_turned_year, first=first, months=months, turn=values["year_turn"]), Grain.MONTH)
    period = None if "turn" in values else Unit.YEAR
    return Reading(partial(_turned, first=first, months=months, turn=values.get("turn")), Grain.MONTH, period)


def _of_turned_year(now: datetime, first: int, months: int, turn: int) -> Span:
    """In January this year's winter is the one that goes on, although it began last year."""
    before = _months(now.year - 1, first, months, now)
    return before if turn == 0 and before.end >= now else _months(now.year + turn, first, months, now)


def _turned(now: datetime, first: int, months: int, turn: int | None) -> Span:
    """The last one is over, the next has not begun; this one goes on, or is the nearest."""
    around = [_months(now.year + offset, first, months, now) for offset in range(-3, 4)]
    begun = [span for span in around if span.start <= now]
    if turn is None:
        return begun[-1]
    if turn < 0:
        return [span for span in begun if span.end < now][turn]
    if turn > 0:
        return around[len(begun) + turn - 1]
    latest, coming = begun[-1], around[len(begun)]
    return latest if now - latest.end <= coming.start - now else coming


def _moved_quarter(now: datetime, turn: int) -> Span:
    first = date(now.year, 1 + (now.month - 1) // _QUARTER * _QUARTER, 1)
    chosen = phrase.moved(first, Unit.MONTH, _QUARTER * turn)
    return _months(chosen.year, chosen.month, _QUARTER, now)


def _months(year: int, first: int, count: int, now: datetime) -> Span:
    start = date(year, first, 1)
    end = phrase.moved(phrase.moved(start, Unit.MONTH, count), Unit.DAY, -1)
    return phrase.days(start, end, phrase.zone_of(now))


_FIRST_MONTHS = (3, 6, 9, 12)
_HAN_SEASON = words(dict(zip("春夏秋冬", _FIRST_MONTHS, strict=True)))
_HAN_QUARTER = words(dict(zip("一二三四", range(1, 5), strict=True)), digits="[1-4]")


def _named(*names: str) -> dict[str, int]:
    return dict(zip(names, range(1, len(names) + 1), strict=True))


ENGLISH_LEXICONS = {
    "quarter": words(
        _named("q1", "q2", "q3", "q4")
        | _named("first quarter", "second quarter", "third quarter", "fourth quarter")
        | _named("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")
    ),
    "half_year": words(_named("h1", "h2") | _named("first half", "second half")),
    "season": words({"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}),
    # "Does this fall back to", "in this Spring Boot project".
    "sure_season": Lexicon(
        "spring(?! (?:boot|framework|mvc|security|data|cloud|cleaning)|-)|summer|autumn|winter",
        {"spring": 3, "summer": 6, "autumn": 9, "winter": 12},
    ),
}
_OF_YEAR_EN = "(?:,? (?:of |in )?<year>|,? (?:of )?<year_turn:turn> year)"
ENGLISH = (
    Rule("<turn> quarter", quarter),
    Rule(f"(?:the )?<quarter>{_OF_YEAR_EN}", quarter),
    Rule("<year>[ -]?<quarter>", quarter),
    Rule("<quarter>(?! of)", needing(Needs.JOIN, quarter)),
    Rule(f"(?:the )?<half_year>{_OF_YEAR_EN}", half),
    Rule("<turn:before_or_after> <season>", season),
    Rule("<turn> <season:sure_season>", season),
    Rule(f"(?:the )?<season>{_OF_YEAR_EN}", season),
)

FRENCH_LEXICONS = {
    "quarter": words(
        _named("t1", "t2", "t3", "t4")
        | _named("premier trimestre", "deuxieme trimestre", "troisieme trimestre", "quatrieme trimestre")
        | _named("1er trimestre", "2e trimestre", "3e trimestre", "4e trimestre")
        | {"second trimestre": 2, "dernier trimestre": 4}
    ),
    "half_year": words(
        _named("premier semestre", "second semestre")
        | _named("1er semestre", "2e semestre")
        | {"deuxieme semestre": 2, "2nd semestre": 2}
    ),
    "season": words({"printemps": 3, "automne": 9, "hiver": 12}),
    # "Il a été dernier": a season only with its article.
    "summer": words({"ete": 6}),
    "this_term": words({"ce": 0, "cet": 0}),
}
_OF_YEAR_FR = "(?: (?:de )?<year>| de <year_turn:last_year>)"
_SUMMER = "(?:(?<=l')|(?<=en )|(?<=d')|(?<=cet ))<season:summer>"
FRENCH = (
    Rule("(?:le )?trimestre <turn:turn_after>", quarter),
    Rule("<turn:this_term> trimestre", quarter),
    Rule(f"<quarter>{_OF_YEAR_FR}", quarter),
    Rule("<quarter>", needing(Needs.JOIN, quarter)),
    Rule(f"<half_year>{_OF_YEAR_FR}", half),
    Rule("<season> <turn:turn_after>", season),
    Rule(f"{_SUMMER} <turn:turn_after>", season),
    Rule("<turn:this_term> (?:<season>|<summer>)", lambda values: season({"season": 6} | dict(values))),
    Rule(f"<season>{_OF_YEAR_FR}", season),
    Rule(f"{_SUMMER}{_OF_YEAR_FR}", season),
)

KOREAN_LEXICONS = {
    "quarter": Lexicon("[1-4]"),
    "half_year": words(_named("상반기", "하반기")),
    "season": words(dict(zip(("봄", "여름", "가을", "겨울"), _FIRST_MONTHS, strict=True))),
    "term_year": words({"재작년": -2, "작년": -1, "지난해": -1, "올해": 0, "금년": 0, "올": 0, "내년": 1}),
}
_QUARTER_KO = "(?:제 ?)?<quarter>(?:/4|사)? ?분기"
KOREAN = (
    Rule(f"<turn> ?분기{END}", quarter),
    Rule(f"<year_turn:term_year> ?{_QUARTER_KO}{END}", quarter),
    Rule(f"<year>년도? ?{_QUARTER_KO}{END}", quarter),
    Rule(f"{_QUARTER_KO}{END}", needing(Needs.JOIN, quarter)),
    Rule(f"<turn> ?<half_year>{END}", half),
    Rule(f"<year_turn:term_year> ?<half_year>{END}", half),
    Rule(f"<year>년도? ?<half_year>{END}", half),
    Rule(f"<half_year>{END}", needing(Needs.JOIN, half)),
    Rule(f"<turn> ?<season>{END}", season),
    Rule(f"<year_turn:term_year> ?<season>{END}", season),
    Rule(f"<year>년도? ?<season>{END}", season),
)

# Not the beginning of a longer word or a name: 夏休み, 春菜.
_ALONE = "(?![一-龠])"
JAPANESE_LEXICONS = {
    "season": _HAN_SEASON,
    "cjk_year": FIGURES["cjk_year"],
    "quarter_turn": words({"前": -1, "先": -1, "今": 0, "当": 0, "来": 1, "翌": 1}),
    "season_turn": words({"この前の": -1, "前の": -1, "この": 0, "次の": 1, "今度の": 1}),
    "season_year": words({"昨": -1, "今": 0, "来": 1}),
}
JAPANESE = (
    Rule("(?<![一-龠])<turn:quarter_turn>四半期", quarter),
    Rule(f"<year_turn>の?<season>{_ALONE}", season),
    Rule(f"<year:cjk_year>年の?<season>{_ALONE}", season),
    Rule(f"(?<![一-龠])<year_turn:season_year><season>{_ALONE}", season),
    Rule(f"<turn:season_turn><season>{_ALONE}", season),
)

_SEASON_ZH = f"<season>(?:天|季(?!度)|{_ALONE})"
CHINESE_LEXICONS = {
    "quarter": _HAN_QUARTER,
    "half_year": words(_named("上半年", "下半年")),
    "season": _HAN_SEASON,
    "cjk_year": FIGURES["cjk_year"],
}
# 马上 and 晚上 end like a turn.
_TURN_ZH = "(?<![马馬晚早一天以根基日路])<turn>"
CHINESE = (
    Rule(f"{_TURN_ZH}[个個]?季度", quarter),
    Rule("<year_turn>的?第?<quarter>季度", quarter),
    Rule("<year:cjk_year>年的?第?<quarter>季度", quarter),
    Rule("第?<quarter>季度", needing(Needs.JOIN, quarter)),
    Rule("<year_turn>的?<half_year>", half),
    Rule("<year:cjk_year>年的?<half_year>", half),
    Rule("<half_year>", needing(Needs.JOIN, half)),
    Rule(f"<year_turn>的?{_SEASON_ZH}", season),
    Rule(f"<year:cjk_year>年的?{_SEASON_ZH}", season),
    Rule(f"{_TURN_ZH}[个個]<season>[天季]", season),
)
