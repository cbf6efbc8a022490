"""Who did what, beside the events of memories, in the store."""

from __future__ import annotations

from typing import Protocol


class DoingReading(Protocol):
    """Who did what, beside the events of memories."""


class DoingWriting(DoingReading, Protocol):
    """The same, to be changed."""
