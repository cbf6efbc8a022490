"""Finding the way in the tree of addresses, inside one transaction."""

from __future__ import annotations

from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.address import PLACELESS, Address
from commonplace.domain.errors import Circular, NotFound, Stranding
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import MemoryId, is_uuid
from commonplace.domain.memory import Memory
from commonplace.domain.path import Path, Place
from commonplace.domain.ways import Ways
from commonplace.ports import Reading, Transaction

MOST_NAMED = 10
"""Of those that would be stranded."""
_NOWHERE = 0
"""In place of a tree: no path is in it."""


def tree_of(tx: Reading, actor: Actor, among: Filter) -> int:
    """The tree that the actor's addresses are in.

    It belongs to the user's home. Who has a key that opens only other places sees the memories that lie there, and not
    what their owner calls them or when he recalls them.
    """
    home = tx.home(actor.user)
    return home if home in among.collections else _NOWHERE


def place_below(tx: Reading, tree: int, address: Address, among: Filter) -> Place:
    """Where the children of an address are; NotFound where nothing is there."""
    if address.is_root:
        return Place(tree, address.domain)
    return Place(tree, parent=found(tx, tree, address, among)[0].number)


def found(tx: Reading, tree: int, address: Address, among: Filter) -> tuple[Memory, Path | None]:
    """The memory at an address, and the path that leads to it; none for a memory named by its id."""
    path = _walked(tx, tree, address, among)
    memory = _placeless(tx, address, among) if path is None else _seen(tx, path, among)
    if memory is None:
        raise NotFound("memory at", str(address))
    return memory, path


def _walked(tx: Reading, tree: int, address: Address, among: Filter) -> Path | None:
    names = list(address.names)
    place = Place(tree, address.domain)
    if address.domain == PLACELESS:
        start = _placeless(tx, address, among)
        if start is None or len(names) == 1:
            return None
        place, names = Place(tree, parent=start.number), names[1:]
    path = None
    for name in names:
        path = tx.paths.at(place, name)
        if path is None:
            raise NotFound("memory at", str(address))
        place = Place(tree, parent=path.memory)
    return path


def _placeless(tx: Reading, address: Address, among: Filter) -> Memory | None:
    if address.domain != PLACELESS or not address.names or not is_uuid(address.names[0]):
        return None
    return tx.memory(MemoryId(address.names[0]), among)


def _seen(tx: Reading, path: Path, among: Filter) -> Memory | None:
    return next(iter(tx.memories([path.memory], among)), None)


def ways_to(tx: Reading, tree: int, memories: list[int]) -> Ways:
    return Ways(tx.paths.ways(tree, memories))


def shown(ways: Ways, memory: Memory) -> Address:
    """The address to show for a memory: of its first path, or by its id."""
    return ways.first(memory.number) or Address(PLACELESS, (memory.id,))


def where(tx: Reading, path: Path) -> Address:
    """Where a path is."""
    return ways_to(tx, path.place.tree, [path.memory]).of(path) or Address(PLACELESS, (path.name,))


def check_acyclic(tx: Reading, place: Place, target: int, new: str, at: str) -> None:
    above = place.parent
    if above is not None and (above == target or target in tx.paths.ancestors(place.tree, above)):
        raise Circular(new, at)


def check_not_stranding(tx: Reading, path: Path, address: Address) -> None:
    tree = path.place.tree
    if tx.paths.is_rooted(tree, path.memory, without=path.number):
        return
    stranded = [
        str(address.child(child.name))
        for child in tx.paths.below(tree, path.memory)
        if not tx.paths.is_rooted(tree, child.memory, without=path.number)
    ]
    if stranded:
        raise Stranding(str(address), tuple(stranded[:MOST_NAMED]), len(stranded[MOST_NAMED:]))


def orphaned(tx: Transaction, path: Path, last: str, now: datetime) -> None:
    """Note where a memory was, if the path that was removed was its last."""
    if not tx.paths.to(path.place.tree, path.memory):
        tx.paths.put_orphan(path.place.tree, path.memory, last, now)


def let_go_of_children(tx: Transaction, memory: int, now: datetime) -> None:
    """Before a memory is removed for good: what stood below it loses that path, and is noted where it was the last."""
    for tree in tx.paths.trees_with(memory):
        ways = ways_to(tx, tree, [memory])
        above = ways.first(memory)
        for child in tx.paths.below(tree, memory):
            tx.paths.remove(child.number)
            orphaned(tx, child, str(above.child(child.name)) if above else child.name, now)
