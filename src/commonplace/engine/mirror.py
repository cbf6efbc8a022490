"""What spaces look like outside: files that follow the store, and what others change in them taken in."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection
from commonplace.domain.errors import AlreadyExists, CommonplaceError, Conflict, FilesFailed, StoreFailed
from commonplace.domain.front_matter import NoteText, written
from commonplace.domain.space import FileKind, Mirrored, SpaceFile, Unmirrored
from commonplace.engine.access import Access
from commonplace.engine.adoption import Adoption
from commonplace.engine.finds import Found, digest, token_entries
from commonplace.engine.leases import held
from commonplace.engine.lookout import Lookout
from commonplace.engine.tokens import registry
from commonplace.ports import Clock, Reading, Store, Transaction
from commonplace.ports.files import NOTHING, Files

logger = logging.getLogger(__name__)

_BATCH = 100
_BATCH_BYTES = 8 * 1024 * 1024
_AT_ONCE = 8
_LEASE = timedelta(seconds=10)
_REST = timedelta(milliseconds=200)
"""After a round: the first note is written out at once, those that follow it closely together."""
_NAME = "mirror"
_PLACE = "mirror"
"""Under this key the store says which place its knowledge of the outside is of."""
LOOK_AGAIN = timedelta(seconds=60)
"""Between two looks at what others have changed outside, whichever process looks."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A path, what should stand there, and what we know of what does."""

    mark: Unmirrored
    wanted: bytes | None
    known: Mirrored | None
    dissolved: bool
    """Whether the space is gone, and everything in it is to go."""

    @property
    def path(self) -> str:
        return self.mark.path

    def is_ours(self, data: bytes) -> bool:
        """Whether we have written this, or have begun to and were killed."""
        found = digest(data)
        return found in self.mark.begun.split() or (self.known is not None and self.known.digest == found)


@dataclass(slots=True)
class _Round:
    """How a round of writing goes."""

    settled: int = 0
    failures: list[CommonplaceError] = field(default_factory=list)

    @property
    def is_hopeless(self) -> bool:
        return sum(isinstance(one, FilesFailed) for one in self.failures) >= _AT_ONCE


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
        self._turn = asyncio.Lock()
        self._looked_at: datetime | None = None
        self._lookout = Lookout(store, files, access, adoption, clock) if files else None
        self._unwritten, self._unread = "", ""

    @property
    def trouble(self) -> str:
        """Why the files do not follow, or what others do there is not seen; empty while all is well."""
        return self._unwritten or self._unread

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
            except Exception:  # the files may wait; the server must not end for them
                logger.exception("spaces: writing files failed")
            await asyncio.sleep(_REST.total_seconds())

    async def keep_up(self) -> None:
        """A round of upkeep: what was not written is tried again, and now and then the outside is looked at."""
        if self._files is None or not self._store.writable:
            return
        try:
            await self.push()
            if await self._may_look():
                await self._look()
                await self.push()
        except StoreFailed:
            raise
        except CommonplaceError as failure:
            self._failed(failure)

    async def _look(self) -> None:
        try:
            await self.pull()
        except Exception as error:  # whatever it is, it lasts until the next look, and who asks is to know
            known, self._unread = self._unread, getattr(error, "message", f"looking there failed: {error!r}")
            if isinstance(error, StoreFailed) or not isinstance(error, CommonplaceError):
                raise
            if known != self._unread:  # once, not at every look
                logger.warning("spaces: %s", error)
        else:
            self._unread = ""

    async def _may_look(self) -> bool:
        now, term = self._clock.now(), LOOK_AGAIN
        if self._looked_at is not None and now - self._looked_at < term:
            return False
        self._looked_at = now
        me = secrets.token_hex(8)
        is_ours = await self._store.write(lambda tx: tx.lease("lookout", me, now, now + term))
        self._unread = self._unread if is_ours else ""  # then another process looks, and knows how that goes
        return is_ours

    # Out

    async def push(self) -> int:
        """Bring the files up to the store, as far as they can be reached; how many were settled."""
        files = self._files
        if files is None or not self._store.writable:
            return 0
        async with self._turn:
            await self._arrive(files)
            if not await self.waiting():
                self._unwritten = ""
                return 0
            async with held(self._store, self._clock, _NAME, _LEASE) as alone:
                return await self._pushed(files) if alone else 0

    async def _arrive(self, files: Files) -> None:
        """At another place, or after the store went back in time, nothing is known of what stands there."""

        def place(tx: Reading) -> str:
            return f"{files.location} {tx.meta('history') or ''}"

        def arrive(tx: Transaction) -> None:
            if tx.meta(_PLACE) != place(tx):
                tx.spaces.mark_all((rule.META, *rule.KEPT))
                if registry(tx)["tokens"]:
                    tx.spaces.mark(rule.TOKENS)
                tx.spaces.unknow_all()
                tx.set_meta(_PLACE, place(tx))

        if await self._store.read(lambda tx: tx.meta(_PLACE) != place(tx)):
            await self._store.write(arrive)

    async def _pushed(self, files: Files) -> int:
        going, after = _Round(), ""
        while batch := await self._store.write(partial(_begun, after)):
            done = await self._written(files, batch, going)
            await self._store.write(partial(_settle, done))
            going.settled += len(done)
            after = batch[-1].path
            if going.is_hopeless:
                break
        if going.failures:
            self._failed(going.failures[0])
        else:
            self._unwritten = ""
        return going.settled

    async def _written(self, files: Files, batch: Sequence[_Job], going: _Round) -> list[tuple[_Job, Mirrored | None]]:
        """Those of a batch that stand outside as they should, several at a time. One that cannot holds up no other."""
        room = asyncio.Semaphore(_AT_ONCE)
        done: list[tuple[_Job, Mirrored | None]] = []

        async def one(job: _Job) -> None:
            async with room:
                if going.is_hopeless:
                    return
                try:
                    done.append((job, await self._write(files, job)))
                except StoreFailed:
                    raise
                except (AlreadyExists, Conflict):
                    logger.info("spaces: %s was changed meanwhile, and is left for the next round", job.path)
                except CommonplaceError as failure:
                    going.failures.append(failure)

        await asyncio.gather(*map(one, batch))
        return done

    def _failed(self, failure: CommonplaceError) -> None:
        if failure.message != self._unwritten:  # once, not at every try
            logger.warning("spaces: %s", failure)
        self._unwritten = failure.message

    async def _write(self, files: Files, job: _Job) -> Mirrored | None:
        """Make one file what it should be."""
        if job.wanted is None:
            await self._remove(files, job)
            return None
        known, wanted = job.known, job.wanted
        if known and known.digest == digest(wanted):
            return known
        if job.path == rule.TOKENS:
            return await self._write_registry(files, job)
        try:
            tag = await files.write(job.path, wanted, over=known.tag if known else NOTHING)
        except (AlreadyExists, Conflict):
            tag = await self._write_over(files, job, wanted)
        return Mirrored(job.path, tag, digest(wanted))

    async def _write_over(self, files: Files, job: _Job, wanted: bytes) -> str:
        """Something else is there. Where it is not ours, it is kept: as a version, or else beside."""
        found = await files.read(job.path)
        if found is None:
            return await files.write(job.path, wanted, over=NOTHING)
        if found.data == wanted:
            return found.tag
        if await self._store.read(lambda tx: desired(tx, job.path)) != wanted:
            raise Conflict("file", job.path)  # it is we who have changed it since
        if not job.is_ours(found.data) and not await self._kept(Found(job.path, found)):
            await files.write(f"{job.path}.{digest(found.data)[:8]}", found.data)
        return await files.write(job.path, wanted, over=found.tag)

    async def _write_registry(self, files: Files, job: _Job) -> Mirrored:
        """What others say of tokens that we do not know, or beside what we know, stays."""
        found = await files.read(job.path)
        if found and not job.is_ours(found.data):
            await self._kept(Found(job.path, found))
        ours = await self._store.read(registry)
        data = as_json(merged(ours, token_entries(found.data) or [] if found else []))
        if found and found.data == data:
            return Mirrored(job.path, found.tag, digest(job.wanted or b""))
        tag = await files.write(job.path, data, over=found.tag if found else NOTHING)
        # Known by what we would write ourselves, so that nothing is written again before that changes.
        return Mirrored(job.path, tag, digest(as_json(ours)))

    async def _remove(self, files: Files, job: _Job) -> None:
        """What someone else has changed there meanwhile is not removed: it comes in at the next look."""
        found = await files.read(job.path)
        if found and (job.dissolved or job.is_ours(found.data)):
            await files.remove(job.path)

    async def _kept(self, found: Found) -> bool:
        return await self._adoption.keep_beside(await self._actor(), found)

    # In

    async def pull(self) -> int:
        """Take in what others have written, changed or removed outside; how many files that were."""
        if self._files is None or self._lookout is None:
            return 0
        async with self._turn:
            await self._arrive(self._files)
            async with held(self._store, self._clock, _NAME, _LEASE) as alone:
                return await self._lookout.look() if alone else 0

    async def _actor(self) -> Actor:
        return (await self._access.local_owner()).through("live.files", "files")


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


def merged(ours: dict[str, Any], theirs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A registry of tokens with what others keep in theirs."""
    entries = {one["hash"]: one for one in ours["tokens"]}
    beside = {str(one.get("hash")): one for one in theirs}
    known = [{**one, **beside.get(hashed, {}), **_told(one)} for hashed, one in entries.items()]
    return {**ours, "tokens": known + [one for hashed, one in beside.items() if hashed not in entries]}


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    """When a token was last used is not kept here; who does keep it knows better."""
    return {key: value for key, value in entry.items() if key != "last_used_at" or value is not None}


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def _begun(after: str, tx: Transaction) -> list[_Job]:
    """The next that are to be written. What is begun is noted first, so that after a kill it is known as ours."""
    batch: list[_Job] = []
    size = 0
    for mark in tx.spaces.unmirrored(_BATCH, after):
        wanted = desired(tx, mark.path)
        size += len(wanted or b"")
        if batch and size > _BATCH_BYTES:
            break
        if wanted is not None:
            tx.spaces.begin(mark.path, digest(wanted))
        batch.append(_Job(mark, wanted, tx.spaces.mirrored(mark.path), _is_dissolved(tx, mark.path)))
    return batch


def _is_dissolved(tx: Reading, path: str) -> bool:
    return path != rule.TOKENS and tx.spaces.named(path.partition("/")[0]) is None


def _settle(done: Sequence[tuple[_Job, Mirrored | None]], tx: Transaction) -> None:
    for job, now in done:
        tx.spaces.settle(job.path, job.mark.change, now)
        place = rule.file_place(job.path)
        if place and job.wanted is not None:
            tx.spaces.weigh(place, len(job.wanted))
