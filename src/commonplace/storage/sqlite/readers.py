"""A few threads that read, each job handed straight back to the loop that waits for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from commonplace.storage.sqlite.outcome import Outcome

T = TypeVar("T")


class Job(NamedTuple):
    """Something to do, and where its outcome is awaited."""

    work: Callable[[], Any]
    outcome: Outcome


class Readers:
    """As many threads as there is work for, up to a number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._door = threading.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        outcome = Outcome()
        self._start_if_all_are_busy()
        self._jobs.put(Job(work, outcome))
        result: T = await outcome
        return result

    def stop(self) -> None:
        """Finish what was begun, then end."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _start_if_all_are_busy(self) -> None:
        with self._door:
            self._unfinished += 1
            if len(self._threads) < min(self._unfinished, self._most):
                name = f"commonplace-reader_{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
                self._threads[-1].start()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._answer(job)
            del job  # what it holds must not live until the next one comes

    def _answer(self, job: Job) -> None:
        settle: Callable[[Any], None] = job.outcome.give
        value = None
        try:
            value = job.work() if job.outcome.wanted else None
        except BaseException as error:  # whatever it is, it is the caller's: this thread goes on for the others
            settle, value = job.outcome.refuse, error
        with self._door:
            self._unfinished -= 1
        settle(value)
