"""One spelling for each text, and one line."""

import re
import unicodedata
from typing import Literal

# A character in the lookahead never joins the one before it, so a text may be cut there before it is normalised.
_PIECE = re.compile(
    "(?s:.{1,512})(?=[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]|\\Z)|(?s:.{1,512})"
)


def normalised(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    """In pieces, because the time for one long run of combining marks grows with the square of its length."""
    if text.isascii():
        return text
    if len(text) <= 512:
        return unicodedata.normalize(form, text)
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECE.findall(text))


def one_line(text: str) -> str:
    """On one line and printable, so that a text cannot pose as another entry of a list."""
    shown = " ".join(text.split())
    if shown.isprintable():  # as nearly all are; to go through them letter by letter took most of a long list's time
        return shown
    return " ".join("".join(char if char.isprintable() else " " for char in shown).split())
