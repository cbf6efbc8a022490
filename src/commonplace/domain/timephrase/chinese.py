"""Chinese, simplified and traditional: 昨天, 上周, 三天前, 上周一, 去年3月, 从昨天到今天."""

from commonplace.domain.timephrase import short_dates, terms
from commonplace.domain.timephrase.grammar import (
    A_WHILE_AGO,
    AFTERNOON,
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
    next_few,
    next_units,
    on,
    past_few,
    same_day,
    same_season,
    stretch,
    turned,
    weekday,
    whole_month,
    whole_year,
    words,
    year,
)
from commonplace.domain.timephrase.halves import and_a_half_ago
from commonplace.domain.timephrase.numbers import HAN_PAIRS, han
from commonplace.domain.timephrase.phrase import Unit

PHRASES = {
    "今天|今日|今儿": day(0),
    "昨天|昨日|昨儿": day(-1),
    "昨天和今天|昨天今天|昨今两天|昨今兩天": stretch(-1, 0),
    "今天和明天|今天明天|今明两天|今明兩天": stretch(0, 1),
    "前天|前日": day(-2),
    "大前天": day(-3),
    "明天|明日|明儿": day(1),
    "后天|後天": day(2),
    "大后天|大後天": day(3),
    "现在|現在|此刻": NOW,
    "刚才|剛才|刚刚|剛剛|方才": JUST_NOW,
    "不久前|前不久|不久之前": RECENTLY,
    "一会儿前|片刻之前|片刻前": A_WHILE_AGO,
    "最近|近来|近來|近期|近日|这阵子|這陣子": RECENTLY,
    "几天前|幾天前|前几天|前幾天|前些天|前两天|前兩天|数天前|數天前|数日前|數日前": DAYS_AGO,
    "今早|今晨": on(0, MORNING),
    "今晚|今夜": on(0, NIGHT),
    "昨晚|昨夜": on(-1, NIGHT),
    "明早": on(1, MORNING),
    "明晚": on(1, NIGHT),
    "去年": year(-1),
    "前年": year(-2),
    "大前年": year(-3),
    "今年": year(0),
    "明年": year(1),
    "后年|後年": year(2),
    "半年前|半年之前|半年以前": away(Unit.MONTH, -6),
    "半年后|半年後|半年之后": away(Unit.MONTH, 6),
    "半个月前|半個月前": away(Unit.DAY, -15),
    "半小时前|半小時前|半个小时前|半個小時前": HALF_HOUR_AGO,
    "凌晨|清晨": DAWN,
    "早上|早晨|上午|一早": MORNING,
    "中午": NOON,
    "下午|午后": AFTERNOON,
    "傍晚": EVENING,
    "晚上|夜里|夜裡|夜晚|晚间": NIGHT,
}

# 十几天前 is more than ten.
NO_TENS = "(?<![十百千])"
# 后天 is also what one is not born with (先天), such as 后天的努力.
NURTURE = "努力|培养|培養|形成|条件|條件|免疫|环境|環境|因素|教育|养成|養成|获得|獲得|习得|習得|失调|失調|缺陷|影响|影響|发展|發展"
NOT_LATER = "(?<![以之然最今])(?<!先天)(?<!先天[和与與或跟、及])(?<!先天还是)(?<!先天還是)"
# Where two other words meet: 以后|天天, 文明|天下, 三年|前端, 今日头条 the company; 后天性 is "acquired".
GUARDS = {
    "今日": ("", "(?!头条|頭條|本(?!当))"),
    "明日": ("(?<![文光])", "(?!香|奈|葉|菜|海|美|花|叶|之)"),
    "明天": ("(?<![文光透])", ""),
    "前天": ("(?<![以之目])", ""),
    "前日": ("(?<![以之目])", ""),
    "后天": (NOT_LATER, f"(?!性|的?(?:{NURTURE}))"),
    "後天": (NOT_LATER, f"(?!性|的?(?:{NURTURE}))"),
    "几天前": (NO_TENS, ""),
    "幾天前": (NO_TENS, ""),
    "最近": ("(?<![离離距])", "(?!邻|鄰|傍|距离|距離|的(?:医院|醫院|地铁|车站|路))"),
    "近日": ("", "(?!点|點)"),
    "去年": ("(?<![过過回出])", ""),
    "前年": ("(?<![以之目])", ""),
    "后年": ("(?<![以之然最今])", ""),
    "後年": ("(?<![以之然最今])", ""),
    "明年": ("(?<![文光])", ""),
    "半年前": ("", "(?![后後])"),
}

LEXICONS = short_dates.LEXICONS | {
    "n": han(),
    "pair": HAN_PAIRS,
    "unit": words(
        {"秒": Unit.SECOND, "秒钟": Unit.SECOND, "秒鐘": Unit.SECOND, "分": Unit.MINUTE, "分钟": Unit.MINUTE, "分鐘": Unit.MINUTE,
         "天": Unit.DAY, "日": Unit.DAY, "周": Unit.WEEK, "週": Unit.WEEK, "年": Unit.YEAR, "个月": Unit.MONTH, "個月": Unit.MONTH}
        | {f"{of}{hour}": Unit.HOUR for of in ("", "个", "個") for hour in ("小时", "小時", "钟头", "鐘頭")}
        | {f"{of}{week}": Unit.WEEK for of in ("", "个", "個") for week in ("星期", "礼拜", "禮拜")}
    ),
    "long_unit": words(
        {"周": Unit.WEEK, "週": Unit.WEEK, "个星期": Unit.WEEK, "个月": Unit.MONTH, "個月": Unit.MONTH, "年": Unit.YEAR}
    ),
    # 一个半月前: the half stands before the unit.
    "half_unit": words(
        {"月": Unit.MONTH, "星期": Unit.WEEK, "礼拜": Unit.WEEK, "禮拜": Unit.WEEK}
        | dict.fromkeys(("小时", "小時", "钟头", "鐘頭"), Unit.HOUR)
    ),
    "turn": words({"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "下": 1, "下下": 2}),
    "span": words(
        {"周": Unit.WEEK, "週": Unit.WEEK, "月": Unit.MONTH, "周末": Unit.WEEKEND, "週末": Unit.WEEKEND}
        | dict.fromkeys(("星期", "礼拜", "禮拜"), Unit.WEEK)
    ),
    "weekday": words({name: number for number, name in enumerate("一二三四五六日")} | {"天": 6}),
    "year_turn": words({"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2}),
    "month_turn": words(
        {f"{turn}{of}月": offset for turn, offset in (("上", -1), ("这", 0), ("這", 0), ("本", 0), ("下", 1)) for of in ("", "个", "個")}
    ),
    "month": han(),
    "day": han(),
    "noon": words({"早上": 0, "上午": 0, "凌晨": 0, "下午": 12, "晚上": 12, "傍晚": 12, "中午": 12}),
    "hour": han(),
    "minute": han(),
    "half": words({"半": 30}),
}  # fmt: skip

BACK = "(?:之前|以前|前(?![后後端沿景提台途往面半]))"
ON = "(?:之后|之後|以后|以後|[后後](?![端台臺来來果期续續悔面勤卫衛]))"
# 马上|周末, 晚上|周一, 看一下|周报: the turn must not be the tail of another word.
TURN = "(?<![马馬晚早一天以根基日路])<turn>"
# 网上|周游世界, but 上周|游泳.
ROAMING = r"[游遊](?:世界|列|全|各|四|\W|$)"
WEEK_WORD = "(?:周|週|星期|礼拜|禮拜)"
# 去年初中 is a school, 上个月底层 a floor.
THIRD = "(?:[上中下]旬|初(?![中一二三级級恋戀次始期步学學])|底(?![下层層线線薪部座])|末(?![日尾期端班]))"
RULES = (
    Rule(f"<n> ?<unit>(?:左右|多)?{BACK}", ago),
    Rule(f"<n:pair> ?<unit>{BACK}", ago_about),
    Rule(f"<n>(?:[、~-]|到|至)<m:n> ?<unit>{BACK}", ago_about),
    Rule(f"<n> ?<unit>半{BACK}", and_a_half_ago),
    Rule(f"<n>[个個]半<unit:half_unit>{BACK}", and_a_half_ago),
    Rule(f"<n> ?<unit>(?:左右|多)?{ON}", ahead),
    Rule(f"{NO_TENS}(?:好?[几幾]|数|數)<unit>{BACK}", past_few),
    Rule(f"{NO_TENS}(?:好?[几幾]|数|數)<unit>{ON}", next_few),
    Rule("(?:过去|過去|最近|近|这|這)的? ?<n> ?<unit>(?!前|后|後|之|以)", last_units),
    Rule("(?:未来|未來|接下来|接下來)的? ?<n> ?<unit>(?!前|后|後|之|以)", next_units),
    Rule(f"{TURN}[个個]?<span>(?![一二三四五六日报報刊期边邊围圍身球亮]|{ROAMING})", turned),
    Rule(f"{TURN.replace('turn', 'week:turn')}[个個]?{WEEK_WORD}的?<weekday>", weekday),
    Rule(f"(?<![一每两兩几幾上下]){WEEK_WORD}<weekday>(?![次样個个遍直起定])", weekday),
    Rule("<year_turn>的?<month>月(?:份|<day>[日号號])?", calendar),
    Rule("<month_turn>的?<day>[日号號]", calendar),
    # A third of a month is remembered too loosely to leave out the rest.
    Rule(f"<month_turn>的?{THIRD}", whole_month),
    Rule(f"<year_turn>的?年?{THIRD}", whole_year),
    Rule("<year_turn>的?今[天日]", same_day),
    Rule("<month_turn>的?今[天日]", same_day),
    Rule(f"{TURN.replace('turn', 'week:turn')}[个個]?{WEEK_WORD}的?今[天日]", same_day),
    Rule("<n> ?<unit:long_unit>前的?今[天日]", same_day),
    Rule("<year_turn>(?:的?(?:这|這)[个個]?(?:时候|時候)|的?此[时時]|同期)", same_season),
    Rule("(?:<noon>)?<hour>[点點时時](?:<minute>分|<half>)?", clock),
)

JOINS = (
    Join(Bound.BETWEEN, before="(?:从|從|自)?", between="(?:开始|開始|起)? ?(?:到|至) ?", after="(?:为止|為止)?"),
    Join(Bound.BETWEEN, before="在?", between="(?:和|与|與|跟|到) ?", after="之?[间間]"),
    Join(Bound.SINCE, before="(?:自从|自從|从|從|自)?", after="以来|以來|以后|以後|之后|之後|至今|起|开始|開始"),
    Join(Bound.SINCE, before="自从|自從"),
    Join(Bound.UNTIL, before="(?:直到|截至|截止到|到)", after="(?:为止|為止)?"),
    Join(Bound.BEFORE, after="以前|之前|前(?![后後端沿景提台途往面半天年日])"),
)

CHINESE = Language(
    code="zh",
    script="[一-龠]",
    phrases=PHRASES,
    lexicons=LEXICONS | terms.CHINESE_LEXICONS,
    rules=RULES + short_dates.CHINESE + terms.CHINESE,
    joins=JOINS,
    guards=GUARDS,
    link="[的在]? ?",
    leading="(?:在|于|於|从|從)",
    trailing="(?:的|，|、)",
)
