"""What strangers can cause in the log: a line a while, and how many there were."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

WHILE = 60.0
"""Seconds between two lines from one place."""


class Sparing(logging.Filter):
    """Of the warnings of one place in the code the first, then one a while with how many others there were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: dict[tuple[str, int], tuple[float, int]] = {}
        """When a place was last heard of, and how many have come from there since."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        place, now = (record.pathname, record.lineno), self._clock()
        told, kept = self._told.get(place, (-math.inf, 0))
        if now - told < WHILE:
            self._told[place] = (told, kept + 1)
            return False
        self._told[place] = (now, 0)
        if kept:
            record.msg = f"{record.msg} ({kept} more like it before)"
        return True
