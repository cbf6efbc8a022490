"""The verbs on what users mean to do."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Todos:
    """The verbs on what users mean to do."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
