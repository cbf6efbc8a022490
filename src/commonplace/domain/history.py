"""What memories were, and what a session did to them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest

from commonplace.domain.event import Event, EventKind
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.link import Link, LinkKind
from commonplace.domain.memory import Change, Memory, Version

_FIELDS = ("content", "tags", "keywords", "category", "importance", "metadata", "content_type")
_GLIMPSE = 60
_LEAD = 20

Lead = tuple[MemoryId, MemoryId, LinkKind]
"""From where a tie leads, where to, and how: of one kind there is one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states of a memory side by side."""

    old: Version
    new: Version

    @property
    def fields(self) -> tuple[str, ...]:
        """What differs."""
        return tuple(name for name in _FIELDS if getattr(self.old, name) != getattr(self.new, name))

    def lines(self, context: int = 3) -> list[str]:
        """The texts as a unified diff."""
        names = (f"version {self.old.number}", f"version {self.new.number}")
        # At \n only: every other end of a line is a difference to be seen.
        old, new = self.old.content.split("\n"), self.new.content.split("\n")
        return list(difflib.unified_diff(old, new, *names, n=context, lineterm=""))


@dataclass(frozen=True, slots=True)
class Done:
    """A change of a session, with as much of the memory as is left to show."""

    event: Event
    glimpse: str
    address: str = ""
    other: MemoryId | None = None
    """The other end of a tie; none where that is gone or not to be seen, and where nothing was tied or untied."""
    other_glimpse: str = ""
    gone: bool = False
    """Whether there is no such memory any more; one that is merely out of sight has no glimpse either."""

    @property
    def is_tie(self) -> bool:
        return self.event.kind in (EventKind.LINKED, EventKind.UNLINKED)


REMOVED_FOR_GOOD = "it was removed for good and cannot be brought back"


class Remedy(StrEnum):
    """What takes a change back."""

    RESTORED = "restored"
    REMOVED = "removed"
    UNPLANTED = "path removed"
    REPLANTED = "path put back"
    RELABELLED = "labels put back"
    END_PUT_BACK = "end put back"
    MOVED_BACK = "moved back"
    UNTIED = "tie removed"
    TIED = "tie put back"
    UNLABELLED = "label removed"
    LABELLED = "label put back"
    LEFT = "left alone"


@dataclass(frozen=True, slots=True)
class Turn:
    """A field of a memory or something beside it, a glimpse of what it is and of what it becomes; empty where none."""

    name: str
    old: str
    new: str


def turns(comparison: Comparison) -> tuple[Turn, ...]:
    """What differs, shown from where it differs. Keywords follow the text: beside it they would tell nothing new."""
    names = [name for name in comparison.fields if name != "keywords" or "content" not in comparison.fields]
    return tuple(turn(name, getattr(comparison.old, name), getattr(comparison.new, name)) for name in names)


def turn(name: str, old: object, new: object) -> Turn:
    return Turn(name, *_apart(_written(old), _written(new)))


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else repr(value)


def _apart(old: str, new: str) -> tuple[str, str]:
    """Both from shortly before the first difference, so that it is in sight, be it white space alone."""
    alike = next((at for at, (one, other) in enumerate(zip_longest(old, new)) if one != other), 0)
    start = max(0, alike - _LEAD) if max(len(old), len(new)) > _GLIMPSE else 0
    shown = _cut(old, start), _cut(new, start)
    return shown if shown[0] != shown[1] else (repr(old[start:][:_GLIMPSE]), repr(new[start:][:_GLIMPSE]))


def _cut(text: str, start: int) -> str:
    shown = glimpse(text[start:])
    rest = shown != " ".join(text[start:].split())
    return f"{'…' if start else ''}{shown}{'…' if rest else ''}"


@dataclass(frozen=True, slots=True)
class Undoing:
    """One change taken back, or left alone and why."""

    remedy: Remedy
    memory: MemoryId
    subject: str
    reason: str = ""
    other: str | None = None
    """The other end of a tie, empty where that is gone or not to be seen; none where it is about no tie."""
    turns: tuple[Turn, ...] = ()
    """What of the memory becomes what it was: its fields, its end, a label, what its path is labelled with."""


def done(remedy: Remedy, memory: Memory, where: str = "", *, turns: tuple[Turn, ...] = ()) -> Undoing:
    return Undoing(remedy, memory.id, where or glimpse(memory.content), turns=turns)


def left(memory: Memory, reason: str) -> Undoing:
    return Undoing(Remedy.LEFT, memory.id, glimpse(memory.content), reason)


def glimpse(content: str) -> str:
    return " ".join(content[: _GLIMPSE * 2].split())[:_GLIMPSE]


@dataclass(frozen=True, slots=True)
class Undone:
    """What became of the changes of a session."""

    session: str
    steps: tuple[Undoing, ...]
    settled: int = 0
    """How many memories the session has touched of which nothing is left to take back, as after taking it back once."""

    @property
    def left(self) -> tuple[Undoing, ...]:
        return tuple(step for step in self.steps if step.remedy is Remedy.LEFT)


@dataclass(slots=True)
class Retying:
    """What the events of a session tell of the ties of two memories: what they were before, and after the last."""

    began: int = 0
    """The number of the first event that changed anything."""
    before: dict[Lead, Link | None] = field(default_factory=dict)
    after: dict[Lead, Link | None] = field(default_factory=dict)

    def told(self, number: int, before: Sequence[Link], after: Sequence[Link]) -> None:
        """By the next event. What it has not changed is not the session's doing."""
        was, became = _by_lead(before), _by_lead(after)
        for lead in was | became:
            if _strength(was.get(lead)) != _strength(became.get(lead)):
                self.began = self.began or number
                self.before.setdefault(lead, was.get(lead))
                self.after[lead] = became.get(lead)

    def amends(self, there: Sequence[Link]) -> tuple[list[Link], list[Link]]:
        """What is to be taken off and put on to undo it, as far as the session's doing is still to be seen."""
        now = _by_lead(there)
        off, on = [], []
        for lead, before in self.before.items():
            after, here = self.after[lead], now.get(lead)
            if _strength(before) == _strength(after) or (after is None) != (here is None):
                continue
            if before and _strength(here) != before.strength:
                on.append(before)
            elif here and not before:
                off.append(here)
        return off, on


def _by_lead(links: Sequence[Link]) -> dict[Lead, Link]:
    return {(link.source, link.target, link.kind): link for link in links}


def _strength(link: Link | None) -> float | None:
    return link.strength if link else None


def state(memory: Memory) -> Version:
    """The present, in the form of what was before."""
    return Version(
        memory=memory.id,
        number=memory.version,
        content=memory.content,
        content_type=memory.content_type,
        tags=memory.tags,
        keywords=memory.keywords,
        category=memory.category,
        importance=memory.importance,
        metadata=memory.metadata,
        author=memory.reviser,
        made_at=memory.revised_at,
    )


def restoring(version: Version) -> Change:
    """The change that makes a memory what it was."""
    return Change(**{name: getattr(version, name) for name in _FIELDS})


def same(one: Version, other: Version) -> bool:
    return not Comparison(one, other).fields


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which state a memory had before a session, or why that cannot be told; neither where the session made it."""

    before: Version | None = None
    obstacle: str = ""


def before_session(states: Sequence[Version], session: str) -> Verdict:
    """Judge by the states of a memory, oldest first, whether a session's part in it can be taken back."""
    first = next((at for at, one in enumerate(states) if one.author.session == session), None)
    if first is None:  # the session put it back as others had written it
        return Verdict(obstacle="it was changed later by someone else" if len(states) > 1 else "")
    if first and same(states[-1], states[first - 1]):
        return Verdict(states[-1])
    if any(one.author.session != session for one in states[first:]):
        return Verdict(obstacle="it was changed later by someone else")
    return Verdict(states[first - 1] if first else None)
