"""Wishes to hear of changes, and what there is to hear, in the store."""

from __future__ import annotations

from typing import Protocol


class WatchReading(Protocol):
    """Wishes to hear of changes, and what there is to hear."""


class WatchWriting(WatchReading, Protocol):
    """The same, to be changed."""
