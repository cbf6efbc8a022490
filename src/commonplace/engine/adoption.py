"""Taking in files of spaces that someone else wrote: another server, an editor, a backup."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection
from commonplace.domain.errors import AlreadyExists, Invalid
from commonplace.domain.front_matter import NoteText, note_text, plainly, split, written
from commonplace.domain.memory import MAX_CONTENT_BYTES, Change, Draft
from commonplace.domain.space import FileKind, Place, SpaceFile
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference, checked
from commonplace.engine.spaces import Spaces
from commonplace.engine.tokens import Tokens
from commonplace.ports import Clock, Prints, Store, Transaction
from commonplace.ports.files import Held

BANK = "bank"
"""The category of what a bank's file says, among all other memories."""
SYNTHESIS = "synthesis"
_CATEGORIES = {FileKind.BANK: BANK, FileKind.SYNTHESIS: SYNTHESIS}
_FINDABLE = (FileKind.NOTE, FileKind.BANK, FileKind.SYNTHESIS)


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was read somewhere."""

    path: str
    held: Held


@dataclass(slots=True)
class Adopted:
    """What became of the files."""

    spaces: int = 0
    notes: int = 0
    files: int = 0
    tokens: int = 0
    changed: int = 0
    left: list[str] = field(default_factory=list)
    """What could not be taken in, and why."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A file of a space, understood, with what is derived from its text."""

    place: Place
    note: NoteText
    held: Held
    prints: Prints | None


class Adoption:
    """The way in. What is known already stays as it is; what differs becomes a new version."""

    def __init__(
        self, store: Store, memories: Memories, spaces: Spaces, tokens: Tokens, embedding: Embedding, clock: Clock
    ) -> None:
        self._store = store
        self._memories = memories
        self._spaces = spaces
        self._tokens = tokens
        self._embedding = embedding
        self._clock = clock

    async def take(
        self, actor: Actor, found: Sequence[Found], adopted: Adopted | None = None, *, only_new: bool = False
    ) -> Adopted:
        """All of them or none. A space comes with its `_meta.json`; its files follow."""
        adopted = adopted or Adopted()
        metas = [one for one in found if one.path.endswith(f"/{rule.META}")]
        registries = [one for one in found if one.path == rule.TOKENS]
        read = [await self._read(one, adopted) for one in found if rule.file_place(one.path)]

        def work(tx: Transaction) -> None:
            for one in metas:
                if only_new and tx.spaces.named(name := one.path.partition("/")[0]):
                    raise AlreadyExists("space", name)
                self._take_meta(tx, actor, one, adopted)
            for registry in registries:
                self._take_tokens(tx, registry, adopted)
            for file in filter(None, read):
                self._take_file(tx, actor, file, adopted)

        await self._store.write(work)
        return adopted

    async def _read(self, found: Found, adopted: Adopted) -> _Read | None:
        place = rule.file_place(found.path)
        assert place
        try:
            text = found.held.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            adopted.left.append(f"{found.path}: it is not UTF-8")
            return None
        if len(found.held.data) > MAX_CONTENT_BYTES or "\x00" in text:
            adopted.left.append(f"{found.path}: it is larger than 1 MB, or no text")
            return None
        note = understood(place, text, found.held.modified)
        findable = place.kind in _FINDABLE and not _is_blank(note.content)
        return _Read(place, note, found.held, await self._embedding.prints(note.content) if findable else None)

    def _take_meta(self, tx: Transaction, actor: Actor, found: Found, adopted: Adopted) -> None:
        name, told = found.path.partition("/")[0], _json_object(found.held.data)
        if not rule.is_space_id(name) or told is None:
            adopted.left.append(f"{found.path}: it is no description of a space")
            return
        space = tx.spaces.named(name)
        metadata = rule.metadata_from(told)
        if space is None:
            self._spaces.found_in(tx, actor.user, name, metadata, _moment(told.get("created_at"), found.held))
            adopted.spaces += 1
        elif rule.meta(replace(space, metadata=metadata)) != rule.meta(space):
            tx.collections.describe(replace(space, metadata={**space.metadata, **metadata}))
            adopted.changed += 1

    def _take_tokens(self, tx: Transaction, found: Found, adopted: Adopted) -> None:
        told = _json_object(found.held.data) or {}
        entries = told.get("tokens")
        if isinstance(entries, list):
            adopted.tokens += self._tokens.adopt_in(tx, [one for one in entries if isinstance(one, Mapping)])

    def _take_file(self, tx: Transaction, actor: Actor, file: _Read, adopted: Adopted) -> None:
        space = tx.spaces.named(file.place.space)
        if space is None:
            adopted.left.append(f"{file.place.space}/{file.place.name}: its space has no {rule.META}")
            return
        known = tx.spaces.file(space.number, file.place.kind, file.place.name)
        if known is None:
            self._add(tx, actor, space, file, adopted)
        elif known.content != file.note.content:
            self._change(tx, actor, known, file)
            adopted.changed += 1

    def _add(self, tx: Transaction, actor: Actor, space: Collection, file: _Read, adopted: Adopted) -> None:
        memory = None
        if file.prints is not None:
            draft = _draft(space, file)
            if draft is None:
                adopted.left.append(f"{space.name}/{file.place.name}: its tags cannot be kept")
                return
            memory = self._memories.remember_in(tx, actor, draft, file.prints, at=file.note.at, revised_at=file.note.at)
        tx.spaces.put(
            SpaceFile(
                number=0,
                space=space.number,
                kind=file.place.kind,
                name=file.place.name,
                content=file.note.content,
                agent=file.note.agent,
                at=file.note.at,
                changed_at=file.held.modified,
                size=_size(space, file),
                memory=memory.number if memory else None,
            )
        )
        if file.place.kind is FileKind.NOTE:
            adopted.notes += 1
        else:
            adopted.files += 1

    def _change(self, tx: Transaction, actor: Actor, known: SpaceFile, file: _Read) -> None:
        if known.id is None or file.prints is None:
            now = file.held.modified
            text = file.note.content
            tx.spaces.rewrite(replace(known, content=text, changed_at=now, size=len(file.held.data)))
            return
        self._memories.revise_in(tx, actor, Reference(known.id), Change(content=file.note.content), file.prints)

    async def keep_beside(self, actor: Actor, found: Found) -> None:
        """Keep a text that is about to be written over as a version, and the present one as the version after it."""
        place = rule.file_place(found.path)
        theirs = await self._read(found, Adopted()) if place else None
        if place is None or theirs is None or theirs.prints is None:
            return
        ours = await self._store.read(lambda tx: _file(tx.spaces.named(place.space), tx, place))
        if ours is None or ours.id is None or ours.content == theirs.note.content:
            return
        again, prints = Reference(ours.id), await self._embedding.prints(ours.content)
        kept, text = theirs.prints, Change(content=theirs.note.content)

        def work(tx: Transaction) -> None:
            self._memories.revise_in(tx, actor, again, text, kept, ours.version)
            self._memories.revise_in(tx, actor, again, Change(content=ours.content), prints)

        await self._store.write(work)

    async def let_go(self, actor: Actor, paths: Iterable[str]) -> int:
        """Files that someone removed outside are removed here too."""
        places = [place for place in map(rule.file_place, paths) if place and place.kind in _FINDABLE]

        def work(tx: Transaction) -> int:
            now, gone = self._clock.now(), 0
            for place in places:
                file = _file(tx.spaces.named(place.space), tx, place)
                if file is None:
                    continue
                gone += 1
                if file.memory is None:
                    tx.spaces.remove(file.number)
                    continue
                for memory in tx.memories([file.memory], self._memories.everything_in(file.space)):
                    self._memories.erase_in(tx, memory, actor.author, now)
            return gone

        return await self._store.write(work)


def understood(place: Place, text: str, modified: datetime) -> NoteText:
    """What a file says: a note has a head, anything else is all text."""
    if place.kind is not FileKind.NOTE:
        return NoteText("", _CATEGORIES.get(place.kind, ""), (), modified, text)
    head, content = split(text)
    return note_text(place.name, _head(head), content, modified)


def _head(text: str) -> Mapping[str, Any]:
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else plainly(text)


def _draft(space: Collection, file: _Read) -> Draft | None:
    metadata = {"agent": file.note.agent, "filename": file.place.name}
    category, tags = file.note.category, file.note.tags
    draft = Draft(file.note.content, tags, (), category, metadata=metadata, content_type="markdown", home=space.id)
    try:
        return checked(draft)
    except Invalid:
        return None


def _file(space: Collection | None, tx: Any, place: Place) -> SpaceFile | None:
    found: SpaceFile | None = tx.spaces.file(space.number, place.kind, place.name) if space else None
    return found


def _size(space: Collection, file: _Read) -> int:
    if file.place.kind is FileKind.NOTE:
        return len(written(file.note, space.name).encode())
    return len(file.note.content.encode())


def _json_object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _moment(value: object, held: Held) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return held.modified
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def _is_blank(text: str) -> bool:
    return not text.strip()
