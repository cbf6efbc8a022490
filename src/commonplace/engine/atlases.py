"""The verbs on atlases: a tree of collections, shared with those below."""

from __future__ import annotations

from commonplace.engine.collections import Collections
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Store


class Atlases:
    """The verbs on atlases: a tree of collections, shared with those below."""

    def __init__(self, store: Store, memories: Memories, collections: Collections, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._collections = collections
        self._clock = clock
