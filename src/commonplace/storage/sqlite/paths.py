"""The tree of addresses in SQLite: walking it, searching it literally, changing it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from commonplace.domain.filter import Filter
from commonplace.domain.outline import Stem
from commonplace.domain.path import Amendment, Branch, Path, Place
from commonplace.domain.unicode import normalised
from commonplace.language.terms import query_terms
from commonplace.storage.sqlite import literal, rows
from commonplace.storage.sqlite.statements import Row, Statements

GLIMPSE = 400
"""Characters of a text that listings are given."""


class SqlitePathReading(Statements):
    """The PathReading port."""

    def at(self, place: Place, name: str) -> Path | None:
        which = "path_at_root" if place.parent is None else "path_below"
        row = self._one(which, name=name, **_place_bindings(place))
        return _path(row) if row else None

    def under(self, place: Place, among: Filter, limit: int) -> Sequence[Branch]:
        which = "branches_at_root" if place.parent is None else "branches_below"
        found = self._all(which, limit=limit, glimpse=GLIMPSE, **_place_bindings(place), **rows.seen_bindings(among))
        return [_branch(row) for row in found]

    def count_under(self, place: Place, among: Filter) -> int:
        which = "branch_count_at_root" if place.parent is None else "branch_count_below"
        return int(self._single(which, **_place_bindings(place), **rows.seen_bindings(among)))

    def to(self, tree: int, memory: int) -> Sequence[Path]:
        return [_path(row) for row in self._all("paths_to", tree=tree, memory=memory)]

    def below(self, tree: int, memory: int) -> Sequence[Path]:
        return [_path(row) for row in self._all("paths_below", tree=tree, memory=memory)]

    def trees_with(self, memory: int) -> Sequence[int]:
        return [row[0] for row in self._all("trees_with", memory=memory)]

    def after(self, tree: int, number: int, among: Filter, limit: int) -> Sequence[Branch]:
        found = self._all("paths_after", tree=tree, after=number, limit=limit, **rows.seen_bindings(among))
        return [_branch(row) for row in found]

    def stems(self, tree: int, among: Filter) -> Sequence[Stem]:
        return [Stem(*row) for row in self._all("stems", tree=tree, **rows.seen_bindings(among))]

    def ways(self, tree: int, memories: Iterable[int]) -> Sequence[Path]:
        return [_path(row) for row in self._all("ways", tree=tree, numbers=rows.numbers_json(memories))]

    def ancestors(self, tree: int, memory: int) -> frozenset[int]:
        return frozenset(row[0] for row in self._all("ancestors", tree=tree, memory=memory))

    def is_rooted(self, tree: int, memory: int, without: int = 0) -> bool:
        return bool(self._single("rooted", tree=tree, memory=memory, without=without))

    def largest_title(self, place: Place) -> int:
        which = "largest_title_at_root" if place.parent is None else "largest_title_below"
        return int(self._single(which, **_place_bindings(place)))

    def latest(self, tree: int, among: Filter, limit: int) -> Sequence[int]:
        return [row[0] for row in self._all("latest_with_path", tree=tree, limit=limit, **rows.seen_bindings(among))]

    def pathless(self, tree: int, among: Filter, limit: int) -> Sequence[int]:
        return [row[0] for row in self._all("pathless", tree=tree, limit=limit, **rows.seen_bindings(among))]

    def count_pathless(self, tree: int, among: Filter) -> int:
        return int(self._single("pathless_count", tree=tree, **rows.seen_bindings(among)))

    def orphans(self, tree: int, among: Filter, limit: int, offset: int = 0) -> Sequence[tuple[int, str, datetime]]:
        found = self._all("orphans", tree=tree, limit=limit, offset=offset, **rows.seen_bindings(among))
        return [(row[0], row[1], rows.moment(row[2])) for row in found]

    def count_orphans(self, tree: int, among: Filter) -> int:
        return int(self._single("orphan_count", tree=tree, **rows.seen_bindings(among)))

    def amendments(self, events: Iterable[int]) -> Sequence[Amendment]:
        return [_amendment(row) for row in self._all("amendments_among", events=rows.numbers_json(events))]

    # Literal search

    def named(self, tree: int, passage: str, most: int) -> Sequence[Path]:
        found = (
            self._all("names_matching", tree=tree, phrase=literal.phrase(passage), most=most)
            if len(passage) >= literal.SHORTEST
            else self._all("names_like", tree=tree, most=most, **literal.patterns(passage))
        )
        return [_path(row) for row in found]

    def descendants(self, tree: int, memories: Iterable[int], most: int) -> Sequence[int]:
        found = self._all("descendants", tree=tree, memories=rows.numbers_json(memories), most=most)
        return [row[0] for row in found]

    def standings(self, tree: int, memories: Iterable[int], among: Filter) -> Sequence[tuple[int, int | None]]:
        found = self._all("standings", tree=tree, numbers=rows.numbers_json(memories), **rows.seen_bindings(among))
        return [(row[0], row[1]) for row in found]

    def texts(self, memories: Iterable[int]) -> Mapping[int, str]:
        return dict(self._all("texts", numbers=rows.numbers_json(memories)))

    def containing(self, passage: str, among: Filter, most: int) -> Sequence[int]:
        """The newest texts that hold the passage, letter for letter but for case."""
        found = self._holding(passage, among, most)
        marked = {row[0] for row in self._all("texts_with_marks", most=most, **rows.seen_bindings(among))}
        if not marked:
            return found
        # Compared in one form: otherwise it would depend on how a text is written whether a passage stands in it.
        doubtful = marked if literal.has_marks(passage) else marked.intersection(found)
        return sorted({*found} - marked | {*self._verified(sorted(doubtful), passage)}, reverse=True)[:most]

    def _holding(self, passage: str, among: Filter, most: int) -> Sequence[int]:
        """Those in which its letters and marks are written all together, or all apart."""
        seen = rows.seen_bindings(among)
        if len(passage) >= literal.SHORTEST:
            found = self._all("texts_matching", phrase=literal.phrase(passage), most=most, **seen)
            exact = len(passage) <= literal.LONGEST
        elif term := literal.characters(query_terms(passage), passage):
            found = self._all("texts_with_term", most=most, **term, **seen)
            exact = False
        else:
            patterns = literal.patterns(passage) | literal.patterns_mixed(passage) | literal.patterns_apart(passage)
            found = self._all("texts_like", most=most, **patterns, **seen)
            exact = passage.isascii()
        numbers = [row[0] for row in found]
        return numbers if exact else self._verified(numbers, passage)

    def _verified(self, numbers: Sequence[int], passage: str) -> Sequence[int]:
        sought = normalised("NFC", passage).casefold()
        texts = self.texts(numbers)
        return [n for n in numbers if n in texts and sought in normalised("NFC", texts[n]).casefold()]


class SqlitePathWriting(SqlitePathReading):
    """The PathWriting port."""

    def add(self, path: Path) -> int:
        self._do("clear_orphan", memory=path.memory, tree=path.place.tree)
        return self._added(
            "add_path",
            name=path.name,
            memory=path.memory,
            priority=path.priority,
            disclosure=path.disclosure,
            created_at=rows.micros(path.created_at),
            **_full_place_bindings(path.place),
        )

    def adjust(self, number: int, priority: int, disclosure: str) -> None:
        self._do("adjust_path", number=number, priority=priority, disclosure=disclosure)

    def remove(self, number: int) -> None:
        self._do("remove_path", number=number)

    def amend(self, amendment: Amendment) -> None:
        path, none = amendment.path, (None, None)
        before, after = amendment.before or none, amendment.after or none
        self._do(
            "amend",
            event=amendment.event,
            path=path.number,
            name=path.name,
            memory=path.memory,
            priority_before=before[0],
            disclosure_before=before[1],
            priority_after=after[0],
            disclosure_after=after[1],
            **_full_place_bindings(path.place),
        )

    def put_orphan(self, tree: int, memory: int, last: str, since: datetime) -> None:
        self._do("put_orphan", tree=tree, memory=memory, last=last, since=rows.micros(since))


def _place_bindings(place: Place) -> dict[str, Any]:
    if place.parent is None:
        return {"tree": place.tree, "domain": place.domain}
    return {"tree": place.tree, "parent": place.parent}


def _full_place_bindings(place: Place) -> dict[str, Any]:
    return {"tree": place.tree, "domain": place.domain, "parent": place.parent}


def _path(row: Row) -> Path:
    tree, domain, parent, name, memory, priority, disclosure, created_at, number = row[:9]
    return Path(Place(tree, domain, parent), name, memory, priority, disclosure, rows.moment(created_at), number)


def _branch(row: Row) -> Branch:
    return Branch(_path(row), row[9], row[10])


def _amendment(row: Row) -> Amendment:
    event, number, tree, domain, parent, name, memory, *values = row
    before, after = ((one, two) if one is not None else None for one, two in (values[:2], values[2:]))
    priority, disclosure = after or before or (0, "")
    path = Path(Place(tree, domain, parent), name, memory, priority, disclosure, rows.moment(0), number)
    return Amendment(event, path, before, after)
