"""The part of a long text that a question is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.language.parts import parts

if TYPE_CHECKING:
    from commonplace.ports import Vectors

_CUT = "…"


def passage(text: str, vectors: Vectors, asked: Vectors, most: int) -> str:
    """So many characters around the part that comes closest to what is asked; where it was cut, it says so.

    The vectors are those of the text as a whole and of its parts, as they were embedded.
    """
    text = text.strip()
    _, *pieces = parts(text)
    known = min(len(pieces), len(vectors) - 1)
    if len(text) <= most or known < 1:
        return text
    best = int((vectors[1 : known + 1] @ asked).argmax())
    place = 0
    for piece in pieces[: best + 1]:
        found = text.index(piece, place)
        place = found + len(piece)
    start = max(0, min(place - (most + len(pieces[best])) // 2, len(text) - most))
    return _CUT * (start > 0) + text[start : start + most] + _CUT * (start + most < len(text))
