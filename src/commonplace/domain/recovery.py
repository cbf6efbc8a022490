"""What became of each thing that a backup holds, when a part of it was put back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from commonplace.domain.backup import Part


class Fate(StrEnum):
    """What became of one thing. Each has one."""

    PUT_BACK = "put_back"
    """It was not here."""
    CHANGED_BACK = "changed_back"
    """It was here, and is again what it was."""
    UNCHANGED = "unchanged"
    KEPT = "kept_newer"
    """It is otherwise than in the backup, and stays so."""
    OVER = "over"
    """Its time is over, and it stays away."""
    SESSION_GONE = "session_gone"
    """It went with its session, and stays away."""
    IN_SPACE = "in_space"
    """It belongs to a space, which has backups of its own."""
    END_GONE = "end_gone"
    """It would tie what is not here."""


RESTORING = (Fate.PUT_BACK, Fate.CHANGED_BACK)


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing of which somebody may not expect what became of it."""

    part: Part
    id: str
    fate: Fate
    returned: Sequence[str] = ()
    """Of what is again what it was: which of its fields."""
    otherwise: Sequence[str] = ()
    """What of it is not as in the backup."""
    other: str = ""
    """The other end of a tie."""

    @property
    def is_expected(self) -> bool:
        """It came back as it was, or it is what it was."""
        return self.fate in (Fate.PUT_BACK, Fate.UNCHANGED) and not self.otherwise


@dataclass(slots=True)
class Recovered:
    """All of it in figures, and by name what nobody may expect."""

    fates: Counter[tuple[Part, Fate]] = field(default_factory=Counter)
    notices: list[Notice] = field(default_factory=list)

    def tell(self, notice: Notice) -> None:
        self.count(notice.part, notice.fate)
        if not notice.is_expected:
            self.notices.append(notice)

    def count(self, part: Part, fate: Fate, times: int = 1) -> None:
        """Of what is not told by name."""
        self.fates[part, fate] += times

    def restored(self, part: Part) -> int:
        return sum(self.fates[part, fate] for fate in RESTORING)

    def of(self, part: Part) -> Iterator[tuple[Fate, int]]:
        """Each fate with how many met it."""
        return ((fate, self.fates[part, fate]) for fate in Fate if self.fates[part, fate])

    def copy(self) -> Recovered:
        return Recovered(self.fates.copy(), self.notices.copy())
