"""Memories as a page of Markdown."""

from __future__ import annotations

import json
from typing import Any

from commonplace.dialects.assoc.formats import entry
from commonplace.domain.errors import Invalid
from commonplace.domain.record import Bundle

_HEADING = "# Memories"
OPEN, _CLOSE = "<!-- memory ", " -->"


def written(bundle: Bundle) -> str:
    """For people: a heading and the text; for us a comment before it with the rest, and how long the text is."""
    parts = [f"{_HEADING}\n"]
    for record in bundle.records:
        fields = entry.written(record)
        content = fields.pop("content")
        kept = json.dumps({**fields, "length": len(content)}, ensure_ascii=False).replace("--", "-\\u002d")
        # A text that looks like our comment must not be taken for one, even in its heading.
        heading = " ".join(content.split())[:60].replace("<", "&lt;")
        parts.append(f"## {heading}\n\n{OPEN}{kept}{_CLOSE}\n{content}\n")
    return "\n".join(parts)


def is_empty(data: str) -> bool:
    """Whether it is what is written where there are no memories. Other texts may hold some that we cannot read."""
    return data.strip("\ufeff \t\r\n") == _HEADING


def read(data: str) -> entry.Read:
    entries: list[Any] = []
    at = data.find(OPEN)
    while at >= 0:
        end = data.find(_CLOSE + "\n", at)
        if end < 0:
            reason = f"{len(entries) + 1}件目の記憶のコメントが閉じられていません。`export` が書いたまま渡してください"
            raise Invalid("import_data", reason)
        try:
            fields = json.loads(data[at + len(OPEN) : end])
            length = max(int(fields.pop("length")), 0)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"{len(entries) + 1}件目の記憶のコメントを読み取れません。`export` が書いたまま渡してください"
            raise Invalid("import_data", reason) from error
        start = end + len(_CLOSE) + 1
        entries.append({**fields, "content": data[start : start + length]})
        at = data.find(OPEN, start + length)
    if not entries and not is_empty(data):
        raise Invalid("import_data", "記憶を読み取れません。取り込めるMarkdownは `export` が作ったものだけです")
    return entries, None, []
