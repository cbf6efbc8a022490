"""Text fit to be drawn: harmless, short enough, and measured without a font."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

ELLIPSIS = "…"
_JOINER = "\u200d"
_BLANK = re.compile(r"\s+")
# What XML forbids, what reorders other text, and what is not seen.
_FORBIDDEN = re.compile("[\ud800-\udfff\ufffe\uffff]|[\U0001fffe-\U0001ffff]")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# A few marks on a letter are writing; a tower of them is not.
_TOWERS = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{2})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_LONGEST = 2000
"""No label needs more; a memory may have a megabyte."""

# What is wider or narrower than its like, in the widest of the usual fonts (DejaVu Sans, Verdana).
_ADVANCES = {
    **dict.fromkeys("iljtfrI.,:;'|!()[] ·-", 0.4),
    **dict.fromkeys("`´", 0.5),
    **dict.fromkeys("#&+<=>^~¬", 0.84),
    **dict.fromkeys("ŵώΏϋљњ", 0.9),
    **dict.fromkeys("mwMW@%—…©®", 1.0),
    **dict.fromkeys("ŒœŴЖШЩЮЉЊ", 1.1),
    **dict.fromkeys("‰‱", 1.75),
}
# The scripts whose letters keep to these widths in the usual fonts; of others the width is only guessed.
_USUAL = re.compile(
    "[\x20-\x7e\xa0-\u017f\u0386-\u03ce\u0401-\u045f\u2010-\u2027\u2030-\u203e\u20ac\u2190-\u21ff\u3000-\u3029\u3030-\u303e\u3040-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]*"
)


def clean(text: str) -> str:
    """One line of what can be seen, in the order in which it was written."""
    text = text[:_LONGEST]
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    text = _FORBIDDEN.sub("\ufffd", text)
    text = _UNSEEN.sub("", _CONTROLS.sub(" ", text))
    return _TOWERS.sub(r"\1", _BLANK.sub(" ", text)).strip()


def width(text: str, size: float = 1.0) -> float:
    """How much room the text may take, in the unit of its size: rather too much than too little."""
    return size * sum(_advances(text))


def _advances(text: str) -> Iterator[float]:
    """Of each letter; what is joined to the one before, as a family of faces is, takes no room of its own."""
    before = ""
    for letter in text:
        yield 0.0 if before == _JOINER else _advance(letter)
        before = letter


@lru_cache(maxsize=8192)
def _advance(letter: str) -> float:
    if letter in _ADVANCES:
        return _ADVANCES[letter]
    if letter.isascii():
        return 0.79 if letter.isupper() else 0.64
    if unicodedata.combining(letter) or 0x1F3FB <= ord(letter) <= 0x1F3FF:
        return 0.0
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.1
    if 0x1F1E6 <= ord(letter) <= 0x1F1FF:
        return 0.7
    if ord(letter) >= 0x1F000:
        return 1.35
    if 0x2190 <= ord(letter) <= 0x21FF:
        return 1.02 if unicodedata.east_asian_width(letter) == "A" else 0.84
    if 0x590 <= ord(letter) <= 0x77F:
        return 0.58
    if unicodedata.east_asian_width(letter) in "WFA":
        return 1.02
    return 0.88 if letter.isupper() else 0.7


def is_usual(text: str) -> bool:
    """Whether the width can be trusted; what is not usual is drawn squeezed into the room it was given."""
    return _USUAL.fullmatch(text) is not None


def cut(text: str, room: float, size: float = 1.0) -> str:
    """As much of the cleaned text as there is room for, with an ellipsis where something is missing."""
    text = clean(text)
    used, fits = 0.0, 0
    for at, advance in enumerate(_advances(text)):
        used += size * advance
        if used > room:
            return text[:fits].rstrip() + ELLIPSIS if fits else ""
        if used <= room - size:
            fits = at + 1
    return text


def wrap(text: str, room: float, size: float, lines: int) -> list[str]:
    """At most so many lines, broken at spaces where there are any, else between letters."""
    rest = clean(text)
    wrapped: list[str] = []
    while rest and len(wrapped) < lines - 1:
        fits = _fitting(rest, room, size)
        if fits == len(rest):
            break
        space = rest.rfind(" ", fits // 2, fits + 1)
        if space <= 0 and _advance(rest[fits]) < 1.0:
            break  # within a word
        end = space if space > 0 else max(fits, 1)
        wrapped.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [line for line in [*wrapped, cut(rest, room, size)] if line]


def _fitting(text: str, room: float, size: float) -> int:
    used = 0.0
    for at, advance in enumerate(_advances(text)):
        used += size * advance
        if used > room:
            return at
    return len(text)
