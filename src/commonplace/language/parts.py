"""What of a text is embedded: its head as a whole and, where it is long, its consecutive parts."""

import re

from commonplace.language.scripts import Script, script_of

HEAD = 800
"""How many characters of a text are embedded as one; the model's time grows faster than the length."""

# A part holds at most 110 wide or 260 narrow characters; in these costs both make the same sum.
_WIDE, _NARROW = 26, 11
_BUDGET = 110 * _WIDE
_FINE_BUDGET = 60 * _WIDE
_MANY = 32
"""A text of more parts is cut finer: a sentence that has nothing to do with the rest would drown beside two others."""
_WIDE_SCRIPTS = frozenset({Script.HAN, Script.KANA, Script.HANGUL})

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++|[。！？｡]++[」』”’）]*+|\n++")
_BLANK = re.compile(r"\s++")


def parts(text: str) -> list[str]:
    """The pieces to embed: the head, then consecutive parts if the text is longer than one part."""
    text = text.strip()
    pieces = _cut(text, _BUDGET)
    if len(pieces) > _MANY:
        pieces = _cut(text, _FINE_BUDGET)
    return [text[:HEAD], *pieces] if len(pieces) > 1 else [text]


def gist(question: str) -> str:
    """What of a question is embedded: of a long one, such as a pasted page, its beginning and its end.

    What is asked stands at one of them. To embed all of it would keep everyone else waiting for seconds.
    """
    text = question.strip()
    return text if len(text) <= HEAD else f"{text[: HEAD // 2]} {text[-HEAD // 2 :]}"


def _cut(text: str, budget: int) -> list[str]:
    pieces, start = [], 0
    while start < len(text):
        reach = _reach(text, start, budget)
        end = _end(text, start, reach)
        if 0 < len(text) - end < (reach - start) // 3:
            # A last part of a word or two would be very like any question that has the word: share what is left.
            end = _end(text, start, start + (len(text) - start) * 2 // 3)
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    return pieces


def _reach(text: str, start: int, budget: int) -> int:
    """How far a part that begins here may go."""
    ahead = text[start : start + budget // _NARROW]
    if len(ahead) * _WIDE <= budget or ahead.isascii():
        return start + len(ahead)
    left = budget
    for length, char in enumerate(ahead):
        left -= _WIDE if char > "\u1100" and script_of(char) in _WIDE_SCRIPTS else _NARROW
        if left < 0:
            return start + length
    return start + len(ahead)


def _end(text: str, start: int, reach: int) -> int:
    """The last sentence end within reach, else the last blank, else the reach itself."""
    if reach == len(text):
        return reach
    # A cut in the first third would leave a part too short to mean much.
    earliest = start + (reach - start) // 3
    for boundary in (_SENTENCE_END, _BLANK):
        ends = [match.end() for match in boundary.finditer(text, earliest, reach)]
        if ends:
            return ends[-1]
    return reach
