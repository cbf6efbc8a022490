"""A few memories as lines of text."""

from collections.abc import Callable, Sequence

from commonplace.pictures import series
from commonplace.pictures.lettering import cut, width
from commonplace.pictures.sheet import COLUMN, Panel, Spot, Words, near
from commonplace.pictures.snapshot import Dot
from commonplace.pictures.wording import Wording

HEIGHT = 280.0
_ROWS, _TOP, _STEP = 5, 62.0, 44.0


def listing(
    name: str,
    dots: Sequence[Dot],
    remark: Callable[[Dot], str],
    words: Wording,
    colours: series.Colouring,
    empty: str = "",
) -> Panel:
    """The first five, each with a remark below."""
    spots: list[Spot] = []
    lines: list[Words] = []
    for at, dot in enumerate(dots[:_ROWS]):
        y = _TOP + at * _STEP
        spots.append(Spot(dot.id, 26.0, y - 4, 5.0, colours.of(series.category(dot, words))))
        lines += _row(dot, y, remark(dot), words)
    if not dots:
        lines.append(Words(20, _TOP, cut(empty, COLUMN - 40, 12), 12, "faint", "start", COLUMN - 40))
    return Panel(name, words(name), COLUMN, HEIGHT, spots=tuple(spots), words=tuple(lines))


def _row(dot: Dot, y: float, remark: str, words: Wording) -> list[Words]:
    room = COLUMN - 40.0 - 20.0
    text = cut(dot.text, room, 13) or "—"
    below = cut(f"{remark} · {series.category(dot, words)}", room, 11)
    return [
        Words(40, y, text, 13, "text", "start", near(width(text, 13))),
        Words(40, y + 16, below, 11, "faint", "start", near(width(below, 11))),
    ]
