"""The verb recall: from a question to the memories that answer it, with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations
from typing import TYPE_CHECKING

from commonplace.domain import limits
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.collection import Scope
from commonplace.domain.errors import StoreFailed
from commonplace.domain.filter import Filter
from commonplace.domain.likeness import ASKED, TEXTS, Guide
from commonplace.domain.memory import Memory
from commonplace.domain.ranking import (
    ALONE,
    DEFAULT,
    FAINT,
    Beside,
    Contest,
    Evidence,
    Ranked,
    Standing,
    Standings,
    Surroundings,
    closeness,
    folded,
)
from commonplace.engine.access import narrowed, own_labels, readable
from commonplace.engine.embedding import Embedding
from commonplace.engine.meanings import Meaning, Meanings
from commonplace.engine.passages import passage
from commonplace.language import samples
from commonplace.language.terms import query_terms
from commonplace.ports import Clock, LexicalHits, NothingScanned, Prints, Reading, Scan, Store, Transaction

if TYPE_CHECKING:
    from commonplace.domain.timephrase import TimePhrase
    from commonplace.ports import Vectors

ARM = 64
"""How many candidates each kind of search proposes."""
NEIGHBOURLY = 48
"""How many of those that lead by themselves have their neighbours looked at."""
ALIKE = 0.95
"""From this cosine on, two memories say the same."""
TOGETHER = 4
"""How many of the best were recalled together: their ties grow stronger."""
CLOSER = 0.05
"""By how much of what is missing to the strongest."""
MOST_RESULTS = 1000
_GLANCE = 24
"""How many of the nearest are compared in full precision where a few are wanted."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for, and among what."""

    text: str
    limit: int = 10
    threshold: float = 0.0
    scope: Scope | None = None
    """Where to look of all that the caller may see; None for everywhere."""
    since: datetime | None = None
    until: datetime | None = None
    importance_min: float | None = None
    importance_max: float | None = None
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    ephemeral: bool | None = None
    fold: bool = False
    metadata: tuple[tuple[str, str], ...] = ()
    words: bool = True
    """Whether words count beside meaning; they do in any case where there is no meaning to go by."""
    neighbours: bool = True
    """Whether what was written beside a memory tells something about it."""
    apart: int = 0
    """The number of a memory that is not looked for."""
    closest: int = 0
    """How many to name all the same where nothing reaches the threshold."""
    guide: Guide = ASKED
    """How closeness reads: as between a question and a memory, or as between two memories."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory, how close it is (calibrated), and why it stands where it stands."""

    memory: Memory
    similarity: float
    score: float
    reasons: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a search could go."""

    lexical_only: str = ""
    """Why meaning was not searched, where it was not."""
    whole: bool = True
    """False while some memories wait for their vectors, and can be found by their words only."""
    damage: str = ""
    """What was met where the file is damaged: then something may be left out."""


FAR = Reach()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found; `closest` is what comes nearest where nothing is close enough, and empty where something is."""

    hits: tuple[Hit, ...]
    closest: tuple[Hit, ...] = ()
    reach: Reach = FAR
    more: bool = False
    """Whether something was close enough that a greater limit would show."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What was found in a time that the question itself named; without a phrase, by an ordinary search."""

    phrase: TimePhrase | None
    searched_from: datetime | None
    searched_to: datetime | None
    memories: tuple[Memory, ...]
    total: int
    reach: Reach = FAR


class Recall:
    """Finding again."""

    def __init__(self, store: Store, embedding: Embedding, clock: Clock) -> None:
        self._store = store
        self._embedding = embedding
        self._clock = clock
        self._used: Counter[int] = Counter()
        self._writing: Counter[int] = Counter()
        self._together: Counter[tuple[int, int]] = Counter()
        self._meanings = Meanings(embedding)

    async def recall(self, actor: Actor, question: Question) -> Recalled:
        """The memories that answer best, best first."""
        require(actor, Permission.READ)
        question = _checked(question)
        now = self._clock.now()
        async with self._meanings.promised(question.text) as promised:

            def work(tx: Reading) -> Recalled:
                meaning = promised()  # before the first look at the file, which would keep this view of it open
                return self._found(tx, _among(tx, actor, question, now), question, meaning)

            recalled = await self._store.read(work)
        self._count([hit.memory.number for hit in recalled.hits])
        return recalled

    async def like(self, actor: Actor, memory: Memory, question: Question) -> Recalled:
        """What is like a memory, without the memory itself; by its meaning where there is one, the most alike first."""
        alone = replace(question, guide=TEXTS, apart=memory.number, neighbours=False, words=False)
        found = await self.recall(actor, alone)
        return replace(found, hits=_most_alike(found.hits), closest=_most_alike(found.closest))

    async def possible(self, actor: Actor, question: Question) -> bool:
        """Whether anything meets the conditions of a question, however far it is from its text."""
        require(actor, Permission.READ)
        now = self._clock.now()

        def work(tx: Reading) -> bool:
            among = _among(tx, actor, question, now)
            return tx.count(among) > len(tx.memories([question.apart], among))

        return await self._store.read(work)

    async def reminded(self, actor: Actor, prints: Prints, *, limit: int, least: float) -> tuple[Hit, ...]:
        """What a text that was just read brings to mind, by its meaning alone: nothing is embedded again."""
        if prints.vectors is None or Permission.READ not in actor.permissions:
            return ()
        vector, now = prints.vectors[0], self._clock.now()
        return await self._store.read(lambda tx: self._close(tx, readable(tx, actor, now), vector, limit, least))

    def _close(self, tx: Reading, among: Filter, vector: Vectors, limit: int, least: float) -> tuple[Hit, ...]:
        cosines = tx.scan(vector, self._embedding.fingerprint, among).best(_GLANCE)
        nearest = sorted(cosines, key=lambda number: (-cosines[number], number))[:limit]
        scale = self._embedding.scale
        alike = {number: TEXTS.similarity(closeness(cosines[number], 0.0, scale)) for number in nearest}
        there = tx.memories([number for number in nearest if alike[number] >= least], among)
        return tuple(Hit(memory, alike[memory.number], alike[memory.number], {}) for memory in there)

    async def to_the_point(self, memories: Sequence[Memory], question: str, most: int) -> list[Memory]:
        """The same memories, which a search gave; of a longer text only what stands around the part that answers."""
        vector = None
        if any(len(memory.content) > most for memory in memories):
            vector, _ = await self._meanings.of(question)
        if vector is None:
            return list(memories)

        def shortened(tx: Reading, memory: Memory) -> Memory:
            text = memory.content
            vectors = tx.vectors(memory.number, self._embedding.fingerprint) if len(text) > most else None
            return memory if vectors is None else replace(memory, content=passage(text, vectors, vector, most))

        return await self._store.read(lambda tx: [shortened(tx, memory) for memory in memories])

    async def rehearse(self) -> None:
        """Search where nothing is to be found: whoever asks first need not wait for what a search has to load."""
        question = Question(samples.ALIKE[0][0])
        meaning = await self._meanings.of(question.text)
        nowhere = Filter(frozenset(), self._clock.now())
        await self._store.read(lambda tx: self._found(tx, nowhere, question, meaning))

    def used(self, memory: Memory) -> Memory:
        """Someone has looked at it. It comes back with that counted, and with all that is not written down yet."""
        self._count([memory.number])
        return replace(memory, uses=memory.uses + self._used[memory.number] + self._writing[memory.number])

    async def recall_time(self, actor: Actor, text: str, *, language: str, margin: timedelta, limit: int) -> Moment:
        """Memories of the time that the text speaks of, ranked by what else it says."""
        from commonplace.domain.timephrase import detect

        now = self._clock.now()
        phrase = detect(limits.query(text), now.astimezone(actor.zone), language)
        if phrase is None:
            return await self._whenever(actor, text, limit)
        since, until = widened(phrase, margin)
        around, total, found = await self._during(actor, phrase.rest, since, until, limit)
        # The margin forgives a phrase that is a little off; what lies within the time itself must not drown in it.
        within, _, _ = await self._during(actor, phrase.rest, *widened(phrase, timedelta()), limit)
        memories = {memory.number: memory for memory in (*within, *around)}
        return Moment(phrase, since, until, tuple(memories.values())[:limit], total, found.reach)

    async def _during(
        self, actor: Actor, rest: str, since: datetime, until: datetime, limit: int
    ) -> tuple[Sequence[Memory], int, Recalled]:
        """What is of that time, how much there is in all, and how it was searched.

        First what answers the rest of the question, then the others, the newest first.
        """
        now = self._clock.now()
        page = await self._store.read(
            lambda tx: tx.page(replace(readable(tx, actor, now), since=since, until=until), limit)
        )
        found = Recalled(())
        if rest.strip():
            found = await self.recall(actor, Question(rest, limit, since=since, until=until))
        memories = {memory.number: memory for memory in (*(hit.memory for hit in found.hits), *page.memories)}
        return tuple(memories.values())[:limit], page.total, found

    async def _whenever(self, actor: Actor, text: str, limit: int) -> Moment:
        found = await self.recall(actor, Question(text, limit))
        memories = tuple(hit.memory for hit in found.hits)
        # How many would answer is unknown to a search; one more than shown says that there is more.
        total = len(memories) + found.more
        return Moment(None, None, None, memories, total, found.reach)

    def _count(self, shown: Sequence[int]) -> None:
        """Only where it can be written down: else it would grow for as long as the process runs."""
        if self._store.writable:
            self._used.update(shown)
            self._together.update(combinations(sorted(shown[:TOGETHER]), 2))

    async def flush_uses(self) -> None:
        """Write down what was recalled since the last time. Losing this in a crash loses a hint, not a memory."""
        used, self._used = self._used, Counter()
        together, self._together = self._together, Counter()
        self._writing += used
        now = self._clock.now()

        def work(tx: Transaction) -> None:
            tx.count_uses(used, now)
            for one, other in together:
                tx.links.strengthen(one, other, CLOSER, now)

        try:
            if used:
                await self._store.write(work)
        except StoreFailed:
            self._used += used
            raise
        finally:
            self._writing -= used

    def _found(self, tx: Reading, among: Filter, question: Question, meaning: Meaning) -> Recalled:
        """What is close enough, and what comes closest where nothing is."""
        vector, failure = meaning
        embedded = tx.embedded()
        if not failure and embedded.by not in (None, self._embedding.fingerprint):
            vector, failure = None, f"the store has vectors of {embedded.by}, not of {self._embedding.name}"
        contest = self._contest(tx, among, question, vector)

        def ranked(limit: int | None, least: float, *, or_said: bool = False) -> list[Ranked]:
            one_more = None if limit is None else limit + bool(question.apart)
            best = contest.best(one_more, least, or_said=or_said)
            return [one for one in best if one.row != question.apart][:limit]

        enough = question.guide.least(question.threshold)
        # One more tells whether there is more. Of those that say the same one remains: then more are to be looked at.
        close = ranked(None if question.fold else question.limit + 1, enough)
        if question.fold:
            close = self._unlike(tx, close[: question.limit * 4])
        short = question.closest > 0 and not close and enough > FAINT
        nearest = ranked(question.closest, FAINT) or ranked(question.closest, FAINT, or_said=True) if short else []
        hits, closest = (_hits(tx, among, some, question.guide) for some in (close[: question.limit], nearest))
        reach = Reach(failure, embedded.whole, tx.damage)
        return Recalled(hits, closest, reach, more=len(close) > question.limit)

    def _contest(self, tx: Reading, among: Filter, question: Question, vector: Vectors | None) -> Contest:
        arm = max(ARM, question.limit + bool(question.apart) + 1)  # one more tells whether there is more
        scan = NothingScanned() if vector is None else tx.scan(vector, self._embedding.fingerprint, among)
        literal = question.words or vector is None
        found = tx.lexical(query_terms(question.text), among, arm) if literal else LexicalHits({}, 0.0)
        nearest = scan.best(arm)
        cosines = scan.of({*nearest, *found.scores})
        evidence = Evidence({**cosines.best, **nearest}, cosines.wholes, found.scores, found.asked, found.words)
        around = _surroundings(tx, among, scan, evidence.cosines.keys())
        weights = DEFAULT if question.neighbours else ALONE
        return Contest(evidence, around, self._standings(tx), scale=self._embedding.scale, weights=weights)

    def _standings(self, tx: Reading) -> Standings:
        now = self._clock.now().timestamp()

        def look_up(rows: Sequence[int]) -> dict[int, Standing]:
            return {
                row: Standing(facts.importance, (now - facts.created) / 86400, facts.uses)
                for row, facts in tx.facts(rows).items()
            }

        return look_up

    def _unlike(self, tx: Reading, ranked: list[Ranked]) -> list[Ranked]:
        vectors = tx.whole_vectors([one.row for one in ranked], self._embedding.fingerprint)

        def alike(a: int, b: int) -> float:
            return float(vectors[a] @ vectors[b]) if a in vectors and b in vectors else 0.0

        return folded(ranked, alike, ALIKE)


def _hits(tx: Reading, among: Filter, ranked: Sequence[Ranked], guide: Guide) -> tuple[Hit, ...]:
    if not ranked:
        return ()
    found = {memory.number: memory for memory in tx.legible([one.row for one in ranked], among)}
    there = [one for one in ranked if one.row in found]
    return tuple(Hit(found[one.row], guide.similarity(one.closeness), one.score, one.reasons) for one in there)


def _most_alike(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: -hit.similarity))


def widened(phrase: TimePhrase, margin: timedelta) -> tuple[datetime, datetime]:
    """The phrase's time with a margin on both sides, as far as the calendar goes."""
    earliest, latest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    start = phrase.start if phrase.start.year > 1 else earliest
    since = max(start.astimezone(UTC), earliest + margin) - margin
    last_second = phrase.end.astimezone(UTC) + timedelta(microseconds=999_999)
    until = min(last_second, latest - margin) + margin
    return since, until


def _surroundings(tx: Reading, among: Filter, scan: Scan, known: Set[int]) -> Surroundings:
    def look_around(rows: Sequence[int]) -> Beside:
        neighbours = tx.neighbours(rows[:NEIGHBOURLY], among)
        return Beside(neighbours, *scan.of({*chain.from_iterable(neighbours.values())} - known))

    return look_around


def _among(tx: Reading, actor: Actor, question: Question, now: datetime) -> Filter:
    looking = narrowed(tx, actor, question.scope) if question.scope else actor
    return replace(
        readable(tx, looking, now),
        since=question.since,
        until=question.until,
        importance_min=question.importance_min,
        importance_max=question.importance_max,
        tags=question.tags,
        categories=question.categories,
        labels=own_labels(tx, actor, question.labels),
        ephemeral=question.ephemeral,
        metadata=question.metadata,
    )


def _checked(question: Question) -> Question:
    limits.within("limit", question.limit, 1, MOST_RESULTS)
    text = limits.query(question.text)
    return question if text == question.text else replace(question, text=text)
