"""A sheet as one HTML page that needs no network: its panels, a style, a script, and what the script tells."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from commonplace.pictures.sheet import COLUMN, Panel, Series, Sheet
from commonplace.pictures.svg import body, e, in_order, n, static, summary
from commonplace.pictures.wording import Wording

_SCRIPTS = ("marks.js", "card.js", "field.js", "page.js")
_SAID = ("hits", "memories", "uses", "links", "importance", "from", "to")
_COLOURED = frozenset(
    "map ego timeline share ranking over_time by_category most_used most_important latest domains".split()
)
"""The panels in which a colour means what the legend says."""


def page(sheet: Sheet) -> str:
    words = Wording(sheet.language)
    parts = [
        f'<!doctype html><html lang="{sheet.language}"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        '<link rel="icon" href="data:,">',
        f"<title>{e(sheet.title)}</title><style>{_style()}</style></head>",
        f'<body class="cp {sheet.type}"><header><h1 dir="auto">{e(sheet.title)}</h1>',
        f"<p>{e(sheet.subtitle)}</p></header>",
        _tools(sheet, words),
        _legend(sheet, words),
        f"<main>{''.join(_section(sheet, panel, words) for panel in sheet.panels)}</main>",
        _help(sheet, words),
        '<div id="card" role="tooltip" hidden></div><div id="said" class="unseen" aria-live="polite"></div>',
        f'<script type="application/json" id="data">{_data(sheet, words)}</script>',
        f'<script type="module">{_script()}</script></body></html>\n',
    ]
    return "".join(parts)


@cache
def _script() -> str:
    return "".join(map(static, _SCRIPTS))


@cache
def _style() -> str:
    return static("picture.css") + static("page.css")


@cache
def _policy() -> str:
    """Only this script and this style; no network at all."""
    return (
        f"default-src 'none'; script-src '{_digest(_script())}'; style-src '{_digest(_style())}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _help(sheet: Sheet, words: Wording) -> str:
    """What keys and pointers do here; on a screen without them it is not shown."""
    if not sheet.shown:
        return ""
    said = [words("help"), *([words("help_field")] if any(panel.field for panel in sheet.panels) else [])]
    return f'<p class="help" id="help">{e(" ".join(said))}</p>'


def _tools(sheet: Sheet, words: Wording) -> str:
    if not sheet.shown:
        return ""
    search, theme = e(words("search")), e(words("theme"))
    return (
        '<div class="tools" role="search"><input type="search" id="search" autocomplete="off" spellcheck="false" '
        f'placeholder="{search}" aria-label="{search}"><output id="hits" for="search"></output>'
        f'<button type="button" id="theme" aria-label="{theme}" title="{theme}">◐</button></div>'
    )


def _legend(sheet: Sheet, words: Wording) -> str:
    if not sheet.series:
        return ""
    entries = [_entry(one, "s", f'<i class="swatch s{one.index}"></i>', words) for one in sheet.series]
    entries += [_entry(one, "k", _stroke(one), words) for one in sheet.kinds]
    return f'<ul class="legend" aria-label="{e(words("legend"))}">{"".join(entries)}</ul>'


def _stroke(kind: Series) -> str:
    path = f'<path class="tie k-{kind.label}" d="M0 4h18" stroke-width="2"/>'
    return f'<svg class="swatch" viewBox="0 0 18 8" aria-hidden="true">{path}</svg>'


def _entry(one: Series, sort: str, mark: str, words: Wording) -> str:
    key = one.index if sort == "s" else one.label
    label = f"<bdi>{e(one.label)}</bdi> <small>{words.count(one.count)}</small>"
    return f'<li><button type="button" aria-pressed="true" data-{sort}="{key}">{mark}{label}</button></li>'


def _section(sheet: Sheet, panel: Panel, words: Wording) -> str:
    name = panel.title or sheet.title
    said = f"{name}. {summary(sheet)}" if panel.field else name
    coloured = (
        " coloured" if panel.name in _COLOURED or (panel.name, sheet.type) == ("by_domain", "domain_graph") else ""
    )
    wide = " wide" if panel.width > COLUMN else ""
    focus = ' tabindex="0" aria-describedby="help"' if panel.spots or panel.boxes or panel.discs else ""
    drawing = (
        f'<svg class="sheet" viewBox="0 0 {n(panel.width)} {n(panel.height)}" role="group" '
        f'aria-label="{e(said)}"{focus}>{body(panel, {})}</svg>'
    )
    buttons = _buttons(sheet, words) if panel.field else ""
    return (
        f'<section class="{panel.name}{wide}{coloured}" aria-label="{e(name)}">{buttons}'
        f'<div class="scroll">{drawing}</div></section>'
    )


def _buttons(sheet: Sheet, words: Wording) -> str:
    zoom = "".join(
        f'<button type="button" data-zoom="{way}" aria-label="{e(words(key))}" title="{e(words(key))}">{sign}</button>'
        for way, key, sign in (("in", "zoom_in", "+"), ("out", "zoom_out", "−"), ("fit", "fit", "⤢"))
    )
    count = len(sheet.memories)
    replay = (
        f'<label class="replay"><input type="range" min="1" max="{count}" value="{count}" '
        f'aria-label="{e(words("to"))}">'
        f"<output>{sheet.memories[-1].created_at[:10]}</output></label>"
        if count > 1
        else ""
    )
    return f'<div class="controls">{replay}<span class="zoom">{zoom}</span></div>'


def _data(sheet: Sheet, words: Wording) -> str:
    """In columns and by number: names said once are short."""
    cards, numbers = sheet.memories, {card.id: at for at, card in enumerate(sheet.memories)}
    names = _Names()
    data: dict[str, Any] = {
        "words": {key: words.words[key] for key in _SAID},
        "id": [card.id for card in cards],
        "text": [card.text for card in cards],
        "domain": [names.number(card.domain) for card in cards],
        "category": [names.number(card.category) for card in cards],
        "tags": [[names.number(tag) for tag in card.tags] for card in cards],
        "importance": [card.importance for card in cards],
        "at": [card.created_at[:16].replace("T", " ") for card in cards],
        "uses": [card.uses for card in cards],
        "names": names.found,
        "panels": [list(_panel(panel, numbers)) for panel in sheet.panels],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


class _Names:
    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self.found.setdefault(name, len(self.found))


def _panel(panel: Panel, numbers: dict[str, int]) -> Iterator[list[Any]]:
    """The memories behind its circles as they are drawn, how many neighbours each hides, and the ties between them."""
    spots = in_order(panel.spots)
    yield [numbers[spot.id] for spot in spots]
    yield [[at, spot.more] for at, spot in enumerate(spots) if spot.more]
    yield list(_ties(panel, {spot.id: at for at, spot in enumerate(spots)}))


def _ties(panel: Panel, places: dict[str, int]) -> Iterable[list[float]]:
    for line in panel.lines:
        if line.source in places:
            yield [places[line.source], places[line.target], line.bend]
