"""Taking back what a session did, as a whole: its texts, its paths, its ends, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.errors import CommonplaceError, Conflict, Invalid, NotFound
from commonplace.domain.event import Event, EventKind
from commonplace.domain.history import Remedy, Undoing, Undone, Verdict, before_session, restoring, state
from commonplace.domain.memory import Ephemeral, Memory, Version
from commonplace.domain.path import Amendment
from commonplace.engine import trees
from commonplace.engine.access import changeable
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference
from commonplace.engine.paths import Paths
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

MOST_CHANGES = 20_000
_ATTEMPTS = 3
_GLIMPSE = 60
_CONTENT = (EventKind.REMEMBERED, EventKind.REVISED)
_ENDS = (EventKind.PROMOTED, EventKind.EXTENDED)


class Undo:
    """Undoes a session. What others have changed since is left alone and named."""

    def __init__(self, store: Store, memories: Memories, paths: Paths, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._paths = paths
        self._embedding = embedding
        self._clock = clock

    async def plan(self, actor: Actor, session: str) -> Undone:
        """What taking the session back would do; nothing is changed."""
        require(actor, Permission.WRITE)

        def work(tx: Transaction) -> Undone:
            raise _Rehearsed(self._walked(tx, actor, session, None))  # raised, so that nothing of it is kept

        try:
            return await self._store.write(work)
        except _Rehearsed as rehearsed:
            return rehearsed.undone

    async def take_back(self, actor: Actor, session: str) -> Undone:
        """Undo everything the session did that nobody has built on, in one transaction."""
        require(actor, Permission.WRITE)
        for _ in range(_ATTEMPTS):
            texts = await self._store.read(lambda tx: _texts(tx, actor, session, self._clock.now()))
            prints = {text: await self._embedding.prints(text) for text in texts}
            walk = partial(self._walked, actor=actor, session=session, prints=prints)
            try:
                return await self._store.write(walk)
            except Conflict:  # another text is to be restored than when they were embedded
                continue
        raise Conflict("session", session)

    def _walked(self, tx: Transaction, actor: Actor, session: str, prints: Mapping[str, Prints] | None) -> Undone:
        walk = _Walk(tx, actor, session, self._memories, self._paths, prints, self._clock.now())
        return Undone(session, tuple(walk.back()))


class _Rehearsed(Exception):
    def __init__(self, undone: Undone) -> None:
        self.undone = undone


class _Walk:
    """Back through the events of a session, inside one transaction. Without prints, only to see what would happen."""

    def __init__(
        self,
        tx: Transaction,
        actor: Actor,
        session: str,
        memories: Memories,
        paths: Paths,
        prints: Mapping[str, Prints] | None,
        now: datetime,
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._session = session
        self._memories = memories
        self._paths = paths
        self._prints = prints
        self._now = now
        self._among = changeable(tx, actor, now)
        self._settled: set[int] = set()

    def back(self) -> Iterator[Undoing]:
        events = _events(self._tx, self._actor, self._session)
        amendments = {one.event: one for one in self._tx.paths.amendments(event.number for event in events)}
        for event in reversed(events):
            memory = next(iter(self._tx.memories([event.memory_number], self._among)), None)
            yield from self._undone(event, memory, amendments.get(event.number))

    def _undone(self, event: Event, memory: Memory | None, amendment: Amendment | None) -> Iterator[Undoing]:
        if event.kind is EventKind.FORGOTTEN:
            yield Undoing(Remedy.LEFT, event.memory, "", "it was removed for good and cannot be brought back")
        elif memory is None:
            return  # gone meanwhile, or not the actor's to change
        elif amendment is not None:
            yield self._path_undone(memory, amendment)
        elif event.kind in _ENDS:
            yield self._end_undone(event, memory)
        elif event.kind in _CONTENT and memory.number not in self._settled:
            yield from self._text_undone(event, memory)

    # Texts

    def _text_undone(self, event: Event, memory: Memory) -> Iterator[Undoing]:
        verdict = _judged(self._tx, memory, self._session)
        if verdict.before is None and not verdict.obstacle:
            if event.kind is EventKind.REMEMBERED:
                yield self._removed(memory)
            return
        self._settled.add(memory.number)
        if verdict.before is None:
            yield _left(memory, verdict.obstacle)
        elif verdict.before.number != memory.version:
            self._restore(memory, verdict.before)
            yield _done(Remedy.RESTORED, memory)

    def _restore(self, memory: Memory, before: Version) -> None:
        prints = None
        if self._prints is not None and before.content != memory.content:
            if before.content not in self._prints:
                raise Conflict("session", self._session)
            prints = self._prints[before.content]
        reference = Reference(memory.id)
        self._memories.revise_in(self._tx, self._actor, reference, restoring(before), prints, memory.version)

    def _removed(self, memory: Memory) -> Undoing:
        if any(self._tx.paths.below(tree, memory.number) for tree in self._tx.paths.trees_with(memory.number)):
            return _left(memory, "other memories stand below it")
        if any(self._tx.paths.to(tree, memory.number) for tree in self._tx.paths.trees_with(memory.number)):
            return _left(memory, "it was given a path by someone else")
        self._memories.erase_in(self._tx, memory, self._actor.author, self._now)
        return _done(Remedy.REMOVED, memory)

    # Ends

    def _end_undone(self, event: Event, memory: Memory) -> Undoing:
        before = _end_before(event)
        if before and before.is_over(self._now):
            return _left(memory, "the end it had has passed meanwhile; it would be gone at once")
        self._tx.set_end(memory.number, before)
        return _done(Remedy.END_PUT_BACK, memory)

    # Paths

    def _path_undone(self, memory: Memory, amendment: Amendment) -> Undoing:
        if amendment.path.place.tree not in self._among.collections:
            return _left(memory, "the path is not yours to change")
        try:
            if amendment.before is None:
                return self._unplanted(memory, amendment)
            if amendment.after is None:
                return self._replanted(memory, amendment, amendment.before)
            return self._relabelled(memory, amendment, amendment.before)
        except CommonplaceError as obstacle:
            return _left(memory, obstacle.message)

    def _unplanted(self, memory: Memory, amendment: Amendment) -> Undoing:
        path = self._tx.paths.at(amendment.path.place, amendment.path.name)
        if path is None or path.number != amendment.path.number:
            return _left(memory, f"the path {amendment.path.name!r} is gone already")
        where = trees.where(self._tx, path)
        trees.check_not_stranding(self._tx, path, where)
        self._paths.cut(self._tx, self._actor, memory, path, str(where))
        return _done(Remedy.UNPLANTED, memory, str(where))

    def _replanted(self, memory: Memory, amendment: Amendment, before: tuple[int, str]) -> Undoing:
        path = replace(amendment.path, priority=before[0], disclosure=before[1], created_at=self._now)
        above = path.place.parent
        if above is not None and not self._tx.memories([above], self._among):
            return _left(memory, f"what the path {path.name!r} stood below is gone")
        if self._tx.paths.at(path.place, path.name):
            return _left(memory, f"the path {path.name!r} leads somewhere else now")
        trees.check_acyclic(self._tx, path.place, memory.number, path.name, memory.id)
        grown = self._paths.grow(self._tx, self._actor, path, memory)
        return _done(Remedy.REPLANTED, memory, str(trees.where(self._tx, grown)))

    def _relabelled(self, memory: Memory, amendment: Amendment, before: tuple[int, str]) -> Undoing:
        path = self._tx.paths.at(amendment.path.place, amendment.path.name)
        if path is None or (path.priority, path.disclosure) != amendment.after:
            return _left(memory, f"the path {amendment.path.name!r} was changed later or is gone")
        self._paths.adjust(self._tx, self._actor, path, memory, before)
        return _done(Remedy.RELABELLED, memory, str(trees.where(self._tx, path)))


def _events(tx: Reading, actor: Actor, session: str) -> Sequence[Event]:
    within = reach(actor, Right.READ, tx.holdings(actor.user))
    events = tx.events_of(session, within, MOST_CHANGES + 1)
    if not events:
        raise NotFound("session", session)
    if len(events) > MOST_CHANGES:
        raise Invalid("session", f"has more than {MOST_CHANGES} changes, too many to take back at once")
    return events


def _texts(tx: Reading, actor: Actor, session: str, now: datetime) -> list[str]:
    """The texts that will be written anew."""
    changed = {e.memory_number for e in _events(tx, actor, session) if e.kind is EventKind.REVISED}
    memories = tx.memories(sorted(changed), changeable(tx, actor, now))
    verdicts = [(memory, _judged(tx, memory, session)) for memory in memories]
    return [v.before.content for memory, v in verdicts if v.before and v.before.content != memory.content]


def _judged(tx: Reading, memory: Memory, session: str) -> Verdict:
    return before_session([*tx.versions(memory.id), state(memory)], session)


def _end_before(event: Event) -> Ephemeral | None:
    if "ttl" not in event.detail:
        return None
    return Ephemeral(timedelta(seconds=event.detail["ttl"]), datetime.fromisoformat(event.detail["ended_at"]))


def _subject(memory: Memory) -> str:
    return " ".join(memory.content[: _GLIMPSE * 2].split())[:_GLIMPSE]


def _done(remedy: Remedy, memory: Memory, where: str = "") -> Undoing:
    return Undoing(remedy, memory.id, where or _subject(memory))


def _left(memory: Memory, reason: str) -> Undoing:
    return Undoing(Remedy.LEFT, memory.id, _subject(memory), reason)
