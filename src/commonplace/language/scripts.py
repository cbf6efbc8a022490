"""Writing systems: folding text to one form and cutting it where the script changes."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import groupby

from commonplace.domain.unicode import normalised


class Script(StrEnum):
    """How the words of a run are found: by spaces, by syllables, or not at all."""

    LATIN = "latin"
    HAN = "han"
    KANA = "kana"
    HANGUL = "hangul"
    UNSPACED = "unspaced"
    DIGIT = "digit"
    SYMBOL = "symbol"
    OTHER = "other"
    NONE = "none"


# Code point ranges that decide without asking unicodedata, in the order they are met most often.
_RANGES: tuple[tuple[int, int, Script], ...] = (
    (0x4E00, 0x9FFF, Script.HAN),
    (0x3041, 0x3098, Script.KANA),
    (0x309D, 0x309F, Script.KANA),
    (0x30A1, 0x30FA, Script.KANA),
    (0x30FC, 0x30FF, Script.KANA),
    (0xAC00, 0xD7A3, Script.HANGUL),
    (0x3400, 0x4DBF, Script.HAN),
    (0xF900, 0xFAFF, Script.HAN),
    (0x20000, 0x323AF, Script.HAN),
    (0x31F0, 0x31FF, Script.KANA),
    (0x1100, 0x11FF, Script.HANGUL),
    (0x3130, 0x318F, Script.HANGUL),
    (0x3005, 0x3007, Script.HAN),
    (0x1E00, 0x1EFF, Script.LATIN),
    (0x0250, 0x02AF, Script.LATIN),
    (0x2C60, 0x2C7F, Script.LATIN),
    (0xA722, 0xA787, Script.LATIN),
    (0xAB30, 0xAB5A, Script.LATIN),
)

# Thai, Lao, Burmese and Khmer are written without blanks between words, like Chinese.
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))

# Marks of presentation that are no part of the spelling: soft hyphen, joiners, variation selectors, direction marks.
_IGNORABLE = re.compile("[\u00ad\u034f\u200c-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")

# The scripts met most often, found without asking for each character.
_COMMON = re.compile(
    "(?P<latin>[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]+)|(?P<digit>[0-9]+)|(?P<han>[\u4e00-\u9fff]+)"
    "|(?P<kana>[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff]+)|(?P<hangul>[\uac00-\ud7a3]+)"
    "|(?P<none>[\x00-/:-@\\[-`{-\x7f\u2010-\u2027\u3000-\u3003\u3008-\u3011\u30fb]+)|(?P<rest>.)",
    re.DOTALL,
)

_BY_NAME = {script.value: script for script in Script}
_NONE_ALIKE: Mapping[Script, Script] = {}


def normal(text: str) -> str:
    """NFKC without marks of presentation: one spelling for each word, its capitals kept."""
    return normalised("NFKC", _IGNORABLE.sub("", text))


def fold(text: str) -> str:
    """The form in which two spellings of the same text are equal: NFKC, case-folded."""
    return normalised("NFKC", normal(text).casefold())


@lru_cache(maxsize=8192)
def script_of(char: str) -> Script:
    """The writing system of one character; NONE for blanks, punctuation and controls."""
    code = ord(char)
    if code < 0x250:
        return _latin_or_none(char)
    for low, high, script in _RANGES:
        if low <= code <= high:
            return script
    return _by_category(char, code)


def _latin_or_none(char: str) -> Script:
    if char.isalpha():
        return Script.LATIN
    return Script.DIGIT if char.isdigit() else Script.NONE


def _by_category(char: str, code: int) -> Script:
    category = unicodedata.category(char)
    if category == "Nd":
        return Script.DIGIT
    if category[0] not in "LMNS" or code == 0x166D:  # newer tables call this Canadian sign punctuation
        return Script.NONE
    if any(low <= code <= high for low, high in _UNSPACED):
        return Script.UNSPACED
    return Script.SYMBOL if category[0] == "S" else Script.OTHER


def runs(text: str, alike: Mapping[Script, Script] = _NONE_ALIKE) -> Iterator[tuple[Script, str]]:
    """Stretches of one script, in order, blanks and punctuation left out; a combining mark belongs to its letter.

    Scripts that are mapped to another one by `alike` make one stretch with it.
    """
    for script, group in groupby(_stretches(text), key=lambda stretch: alike.get(stretch[0], stretch[0])):
        if script is not Script.NONE:
            yield script, "".join([piece for _, piece in group])


def _stretches(text: str) -> Iterator[tuple[Script, str]]:
    script = Script.NONE
    for match in _COMMON.finditer(text):
        kind, piece = match.lastgroup or "rest", match.group()
        if kind != "rest":
            script = _BY_NAME[kind]
        elif script is Script.NONE or not unicodedata.category(piece).startswith("M"):
            script = script_of(piece)
        yield script, piece
