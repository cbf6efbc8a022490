"""Putting back a part of a backup: what is missing or was changed since, in one step; what is newer stays."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from commonplace.domain.access import Actor
from commonplace.domain.backup import Part
from commonplace.domain.collection import MEMBER_REMOVED, Collection, Domain, Kind, Member
from commonplace.domain.doing import KEPT_FOR, Sought
from commonplace.domain.event import EventKind, Happening
from commonplace.domain.identifiers import RANDOM_BYTES, CollectionId, MemoryId, UserId, uuid7
from commonplace.domain.memory import Author, Memory
from commonplace.domain.record import FOREIGN_AUTHOR
from commonplace.engine.comparison import (
    RESTORED_FROM,
    SOURCE,
    STRETCH,
    Comparison,
    Keepsake,
    Place,
    Ties,
    change,
    memories_here,
)
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import TIED, Memories
from commonplace.ports import Clock, Origin, Store, Transaction

_KINDS = {Part.PROJECTS: Kind.PROJECT, Part.SESSIONS: Kind.SESSION}


@dataclass(frozen=True, slots=True)
class Recovered:
    """How much was put back, or given back what it was."""

    memories: int = 0
    projects: int = 0
    sessions: int = 0
    associations: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """What there is to put back, from a backup of that time."""

    since: datetime
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
        beside = Comparison(self._store, backup, self._embedding, self._clock.now())
        return Findings(
            since,
            await beside.places(kind for part, kind in _KINDS.items() if part in parts),
            await beside.memories() if Part.MEMORIES in parts else [],
            await beside.ties() if Part.ASSOCIATIONS in parts else None,
        )

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
        self._ids: dict[MemoryId, MemoryId] = {}
        """What memories of the backup are called here, as far as they were put back."""
        self._homes: dict[tuple[CollectionId, UserId], Collection] = {}
        self._known: dict[UserId, bool] = {}

    def all(self, found: Findings) -> Recovered:
        kinds = [place.collection.kind for place in found.places if self._found(place, found.since)]
        tied = found.ties is not None
        starts = range(0, len(found.keepsakes), STRETCH)
        memories = sum(self._some(found.keepsakes[start : start + STRETCH], tied) for start in starts)
        links = self._tie(found.ties) if found.ties else 0
        return Recovered(memories, kinds.count(Kind.PROJECT), kinds.count(Kind.SESSION), links)

    # Places

    def _found(self, place: Place, since: datetime) -> bool:
        one = place.collection
        if one.is_over(self._now) or self._tx.collections.get(one.id):
            return False
        owner = one.owner if one.owner and self._is_user(one.owner) else self._actor.user
        number = self._tx.add_collection(one.id, one.kind, one.domain, one.name, owner, one.created_at)
        self._tx.collections.describe(replace(one, number=number))
        for member in place.members:
            if member.user != owner and self._is_user(member.user) and not self._was_removed(one.id, member, since):
                self._tx.grant(member.user, number, member.right, self._actor.user, member.since)
        return True

    def _was_removed(self, place: CollectionId, member: Member, since: datetime) -> bool:
        """Who was let go before the place itself went stays outside; so does everyone where nobody knows any more."""
        if self._now - since > KEPT_FOR:
            return True
        last = self._tx.doings.latest(Sought(passage=f"{place}/{member.user}"), 1)
        return bool(last) and last[0].what == MEMBER_REMOVED

    def _is_user(self, user: UserId) -> bool:
        if user not in self._known:
            self._known[user] = self._tx.user(user) is not None
        return self._known[user]

    # Memories

    def _some(self, keepsakes: Sequence[Keepsake], tied: bool) -> int:
        here = memories_here(self._tx, keepsakes, self._now)
        done = 0
        for one in keepsakes:
            twin = here.get(one.memory.id)
            done += self._give_back(twin, one) if twin else self._put(one, tied)
        return done

    def _give_back(self, memory: Memory, keepsake: Keepsake) -> bool:
        """What it was, as a new version."""
        wanted = change(memory, keepsake.memory)
        if not wanted.fields or (wanted.content is not None and keepsake.prints is None):
            return False
        prints = None if wanted.content is None else keepsake.prints
        self._memories.put_change_in(self._tx, self._actor, memory, wanted, prints, self._now)
        return True

    def _put(self, keepsake: Keepsake, tied: bool) -> bool:
        """A memory that is not here, without its earlier versions."""
        end = keepsake.memory.ephemeral
        if keepsake.prints is None or (end and end.is_over(self._now)) or self._went_with_its_session(keepsake.memory):
            return False
        memory = self._made(keepsake)
        memory = replace(memory, number=self._tx.add(memory, keepsake.prints))
        if memory.uses:
            self._tx.count_uses({memory.number: memory.uses}, memory.used_at or memory.revised_at)
        if memory.ephemeral is None:
            memory = self._memories.seal_in(self._tx, memory, self._now)
        self._note_origins(memory, keepsake)
        self._ids[keepsake.memory.id] = memory.id
        self._record(memory, {TIED: True} if tied else {})
        return True

    def _went_with_its_session(self, memory: Memory) -> bool:
        place = self._tx.collections.get(memory.collection) if memory.domain == Domain.SESSION else None
        return memory.domain == Domain.SESSION and (place is None or place.is_over(self._now))

    def _made(self, keepsake: Keepsake) -> Memory:
        there = keepsake.memory
        home = self._home(there)
        author, reviser = self._author(there.author), self._author(there.reviser)
        identifier = there.id
        metadata = dict(there.metadata)
        if not self._tx.id_is_free(identifier):  # of what was erased, the chain keeps the id
            identifier = MemoryId(uuid7(there.created_at, secrets.token_bytes(RANDOM_BYTES)))
            metadata[RESTORED_FROM] = there.id
        if author != there.author:
            metadata.setdefault(FOREIGN_AUTHOR, keepsake.author)
        return replace(
            there,
            number=0,
            id=identifier,
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
        """So that neither the same restore nor an import brings it a second time."""
        origins = list(keepsake.origins)
        if memory.id != keepsake.memory.id:
            origins.append(Origin(SOURCE, keepsake.memory.id))
        for origin in origins:
            if origin.source == SOURCE or self._tx.origin(*origin) is None:
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

    def _tie(self, ties: Ties) -> int:
        """Between what is here, or came back just now."""
        ends = ties.ends | self._ids
        between = [link for link in ties.links if link.source in ends and link.target in ends]
        placed = [replace(link, source=ends[link.source], target=ends[link.target]) for link in between]
        return sum(self._tx.links.keep(link) for link in placed if link.source != link.target)
