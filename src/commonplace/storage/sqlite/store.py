"""The store in one file of a folder, shared by as many processes as like."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import apsw

from commonplace.domain.errors import (
    Invalid,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreFullAtStart,
    StoreReadOnly,
    StoreUnopened,
)
from commonplace.ports import Reading, Transaction
from commonplace.storage.sqlite.connection import (
    connect,
    connect_frozen,
    damaged,
    make_folder,
    naming_the_cause,
    speaking_plainly,
    translated,
)
from commonplace.storage.sqlite.holdings import Held
from commonplace.storage.sqlite.merging import PAGES, merge, scattered
from commonplace.storage.sqlite.migrations import check_readable, is_current, migrate
from commonplace.storage.sqlite.presence import Presence, is_anyone_here
from commonplace.storage.sqlite.readers import Readers
from commonplace.storage.sqlite.reading import SqliteReading
from commonplace.storage.sqlite.renewal import reindex, vacuum
from commonplace.storage.sqlite.wording import is_behind
from commonplace.storage.sqlite.writer import Writer
from commonplace.storage.sqlite.writing import SqliteTransaction, observed

if TYPE_CHECKING:
    from commonplace.storage.sqlite.following import Follower

T = TypeVar("T")
FILE_NAME = "commonplace.db"
UNFINISHED_REKEYING = ".rekeying-"
_READERS = 4
_NEXT_COPY = 5000
"""Events from one copy of the index to the next."""
_WORTH_A_COPY = 500
"""Events that a start without a copy of the index would notice."""
_CATCHING_UP = 50
"""Batches of memories that get to full text with their tags before the rest of the upkeep has its turn."""

logger = logging.getLogger(__name__)


class SqliteStore:
    """The Store port. Reads run on a few threads, writes on one."""

    def __init__(self, folder: Path, fingerprint: str, key: str = "") -> None:
        self._folder = folder
        self._path = folder / FILE_NAME
        self._key = key
        self._fingerprint = fingerprint
        self._follower: Follower | None = None
        self._follower_lock = threading.Lock()
        # The one used last is used next: its pages are at hand.
        self._idle: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        self._readers = Readers(_READERS)
        self._held = Held()
        self._refusal: StoreFailed | None = None
        self._for_one_read = False
        self._told: set[str] = set()
        self._closed = False
        self.trouble = ""
        self._is_full = False
        self.damage = ""
        self._connect: Callable[[], apsw.Connection] = lambda: connect(self._path, writable=True, key=key)
        self._presence: Presence | None = None
        try:
            self._writer = self._opened()
        except BaseException:
            self._leave()
            raise

    @property
    def location(self) -> str:
        return str(self._folder)

    @property
    def writable(self) -> bool:
        return self._writer is not None

    @property
    def waiting(self) -> int:
        return self._writer.waiting if self._writer is not None else 0

    async def read(self, work: Callable[[Reading], T]) -> T:
        if self._closed:
            raise StoreFailed(str(self._path), "it was closed")
        try:
            return await self._readers.run(partial(self._read, work))
        except StoreCorrupt as failure:
            self.damage = failure.reason
            raise

    async def write(self, work: Callable[[Transaction], T]) -> T:
        try:
            done: tuple[T, bool] = await self._writing().submit(partial(observed, work))
        except StoreFailed as failure:
            self.trouble, self._is_full = failure.message, isinstance(failure, StoreFull)
            raise
        if done[1] or not self._is_full:  # a lease finds room where a memory does not
            self.trouble, self._is_full = "", False
        return done[0]

    async def check(self) -> str:
        with speaking_plainly(self._path):
            self.damage = await self._readers.run(self._damage)
        return self.damage

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted, and drop the copies derived from it."""
        self._following().discard_copies()
        await self._writing().submit_apart(vacuum)

    async def reindex(self) -> None:
        """Build anew everything that is derived from the rows: full text, letters, names, the index of vectors."""
        self._following().discard_copies()
        await self._writing().submit_apart(reindex)
        with self._follower_lock:
            self._follower = None

    async def settle(self) -> None:
        """Let go of what was deleted, and make what comes next fast, a search as well as the next start."""
        behind = False
        if self._writer is not None:
            await self._writer.submit_apart(self._writer.empty_log)
            if self._writer.log_is_long:
                await self._readers.run(self._bring_log_over)
            behind = await self._catch_up(self._writer)
            await self._merge(self._writer)
        await self._readers.run(partial(self._count_words, again=behind))
        if self._writer is not None:
            await self._readers.run(partial(self._save_index, _NEXT_COPY))  # with what was counted

    async def close(self) -> None:
        """Write what makes the next start fast, answer who still waits, and let go of the file."""
        if self._closed:
            return
        self._closed = True
        if self._writer is not None:
            try:
                await self._readers.run(partial(self._save_index, _WORTH_A_COPY, forgetting=True))
            except StoreFailed as failure:  # only the next start will be slower
                logger.warning("%s", failure)
        self._readers.stop()
        if self._writer is not None:
            await asyncio.to_thread(self._writer.stop)
        while not self._idle.empty():
            self._idle.get().close()
        self._leave()

    def _leave(self) -> None:
        if self._presence is not None:
            self._presence.end()

    # Opening

    def _opened(self) -> Writer | None:
        try:
            return self._opened_for_writing()
        except StoreReadOnly as refusal:
            if not os.access(self._path, os.R_OK):
                raise
            self._refusal = refusal
            self._connect = self._readable_connection()
        except StoreFull as full:
            self._refusal = self._opened_without_room(full)
            self.trouble = self._refusal.message
        return None

    def _opened_for_writing(self) -> Writer:
        try:
            _make_private(self._folder)
            _refuse_emptied(self._path)
            self._presence = Presence(self._folder)
            make_file(self._path)
            _discard_unfinished(self._folder)
            left = _has_log(self._path)
            connection = _migrated(self._path, self._key)
        except apsw.CantOpenError as error:
            raise StoreReadOnly(str(self._folder), str(error)) from error
        except (apsw.Error, OSError) as error:
            raise translated(error, self._path) from error
        transaction = SqliteTransaction(connection, self._following, self._path, self._fingerprint, self._held)
        # What is in the log may have been left by a process that deleted something and did not live to empty it.
        transaction.erased = left
        return Writer(connection, transaction, self._path, self._follow)

    def _readable_connection(self) -> Callable[[], apsw.Connection]:
        """The best way to read a file that cannot be written."""
        with speaking_plainly(self._path):
            try:
                with closing(connect(self._path, writable=False, key=self._key)) as connection:
                    check_readable(connection, self._path)
            except (apsw.ReadOnlyError, apsw.CantOpenError):
                with closing(connect_frozen(self._path, self._key)) as connection:
                    check_readable(connection, self._path)
                return lambda: connect_frozen(self._path, self._key)
        return lambda: connect(self._path, writable=False, key=self._key)

    def _opened_without_room(self, full: StoreFull) -> StoreFull:
        """For reading, if there is anything to read; what a write is to be told."""
        self._connect = self._connection_without_room
        # There may be room later, and another process that writes: what is opened now must not see only today's file.
        self._for_one_read = True
        with speaking_plainly(self._path), closing(self._connect()) as connection:
            check_readable(connection, self._path)
            if not is_current(connection):
                raise StoreUnopened(full.path, full.reason) from full
        return StoreFullAtStart(full.path, full.reason)

    def _connection_without_room(self) -> apsw.Connection:
        """Even readers need a little room beside the file, if others are to write it; without others none is needed."""
        try:
            return connect(self._path, writable=False, key=self._key)
        except (apsw.Error, OSError) as error:
            if not isinstance(translated(error, self._path), StoreFull):
                raise
        return connect_frozen(self._path, self._key)

    # Working

    def _writing(self) -> Writer:
        if self._writer is None:
            assert self._refusal is not None
            raise replace(self._refusal)
        return self._writer

    def _read(self, work: Callable[[Reading], T]) -> T:
        with speaking_plainly(self._path), self._view() as connection, naming_the_cause(connection):
            reading = SqliteReading(connection, self._following, self._path, self._fingerprint, self._held)
            result = work(reading)
        self.damage = reading.damage or self.damage
        return result

    @contextmanager
    def _view(self) -> Iterator[apsw.Connection]:
        """A connection that sees the file as it is at its first look, until the end of the block."""
        connection = self._taken()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._put_back(connection)

    def _taken(self) -> apsw.Connection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._connect()

    def _put_back(self, connection: apsw.Connection) -> None:
        if self._for_one_read:
            connection.close()
        else:
            self._idle.put(connection)

    def _following(self) -> Follower:
        # Made at the first need: it brings numpy along, which would slow the handshake.
        with self._follower_lock:
            if self._follower is None:
                from commonplace.storage.sqlite.following import Follower

                # No copies beside an encrypted file: vectors tell much of a text.
                copied = self._writer is not None and not self._key
                self._follower = Follower(self._folder if copied else None)
            return self._follower

    def _follow(self, connection: apsw.Connection) -> None:
        """Let the index take what was just written, while the answer is on its way: the next search need not then."""
        follower = self._follower
        if follower is not None:
            follower.follow(connection)

    def _damage(self) -> str:
        # A new connection: full text on one that has read before is checked against what it remembers of then.
        with closing(self._connect()) as connection:
            return damaged(connection)

    def _bring_log_over(self) -> None:
        """From the log to the file, as far as nobody reads what is older. Writers go on meanwhile."""
        with speaking_plainly(self._path):
            connection = self._taken()
            try:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                self._idle.put(connection)

    async def _catch_up(self, writer: Writer) -> bool:
        """Full text with the tags of memories of an earlier release; whether there were any."""
        behind = await self._readers.run(partial(self._looked, is_behind))
        for _ in range(_CATCHING_UP if behind else 0):
            if not await writer.submit(SqliteTransaction.put_missing_words):
                self._following().discard_copies()  # they go by how long texts were, and how frequent words
                break
        return behind

    async def _merge(self, writer: Writer) -> None:
        for name, steps in (await self._readers.run(partial(self._looked, scattered))).items():
            for step in range(steps):
                if not await writer.submit_apart(partial(merge, name, PAGES if step else -PAGES)):
                    break

    def _looked(self, look: Callable[[apsw.Connection], T]) -> T:
        with speaking_plainly(self._path), self._view() as connection:
            return look(connection)

    def _count_words(self, *, again: bool) -> None:
        follower = self._follower
        if follower is not None:
            with speaking_plainly(self._path), self._view() as connection:
                follower.count_words(connection, again=again)

    def _save_index(self, least: int, *, forgetting: bool = False) -> None:
        follower = self._follower
        if follower is not None:
            with speaking_plainly(self._path), self._view() as connection:
                try:
                    follower.save(connection, least, forgetting=forgetting)
                except OSError as error:  # only the next start will be slower
                    self._tell_once(f"the copy of the index in {self._folder} cannot be written: {error.strerror}")

    def _tell_once(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            logger.warning("%s", words)


def _make_private(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise Invalid("data-dir", f"{folder} is a file; choose a folder")
    make_folder(folder)


def _refuse_emptied(path: Path) -> None:
    """An empty file is how a store begins, but not beside what only a store leaves: to begin anew would hide a loss."""
    if not path.exists() or path.stat().st_size > 0 or _has_log(path):
        return
    left = [*path.parent.glob("index-*.npz"), *path.parent.glob("backups/*.db")]
    if left and not is_anyone_here(path.parent):  # another process may be founding it at this moment
        reason = f"it is empty, and {left[0].name} shows that it was not; remove it only to begin a new store"
        raise StoreCorrupt(str(path), reason)


def make_file(path: Path) -> None:
    """The file, readable by its owner only; SQLite gives its other files the same mode."""
    # Never opened once it exists: closing it would drop the locks that other connections of this process hold.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _discard_unfinished(folder: Path) -> None:
    """What a rekeying that was killed has left: it may be in the clear, and as long as we are here none goes on."""
    for left in folder.glob(f"{UNFINISHED_REKEYING}*"):
        left.unlink(missing_ok=True)


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _migrated(path: Path, key: str) -> apsw.Connection:
    """A connection to the file in its newest form."""
    connection = connect(path, writable=True, key=key)
    try:
        with naming_the_cause(connection):
            migrate(connection, path)
        if connection.readonly("main"):  # SQLite opens for reading what it may not write, and says nothing
            raise apsw.ReadOnlyError("it may be read but not written")
    except BaseException:
        connection.close()
        raise
    return connection
