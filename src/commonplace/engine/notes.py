"""The verbs on notes: what agents write down in a space while they work."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, Right, require
from commonplace.domain.bank import MAX_NOTE_CHARS, Category
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Invalid
from commonplace.domain.filter import Filter
from commonplace.domain.front_matter import NoteText, file_name, written
from commonplace.domain.memory import Draft
from commonplace.domain.space import MAX_LISTED_NOTES, FileKind, SpaceFile
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, checked
from commonplace.engine.spaces import entered
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

_MOST_SEARCHED = 100_000


@dataclass(frozen=True, slots=True)
class NotePage:
    """Some notes, the newest first, and how many there are."""

    notes: Sequence[SpaceFile]
    total: int


class Notes:
    """Append-only: a note is written once, by whoever may write in the space, and waits to be consolidated."""

    def __init__(
        self, store: Store, memories: Memories, embedding: Embedding, clock: Clock, bell: asyncio.Event
    ) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._bell = bell
        self._clock = clock

    async def write(
        self, actor: Actor, space: str, category: str, content: str, agent: str, tags: Sequence[str] = ()
    ) -> SpaceFile:
        """On disk when this returns; its file outside follows."""
        require(actor, Permission.WRITE)
        known = _category(category)
        text = _content(content)
        name = limits.label("agent", agent or "agent")
        draft = checked(Draft(text, tags=tuple(tags), category=known, content_type="markdown"))
        prints = await self._embedding.prints(text)

        def work(tx: Transaction) -> SpaceFile:
            place = entered(tx, actor, space, Right.WRITE)
            now = self._clock.now()
            note = NoteText(name, known, draft.tags, now, text)
            return self.write_in(tx, actor, place, note, _free_name(tx, place, note), prints)

        kept = await self._store.write(work)
        self._bell.set()
        return kept

    def write_in(
        self, tx: Transaction, actor: Actor, space: Collection, note: NoteText, name: str, prints: Prints
    ) -> SpaceFile:
        """The same, as part of a larger change, perhaps of a note written at another time."""
        metadata = {"agent": note.agent, "filename": name}
        draft = Draft(
            note.content,
            note.tags,
            category=note.category,
            metadata=metadata,
            content_type="markdown",
            home=space.id,
        )
        memory = self._memories.remember_in(tx, actor, draft, prints, at=note.at, revised_at=note.at)
        size = len(written(note, space.name).encode())
        file = SpaceFile(
            0, space.number, FileKind.NOTE, name, note.content, note.agent, note.at, note.at, size,
            memory.number, memory.id, 1, note.category, note.tags,
        )  # fmt: skip
        tx.spaces.put(file)
        return file

    async def page(
        self,
        actor: Actor,
        space: str,
        limit: int,
        *,
        category: str = "",
        agent: str = "",
        since: datetime | None = None,
    ) -> NotePage:
        """The newest first."""
        limits.within("limit", limit, 1, MAX_LISTED_NOTES)
        chosen = _category(category) if category else ""
        agent = limits.label("agent", agent) if agent.strip() else ""

        def work(tx: Reading) -> NotePage:
            number = entered(tx, actor, space).number
            notes = tx.spaces.notes(number, limit, category=chosen, agent=agent, since=since)
            return NotePage(notes, tx.spaces.count_notes(number, category=chosen, agent=agent, since=since))

        return await self._store.read(work)

    async def search(self, actor: Actor, space: str, query: str, limit: int) -> NotePage:
        """Those whose text holds the passage, letter for letter but for case; the newest first."""
        limits.query(query)
        limits.within("limit", limit, 1, MAX_LISTED_NOTES)
        now = self._clock.now()

        def work(tx: Reading) -> NotePage:
            number = entered(tx, actor, space).number
            among = Filter(frozenset({number}), now)
            holding = tx.paths.containing(query, among, _MOST_SEARCHED)
            found = tx.spaces.notes_among(number, holding, limit)
            return NotePage(found, tx.spaces.count_notes_among(number, holding))

        return await self._store.read(work)


def _free_name(tx: Reading, space: Collection, note: NoteText) -> str:
    while True:
        name = file_name(note.agent, note.category, note.at, secrets.token_bytes(4))
        if tx.spaces.file(space.number, FileKind.NOTE, name) is None:
            return name


def _category(value: str) -> str:
    if value not in set(Category):
        raise Invalid("category", f"{value[:80]!r} is not one of {', '.join(Category)}")
    return value


def _content(value: str) -> str:
    if len(value) > MAX_NOTE_CHARS:
        raise Invalid("content", f"is {len(value)} characters long; at most {MAX_NOTE_CHARS} are allowed")
    return limits.content(value)
