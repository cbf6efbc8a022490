"""The parts of a view and of a transaction, each with its own statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commonplace.ports import (
    AttendanceReading,
    AttendanceWriting,
    Bond,
    CollectionReading,
    CollectionWriting,
    CopyReading,
    Crowd,
    DoingReading,
    DoingWriting,
    LabelReading,
    LabelWriting,
    LinkReading,
    LinkWriting,
    PathReading,
    PathWriting,
    SpaceReading,
    SpaceWriting,
    TeamReading,
    TeamWriting,
    TodoReading,
    TodoWriting,
    WatchReading,
    WatchWriting,
)
from commonplace.storage.sqlite.attendance import SqliteAttendanceReading, SqliteAttendanceWriting
from commonplace.storage.sqlite.collections import SqliteCollectionReading, SqliteCollectionWriting
from commonplace.storage.sqlite.copies import SqliteCopyReading
from commonplace.storage.sqlite.doings import SqliteDoingReading, SqliteDoingWriting
from commonplace.storage.sqlite.labels import SqliteLabelReading, SqliteLabelWriting
from commonplace.storage.sqlite.links import SqliteLinkReading, SqliteLinkWriting
from commonplace.storage.sqlite.paths import SqlitePathReading, SqlitePathWriting
from commonplace.storage.sqlite.spaces import SqliteSpaceReading, SqliteSpaceWriting
from commonplace.storage.sqlite.statements import Statements
from commonplace.storage.sqlite.teams import SqliteTeamReading, SqliteTeamWriting
from commonplace.storage.sqlite.todos import SqliteTodoReading, SqliteTodoWriting
from commonplace.storage.sqlite.watches import SqliteWatchReading, SqliteWatchWriting

if TYPE_CHECKING:
    from commonplace.storage.sqlite.census import SqliteCensus


class ReadingParts(Statements):
    """What a view of the store is made of."""

    @property
    def paths(self) -> PathReading:
        return SqlitePathReading(self._connection)

    @property
    def collections(self) -> CollectionReading:
        return SqliteCollectionReading(self._connection)

    def bonds(self, crowd: Crowd) -> Sequence[Bond]:
        return self._census.bonds(crowd)

    def tags(self, crowd: Crowd, limit: int) -> Sequence[tuple[str, int]]:
        return self._census.tags(crowd, limit)

    @property
    def _census(self) -> SqliteCensus:
        from commonplace.storage.sqlite.census import SqliteCensus  # it needs numpy, which most calls do not

        return SqliteCensus(self._connection)

    @property
    def links(self) -> LinkReading:
        return SqliteLinkReading(self._connection)

    @property
    def teams(self) -> TeamReading:
        return SqliteTeamReading(self._connection)

    @property
    def labels(self) -> LabelReading:
        return SqliteLabelReading(self._connection)

    @property
    def todos(self) -> TodoReading:
        return SqliteTodoReading(self._connection)

    @property
    def watches(self) -> WatchReading:
        return SqliteWatchReading(self._connection)

    @property
    def attendance(self) -> AttendanceReading:
        return SqliteAttendanceReading(self._connection)

    @property
    def doings(self) -> DoingReading:
        return SqliteDoingReading(self._connection)

    @property
    def spaces(self) -> SpaceReading:
        return SqliteSpaceReading(self._connection)

    @property
    def copies(self) -> CopyReading:
        return SqliteCopyReading(self._connection)


class WritingParts(Statements):
    """The same, to be changed."""

    @property
    def paths(self) -> PathWriting:
        return SqlitePathWriting(self._connection)

    @property
    def collections(self) -> CollectionWriting:
        return SqliteCollectionWriting(self._connection)

    @property
    def links(self) -> LinkWriting:
        return SqliteLinkWriting(self._connection)

    @property
    def teams(self) -> TeamWriting:
        return SqliteTeamWriting(self._connection)

    @property
    def labels(self) -> LabelWriting:
        return SqliteLabelWriting(self._connection)

    @property
    def todos(self) -> TodoWriting:
        return SqliteTodoWriting(self._connection)

    @property
    def watches(self) -> WatchWriting:
        return SqliteWatchWriting(self._connection)

    @property
    def attendance(self) -> AttendanceWriting:
        return SqliteAttendanceWriting(self._connection)

    @property
    def doings(self) -> DoingWriting:
        return SqliteDoingWriting(self._connection)

    @property
    def spaces(self) -> SpaceWriting:
        return SqliteSpaceWriting(self._connection)
