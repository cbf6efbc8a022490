"""What agents tell each other while they work."""

from dataclasses import dataclass
from enum import StrEnum

from commonplace.domain import limits

CATEGORY = "work_log"


class WorkLogType(StrEnum):
    MESSAGE = "message"
    QUESTION = "question"
    ANSWER = "answer"
    DECISION = "decision"
    PROGRESS = "progress"
    ERROR = "error"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Address:
    """Who told whom, and about what: names that the agents give each other, not who is truly writing."""

    kind: WorkLogType | None = None
    sender: str | None = None
    receiver: str | None = None
    thread: str | None = None
    project: str | None = None
    issue: str | None = None

    @property
    def metadata(self) -> dict[str, str]:
        """As a work log keeps it, in its kept form, or Invalid; what was not said is left out."""
        names = {
            "sender": self.sender,
            "receiver": self.receiver,
            "threadId": self.thread,
            "project": self.project,
            "issueRef": self.issue,
        }
        kind = {} if self.kind is None else {"workLogType": self.kind.value}
        return kind | {name: limits.label(name, value) for name, value in names.items() if value is not None}
