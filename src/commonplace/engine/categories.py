"""The verbs on categories. A memory's first is its category in every dialect; these know of further ones too."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from commonplace.domain import label as rules
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import AlreadyExists, Invalid, NotFound
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import RANDOM_BYTES, uuid7
from commonplace.domain.label import BUILT_IN, MOST_CATEGORIES, Category, Counted, borne, built_in, fitting
from commonplace.domain.memory import Change, Memory
from commonplace.engine.access import changeable, readable
from commonplace.engine.memories import Memories, Reference
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_LISTED = 400
MOST_FOLLOWING = 10_000
"""Memories that can be changed along with their category, in one transaction."""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Survey:
    """The categories there are: everyone's, the caller's own, then those that memories only bear, by frequency."""

    entries: Sequence[Counted]
    total: int


@dataclass(frozen=True, slots=True)
class Categorised:
    """A memory with all its categories, and whether anything was changed just now."""

    memory: Memory
    categories: Sequence[Category]
    changed: bool = False


class Categories:
    """A category is known by its name. Some exist for everyone, a user makes others, some are only borne."""

    def __init__(self, store: Store, memories: Memories, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._clock = clock

    async def all(self, actor: Actor) -> Survey:
        """With how many memories the actor sees of each."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Survey:
            counts = tx.labels.category_counts(readable(tx, actor, now))
            known = [*built_in(), *(tx.labels.categories(actor.user) if _is_whole(actor) else ())]
            others = counts.keys() - {category.name for category in known}
            known += [Category(name) for name in counts if name in others]
            return Survey([Counted(one, counts.get(one.name, 0)) for one in known[:MOST_LISTED]], len(known))

        return await self._store.read(work)

    async def create(self, actor: Actor, name: str, description: str = "") -> Category:
        """One of the actor's own; memories may bear its name already."""
        _require_own(actor)
        name, description = rules.category_name(name), rules.description(description)

        def work(tx: Transaction) -> Category:
            _check_new(tx, actor, name)
            made = self._add(tx, actor, Category(name, description))
            tx.doings.note(actor, self._clock.now(), "category created", f"category:{made.id}")
            return made

        return await self._store.write(work)

    async def change(
        self, actor: Actor, category: str, *, name: str | None = None, description: str | None = None
    ) -> Counted:
        """Describe it or call it something else. The actor's memories follow; how many did."""
        _require_own(actor)
        if name is None and description is None:
            raise Invalid("name", "there is nothing to change: give a name, a description or both")
        name = None if name is None else rules.category_name(name)
        text = None if description is None else rules.description(description)

        def work(tx: Transaction) -> Counted:
            found, bearing = self._own(tx, actor, category)
            changed = replace(found, name=name or found.name, description=found.description if text is None else text)
            followed = 0
            if changed.name != found.name:
                self._check_free(tx, actor, changed.name)
                followed = self._follow(tx, actor, bearing, found.name, (changed.name,))
            changed = self._keep(tx, actor, changed)
            tx.doings.note(actor, self._clock.now(), "category changed", f"category:{changed.id}")
            return Counted(changed, followed)

        return await self._store.write(work)

    async def delete(self, actor: Actor, category: str) -> Counted:
        """It comes off the actor's memories; how many bore it."""
        _require_own(actor)

        def work(tx: Transaction) -> Counted:
            found, bearing = self._own(tx, actor, category)
            followed = self._follow(tx, actor, bearing, found.name, ())
            if found.id:
                tx.labels.remove_category(found.id)
            tx.doings.note(actor, self._clock.now(), "category deleted", f"category:{found.id}" if found.id else "")
            return Counted(found, followed)

        return await self._store.write(work)

    # On a memory

    async def of(self, actor: Actor, reference: Reference) -> Categorised:
        """The first, then the further ones."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> Categorised:
            return _seen(tx, actor, self._memories.found_in(tx, reference, readable(tx, actor, now)))

        return await self._store.read(work)

    async def attach(self, actor: Actor, reference: Reference, category: str) -> Categorised:
        """It becomes the first where there is none, else a further one; one that is there already stays."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Categorised:
            memory = self._memories.changing_in(tx, actor, reference)
            new, further = self._found(tx, actor, category).name, tx.labels.further(memory.number)
            names = borne(memory.category, further)
            if new not in names:
                names = (*names, new) if memory.category else (new, *names)
            return self._put(tx, actor, memory, names)

        return await self._store.write(work)

    async def detach(self, actor: Actor, reference: Reference, category: str) -> Categorised:
        """In place of the first comes the next; one that is not there is no fault."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Categorised:
            memory = self._memories.changing_in(tx, actor, reference)
            old, further = self._found(tx, actor, category).name, tx.labels.further(memory.number)
            names = borne(memory.category, further)
            if old not in names:
                return _seen(tx, actor, memory)
            return self._put(tx, actor, memory, [name for name in names if name != old])

        return await self._store.write(work)

    async def replace(self, actor: Actor, reference: Reference, categories: Iterable[str]) -> Categorised:
        """Exactly these, in this order; none of them leaves the memory without."""
        require(actor, Permission.WRITE)
        wanted = fitting(tuple(dict.fromkeys(categories)))

        def work(tx: Transaction) -> Categorised:
            memory = self._memories.changing_in(tx, actor, reference)
            names = tuple(dict.fromkeys(self._found(tx, actor, one).name for one in wanted))
            return self._put(tx, actor, memory, names)

        return await self._store.write(work)

    def _put(self, tx: Transaction, actor: Actor, memory: Memory, names: Sequence[str]) -> Categorised:
        """Give a memory these categories, and see what it has then."""
        fitting(names)
        changed = self._set(tx, actor, memory, names)
        among = changeable(tx, actor, self._clock.now())
        after = self._memories.found_in(tx, Reference(memory.id), among) if changed else memory
        return replace(_seen(tx, actor, after), changed=changed)

    def _set(self, tx: Transaction, actor: Actor, memory: Memory, names: Sequence[str]) -> bool:
        """The first by a revision, the others beside it; whether anything was to be done."""
        first, *rest = [*names] or [""]
        before = list(tx.labels.further(memory.number))
        if first == memory.category and tuple(names) == borne(first, before):
            return False
        if rest != before:
            self._put_further(tx, actor, memory, before, rest)
        if first != memory.category:
            self._memories.put_change_in(tx, actor, memory, Change(category=first), None, self._clock.now())
        return True

    def _put_further(
        self, tx: Transaction, actor: Actor, memory: Memory, before: Sequence[str], after: Sequence[str]
    ) -> None:
        gone, new = set(before) - set(after), set(after) - set(before)
        if gone:
            self._told(tx, actor, memory, attached=False)  # before, because those who watch it know it by these
        tx.labels.put_further(memory.number, after)
        if new or not gone:
            self._told(tx, actor, memory, attached=True)

    def _told(self, tx: Transaction, actor: Actor, memory: Memory, *, attached: bool) -> None:
        """Without the name: what is told outlives the memory."""
        detail = {"category": True, "attached": attached}
        where = (memory.id, memory.number, memory.home)
        tx.record(Happening(EventKind.LABELLED, self._clock.now(), actor.author, *where, detail))

    # Which

    def _found(self, tx: Reading, actor: Actor, category: str) -> Category:
        """By its id, or by a name that exists for everyone, for the actor, or on a memory it sees."""
        own = tx.labels.category(actor.user, category) if _is_whole(actor) else None
        found = own or _described(tx, actor, category)
        if found.id or found.is_built_in:
            return found
        if not tx.labels.bearing(category, readable(tx, actor, self._clock.now()), 1):
            raise NotFound("category", category)
        return found

    def _own(self, tx: Reading, actor: Actor, category: str) -> tuple[Category, Sequence[int]]:
        """One that is the actor's to change, and the memories that are to follow."""
        found = self._found(tx, actor, category)
        if found.is_built_in:
            raise Invalid("id", f"{found.name!r} exists for everyone and stays as it is; make one of your own")
        among = changeable(tx, actor, self._clock.now())
        bearing = tx.labels.bearing(found.name, among, MOST_FOLLOWING + 1, actor.user)
        if not found.id and not bearing:
            raise NotFound("category", category)
        return found, bearing

    def _follow(self, tx: Transaction, actor: Actor, bearing: Sequence[int], old: str, new: tuple[str, ...]) -> int:
        """Put another name, or none, in the place of one, on these memories."""
        if len(bearing) > MOST_FOLLOWING:
            reason = f"more than {MOST_FOLLOWING} memories bear it, too many to change at once; give some of them"
            raise Invalid("id", f"{reason} other categories first (category_replace_for_memory)")
        among = changeable(tx, actor, self._clock.now())
        for start in range(0, len(bearing), _BATCH):
            for memory in tx.memories(bearing[start : start + _BATCH], among):
                names = borne(memory.category, tx.labels.further(memory.number))
                renamed = [name for one in names for name in (new if one == old else (one,))]
                self._set(tx, actor, memory, renamed)
        return len(bearing)

    def _check_free(self, tx: Reading, actor: Actor, name: str) -> None:
        """A new name must not mix the memories of one category with those of another."""
        _check_new(tx, actor, name)
        if tx.labels.bearing(name, changeable(tx, actor, self._clock.now()), 1, actor.user):
            raise AlreadyExists("category", name)

    def _keep(self, tx: Transaction, actor: Actor, category: Category) -> Category:
        """One that was only borne until now becomes the actor's own."""
        if not category.id:
            return self._add(tx, actor, category)
        tx.labels.change_category(category)
        return category

    def _add(self, tx: Transaction, actor: Actor, category: Category) -> Category:
        if len(tx.labels.categories(actor.user)) >= MOST_CATEGORIES:
            raise Invalid("name", f"there are {MOST_CATEGORIES} categories already; delete one that is no longer used")
        now = self._clock.now()
        made = replace(category, id=uuid7(now, secrets.token_bytes(RANDOM_BYTES)), created_at=now)
        tx.labels.add_category(made, actor.user)
        return made


def _is_whole(actor: Actor) -> bool:
    """What a user has said about categories is for that user, not for whoever holds a key to a part."""
    return actor.limited_to is None


def _require_own(actor: Actor) -> None:
    require(actor, Permission.WRITE)
    require_whole(actor)


def _check_new(tx: Reading, actor: Actor, name: str) -> None:
    if name in BUILT_IN or tx.labels.category_named(actor.user, name):
        raise AlreadyExists("category", name)


def _described(tx: Reading, actor: Actor, name: str) -> Category:
    """What the actor may know of a category by its name."""
    if name in BUILT_IN:
        return Category(name, BUILT_IN[name])
    own = tx.labels.category_named(actor.user, name) if _is_whole(actor) else None
    return own or Category(name)


def _seen(tx: Reading, actor: Actor, memory: Memory) -> Categorised:
    names = borne(memory.category, tx.labels.further(memory.number))
    return Categorised(memory, [_described(tx, actor, name) for name in names])
