"""The verbs on shared contexts: places where several work together for a while."""

from __future__ import annotations

from commonplace.engine.collections import Collections
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Store


class Contexts:
    """The verbs on shared contexts: places where several work together for a while."""

    def __init__(self, store: Store, memories: Memories, collections: Collections, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._collections = collections
        self._clock = clock
