"""The verbs on labels."""

from __future__ import annotations

from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Store


class Labels:
    """The verbs on labels."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock
