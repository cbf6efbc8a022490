"""Taking back what a session did, as a whole: its texts, paths, ends, places, ties and labels, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, reach, require
from commonplace.domain.errors import CommonplaceError, Conflict, Invalid, NotFound
from commonplace.domain.event import Event, EventKind
from commonplace.domain.history import REMOVED_FOR_GOOD, Remedy, Undoing, Undone, done, left, turn
from commonplace.domain.identifiers import MemoryId
from commonplace.domain.memory import Ephemeral, Memory
from commonplace.domain.path import Amendment, Path
from commonplace.engine import trees
from commonplace.engine.access import changeable, readable
from commonplace.engine.collections import Collections
from commonplace.engine.embedding import Embedding
from commonplace.engine.labels import ATTACHED, LABEL, put_in
from commonplace.engine.memories import Memories
from commonplace.engine.others import MOST_CHANGES, Others
from commonplace.engine.paths import Paths
from commonplace.engine.retying import Ties
from commonplace.engine.texts import Texts, judged, texts_before
from commonplace.engine.ties import TYING
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

_ATTEMPTS = 3
_ENDS = (EventKind.PROMOTED, EventKind.EXTENDED)


class Undo:
    """Undoes a session. What others have changed since is left alone and named."""

    def __init__(
        self,
        store: Store,
        memories: Memories,
        paths: Paths,
        collections: Collections,
        embedding: Embedding,
        clock: Clock,
    ) -> None:
        self._store = store
        self._memories = memories
        self._paths = paths
        self._collections = collections
        self._embedding = embedding
        self._clock = clock

    async def plan(self, actor: Actor, session: str) -> Undone:
        """What taking the session back would do; nothing is changed."""
        require(actor, Permission.WRITE)
        limits.text("session", session)

        def work(tx: Transaction) -> Undone:
            raise _Rehearsed(self._walked(tx, actor, session, None))  # raised, so that nothing of it is kept

        try:
            return await self._store.write(work)
        except _Rehearsed as rehearsed:
            return rehearsed.undone

    async def take_back(self, actor: Actor, session: str) -> Undone:
        """Undo everything the session did that nobody has built on, in one transaction."""
        require(actor, Permission.WRITE)
        limits.text("session", session)
        for _ in range(_ATTEMPTS):
            texts = await self._store.read(lambda tx: self._to_embed(tx, actor, session))
            prints = {text: await self._embedding.prints(text) for text in texts}
            walk = partial(self._walked, actor=actor, session=session, prints=prints)
            try:
                return await self._store.write(walk)
            except Conflict:  # another text is to be restored than when they were embedded
                continue
        raise Conflict("session", session)

    def _to_embed(self, tx: Reading, actor: Actor, session: str) -> list[str]:
        now = self._clock.now()
        changed = {e.memory_number for e in _events(tx, actor, session, now) if e.kind is EventKind.REVISED}
        return texts_before(tx, tx.memories(sorted(changed), changeable(tx, actor, now)), session)

    def _walked(self, tx: Transaction, actor: Actor, session: str, prints: Mapping[str, Prints] | None) -> Undone:
        verbs = (self._memories, self._paths, self._collections)
        walk = _Walk(tx, actor, session, *verbs, prints, self._clock.now())
        steps = tuple(walk.back())
        return Undone(session, steps, len(walk.touched - {step.memory for step in steps}))


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
        collections: Collections,
        prints: Mapping[str, Prints] | None,
        now: datetime,
    ) -> None:
        self._tx = tx
        self._actor = actor
        self._session = session
        self._memories = memories
        self._paths = paths
        self._collections = collections
        self._now = now
        self._among = changeable(tx, actor, now)
        self._readable = readable(tx, actor, now)
        self.touched: set[MemoryId] = set()
        self._displaced: set[int] = set()
        self._first_ends: dict[int, int] = {}
        self._first_labels: dict[tuple[int, str], Event] = {}
        self._first_moves: dict[int, Event] = {}
        self._events = _events(tx, actor, session, now)
        self._others = Others(tx, session)
        self._ties = Ties(tx, actor, self._events, self._others, self._readable)
        self._texts = Texts(tx, actor, session, memories, self._others, prints, now)

    def back(self) -> Iterator[Undoing]:
        self.touched = {event.memory for event in self._events}
        for event in self._events:
            if event.kind in _ENDS:
                self._first_ends.setdefault(event.memory_number, event.number)
            elif LABEL in event.detail:
                self._first_labels.setdefault((event.memory_number, event.detail[LABEL]), event)
            elif event.kind is EventKind.MOVED and event.detail.get("from") != event.detail.get("to"):
                self._first_moves.setdefault(event.memory_number, event)
        amendments = _lasting(self._tx.paths.amendments(event.number for event in self._events))
        for event in reversed(self._events):
            yield from self._undone(event, amendments.get(event.number))

    def _undone(self, event: Event, amendment: Amendment | None) -> Iterator[Undoing]:
        if event.kind is EventKind.FORGOTTEN:
            yield Undoing(Remedy.LEFT, event.memory, "", REMOVED_FOR_GOOD)
            return
        among = self._readable if amendment else self._among  # whoever owns the memory, the path is the actor's
        memory = next(iter(self._tx.memories([event.memory_number], among)), None)
        if event.kind is EventKind.MOVED:
            yield from self._move_undone(event, memory)
        elif memory is None:  # gone meanwhile, or not the actor's to change
            yield from self._loss_named(event)
        elif amendment is not None:
            yield from self._path_undone(memory, amendment)
        elif self._first_ends.get(memory.number) == event.number:
            yield from self._end_undone(event, memory)
        elif event.kind in TYING:
            yield from self._ties.undone(event, memory)
        elif event.kind is EventKind.LABELLED:
            yield from self._label_undone(event, memory)
        else:
            yield from self._texts.undone(event, memory)

    # Places, ties and labels

    def _move_undone(self, event: Event, memory: Memory | None) -> Iterator[Undoing]:
        """Where it was before the session, however often the session has moved it."""
        first = self._first_moves.pop(event.memory_number, None)
        if first is None:
            return
        home = first.detail["from"]
        if memory is None:
            yield from self._moved_away(event)
        elif memory.home == home:
            return  # as it was
        elif any(one.kind is EventKind.MOVED for one in self._others.since(memory.id, first.number)):
            yield left(memory, "it was moved later by someone else")
        elif home not in self._among.collections:
            yield left(memory, "where it was is gone, or not yours to write to")
        else:
            self._collections.move_in(self._tx, self._actor, memory, home)
            yield done(Remedy.MOVED_BACK, memory)

    def _moved_away(self, event: Event) -> Iterator[Undoing]:
        """What is gone can be moved by nobody; but the move may have been its end."""
        since = [one for one in self._tx.events_about(event.memory, MOST_CHANGES) if one.number > event.number]
        if any(one.kind is EventKind.EXPIRED for one in since):
            yield Undoing(Remedy.LEFT, event.memory, "", "it has ended where it was moved to: it is gone for good")
        elif all(one.kind is not EventKind.FORGOTTEN for one in since):
            yield Undoing(Remedy.LEFT, event.memory, "", "it was moved to where it is not yours to change")

    def _label_undone(self, event: Event, memory: Memory) -> Iterator[Undoing]:
        """Labels are their user's alone; which further categories a memory had, its events do not tell."""
        if LABEL not in event.detail:
            yield left(memory, "categories beside the first are not put back")
            return
        first = self._first_labels.pop((memory.number, event.detail[LABEL]), None)
        if first is None:
            return  # however often the session has put it on and taken it off
        label = (
            None if self._actor.limited_to is not None else self._tx.labels.get(self._actor.user, first.detail[LABEL])
        )
        if label is None:
            yield left(memory, "the label is gone, or is another's")
            return
        bore = not first.detail[ATTACHED]
        if bore == (label in self._tx.labels.on(memory.number, self._actor.user)):
            return  # as it was
        if any(one.detail.get(LABEL) == label.id for one in self._others.since(memory.id, first.number)):
            yield left(memory, f"the label {label.name!r} was put on or taken off later by someone else")
        else:
            put_in(self._tx, self._actor, memory, label, self._now, attached=bore)
            became = turn("label", "", label.name) if bore else turn("label", label.name, "")
            yield done(Remedy.LABELLED if bore else Remedy.UNLABELLED, memory, turns=(became,))

    # Ends

    def _end_undone(self, event: Event, memory: Memory) -> Iterator[Undoing]:
        """The end it had before the session, however often the session has moved it."""
        before = _end_before(event)
        if memory.ephemeral == before:
            return
        if any(one.kind in _ENDS for one in self._others.since(memory.id, event.number)):
            yield left(memory, "its end was changed later by someone else")
        elif before and before.is_over(self._now):
            yield left(memory, "the end it had has passed meanwhile; it would be gone at once")
        else:
            self._memories.put_end_in(self._tx, self._actor, memory, before)
            became = turn("end", self._written(memory.ephemeral), self._written(before))
            yield done(Remedy.END_PUT_BACK, memory, turns=(became,))

    def _written(self, end: Ephemeral | None) -> str:
        return f"{end.ends_at.astimezone(self._actor.zone):%Y-%m-%d %H:%M:%S}" if end else ""

    def _loss_named(self, event: Event) -> Iterator[Undoing]:
        """What is gone by an end that the session gave it was as good as removed by it."""
        if self._first_ends.get(event.memory_number) != event.number:
            return
        if any(one.kind is EventKind.EXPIRED for one in self._tx.events_about(event.memory, MOST_CHANGES)):
            yield Undoing(Remedy.LEFT, event.memory, "", "the end it was given has passed: it is gone for good")

    # Paths

    def _path_undone(self, memory: Memory, amendment: Amendment) -> Iterator[Undoing]:
        path = self._tx.paths.at(amendment.path.place, amendment.path.name)
        try:
            if amendment.path.place.tree not in self._among.collections:
                yield left(memory, "the path is not yours to change")
            elif amendment.before is None:
                if path and path.number == amendment.path.number:  # else it is gone already
                    yield self._unplanted(memory, path, amendment)
            elif path and _is(path, memory, amendment.before):
                return  # as it was
            elif amendment.after is None:
                yield self._replanted(memory, amendment, amendment.before)
            else:
                yield self._relabelled(memory, path, amendment, amendment.before)
        except CommonplaceError as obstacle:
            yield left(memory, obstacle.message)

    def _unplanted(self, memory: Memory, path: Path, amendment: Amendment) -> Undoing:
        if (path.priority, path.disclosure) != amendment.after:
            return left(memory, f"the path {path.name!r} was changed later by someone else")
        if memory.author.session == self._session and (obstacle := judged(self._tx, memory, self._session).obstacle):
            return left(memory, obstacle)  # what others have made their own keeps its place
        if memory.number in self._displaced and len(self._tx.paths.to(path.place.tree, memory.number)) == 1:
            return left(memory, "it would be left without any path, because its former place is not free")
        where = trees.where(self._tx, path)
        trees.check_not_stranding(self._tx, path, where)
        self._paths.cut(self._tx, self._actor, memory, path, str(where))
        return done(Remedy.UNPLANTED, memory, str(where))

    def _replanted(self, memory: Memory, amendment: Amendment, before: tuple[int, str]) -> Undoing:
        path = replace(amendment.path, priority=before[0], disclosure=before[1], created_at=self._now)
        above = path.place.parent
        self._displaced.add(memory.number)
        if above is not None and not self._tx.memories([above], self._readable):
            return left(memory, f"what the path {path.name!r} stood below is gone")
        if self._tx.paths.at(path.place, path.name):
            return left(memory, f"the path {path.name!r} leads somewhere else now")
        trees.check_acyclic(self._tx, path.place, memory.number, path.name, memory.id)
        grown = self._paths.grow(self._tx, self._actor, path, memory)
        self._displaced.discard(memory.number)
        return done(Remedy.REPLANTED, memory, str(trees.where(self._tx, grown)))

    def _relabelled(self, memory: Memory, path: Path | None, amendment: Amendment, before: tuple[int, str]) -> Undoing:
        if path is None or not _is(path, memory, amendment.after):
            return left(memory, f"the path {amendment.path.name!r} was changed later or is gone")
        self._paths.adjust(self._tx, self._actor, path, memory, before)
        pairs = zip(("priority", "disclosure"), (path.priority, path.disclosure), before, strict=True)
        became = tuple(turn(name, old, new) for name, old, new in pairs if old != new)
        return done(Remedy.RELABELLED, memory, str(trees.where(self._tx, path)), turns=became)


def _is(path: Path, memory: Memory, labels: tuple[int, str] | None) -> bool:
    return path.memory == memory.number and (path.priority, path.disclosure) == labels


def _lasting(amendments: Sequence[Amendment]) -> dict[int, Amendment]:
    """By event, without the paths that the session itself has made and removed: nothing of them is left."""
    made = {one.path.number for one in amendments if one.before is None}
    removed = {one.path.number for one in amendments if one.after is None}
    return {one.event: one for one in amendments if one.path.number not in made & removed}


def _events(tx: Reading, actor: Actor, session: str, now: datetime) -> Sequence[Event]:
    within = reach(actor, Right.READ, tx.holdings(actor.user), now)
    events = tx.events_of(session, within, MOST_CHANGES + 1)
    if not events:
        raise NotFound("session", session)
    if len(events) > MOST_CHANGES:
        raise Invalid("session", f"has more than {MOST_CHANGES} changes, too many to take back at once")
    return events


def _end_before(event: Event) -> Ephemeral | None:
    if "ttl" not in event.detail:
        return None
    return Ephemeral(timedelta(seconds=event.detail["ttl"]), datetime.fromisoformat(event.detail["ended_at"]))
