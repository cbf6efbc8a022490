"""What users mean to do, in the store."""

from __future__ import annotations

from typing import Protocol


class TodoReading(Protocol):
    """What users mean to do."""


class TodoWriting(TodoReading, Protocol):
    """The same, to be changed."""
