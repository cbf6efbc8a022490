"""Who did what: the audit trail, and what one session did."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.doing import KEPT_FOR, Doing, Level, Sought, Stretch
from commonplace.domain.errors import CommonplaceError, EmbeddingFailed, NotFound, StoreFailed
from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Author
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_LISTED = 500
MOST_NOTED = 1000
"""How many different refusals wait in memory to be written; more than that within seconds are let go."""
SESSION_ENDED = "session ended"

_Kind = tuple[Author, str, Level]


@dataclass(frozen=True, slots=True)
class Trail:
    """The latest part of the audit trail, with the size of the whole."""

    doings: Sequence[Doing]
    total: int


@dataclass(frozen=True, slots=True)
class Activity:
    """What was done in a session, in figures."""

    session: str
    current: bool
    users: Sequence[tuple[UserId, str]]
    stretches: Sequence[Stretch]

    @property
    def began_at(self) -> datetime | None:
        return min((one.first for one in self.stretches), default=None)

    @property
    def last_at(self) -> datetime | None:
        return max((one.last for one in self.stretches), default=None)

    @property
    def ended_at(self) -> datetime | None:
        """When someone said it was over; None where nobody did, or where it went on."""
        said = max((one.last for one in self.stretches if one.what == SESSION_ENDED), default=None)
        return said if said == self.last_at else None


class Doings:
    """The trail is the events of memories and, beside them, what is noted here. It never holds a text or a key."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[_Kind, Doing] = {}
        self.began_at = clock.now()

    # Reading

    async def latest(self, actor: Actor, limit: int, level: Level = Level.INFO) -> Trail:
        """The actor's own doings, an administrator's view: everyone's; the latest first."""
        return await self._trail(actor, limit, Sought(level=level))

    async def search(self, actor: Actor, passage: str, limit: int) -> Trail:
        """Those in which the passage stands, letter for letter but for case."""
        return await self._trail(actor, limit, Sought(passage=limits.query(passage)))

    async def _trail(self, actor: Actor, limit: int, sought: Sought) -> Trail:
        require(actor, Permission.READ)
        require_whole(actor)
        limits.within("limit", limit, 1, MOST_LISTED)
        await self._settle()
        whose = replace(sought, user=_whose(actor))
        return await self._store.read(lambda tx: Trail(tx.doings.latest(whose, limit), tx.doings.count(whose)))

    async def session(self, actor: Actor, session: str) -> Activity:
        """What the actor did in a session of its own; an administrator: what anyone did in any."""
        require(actor, Permission.READ)
        _check_name(actor, session)
        await self._settle()
        return await self._store.read(lambda tx: _activity(tx, actor, session))

    async def end_session(self, actor: Actor, session: str) -> None:
        """Note that a session of the actor's own is over."""
        require(actor, Permission.WRITE)
        _check_name(actor, session)

        def work(tx: Transaction) -> None:
            _check_own(tx, actor, session)
            tx.doings.note(actor.through(actor.tool, session), self._clock.now(), SESSION_ENDED)

        await self._settle()
        await self._store.write(work)

    # Noting

    def refused(self, actor: Actor, error: CommonplaceError) -> None:
        """That a call came to nothing: kept in memory for a moment, so that refusing costs no write."""
        level = Level.ERROR if isinstance(error, StoreFailed | EmbeddingFailed) else Level.WARNING
        self._note(actor, f"refused: {type(error).__name__}", level)

    def failed(self, actor: Actor, error: Exception) -> None:
        """The same for a fault of ours."""
        self._note(actor, f"failed: {type(error).__name__}", Level.ERROR)

    def _note(self, actor: Actor, what: str, level: Level) -> None:
        """What happens again and again within a moment is one entry with a count: a loop must not fill the disk."""
        kind, now = (actor.author, what, level), self._clock.now()
        before = self._noted.get(kind)
        if before:
            self._noted[kind] = replace(before, at=now, times=before.times + 1)
        elif len(self._noted) < MOST_NOTED:
            self._noted[kind] = Doing(now, actor.author, what, level=level)

    async def flush(self) -> int:
        """Write what was noted; how much it was. Where nothing can be written it is kept for later."""
        if not (self._noted and self._store.writable):
            return 0
        waiting, self._noted = self._noted, {}

        def work(tx: Transaction) -> None:
            for doing in waiting.values():
                tx.doings.add(doing)

        try:
            await self._store.write(work)
        except StoreFailed:
            self._noted = {**waiting, **self._noted}
            raise
        return len(waiting)

    async def _settle(self) -> None:
        with suppress(StoreFailed):  # what was is told even where nothing new can be written
            await self.flush()

    async def prune(self) -> int:
        """Let go of what is too old to tell; how many there were."""
        before = self._clock.now() - KEPT_FOR
        oldest = await self._store.read(lambda tx: tx.doings.oldest())
        if oldest is None or oldest >= before:
            return 0
        return await self._store.write(lambda tx: tx.doings.prune(before))


def _whose(actor: Actor) -> UserId | None:
    return None if Permission.ADMIN in actor.permissions else actor.user


def _activity(tx: Reading, actor: Actor, session: str) -> Activity:
    current = session == actor.session
    if actor.limited_to is not None and not current:
        raise NotFound("session", session)
    stretches = tx.doings.of_session(session, _whose(actor) if not current else actor.user)
    if not (stretches or current):
        raise NotFound("session", session)
    users = dict.fromkeys(one.user for one in stretches) or {actor.user: None}
    named = [(user, found.name) for user in users if (found := tx.user(user))]
    return Activity(session, current, named, stretches)


def _check_name(actor: Actor, session: str) -> None:
    if session != actor.session:  # its own is what it is, whatever the client calls itself
        limits.text("session", session)


def _check_own(tx: Reading, actor: Actor, session: str) -> None:
    if session != actor.session and (actor.limited_to is not None or not tx.doings.of_session(session, actor.user)):
        raise NotFound("session", session)
