"""One picture in one format."""

from __future__ import annotations

import json
from typing import Any

from commonplace.domain.errors import Invalid
from commonplace.pictures.composition import composed
from commonplace.pictures.graphviz import graphviz
from commonplace.pictures.page import page
from commonplace.pictures.snapshot import Snapshot
from commonplace.pictures.svg import svg

FORMATS = ("html", "svg", "json", "graphviz")


def view(kind: str, snapshot: Snapshot) -> dict[str, Any]:
    """The picture in numbers and words: what every format shows."""
    return composed(kind, snapshot).as_dict()


def draw(kind: str, snapshot: Snapshot, format: str) -> str:  # noqa: A002  (it is called so everywhere else)
    """The picture as a text in the given format; the same snapshot always makes the same text."""
    if format not in FORMATS:
        raise Invalid("format", f"one of {', '.join(FORMATS)}", format)
    sheet = composed(kind, snapshot)
    if format == "json":
        return json.dumps(sheet.as_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"html": page, "svg": svg, "graphviz": graphviz}[format](sheet)
