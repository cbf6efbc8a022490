"""Where each category goes: the file and the heading that the rules name for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.domain.bank import Category, same
from commonplace.domain.filing.phrases import heading
from commonplace.domain.filing.rules import Assignment, Kind, Rules, Sketch, Topic
from commonplace.domain.filing.words import HEADINGS, HINTS, NAMES, folded, weight

FALLBACK = "notes.md"

# Where people look for a category in a bank of the usual files, best first, when rules leave it open.
_USUAL = {
    Category.OBSERVATION: "activecontext currentstate context journal log notes progress techcontext",
    Category.DECISION: "decisionlog systempatterns activecontext techcontext",
    Category.TODO: "progress activecontext",
    Category.INSIGHT: "systempatterns activecontext",
    Category.QUESTION: "activecontext progress",
    Category.PROGRESS: "progress activecontext",
    Category.ISSUE: "progress activecontext techcontext",
}
_CATCHALL = ("note", "journal", "log ", "context", "misc", "divers", "ノート", "ログ", "笔记", "日志", "노트", "일지")
_FOUNDATIONS = frozenset({"projectbrief", "productcontext"})
"""Files about what a project is for, which a day's notes seldom change."""
_BY_NAME = 1.3
"""A file called for a category is a surer place than one that has it among other things."""


@dataclass(frozen=True, slots=True)
class Route:
    """A file, and the heading in it; without one the file is for this category alone."""

    filename: str
    heading: str
    level: int = 2


def routes(rules: Rules, language: str) -> dict[Category, Route]:
    """A route for every category, whatever the rules say."""
    chosen = {category: _file(rules, category) for category in Category}
    return {category: _route(category, chosen, rules, language) for category in Category}


def title(sketch: Sketch) -> str:
    """What a new page is called."""
    words = folded(sketch.filename.removesuffix(".md")).split()
    usual = {"projectbrief": "Project Brief"}.get("".join(words))
    return sketch.title or usual or " ".join(word[:1].upper() + word[1:] for word in words) or sketch.filename


def normal(heading: str) -> str:
    """Equal for headings that differ only in letters' size, signs and blanks."""
    return folded(heading).replace(" ", "")


def _file(rules: Rules, category: Category) -> str:
    assigned = _assignment(rules.assignments, category)
    if assigned:
        return assigned.filename
    sketches = list(rules.sketches.values())
    scores = [(_score(sketch, category), -at, sketch.filename) for at, sketch in enumerate(sketches)]
    best = max(scores, default=(0.0, 0, ""))
    return best[2] if best[0] >= HINTS * Kind.MENTIONED.value else _usual(sketches, category)


def _assignment(assignments: Iterable[Assignment], category: Category) -> Assignment | None:
    mine = [assignment for assignment in assignments if assignment.category is category]
    return next((assignment for assignment in mine if assignment.certain), mine[0] if mine else None)


def _score(sketch: Sketch, category: Category) -> float:
    by_topic = max((topic.weight(category) for topic in sketch.topics), default=0.0)
    score = max(by_topic, weight(category, sketch.filename.removesuffix(".md")) * _BY_NAME)
    stem, usual = _stem(sketch), _USUAL[category].split()
    if stem in _FOUNDATIONS:
        return score - 1.5
    return score + (0.5 / (1 + usual.index(stem)) if score and stem in usual else 0.0)


def _usual(sketches: list[Sketch], category: Category) -> str:
    by_stem = {_stem(sketch): sketch.filename for sketch in sketches}
    usual = next((by_stem[stem] for stem in _USUAL[category].split() if stem in by_stem), "")
    catchall = [sketch.filename for sketch in sketches if any(f" {word}" in _name(sketch) for word in _CATCHALL)]
    only = [sketch.filename for sketch in sketches] if len(sketches) == 1 else []
    return next(iter([name for name in [usual] if name] + catchall + only), FALLBACK)


def _stem(sketch: Sketch) -> str:
    return _name(sketch).replace(" ", "")


def _name(sketch: Sketch) -> str:
    return folded(sketch.filename.removesuffix(".md"))


def _route(category: Category, chosen: dict[Category, str], rules: Rules, language: str) -> Route:
    name = chosen[category]
    assigned, sketch = _assignment(rules.assignments, category), rules.sketches.get(same(name))
    if assigned and assigned.heading:
        return Route(name, assigned.heading)
    topic = _topic(sketch, category) if sketch else None
    if topic:
        return Route(name, heading(topic.text), topic.level)
    alone = list(chosen.values()).count(name) == 1 and weight(category, name.removesuffix(".md")) == NAMES
    return Route(name, "" if alone else HEADINGS[language][category])


def _topic(sketch: Sketch, category: Category) -> Topic | None:
    """The best of a file's topics that can be a heading; the first of equals."""
    able = [topic for topic in sketch.topics if topic.kind is not Kind.MENTIONED]
    fitting = [topic for topic in able if weight(category, topic.text + " " + topic.about) >= HINTS]
    return max(fitting, key=lambda topic: topic.weight(category), default=None)
