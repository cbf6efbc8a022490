"""The verb consolidate: from a space's notes to its bank, all of it or nothing."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from commonplace.domain import space as rule
from commonplace.domain.access import Actor, Permission, Right, require
from commonplace.domain.bank import MAX_NOTES, BankFile, Category, Note, Plan
from commonplace.domain.collection import Collection
from commonplace.domain.consolidation import checked, parsed, prompt
from commonplace.domain.errors import Busy, Conflict, ModelFailed, PlanRefused
from commonplace.domain.filing import filed
from commonplace.domain.identifiers import UserId
from commonplace.domain.space import FileKind, SpaceFile
from commonplace.engine.bank import Bank, Printed, versions
from commonplace.engine.embedding import Embedding
from commonplace.engine.leases import held
from commonplace.engine.memories import Memories
from commonplace.engine.spaces import entered
from commonplace.ports import Clock, Prints, Reading, Store, Transaction
from commonplace.ports.completions import Completer

BUILT_IN = "built-in"
"""What stands for the model where none is asked."""
LEASE = timedelta(seconds=30)
"""After a process was killed in the middle, another may begin within this time."""
_TRIES = 2
_STEPS = 4

Progress = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What became of the notes."""

    notes: int
    remaining: int
    created: int
    updated: int
    unchanged: int
    synthesis_size: int
    tokens: int
    model: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Desk:
    """What lies on the table at one moment: notes to work in, and what they are worked into."""

    space: Collection
    rules: str
    synthesis: str
    files: Sequence[SpaceFile]
    notes: Sequence[SpaceFile]
    total: int

    @property
    def bank(self) -> list[BankFile]:
        return [BankFile(file.name, file.content) for file in self.files]


@dataclass(frozen=True, slots=True)
class _Decision:
    """What is to be written, and how many of the notes that covers."""

    plan: Plan
    used: int
    tokens: int
    model: str


class Consolidation:
    """One at a time for each space, whichever process runs it."""

    def __init__(
        self,
        store: Store,
        memories: Memories,
        bank: Bank,
        embedding: Embedding,
        clock: Clock,
        bell: asyncio.Event,
        completer: Completer | None,
        longest: timedelta,
    ) -> None:
        self._store = store
        self._memories = memories
        self._bank = bank
        self._embedding = embedding
        self._clock = clock
        self._bell = bell
        self.completer = completer
        self._longest = longest

    async def run(
        self, actor: Actor, space: str, agent: str, progress: Progress, asked: Completer | None = None
    ) -> Consolidated:
        """Work the notes into the bank: an administrator all of them, everyone else his own.

        The model of the settings is asked, else the caller's own; without either the notes are filed by the rules.
        """
        require(actor, Permission.WRITE)
        place = await self._store.read(lambda tx: entered(tx, actor, space, Right.WRITE))
        own = None if Permission.ADMIN in actor.permissions else actor.user
        began = self._clock.now()
        async with self._alone(place):
            desk = await self._store.read(lambda tx: _laid(tx, actor, space, own, agent))
            if not desk.notes:
                return Consolidated(0, 0, 0, 0, len(desk.files), 0, 0, BUILT_IN, 0.0)
            await progress(1, _STEPS)
            decision = await self._within_time(self._decided(desk, self.completer or asked))
            await progress(2, _STEPS)
            done = await self._write(actor, desk, decision, progress)
        return replace(done, seconds=(self._clock.now() - began).total_seconds())

    async def _within_time(self, work: Awaitable[_Decision]) -> _Decision:
        try:
            async with asyncio.timeout(self._longest.total_seconds()):
                return await work
        except TimeoutError as error:
            name = self.completer.name if self.completer else "of the client"
            raise ModelFailed(name, f"no answer within {self._longest.total_seconds():.0f} s") from error

    @asynccontextmanager
    async def _alone(self, space: Collection) -> AsyncIterator[None]:
        async with held(self._store, self._clock, f"consolidation:{space.number}", LEASE) as alone:
            if not alone:
                raise Busy("the consolidation", space.name)
            yield

    # Deciding

    async def _decided(self, desk: _Desk, completer: Completer | None) -> _Decision:
        notes = [_note(file) for file in desk.notes]
        if completer is None:
            return _Decision(await asyncio.to_thread(_filed, desk, notes), len(notes), 0, BUILT_IN)
        return await self._asked(desk, notes, completer)

    async def _asked(self, desk: _Desk, notes: Sequence[Note], completer: Completer) -> _Decision:
        """The model's plan; where it cannot be accepted, it is told why and asked once more."""
        tokens, feedback = 0, ""
        refused = PlanRefused("")
        for _ in range(_TRIES):
            boundary = f"=={secrets.token_hex(12)}=="
            question = prompt(desk.rules, desk.synthesis, notes, desk.bank, feedback, boundary=boundary)
            if not question.used:
                raise PlanRefused("not even the oldest note has room beside the bank and the rules")
            answer = await completer.complete(question.system, question.user)
            tokens += answer.tokens
            try:
                plan = await asyncio.to_thread(_understood, desk, answer.text)
            except PlanRefused as error:
                refused, feedback = error, error.reason
                continue
            return _Decision(plan, question.used, tokens, completer.name)
        raise refused

    # Writing

    async def _write(self, actor: Actor, desk: _Desk, decision: _Decision, progress: Progress) -> Consolidated:
        plan = decision.plan
        printed = await self._bank.printed(plan.writes)
        left = await self._embedding.prints(plan.synthesis) if plan.synthesis.strip() else None
        await progress(3, _STEPS)
        used = desk.notes[: decision.used]
        await self._store.write(lambda tx: self._write_in(tx, actor, desk, plan, printed, left, used))
        self._bell.set()
        await progress(_STEPS, _STEPS)
        return Consolidated(
            notes=len(used),
            remaining=desk.total - len(used),
            created=len(plan.created),
            updated=len(plan.updated),
            unchanged=plan.unchanged,
            synthesis_size=len(plan.synthesis.encode()),
            tokens=decision.tokens,
            model=decision.model,
            seconds=0.0,
        )

    def _write_in(
        self,
        tx: Transaction,
        actor: Actor,
        desk: _Desk,
        plan: Plan,
        printed: Printed,
        left: Prints | None,
        used: Sequence[SpaceFile],
    ) -> None:
        """In one transaction: the bank, the synthesis, what is known of the space; the notes that were read go last."""
        space = entered(tx, actor, desk.space.name, Right.WRITE)
        now = self._clock.now()
        self._bank.write_in(tx, actor, space, plan, printed, versions(desk.files))
        if left is not None:
            self._bank.put_synthesis_in(tx, actor, space, plan.synthesis, left)
        tx.collections.describe(replace(space, metadata=_counted(space, len(used), now)))
        tx.spaces.mark(f"{space.name}/{rule.META}")
        read = {file.memory: file.version for file in used if file.memory is not None}
        there = tx.memories(list(read), self._memories.everything_in(space.number))
        if {memory.number: memory.version for memory in there} != read:  # someone has changed one, or worked it in
            raise Conflict("note", space.name)
        for memory in there:
            self._memories.erase_in(tx, memory, actor.author, now)
        for file in used:
            if file.memory is None:
                tx.spaces.remove(file.number)


def _laid(tx: Reading, actor: Actor, name: str, own: UserId | None, agent: str) -> _Desk:
    space = entered(tx, actor, name, Right.WRITE)
    rules = tx.spaces.file(space.number, FileKind.RULES, rule.RULES)
    synthesis = tx.spaces.file(space.number, FileKind.SYNTHESIS, rule.SYNTHESIS)
    return _Desk(
        space=space,
        rules=rules.content if rules else "",
        synthesis=synthesis.content if synthesis else "",
        files=tx.spaces.files(space.number, FileKind.BANK),
        # In the order in which a prompt takes them: only those it had room for may be removed.
        notes=sorted(tx.spaces.oldest_notes(space.number, MAX_NOTES, own, agent), key=lambda one: (one.at, one.name)),
        total=tx.spaces.count_notes_of(space.number, own, agent),
    )


def _filed(desk: _Desk, notes: Sequence[Note]) -> Plan:
    return checked(filed(notes, desk.bank, desk.rules), desk.bank, desk.rules)


def _understood(desk: _Desk, answer: str) -> Plan:
    return checked(parsed(answer), desk.bank, desk.rules)


def _note(file: SpaceFile) -> Note:
    known = Category(file.category) if file.category in set(Category) else Category.OBSERVATION
    return Note(file.name, file.agent, known, file.tags, file.at, file.content)


def _counted(space: Collection, notes: int, now: datetime) -> dict[str, object]:
    known = space.metadata
    return {
        **known,
        "last_consolidation": rule.stamp(now),
        "consolidation_count": int(known.get("consolidation_count", 0)) + 1,
        "total_notes_processed": int(known.get("total_notes_processed", 0)) + notes,
    }
