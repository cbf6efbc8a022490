"""The verbs on teams: found them, choose who is in them, share trees with them."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Teams:
    """The verbs on teams: found them, choose who is in them, share trees with them."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
