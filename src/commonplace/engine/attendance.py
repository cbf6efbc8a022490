"""Who is here, in this process or any other on the same store."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Attendance:
    """Who is here, in this process or any other on the same store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
