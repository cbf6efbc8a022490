"""The verbs on a space's bank: the files that its notes are consolidated into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from commonplace.domain import limits
from commonplace.domain import space as rule
from commonplace.domain.access import Actor
from commonplace.domain.bank import MAX_NAME_CHARS, BankFile, Plan
from commonplace.domain.collection import Collection
from commonplace.domain.errors import Conflict, NotFound
from commonplace.domain.memory import Change, Draft
from commonplace.domain.space import FileKind, SpaceFile
from commonplace.domain.unicode import normalised
from commonplace.engine.adoption import BANK, SYNTHESIS
from commonplace.engine.embedding import Embedding
from commonplace.engine.memories import Memories, Reference
from commonplace.engine.spaces import entered
from commonplace.ports import Clock, Prints, Reading, Store, Transaction

Printed = Sequence[tuple[BankFile, Prints]]


class Bank:
    """What is known in a space, file by file. Each is a memory too, so that its versions are kept and it is found."""

    def __init__(self, store: Store, memories: Memories, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._memories = memories
        self._embedding = embedding
        self._clock = clock

    async def files(self, actor: Actor, space: str) -> Sequence[SpaceFile]:
        return await self._store.read(lambda tx: tx.spaces.files(entered(tx, actor, space).number, FileKind.BANK))

    async def file(self, actor: Actor, space: str, name: str) -> SpaceFile:
        sought = normalised("NFC", limits.text("filename", name))

        def work(tx: Reading) -> SpaceFile:
            number = entered(tx, actor, space).number
            kept = (tx.spaces.file(number, FileKind.BANK, form) for form in (sought, name))
            found = next(filter(None, kept), None)
            if found is None:
                raise NotFound("bank file", name[:MAX_NAME_CHARS])
            return found

        return await self._store.read(work)

    async def printed(self, files: Iterable[BankFile]) -> Printed:
        """Files with what is derived from their texts, which takes a while and so comes before any transaction."""
        return [(file, await self._embedding.prints(file.content)) for file in files]

    def write_in(
        self, tx: Transaction, actor: Actor, space: Collection, plan: Plan, printed: Printed, seen: Mapping[str, int]
    ) -> None:
        """A plan as part of a larger change; what has changed since it was made is not written over."""
        by_name = {file.filename: prints for file, prints in printed}
        for file in plan.created:
            if tx.spaces.file(space.number, FileKind.BANK, file.filename):
                raise Conflict("bank file", file.filename)
            self._add(tx, actor, space, FileKind.BANK, file, by_name[file.filename])
        for file in plan.updated:
            known = tx.spaces.file(space.number, FileKind.BANK, file.filename)
            if known is None or known.version != seen.get(file.filename):
                raise Conflict("bank file", file.filename)
            self._rewrite(tx, actor, known, file, by_name[file.filename])

    def put_synthesis_in(self, tx: Transaction, actor: Actor, space: Collection, text: str, prints: Prints) -> None:
        """What is left of the notes, instead of what was left before."""
        file = BankFile(rule.SYNTHESIS, text)
        known = tx.spaces.file(space.number, FileKind.SYNTHESIS, rule.SYNTHESIS)
        if known is None:
            self._add(tx, actor, space, FileKind.SYNTHESIS, file, prints)
        elif known.content != text:
            self._rewrite(tx, actor, known, file, prints)

    def _add(
        self, tx: Transaction, actor: Actor, space: Collection, kind: FileKind, file: BankFile, prints: Prints
    ) -> None:
        category = BANK if kind is FileKind.BANK else SYNTHESIS
        metadata = {"filename": file.filename}
        draft = Draft(file.content, category=category, metadata=metadata, content_type="markdown", home=space.id)
        memory = self._memories.remember_in(tx, actor, draft, prints)
        tx.spaces.put(_shown(space, kind, file, memory.number, self._clock.now()))

    def _rewrite(self, tx: Transaction, actor: Actor, known: SpaceFile, file: BankFile, prints: Prints) -> None:
        if known.id is not None:
            self._memories.revise_in(tx, actor, Reference(known.id), Change(content=file.content), prints)
            return
        tx.spaces.remove(known.number)  # it was empty, and only what says something is a memory
        space = tx.collections.numbered(known.space)
        assert space
        self._add(tx, actor, space, known.kind, file, prints)


def versions(files: Iterable[SpaceFile]) -> dict[str, int]:
    return {file.name: file.version for file in files}


def _shown(space: Collection, kind: FileKind, file: BankFile, memory: int, now: datetime) -> SpaceFile:
    size = len(file.content.encode())
    fresh = SpaceFile(0, space.number, kind, file.filename, file.content, "", now, now, size)
    return replace(fresh, memory=memory)
