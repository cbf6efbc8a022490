"""A sheet as one SVG that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby
from math import hypot

from commonplace.pictures.composition import LEGEND, LEGEND_STEP, legend_places
from commonplace.pictures.lettering import is_usual
from commonplace.pictures.sheet import MARGIN, Box, Disc, Line, Panel, Series, Shape, Sheet, Spot, Words
from commonplace.pictures.wording import Wording

_TITLED = 400
"""Up to so many dots say their text to who points at them; more would only make the file large."""


@cache
def static(name: str) -> str:
    return (resources.files("commonplace.pictures") / "static" / name).read_text(encoding="utf-8")


def svg(sheet: Sheet) -> str:
    words = Wording(sheet.language)
    texts = {card.id: card.text for card in sheet.memories} if len(sheet.memories) <= _TITLED else {}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cp" viewBox="0 0 {n(sheet.width)} {n(sheet.height)}" '
        f'width="{n(sheet.width)}" height="{n(sheet.height)}" role="img" lang="{sheet.language}">',
        f"<title>{e(sheet.title)}</title><desc>{e(summary(sheet))}</desc>",
        f"<style>{static('picture.css')}</style>",
        f'<rect class="ground" width="{n(sheet.width)}" height="{n(sheet.height)}"/>',
        f'<text class="title" x="{MARGIN}" y="38">{e(sheet.title)}</text>',
        f'<text class="subtitle" x="{MARGIN}" y="60">{e(sheet.subtitle)}</text>',
        *_legend(sheet.series, sheet.kinds, words),
        *(_placed(panel, texts) for panel in sheet.panels),
        "</svg>",
    ]
    return "".join(parts)


def summary(sheet: Sheet) -> str:
    """The picture in words, for who cannot see it."""
    series = ", ".join(f"{one.label} {one.count}" for one in sheet.series)
    return f"{sheet.subtitle}. {series}" if series else sheet.subtitle


def n(value: float) -> str:
    """A coordinate, without what it does not need."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def e(text: str) -> str:
    return escape(text, quote=True)


def _legend(series: Iterable[Series], kinds: Iterable[Series], words: Wording) -> list[str]:
    series, kinds = tuple(series), tuple(kinds)
    parts = []
    for at, (x, row) in enumerate(legend_places(series, kinds, words)):
        left, y = MARGIN + x, LEGEND + LEGEND_STEP * row
        is_kind = at >= len(series)
        entry = (series + kinds)[at]
        mark = (
            f'<path class="tie k-{entry.label}" d="M{n(left)} {y}h16" stroke-width="2"/>'
            if is_kind
            else f'<circle class="dot s{entry.index}" cx="{n(left + 6)}" cy="{y}" r="5.5"/>'
        )
        count = f'<tspan class="faint" dx="6">{words.count(entry.count)}</tspan>'
        parts.append(
            f'{mark}<text class="text" x="{n(left + 22)}" y="{y + 4}" font-size="12">{e(entry.label)}{count}</text>'
        )
    return parts


def _placed(panel: Panel, texts: dict[str, str]) -> str:
    place = f'x="{n(panel.x)}" y="{n(panel.y)}" width="{n(panel.width)}" height="{n(panel.height)}"'
    return f'<svg {place} viewBox="0 0 {n(panel.width)} {n(panel.height)}">{body(panel, texts)}</svg>'


def body(panel: Panel, texts: dict[str, str]) -> str:
    """What is inside a panel; the same in every format that shows it."""
    wide, high = n(panel.width - 1), n(panel.height - 1)
    frame = f'<rect class="panel" x=".5" y=".5" width="{wide}" height="{high}" rx="10"/>'
    title = f'<text class="heading" x="20" y="30">{e(panel.title)}</text>' if panel.title else ""
    marks = "".join(
        [
            *map(_shape, panel.shapes),
            *_lines(panel.lines, " faint-ties" if panel.name == "map" else ""),
            *map(_box, panel.boxes),
            *map(_disc, panel.discs),
            *_spots(panel.spots, texts),
            *map(_words, panel.words),
            _book(panel) if panel.name == "empty" else "",
        ]
    )
    if panel.field:
        marks = f'<svg class="field" viewBox="0 0 {n(panel.width)} {n(panel.height)}">{marks}</svg>'
    return frame + title + marks


def _shape(shape: Shape) -> str:
    if shape.role == "ring":
        (x, y), (rx, ry) = shape.points
        return f'<ellipse class="ring" cx="{n(x)}" cy="{n(y)}" rx="{n(rx)}" ry="{n(ry)}"/>'
    if shape.role.startswith("land"):
        runs = zip(shape.points[::2], shape.points[1::2], strict=True)
        path = "".join(f"M{n(x1)} {n(y)}H{n(x2)}" for (x1, y), (x2, _) in runs)
        return f'<path class="{shape.role}" stroke-width="{n(shape.width)}" d="{path}"/>' if path else ""
    path = "M" + "L".join(f"{n(x)} {n(y)}" for x, y in shape.points) + ("Z" if shape.role == "area" else "")
    return f'<path class="{shape.role} s{shape.series}" stroke-width="{n(shape.width)}" d="{path}"/>'


def _lines(lines: tuple[Line, ...], manner: str) -> list[str]:
    """One path for each kind and width: a thousand ties are still a few lines of text."""
    order = sorted(lines, key=lambda line: (line.kind, line.width))
    parts = []
    for (kind, wide), some in groupby(order, key=lambda line: (line.kind, line.width)):
        path = "".join(map(track, some))
        parts.append(f'<path class="tie k-{kind}{manner}" stroke-width="{n(wide)}" d="{path}"/>')
    return parts


def track(line: Line) -> str:
    start, end = f"M{n(line.x1)} {n(line.y1)}", f"{n(line.x2)} {n(line.y2)}"
    if not line.bend:
        return f"{start}L{end}"
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    aside = line.bend if hypot(line.x2 - line.x1, line.y2 - line.y1) else 0.0
    return f"{start}Q{n(x - aside * (line.y2 - line.y1))} {n(y + aside * (line.x2 - line.x1))} {end}"


def _box(box: Box) -> str:
    place = f'x="{n(box.x)}" y="{n(box.y)}" width="{n(box.width)}" height="{n(box.height)}"'
    round_off = min(12.0 if box.role == "pill" else 3.0, box.width / 2, box.height / 2)
    weight = f' fill-opacity="{n(0.06 + 0.94 * box.weight)}"' if box.role == "cell" else ""
    said = f"<title>{e(box.name)} – {e(box.value)}</title>"
    return f'<rect class="box {box.role} s{box.series}" {place} rx="{n(round_off)}"{weight}>{said}</rect>'


def _disc(disc: Disc) -> str:
    place = f'cx="{n(disc.x)}" cy="{n(disc.y)}" r="{n(disc.r)}"'
    said = f"<title>{e(disc.name)} – {e(disc.value)}</title>"
    return f'<circle class="disc {disc.role} s{disc.series}" {place}>{said}</circle>'


def in_order(spots: Iterable[Spot]) -> list[Spot]:
    """As they are drawn: by colour, the large ones last."""
    return sorted(spots, key=lambda spot: (spot.series, spot.fade, spot.r, spot.id))


def _spots(spots: tuple[Spot, ...], texts: dict[str, str]) -> list[str]:
    parts = []
    for (series, fade), some in groupby(in_order(spots), key=lambda spot: (spot.series, spot.fade)):
        circles = "".join(_spot(spot, texts.get(spot.id, "")) for spot in some)
        parts.append(f'<g class="dot s{series} f{fade}">{circles}</g>')
    return parts


def _spot(spot: Spot, text: str) -> str:
    center = ' class="center"' if spot.ring == 0 and spot.r == 20.0 else ""
    place = f'<circle{center} cx="{n(spot.x)}" cy="{n(spot.y)}" r="{n(spot.r)}"'
    return f"{place}><title>{e(text)}</title></circle>" if text else f"{place}/>"


def _words(words: Words) -> str:
    place = f'x="{n(words.x)}" y="{n(words.y)}" font-size="{n(words.size)}"'
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    # The room a strange script takes is only a guess: it is made to keep to it.
    squeezed = "" if is_usual(words.text) else f' textLength="{n(words.room)}" lengthAdjust="spacingAndGlyphs"'
    hidden = "" if words.shown else " hidden"
    return f'<text class="{words.role}{hidden}" {place}{anchor}{squeezed}>{e(words.text)}</text>'


def _book(panel: Panel) -> str:
    x, y = panel.width / 2, 84
    pages = f"M{n(x)} {y}c-18-16-48-20-78-14v72c30-6 60-2 78 14c18-16 48-20 78-14v-72c-30-6-60-2-78 14zv72"
    lines = "".join(
        f"M{n(x - 64)} {y + dy}c16-2 34 0 48 6M{n(x + 16)} {y + dy + 6}c14-6 32-8 48-6" for dy in (6, 22, 38)
    )
    return f'<path class="book" d="{pages}"/><path class="book faintly" d="{lines}"/>'
