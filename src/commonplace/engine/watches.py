"""The verbs on watches: wishes to hear of changes, and what there is to hear."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Watches:
    """The verbs on watches: wishes to hear of changes, and what there is to hear."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
