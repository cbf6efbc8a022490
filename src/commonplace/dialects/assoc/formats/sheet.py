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

_EXPECTED = "1行目に content を含む列名を、2行目から記憶を1行ずつ書いてください"
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
            raise Invalid("import_data", f"記憶の一覧として読み取れません。{entry.FORMS}")
        rows = [_uncelled(row) for row in sheet]
    except csv.Error as error:
        raise Invalid("import_data", entry.unreadable(f"正しいCSVではありません。{_EXPECTED}", error)) from error
    if not rows and not entry.FIELDS.issuperset(filter(None, sheet.fieldnames or ())):
        # Such as a CSV within the answer that brought it: there it is one line, in which `content` stands too.
        reason = f"記憶のCSVとして読み取れません。{_EXPECTED}。export の `exported_data` はそのまま渡してください"
        raise Invalid("import_data", reason)
    return rows, None, []


_TEXTS = '["a", "b"] のように、JSONの配列で書いてください'
_PARSED: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "tags": (json.loads, _TEXTS),
    "keywords": (json.loads, _TEXTS),
    "metadata": (json.loads, '{"a": 1} のように、JSONのオブジェクトで書いてください'),
    "importance": (float, "0から1までの数値を書いてください"),
    "access_count": (int, "整数を書いてください"),
}
"""How a cell is read, and what to write in it."""


def _uncelled(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if None in row:
        return {entry.UNREADABLE: (entry.WHOLE, "列より多くのセルがあります")}
    if None in row.values():
        return {entry.UNREADABLE: (entry.WHOLE, "セルが列より少なく、途中で切れている可能性があります")}
    cells: dict[str, Any] = {name: _unescaped(value) for name, value in row.items() if name and value}
    for name in [name for name in _PARSED if name in cells]:
        parsed, wanted = _PARSED[name]
        try:
            cells[name] = parsed(cells[name])
        except (ValueError, RecursionError):
            return {entry.UNREADABLE: (name, f"{cells[name][:60]!r} は読み取れません。{wanted}")}
    return cells


def _unescaped(value: str) -> str:
    return value[1:] if value.startswith("'") and value[1:].startswith(_FORMULA) else value
