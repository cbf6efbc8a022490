"""The census of a snapshot that was handed over without one: of its dots."""

from __future__ import annotations

from collections import Counter, defaultdict

from commonplace.pictures.census import Bond, Census, Group, micros
from commonplace.pictures.lettering import clean, cut
from commonplace.pictures.snapshot import Snapshot

_TAG = 24.0


def counted(snapshot: Snapshot) -> Census:
    import numpy as np

    dots = snapshot.dots
    groups = {group: at for at, group in enumerate(dict.fromkeys(Group(dot.domain, dot.category) for dot in dots))}
    used = sorted((dot for dot in dots if dot.uses), key=lambda dot: (-dot.uses, dot.created_at, dot.id))
    return Census(
        np.array([micros(snapshot.held(dot.created_at)) for dot in dots], np.int64),
        np.array([dot.importance for dot in dots], np.float64),
        np.array([groups[Group(dot.domain, dot.category)] for dot in dots], np.int64),
        tuple(groups),
        len(used),
        _bonds(snapshot),
        _tags(snapshot),
        tuple(sorted(dots, key=lambda dot: (dot.created_at, dot.id), reverse=True)),
        tuple(used),
        tuple(sorted(dots, key=lambda dot: (-dot.importance, -dot.uses, dot.created_at, dot.id))),
    )


def _bonds(snapshot: Snapshot) -> tuple[Bond, ...]:
    homes = {dot.id: dot.domain for dot in snapshot.dots}
    strengths: dict[tuple[str, str], list[float]] = defaultdict(list)
    for tie in snapshot.ties:
        if tie.source in homes and tie.target in homes:
            strengths[homes[tie.source], homes[tie.target]].append(tie.strength)
    return tuple(Bond(*pair, len(several), sum(several)) for pair, several in sorted(strengths.items()))


def _tags(snapshot: Snapshot) -> tuple[tuple[str, int], ...]:
    shown = ({cut(tag[:200], _TAG) for tag in dot.tags[:20] if clean(tag[:200])} for dot in snapshot.dots)
    return tuple(Counter(tag for tags in shown for tag in tags).items())
