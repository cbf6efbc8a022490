"""The verbs on addresses: look, plant, alias, edit, prune; what is new, what has no place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.address import MAX_NAMES, PLACELESS, Address, title
from commonplace.domain.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from commonplace.domain.event import Event, EventKind, Happening
from commonplace.domain.filter import Filter
from commonplace.domain.memory import Change, Draft, Memory
from commonplace.domain.outline import Outline, outline
from commonplace.domain.path import Amendment, Branch, Orphan, Path, Place, disclosure, priority
from commonplace.domain.ways import Ways
from commonplace.engine import trees
from commonplace.engine.access import changeable, readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked, checked_change
from commonplace.ports import Clock, Reading, Store, Transaction

MOST_CHILDREN = 1000
MOST_ADDRESSES = 100
USUAL_ALIAS_PRIORITY = 0


@dataclass(frozen=True, slots=True)
class Node:
    """What stands at an address, and the first of what stands below it. A root has no memory of its own."""

    address: Address
    memory: Memory | None
    path: Path | None
    branches: tuple[Branch, ...] = ()
    total: int = 0

    @property
    def left_out(self) -> int:
        return self.total - len(self.branches)


@dataclass(frozen=True, slots=True)
class Signpost:
    """What stands at a path, its priority and its disclosure; None leaves one as it is, or as is usual."""

    priority: int | None = None
    disclosure: str | None = None

    def checked(self) -> Signpost:
        return Signpost(
            None if self.priority is None else priority(self.priority),
            None if self.disclosure is None else disclosure(self.disclosure),
        )


class Paths:
    """The tree of one user's addresses. It stands beside the memories: removing a path never removes a text."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    # Looking

    async def look(self, actor: Actor, address: Address, most: int = MOST_CHILDREN) -> Node:
        """The memory at an address with its children, by priority and name."""
        now = self._clock.now()
        return await self._store.read(lambda tx: _node(tx, actor, address, most, now))

    async def page(self, actor: Actor, after: int, limit: int) -> tuple[Sequence[Branch], Ways]:
        """Paths in the order of their making, from one on, and how to find where each is."""
        now = self._clock.now()

        def work(tx: Reading) -> tuple[Sequence[Branch], Ways]:
            among, tree = _view(tx, actor, now)
            branches = tx.paths.after(tree, after, among, limit)
            return branches, trees.ways_to(tx, tree, [branch.path.memory for branch in branches])

        return await self._store.read(work)

    async def outline(self, actor: Actor, most: int) -> Outline:
        """Every path at a glance, or as many levels of them as may be shown."""
        now = self._clock.now()

        def work(tx: Reading) -> Outline:
            among, tree = _view(tx, actor, now)
            return outline(tx.paths.stems(tree, among), most)

        return await self._store.read(work)

    async def recent(self, actor: Actor, limit: int) -> list[Node]:
        """The memories with a path that were changed last, the latest first."""
        now = self._clock.now()

        def work(tx: Reading) -> list[Node]:
            among, tree = _view(tx, actor, now)
            return _placed(tx, tree, tx.paths.latest(tree, among, limit), among)

        return await self._store.read(work)

    async def orphans(self, actor: Actor, limit: int, offset: int = 0) -> tuple[list[Orphan], int]:
        """Memories that have lost their last path, the latest first; and how many there are."""
        now = self._clock.now()

        def work(tx: Reading) -> tuple[list[Orphan], int]:
            among, tree = _view(tx, actor, now)
            lost = tx.paths.orphans(tree, among, limit, offset)
            by_number = {memory.number: memory for memory in tx.memories([number for number, *_ in lost], among)}
            found = [Orphan(by_number[n], last, since) for n, last, since in lost if n in by_number]
            return found, tx.paths.count_orphans(tree, among)

        return await self._store.read(work)

    async def pathless(self, actor: Actor, limit: int) -> tuple[Sequence[Memory], int]:
        """Memories without a path, the latest first; and how many there are."""
        now = self._clock.now()

        def work(tx: Reading) -> tuple[Sequence[Memory], int]:
            among, tree = _view(tx, actor, now)
            found = tx.memories(tx.paths.pathless(tree, among, limit), among)
            return found, tx.paths.count_pathless(tree, among)

        return await self._store.read(work)

    async def addresses(self, actor: Actor, memory: Memory, most: int = MOST_ADDRESSES) -> list[Address]:
        """All addresses of a memory, as far as there are not too many."""
        now = self._clock.now()

        def work(tx: Reading) -> list[Address]:
            _, tree = _view(tx, actor, now)
            return trees.ways_to(tx, tree, [memory.number]).every(memory.number, most)

        return await self._store.read(work)

    async def touched(self, actor: Actor, event: Event) -> list[Address]:
        """The addresses whose pages an event has changed: the memory's own, and those of what stands above it."""
        now = self._clock.now()

        def work(tx: Reading) -> list[Address]:
            _, tree = _view(tx, actor, now)
            amended = [amendment.path for amendment in tx.paths.amendments([event.number])]
            near = [*tx.paths.to(tree, event.memory_number), *(path for path in amended if path.place.tree == tree)]
            above = [path.place.parent for path in near if path.place.parent is not None]
            ways = trees.ways_to(tx, tree, [event.memory_number, *above])
            roots = [Address(path.place.domain) for path in near if path.place.parent is None]
            pages = [a for number in (event.memory_number, *above) for a in ways.every(number, MOST_ADDRESSES)]
            return [*pages, *roots, *(a for path in amended for a in ways.through(path, MOST_ADDRESSES))]

        return await self._store.read(work)

    async def has_children(self, actor: Actor, memory: int) -> bool:
        """Whether anything stands below a memory, by its number."""
        now = self._clock.now()
        return await self._store.read(lambda tx: bool(tx.paths.below(_view(tx, actor, now)[1], memory)))

    # Planting

    async def plant(
        self, actor: Actor, parent: Address, draft: Draft, signpost: Signpost, name: str | None = None
    ) -> Node:
        """Keep a text at a new address; without a name it gets the next number."""
        require(actor, Permission.WRITE)
        _check_place(parent.child(title(name) if name is not None else "0"), "parent_uri")
        signpost, draft = signpost.checked(), checked(draft)
        prints = await self._embedding.prints(draft.content)

        def work(tx: Transaction) -> Node:
            place, _ = self._place(tx, actor, parent)
            chosen = title(name) if name is not None else _next_title(tx, place)
            _check_free(tx, place, parent.child(chosen))
            memory = self._memories.remember_in(tx, actor, draft, prints)
            path = self._grow(tx, actor, place, chosen, memory, signpost)
            return Node(parent.child(chosen), memory, path)

        return await self._store.write(work)

    async def alias(self, actor: Actor, new: Address, target: Address, signpost: Signpost) -> Node:
        """Another way to a memory; what stands below it is reached through it as well."""
        require(actor, Permission.WRITE)
        if new.is_root:
            raise Invalid("new_uri", f"{new} is the root of a domain; give a path in it")
        title(new.name, "new_uri")
        _check_place(new, "new_uri")
        signpost = signpost.checked()

        def work(tx: Transaction) -> Node:
            place, among = self._place(tx, actor, new.parent)
            memory, _ = trees.found(tx, place.tree, target, readable(tx, actor, among.now))
            _check_free(tx, place, new)
            trees.check_acyclic(tx, place, memory.number, str(new), str(target))
            return Node(new, memory, self._grow(tx, actor, place, new.name, memory, signpost))

        return await self._store.write(work)

    # Changing

    async def edit(
        self, actor: Actor, address: Address, seen: Memory, *, content: str | None = None, signpost: Signpost
    ) -> Node:
        """Change the text of a memory as it was seen, the signpost of its path, or both: all of it, or Conflict."""
        require(actor, Permission.WRITE)
        signpost = signpost.checked()
        change = None if content is None else checked_change(Change(content=content))
        prints = await self._memories.prints_of(change) if change else None

        def work(tx: Transaction) -> Node:
            among, tree = _view(tx, actor, self._clock.now())
            memory, path = trees.found(tx, tree, address, among)
            if (memory.id, memory.version) != (seen.id, seen.version):
                raise Conflict("memory", str(address))
            if change:
                memory = self._memories.revise_in(tx, actor, Reference(memory.id), change, prints, seen.version)
            return Node(address, memory, self._relabel(tx, actor, memory, path, signpost))

        return await self._store.write(work)

    async def prune(self, actor: Actor, address: Address) -> Node:
        """Remove a path. The memory stays; so does a way to everything below it, or this is refused."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Node:
            now = self._clock.now()
            tree = self._own_tree(tx, actor, now)
            memory, path = trees.found(tx, tree, address, readable(tx, actor, now))
            if path is None:
                raise Invalid("uri", f"{address} names a memory, not a path to it; only paths can be deleted")
            trees.check_not_stranding(tx, path, address)
            self.cut(tx, actor, memory, path, str(address))
            return Node(address, memory, path)

        return await self._store.write(work)

    def cut(self, tx: Transaction, actor: Actor, memory: Memory, path: Path, last: str) -> None:
        """Remove a path as part of a larger change."""
        now = self._clock.now()
        tx.paths.remove(path.number)
        trees.orphaned(tx, path, last, now)
        before = (path.priority, path.disclosure)
        self._record(tx, actor, EventKind.PRUNED, memory, path, before, None)

    def grow(self, tx: Transaction, actor: Actor, path: Path, memory: Memory) -> Path:
        """Add a path as part of a larger change."""
        path = replace(path, number=tx.paths.add(path))
        self._record(tx, actor, EventKind.PLANTED, memory, path, None, (path.priority, path.disclosure))
        return path

    def adjust(self, tx: Transaction, actor: Actor, path: Path, memory: Memory, after: tuple[int, str]) -> Path:
        """Set the signpost of a path as part of a larger change."""
        before = (path.priority, path.disclosure)
        if before == after:
            return path
        tx.paths.adjust(path.number, *after)
        self._record(tx, actor, EventKind.ADJUSTED, memory, path, before, after)
        return replace(path, priority=after[0], disclosure=after[1])

    def _relabel(
        self, tx: Transaction, actor: Actor, memory: Memory, path: Path | None, signpost: Signpost
    ) -> Path | None:
        if signpost == Signpost():
            return path
        if path is None:
            field = "disclosure" if signpost.priority is None else "priority"
            raise Invalid(field, "belongs to a path, not to the memory itself; name one of its paths, or give it one")
        self._own_tree(tx, actor, self._clock.now())
        after = (
            path.priority if signpost.priority is None else signpost.priority,
            path.disclosure if signpost.disclosure is None else signpost.disclosure,
        )
        return self.adjust(tx, actor, path, memory, after)

    def _grow(self, tx: Transaction, actor: Actor, place: Place, name: str, memory: Memory, signpost: Signpost) -> Path:
        rank = USUAL_ALIAS_PRIORITY if signpost.priority is None else signpost.priority
        path = Path(place, name, memory.number, rank, signpost.disclosure or "", self._clock.now())
        return self.grow(tx, actor, path, memory)

    def _record(
        self,
        tx: Transaction,
        actor: Actor,
        kind: EventKind,
        memory: Memory,
        path: Path,
        before: tuple[int, str] | None,
        after: tuple[int, str] | None,
    ) -> None:
        now = self._clock.now()
        event = tx.record(Happening(kind, now, actor.author, memory.id, memory.number, path.place.tree))
        tx.paths.amend(Amendment(event, path, before, after))

    def _place(self, tx: Transaction, actor: Actor, parent: Address) -> tuple[Place, Filter]:
        """Where new paths under an address go."""
        now = self._clock.now()
        tree, among = self._own_tree(tx, actor, now), readable(tx, actor, now)
        try:
            return trees.place_below(tx, tree, parent, among), among
        except NotFound as error:
            raise NotFound("parent", str(parent)) from error

    def _own_tree(self, tx: Transaction, actor: Actor, now: datetime) -> int:
        tree = tx.home(actor.user)
        if tree not in changeable(tx, actor, now).collections:
            raise Forbidden("write", actor.tool)
        return tree


def _view(tx: Reading, actor: Actor, now: datetime) -> tuple[Filter, int]:
    """What the actor may see, and the tree of his addresses."""
    among = readable(tx, actor, now)
    return among, trees.tree_of(tx, actor, among)


def _node(tx: Reading, actor: Actor, address: Address, most: int, now: datetime) -> Node:
    among, tree = _view(tx, actor, now)
    memory, path = (None, None) if address.is_root else trees.found(tx, tree, address, among)
    place = Place(tree, address.domain) if memory is None else Place(tree, parent=memory.number)
    branches = tuple(tx.paths.under(place, among, most))
    total = tx.paths.count_under(place, among) if len(branches) == most else len(branches)
    return Node(address, memory, path, branches, total)


def _placed(tx: Reading, tree: int, numbers: Sequence[int], among: Filter) -> list[Node]:
    """Memories with the address to show for each."""
    ways = trees.ways_to(tx, tree, list(numbers))
    nodes = []
    for memory in tx.memories(numbers, among):
        where = trees.shown(ways, memory)
        nodes.append(Node(where, memory, next((p for p in ways.paths(memory.number) if ways.of(p) == where), None)))
    return nodes


def _next_title(tx: Reading, place: Place) -> str:
    number = tx.paths.largest_title(place) + 1
    while tx.paths.at(place, str(number)):  # only where it is too large to be counted
        number += 1
    return str(number)


def _check_place(address: Address, field: str) -> None:
    if address.domain == PLACELESS:
        raise Invalid(field, f"a path cannot begin at {PLACELESS}://; name the memory by a path, or give it one first")
    if len(address.names) > MAX_NAMES:
        raise Invalid(field, f"is too deep: at most {MAX_NAMES} names are allowed")


def _check_free(tx: Reading, place: Place, address: Address) -> None:
    if tx.paths.at(place, address.name):
        raise AlreadyExists("path", str(address))
