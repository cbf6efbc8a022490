"""A sheet as a graph in the DOT language, with the places it was given; `dot -Tsvg` draws it as it stands."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.pictures.composition import LEGEND, LEGEND_STEP, legend_places
from commonplace.pictures.lettering import clean, width
from commonplace.pictures.sheet import MARGIN, Line, Panel, Sheet, Words
from commonplace.pictures.wording import Wording

_COLOURS = (
    "#4c6cf8",
    "#dd6f0e",
    "#05a87f",
    "#c047b7",
    "#835e07",
    "#6b1cc3",
    "#8f0228",
    "#017484",
    "#7a8494",
    "#44598c",
)
_STYLES = {"temporal": "dotted", "derived_from": "dashed", "references": "dashed", "annotates": "dotted"}
_STROKES = {"manual": "#dd6f0eb3", "derived_from": "#6b1cc399", "references": "#01748499", "annotates": "#05a87f99"}
_STRENGTHS = {"bar": "d9", "tile": "40", "rest": "40", "pill": "24"}
"""How much of their colour boxes have, where it is not the usual part."""
_DIRECTED = ("derived_from", "references", "annotates")
_POINTS = 72.0


def graphviz(sheet: Sheet) -> str:
    """Each mark is a node, each tie an edge, each panel a cluster. Nop means: keep the places."""
    texts = {card.id: card.text for card in sheet.memories}
    lines = [
        "digraph commonplace {",
        f'  graph [layout=nop2, charset="UTF-8", label={quoted(sheet.title)}, tooltip={quoted(sheet.subtitle)}, '
        'labelloc=t, fontname="sans-serif", fontsize=20, outputorder=edgesfirst, overlap=true];',
        '  node [shape=circle, style=filled, fixedsize=shape, label="", fontname="sans-serif", fontsize=11, '
        'color="#ffffff", penwidth=0.5];',
        '  edge [arrowhead=none, color="#7a849680", fontname="sans-serif"];',
    ]
    lines += (f"  {line}" for line in _legend(sheet))
    for at, panel in enumerate(sheet.panels):
        lines += _cluster(sheet, panel, at, texts)
    return "\n".join([*lines, "}", ""])


def _legend(sheet: Sheet) -> Iterator[str]:
    """Where it stands in the other forms: a circle for each colour, a stroke for each kind of tie."""
    words, whole = Wording(sheet.language), Panel("legend", "", sheet.width, sheet.height)
    places = legend_places(sheet.series, sheet.kinds, words)
    for at, (one, (left, row)) in enumerate(zip((*sheet.series, *sheet.kinds), places, strict=True)):
        x, y = MARGIN + left, LEGEND + LEGEND_STEP * row
        if at < len(sheet.series):
            look = f'fillcolor="{_COLOURS[one.index]}"'
            yield f"l{at} [{_place(sheet, whole, x + 6, y)}, {_size(11, 11)}, {look}];"
        else:
            ends = (f"l{at}a", f"l{at}b")
            yield from (
                f"{end} [{_place(sheet, whole, to, y)}, {_size(0, 0)}, style=invis];"
                for end, to in zip(ends, (x, x + 16), strict=True)
            )
            line = Line(ends[0], ends[1], one.label, 1.0, x, y, x + 16, y, 2.0)
            yield f"{ends[0]} -> {ends[1]} [{_course(sheet, whole, line)}, penwidth=2{_manner(one.label)}];"
        text = f"{one.label} {words.count(one.count)}"
        yield f"l{at}w [{_said(sheet, whole, Words(x + 22, y + 4, text, 12, room=width(text, 12)))}];"


def quoted(text: str) -> str:
    """A string for DOT: its own escapes, and the entities it would resolve, are taken away."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _cluster(sheet: Sheet, panel: Panel, at: int, texts: dict[str, str]) -> Iterator[str]:
    names = {spot.id: f"p{at}n{index}" for index, spot in enumerate(panel.spots)}
    names |= {disc.id: f"p{at}d{index}" for index, disc in enumerate(panel.discs)}
    yield f"  subgraph cluster_{at} {{"
    yield f"    graph [label={quoted(panel.title or panel.name)}, fontsize=13];"
    yield from (f"    {line}" for line in _nodes(sheet, panel, at, texts, names))
    for line in panel.lines:
        facts = f"weight={line.strength:g}, penwidth={line.width:g}, tooltip={quoted(line.kind)}{_manner(line.kind)}"
        yield f"    {names[line.source]} -> {names[line.target]} [{_course(sheet, panel, line)}, {facts}];"
    yield "  }"


def _manner(kind: str) -> str:
    style = f", style={_STYLES[kind]}" if kind in _STYLES else ""
    colour = f', color="{_STROKES[kind]}"' if kind in _STROKES else ""
    return style + colour + (", arrowhead=normal, arrowsize=0.5" if kind in _DIRECTED else "")


def _course(sheet: Sheet, panel: Panel, line: Line) -> str:
    """The same bend as a cubic curve, which is what DOT knows."""
    x, y = (line.x1 + line.x2) / 2, (line.y1 + line.y2) / 2
    x, y = x - line.bend * (line.y2 - line.y1), y + line.bend * (line.x2 - line.x1)
    points = [
        (line.x1, line.y1),
        ((line.x1 + 2 * x) / 3, (line.y1 + 2 * y) / 3),
        ((line.x2 + 2 * x) / 3, (line.y2 + 2 * y) / 3),
        (line.x2, line.y2),
    ]
    return 'pos="' + " ".join(_point(sheet, panel, *point) for point in points) + '"'


def _nodes(sheet: Sheet, panel: Panel, at: int, texts: dict[str, str], names: dict[str, str]) -> Iterator[str]:
    for disc in panel.discs:
        faint = "14" if disc.role == "domain" else "40"
        look = f'fillcolor="{_COLOURS[disc.series]}{faint}", tooltip={quoted(f"{disc.name} – {disc.value}")}'
        yield f"{names[disc.id]} [{_place(sheet, panel, disc.x, disc.y)}, {_size(2 * disc.r, 2 * disc.r)}, {look}];"
    for index, box in enumerate(panel.boxes):
        x, y = box.x + box.width / 2, box.y + box.height / 2
        said = f"{box.name} – {box.value}"
        alpha = f"{round(0x10 + 0xE0 * box.weight):02x}" if box.role == "cell" else _STRENGTHS.get(box.role, "80")
        look = f'shape=box, fillcolor="{_COLOURS[box.series]}{alpha}", tooltip={quoted(said)}'
        yield f"p{at}b{index} [{_place(sheet, panel, x, y)}, {_size(box.width, box.height)}, {look}];"
    for spot in panel.spots:
        said = f"id={quoted('memory-' + spot.id)}, tooltip={quoted(texts.get(spot.id, ''))}"
        look = f'fillcolor="{_COLOURS[spot.series]}", {said}'
        yield f"{names[spot.id]} [{_place(sheet, panel, spot.x, spot.y)}, {_size(2 * spot.r, 2 * spot.r)}, {look}];"
    heading = (Words(20, 30, panel.title, 13, room=width(panel.title, 13)),) if panel.title else ()
    for index, words in enumerate(heading + panel.words):
        if words.shown:
            yield f"p{at}w{index} [{_said(sheet, panel, words)}];"


def _said(sheet: Sheet, panel: Panel, words: Words) -> str:
    """A text that begins, ends or has its middle where it should, however broad the letters turn out."""
    sides = {"start": (words.room / 2, "\\l"), "end": (-words.room / 2, "\\r")}
    shift, side = sides.get(words.anchor, (0.0, ""))
    place = _place(sheet, panel, words.x + shift, words.y - words.size * 0.36)
    label = f'{quoted(words.text)[:-1]}{side}"'
    look = f"shape=plaintext, style=solid, margin=0, label={label}, fontsize={words.size:g}"
    return f"{place}, {_size(max(words.room, 1), words.size)}, {look}"


def _place(sheet: Sheet, panel: Panel, x: float, y: float) -> str:
    return f'pos="{_point(sheet, panel, x, y)}"'


def _point(sheet: Sheet, panel: Panel, x: float, y: float) -> str:
    """In points, from the lower left corner."""
    return f"{round(panel.x + x, 1):g},{round(sheet.height - panel.y - y, 1):g}"


def _size(wide: float, high: float) -> str:
    return f"width={max(wide, 0.5) / _POINTS:.4f}, height={max(high, 0.5) / _POINTS:.4f}"
