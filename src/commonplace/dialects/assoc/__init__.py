"""Assoc: associative recall, domains, projects, pictures."""

from commonplace.dialects.assoc import admin, manage, memory, project, search, user, visualize  # noqa: F401  (they register themselves)
from commonplace.dialects.assoc._assoc import assoc

__all__ = ["assoc"]

for _name in ("memory", "memory_manage", "search", "project", "user", "visualize", "admin"):
    assoc.tools[_name] = assoc.tools.pop(_name)  # listed in the reference's order, the most used first
