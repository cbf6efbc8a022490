"""What happened to a call, for those who count or trace: never what was in it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

UNKNOWN = "(unknown)"
"""Stands for every tool there is none of: names that callers make up must not fill anyone's tables."""
Outcome = Literal["ok", "refused", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Report:
    """A call that is over."""

    dialect: str
    tool: str
    outcome: Outcome
    ended_at: int
    """Nanoseconds since 1970."""
    seconds: float
    trace: Mapping[str, Any]
    """The caller's trace, as far as it said one."""


Watcher = Callable[[Report], None]
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Watched:
    """A call under way."""

    refused: bool = False
    failed: bool = False
    """A bug of ours, where `refused` is an error of the caller or of the world."""

    @property
    def outcome(self) -> Outcome:
        return "failed" if self.failed else "refused" if self.refused else "ok"


@contextmanager
def watching(watchers: Sequence[Watcher], dialect: str, tool: str, meta: Any) -> Iterator[Watched]:
    """Tell the watchers how it went, however it ends."""
    call = Watched()
    began = time.perf_counter()
    outcome: Outcome = "cancelled"
    try:
        yield call
        outcome = call.outcome
    except Exception:
        outcome = "refused"
        raise
    finally:
        if watchers:
            took = time.perf_counter() - began
            report = Report(dialect, tool, outcome, time.time_ns(), took, dict(meta or {}))
            for watcher in watchers:
                watcher(report)


def logged(report: Report) -> None:
    """For who looks for what his client does."""
    logger.debug("%s %s: %s in %.1f ms", report.dialect, report.tool, report.outcome, 1000 * report.seconds)
