"""Replacing one passage of a text, named by its words."""

import re
import unicodedata
from dataclasses import dataclass

from commonplace.domain.errors import Invalid

_QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
_BLANKS = dict.fromkeys("\u00a0\u2007\u202f\u3000\t", " ")
_ALIKE = str.maketrans({**_QUOTES, **_DASHES, **_BLANKS})
_TRAILING = re.compile(r"[^\S\n]+(?=\n|\Z)")


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
    count = _occurrences(content, old)
    if count == 1:
        return Patched(content.replace(old, new), forgiven=False)
    if count > 1:
        raise Invalid("old_string", f"was found {count} times; give more of the text around it, so that it is unique")
    start, end = _forgivingly(content, old)
    return Patched(content[:start] + new + content[end:], forgiven=True)


def _occurrences(content: str, passage: str) -> int:
    """How many places there are, overlapping ones included: two that overlap are two."""
    count, at = 0, content.find(passage)
    while at >= 0 and count < 1000:
        count, at = count + 1, content.find(passage, at + 1)
    return count


def _forgivingly(content: str, old: str) -> tuple[int, int]:
    """The one place that differs only in quotes, dashes, kinds of blanks, or blanks at the ends of lines."""
    plain, positions = _plain(content)
    sought, _ = _plain(old)
    count = _occurrences(plain, sought) if sought.strip() else 0
    if count > 1:
        raise Invalid(
            "old_string", f"was not found exactly, and {count} places are like it; copy the text as it stands"
        )
    if count == 0:
        raise Invalid("old_string", "was not found in the memory; read it again and copy the text as it stands")
    start = plain.find(sought)
    return positions[start], positions[start + len(sought) - 1] + 1


def _plain(text: str) -> tuple[str, list[int]]:
    """The text without what is forgiven, and where each of its characters stood."""
    dropped = {at for match in _TRAILING.finditer(text) for at in range(*match.span())}
    plain: list[str] = []
    positions: list[int] = []
    for at, piece in enumerate(_composed(text)):
        if at not in dropped and piece:
            plain.append(piece)
            positions.append(at)
    return "".join(plain), positions


def _composed(text: str) -> list[str]:
    """One character each: alike ones made equal, and none for a mark that the character before it has taken in."""
    pieces = list(text.translate(_ALIKE))
    for at in range(1, len(pieces)):
        if unicodedata.combining(pieces[at]) and pieces[at - 1]:
            joined = unicodedata.normalize("NFC", pieces[at - 1] + pieces[at])
            if len(joined) == 1:
                pieces[at - 1], pieces[at] = joined, ""
    return pieces
