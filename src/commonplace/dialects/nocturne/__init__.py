"""Nocturne: a tree of addresses with aliases and disclosure, edited by patches only."""

from commonplace.dialects.nocturne import resources, tools  # noqa: F401  (they register themselves)
from commonplace.dialects.nocturne._nocturne import nocturne

__all__ = ["nocturne"]
