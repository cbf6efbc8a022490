"""The verbs on watches: wishes to hear of changes, and what there is to hear."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.collection import Kind
from commonplace.domain.errors import Invalid, NotFound
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, UserId, uuid7
from commonplace.domain.memory import Memory
from commonplace.domain.watch import KEPT_FOR, MOST_KEPT, MOST_WATCHES, Channel, Notice, Watch, WatchId, Wish, checked
from commonplace.engine.access import readable
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_TAKEN = 500
_BETWEEN_PRUNINGS = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class News:
    """A notice, with its memory as far as there still is one to be seen."""

    notice: Notice
    memory: Memory | None


@dataclass(frozen=True, slots=True)
class Taken:
    """News that nobody will be told again, and how many wait behind them."""

    news: Sequence[News]
    remaining: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """What there was to hear up to and with an event."""

    news: Sequence[News]
    through: int
    more: bool = False
    complete: bool = True
    """Whether nothing of it had been pruned."""


class Watches:
    """Everything here is a user's own. Of what he may not see at the moment of telling, he is told nothing."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._pruned_at: datetime | None = None

    async def add(self, actor: Actor, wish: Wish) -> Watch:
        """From now on the actor hears of what it wishes for, its own changes included."""
        require(actor, Permission.WRITE)
        require_whole(actor)
        wish = checked(wish)

        def work(tx: Transaction) -> Watch:
            now = self._clock.now()
            if wish.collection:
                _check_atlas(tx, wish.collection, readable(tx, actor, now))
            if len(tx.watches.of(actor.user)) >= MOST_WATCHES:
                raise Invalid("subscriptions", f"there are {MOST_WATCHES} already; remove one first")
            watch = Watch(WatchId(uuid7(now, secrets.token_bytes(RANDOM_BYTES))), actor.user, wish, now)
            tx.watches.add(watch)
            tx.doings.note(actor, now, "subscription created", watch.id)
            return watch

        return await self._store.write(work)

    async def remove(self, actor: Actor, watch: WatchId) -> Watch:
        """With all that it would have told."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Watch:
            found = next((one for one in tx.watches.of(actor.user) if one.id == watch), None)
            if found is None:
                raise NotFound("subscription", watch)
            tx.watches.remove(actor.user, watch)
            tx.doings.note(actor, self._clock.now(), "subscription removed", watch)
            return found

        return await self._store.write(work)

    async def all(self, actor: Actor) -> Sequence[Watch]:
        """The oldest first."""
        require(actor, Permission.READ)
        require_whole(actor)
        return await self._store.read(lambda tx: tx.watches.of(actor.user))

    # Fetching

    async def take(self, actor: Actor, limit: int) -> Taken:
        """The oldest news that wait to be fetched. Whoever comes first gets them, and nobody after."""
        require(actor, Permission.WRITE)
        require_whole(actor)
        limits.within("limit", limit, 1, MOST_TAKEN)
        # Looked up first: those who ask again and again must not keep others from writing.
        if not await self._store.read(lambda tx: tx.watches.has_notices(actor.user, Channel.MCP)):
            return Taken((), 0)
        news = await self._store.write(lambda tx: self._take(tx, actor, limit))
        return Taken(news, await self._store.read(lambda tx: self._waiting(tx, actor)))

    def _take(self, tx: Transaction, actor: Actor, limit: int) -> Sequence[News]:
        among = readable(tx, actor, self._clock.now())
        notices = tx.watches.notices(actor.user, Channel.MCP, among.collections, limit)
        # What may not be seen any more goes along with what is taken.
        through = notices[-1].event.number if len(notices) == limit else tx.last_event()
        tx.watches.drop(actor.user, Channel.MCP, through)
        return _news(tx, notices, among)

    def _waiting(self, tx: Reading, actor: Actor) -> int:
        return tx.watches.count_notices(actor.user, Channel.MCP, readable(tx, actor, self._clock.now()).collections)

    # Being told

    async def told(self, listeners: Iterable[tuple[Actor, int]], limit: int) -> Mapping[tuple[UserId, int], Stretch]:
        """What each user is to be told after an event, in one view of the store; nothing is taken by it."""
        asked = {(actor.user, after): actor for actor, after in listeners}

        def work(tx: Reading) -> dict[tuple[UserId, int], Stretch]:
            return {key: self._stretch(tx, actor, key[1], limit) for key, actor in asked.items()}

        return await self._store.read(work)

    def _stretch(self, tx: Reading, actor: Actor, after: int, limit: int) -> Stretch:
        require_whole(actor)
        last = tx.last_event()
        if after > last:  # the store was put back to an earlier state: what comes counts from there
            return Stretch((), last, complete=False)
        complete = tx.watches.pruned(actor.user, Channel.WEBSOCKET) <= after
        if not tx.watches.has_notices(actor.user, Channel.WEBSOCKET, after):
            return Stretch((), last, complete=complete)
        among = readable(tx, actor, self._clock.now())
        notices = tx.watches.notices(actor.user, Channel.WEBSOCKET, among.collections, limit, after)
        more = len(notices) == limit
        return Stretch(_news(tx, notices, among), notices[-1].event.number if more else last, more, complete)

    # Upkeep

    async def prune(self) -> int:
        """Let go of notices that nobody came for; how many there were."""
        now = self._clock.now()
        if self._pruned_at is not None and now - self._pruned_at < _BETWEEN_PRUNINGS:
            return 0
        self._pruned_at = now
        before = now - KEPT_FOR
        if not await self._store.read(lambda tx: tx.watches.overdue(before, MOST_KEPT)):
            return 0
        return await self._store.write(lambda tx: tx.watches.prune(before, MOST_KEPT))


def _check_atlas(tx: Reading, collection: CollectionId, among: Filter) -> None:
    found = tx.collections.get(collection)
    if found is None or found.kind != Kind.ATLAS or found.number not in among.collections:
        raise NotFound("atlas", collection)


def _news(tx: Reading, notices: Sequence[Notice], among: Filter) -> list[News]:
    numbers = sorted({notice.event.memory_number for notice in notices})
    there = {memory.number: memory for memory in tx.memories(numbers, among)}
    return [News(notice, there.get(notice.event.memory_number)) for notice in notices]
