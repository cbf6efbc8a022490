"""Whole numbers in words, as far as anybody counts back in words: to 999, in English and French to 100.

The patterns let parts of numbers follow each other, which is quicker than all numbers one by one; what is none has no
value.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from commonplace.domain.timephrase.grammar import DIGITS_CJK, NUMBER, Lexicon, words

_HAN_ONES = {"": 0} | {digit: value for value, digit in enumerate(DIGITS_CJK, start=1)}
_HAN_DIGIT = f"[{DIGITS_CJK}十百零两兩]"
# 两三天, 二三日: "two or three". Behind 十 and 百 the first of them belongs to a longer number.
HAN_PAIRS = Lexicon(
    f"(?<![第几幾数數千万萬])(?<!{_HAN_DIGIT})[{DIGITS_CJK}两兩]{{2}}",
    {f"{one}{other}": value for value, (one, other) in enumerate(pairwise(DIGITS_CJK), start=1)}
    | {"一两": 1, "一兩": 1, "两三": 2, "兩三": 2},
)


def _any_of(names: Iterable[str]) -> str:
    return f"(?:{words(dict.fromkeys(names, 0)).pattern})"


def han() -> Lexicon:
    """Chinese numerals, as both Chinese and Japanese write them, and digits."""
    values = {tens: value for tens, value in _below_hundred().items() if tens} | {"两": 2, "兩": 2}
    hundreds = {f"{digit}百": value for digit, value in _HAN_ONES.items() if digit} | {"百": 1, "两百": 2, "兩百": 2}
    for hundred, count in hundreds.items():
        values |= {f"{hundred}{tens}": count * 100 + value for tens, value in _below_hundred().items()}
        values |= {f"{hundred}零{one}": count * 100 + value for one, value in _HAN_ONES.items() if one}
        values |= {f"{hundred}一十{one}": count * 100 + 10 + value for one, value in _HAN_ONES.items()}
    return Lexicon(f"(?<!第){NUMBER}|(?<![0-9第几幾数數千万萬])(?<!{_HAN_DIGIT}){_HAN_DIGIT}{{1,6}}", values)


def _below_hundred() -> dict[str, int]:
    tens = {f"{ten}十": max(value, 1) * 10 for ten, value in _HAN_ONES.items() if ten != "一"} | {"": 0}
    return {f"{ten}{one}": value + unit for ten, value in tens.items() for one, unit in _HAN_ONES.items()}


_KOREAN_ONES = {"하나": 1, "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9}
_KOREAN_TENS = {
    "열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_KOREAN_NATIVE = (
    _KOREAN_ONES
    | _KOREAN_TENS
    | {"석": 3, "넉": 4, "스무": 20}
    | {f"{ten}{one}": tens + unit for ten, tens in _KOREAN_TENS.items() for one, unit in _KOREAN_ONES.items()}
)
_FROM_TEN = f"(?:{_any_of(_KOREAN_TENS)}{_any_of(_KOREAN_ONES)}?|스무)"
_KOREAN_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "엿새": 6, "이레": 7, "여드레": 8, "아흐레": 9}
_SINO_ONES = {"": 0} | {digit: value for value, digit in enumerate("일이삼사오육칠팔구", start=1)}


def korean() -> Lexicon:
    """Both ways Korean counts, 스물다섯 and 이십오. 이 일 is "this matter" where it stands apart."""
    spelled = f"{_FROM_TEN}|{_any_of(_KOREAN_ONES)}|[석넉]"
    return Lexicon(f"{spelled}|(?!이 일)[일이삼사오육칠팔구십백천]{{1,5}}|{NUMBER}", _KOREAN_NATIVE | _sino())


def korean_days() -> Lexicon:
    """Days counted in one word: 하루, 열하루 and 스무하루 are one, eleven and twenty-one of them, 쉰 날 fifty."""
    tens = {"": 0, "열": 10, "스무": 20}
    values = {f"{ten}{word}": more + value for ten, more in tens.items() for word, value in _KOREAN_DAYS.items()}
    values |= {f"{count}{gap}날": value for count, value in _KOREAN_NATIVE.items() for gap in ("", " ")}
    pattern = f"열흘|보름|(?:열|스무)?{_any_of(_KOREAN_DAYS)}|{_FROM_TEN} ?날"
    return Lexicon(pattern, values | {"열흘": 10, "보름": 15})


def _sino() -> dict[str, int]:
    """A one before ten or a hundred is left out."""
    values = {"": 0}
    for name, size in (("십", 10), ("백", 100)):
        leads = {f"{digit}{name}": max(value, 1) * size for digit, value in _SINO_ONES.items() if value != 1} | {"": 0}
        lower = _SINO_ONES if size == 10 else values
        values = {f"{lead}{rest}": high + low for lead, high in leads.items() for rest, low in lower.items()}
    return {name: value for name, value in values.items() if name} | {"천": 1000}


_ENGLISH_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ENGLISH_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ENGLISH_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english(also: Mapping[str, int]) -> Lexicon:
    values = {word: value for value, word in enumerate((*_ENGLISH_ONES, *_ENGLISH_TEENS), start=1)}
    low = _any_of(values)
    for tens, ten in enumerate(_ENGLISH_TENS, start=2):
        values |= {f"{ten}{mark}{one}": tens * 10 + values[one] for mark in "- " for one in _ENGLISH_ONES}
        values[ten] = tens * 10
    high = f"{_any_of(_ENGLISH_TENS)}(?:[- ]{_any_of(_ENGLISH_ONES)})?"
    return Lexicon(f"{high}|{low}|{_any_of(also)}|{NUMBER}", {**values, **also})


_FRENCH_TO_SIXTEEN = (
    "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize", "quatorze",
    "quinze", "seize",
)  # fmt: skip
_FRENCH_TENS = {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "quatre-vingt": 80}


def french(also: Mapping[str, int]) -> Lexicon:
    """Seventy and ninety are sixty and eighty with the numbers from ten on."""
    low = {word: value for value, word in enumerate(_FRENCH_TO_SIXTEEN, start=1)}
    low |= {f"dix{mark}{word}": 10 + low[word] for mark in "- " for word in ("sept", "huit", "neuf")} | {"une": 1}
    values = low | {"quatre-vingts": 80, "cent": 100}
    for ten, tens in _FRENCH_TENS.items():
        room = 20 if tens in (60, 80) else 10
        links = ("-", " ", " et ")
        values |= {f"{ten}{link}{word}": tens + value for link in links for word, value in low.items() if value < room}
        values[ten] = tens
    high = f"{_any_of(_FRENCH_TENS)}(?:(?:[- ]| et ){_any_of(low)})?"
    return Lexicon(f"quatre-vingts|{high}|cent|{_any_of(low)}|{_any_of(also)}|{NUMBER}", {**values, **also})
