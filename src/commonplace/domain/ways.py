"""From paths to addresses: which ways lead to a memory."""

from collections import defaultdict
from collections.abc import Iterable

from commonplace.domain.address import Address
from commonplace.domain.path import Path


class Ways:
    """The addresses of memories, found by climbing the paths that lead to them. Paths never run in a circle."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._to: dict[int, list[Path]] = defaultdict(list)
        for path in paths:
            self._to[path.memory].append(path)
        self._first: dict[int, Address | None] = {}

    def paths(self, memory: int) -> list[Path]:
        return self._to.get(memory, [])

    def first(self, memory: int) -> Address | None:
        """The address to show: by the paths to choose first, of those that begin at a root."""
        if memory in self._first:
            return self._first[memory]
        waiting = [memory]  # without recursion: a tree may be deeper than the interpreter's stack
        while waiting:
            at = waiting[-1]
            above = (path.place.parent for path in self.paths(at))
            unknown = [parent for parent in above if parent is not None and parent not in self._first]
            if unknown:
                waiting.extend(unknown)
                continue
            self._first[at] = next((found for found in map(self.of, self.paths(at)) if found), None)
            waiting.pop()
        return self._first[memory]

    def of(self, path: Path) -> Address | None:
        """Where a path is, by the first way to its parent; None where none leads there from a root."""
        if path.place.parent is None:
            return Address(path.place.domain, (path.name,))
        above = self.first(path.place.parent)
        return above.child(path.name) if above else None

    def through(self, path: Path, most: int) -> list[Address]:
        """Every address that ends in a path, as far as there are not too many."""
        if path.place.parent is None:
            return [Address(path.place.domain, (path.name,))]
        return [above.child(path.name) for above in self.every(path.place.parent, most)]

    def every(self, memory: int, most: int) -> list[Address]:
        """All addresses, as far as there are not too many: each alias above doubles them."""
        found: list[Address] = []
        waiting: list[tuple[int, tuple[str, ...]]] = [(memory, ())]
        while waiting and len(found) < most:
            at, names = waiting.pop()
            for path in self.paths(at):
                if path.place.parent is None:
                    found.append(Address(path.place.domain, (path.name, *names)))
                elif len(waiting) < most and self.first(path.place.parent):  # the others lead nowhere
                    waiting.append((path.place.parent, (path.name, *names)))
        return found[:most]

    def domains(self, memory: int) -> frozenset[str]:
        """The domains from whose roots it can be reached."""
        met, waiting, domains = {memory}, [memory], set()
        while waiting:
            for path in self.paths(waiting.pop()):
                if path.place.parent is None:
                    domains.add(path.place.domain)
                elif path.place.parent not in met:
                    met.add(path.place.parent)
                    waiting.append(path.place.parent)
        return frozenset(domains)
