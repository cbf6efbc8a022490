"""Taking in files of spaces that someone else wrote: another server, an editor, a backup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.collection import Collection
from commonplace.domain.errors import AlreadyExists, Conflict
from commonplace.domain.front_matter import written
from commonplace.domain.memory import Change, Draft
from commonplace.domain.space import FileKind, Mirrored, Place, SpaceFile
from commonplace.engine.embedding import Embedding
from commonplace.engine.finds import (
    BANK,
    FINDABLE,
    SYNTHESIS,
    Found,
    Understood,
    json_object,
    moment,
    token_entries,
    understood,
)
from commonplace.engine.memories import Memories, Reference, checked
from commonplace.engine.spaces import Spaces
from commonplace.engine.tokens import SCHEME, Tokens
from commonplace.ports import Clock, Reading, Store, Transaction

__all__ = ["BANK", "SYNTHESIS", "Adopted", "Adoption", "Brought", "Found", "Ledger"]


@dataclass(slots=True)
class Adopted:
    """What became of the files."""

    spaces: int = 0
    notes: int = 0
    files: int = 0
    tokens: int = 0
    changed: int = 0
    known: int = 0
    left: list[str] = field(default_factory=list)
    """What could not be taken in, and why."""

    def include(self, other: Adopted) -> None:
        self.spaces += other.spaces
        self.notes += other.notes
        self.files += other.files
        self.tokens += other.tokens
        self.changed += other.changed
        self.known += other.known
        self.left += other.left


class Ledger:
    """Which files are to be taken in, and that they were, told in the transaction that does it. Here: all, always."""

    def is_due(self, tx: Reading, found: Found) -> bool:
        return True

    def settle(self, tx: Transaction, found: Found) -> None:
        """It was taken in, or never can be."""


class Brought(Ledger):
    """For an import: what was brought once does not come again, whatever became of it here."""

    def is_due(self, tx: Reading, found: Found) -> bool:
        return not tx.spaces.was_brought(found.path, found.digest)

    def settle(self, tx: Transaction, found: Found) -> None:
        if tx.spaces.named(found.space) or found.path == rule.TOKENS:
            tx.spaces.note_brought(found.path, found.digest)


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
        self, actor: Actor, found: Sequence[Found], ledger: Ledger | None = None, *, only_new: bool = False
    ) -> Adopted:
        """All of them or none; what cannot be taken in is named. A space comes with its `_meta.json`."""
        chosen = ledger or Ledger()
        ordered = sorted(found, key=lambda one: not one.is_meta)
        due = await self._store.read(lambda tx: [one for one in ordered if chosen.is_due(tx, one)])
        files = {one.path: await self._printed(understood(one)) for one in due}

        def work(tx: Transaction) -> Adopted:
            adopted = Adopted(known=len(found) - len(due))  # made here, because work may be done over
            for one in due:
                if chosen.is_due(tx, one):
                    self._take(tx, actor, one, files[one.path], adopted, chosen, only_new=only_new)
            return adopted

        return await self._store.write(work)

    async def _printed(self, file: Understood | str | None) -> Understood | str | None:
        """With what a search finds it by, unless just this text is here already."""
        if not isinstance(file, Understood) or not file.is_findable:
            return file
        if await self._store.read(lambda tx: _is_known(tx, file)):
            return file
        return replace(file, prints=await self._embedding.prints(file.note.content))

    def _take(
        self,
        tx: Transaction,
        actor: Actor,
        found: Found,
        file: Understood | str | None,
        adopted: Adopted,
        ledger: Ledger,
        *,
        only_new: bool,
    ) -> None:
        """What has to be left is not settled: it is still theirs, and not to be written over unseen."""
        if only_new and found.is_meta and tx.spaces.named(found.space):
            raise AlreadyExists("space", found.space)
        left = len(adopted.left)
        if isinstance(file, str):
            adopted.left.append(file)
        elif file:
            self._take_file(tx, actor, file, adopted)
        elif found.is_meta:
            self._take_meta(tx, actor, found, adopted)
        elif found.path == rule.TOKENS:
            self._take_tokens(tx, found, adopted)
        if len(adopted.left) == left:
            ledger.settle(tx, found)

    def _take_meta(self, tx: Transaction, actor: Actor, found: Found, adopted: Adopted) -> None:
        name, told = found.space, json_object(found.held.data)
        if not rule.is_space_id(name) or told is None:
            adopted.left.append(f"{found.path}: it is no description of a space")
            return
        space, metadata = tx.spaces.named(name), rule.metadata_from(told)
        if space is None:
            since = moment(told.get("created_at"), found.held.modified)
            self._spaces.found_in(tx, actor.user, name, metadata, since)
            adopted.spaces += 1
        elif rule.meta(replace(space, metadata=metadata)) != rule.meta(space):
            tx.collections.describe(replace(space, metadata={**space.metadata, **metadata}))
            adopted.changed += 1
        else:
            adopted.known += 1

    def _take_tokens(self, tx: Transaction, found: Found, adopted: Adopted) -> None:
        entries = token_entries(found.held.data)
        if entries is None:
            adopted.left.append(f"{found.path}: it is no registry of tokens")
            return
        adopted.tokens += self._tokens.adopt_in(tx, entries)
        hashes = [str(one.get("hash", "")).removeprefix(SCHEME).lower() for one in entries]
        unclear = sum(tx.credential_by_hash(hashed) is None for hashed in hashes)
        if unclear:
            adopted.left.append(f"{found.path}: what {unclear} of its tokens allow is not clear")

    def _take_file(self, tx: Transaction, actor: Actor, file: Understood, adopted: Adopted) -> None:
        space = tx.spaces.named(file.place.space)
        known = tx.spaces.file(space.number, file.place.kind, file.place.name) if space else None
        if space is None:
            adopted.left.append(f"{file.found.path}: its space has no {rule.META}")
        elif known is None:
            self._add(tx, actor, space, file)
            adopted.notes += file.place.kind is FileKind.NOTE
            adopted.files += file.place.kind is not FileKind.NOTE
        elif known.memory is not None and not file.is_findable:
            adopted.left.append(f"{file.found.path}: it was emptied; what it said stays")
            tx.spaces.unknow(file.found.path)
            tx.spaces.mark(file.found.path)
        elif file.is_said_by(known):
            adopted.known += 1
        else:
            self._change(tx, actor, space, known, file)
            adopted.changed += 1

    def _add(self, tx: Transaction, actor: Actor, space: Collection, file: Understood) -> None:
        memory, at = None, file.note.at
        if file.is_findable:
            if file.prints is None:
                raise Conflict("file", file.found.path)  # it was here a moment ago
            memory = self._memories.remember_in(tx, actor, _draft(space, file), file.prints, at=at, revised_at=at)
        tx.spaces.put(
            SpaceFile(
                number=0,
                space=space.number,
                kind=file.place.kind,
                name=file.place.name,
                content=file.note.content,
                agent=file.note.agent,
                at=at,
                changed_at=file.found.held.modified,
                size=_size(space, file),
                memory=memory.number if memory else None,
            )
        )

    def _change(self, tx: Transaction, actor: Actor, space: Collection, known: SpaceFile, file: Understood) -> None:
        if known.id is None and file.is_findable:  # it was empty, and only what says something is a memory
            tx.spaces.remove(known.number)
            self._add(tx, actor, space, file)
            return
        change = file.change_of(known)
        if known.id is not None and change.fields:
            if change.content is not None and file.prints is None:
                raise Conflict("file", file.found.path)  # it said the same a moment ago
            self._memories.revise_in(tx, actor, Reference(known.id), change, file.prints)
        now, note = file.found.held.modified, file.note
        shown = replace(known, content=note.content, agent=note.agent, at=note.at, changed_at=now)
        tx.spaces.rewrite(replace(shown, size=_size(space, file)))

    # What was changed on both sides, and what is gone

    async def keep_beside(self, actor: Actor, found: Found) -> bool:
        """Keep what is about to be written over; False where there is no place for it here."""
        if found.path == rule.TOKENS:
            await self.take(actor, [found])
            return token_entries(found.held.data) is not None
        if found.is_meta:
            return await self._store.write(lambda tx: _keep_foreign(tx, found))
        theirs = understood(found)
        return isinstance(theirs, Understood) and await self._keep_version(actor, theirs)

    async def _keep_version(self, actor: Actor, theirs: Understood) -> bool:
        """Their text as a version, and the present one as the version after it."""
        ours = await self._store.read(lambda tx: _file(tx, theirs.place))
        if ours is None or ours.id is None or not theirs.is_findable:
            return not theirs.note.content.strip() or (ours is not None and theirs.is_said_by(ours))
        reference, change = Reference(ours.id), theirs.change_of(ours)
        back = Change(content=ours.content, tags=ours.tags, category=ours.category)
        prints = [await self._embedding.prints(text) for text in (theirs.note.content, ours.content)]

        def work(tx: Transaction) -> None:
            if change.fields:
                self._memories.revise_in(tx, actor, reference, change, prints[0], ours.version)
                self._memories.revise_in(tx, actor, reference, back, prints[1])

        await self._store.write(work)
        return True

    async def let_go(self, actor: Actor, gone: Iterable[Mirrored]) -> int:
        """Files that someone removed outside are removed here too, unless they have changed here since."""
        return await self._store.write(lambda tx: sum(self._let_go(tx, actor, one) for one in gone))

    def _let_go(self, tx: Transaction, actor: Actor, gone: Mirrored) -> int:
        if tx.spaces.mirrored(gone.path) != gone or tx.spaces.mark_of(gone.path):
            return 0
        place = rule.file_place(gone.path)
        file = _file(tx, place) if place else None
        tx.spaces.unknow(gone.path)
        if file is None or file.kind not in FINDABLE:
            tx.spaces.mark(gone.path)  # a space cannot be without it: it is put back
            return 0
        if file.memory is None:
            tx.spaces.remove(file.number)
        else:
            for memory in tx.memories([file.memory], self._memories.everything_in(file.space)):
                self._memories.erase_in(tx, memory, actor.author, self._clock.now())
        tx.spaces.unmark(gone.path)
        return 1


def _is_known(tx: Reading, file: Understood) -> bool:
    known = _file(tx, file.place)
    return known is not None and known.memory is not None and known.content == file.note.content


def _draft(space: Collection, file: Understood) -> Draft:
    metadata = {"agent": file.note.agent, "filename": file.place.name}
    note = file.note
    draft = Draft(note.content, note.tags, category=note.category, metadata=metadata, home=space.id)
    return checked(replace(draft, content_type="markdown"))


def _keep_foreign(tx: Transaction, found: Found) -> bool:
    """What others keep in a description is theirs to change; the rest of it is ours."""
    told, space = json_object(found.held.data), tx.spaces.named(found.space)
    if told is None or space is None:
        return False
    foreign = rule.metadata_from(told)["foreign"]
    if foreign != space.metadata.get("foreign", {}):
        tx.collections.describe(replace(space, metadata={**space.metadata, "foreign": foreign}))
        tx.spaces.mark(found.path)
    return True


def _file(tx: Reading, place: Place) -> SpaceFile | None:
    space = tx.spaces.named(place.space)
    return tx.spaces.file(space.number, place.kind, place.name) if space else None


def _size(space: Collection, file: Understood) -> int:
    if file.place.kind is FileKind.NOTE:
        return len(written(file.note, space.name).encode())
    return len(file.note.content.encode())
