"""What spaces look like outside: files that follow the store, and what others change in them taken in."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import Container, Sequence
from datetime import datetime, timedelta
from functools import partial

from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection
from commonplace.domain.errors import AlreadyExists, CommonplaceError, Conflict, FilesFailed
from commonplace.domain.front_matter import NoteText, written
from commonplace.domain.space import FileKind, Mirrored, SpaceFile
from commonplace.engine.access import Access
from commonplace.engine.adoption import Adoption, Found
from commonplace.engine.tokens import registry
from commonplace.ports import Clock, Reading, Store, Transaction
from commonplace.ports.files import NOTHING, Entry, Files

logger = logging.getLogger(__name__)

_BATCH = 200
_AT_ONCE = 8
_LEASE = timedelta(seconds=60)
_NAME = "mirror"
LOOK_AGAIN = timedelta(seconds=60)
"""Between two looks at what others have changed outside."""

Settled = tuple[str, int, Mirrored | None]


class Mirror:
    """The store is the truth; the files follow it, one process at a time, until they agree.

    A file is written over what was last seen there and over nothing else. Whatever else is found there was written
    by someone else, and is taken in.
    """

    def __init__(
        self, store: Store, files: Files | None, access: Access, adoption: Adoption, clock: Clock, bell: asyncio.Event
    ) -> None:
        self._store = store
        self._files = files
        self._access = access
        self._adoption = adoption
        self._clock = clock
        self._bell = bell
        self._holder = secrets.token_hex(8)
        self._looked_at: datetime | None = None
        self.trouble = ""
        """Why the files do not follow; empty while they do."""

    @property
    def files(self) -> Files | None:
        return self._files

    async def waiting(self) -> int:
        """How many files are not yet as they should be."""
        return await self._store.read(lambda tx: tx.spaces.count_unmirrored())

    async def run(self) -> None:
        """Until cancelled: write what has changed as soon as it has."""
        while self._files is not None:
            await self._bell.wait()
            self._bell.clear()
            try:
                await self.push()
            except CommonplaceError as error:
                logger.warning("spaces: %s", error)

    async def keep_up(self) -> None:
        """A round of upkeep: what was not written is tried again, and now and then the outside is looked at."""
        if self._files is None or not self._store.writable:
            return
        try:
            await self.push()
            now = self._clock.now()
            if self._looked_at is None or now - self._looked_at >= LOOK_AGAIN:
                self._looked_at = now
                await self.pull()
                await self.push()
        except FilesFailed as failure:
            self._failed(failure)

    # Out

    async def push(self) -> int:
        """Bring the files up to the store, as far as they can be reached; how many were settled."""
        if self._files is None or not self._store.writable or not await self.waiting():
            return 0
        if not await self._lease():
            return 0  # another process is at it
        settled = 0
        try:
            while batch := await self._store.read(lambda tx: tx.spaces.unmirrored(_BATCH)):
                done = await self._written(self._files, batch)
                settled += len(done)
                await self._store.write(partial(_settle, done))
                if len(done) < len(batch) or not await self._lease():
                    break
        finally:
            await self._release()
        return settled

    async def _written(self, files: Files, batch: Sequence[tuple[str, int]]) -> list[Settled]:
        """Those of a batch that stand outside as they should, several at a time."""
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(path: str, change: int) -> Settled | FilesFailed:
            async with room:
                try:
                    return path, change, await self._write(files, path)
                except FilesFailed as failure:
                    return failure

        results = await asyncio.gather(*(one(path, change) for path, change in batch))
        done = [result for result in results if not isinstance(result, FilesFailed)]
        failure = next((result for result in results if isinstance(result, FilesFailed)), None)
        if failure:
            self._failed(failure)
        else:
            self.trouble = ""
        return done

    def _failed(self, failure: FilesFailed) -> None:
        if failure.message != self.trouble:  # once, not at every try
            logger.warning("spaces: %s", failure)
        self.trouble = failure.message

    async def _write(self, files: Files, path: str) -> Mirrored | None:
        """Make one file what it should be."""
        wanted, known = await self._store.read(lambda tx: (desired(tx, path), tx.spaces.mirrored(path)))
        if wanted is None:
            await files.remove(path)
            return None
        digest = _digest(wanted)
        if known and known.digest == digest:
            return known
        try:
            tag = await files.write(path, wanted, over=known.tag if known else NOTHING)
        except (AlreadyExists, Conflict):
            tag = await self._write_over(files, path, wanted)
        return Mirrored(path, tag, digest)

    async def _write_over(self, files: Files, path: str, wanted: bytes) -> str:
        """Someone else has written there: what he wrote is kept as a version of ours."""
        found = await files.read(path)
        if found is None:
            return await files.write(path, wanted)
        if found.data != wanted:
            await self._adoption.keep_beside(await self._actor(), Found(path, found))
            return await files.write(path, wanted, over=found.tag)
        return found.tag

    # In

    async def pull(self) -> int:
        """Take in what others have written, changed or removed outside; how many files that were."""
        if self._files is None or not await self._lease():
            return 0
        try:
            listed = {entry.path: entry for entry in await self._files.listed() if _is_ours(entry.path)}
            known, marked = await self._store.read(_known)
            news = [e for e in listed.values() if e.path not in marked and _differs(e, known.get(e.path))]
            await self._take(self._files, news, known)
            gone = [path for path in known if path not in listed and path not in marked]
            await self._let_go(gone, listed.keys())
            return len(news) + len(gone)
        finally:
            await self._release()

    async def _take(self, files: Files, news: Sequence[Entry], known: dict[str, Mirrored]) -> None:
        for begin in range(0, len(news), _BATCH):
            some = news[begin : begin + _BATCH]
            held = [(entry.path, await files.read(entry.path)) for entry in some]
            found = [Found(path, one) for path, one in held if one is not None]
            new = [one for one in found if _digest(one.held.data) != getattr(known.get(one.path), "digest", "")]
            adopted = await self._adoption.take(await self._actor(), new)
            for line in adopted.left:
                logger.warning("spaces: not taken in: %s", line)
            seen = [Mirrored(one.path, one.held.tag, _digest(one.held.data)) for one in found]
            await self._store.write(partial(_know, seen))

    async def _let_go(self, gone: Sequence[str], listed: Container[str]) -> None:
        """What one by one is missing was removed; where a whole space is missing, it is put back."""
        present = {path for path in gone if _meta_of(path) in listed}
        await self._adoption.let_go(await self._actor(), sorted(present))
        lost = [path for path in gone if path not in present or rule.file_place(path) is None]
        await self._store.write(partial(_forget, gone, lost))

    async def _actor(self) -> Actor:
        return (await self._access.local_owner()).through("live.files", "files")

    async def _lease(self) -> bool:
        now = self._clock.now()
        return await self._store.write(lambda tx: tx.lease(_NAME, self._holder, now, now + _LEASE))

    async def _release(self) -> None:
        now = self._clock.now()
        await self._store.write(lambda tx: tx.lease(_NAME, self._holder, now, now))


def desired(tx: Reading, path: str) -> bytes | None:
    """What should stand under a path; None where nothing should."""
    if path == rule.TOKENS:
        return as_json(registry(tx))
    name, _, rest = path.partition("/")
    space = tx.spaces.named(name)
    if space is None:
        return None
    if rest == rule.META:
        return as_json(rule.meta(space))
    if rest in rule.KEPT:
        return b""
    place = rule.file_place(path)
    file = tx.spaces.file(space.number, place.kind, place.name) if place else None
    return shown(space, file) if file else None


def shown(space: Collection, file: SpaceFile) -> bytes:
    """A file of a space as it stands outside."""
    if file.kind is FileKind.NOTE:
        return written(NoteText(file.agent, file.category, file.tags, file.at, file.content), space.name).encode()
    return file.content.encode()


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _is_ours(path: str) -> bool:
    name, _, rest = path.partition("/")
    of_space = rule.is_space_id(name) and (rest in (rule.META, *rule.KEPT) or rule.file_place(path) is not None)
    return of_space or path == rule.TOKENS


def _meta_of(path: str) -> str:
    return f"{path.partition('/')[0]}/{rule.META}"


def _differs(entry: Entry, known: Mirrored | None) -> bool:
    return known is None or known.tag != entry.tag


def _known(tx: Reading) -> tuple[dict[str, Mirrored], set[str]]:
    marked = {path for path, _ in tx.spaces.unmirrored(-1)}
    return {one.path: one for one in tx.spaces.all_mirrored()}, marked


def _settle(done: Sequence[Settled], tx: Transaction) -> None:
    for path, change, now in done:
        tx.spaces.settle(path, change, now)


def _know(seen: Sequence[Mirrored], tx: Transaction) -> None:
    """Files that were just read; what taking them in has changed differs from them and is written out again."""
    for one in seen:
        tx.spaces.know(one)
        wanted = desired(tx, one.path)
        if wanted is not None and _digest(wanted) == one.digest:
            tx.spaces.unmark(one.path)


def _forget(gone: Sequence[str], lost: Sequence[str], tx: Transaction) -> None:
    for path in gone:
        tx.spaces.unknow(path)
    for path in lost:
        tx.spaces.mark(path)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
