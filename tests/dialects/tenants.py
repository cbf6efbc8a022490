"""Two who live in one house: Ann, who keeps, shares and takes back; Ben, who comes, goes and looks."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Call
from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import Unauthenticated
from commonplace.domain.identifiers import MemoryId
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.settings import Settings
from tests.dialects.conversation import unique
from tests.dialects.tenancy import Ledger, Place, Private, Text, Who
from tests.dialects.walking import BAIT, call_by
from tests.fakes import Clock

T = TypeVar("T")
_USUAL = frozenset({Permission.READ, Permission.WRITE})


@dataclass
class Person:
    """Someone with a key, which is looked at in every call, as it is over HTTP."""

    engine: Engine
    settings: Settings
    key: str
    session: str

    async def actor(self) -> Actor:
        return await self.engine.access.authenticate(self.key)

    async def call(self, dialect: str, tool: str) -> Call:
        return call_by(self.engine, self.settings, await self.actor(), f"{dialect}.{tool}", self.session)

    async def do(self, dialect: str, tool: str, **arguments: Any) -> Any:
        """What a tool answers, which must be something good."""
        answer = await dialect_named(dialect).tools[tool](await self.call(dialect, tool), arguments)
        return answer.value["data"] if dialect == "assoc" else answer.value

    async def made(self, tool: str, *, under: str = "id", **arguments: Any) -> str:
        """The bare id of what a tool of creo has made."""
        return bare((await self.do("creo", tool, **arguments))[under])


def bare(identifier: str) -> str:
    return identifier.rpartition(":")[2]


Act = Callable[["Tenants"], Awaitable[str]]
ACTS: dict[Act, int] = {}
"""What may be done, and how often beside other things."""


class NotNow(Exception):
    """There is nothing that an act could be done to."""


def act(function: Act) -> Act:
    """Something that Ann or Ben may do at any time."""
    ACTS[function] = 1
    return function


def often(function: Act) -> Act:
    """Something that brings the two together."""
    ACTS[function] = 3
    return function


@dataclass
class Tenants:
    """Ann and Ben, and what becomes of what they do, in the program and in the model."""

    engine: Engine
    settings: Settings
    clock: Clock
    chance: random.Random
    ann: Person
    ben: Person
    ledger: Ledger
    token: str = ""
    shared_key: str = ""
    own: dict[str, list[str]] = field(default_factory=dict)
    """What is Ben's, by kind."""
    trace: list[str] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    before: int = 0
    """The last event before the latest step."""
    touched: list[Text] = field(default_factory=list)
    """What the latest step was done to."""

    @property
    def ben_id(self) -> str:
        return self.own["user"][0]

    @property
    def ann_id(self) -> str:
        return self.ledger.ann[0]

    # Choosing

    def one_of(self, some: Iterable[T]) -> T:
        found = list(some)
        if not found:
            raise NotNow
        return self.chance.choice(found)

    def place(self, *kinds: str, **having: Any) -> Place:
        """One of Ann's places that is not over."""
        lasting = (p for p in self.ledger.places if p.ends_at is None or p.ends_at > self.clock.now())
        return self.one_of(p for p in lasting if p.kind in kinds and all(getattr(p, k) == v for k, v in having.items()))

    def text(self, *kinds: str) -> Text:
        """One of Ann's texts that is still there, in a place of these kinds."""
        living = (t for t in self.ledger.texts if t.ends_at is None or t.ends_at > self.clock.now())
        self.touched.append(self.one_of(t for t in living if t.place.kind in kinds))
        return self.touched[-1]

    def visible(self, *rights: str) -> Text:
        """A text of Ann's that Ben may see, with one of these rights."""
        ledger = self.ledger
        self.touched.append(self.one_of(t for t in ledger.seen(Who.BEN) if ledger.right(Who.BEN, t.place) in rights))
        return self.touched[-1]

    async def step(self) -> None:
        """Do something, rather what was not done yet."""
        while True:
            weights = [weight / (1 + self.done.get(one.__name__, 0) / weight) for one, weight in ACTS.items()]
            (chosen,) = self.chance.choices([*ACTS], weights)
            if await self.try_out(chosen):
                return

    async def try_out(self, chosen: Act) -> bool:
        name, before = chosen.__name__, await self.engine.events.last()
        self.touched = []
        try:
            told = await chosen(self)
        except NotNow:
            return False
        self.done[name] = self.done.get(name, 0) + 1
        self.trace.append(f"{name}: {told}")
        self.before = before
        self.clock.advance(timedelta(seconds=1))
        self.ledger.now = self.clock.now()
        self.ledger.meet()
        return True

    # Writing down

    def words(self) -> tuple[str, str, str]:
        """A text with a hook and a secret in it."""
        hook, secret = unique(), unique()
        return f"{secret} {BAIT} {hook}", hook, secret

    async def keep(
        self, identifier: str, hook: str, secrets: Sequence[str], place: Place | None = None, **more: Any
    ) -> Text:
        """Note a text that Ann has just stored."""
        memory = await self.engine.memories.get(await self.ann.actor(), Reference(MemoryId(identifier)))
        ends_at = memory.ephemeral.ends_at if memory.ephemeral else None
        home = place or self.ledger.home
        text = Text(identifier, hook, [*secrets], home, memory.block, ends_at=ends_at, **more)
        self.ledger.texts.append(text)
        return text

    async def found(self, hook: str) -> str:
        """The id of the text that Ann has just stored, where a tool does not tell it."""
        results = (await self.ann.do("creo", "search", query=hook))["results"]
        return str(next(one["id"] for one in results if hook in one["content"]))

    def private(self, kind: str, identifier: str, *secrets: str) -> str:
        self.ledger.privates.append(Private(kind, identifier, [*secrets]))
        return f"{kind} {identifier}"

    def founded(self, kind: str, identifier: str, *secrets: str, **more: Any) -> str:
        self.ledger.places.append(Place(kind, identifier, [*secrets], **more))
        return f"{kind} {identifier}"

    # Those who look

    async def looking(self, who: Who) -> Person | None:
        """Who looks, if what he has opens anything at all."""
        keys = {Who.BEN: self.ben.key, Who.GUEST: self.shared_key, Who.AGENT: self.token}
        person = Person(self.engine, self.settings, keys[who], f"{who}/1")
        try:
            await person.actor()
        except Unauthenticated:
            return None
        return person


async def moved_in(engine: Engine, settings: Settings, clock: Clock, seed: int) -> Tenants:
    """The two at the beginning: Ben has one of everything and wants to hear of everything, Ann has nothing yet."""
    name, secret = unique(), unique()
    ann = await _enrolled(engine, settings, name, session=f"{secret}/1")
    ben = await _enrolled(engine, settings, "ben", session="ben/1")
    home = Place("home", unique())
    ledger = Ledger(clock.now(), home, ann=[(await ann.actor()).user, name])
    ledger.privates.append(Private("session", ann.session))
    tenants = Tenants(engine, settings, clock, random.Random(seed), ann, ben, ledger)
    await _furnish(tenants, ben)
    return tenants


async def _enrolled(engine: Engine, settings: Settings, name: str, session: str) -> Person:
    made = await engine.access.create_key(f"{name}-key", _USUAL, user=name)
    return Person(engine, settings, made.key, session)


async def _furnish(tenants: Tenants, ben: Person) -> None:
    me = (await ben.actor()).user
    own = tenants.own
    own["user"], own["session"] = [me], ["current"]
    own["memory"] = [await ben.made("remember", content="x")]
    own["annotation"] = [await ben.made("annotate", targetMemoryId=own["memory"][0], content="x")]
    own["atlas"] = [await ben.made("create_atlas", name="x")]
    own["context"] = [await ben.made("create_shared_context", name="x")]
    own["team"] = [await ben.made("team_create", name="x", ownerId=me)]
    own["label"] = [await ben.made("label_create", name="x")]
    own["category"] = [await ben.made("category_create", name="x")]
    own["todo"] = [await ben.made("create_todo", content="x")]
    own["key"] = [await ben.made("create_domain_shared_key", name="x", atlas_id=own["atlas"][0])]
    for channel in ("mcp", "websocket"):
        watch = await ben.made("subscribe_memories", under="subscriptionId", channel=channel)
        own["subscription"] = [watch]
    own["project"] = [(await ben.do("assoc", "project", action="create", name="x"))["project_id"]]
    own["place"] = [(await ben.do("assoc", "user", action="create_session"))["session_id"]]
    await ben.do("nocturne", "create_memory", parent_uri="core://", title="x", content="x", priority=1)
    own["uri"], own["space"] = ["core://x"], ["bens"]
    await ben.do("live", "space_create", space_id="bens", description="x", rules="- `a.md`: all")
    own["backup"] = [(await ben.do("live", "backup_create", space_id="bens"))["backup_id"]]
