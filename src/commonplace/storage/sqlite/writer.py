"""The one thread that writes. Whoever waits at the same time shares one commit, and so one flush to disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from commonplace.domain.errors import StoreFailed, StoreGone
from commonplace.storage.sqlite.connection import PATIENCE_MS, naming_the_cause, translated
from commonplace.storage.sqlite.outcome import Outcome
from commonplace.storage.sqlite.writing import SqliteTransaction

_LARGEST_GROUP = 256
_BRIEFLY_MS = 200
_LONG_LOG, _LONGEST_LOG = 1000, 8000
"""Pages: from when on the log is brought over in the background, and when a commit does it for want of that."""

Work = Callable[[SqliteTransaction], Any]
Apart = Callable[[apsw.Connection], Any]


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do, in a transaction or apart from any, and where its outcome is awaited."""

    work: Work | None = None
    apart: Apart | None = None
    outcome: Outcome = field(default_factory=Outcome)


class Writer:
    """Takes jobs from any thread and answers each after its commit.

    `afterwards` is done when all are answered and nobody waits.
    """

    def __init__(
        self, connection: apsw.Connection, transaction: SqliteTransaction, path: Path, afterwards: Apart
    ) -> None:
        self._connection = connection
        self._transaction = transaction
        self._path = path
        self._afterwards = afterwards
        self._identity = _identity(path)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._door = threading.Lock()
        self._closed = False
        self._log = 0
        connection.set_wal_hook(self._note_log)
        self._thread = threading.Thread(target=self._run, name="commonplace-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Jobs that no group has taken up yet."""
        return self._jobs.qsize()

    @property
    def log_is_long(self) -> bool:
        """Whether it is time to bring over to the file what commits have written to the log."""
        return self._log >= _LONG_LOG

    def submit(self, work: Work) -> Outcome:
        return self._queued(Job(work=work))

    def submit_apart(self, work: Apart) -> Outcome:
        """For what cannot run inside a transaction."""
        return self._queued(Job(apart=work))

    def empty_log(self, connection: apsw.Connection) -> None:
        """After a deletion: pages of the file are wiped as they are freed, but the log keeps older ones until emptied.

        Readers of other processes may stand in the way. Writers must not wait for them: then it is for the next time.
        """
        if not self._transaction.erased:
            return
        connection.set_busy_timeout(_BRIEFLY_MS)
        try:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
        finally:
            connection.set_busy_timeout(PATIENCE_MS)
        self._transaction.erased = bool(busy)

    def _note_log(self, connection: apsw.Connection, name: str, pages: int) -> int:
        """In place of SQLite's own care for the log: a commit that brings it over takes many times as long."""
        self._log = pages
        if pages >= _LONGEST_LOG:
            with suppress(apsw.Error):  # the commit stands, and the next one tries again
                connection.wal_checkpoint(name)
        return apsw.SQLITE_OK

    def _queued(self, job: Job) -> Outcome:
        with self._door:
            if self._closed:
                raise StoreFailed(str(self._path), "it was closed")
            self._jobs.put(job)
        return job.outcome

    def stop(self) -> None:
        """Finish what was submitted, then end."""
        with self._door:
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        ending = False
        while not ending:
            group, ending = self._next_group()
            # From here on a job is done whether or not someone waits for it; one given up before is left out.
            started = [job for job in group if job.outcome.wanted]
            self._write([job for job in started if job.work])
            for job in started:
                if job.apart:
                    self._settle(job, job.apart, self._connection)
            if started and self._jobs.empty():
                with suppress(Exception):  # nobody waits for it; what is wrong is met again, and told, by who asks
                    self._afterwards(self._connection)

    def _next_group(self) -> tuple[list[Job], bool]:
        group: list[Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == _LARGEST_GROUP or self._jobs.empty():
                return group, False
            job = self._jobs.get()
        return group, True

    def _write(self, group: list[Job]) -> None:
        if len(group) > 1 and self._written_together(group):
            return
        # Alone, or one of them spoiled it for all: in a transaction of its own each gets its own answer.
        for job in group:
            self._settle(job, self._committed, [job])

    def _written_together(self, group: list[Job]) -> bool:
        try:
            results = self._committed(group)
        except BaseException:
            return False
        for job, result in zip(group, results, strict=True):
            job.outcome.give(result)
        return True

    def _settle(self, job: Job, act: Callable[..., Any], argument: Any) -> None:
        try:
            with naming_the_cause(self._connection):
                result = act(argument)
        except (apsw.Error, OSError) as error:
            job.outcome.refuse(translated(error, self._path))
        except BaseException as error:  # whatever it is, it is the caller's: this thread goes on for the others
            job.outcome.refuse(error)
        else:
            job.outcome.give(result[0] if job.work else result)

    def _check_place(self) -> None:
        """A file that was removed or replaced can still be written to, but nobody would ever find it again."""
        if _identity(self._path) != self._identity:
            raise StoreGone(str(self._path), "it was removed or replaced while the server was running")

    def _committed(self, group: list[Job]) -> list[Any]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            results = [job.work(self._transaction) for job in group if job.work]
            self._check_place()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return results


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
