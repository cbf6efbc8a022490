"""The verbs on backups: create, list, verify, restore, prune; and those that happen by themselves."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.backup import (
    Backup,
    Contents,
    Part,
    Rhythm,
    daily_name,
    grown_name,
    is_automatic,
    is_periodic,
    manual_name,
    safety_name,
)
from commonplace.domain.doing import Doing
from commonplace.domain.errors import AlreadyExists, CommonplaceError, Invalid, NotFound, StoreFailed
from commonplace.domain.phrase import Phrase
from commonplace.domain.recovery import Recovered
from commonplace.engine.leases import held
from commonplace.engine.recovery import Recovery
from commonplace.ports import Clock, Store, Vault

logger = logging.getLogger(__name__)

KINDS = tuple(Part)
T = TypeVar("T")
_LEASE = timedelta(seconds=60)
_TRY_AGAIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back, and where the state before it is kept; None where there was nothing to keep."""

    backup: Backup
    contents: Contents
    """What the backup holds."""
    safety: Backup | None
    includes: tuple[Part, ...] = KINDS
    recovered: Recovered | None = None
    """What became of a part; None where the store became what the backup is."""

    @property
    def before(self) -> int | None:
        """How many memories there were; None where that was not kept."""
        return self.safety.memories if self.safety else 0


class Backups:
    """Copies of the whole store, for the day when it is needed."""

    def __init__(
        self, store: Store, vault: Vault | None, recovery: Recovery, clock: Clock, zone: ZoneInfo, rhythm: Rhythm
    ) -> None:
        self._store = store
        self._recovery = recovery
        self._vault = vault
        self._clock = clock
        self._zone = zone
        self._rhythm = rhythm
        self._done: date | None = None
        self._latest: Backup | None = None
        """The last one for the time or the growth, as far as this process has looked."""
        self._tidied: date | None = None
        self._not_before: datetime | None = None
        self.trouble = ""
        """Why the last backup of this process failed; empty when it did not."""

    @property
    def location(self) -> str:
        return self._place().location

    async def create(self, actor: Actor, name: str = "", include: Iterable[str] | None = None) -> Backup:
        """Copy everything as it is now, under a name or under the time; what is named of it is to be put back."""
        _check(actor)
        now, parts = self._clock.now(), KINDS if include is None else _parts(include)

        async def create(name: str) -> Backup:
            return await self._place().create(name, now, parts)

        made = await (create(name) if name else self._under_time(manual_name, create))
        await self._note(actor, "backup created", made.name)
        return made

    async def list(self, actor: Actor) -> Sequence[Backup]:
        _check(actor)
        return await self._place().backups()

    async def get(self, actor: Actor, name: str) -> Backup:
        """One by its name, as it is described: nothing of it is read."""
        for one in await self.list(actor):
            if one.name == name:
                return one
        raise NotFound("backup", name)

    async def size(self, actor: Actor) -> int | None:
        """How many memories there are now, to be held against a backup; None where they cannot be counted."""
        _check(actor)
        return await self._place().size()

    def is_outgrown(self, backup: Backup, memories: int) -> bool:
        """Whether a store of so many memories has left it behind."""
        return self._rhythm.is_outgrown(backup, memories, self._clock.now())

    async def latest(self) -> Backup | None:
        """The newest one, for status answers."""
        found = await self._vault.backups() if self._vault else ()
        return found[-1] if found else None

    async def own(self) -> Sequence[Backup]:
        """Those of this very store, the latest last; whose one without a description is nobody can say."""
        store = await self._store.read(lambda tx: tx.meta("store") or "")
        return [one for one in await self._place().backups() if one.contents and one.contents.store == store]

    async def verify(self, actor: Actor, name: str) -> Backup:
        """Read it back, every page and every block."""
        _check(actor)
        return await self._place().verify(name)

    async def restore(self, actor: Actor, name: str, include: Iterable[str] | None = None) -> Restored:
        """Make the store what the backup is, or put back what is named of it, after a backup of what it is now.

        Where nothing is named, what the backup was made for decides.
        """
        _check(actor)
        named = None if include is None else _parts(include)
        backup = await self._place().verify(name)
        if named is None and backup.is_whole:
            return await self._restored(actor, backup)
        return await self._restored_in_part(actor, backup, named or backup.parts)

    async def _restored(self, actor: Actor, backup: Backup) -> Restored:
        """The backup of what it is now is made in the same step: a write in between would be in neither."""
        doing = Doing(self._clock.now(), actor.author, "restored", backup.name)

        async def restored(safety: str) -> Restored:
            contents = await self._place().restore(backup.name, doing, safety)
            kept = [one for one in await self._place().backups() if one.name == safety]
            return Restored(backup, contents, kept[0] if kept else None)

        return await self._under_time(safety_name, restored)

    async def _restored_in_part(self, actor: Actor, backup: Backup, parts: tuple[Part, ...]) -> Restored:
        assert backup.contents
        async with self._place().opened(backup.name) as copy:
            found = await self._recovery.compare(copy, frozenset(parts), backup.made_at)
        safety = await self._safety() if found else None
        recovered = await self._recovery.put_back(actor, found) if found else found.told
        if found:
            await self._note(actor, "restored in part", backup.name)
        return Restored(backup, backup.contents, safety, parts, recovered)

    async def prune(self, actor: Actor) -> Sequence[str]:
        """Remove what was made by itself and is older than it is to be kept; the names of what went."""
        _check(actor)
        return await self._prune()

    async def automatic(self) -> Backup | None:
        """The backup that is due by now, if one is: one process makes it, and the old ones go."""
        day = self._day()
        await self._tidy(day)
        if self._not_before and self._clock.now() < self._not_before:
            return None
        try:
            made = await self._made(day) if await self._due(day) else None
        except CommonplaceError as failure:
            self.trouble = f"{failure.message} (at {self._clock.now().isoformat()})"
            self._not_before = self._clock.now() + _TRY_AGAIN
            logger.error("the automatic backup failed: %s", failure)
            return None
        self.trouble = ""
        return made

    async def _tidy(self, day: date) -> None:
        """At the start of a process and once a day, whether backups are made by themselves or not."""
        if self._vault is None or self._tidied == day:
            return
        self._tidied = day
        await self._vault.tidy()

    async def _made(self, day: date) -> Backup | None:
        async with held(self._store, self._clock, "backup", _LEASE) as alone:
            return await self._kept(day) if alone else None

    async def _kept(self, day: date) -> Backup | None:
        made = None
        if name := await self._due(day):  # another process may have been here before us
            made = self._latest = await self._place().create(name, self._clock.now())
            logger.info("backed up to %s in %s", made.name, self.location)
        await self._prune()
        return made

    def _day(self) -> date:
        """The day whose backup is due: it changes at the chosen hour."""
        local = self._clock.now().astimezone(self._zone).replace(tzinfo=None)
        return (local - timedelta(hours=self._rhythm.hour)).date()

    async def _due(self, day: date) -> str:
        """What the backup that is due is to be called; empty where none is."""
        if not self._rhythm.daily or self._vault is None or not self._store.writable:
            return ""
        if self._done != day and not await self._vault.has(daily_name(day)):
            return daily_name(day) if await self._store.read(lambda tx: tx.last_event()) else ""
        self._done = day
        return grown_name(self._clock.now().astimezone(self._zone)) if await self._is_outgrown() else ""

    async def _is_outgrown(self) -> bool:
        """The folder is looked at anew before the answer is yes: another process may have made one."""
        if self._latest is not None and not await self._has_outgrown(self._latest):
            return False
        made = [one for one in await self.own() if is_periodic(one.name)]
        self._latest = made[-1] if made else None
        return self._latest is not None and await self._has_outgrown(self._latest)

    async def _has_outgrown(self, latest: Backup) -> bool:
        memories = await self._store.read(lambda tx: tx.size())
        return self.is_outgrown(latest, memories)

    async def _safety(self) -> Backup | None:
        if not await self._store.read(lambda tx: tx.last_event()):
            return None
        now = self._clock.now()
        return await self._under_time(safety_name, lambda name: self._place().create(name, now))

    async def _under_time(self, named: Callable[[datetime], str], make: Callable[[str], Awaitable[T]]) -> T:
        name = named(self._clock.now().astimezone(self._zone))
        try:
            return await make(name)
        except AlreadyExists:  # a second one within a second
            return await make(f"{name}-{secrets.token_hex(2)}")

    async def _note(self, actor: Actor, what: str, subject: str) -> None:
        """It was done, and stands even if this cannot be written."""
        now = self._clock.now()
        try:
            await self._store.write(lambda tx: tx.doings.note(actor, now, what, subject))
        except StoreFailed as failure:
            logger.warning("%s: %s, but it could not be noted: %s", what, subject, failure)

    async def _prune(self) -> Sequence[str]:
        """Only of this store. Those of one that was here before may be all that is left of it."""
        vault, horizon = self._place(), self._clock.now() - self._rhythm.keep
        own = [one for one in await self.own() if is_automatic(one.name)]
        gone = [one.name for one in own[:-1] if one.made_at < horizon]  # the newest stays, however old
        for name in gone:
            await vault.remove(name)
        return gone

    def _place(self) -> Vault:
        if self._vault is None:
            raise NotFound("folder for backups of", self._store.location)
        return self._vault


def _check(actor: Actor) -> None:
    """A backup holds what is everyone's."""
    require(actor, Permission.ADMIN)
    require_whole(actor)


def _parts(include: Iterable[str]) -> tuple[Part, ...]:
    named = frozenset(include)
    if unknown := named - set(KINDS):
        strange = ", ".join(sorted(unknown))
        raise Invalid("include", Phrase("{unknown}: choose from {known}", unknown=strange, known=", ".join(KINDS)))
    if not named:
        reason = "names nothing; choose from {known}, or leave it out for everything"
        raise Invalid("include", Phrase(reason, known=", ".join(KINDS)))
    return tuple(part for part in KINDS if part in named)
