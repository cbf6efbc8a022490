"""The verbs on shared contexts: places where several work together for a while.

Who is in a context reads and writes all that lies in it. What an author lends to it, or writes in it, lies on a shelf
below it, which is his own: so he finds his memories when the context has ended, at once and without anyone having moved
them, and nobody else does. Upkeep then carries each of them back to where it lived before, or, where that is gone or
never was, to its author's home.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, require, require_whole
from commonplace.domain.collection import Collection, Kind, described
from commonplace.domain.context import MOST_INVITED, Context, Guest, Invitation, Invitee
from commonplace.domain.errors import Forbidden, Invalid, NotFound
from commonplace.domain.identifiers import CollectionId, UserId
from commonplace.domain.memory import Memory
from commonplace.domain.team import TeamId
from commonplace.engine import shelves
from commonplace.engine.access import LOCAL, readable, require_writable
from commonplace.engine.collections import Collections, check_may_move
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Clock, Page, Reading, Store, Transaction

MOST_LISTED = 100
_BATCH = 200
"""How many memories are carried home in one go: others wait for the store meanwhile."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A shared context with the newest of its memories."""

    context: Context
    page: Page


@dataclass(frozen=True, slots=True)
class Joined:
    """What joining came to."""

    context: Context
    anew: bool
    """Whether the caller was not in it before."""
    invited: int
    """How many were invited along."""


@dataclass(frozen=True, slots=True)
class Lent:
    """A memory in a shared context."""

    memory: Memory
    context: Context
    anew: bool
    """Whether it was not there before."""


@dataclass(frozen=True, slots=True)
class Left:
    """A shared context without the caller; its owner's leaving is its end."""

    collection: Collection
    ended: bool
    returned: int = 0


class Contexts:
    """Working together for a while."""

    def __init__(self, store: Store, memories: Memories, collections: Collections, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._collections = collections
        self._clock = clock

    # Finding

    async def all(self, actor: Actor) -> list[Context]:
        """Those the actor is in, the newest first; then those it may join."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> list[Context]:
            within = readable(tx, actor, now).collections
            joined = [c for c in tx.collections.among(Kind.CONTEXT.value, within) if not c.is_over(now)]
            waiting = [] if actor.limited_to is not None else _waiting(tx, actor.user, now, within)
            return [self._seen(tx, one, now) for one in joined] + [_invited(tx, one) for one in waiting]

        return await self._store.read(work)

    async def get(self, actor: Actor, context: CollectionId) -> Opened:
        """One the actor is in, with its memories; NotFound also stands for one it is not in."""
        now = self._clock.now()

        def work(tx: Reading) -> Opened:
            found = self._joined(tx, actor, context)
            among = readable(tx, actor, now)
            inside = replace(among, collections=among.collections & _places(tx, found))
            return Opened(self._seen(tx, found, now), tx.page(inside, MOST_LISTED))

        return await self._store.read(work)

    async def around(self, places: Iterable[int]) -> Mapping[int, CollectionId]:
        """The contexts that memories lie in, by the number of their place; who sees a memory may know where it is."""
        wanted = sorted(places)
        return await self._store.read(lambda tx: shelves.contexts_around(tx, wanted))

    def _seen(self, tx: Reading, found: Collection, now: datetime) -> Context:
        sizes = tx.collections.sizes(_places(tx, found), now)
        members = tx.collections.members(found.number)
        return Context(found, _name(tx, found.owner), True, members, sum(sizes.values()))

    def _joined(self, tx: Reading, actor: Actor, context: CollectionId) -> Collection:
        now = self._clock.now()
        found = tx.collections.get(context)
        if found is None or found.kind != Kind.CONTEXT or found.number not in readable(tx, actor, now).collections:
            raise NotFound("context", context)
        return found

    # Coming and going

    async def create(
        self, actor: Actor, name: str, about: str = "", length: timedelta | None = None, invite: Sequence[Invitee] = ()
    ) -> Joined:
        """A new context, owned by who asks; with a length, it ends by itself."""
        require(actor, Permission.WRITE)
        require_whole(actor)
        name, about = limits.label("name", name), described(about)
        if length is not None:
            limits.ttl(length, "ttlSeconds")

        def work(tx: Transaction) -> Joined:
            now = self._clock.now()
            found = shelves.found(tx, Kind.CONTEXT, name, actor.user, now, ends_at=now + length if length else None)
            found = replace(found, metadata={"description": about})
            tx.collections.describe(found)
            invited = _invite(tx, actor, found, invite, now)
            tx.doings.note(actor, now, "context created", found.id)
            return Joined(self._seen(tx, found, now), True, invited)

        return await self._store.write(work)

    async def join(self, actor: Actor, context: CollectionId, invite: Sequence[Invitee] = ()) -> Joined:
        """Come in, where one was invited; its owner may invite others."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Joined:
            now = self._clock.now()
            found, anew = self._entered(tx, actor, context, now)
            invited = _invite(tx, actor, found, invite, now)
            return Joined(self._seen(tx, found, now), anew, invited)

        return await self._store.write(work)

    def _entered(self, tx: Transaction, actor: Actor, context: CollectionId, now: datetime) -> tuple[Collection, bool]:
        waiting = next((one for one in _waiting(tx, actor.user, now, frozenset()) if one.id == context), None)
        within = readable(tx, actor, now).collections
        if waiting is None or waiting.number in within:
            return self._joined(tx, actor, context), False
        tx.grant(actor.user, waiting.number, Right.WRITE, waiting.owner or actor.user, now)
        tx.collections.uninvite(waiting.number, actor.user)
        tx.doings.note(actor, now, "context joined", waiting.id)
        return waiting, True

    async def leave(self, actor: Actor, context: CollectionId) -> Left:
        """Go; what one has lent stays for the others. When the owner goes the context ends, and all goes home."""
        require(actor, Permission.WRITE)
        require_whole(actor)

        def work(tx: Transaction) -> Left:
            now = self._clock.now()
            found = self._joined(tx, actor, context)
            ends = found.owner == actor.user
            if ends:
                _end(tx, found, now)
            else:
                tx.collections.ungrant(found.number, actor.user)
            what = "context ended" if ends else "context left"
            tx.doings.note(actor, now, what, found.id)
            return Left(found, ends)

        left = await self._store.write(work)
        return replace(left, returned=await self._emptied(left.collection, actor)) if left.ended else left

    # Lending

    async def add(self, actor: Actor, context: CollectionId, reference: Reference) -> Lent:
        """Lend a memory: it lives in the context until that ends. For its author and who owns the place it is in."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Lent:
            now = self._clock.now()
            found = self._joined(tx, actor, context)
            require_writable(tx, actor, found.number, now)
            memory = self._memories.changing_in(tx, actor, reference)
            if memory.home in _places(tx, found):
                return Lent(memory, self._seen(tx, found, now), False)
            check_may_move(tx, actor, memory)
            moved = self._lent(tx, actor, memory, found, now)
            return Lent(moved, self._seen(tx, found, now), True)

        return await self._store.write(work)

    def _lent(self, tx: Transaction, actor: Actor, memory: Memory, context: Collection, now: datetime) -> Memory:
        place = tx.collections.numbered(memory.home)
        lent_before = tx.collections.lent_from(memory.number) if place and place.kind == Kind.SHELF else None
        tx.collections.lend(memory.number, lent_before or memory.home)
        shelf = shelves.shelf(tx, context, memory.author.user, now)
        return self._collections.move_in(tx, actor, memory, shelf.number)

    # Ending

    async def sweep(self) -> int:
        """Carry home what lies in contexts whose time is over; how many memories there were."""
        now = self._clock.now()
        over = await self._store.read(lambda tx: tx.collections.ended(Kind.CONTEXT.value, now, 10))
        return sum([await self._emptied(one) for one in over])

    async def _emptied(self, context: Collection, actor: Actor | None = None) -> int:
        returned = 0
        while (count := await self._store.write(lambda tx: self._return_some(tx, context, actor))) is not None:
            returned += count
        return returned

    def _return_some(self, tx: Transaction, context: Collection, actor: Actor | None) -> int | None:
        """The next few; when there are none, the context itself goes, and None is told. Others may do the same."""
        places = tx.collections.below([context.id])
        for place in places:
            numbers = tx.collections.numbers_within(place.number, 0, _BATCH)
            for memory in tx.memories(numbers, self._memories.everything_in(place.number)):
                self._return(tx, actor or _author(memory), memory)
            if numbers:
                return len(numbers)
        for place in reversed(places):  # what lies below first
            tx.collections.remove(place.number)
        return None

    def _return(self, tx: Transaction, actor: Actor, memory: Memory) -> None:
        home = tx.collections.lent_from(memory.number)
        tx.collections.give_back(memory.number)
        self._collections.move_in(tx, actor, memory, home or tx.home(memory.author.user))


def _waiting(tx: Reading, user: UserId, now: datetime, without: frozenset[int]) -> list[Collection]:
    """The contexts that a user may join."""
    numbers = dict.fromkeys(one.collection for one in tx.collections.invitations_of(user))
    found = [tx.collections.numbered(number) for number in numbers if number not in without]
    return [one for one in found if one and one.kind == Kind.CONTEXT and not one.is_over(now)]


def _invited(tx: Reading, found: Collection) -> Context:
    return Context(found, _name(tx, found.owner), False)


def _places(tx: Reading, context: Collection) -> frozenset[int]:
    """The context and the shelves below it."""
    return frozenset(one.number for one in tx.collections.below([context.id]))


def _name(tx: Reading, user: UserId | None) -> str:
    found = tx.user(user) if user else None
    return found.name if found else ""


def _end(tx: Transaction, context: Collection, now: datetime) -> None:
    for place in tx.collections.below([context.id]):
        tx.collections.describe(replace(place, ends_at=now))


def _author(memory: Memory) -> Actor:
    """On whose behalf a memory goes home by itself."""
    return Actor(memory.author.user, LOCAL, frozenset(), ZoneInfo("UTC"), tool="upkeep")


def _invite(tx: Transaction, actor: Actor, context: Collection, guests: Sequence[Invitee], now: datetime) -> int:
    """Who is in already needs no invitation."""
    if not guests:
        return 0
    if context.owner != actor.user:
        raise Forbidden("context:owner", "inviting others to a shared context")
    limits.within("invite", len(guests), 1, MOST_INVITED)
    inside = {member.user for member in tx.collections.members(context.number)}
    invitations = [_invitation(tx, actor, context, guest, now) for guest in dict.fromkeys(guests)]
    new = [one for one in invitations if one.subject not in inside]
    for one in new:
        tx.collections.invite(one)
        tx.doings.note(actor, now, "invited to context", one.subject)
    return len(new)


def _invitation(tx: Reading, actor: Actor, context: Collection, guest: Invitee, now: datetime) -> Invitation:
    """To a user by id or name, who decides whether to join, or to a team that the actor is in."""
    name = limits.label("invite", guest.name)
    if guest.kind is not Guest.TEAM and (user := tx.user(UserId(name)) or tx.user_named(name)):
        return Invitation(context.number, Guest.USER, user.id, actor.user, now)
    if guest.kind is not Guest.USER and (team := _team(tx, actor, name)):
        return Invitation(context.number, Guest.TEAM, team, actor.user, now)
    raise NotFound((guest.kind or Guest.USER).value, guest.written)


def _team(tx: Reading, actor: Actor, name: str) -> TeamId | None:
    if tx.teams.role(TeamId(name), actor.user):
        return TeamId(name)
    mine = [one.team for one in tx.teams.of_user(actor.user, MOST_LISTED) if one.team.name == name]
    if len(mine) > 1:
        raise Invalid("invite", f"{name[:80]!r} is the name of {len(mine)} of your teams; write teams:UUID")
    return mine[0].id if mine else None
