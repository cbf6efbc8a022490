"""Which colour stands for what, and what is told of each memory."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from commonplace.pictures.census import Census, Group
from commonplace.pictures.lettering import clean, cut
from commonplace.pictures.sheet import OTHER, Card, Series
from commonplace.pictures.snapshot import Dot, Snapshot, Tie
from commonplace.pictures.wording import Wording

DOMAINS = ("global", "user", "project", "session")
KINDS = ("semantic", "temporal", "manual", "derived_from", "references", "annotates")
_NAME = 40.0
_FRESH, _FADED = timedelta(days=30), timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Colouring:
    """The colour of each name, the most frequent first; those beyond the palette share one."""

    legend: tuple[Series, ...]
    _of: Mapping[str, int]

    def of(self, name: str) -> int:
        return self._of.get(name, OTHER)


def category(one: Dot | Group, words: Wording) -> str:
    return _name(one.category[:200]) or words("none")


def domain(one: Dot | Group) -> str:
    return named_domain(one.domain)


def named_domain(name: str) -> str:
    return _name(name[:200]) or "?"


@lru_cache(maxsize=4096)
def _name(text: str) -> str:
    return cut(text, _NAME)


def kind(tie: Tie) -> str:
    """One of the known ones, or other: a kind is also a style."""
    return tie.kind if tie.kind in KINDS else "other"


def categories(census: Census, words: Wording) -> Counter[str]:
    """How many each has, by the name it is shown with."""
    return _summed((category(group, words), count) for group, count in census.by_group())


def domains(census: Census) -> Counter[str]:
    return _summed((domain(group), count) for group, count in census.by_group())


def _summed(parts: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, count in parts:
        counts[name] += count
    return counts


def by_category(counts: Counter[str], words: Wording) -> Colouring:
    return _coloured(counts, ranked(counts)[:OTHER], words)


def by_domain(counts: Counter[str], words: Wording) -> Colouring:
    """The four that are known keep their colours, whichever of them there are."""
    strangers = [name for name in ranked(counts) if name not in DOMAINS]
    return _coloured(counts, [*DOMAINS, *strangers][:OTHER], words)


def ranked(counts: Counter[str]) -> list[str]:
    """The most frequent first, equal ones by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def by_kind(ties: Iterable[Tie]) -> tuple[Series, ...]:
    counts = Counter(map(kind, ties))
    return tuple(Series(at, name, counts[name]) for at, name in enumerate([*KINDS, "other"]) if counts[name])


def _coloured(counts: Counter[str], names: list[str], words: Wording) -> Colouring:
    of = {name: at for at, name in enumerate(names)}
    legend = [Series(at, name, counts[name]) for name, at in of.items() if counts[name]]
    rest = sum(count for name, count in counts.items() if name not in of)
    if rest:
        legend.append(Series(OTHER, words("other"), rest))
    return Colouring(tuple(legend), of)


def card(dot: Dot, snapshot: Snapshot, words: Wording, room: float) -> Card:
    return Card(
        dot.id,
        cut(dot.text, room),
        domain(dot),
        category(dot, words),
        tuple(cut(tag[:200], 24.0) for tag in dot.tags[:6] if clean(tag[:200])),
        round(dot.importance, 2),
        snapshot.local(dot.created_at).isoformat(timespec="minutes"),
        dot.uses,
    )


def glimpse(count: int) -> float:
    """How much of each text is shown, in its own size: less of each, the more there are."""
    return 96.0 if count <= 200 else 48.0 if count <= 1000 else 26.0


def fade(dot: Dot, snapshot: Snapshot) -> int:
    """0 for what was made or used lately, 2 for what nobody has touched in half a year."""
    age = snapshot.now - max(dot.created_at, dot.used_at or dot.created_at)
    return 0 if age <= _FRESH else 1 if age <= _FADED else 2
