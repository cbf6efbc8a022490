"""Spaces, in the store: their files, and what of them stands outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from commonplace.domain.collection import Collection
from commonplace.domain.identifiers import UserId
from commonplace.domain.space import Figures, FileKind, Mirrored, SpaceFile


class SpaceReading(Protocol):
    """The files of spaces. Whoever asks has been let into the space before."""

    def named(self, name: str) -> Collection | None: ...
    def root(self) -> Collection | None:
        """What all spaces lie in; None before the first."""
        ...

    def file(self, space: int, kind: FileKind, name: str) -> SpaceFile | None: ...
    def files(self, space: int, kind: FileKind) -> Sequence[SpaceFile]:
        """All of a kind, by name."""
        ...

    def notes(
        self, space: int, limit: int, *, category: str = "", agent: str = "", since: datetime | None = None
    ) -> Sequence[SpaceFile]:
        """The newest first."""
        ...

    def count_notes(self, space: int, *, category: str = "", agent: str = "", since: datetime | None = None) -> int: ...

    def oldest_notes(self, space: int, limit: int, by: UserId | None, agent: str) -> Sequence[SpaceFile]:
        """The oldest first: all, or those a user wrote or that name an agent."""
        ...

    def count_notes_of(self, space: int, by: UserId | None, agent: str) -> int: ...
    def notes_among(self, space: int, memories: Iterable[int]) -> Sequence[SpaceFile]:
        """Those of these memories that are notes, the newest first."""
        ...

    def figures(self, spaces: Iterable[int]) -> Mapping[int, Figures]: ...

    def unmirrored(self, limit: int) -> Sequence[tuple[str, int]]:
        """Paths that are to be written or removed outside, each with the number of its last change."""
        ...

    def count_unmirrored(self) -> int: ...
    def mirrored(self, path: str) -> Mirrored | None: ...
    def all_mirrored(self) -> Sequence[Mirrored]: ...


class SpaceWriting(SpaceReading, Protocol):
    """The same, to be changed."""

    def put(self, file: SpaceFile) -> int:
        """A new file; where it shows a memory, that is stored already."""
        ...

    def rewrite(self, file: SpaceFile) -> None: ...
    def remove(self, number: int) -> None: ...
    def mark(self, path: str) -> None:
        """What stands under the path is to be compared with the outside."""
        ...

    def settle(self, path: str, change: int, now: Mirrored | None) -> None:
        """What stands outside from now on; unless it changed again meanwhile, that is all there is to do."""
        ...

    def unmark(self, path: str) -> None: ...
    def unknow(self, path: str) -> None:
        """Nothing stands outside under the path any more."""
        ...

    def know(self, mirrored: Mirrored) -> None:
        """What was read outside."""
        ...
