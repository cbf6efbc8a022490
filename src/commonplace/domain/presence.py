"""Who is here: a connection, what it is busy with, and when it was last heard of."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.domain.identifiers import UserId

AWAY_AFTER = timedelta(seconds=60)
GONE_AFTER = timedelta(minutes=10)
MAX_DESCRIPTION_CHARS = 1000


class Status(StrEnum):
    """The first three are said, the others seen."""

    ACTIVE = "active"
    IDLE = "idle"
    BUSY = "busy"
    AWAY = "away"
    """Silent for a while."""
    GONE = "gone"
    """Silent for long, or closed."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What a connection is busy with."""

    kind: str
    target: str = ""
    description: str = ""

    def veiled(self) -> "Focus":
        """For those who may not see what it is about."""
        return Focus(self.kind)


@dataclass(frozen=True, slots=True)
class Presence:
    """A connection."""

    connection: str
    user: UserId
    name: str
    status: Status
    focus: Focus | None
    connected_at: datetime
    seen_at: datetime

    def at(self, now: datetime) -> "Presence":
        """The same as it is to be shown at that moment."""
        return replace(self, status=self.status_at(now))

    def status_at(self, now: datetime) -> Status:
        silence = now - self.seen_at
        if self.status is Status.GONE or silence >= GONE_AFTER:
            return Status.GONE
        return Status.AWAY if silence >= AWAY_AFTER else self.status

    @property
    def face(self) -> tuple[str, Status, Focus | None]:
        """What others are told of when it changes."""
        return self.name, self.status, self.focus


def connection_of(user: UserId, session: str) -> str:
    """A name for a connection that tells nothing: a session's own name may be what opens it."""
    return hashlib.sha256(f"{user}\n{session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
