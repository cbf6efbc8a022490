"""The verbs on keys that users make themselves: API keys, and shared keys that open only a part."""

from __future__ import annotations

from commonplace.ports import Clock, Store


class Keys:
    """The verbs on keys that users make themselves: API keys, and shared keys that open only a part."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
