"""The texts a session wrote, taken back: what it changed is as it was before, what it made is removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from commonplace.domain.access import Actor
from commonplace.domain.errors import Conflict
from commonplace.domain.event import Event, EventKind
from commonplace.domain.history import (
    Comparison,
    Remedy,
    Undoing,
    Verdict,
    before_session,
    done,
    left,
    restoring,
    state,
    turns,
)
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Memory, Version
from commonplace.engine.memories import Memories, Reference
from commonplace.engine.others import Others
from commonplace.ports import Prints, Reading, Transaction

_CONTENT = (EventKind.REMEMBERED, EventKind.REVISED)
_BUILT_ON = frozenset({LinkKind.DERIVED_FROM, LinkKind.ANNOTATES, LinkKind.REFERENCES})


def judged(tx: Reading, memory: Memory, session: str) -> Verdict:
    return before_session([*tx.versions(memory.id), state(memory)], session)


def texts_before(tx: Reading, memories: Sequence[Memory], session: str) -> list[str]:
    """The texts that will be written anew."""
    verdicts = [(memory, judged(tx, memory, session)) for memory in memories]
    return [v.before.content for memory, v in verdicts if v.before and v.before.content != memory.content]


class Texts:
    """Those of one session, inside one transaction. Without prints, only to see what would happen."""

    def __init__(
        self,
        tx: Transaction,
        actor: Actor,
        session: str,
        memories: Memories,
        others: Others,
        prints: Mapping[str, Prints] | None,
        now: datetime,
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._session = session
        self._memories = memories
        self._others = others
        self._prints = prints
        self._now = now
        self._settled: set[int] = set()

    def undone(self, event: Event, memory: Memory) -> Iterator[Undoing]:
        if event.kind not in _CONTENT or memory.number in self._settled:
            return
        verdict = judged(self._tx, memory, self._session)
        if verdict.before is None and not verdict.obstacle:
            if event.kind is EventKind.REMEMBERED:
                yield self._removed(event, memory)
            return
        self._settled.add(memory.number)
        if verdict.before is None:
            yield left(memory, verdict.obstacle)
        elif verdict.before.number != memory.version:
            self._restore(memory, verdict.before)
            became = turns(Comparison(state(memory), verdict.before))
            yield done(Remedy.RESTORED, memory, turns=became)

    def _restore(self, memory: Memory, before: Version) -> None:
        prints = None
        if self._prints is not None and before.content != memory.content:
            if before.content not in self._prints:
                raise Conflict("session", self._session)
            prints = self._prints[before.content]
        reference = Reference(memory.id)
        self._memories.revise_in(self._tx, self._actor, reference, restoring(before), prints, memory.version)

    def _removed(self, event: Event, memory: Memory) -> Undoing:
        if any(self._tx.paths.below(tree, memory.number) for tree in self._tx.paths.trees_with(memory.number)):
            return left(memory, "other memories stand below it")
        if any(self._tx.paths.to(tree, memory.number) for tree in self._tx.paths.trees_with(memory.number)):
            return left(memory, "a path still leads to it")
        if any(link.target == memory.id and link.kind in _BUILT_ON for link in self._tx.links.of(memory.id)):
            return left(memory, "other memories are about it, come from it or refer to it")
        by_hand = [link for link in self._tx.links.of(memory.id) if link.kind is LinkKind.MANUAL]
        if any(self._others.hold(link, event.number) for link in by_hand):
            return left(memory, "it was tied to others later by someone else")
        self._memories.erase_in(self._tx, memory, self._actor.author, self._now)
        return done(Remedy.REMOVED, memory)
