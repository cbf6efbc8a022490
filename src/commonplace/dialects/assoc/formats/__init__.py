"""Memories as json, csv and markdown, there and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from commonplace.dialects.assoc.formats import document, entry, page, sheet
from commonplace.dialects.assoc.formats.entry import COLUMNS, FORMS
from commonplace.dialects.assoc.japanese import said
from commonplace.domain.errors import Fault, Invalid
from commonplace.domain.record import Bundle, Record, Untied

__all__ = ["COLUMNS", "FORMS", "Brought", "read", "ties_left_out", "untied", "written"]

T = TypeVar("T")
_WRITERS: Mapping[str, Callable[[Bundle], str]] = {
    "json": document.written,
    "csv": sheet.written,
    "markdown": page.written,
}
_READERS: Mapping[str, Callable[[str], entry.Read]] = {
    "json": document.read,
    "csv": sheet.read,
    "markdown": page.read,
}
_TIED = frozenset({"json"})


def written(form: str, bundle: Bundle) -> str:
    return _WRITERS[form](bundle)


def ties_left_out(form: str, bundle: Bundle) -> int:
    """How many ties a form has no place for: a table or a page of texts is for people."""
    return 0 if form in _TIED else len(bundle.links)


@dataclass(frozen=True, slots=True)
class Brought:
    """What was read: the entries that could be, each in its place, and what is wrong with the others."""

    bundle: Bundle
    faults: Sequence[Fault]
    not_taken: Sequence[str]
    """Fields that were passed over."""
    lines: Sequence[int]
    """Where each record of the bundle stands in what was brought."""

    def all_faults(self, others: Sequence[Fault]) -> list[Fault]:
        """With those of the bundle, by entry."""
        placed = [replace(fault, line=self.lines[fault.line - 1] if fault.line else 0) for fault in others]
        return sorted([*self.faults, *placed], key=lambda fault: fault.line)


def read(data: str, form: str | None, now: datetime, zone: tzinfo) -> Brought:
    """What says no time of its own is of now; the zone is that of who brings it."""
    chosen = form or _guessed(data)
    entries, links, places = _READERS[chosen](data)
    records, faults = dict[int, Record](), []
    for line, one in enumerate(entries, 1):
        try:
            records[line] = entry.read(one, now, zone)
        except Invalid as error:
            faults.append(Fault(line, error))
        except (ValueError, TypeError, OverflowError) as error:
            faults.append(Fault(line, Invalid(entry.WHOLE, entry.unreadable("読み取れません", error))))
    ties = _each(links or (), lambda one: document.link(one, now, zone), faults)
    left = [name for name in entry.NOT_TAKEN if any(isinstance(one, Mapping) and name in one for one in entries)]
    founded = _each(places, lambda one: document.place(one, zone), faults)
    bundle = Bundle(tuple(records.values()), ties, founded, tied=links is not None)
    return Brought(bundle, faults, left, tuple(records))


def _each(elements: Sequence[Any], read: Callable[[Any], T], faults: list[Fault]) -> tuple[T, ...]:
    """Those that can be read; what is wrong with the others goes to the faults."""
    done = []
    for element, one in enumerate(elements, 1):
        try:
            done.append(read(one))
        except Invalid as error:
            faults.append(Fault(0, error, element))
    return tuple(done)


def _guessed(data: str) -> str:
    start = data.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return "json"
    if page.is_empty(data):
        return "markdown"
    heading = start.partition("\n")[0].replace('"', "").split(",")
    return "markdown" if page.OPEN in data and "content" not in map(str.strip, heading) else "csv"


def untied(one: Untied) -> dict[str, str]:
    return {"from_memory_id": one.link.source[:80], "to_memory_id": one.link.target[:80], "reason": said(one.reason)}
