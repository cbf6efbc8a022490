"""Greeum: a chain of memory blocks, short-term memory, time phrases."""

from commonplace.dialects.greeum import memory, resources, short_term, utility  # noqa: F401  (they register themselves)
from commonplace.dialects.greeum._greeum import greeum

__all__ = ["greeum"]
