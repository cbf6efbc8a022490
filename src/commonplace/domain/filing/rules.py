"""What a space's rules say of each file of its bank, in whatever form people write them down.

Understood are: a heading, a list item or a line that begins with a file's name, with all that stands below it; tables
with a file in each row; trees and skeletons in code fences; and sentences that say where a category goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from commonplace.domain.bank import Category, same
from commonplace.domain.filing import phrases
from commonplace.domain.filing.markdown import fence_after, hashes
from commonplace.domain.filing.names import Mention, mentions
from commonplace.domain.filing.words import NAMES, capitalised, folded, weight

_ITEM = re.compile(r"(\s*)([-*+]|[0-9]{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_SEPARATOR = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*$")
_DIAGRAM = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?:mermaid|plantuml|dot|graphviz|sequencediagram)", re.IGNORECASE)
_UNDER_TEXT = 7
"""The level of a line that is no heading but begins with a file's name: below every heading."""
_USUAL = "projectbrief productContext activeContext systemPatterns techContext progress".split()
_OPTIONS = frozenset("required optional obligatoire facultatif mandatory 必須 任意 必需 可选 필수 선택".split())


class Kind(Enum):
    """How surely a topic is a heading, and how much its words count."""

    SKETCHED = 1.0
    LISTED = 0.99
    TOLD = 0.8
    MENTIONED = 0.6


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that belongs in a file."""

    text: str
    kind: Kind
    level: int = 2
    about: str = ""

    def weight(self, category: Category) -> float:
        return max(weight(category, self.text), 0.7 * weight(category, self.about)) * self.kind.value


@dataclass(slots=True)
class Sketch:
    """What the rules say of one file."""

    filename: str
    title: str = ""
    topics: list[Topic] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """The lines themselves."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The rules say in so many words where a category goes."""

    category: Category
    filename: str
    heading: str
    certain: bool


@dataclass(slots=True)
class Rules:
    """Everything that rules say of files, in the order in which they say it."""

    sketches: dict[str, Sketch] = field(default_factory=dict)
    assignments: list[Assignment] = field(default_factory=list)
    general: list[str] = field(default_factory=list)
    """The lines that are about no file in particular."""

    def sketch(self, name: str) -> Sketch:
        return self.sketches.setdefault(same(name), Sketch(name))


def read(text: str) -> Rules:
    lines = text.splitlines()
    found = _Reading(lines).rules
    return found if found.sketches else _Reading([_with_endings(line) for line in lines]).rules


def _with_endings(line: str) -> str:
    """A line that is only the name of one of the six usual files, with the ending that its writer left away."""
    words = folded(line).replace(" ", "").lstrip("0123456789")
    usual = next((name for name in _USUAL if name.casefold() == words), "")
    at = line.casefold().find(usual.casefold()) if usual else -1
    return f"{line[:at]}{usual}.md{line[at + len(usual) :]}" if at >= 0 else line


@dataclass(frozen=True, slots=True)
class _Scope:
    """What the lines that follow are about, and what ends that."""

    sketch: Sketch
    level: int
    indent: int = -1
    numbered: bool = False


class _Reading:
    def __init__(self, lines: list[str]) -> None:
        self.rules = Rules()
        self._scope: _Scope | None = None
        self._muted = False
        self._after_blank = False
        self._read(lines)

    def _read(self, lines: list[str]) -> None:
        mark, diagram = "", False
        sketch: Sketch | None = None
        for line, following in pairwise([*lines, ""]):
            before, mark = mark, fence_after(mark, line)
            if mark and not before:
                diagram, sketch = _DIAGRAM.match(line) is not None, self._scope.sketch if self._scope else None
            elif mark and not diagram:
                sketch = self._skeleton(line, sketch)
            elif not mark and not before:
                self._line(line, following)

    def _skeleton(self, line: str, sketch: Sketch | None) -> Sketch | None:
        """A line of a code fence: of a file as it should look, or of a tree of files."""
        found, heading = mentions(line), hashes(line.strip())
        if len(found) == 1:
            sketch = self.rules.sketch(found[0].name)
            if not heading:
                self._tell(sketch, line[found[0].end :])
        elif heading and sketch and not found:
            text = phrases.tidy(heading[1])
            if heading[0] == 1:
                sketch.title = sketch.title or text
            elif phrases.is_heading(text):
                sketch.topics.append(Topic(text, Kind.SKETCHED, heading[0]))
        return sketch

    def _line(self, line: str, following: str) -> None:
        found = mentions(line)
        self._remember(line, found)
        heading, item = hashes(line), _ITEM.match(line)
        if heading:
            self._heading(*heading)
        elif line.lstrip().startswith("|"):
            if not _SEPARATOR.match(following) and not _SEPARATOR.match(line):
                self._row(line, found)
        elif item:
            self._item(line[item.end() :], len(item[1]), item[2][0].isdigit())
        elif line.strip():
            self._paragraph(line)
        self._after_blank = not line.strip()

    def _remember(self, line: str, found: Iterable[Mention]) -> None:
        said = [self.rules.sketch(mention.name).said for mention in found]
        if not said and self._scope and not self._ends(hashes(line)):
            said = [self._scope.sketch.said]
        for lines in said or [self.rules.general]:
            lines.append(line)

    def _ends(self, heading: tuple[int, str] | None) -> bool:
        return bool(heading and self._scope and heading[0] <= self._scope.level)

    def _heading(self, level: int, text: str) -> None:
        found = mentions(text)
        self._muted = False
        if len(found) == 1:
            sketch = self.rules.sketch(found[0].name)
            sketch.title = sketch.title or _title(found[0].rest(text))
            self._scope = _Scope(sketch, level)
        elif found or self._scope is None or level <= self._scope.level or self._scope.level == _UNDER_TEXT:
            self._scope = None
        else:
            self._below(phrases.tidy(text), level - self._scope.level + 1)

    def _below(self, text: str, level: int) -> None:
        self._muted = phrases.is_muted(text)
        if self._scope and phrases.is_heading(text) and not phrases.is_transparent(text):
            self._scope.sketch.topics.append(Topic(text, Kind.SKETCHED, min(level, 6)))

    def _item(self, text: str, indent: int, numbered: bool) -> None:
        found = mentions(text)
        if len(found) == 1 and found[0].leads(text):
            self._open(text, found[0], indent, numbered)
        elif found:
            self._mention(text)
        elif self._scope:
            scope = self._scope
            flat = scope.numbered and not numbered
            if indent > scope.indent or (flat and indent == scope.indent):
                self._topic(scope.sketch, text)
            elif scope.indent >= 0:
                self._scope = None

    def _paragraph(self, text: str) -> None:
        found = mentions(text)
        if len(found) == 1 and found[0].leads(text):
            self._open(text, found[0], -1, False)
        elif found:
            self._mention(text)
        elif self._scope:
            scope = self._scope
            if self._after_blank and scope.level == _UNDER_TEXT and not text[0].isspace():
                self._scope = None
            elif phrases.head(text)[0] and phrases.head(text)[1].strip(" *:："):
                self._topic(scope.sketch, text)
            elif text.rstrip().rstrip("*").endswith((":", "：")):
                self._label(text)
            else:
                self._tell(scope.sketch, text)

    def _label(self, text: str) -> None:
        label = phrases.tidy(text)
        self._muted = phrases.is_muted(label)
        if self._scope and not phrases.is_transparent(label) and phrases.is_heading(label):
            self._scope.sketch.topics.append(Topic(label, Kind.TOLD))

    def _open(self, text: str, mention: Mention, indent: int, numbered: bool) -> None:
        sketch = self.rules.sketch(mention.name)
        self._scope, self._muted = _Scope(sketch, _UNDER_TEXT, indent, numbered), False
        self._tell(sketch, text[mention.end :])

    def _row(self, line: str, found: list[Mention]) -> None:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        others = [cell for cell in cells if not mentions(cell)]
        known: list[Category] = []
        for at, cell in enumerate(others):
            # Of two cells that could be a list of categories, the second is a heading.
            if known := phrases.ticked(cell) or phrases.categories(cell):
                del others[at]
                break
        if len(found) > 1 or not (found or self._scope):
            return
        sketch = self.rules.sketch(found[0].name) if found or not self._scope else self._scope.sketch
        if known:
            heading = next((text for text in map(phrases.tidy, others) if phrases.is_heading(text)), "")
            self._assign(known, sketch, phrases.below(line[found[0].end :]) or heading if found else heading)
        elif found:
            for cell in others:
                self._tell(sketch, cell)
        elif others:
            self._topic(sketch, others[0])

    def _mention(self, text: str) -> None:
        """A sentence that speaks of files in passing, perhaps to say what goes there."""
        for clause in phrases.clauses(text) if len(mentions(text)) > 1 else [text]:
            found = mentions(clause)
            if len(found) == 1:
                self._say(clause, found[0])

    def _say(self, text: str, mention: Mention) -> None:
        sketch, left = self.rules.sketch(mention.name), text[: mention.start]
        heading = phrases.below(text[mention.end :])
        sure = phrases.categories(phrases.tidy(left)) or phrases.ticked(left)
        if sure:
            self._assign(sure, sketch, heading)
        elif phrases.routes(text):
            likely = [category for category in Category if weight(category, left) == NAMES]
            self._assign(likely, sketch, heading, certain=False)
        sketch.topics.append(Topic(phrases.tidy(mention.rest(text)), Kind.MENTIONED))

    def _assign(self, known: Iterable[Category], sketch: Sketch, heading: str, *, certain: bool = True) -> None:
        self.rules.assignments += [
            Assignment(category, sketch.filename, capitalised(heading), certain) for category in known
        ]

    def _topic(self, sketch: Sketch, text: str) -> None:
        """An item of the list below a file's name."""
        name, about = phrases.head(text)
        if self._muted or phrases.is_muted(name):
            return
        known = phrases.ticked(text) or phrases.categories(about)
        heading = "" if phrases.is_transparent(name) else name
        if known:
            self._assign(known, sketch, heading)
        if not heading:
            self._tell(sketch, about)
        elif order := phrases.ordered(name):
            sketch.topics.append(Topic(capitalised(order), Kind.TOLD if phrases.is_heading(order) else Kind.MENTIONED))
        else:
            sure = phrases.is_heading(name) and not phrases.is_sentence(text)
            sketch.topics.append(Topic(capitalised(name), Kind.LISTED if sure else Kind.MENTIONED, about=about))

    def _tell(self, sketch: Sketch, text: str) -> None:
        """What a sentence or a cell lists; if that is categories and nothing else, they go to the file."""
        self._assign(phrases.categories(text), sketch, "")
        marked = phrases.marked(text)
        sketch.topics += [Topic(name, Kind.SKETCHED, level) for name, level in marked]
        for piece in [] if marked else phrases.pieces(text):
            name, kind = phrases.ordered(piece) or piece, Kind.TOLD
            if phrases.is_muted(name):
                continue
            if not phrases.is_heading(name):
                kind = Kind.MENTIONED
            sketch.topics.append(Topic(capitalised(name), kind))


def _title(rest: str) -> str:
    """What a heading says beside the file's name, if that can be the title of a page."""
    text = phrases.tidy(rest)
    fits = phrases.is_heading(text) and len(text) <= 40 and not phrases.ordered(text)
    return capitalised(text) if fits and not _OPTIONS & set(folded(text).split()) else ""
