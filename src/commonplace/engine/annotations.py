"""The verbs on annotations: memories that speak about another memory, in threads."""

from __future__ import annotations

from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories
from commonplace.ports import Clock, Store


class Annotations:
    """The verbs on annotations: memories that speak about another memory, in threads."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock
