"""The verbs on collections: found, describe, share and dissolve them; choose where to look; move memories."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, reach, require, require_whole
from commonplace.domain.collection import (
    MEMBER_REMOVED,
    Collection,
    Dissolved,
    Kind,
    Member,
    Scope,
    Standing,
    described,
)
from commonplace.domain.credential import User
from commonplace.domain.errors import AlreadyExists, Forbidden, Invalid, NotFound, NotTheAuthor
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, UserId, uuid7
from commonplace.domain.memory import SHORTEST_TTL, Ephemeral, Memory
from commonplace.engine.access import changeable, narrowed, readable, require_writable
from commonplace.engine.memories import Memories, Reference
from commonplace.engine.places import Place, inhabited, place_of
from commonplace.ports import Clock, Reading, Slice, Store, Transaction

_BATCH = 500
MOST_CLEARED = 10_000


@dataclass(frozen=True, slots=True)
class Survey:
    """Memories in figures: by domain and category, their links by kind, their most frequent tags."""

    slices: Sequence[Slice]
    links: Mapping[str, int]
    tags: Sequence[tuple[str, int]]
    places: Sequence[Place] = ()


class Collections:
    """Sharing. A collection's owner decides who is in it; its memories are read and written by right."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    # Founding and finding

    async def found(
        self, actor: Actor, kind: Kind, name: str, description: str = "", *, length: timedelta | None = None
    ) -> Standing:
        """A new collection, owned by who asks; with a length, it ends by itself."""
        require(actor, Permission.WRITE)
        require_whole(actor)
        name = limits.label("name", name)
        description = described(description)

        def work(tx: Transaction) -> Standing:
            now = self._clock.now()
            identifier = CollectionId(uuid7(now, secrets.token_bytes(RANDOM_BYTES)))
            domain = kind.domain.value
            number = tx.add_collection(identifier, kind.value, domain, name, actor.user, now)
            collection = Collection(number, identifier, kind.value, domain, name, actor.user, now)
            ends_at = now + length if length else None
            collection = replace(collection, ends_at=ends_at, metadata={"description": description})
            tx.collections.describe(collection)
            _note(tx, actor, now, collection, "created")
            return Standing(collection, Right.ADMIN, 0, 1)

        return await self._store.write(work)

    async def all(self, actor: Actor, kind: Kind) -> list[Standing]:
        """Those the actor is in, the newest first."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> list[Standing]:
            within = reach(actor, Right.READ, tx.holdings(actor.user), now)
            found = [c for c in tx.collections.among(kind.value, within) if not c.is_over(now)]
            sizes = tx.collections.sizes((c.number for c in found), now)
            return [_standing(tx, actor, c, sizes.get(c.number, 0)) for c in found]

        return await self._store.read(work)

    async def get(self, actor: Actor, kind: Kind, collection: CollectionId) -> Standing:
        """One of them, or NotFound, which also stands for one the actor is not in."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Standing:
            return self._standing(tx, actor, self._seen(tx, actor, kind, collection, now))

        return await self._store.read(work)

    async def members(self, actor: Actor, kind: Kind, collection: CollectionId) -> Sequence[Member]:
        require(actor, Permission.READ)
        now = self._clock.now()
        return await self._store.read(
            lambda tx: tx.collections.members(self._seen(tx, actor, kind, collection, now).number)
        )

    # Changing

    async def describe(
        self, actor: Actor, kind: Kind, collection: CollectionId, name: str | None, description: str | None
    ) -> Standing:
        """A new name or description, given by anyone who may write there."""
        require(actor, Permission.WRITE)
        name = None if name is None else limits.label("name", name)
        text = None if description is None else described(description)

        def work(tx: Transaction) -> Standing:
            found = self._held(tx, actor, kind, collection, Right.WRITE)
            metadata = {**found.metadata, **({} if text is None else {"description": text})}
            changed = replace(found, name=name or found.name, metadata=metadata)
            tx.collections.describe(changed)
            _note(tx, actor, self._clock.now(), changed, "changed")
            return self._standing(tx, actor, changed)

        return await self._store.write(work)

    async def add_member(self, actor: Actor, kind: Kind, collection: CollectionId, user: str, right: Right) -> Member:
        """Let a user in, by name or id; the owner decides."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Member:
            now = self._clock.now()
            found = self._held(tx, actor, kind, collection, Right.ADMIN)
            who = _user(tx, user)
            if any(member.user == who.id for member in tx.collections.members(found.number)):
                raise AlreadyExists("member", who.name)
            tx.grant(who.id, found.number, right, actor.user, now)
            tx.doings.note(actor, now, "project member added", f"{found.id}/{who.id}")
            return Member(who.id, who.name, right, False, now)

        return await self._store.write(work)

    async def remove_member(self, actor: Actor, kind: Kind, collection: CollectionId, user: str) -> Member:
        """Let a user go; the owner decides, and everyone may leave."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Member:
            found = self._seen(tx, actor, kind, collection, self._clock.now())
            member = next((m for m in tx.collections.members(found.number) if user in (m.user, m.name)), None)
            if member is None:
                raise NotFound("member", user)
            if member.owner:
                raise Invalid("user_id", "the owner cannot be removed; delete the project instead")
            if member.user != actor.user:
                self._held(tx, actor, kind, collection, Right.ADMIN)
            tx.collections.ungrant(found.number, member.user)
            tx.doings.note(actor, self._clock.now(), MEMBER_REMOVED, f"{found.id}/{member.user}")
            return member

        return await self._store.write(work)

    async def dissolve(self, actor: Actor, kind: Kind, collection: CollectionId) -> Dissolved:
        """End a collection. Each memory goes back to who wrote it; nothing is lost."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Dissolved:
            found = self._held(tx, actor, kind, collection, Right.ADMIN)
            numbers = _numbers(tx, found.number)
            authors = Counter(self._move_home(tx, actor, number, found) for number in numbers)
            tx.collections.remove(found.number)
            _note(tx, actor, self._clock.now(), found, "deleted")
            return Dissolved(found, moved=len(numbers), authors=authors)

        return await self._store.write(work)

    def _move_home(self, tx: Transaction, actor: Actor, number: int, found: Collection) -> UserId:
        memory = tx.memories([number], self._memories.everything_in(found.number))[0]
        self.move_in(tx, actor, memory, tx.home(memory.author.user))
        return memory.author.user

    # Sessions

    async def end_session(self, actor: Actor, collection: CollectionId) -> Dissolved:
        """End a session; what was not promoted goes with it."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Dissolved:
            return self._end(tx, self._held(tx, actor, Kind.SESSION, collection, Right.ADMIN), actor)

        return await self._store.write(work)

    async def sweep(self) -> int:
        """End the sessions whose time is over; how many there were."""
        now = self._clock.now()
        over = await self._store.read(lambda tx: tx.collections.ended(Kind.SESSION.value, now, 10))

        def work(tx: Transaction) -> None:
            for one in over:
                if tx.collections.numbered(one.number):
                    self._end(tx, one, None)

        if over:
            await self._store.write(work)
        return len(over)

    def _end(self, tx: Transaction, session: Collection, actor: Actor | None) -> Dissolved:
        now = self._clock.now()
        numbers = _numbers(tx, session.number)
        for memory in tx.memories(numbers, self._memories.everything_in(session.number)):
            by = actor.author if actor else memory.author
            self._memories.erase_in(tx, memory, by, now, EventKind.FORGOTTEN if actor else EventKind.EXPIRED)
        tx.collections.remove(session.number)
        return Dissolved(session, removed=len(numbers))

    async def switch_session(self, actor: Actor, collection: CollectionId) -> Standing:
        """From now on the caller's connection works in this session when it names none."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Standing:
            found = self._seen(tx, actor, Kind.SESSION, collection, self._clock.now())
            tx.collections.set_current_session(actor.user, actor.author.session, found.number)
            return self._standing(tx, actor, found)

        return await self._store.write(work)

    async def current_session(self, actor: Actor) -> Collection | None:
        """Of the caller's connection: agents that share a key, or a folder, must not work in each other's."""
        now = self._clock.now()
        found = await self._store.read(lambda tx: tx.collections.current_session(actor.user, actor.author.session))
        return found if found and not found.is_over(now) else None

    # Looking and moving

    async def narrowed(self, actor: Actor, scope: Scope) -> Actor:
        """The same caller, looking only where the scope says, as far as it may look there."""
        require(actor, Permission.READ)
        return await self._store.read(lambda tx: narrowed(tx, actor, scope))

    async def survey(self, actor: Actor, tags: int) -> Survey:
        """What the actor may see, in figures."""
        now = self._clock.now()

        def work(tx: Reading) -> Survey:
            among = readable(tx, actor, now)
            counted = tx.collections.tag_counts(among, tags) if tags else ()
            links, places = tx.links.counts(among.collections), inhabited(tx, among)
            return Survey(tx.collections.breakdown(among), links, counted, places)

        return await self._store.read(work)

    async def places(self, actor: Actor) -> Sequence[Place]:
        """The places that are no domain of their own and hold something that the actor may see."""
        now = self._clock.now()
        return await self._store.read(lambda tx: inhabited(tx, readable(tx, actor, now)))

    async def place_of(self, memory: Memory) -> Place | None:
        """In which of them a memory is that the caller has seen."""
        return await self._store.read(lambda tx: place_of(tx, tx.collections.numbered(memory.home)))

    async def clear_sessions(self, actor: Actor, before: datetime, only: CollectionId | None) -> int:
        """Remove the session memories that the actor may change and that are older; how many there were."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> int:
            now = self._clock.now()
            among = changeable(tx, actor, now)
            sessions = tx.collections.among(Kind.SESSION.value, among.collections)
            chosen = frozenset(c.number for c in sessions if only in (None, c.id))
            old = tx.page(replace(among, collections=chosen, until=before), MOST_CLEARED).memories
            for memory in old:
                self._memories.erase_in(tx, memory, actor.author, now)
            return len(old)

        return await self._store.write(work)

    async def of_kind(self, kind: Kind, numbers: Iterable[int]) -> Mapping[int, CollectionId]:
        """Which of the collections that memories lie in are of a kind; who sees a memory may know where it is."""
        wanted = sorted(numbers)
        found = await self._store.read(lambda tx: tx.collections.among(kind.value, wanted))
        return {collection.number: collection.id for collection in found}

    async def everyones(self) -> CollectionId:
        """The collection that all may read."""

        def work(tx: Reading) -> CollectionId:
            found = tx.collections.numbered(tx.collections.everyones())
            assert found
            return found.id

        return await self._store.read(work)

    async def move(self, actor: Actor, references: Iterable[Reference], target: CollectionId | None) -> list[Memory]:
        """Put memories into another collection, all or none; None is each author's own. Those that were not there."""
        require(actor, Permission.WRITE)
        wanted = list(references)

        def work(tx: Transaction) -> list[Memory]:
            now = self._clock.now()
            home = tx.home(actor.user) if target is None else self._number(tx, target)
            require_writable(tx, actor, home, now)
            named = (self._memories.changing_in(tx, actor, reference) for reference in wanted)
            found = list({memory.number: memory for memory in named}.values())  # by its id and by its block it is one
            for memory in found:
                check_may_move(tx, actor, memory)
            goals = [tx.home(memory.author.user) if target is None else home for memory in found]
            both = zip(found, goals, strict=True)
            return [self.move_in(tx, actor, memory, goal) for memory, goal in both if goal != memory.home]

        return await self._store.write(work)

    def move_in(self, tx: Transaction, actor: Actor, memory: Memory, home: int) -> Memory:
        """As part of a larger change. Into a session a memory ends with it; out of one it stays."""
        now = self._clock.now()
        tx.collections.move(memory.number, home)
        target = tx.collections.numbered(home)
        if target and target.kind == Kind.SESSION:
            tx.set_end(memory.number, _until(target, now))
        elif memory.domain == Kind.SESSION and memory.ephemeral:
            tx.set_end(memory.number, None)
            self._memories.seal_in(tx, memory, now)
        ways = {"from": memory.home, "to": home}
        for collection in dict.fromkeys((memory.home, home)):  # both sides hear of it
            tx.record(Happening(EventKind.MOVED, now, actor.author, memory.id, memory.number, collection, ways))
        return replace(memory, home=home, collection=target.id, domain=target.domain) if target else memory

    # Who is in

    def _seen(self, tx: Reading, actor: Actor, kind: Kind, collection: CollectionId, now: datetime) -> Collection:
        found = tx.collections.get(collection)
        within = readable(tx, actor, now).collections
        if found is None or found.kind != kind or found.number not in within or found.is_over(now):
            raise NotFound(kind.value, collection)
        return found

    def _held(self, tx: Reading, actor: Actor, kind: Kind, collection: CollectionId, right: Right) -> Collection:
        """One on which the actor has the right; Forbidden where it only sees it."""
        now = self._clock.now()
        found = self._seen(tx, actor, kind, collection, now)
        if found.number not in reach(actor, right, tx.holdings(actor.user), now) and found.owner != actor.user:
            raise Forbidden(f"{kind.value}:{right.value}", actor.tool)
        return found

    def _standing(self, tx: Reading, actor: Actor, found: Collection) -> Standing:
        sizes = tx.collections.sizes([found.number], self._clock.now())
        return _standing(tx, actor, found, sizes.get(found.number, 0))

    def _number(self, tx: Reading, collection: CollectionId) -> int:
        found = tx.collections.get(collection)
        if found is None:
            raise NotFound("collection", collection)
        return found.number


def _note(tx: Transaction, actor: Actor, now: datetime, collection: Collection, what: str) -> None:
    """Of projects: sessions come and go with every conversation."""
    if collection.kind == Kind.PROJECT:
        tx.doings.note(actor, now, f"project {what}", collection.id)


def session_ttl(session: Collection, now: datetime) -> timedelta:
    """How long a memory of a session lives."""
    return _until(session, now).ttl


def _until(session: Collection, now: datetime) -> Ephemeral:
    left = max((session.ends_at or now) - now, SHORTEST_TTL)
    return Ephemeral(left, now + left)


def check_may_move(tx: Reading, actor: Actor, memory: Memory) -> None:
    """Its author, or who owns the collection it is in: writing in a project is no right to carry things out of it."""
    place = tx.collections.numbered(memory.home)
    if actor.user not in (memory.author.user, place.owner if place else None):
        raise NotTheAuthor("author", "moving a memory to another place")


def _standing(tx: Reading, actor: Actor, collection: Collection, size: int) -> Standing:
    members = tx.collections.members(collection.number)
    right = next((member.right for member in members if member.user == actor.user), Right.READ)
    return Standing(collection, right, size, len(members))


def _numbers(tx: Reading, collection: int) -> list[int]:
    numbers: list[int] = []
    while some := tx.collections.numbers_within(collection, numbers[-1] if numbers else 0, _BATCH):
        numbers += some
    return numbers


def _user(tx: Reading, name: str) -> User:
    if user := tx.user(UserId(name)) or tx.user_named(name):
        return user
    raise NotFound("user", name)
