"""Replacing one passage of a text, named by its words."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from commonplace.domain.errors import Invalid
from commonplace.domain.unicode import normalised

_QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
_BLANKS = dict.fromkeys("\u00a0\u2007\u202f\u3000\t", " ")
_ALIKE = str.maketrans({**_QUOTES, **_DASHES, **_BLANKS})
_MOST_COUNTED = 1000


@dataclass(frozen=True, slots=True)
class Patched:
    """A text after a patch, and whether the passage was found only by forgiving small differences."""

    content: str
    forgiven: bool


def patched(content: str, old: str, new: str) -> Patched:
    """The text with the passage replaced; the passage must stand in it exactly once."""
    if not old:
        raise Invalid("old_string", "must not be empty; to add text at the end use append")
    if old == new:
        raise Invalid("new_string", "is the same as old_string: there is nothing to change")
    count = len(_places(content, old))
    if count == 1:
        return Patched(content.replace(old, new), forgiven=False)
    if count > 1:
        raise Invalid("old_string", f"was found {count} times; give more of the text around it, so that it is unique")
    start, end = _forgivingly(content, old)
    return Patched(content[:start] + new + content[end:], forgiven=True)


def _places(content: str, passage: str) -> list[int]:
    """Where it stands, overlapping places included: two that overlap are two."""
    found: list[int] = []
    at = content.find(passage)
    while at >= 0 and len(found) < _MOST_COUNTED:
        found.append(at)
        at = content.find(passage, at + 1)
    return found


def _forgivingly(content: str, old: str) -> tuple[int, int]:
    """The one place that differs only in quotes, dashes, kinds of blanks, or blanks at the ends of lines."""
    spans = _alike(content, old)
    if len(spans) > 1:
        raise Invalid(
            "old_string", f"was not found exactly, and {len(spans)} places are like it; copy the text as it stands"
        )
    if not spans:
        raise Invalid("old_string", "was not found in the memory; read it again and copy the text as it stands")
    return spans[0]


def _alike(content: str, old: str) -> list[tuple[int, int]]:
    plain, sought = _Plain(content), _Plain(old).text
    if not sought.strip():
        return []
    # Blanks at the end of the passage are forgiven at the end of a line only: "cat " is not in "concatenate".
    blanks = old[len(old.rstrip()) :].rpartition("\n")[2].translate(_ALIKE)
    return plain.spans(sought + blanks) or (plain.spans(sought, at_line_end=True) if blanks else [])


class _Plain:
    """A text without what is forgiven, and where each of its characters stood."""

    def __init__(self, written: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._inner: set[int] = set()
        self._start = 0
        lines = written.split("\n")
        self.text = "\n".join([self._line(line) for line in lines])

    def _line(self, line: str) -> str:
        kept = line.rstrip()
        if kept.isascii():  # nearly all of most texts, and each character stands for itself
            self._starts += range(self._start, self._start + len(kept))
            self._ends += range(self._start + 1, self._start + len(kept) + 1)
            plain = kept.translate(_ALIKE)
        else:
            plain = "".join([self._character(kept[start:end], start, end) for start, end in _characters(kept)])
        self._place("\n", len(line), len(line) + 1)
        self._start += len(line) + 1
        return plain

    def _character(self, piece: str, start: int, end: int) -> str:
        plain = normalised("NFC", piece).translate(_ALIKE)
        self._place(plain, start, end)
        return plain

    def _place(self, plain: str, start: int, end: int) -> None:
        """Where one spelling needs several characters for one, only all of them together are a place."""
        self._inner.update(range(len(self._starts) + 1, len(self._starts) + len(plain)))
        self._starts += [self._start + start] * len(plain)
        self._ends += [self._start + end] * len(plain)

    def spans(self, sought: str, *, at_line_end: bool = False) -> list[tuple[int, int]]:
        places = _places(self.text + "\n", sought + "\n") if at_line_end else _places(self.text, sought)
        whole = [at for at in places if not {at, at + len(sought)} & self._inner]
        return [(self._starts[at], self._ends[at + len(sought) - 1]) for at in whole]


def _characters(line: str) -> Iterator[tuple[int, int]]:
    """From where to where each goes, with the marks that belong to it."""
    start = 0
    for at in range(1, len(line) + 1):
        if at == len(line) or _joins(line[at]):
            continue
        yield start, at
        start = at
    if line:
        yield start, len(line)


def _joins(char: str) -> bool:
    """Whether it is part of the character before it: a mark, or a vowel or final of Hangul."""
    return char >= "\u0300" and (unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")
