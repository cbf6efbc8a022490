"""Who is here, in the store."""

from __future__ import annotations

from typing import Protocol


class AttendanceReading(Protocol):
    """Who is here."""


class AttendanceWriting(AttendanceReading, Protocol):
    """The same, to be changed."""
