"""Consolidation without a model: each note goes under the file and heading that the rules name for its category.

It is deterministic, and it only adds: what stands in the bank stays to the letter. A note that the bank holds already
is dropped: one with the same text and day anywhere in it, or with the same text, as someone wrote it down there without
a date, under the heading where it would go. What is said again on another day is said again.
So the same notes filed twice add nothing the second time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from commonplace.domain.bank import (
    MAX_FILE_BYTES,
    MAX_NAME_BYTES,
    MAX_NAME_CHARS,
    Action,
    BankFile,
    Category,
    Draft,
    Note,
    Proposal,
    chronological,
    same,
)
from commonplace.domain.filing import rules as reading
from commonplace.domain.filing.entries import Entry, Held, entries, sound
from commonplace.domain.filing.markdown import Heading, Page
from commonplace.domain.filing.phrases import heading
from commonplace.domain.filing.routes import Route, normal, routes, title
from commonplace.domain.filing.rules import Kind
from commonplace.domain.filing.synthesis import synthesis
from commonplace.domain.filing.words import HEADINGS, HINTS, language, weight

__all__ = ["filed"]

_SLACK = 2_000
"""Bytes that a heading and the blank lines around it may take."""


def filed(notes: Iterable[Note], bank: Iterable[BankFile], rules: str) -> Proposal:
    """What the notes make of the bank."""
    ordered = chronological(notes)
    filing = _Filing(bank, rules, "\n".join(note.content[:1000] for note in ordered))
    found = entries(ordered)
    fresh = [entry for entry in found if filing.is_fresh(entry)]
    for category in Category:
        filing.file(category, [entry for entry in fresh if entry.category is category])
    return Proposal(filing.drafts, synthesis(ordered, fresh, filing.places, filing.language))


class _Filing:
    def __init__(self, bank: Iterable[BankFile], rules: str, sample: str) -> None:
        self._rules = reading.read(sound(rules))
        self.language = language(rules if any(map(str.isalpha, rules)) else sample)
        self._before = {same(file.filename): file for file in bank}
        self._pages = {key: Page(file.content) for key, file in self._before.items()}
        self._held = {key: Held(page.lines) for key, page in self._pages.items()}
        self._after = dict(self._before)
        self.routes = {category: self._known(route) for category, route in routes(self._rules, self.language).items()}
        self.places = dict(self.routes)
        """Where they really went: a page may have a heading of its own for a category."""
        self._sections = {category: self._section(category) for category in Category}

    def _known(self, route: Route) -> Route:
        """With the name as the bank spells it."""
        file = self._before.get(same(route.filename))
        return Route(file.filename, route.heading, route.level) if file else route

    def _section(self, category: Category) -> tuple[Held, range] | None:
        """What a category's heading holds already, where there is one."""
        key = same(self.routes[category].filename)
        page = self._pages.get(key)
        place = _place(page, self.routes[category], category) if page else None
        return (self._held[key], page.own(place)) if page and place else None

    def is_fresh(self, entry: Entry) -> bool:
        section = self._sections[entry.category]
        if section and section[0].among(entry, section[1]):
            return False
        return not any(held.dated(entry) for held in self._held.values())

    @property
    def drafts(self) -> tuple[Draft, ...]:
        changed = [file for key, file in self._after.items() if self._before.get(key) != file]
        return tuple(
            Draft(file.filename, file.content, Action.UPDATE if same(file.filename) in self._before else Action.CREATE)
            for file in changed
        )

    def file(self, category: Category, fresh: Sequence[Entry]) -> None:
        """Into the file, and what no longer fits there into one that continues it."""
        route, number, room = self.routes[category], 1, -1
        by_name: dict[str, list[Entry]] = defaultdict(list)
        for entry in fresh:
            size = sum(len(line.encode()) + 2 for line in entry.lines)
            name = _continued(route.filename, number)
            room = room if by_name[name] else self._room(name)
            # An entry that has no room in an empty page would have none anywhere: it stays there, to be refused.
            while room < size and (by_name[name] or same(name) in self._after):
                number += 1
                name = _continued(route.filename, number)
                room = self._room(name)
            room -= size
            by_name[name].append(entry)
        for name, some in by_name.items():
            if some:
                self._add(Route(name, route.heading, route.level), category, some)

    def _room(self, name: str) -> int:
        file = self._after.get(same(name))
        content = file.content if file else self._new(name)
        return MAX_FILE_BYTES - _SLACK - len(content.encode(errors="replace"))

    def _new(self, name: str) -> str:
        """A page with its title and the headings that the rules sketch for it."""
        sketch = self._rules.sketches.get(same(name)) or reading.Sketch(name)
        sketched = [topic for topic in sketch.topics if topic.kind is Kind.SKETCHED]
        listed = sketched or [topic for topic in sketch.topics if topic.kind is Kind.LISTED]
        unique = {normal(heading(topic.text)): topic for topic in reversed(listed)}
        headings = [f"\n{'#' * topic.level} {heading(topic.text)}\n" for topic in reversed(unique.values())]
        return f"# {title(sketch)}\n" + "".join(headings)

    def _add(self, route: Route, category: Category, fresh: Sequence[Entry]) -> None:
        key = same(route.filename)
        file = self._after.get(key) or BankFile(route.filename, self._new(route.filename))
        page, items = Page(file.content), [entry.lines for entry in fresh]
        place = _place(page, route, category)
        if place:
            self.places[category] = Route(route.filename, place.text if place != page.title else "")
            content = page.with_items(place, items)
        elif not route.heading and not page.headings:
            content = page.with_end(items)
        else:
            content = page.with_end(items, route.heading or HEADINGS[self.language][category], route.level)
        self._after[key] = BankFile(file.filename, content)


def _continued(name: str, number: int) -> str:
    """The name of a file's continuation, not longer than names may be."""
    stem = name.removesuffix(".md")
    while len(stem.encode(errors="replace")) > MAX_NAME_BYTES - 12 or len(stem) > MAX_NAME_CHARS - 12:
        stem = stem[:-1]
    return name if number == 1 else f"{stem}-{number}.md"


def _place(page: Page, route: Route, category: Category) -> Heading | None:
    """The heading of a page where a category goes: the one the rules name, else one that is named for it."""
    below = [heading for heading in page.headings if heading != page.title]
    exact = next(
        (heading for heading in below if route.heading and normal(heading.text) == normal(route.heading)), None
    )
    fitting = [heading for heading in below if _fits(heading.text, category)]
    best = max(fitting, key=lambda heading: weight(category, heading.text), default=None)
    return exact or best or (page.title if not route.heading and not below else None)


def _fits(text: str, category: Category) -> bool:
    """Whether a heading is for a category, and for no other one more."""
    own = weight(category, text)
    return own >= HINTS and own == max(weight(other, text) for other in Category)
