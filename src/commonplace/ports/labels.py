"""Labels and categories, in the store."""

from __future__ import annotations

from typing import Protocol


class LabelReading(Protocol):
    """Labels and categories."""


class LabelWriting(LabelReading, Protocol):
    """The same, to be changed."""
