"""Memories as the rows of a CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.dialects.assoc.formats import entry
from commonplace.domain.errors import Invalid
from commonplace.domain.record import Bundle

_LISTS = frozenset({"tags", "keywords"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def written(bundle: Bundle) -> str:
    out = io.StringIO()
    sheet = csv.writer(out)
    sheet.writerow(entry.COLUMNS)
    for record in bundle.records:
        fields = entry.written(record)
        sheet.writerow([_cell(name, fields[name]) for name in entry.COLUMNS])
    return out.getvalue()


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False) if name in _LISTS or name == "metadata" else str(value)
    # A spreadsheet takes such a text for a formula; the apostrophe says that it is none.
    return "'" + text if text.startswith(_FORMULA) else text


def read(data: str) -> entry.Read:
    csv.field_size_limit(16 * 1024 * 1024)
    sheet = csv.DictReader(io.StringIO(data.lstrip("\ufeff"), newline=""), strict=True)  # a text cut off is no text
    try:
        if "content" not in (sheet.fieldnames or ()):
            needed = "JSON begins with { or [, and the first line of a CSV names the columns, such as content"
            raise Invalid("import_data", f"is no list of memories in a form that is known: {needed}")
        rows = [_uncelled(row) for row in sheet]
    except csv.Error as error:
        raise Invalid("import_data", f"is not valid CSV: {error!s:.{entry.MOST_TOLD}}") from error
    if not rows and not entry.FIELDS.issuperset(filter(None, sheet.fieldnames or ())):
        # Such as a CSV within the answer that brought it: there it is one line, in which `content` stands too.
        needed = "the first line names fields of a memory, content among them, and each further line is a memory"
        raise Invalid("import_data", f"is no CSV of memories: {needed}. Give `exported_data` of an export as it is")
    return rows, None, []


_TEXTS = 'write a list of texts as JSON does, like ["a", "b"]'
_PARSED: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "tags": (json.loads, _TEXTS),
    "keywords": (json.loads, _TEXTS),
    "metadata": (json.loads, 'write an object as JSON does, like {"a": 1}'),
    "importance": (float, "write a number from 0 to 1"),
    "access_count": (int, "write a whole number"),
}
"""How a cell is read, and what to write in it."""


def _uncelled(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if None in row:
        return {entry.UNREADABLE: ("entry", "has more cells than there are columns")}
    if None in row.values():
        return {entry.UNREADABLE: ("entry", "has fewer cells than there are columns: it may have been cut off")}
    cells: dict[str, Any] = {name: _unescaped(value) for name, value in row.items() if name and value}
    for name in [name for name in _PARSED if name in cells]:
        parsed, wanted = _PARSED[name]
        try:
            cells[name] = parsed(cells[name])
        except (ValueError, RecursionError):
            return {entry.UNREADABLE: (name, f"{cells[name][:60]!r} cannot be read: {wanted}")}
    return cells


def _unescaped(value: str) -> str:
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value
