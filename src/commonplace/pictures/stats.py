"""Everything in figures: how many, of what, since when, how important, how used."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import accumulate

from commonplace.pictures import bars, series
from commonplace.pictures.calendar import stretches
from commonplace.pictures.census import Census
from commonplace.pictures.lettering import clean, cut, width
from commonplace.pictures.listing import listing
from commonplace.pictures.sheet import COLUMN, PLAIN, Box, Panel, Shape, Words, near
from commonplace.pictures.snapshot import Dot, Snapshot
from commonplace.pictures.timeline import rhythm
from commonplace.pictures.wording import Wording

_LOW, _HIGH = 216.0, 280.0


def panels(snapshot: Snapshot, census: Census, words: Wording, colours: series.Colouring) -> list[Panel]:
    def day(dot: Dot) -> str:
        return snapshot.local(dot.created_at).strftime("%Y-%m-%d")

    return [
        _totals(snapshot, census, words),
        _growth(snapshot, census, words),
        by_domain(census, words, None, _LOW),
        by_category(census, words, colours, _HIGH),
        _importance(census, words),
        listing("most_used", census.most_used, lambda dot: words("uses", n=dot.uses), words, colours, words("no_use")),
        _tags(census, words),
        listing("latest", census.latest, day, words, colours),
        rhythm(census, snapshot, words),
    ]


def _totals(snapshot: Snapshot, census: Census, words: Wording) -> Panel:
    ties = sum(bond.ties for bond in census.bonds)
    week = census.since(snapshot.now - timedelta(days=7), snapshot.now)
    facts = [("total_ties", ties), ("total_week", week), ("total_used", census.used)]
    total = words.count(snapshot.total)
    texts = [Words(20, 112, total, 56, "figure", "start", near(width(total, 56)))]
    for at, (name, number) in enumerate(facts):
        x, count, label = 20.0 + at * 106, words.count(number), cut(words(name), 100, 11)
        texts.append(Words(x, 168, count, 20, "figure", "start", near(width(count, 20))))
        texts.append(Words(x, 188, label, 11, "faint", "start", near(width(label, 11))))
    return Panel(
        "total", words("total"), COLUMN, _LOW, shapes=(Shape("axis", ((20, 136), (332, 136))),), words=tuple(texts)
    )


def _growth(snapshot: Snapshot, census: Census, words: Wording) -> Panel:
    """How many there were at the end of each stretch, over how many were new in it."""
    found = stretches(snapshot, census.first, max(census.last, snapshot.now), 40)
    counts = found.counts(census.created)
    sums = list(accumulate(counts))
    points = bars.curve(sums, bars.LEFT, bars.RIGHT, 150, 92)
    ends = [
        Words(bars.LEFT, 200, found.names[0][:10], 11, "tick", "start", 80),
        Words(bars.RIGHT, 200, found.names[-1][:10], 11, "tick", "end", 80),
    ]
    boxes = bars.histogram(counts, found.names, 184, 26, PLAIN, words)
    title = f"{words('growth')} · {words('per_' + found.unit)}"
    return Panel(
        "growth",
        title,
        COLUMN,
        _LOW,
        shapes=tuple(bars.area(points, 150, PLAIN)),
        boxes=tuple(boxes),
        words=tuple(ends),
    )


def by_domain(census: Census, words: Wording, colours: series.Colouring | None, height: float) -> Panel:
    """In the colours of the domains where there are such, else in one."""
    known = series.by_domain(series.domains(census), words)
    found = [bars.Row(one.label, one.count, one.index if colours else PLAIN) for one in known.legend][:5]
    boxes, texts = bars.rows(found, 28, words)
    return Panel("by_domain", words("by_domain"), COLUMN, height, boxes=tuple(boxes), words=tuple(texts))


def by_category(census: Census, words: Wording, colours: series.Colouring | None, height: float) -> Panel:
    """In the colours of the categories where there are such, else in one."""
    counts = series.categories(census, words)
    order = series.ranked(counts)
    most = int((height - bars.TOP - 20) // 26)
    found = bars.top(counts, order, most, [colours.of(name) if colours else PLAIN for name in order], words)
    boxes, texts = bars.rows(found, 26, words)
    return Panel("by_category", words("by_category"), COLUMN, height, boxes=tuple(boxes), words=tuple(texts))


def _importance(census: Census, words: Wording) -> Panel:
    counts = census.by_importance()
    names = [f"{at / 10:.1f}–{(at + 1) / 10:.1f}" for at in range(10)]
    boxes = bars.histogram(counts, names, 236, 164, PLAIN, words)
    step = (bars.RIGHT - bars.LEFT) / 10
    ticks = [
        Words(
            near(bars.LEFT + at * step), 256, f"{at / 10:g}", 11, "tick", {0: "start", 10: "end"}.get(at, "middle"), 20
        )
        for at in range(0, 11, 2)
    ]
    numbers = [
        Words(near(box.x + box.width / 2), near(box.y - 5), words.count(count), 10.5, "number", "middle", near(step))
        for box, count in zip(boxes, counts, strict=True)
        if count
    ]
    axis = Shape("axis", ((bars.LEFT, 236), (bars.RIGHT, 236)))
    return Panel(
        "importance", words("importance"), COLUMN, _HIGH, shapes=(axis,), boxes=tuple(boxes), words=(*ticks, *numbers)
    )


def _tags(census: Census, words: Wording) -> Panel:
    """As many as there is room for, the most frequent first; each in a box of its own."""
    counts: Counter[str] = Counter()
    for tag, having in census.tags:
        if clean(tag[:200]):
            counts[cut(tag[:200], 24.0)] += having
    boxes: list[Box] = []
    texts: list[Words] = []
    x, y = 20.0, 56.0
    for name in series.ranked(counts)[:40]:
        shown, count = cut(name, 150, 12), words.count(counts[name])
        wide = near(width(shown, 12) + width(count, 10.5) + 26)
        if x + wide > COLUMN - 20:
            x, y = 20.0, y + 31
        if y + 25 > _HIGH - 12:
            break
        boxes.append(Box(f"tag{len(boxes)}", near(x), y, wide, 25, PLAIN, name, words.memories(counts[name]), "pill"))
        texts.append(Words(near(x + 9), y + 17, shown, 12, "text", "start", near(width(shown, 12))))
        texts.append(Words(near(x + wide - 9), y + 17, count, 10.5, "faint", "end", near(width(count, 10.5))))
        x += wide + 6
    if not boxes:
        texts.append(Words(20, 62, words("no_tags"), 12, "faint", "start", COLUMN - 40))
    return Panel("tags", words("tags"), COLUMN, _HIGH, boxes=tuple(boxes), words=tuple(texts))
