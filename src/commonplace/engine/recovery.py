"""Putting back a part of a backup: what is missing or was changed since, in one step; what is newer stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from commonplace.domain.access import Actor
from commonplace.domain.backup import Part
from commonplace.domain.collection import MEMBER_REMOVED, Collection, Domain, Member
from commonplace.domain.doing import KEPT_FOR, Sought
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.filter import Filter
from commonplace.domain.identifiers import CollectionId, MemoryId, UserId
from commonplace.domain.memory import Author, Memory
from commonplace.domain.record import FOREIGN_AUTHOR
from commonplace.domain.recovery import Fate, Notice, Recovered
from commonplace.engine.comparison import (
    STRETCH,
    Comparison,
    Keepsake,
    Place,
    Ties,
    change,
    loose,
    memories_here,
    memory_otherwise,
    unchanged,
)
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import TIED, Memories
from commonplace.engine.ties import keep_in
from commonplace.ports import Clock, Store, Transaction


@dataclass(frozen=True, slots=True)
class Findings:
    """What there is to put back, from a backup of that time; and what is told of all the rest."""

    since: datetime
    told: Recovered
    places: list[Place] = field(default_factory=list)
    keepsakes: list[Keepsake] = field(default_factory=list)
    ties: Ties | None = None

    def __bool__(self) -> bool:
        return bool(self.places or self.keepsakes or (self.ties and self.ties.links))


class Recovery:
    """The way back for a part. Whoever asks may ask for everything."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    async def compare(self, backup: Store, parts: frozenset[Part], since: datetime) -> Findings:
        """What of these parts is missing here, or was changed since, with all that takes time done."""
        told = Recovered()
        beside = Comparison(self._store, backup, self._embedding, self._clock.now(), told)
        places = await beside.places(parts)
        keepsakes = await beside.memories() if Part.MEMORIES in parts else []
        coming = {one.memory.id for one in keepsakes}
        ties = await beside.ties(coming) if Part.ASSOCIATIONS in parts else None
        return Findings(since, told, places, keepsakes, ties)

    async def put_back(self, actor: Actor, found: Findings) -> Recovered:
        """In one step. What was the same and has changed since it was compared is newer, and stays."""
        return await self._store.write(lambda tx: _PuttingBack(tx, actor, self._memories, self._clock.now()).all(found))


class _PuttingBack:
    """One transaction's work. Made anew each time, because work may be done over."""

    def __init__(self, tx: Transaction, actor: Actor, memories: Memories, now: datetime) -> None:
        self._tx = tx
        self._actor = actor
        self._memories = memories
        self._now = now
        self._returned: set[MemoryId] = set()
        self._homes: dict[tuple[CollectionId, UserId], Collection] = {}
        self._known: dict[UserId, bool] = {}

    def all(self, found: Findings) -> Recovered:
        founded = [(place, self._founded(place, found.since)) for place in found.places]
        memories = self._all_memories(found.keepsakes, tied=found.ties is not None)
        done = found.told.copy()
        for notice in (*(self._filled(*one) for one in founded), *memories):
            done.tell(notice)
        if found.ties:
            self._tie(found.ties, done)
        return done

    # Places

    def _founded(self, place: Place, since: datetime) -> Notice:
        one = place.collection
        if one.is_over(self._now):
            return Notice(place.part, one.id, Fate.OVER)
        if self._tx.collections.get(one.id):
            return Notice(place.part, one.id, Fate.KEPT)
        owner = one.owner if one.owner and self._is_user(one.owner) else self._actor.user
        number = self._tx.add_collection(one.id, one.kind, one.domain, one.name, owner, one.created_at)
        self._tx.collections.describe(replace(one, number=number))
        everyone = self._let_in(place, replace(one, number=number, owner=owner), since)
        named = {"owner": owner != one.owner, "members": not everyone}
        otherwise = [name for name, differs in named.items() if differs]
        return Notice(place.part, one.id, Fate.PUT_BACK, otherwise=otherwise)

    def _let_in(self, place: Place, home: Collection, since: datetime) -> bool:
        """Whether all its members are in it again."""
        others = [member for member in place.members if not member.owner and member.user != home.owner]
        back = [one for one in others if self._is_user(one.user) and not self._was_removed(place, one, since)]
        for member in back:
            self._tx.grant(member.user, home.number, member.right, self._actor.user, member.since)
        return len(back) == len(others)

    def _filled(self, place: Place, notice: Notice) -> Notice:
        """When the memories are back as well: those that went home to their authors stay with them."""
        home = self._tx.collections.get(place.collection.id) if notice.fate is Fate.PUT_BACK else None
        if home is None or self._tx.count(Filter(frozenset({home.number}), self._now)) >= place.memories:
            return notice
        return replace(notice, otherwise=[*notice.otherwise, "memories"])

    def _was_removed(self, place: Place, member: Member, since: datetime) -> bool:
        """Who was let go before the place itself went stays outside; so does everyone where nobody knows any more."""
        if self._now - since > KEPT_FOR:
            return True
        last = self._tx.doings.latest(Sought(passage=f"{place.collection.id}/{member.user}"), 1)
        return bool(last) and last[0].what == MEMBER_REMOVED

    def _is_user(self, user: UserId) -> bool:
        if user not in self._known:
            self._known[user] = self._tx.user(user) is not None
        return self._known[user]

    # Memories

    def _all_memories(self, keepsakes: Sequence[Keepsake], *, tied: bool) -> list[Notice]:
        starts = range(0, len(keepsakes), STRETCH)
        return [notice for start in starts for notice in self._some(keepsakes[start : start + STRETCH], tied)]

    def _some(self, keepsakes: Sequence[Keepsake], tied: bool) -> list[Notice]:
        here = memories_here(self._tx, keepsakes, self._now)
        return [
            self._given_back(here[one.memory.id], one) if one.memory.id in here else self._put(one, tied)
            for one in keepsakes
        ]

    def _given_back(self, memory: Memory, keepsake: Keepsake) -> Notice:
        """What it was, as a new version."""
        wanted = change(memory, keepsake.memory)
        if not wanted.fields:
            return unchanged(memory, keepsake.memory)
        if wanted.content is not None and keepsake.prints is None:
            return Notice(Part.MEMORIES, memory.id, Fate.KEPT, otherwise=wanted.fields)
        prints = None if wanted.content is None else keepsake.prints
        self._memories.put_change_in(self._tx, self._actor, memory, wanted, prints, self._now)
        otherwise = memory_otherwise(memory, keepsake.memory)
        return Notice(Part.MEMORIES, memory.id, Fate.CHANGED_BACK, wanted.fields, otherwise)

    def _put(self, keepsake: Keepsake, tied: bool) -> Notice:
        """A memory that is not here, without its earlier versions."""
        there = keepsake.memory
        if there.ephemeral and there.ephemeral.is_over(self._now):
            return Notice(Part.MEMORIES, there.id, Fate.OVER)
        if keepsake.prints is None:  # it was here when it was compared
            return Notice(Part.MEMORIES, there.id, Fate.KEPT)
        if self._went_with_its_session(there):
            return Notice(Part.MEMORIES, there.id, Fate.SESSION_GONE)
        self._clear(there.id)
        was_sealed = not self._tx.id_is_free(there.id)
        memory = self._made(keepsake)
        memory = replace(memory, number=self._tx.add(memory, keepsake.prints))
        if memory.uses:
            self._tx.count_uses({memory.number: memory.uses}, memory.used_at or memory.revised_at)
        if memory.ephemeral is None or was_sealed:
            memory = self._memories.seal_in(self._tx, memory, self._now)
        self._note_origins(memory, keepsake)
        self._returned.add(memory.id)
        self._record(memory, {TIED: True} if tied else {})
        return Notice(Part.MEMORIES, memory.id, Fate.PUT_BACK, otherwise=memory_otherwise(memory, there))

    def _clear(self, identifier: MemoryId) -> None:
        """What has ended and was not removed yet makes room for itself."""
        everything = Filter(self._tx.collections.numbers(), datetime.min.replace(tzinfo=UTC))
        ended = self._tx.memory(identifier, everything)
        if ended:
            self._memories.erase_in(self._tx, ended, ended.author, self._now, EventKind.EXPIRED)

    def _went_with_its_session(self, memory: Memory) -> bool:
        place = self._tx.collections.get(memory.collection) if memory.domain == Domain.SESSION else None
        return memory.domain == Domain.SESSION and (place is None or place.is_over(self._now))

    def _made(self, keepsake: Keepsake) -> Memory:
        """Under its own id: who has it noted finds it again. What was erased of it stays so, in its earlier block."""
        there = keepsake.memory
        home = self._home(there)
        author, reviser = self._author(there.author), self._author(there.reviser)
        metadata = dict(there.metadata)
        if author != there.author:
            metadata.setdefault(FOREIGN_AUTHOR, keepsake.author)
        return replace(
            there,
            number=0,
            metadata=metadata,
            collection=home.id,
            home=home.number,
            domain=home.domain,
            author=author,
            reviser=reviser,
            version=1,
            block=None,
        )

    def _author(self, there: Author) -> Author:
        """Where there is no such user, whoever puts it back answers for it."""
        return there if self._is_user(there.user) else self._actor.author

    def _home(self, memory: Memory) -> Collection:
        """Where it was, else its author's own, else the caller's."""
        key = memory.collection, memory.author.user
        if key not in self._homes:
            self._homes[key] = self._found_home(memory)
        return self._homes[key]

    def _found_home(self, memory: Memory) -> Collection:
        places = self._tx.collections
        there = places.get(memory.collection)
        if there and not there.is_over(self._now):
            return there
        user = memory.author.user if self._is_user(memory.author.user) else self._actor.user
        number = places.everyones() if memory.domain == Domain.GLOBAL else self._tx.home(user)
        found = places.numbered(number)
        assert found
        return found

    def _note_origins(self, memory: Memory, keepsake: Keepsake) -> None:
        """So that no import brings it a second time."""
        for origin in keepsake.origins:
            if self._tx.origin(*origin) is None:
                self._tx.put_origin(*origin, memory.number)

    def _record(self, memory: Memory, detail: dict[str, Any]) -> None:
        block = {} if memory.block is None else {"block": memory.block}
        self._tx.record(
            Happening(
                EventKind.REMEMBERED,
                self._now,
                self._actor.author,
                memory.id,
                memory.number,
                memory.home,
                block | detail,
            )
        )

    # Links

    def _tie(self, ties: Ties, done: Recovered) -> None:
        """Between what is here, or came back just now."""
        ends = ties.ends | self._returned
        whole = []
        for link in ties.links:
            if link.source in ends and link.target in ends:
                whole.append(link)
            else:
                done.tell(loose(link))
        kept = keep_in(self._tx, self._actor, whole, self._now)
        done.count(Part.ASSOCIATIONS, Fate.PUT_BACK, kept)
        done.count(Part.ASSOCIATIONS, Fate.UNCHANGED, len(whole) - kept)
