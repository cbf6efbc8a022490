"""Who is here, in this process or any other on the same store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import Invalid, StoreFailed
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId, is_uuid
from commonplace.domain.presence import GONE_AFTER, MAX_DESCRIPTION_CHARS, Focus, Presence, Status, connection_of
from commonplace.engine.access import readable
from commonplace.ports import Clock, Reading, Store, Transaction

BETWEEN_WRITES = timedelta(seconds=20)
"""Signs of life of one connection are written down no more often."""
_MOST_HEARD = 10_000
"""Connections whose signs of life wait to be written."""


class Attendance:
    """A user sees his own connections, and those of whom he shares a team or a place with; others are not there."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._heard: dict[str, Actor] = {}
        self._written: dict[str, datetime] = {}

    # Being here

    async def update(
        self, actor: Actor, focus: Focus | None = None, status: Status | None = None, name: str | None = None
    ) -> Presence:
        """Say what the caller's connection is busy with; what is left out stays. It is a sign of life in any case."""
        require(actor, Permission.READ)
        require_whole(actor)
        focus = None if focus is None else _checked(focus)
        name = None if name is None else limits.label("displayName", name)

        def work(tx: Transaction) -> Presence:
            now = self._clock.now()
            before = _present(tx, actor, now) or _arriving(actor, now)
            changed = replace(
                before,
                focus=focus or before.focus,
                status=status or before.status,
                name=name or before.name,
                seen_at=now,
            )
            tx.attendance.put(changed)
            return tx.attendance.get(changed.connection) or changed

        found = await self._store.write(work)
        self._written[found.connection] = found.seen_at
        self._heard.pop(found.connection, None)
        return found

    async def leave(self, actor: Actor) -> None:
        """The caller's connection is closed."""
        connection = connection_of(actor.user, actor.session)
        self._heard.pop(connection, None)
        self._written.pop(connection, None)

        def work(tx: Transaction) -> None:
            found = tx.attendance.get(connection)
            if found and found.status is not Status.GONE:
                tx.attendance.put(replace(found, status=Status.GONE))

        await self._store.write(work)

    def alive(self, actor: Actor) -> None:
        """A sign of life: noted in memory, written in the background, so that no call waits for it."""
        if actor.limited_to is not None or not self._store.writable or len(self._heard) >= _MOST_HEARD:
            return
        connection = connection_of(actor.user, actor.session)
        written = self._written.get(connection)
        if written is None or self._clock.now() - written >= BETWEEN_WRITES:
            self._heard[connection] = actor

    # Seeing others

    async def present(self, actor: Actor, user: UserId | None = None) -> Sequence[Presence]:
        """Those the actor may see, perhaps of one user only, as they are now."""
        require(actor, Permission.READ)
        require_whole(actor)
        now = self._clock.now()

        def work(tx: Reading) -> list[Presence]:
            here = [presence.at(now) for presence in tx.attendance.since(now - GONE_AFTER, user)]
            return Acquaintance(tx, now).of(actor, here)

        return await self._store.read(work)

    async def everyone(self) -> Mapping[str, Presence]:
        """All connections by name, for the house itself. What callers see goes through `shown`."""
        now = self._clock.now()
        here = await self._store.read(lambda tx: tx.attendance.since(now - GONE_AFTER))
        return {presence.connection: presence.at(now) for presence in here}

    async def shown(self, actors: Iterable[Actor], presences: Sequence[Presence]) -> Mapping[UserId, list[Presence]]:
        """What of these each user may see."""
        viewers = {actor.user: actor for actor in actors}
        now = self._clock.now()

        def work(tx: Reading) -> dict[UserId, list[Presence]]:
            acquaintance = Acquaintance(tx, now)
            return {user: acquaintance.of(actor, presences) for user, actor in viewers.items()}

        return await self._store.read(work)

    # Upkeep

    async def keep(self) -> None:
        """Write down the signs of life, and let go of those who have been silent for long."""
        await self._write_heard()
        before = self._clock.now() - GONE_AFTER
        self._written = {name: at for name, at in self._written.items() if at > before}
        if await self._store.read(lambda tx: tx.attendance.overdue(before)):
            await self._store.write(lambda tx: tx.attendance.prune(before))

    async def _write_heard(self) -> None:
        if not self._heard:
            return
        heard, self._heard = self._heard, {}
        now = self._clock.now()

        def work(tx: Transaction) -> None:
            for actor in heard.values():
                _note(tx, actor, now)

        try:
            await self._store.write(work)
        except StoreFailed:
            self._heard = {**heard, **self._heard}
            raise
        self._written |= dict.fromkeys(heard, now)


class Acquaintance:
    """Who shares what with whom, each looked up once in a view of the store."""

    def __init__(self, tx: Reading, now: datetime) -> None:
        self._tx = tx
        self._now = now
        self._places: dict[UserId, frozenset[int]] = {}

    def of(self, actor: Actor, presences: Sequence[Presence]) -> list[Presence]:
        """Those the actor may see, without what he may not see of them."""
        mates = self._tx.attendance.teammates(actor.user)
        among = readable(self._tx, actor, self._now)
        return [
            self._veiled(actor, presence, among)
            for presence in presences
            if presence.user in mates or self._share(actor.user, presence.user)
        ]

    def _share(self, one: UserId, other: UserId) -> bool:
        return one == other or not self._shared_places(one).isdisjoint(self._shared_places(other))

    def _shared_places(self, user: UserId) -> frozenset[int]:
        """What a user holds, but for what is everyone's."""
        if user not in self._places:
            self._places[user] = frozenset(
                holding.number
                for holding in self._tx.holdings(user)
                if holding.domain != "global" and (holding.ends_at is None or self._now < holding.ends_at)
            )
        return self._places[user]

    def _veiled(self, actor: Actor, presence: Presence, among: Filter) -> Presence:
        focus = presence.focus
        if focus is None or presence.user == actor.user or self._sees(focus.target, among):
            return presence
        return replace(presence, focus=focus.veiled())

    def _sees(self, target: str, among: Filter) -> bool:
        """What is no id is only words."""
        identifier = target.rpartition(":")[2]
        if not is_uuid(identifier):
            return True
        if self._tx.memory(MemoryId(identifier), among):
            return True
        place = self._tx.collections.get(CollectionId(identifier))
        return place is not None and place.number in among.collections


def _arriving(actor: Actor, now: datetime) -> Presence:
    return Presence(connection_of(actor.user, actor.session), actor.user, "", Status.ACTIVE, None, now, now)


def _present(tx: Reading, actor: Actor, now: datetime) -> Presence | None:
    """The caller's connection as it was last written; one that had gone comes anew."""
    found = tx.attendance.get(connection_of(actor.user, actor.session))
    return None if found is None or found.status_at(now) is Status.GONE else found


def _note(tx: Transaction, actor: Actor, now: datetime) -> None:
    """Others are told only where it looks different to them: it was away, or not here at all."""
    found = _present(tx, actor, now)
    if found and found.status_at(now) is found.status:
        tx.attendance.touch(found.connection, now)
    else:
        tx.attendance.put(replace(found or _arriving(actor, now), seen_at=now))


def _checked(focus: Focus) -> Focus:
    if len(focus.description) > MAX_DESCRIPTION_CHARS:
        raise Invalid("currentFocus", f"its description has more than {MAX_DESCRIPTION_CHARS} characters")
    description = limits.text("currentFocus", focus.description).strip()
    target = limits.label("currentFocus", focus.target) if focus.target.strip() else ""
    return Focus(focus.kind, target, description)
