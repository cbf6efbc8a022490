"""A picture's parts on one sheet, whatever its kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC

from commonplace.domain.errors import Invalid
from commonplace.pictures import categories, domains, ego, memory_map, series, stats, timeline
from commonplace.pictures.census import Census
from commonplace.pictures.counting import counted
from commonplace.pictures.lettering import cut, width, wrap
from commonplace.pictures.sheet import COLUMN, FULL, MARGIN, Panel, Series, Sheet, Words, arranged, near
from commonplace.pictures.snapshot import Dot, Snapshot, tidied
from commonplace.pictures.wording import Wording

KINDS = ("memory_map", "stats_dashboard", "domain_graph", "timeline", "category_chart")
_HEAD, LEGEND, LEGEND_STEP = 78.0, 88, 24
"""Where panels begin, where a legend does, and how far its rows are apart."""


def composed(kind: str, snapshot: Snapshot) -> Sheet:
    """The sheet for one of the kinds."""
    if kind not in KINDS:
        raise Invalid("type", f"one of {', '.join(KINDS)}", kind)
    snapshot, words = tidied(snapshot), Wording(snapshot.language)
    if kind == "timeline":
        snapshot = replace(snapshot, dots=timeline.within(snapshot))
    if kind == "memory_map" and snapshot.dots:
        return _map(snapshot, words)
    census = snapshot.census or counted(snapshot)
    if not len(census):
        return _sheet(kind, snapshot, words, (), (), [_empty(snapshot, words)], "")
    return _counted(kind, snapshot, census, words)


def _counted(kind: str, snapshot: Snapshot, census: Census, words: Wording) -> Sheet:
    """One of those that are made of figures: over all memories, though a few are shown."""
    if kind == "domain_graph":
        colours = series.by_domain(series.domains(census), words)
    else:
        colours = series.by_category(series.categories(census, words), words)
    panels = {
        "stats_dashboard": stats.panels,
        "domain_graph": domains.panels,
        "timeline": timeline.panels,
        "category_chart": categories.panels,
    }[kind](snapshot, census, words, colours)
    listed = {dot.id: dot for dot in (*census.latest, *census.most_used, *census.most_important, *snapshot.dots)}
    snapshot = replace(snapshot, dots=tuple(listed.values()))
    said = _amount(len(census), snapshot.total, words)
    return _sheet(kind, snapshot, words, colours.legend, (), panels, said, len(census))


def _map(snapshot: Snapshot, words: Wording) -> Sheet:
    if snapshot.center is None:
        colours = series.by_category(Counter(series.category(dot, words) for dot in snapshot.dots), words)
        panels = memory_map.panels(snapshot, words, colours)
        said = [_amount(len(snapshot.dots), snapshot.total, words), *_links_part(snapshot, panels, words)]
    else:
        found = ego.neighbourhood(snapshot)
        near_by = [dot for dot in snapshot.dots if dot.id in found.depths]
        colours = series.by_category(Counter(series.category(dot, words) for dot in near_by), words)
        panels = ego.panels(snapshot, found, colours, words)
        (center,) = (dot for dot in near_by if dot.id == snapshot.center)
        depth = min(max(snapshot.depth, 1), ego.DEEPEST)
        around = words("around", name=cut(center.text, 400, 13))
        key = "reached_all" if len(found.depths) == found.reached else "reached"
        reached = words(key, n=len(found.depths), all=found.reached, depth=depth)
        said = [reached, *_links_part(snapshot, panels, words), around]
    shown = {(line.source, line.target, line.kind) for panel in panels for line in panel.lines}
    ties = [tie for tie in snapshot.ties if (tie.source, tie.target, series.kind(tie)) in shown]
    return _sheet("memory_map", snapshot, words, colours.legend, series.by_kind(ties), panels, " · ".join(said))


def _links_part(snapshot: Snapshot, panels: Iterable[Panel], words: Wording) -> list[str]:
    """That not every tie between the memories shown is drawn. How many there are is not said: not all were read."""
    (field,) = panels
    shown = {spot.id for spot in field.spots}
    between = sum(tie.source in shown and tie.target in shown for tie in snapshot.ties)
    return [words("links_part", n=len(field.lines))] if len(field.lines) < between else []


def _amount(shown: int, total: int, words: Wording) -> str:
    return words.memories(shown) if shown == total else words("part", n=shown, all=total)


def _sheet(
    kind: str,
    snapshot: Snapshot,
    words: Wording,
    legend: tuple[Series, ...],
    kinds: tuple[Series, ...],
    panels: Iterable[Panel],
    said: str,
    shown: int | None = None,
) -> Sheet:
    rows = max((place[1] for place in legend_places(legend, kinds, words)), default=-1) + 1
    placed, height = arranged(panels, _HEAD + rows * LEGEND_STEP + (8 if rows else 0))
    if len(placed) == 1:
        placed = (replace(placed[0], x=near((FULL - placed[0].width) / 2 + MARGIN)),)
    drawn = {spot.id for panel in placed for spot in panel.spots}
    dots = [dot for dot in snapshot.dots if dot.id in drawn]
    cards = tuple(series.card(dot, snapshot, words, series.glimpse(len(dots))) for dot in sorted(dots, key=_age))
    title = cut(snapshot.title, FULL, 22) or words("total")
    when = snapshot.local(snapshot.now).strftime("%Y-%m-%d %H:%M")
    subtitle = " · ".join(part for part in (said, when) if part)
    return Sheet(
        type=kind,
        title=title,
        subtitle=cut(subtitle, FULL, 13),
        language=words.language,
        total=snapshot.total,
        shown=len(snapshot.dots) if shown is None else shown,
        width=FULL + 2 * MARGIN,
        height=near(height),
        series=legend,
        kinds=kinds,
        panels=placed,
        memories=cards,
    )


def _age(dot: Dot) -> tuple[str, str]:
    return dot.created_at.astimezone(UTC).isoformat(), dot.id


def legend_places(legend: Iterable[Series], kinds: Iterable[Series], words: Wording) -> list[tuple[float, int]]:
    """Where each entry of the legend stands: how far to the right, in which row."""
    places, x, row = [], 0.0, 0
    for entry in (*legend, *kinds):
        wide = legend_width(entry, words)
        if x and x + wide > FULL:
            x, row = 0.0, row + 1
        places.append((near(x), row))
        x += wide
    return places


def legend_width(entry: Series, words: Wording) -> float:
    return 22 + width(entry.label, 12) + 6 + width(words.count(entry.count), 11) + 18


def _empty(snapshot: Snapshot, words: Wording) -> Panel:
    """A friendly word, and an open book that waits."""
    ranged = snapshot.total > 0
    title = words("empty_range" if ranged else "empty")
    hint = words("empty_range_hint", n=snapshot.total) if ranged else words("empty_hint")
    said = [(line, 18.0, "strong") for line in wrap(title, COLUMN - 40, 18, 2)]
    said += [(line, 13.0, "faint") for line in wrap(hint, COLUMN - 40, 13, 3)]
    texts, y = [], 196.0
    for text, size, role in said:
        texts.append(Words(COLUMN / 2, near(y), text, size, role, "middle", near(width(text, size))))
        y += size * 1.5
    return Panel("empty", "", COLUMN, 300.0, words=tuple(texts))
