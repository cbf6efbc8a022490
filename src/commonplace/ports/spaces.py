"""Spaces, in the store: their files, and what of them stands outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from commonplace.domain.collection import Collection
    from commonplace.domain.identifiers import UserId
    from commonplace.domain.space import Figures, FileKind, Mirrored, Place, SpaceFile, Unmirrored


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
    def notes_among(self, space: int, memories: Iterable[int], limit: int = -1) -> Sequence[SpaceFile]:
        """Those of these memories that are notes, the newest first."""
        ...

    def count_notes_among(self, space: int, memories: Iterable[int]) -> int: ...

    def figures(self, spaces: Iterable[int]) -> Mapping[int, Figures]: ...

    def unmirrored(self, limit: int, after: str = "") -> Sequence[Unmirrored]:
        """What is to be written or removed outside, by path."""
        ...

    def mark_of(self, path: str) -> Unmirrored | None: ...

    def count_unmirrored(self) -> int: ...
    def mirrored(self, path: str) -> Mirrored | None: ...
    def all_mirrored(self) -> Sequence[Mirrored]: ...
    def was_brought(self, path: str, digest: str) -> bool:
        """Whether an import has brought these bytes under this path before."""
        ...


class SpaceWriting(SpaceReading, Protocol):
    """The same, to be changed."""

    def put(self, file: SpaceFile) -> int:
        """A new file; where it shows a memory, that is stored already."""
        ...

    def rewrite(self, file: SpaceFile) -> None: ...
    def remove(self, number: int) -> None: ...
    def weigh(self, place: Place, size: int) -> None:
        """How many bytes a file has outside."""
        ...

    def mark(self, path: str) -> None:
        """What stands under the path is to be compared with the outside."""
        ...

    def mark_all(self, kept: Iterable[str]) -> None:
        """The same for every file of every space, and for what each space has beside them."""
        ...

    def begin(self, path: str, digest: str) -> None:
        """That this is about to be written under a path that is marked."""
        ...

    def settle(self, path: str, change: int, now: Mirrored | None) -> None:
        """What stands outside from now on; unless it changed again meanwhile, that is all there is to do."""
        ...

    def unmark(self, path: str) -> None: ...
    def unknow(self, path: str) -> None:
        """Nothing stands outside under the path any more."""
        ...

    def unknow_all(self) -> None:
        """What stands outside is unknown from now on; under paths that are marked, what we wrote is still ours."""
        ...

    def know(self, mirrored: Mirrored) -> None:
        """What was read outside."""
        ...

    def note_brought(self, path: str, digest: str) -> None: ...
