"""What was done or refused, beside the texts themselves: the audit trail."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from commonplace.domain.identifiers import UserId
from commonplace.domain.memory import Author

KEPT_FOR = timedelta(days=90)
"""How long it is told who did what beside changing memories; what became of a memory is told for good."""


class Level(StrEnum):
    """How much a doing matters; each is graver than those before it."""

    INFO = "info"
    WARNING = "warning"
    """Something was refused."""
    ERROR = "error"
    """Something failed that should not have."""

    @property
    def and_graver(self) -> tuple["Level", ...]:
        ranks = tuple(Level)
        return ranks[ranks.index(self) :]


@dataclass(frozen=True, slots=True)
class Doing:
    """Who did what, when, by which tool, about what. It never carries a text or a key."""

    at: datetime
    by: Author
    what: str
    subject: str = ""
    level: Level = Level.INFO
    user_name: str = ""
    times: int = 1
    """How often it happened in a short while; `at` is the last."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Which doings a read is about."""

    user: UserId | None = None
    """Whose; None for everyone's."""
    level: Level = Level.INFO
    """At least as grave as this."""
    passage: str = ""
    """What stands somewhere in it, letter for letter but for case."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one user did in one session by one tool: changes of a kind, or the same doing beside them."""

    user: UserId
    tool: str
    what: str
    level: Level
    change: bool
    """Whether memories were changed; then `what` is the kind of event."""
    count: int
    first: datetime
    last: datetime
