"""What the engine needs from the world outside. Storage and models answer to these."""

from typing import TYPE_CHECKING

from commonplace.ports.attendance import AttendanceReading, AttendanceWriting
from commonplace.ports.census import Bond, Crowd, Group
from commonplace.ports.collections import CollectionReading, CollectionWriting, Slice
from commonplace.ports.copies import CopyReading, Origin
from commonplace.ports.doings import DoingReading, DoingWriting
from commonplace.ports.findings import (
    UNFINISHED,
    Cosines,
    Embedded,
    Facts,
    LexicalHits,
    NothingScanned,
    Page,
    Prints,
    Scan,
    Statistics,
)
from commonplace.ports.labels import LabelReading, LabelWriting
from commonplace.ports.links import LinkReading, LinkWriting
from commonplace.ports.models import Clock, Embedder, Summariser
from commonplace.ports.paths import PathReading, PathWriting
from commonplace.ports.spaces import SpaceReading, SpaceWriting
from commonplace.ports.store import Reading, Store, Transaction, Vault
from commonplace.ports.teams import TeamReading, TeamWriting
from commonplace.ports.todos import TodoReading, TodoWriting
from commonplace.ports.watches import WatchReading, WatchWriting

if TYPE_CHECKING:
    from commonplace.ports.models import Vectors

__all__ = [
    "UNFINISHED",
    "AttendanceReading",
    "AttendanceWriting",
    "Bond",
    "Clock",
    "CollectionReading",
    "CollectionWriting",
    "CopyReading",
    "Cosines",
    "Crowd",
    "DoingReading",
    "DoingWriting",
    "Embedded",
    "Embedder",
    "Facts",
    "Group",
    "LabelReading",
    "LabelWriting",
    "LexicalHits",
    "LinkReading",
    "LinkWriting",
    "NothingScanned",
    "Origin",
    "Page",
    "PathReading",
    "PathWriting",
    "Prints",
    "Reading",
    "Scan",
    "Slice",
    "SpaceReading",
    "SpaceWriting",
    "Statistics",
    "Store",
    "Summariser",
    "TeamReading",
    "TeamWriting",
    "TodoReading",
    "TodoWriting",
    "Transaction",
    "Vault",
    "Vectors",
    "WatchReading",
    "WatchWriting",
]
