"""Korean: 어제, 지난주, 3일 전, 작년 3월, 어제부터 오늘까지."""

from commonplace.domain.timephrase import short_dates, terms
from commonplace.domain.timephrase.dates import KOREAN_END as END
from commonplace.domain.timephrase.dates import YEAR
from commonplace.domain.timephrase.grammar import (
    A_WHILE_AGO,
    AFTER_NOON,
    BEFORE_NOON,
    DAWN,
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
    Rule,
    ago,
    ago_about,
    ahead,
    away,
    calendar,
    clock,
    day,
    last_units,
    month,
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
    weekend,
    whole_month,
    whole_year,
    words,
    year,
)
from commonplace.domain.timephrase.halves import and_a_half_ago
from commonplace.domain.timephrase.numbers import korean, korean_days
from commonplace.domain.timephrase.phrase import Unit
from commonplace.domain.timephrase.short_dates import ONE_OR_TWO

PHRASES = {
    "오늘|금일": day(0),
    "어제|어저께": day(-1),
    "그저께|그제|엊그저께": day(-2),
    "그끄저께|그끄제": day(-3),
    "어제 오늘|어제와 오늘|어제랑 오늘": stretch(-1, 0),
    "오늘 내일": stretch(0, 1),
    "내일|명일": day(1),
    "모레|내일모레|낼모레": day(2),
    "글피": day(3),
    "지금|지금 막|바로 지금": NOW,
    "방금|방금 전": JUST_NOW,
    "조금 전|좀 전|아까|아까 전|잠시 전|잠깐 전|금방 전": A_WHILE_AGO,
    "최근|요즘|요새|근래|얼마 전|최근 들어": RECENTLY,
    "며칠 전|몇일 전|수일 전|엊그제": DAYS_AGO,
    "어젯밤|간밤|지난밤": on(-1, NIGHT),
    "엊저녁": on(-1, EVENING),
    "지난주|저번주": week(-1),
    "이번주|금주": week(0),
    "다음주|담주": week(1),
    "지지난주|저저번주": week(-2),
    "다다음주": week(2),
    "지난 주말|저번 주말": weekend(-1),
    "이번 주말": weekend(0),
    "다음 주말": weekend(1),
    "지난달|저번달|전월": month(-1),
    "이번달|이달|금월": month(0),
    "다음달|담달|내달": month(1),
    "지지난달|저저번달": month(-2),
    "작년|지난해|전년도": year(-1),
    "재작년|지지난해": year(-2),
    "올해|금년": year(0),
    "내년": year(1),
    "내후년": year(2),
    "반년 전": away(Unit.MONTH, -6),
    "반년 후|반년 뒤": away(Unit.MONTH, 6),
    "반 시간 전": HALF_HOUR_AGO,
    "아침": MORNING,
    "오전": BEFORE_NOON,
    "점심": NOON,
    "낮": NOON,
    "오후": AFTER_NOON,
    "저녁": EVENING,
    "밤": NIGHT,
    "새벽": DAWN,
}

# Longer words that begin with a phrase: 오늘날, 오늘의집, 최근접, 내일채움공제; and what a noun of time may not run into.
GUARDS = {
    "오늘": ("", "(?!날|의집|의유머)"),
    "최근": ("", "(?!접)"),
    "내일": ("", "(?!채움|배움)"),
    "지금": ("", "(?!껏|고|액|률|리)"),
    "이달": ("", "(?!리)"),
    "그제": ("", "(?!야|서)"),
    "아까": ("", "(?!워|운|움|시|웠)"),
    # 금주 is also keeping off drink.
    "금주": (
        "(?<!금연 )(?<!금연과 )(?<!금연·)(?<!금연/)",
        "(?!령|[하했를]| (?:섭취|결심|다짐|캠페인|구역|클리닉|성공|실패|치료))",
    ),
} | {
    phrase: ("", END)
    for phrase in "|".join(PHRASES).split("|")
    if phrase[-1] in "전후뒤" or phrase in ("아침", "오전", "점심", "낮", "오후", "저녁", "밤", "새벽", "모레")
}

HOURS = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10, "열한": 11, "열두": 12,
}  # fmt: skip
LEXICONS = short_dates.LEXICONS | {
    "n": korean(),
    # The n of a rule without a unit.
    "days": korean_days(),
    # "Two or three" in one word, and of days.
    "pair": words(
        {"한두": 1, "두세": 2, "두어": 2, "서너": 3, "네댓": 4, "너댓": 4, "대여섯": 5, "예닐곱": 6, "이삼": 2, "삼사": 3, "사오": 4, "오륙": 5}
    ),
    "pair_days": words({"하루이틀": 1, "하루 이틀": 1, "이틀사흘": 2, "사나흘": 3, "네댓새": 4, "대엿새": 5}),
    "unit": words(
        {"초": Unit.SECOND, "분": Unit.MINUTE, "시간": Unit.HOUR, "일": Unit.DAY, "주": Unit.WEEK, "주일": Unit.WEEK,
         "주간": Unit.WEEK, "개월": Unit.MONTH, "달": Unit.MONTH, "년": Unit.YEAR, "해": Unit.YEAR}
    ),
    "long_unit": words({"주": Unit.WEEK, "주일": Unit.WEEK, "개월": Unit.MONTH, "달": Unit.MONTH, "년": Unit.YEAR, "해": Unit.YEAR}),
    "turn": words({"지지난": -2, "저저번": -2, "지난": -1, "저번": -1, "이번": 0, "다음": 1, "다다음": 2, "오는": 1}),
    "span": words({"주": Unit.WEEK, "달": Unit.MONTH, "해": Unit.YEAR, "주말": Unit.WEEKEND}),
    "weekday": words({name: number for number, name in enumerate("월화수목금토일")}),
    "year_turn": words({"재작년": -2, "작년": -1, "지난해": -1, "올해": 0, "금년": 0, "내년": 1}),
    "month_turn": words({"지난달": -1, "저번달": -1, "지난 달": -1, "이번달": 0, "이번 달": 0, "이달": 0, "다음달": 1, "다음 달": 1}),
    "year": YEAR,
    "noon": words({"오전": 0, "아침": 0, "새벽": 0, "오후": 12, "저녁": 12, "밤": 12, "낮": 12}),
    "hour": words(HOURS, digits="[0-9]{1,2}"),
    "minute": ONE_OR_TWO,
    "half": words({"반": 30}),
}  # fmt: skip

TODAY = "오늘" + GUARDS["오늘"][1]
THIRD = "(?:초순?|중순|중반|하순|말)"
ABOUT = "(?: ?(?:쯤|정도|가량|남짓))?"
RULES = (
    Rule(f"<n> ?<unit>{ABOUT} ?전{END}", ago),
    Rule(f"<n> ?<unit> ?반{ABOUT} ?전{END}", and_a_half_ago),
    Rule(f"<n:days>{ABOUT} ?전{END}", ago),
    Rule(f"<n:pair> ?<unit>{ABOUT} ?전{END}", ago_about),
    Rule(f"<n:pair_days>{ABOUT} ?전{END}", ago_about),
    Rule(f"<n> ?[-~] ?<m:n> ?<unit>{ABOUT} ?전{END}", ago_about),
    Rule(f"<n> ?<unit>{ABOUT} ?(?:후|뒤){END}", ahead),
    Rule(f"<n:days>{ABOUT} ?(?:후|뒤){END}", ahead),
    Rule(f"몇 ?<unit> ?전{END}", past_few),
    Rule(f"몇 ?<unit> ?(?:후|뒤){END}", next_few),
    Rule(f"(?:지난|최근|과거) ?<n> ?<unit>(?: ?(?:간|동안))?{END}", last_units),
    Rule(f"(?:지난|최근|과거) ?<n:days>(?: ?(?:간|동안))?{END}", last_units),
    Rule(f"(?:다음|향후|앞으로) ?<n> ?<unit>(?: ?(?:간|동안))?{END}", next_units),
    Rule(f"<turn> ?<span>{END}", turned),
    # A third of a month is remembered too loosely to leave out the rest.
    Rule(f"<month_turn>의? ?{THIRD}{END}", whole_month),
    Rule(f"<year_turn>의? ?{THIRD}{END}", whole_year),
    Rule(f"(?:<week:turn> ?주 ?)?<weekday>요일{END}", weekday),
    Rule(f"<turn> ?<weekday>요일{END}", weekday),
    Rule(f"<turn> ?<month>월{END}", calendar),
    Rule(f"<year_turn> ?<month>월(?: ?<day>일)?{END}", calendar),
    Rule(f"<month_turn> ?<day>일{END}", calendar),
    Rule(f"<year_turn>의? ?{TODAY}", same_day),
    Rule(f"<month_turn>의? ?{TODAY}", same_day),
    Rule(f"<week:turn> ?주 ?{TODAY}", same_day),
    Rule(f"<n> ?<unit:long_unit> ?전 ?{TODAY}", same_day),
    Rule(f"<year_turn> ?(?:이맘때|요맘때|이때){END}", same_season),
    Rule(f"(?:<noon> ?)?<hour> ?시(?: ?<minute>분| ?<half>)?{END}", clock),
)

JOINS = (
    Join(Bound.BETWEEN, between="(?:에서부터|에서|부터) ?", after="까지"),
    Join(Bound.BETWEEN, between="(?:과|와|이랑|랑|하고) ?", after=" ?사이"),
    Join(Bound.SINCE, after="부터| ?이후로?| ?이래로?"),
    Join(Bound.UNTIL, after="까지"),
    Join(Bound.BEFORE, after="(?: ?이전|(?<!전) 전)(?=에|의|까지|[^가-힣]|$)"),
)

KOREAN = Language(
    code="ko",
    script="[가-힣]",
    phrases=PHRASES,
    lexicons=LEXICONS | terms.KOREAN_LEXICONS,
    rules=RULES + short_dates.KOREAN + terms.KOREAN,
    joins=JOINS,
    # A part of a day may be written together with the day: 어제저녁.
    edges=("(?:(?<![가-힣])|(?<=오늘)|(?<=어제)|(?<=그제)|(?<=저께)|(?<=내일))", ""),
    guards=GUARDS,
    link="(?:의|에)? ?",
    gap=" ?",
    trailing=r"(?:에서는|에서의|에서|에는|에도|에|엔|의|은|는|이|가|을|를|도|쯤|경|부터|까지|인|초|중순|말)(?![가-힣])",
)
