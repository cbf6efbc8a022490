"""Commonplace: one memory for every AI agent."""

__version__ = "0.1.0"
