"""Memories that are in two stores, in SQLite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from commonplace.domain.identifiers import MemoryId
from commonplace.ports import Origin
from commonplace.storage.sqlite import rows
from commonplace.storage.sqlite.statements import Statements

if TYPE_CHECKING:
    from commonplace.ports import Vectors


class SqliteCopyReading(Statements):
    """The CopyReading port."""

    def twins(self, ids: Iterable[MemoryId], now: datetime) -> Mapping[MemoryId, int]:
        found = self._all("twins", ids=rows.as_json(sorted(ids)), now=rows.micros(now))
        return {MemoryId(identifier): number for identifier, number in found}

    def origins(self, memories: Iterable[MemoryId]) -> Mapping[MemoryId, Sequence[Origin]]:
        found: dict[MemoryId, list[Origin]] = defaultdict(list)
        for memory, source, name in self._all("origins_of", ids=rows.as_json(sorted(memories))):
            found[memory].append(Origin(source, name))
        return found

    def whole_prints(self, numbers: Iterable[int], fingerprint: str) -> Mapping[int, Vectors]:
        from commonplace.storage.sqlite.following import unpacked

        found: dict[int, list[bytes]] = defaultdict(list)
        for memory, vector in self._all("whole_prints", numbers=rows.numbers_json(numbers), fingerprint=fingerprint):
            found[memory].append(vector)
        return {memory: unpacked(b"".join(parts), len(parts[0]) // 2) for memory, parts in found.items()}
