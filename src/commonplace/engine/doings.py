"""Who did what: the audit trail."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Doings:
    """Who did what: the audit trail."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
