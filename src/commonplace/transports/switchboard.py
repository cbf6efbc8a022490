"""The lines that are open in this process, and one who follows the store for all of them."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import anyio

from commonplace.dialects.creo.presence import connection
from commonplace.dialects.creo.subscription import notification
from commonplace.domain.access import Actor, Permission, require, require_whole
from commonplace.domain.errors import CommonplaceError, Forbidden, StoreFailed, Unauthenticated
from commonplace.domain.identifiers import UserId
from commonplace.domain.presence import Presence, Status, connection_of
from commonplace.engine import Engine
from commonplace.engine.watches import News, Stretch
from commonplace.transports.subscriptions import audience_key

logger = logging.getLogger(__name__)

PAUSE = 0.15
"""Seconds between two looks: a change is pushed within about twice this time, whichever process made it."""
MOST_LINES = 500
ROOM = 1000
"""Messages that may wait for a client."""
BATCH = 250
PATIENCE = 5.0
"""Seconds that a client whose room is full may take nothing."""
SURE_FOR = 5.0
"""Seconds after which every credential is looked at again, whether there is something to tell or not."""
GOING_AWAY = 1001
TRY_AGAIN_LATER = 1013
UNAUTHENTICATED = 4401
FORBIDDEN = 4403


class Line:
    """A socket. Its position is the event up to which everything was put on its way."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.key = audience_key(actor)
        self.connection = connection_of(actor.user, actor.session)
        self.waiting: asyncio.Queue[str] = asyncio.Queue(ROOM)
        self.scope = anyio.CancelScope()
        self.ending: tuple[int, str] | None = None
        self.listening = False
        """Whether the client has said from where on it wants to hear."""
        self.position = 0
        self.moved = time.monotonic()
        """When the client last took something, or had taken everything."""

    @property
    def has_room(self) -> bool:
        return self.waiting.qsize() <= ROOM - BATCH

    def push(self, texts: Iterable[str]) -> None:
        """Never waits: who does not keep up has to come back, and gets by number what it missed."""
        if self.waiting.empty():
            self.moved = time.monotonic()
        try:
            for text in texts:
                self.waiting.put_nowait(text)
        except asyncio.QueueFull:
            self.end(TRY_AGAIN_LATER, "too much is waiting for this client")

    def end(self, code: int, reason: str) -> None:
        if self.ending is None:
            self.ending = (code, reason)
            self.scope.cancel()


@dataclass
class _Audience:
    """The lines that were opened with one credential."""

    lines: set[Line] = field(default_factory=set)
    checked: float = 0.0


class Switchboard:
    """Looks at the store a few times a second while any line is open, however many there are."""

    def __init__(self, engine: Engine, patience: float = PATIENCE) -> None:
        self._engine = engine
        self._patience = patience
        self._audiences: dict[tuple[UserId, str], _Audience] = {}
        self._wanted = asyncio.Event()
        self._emptied = asyncio.Event()
        self._known: Mapping[str, Presence] | None = None
        self._change = 0
        self._comparing = anyio.Lock()
        self.closed = False

    def __len__(self) -> int:
        return sum(len(audience.lines) for audience in self._audiences.values())

    def held(self, actor: Actor) -> int:
        """How many lines one credential has."""
        caller = actor.user, actor.credential
        return sum((line.actor.user, line.actor.credential) == caller for line in self._lines)

    @property
    def _lines(self) -> list[Line]:
        return [line for audience in self._audiences.values() for line in audience.lines if line.ending is None]

    def add(self, line: Line) -> None:
        if not self._audiences:
            self._known = None  # whoever came and went meanwhile, nobody is to be told now
        self._audiences.setdefault(line.key, _Audience()).lines.add(line)
        self._emptied.clear()
        self._wanted.set()

    def remove(self, line: Line) -> None:
        audience = self._audiences[line.key]
        audience.lines.discard(line)
        if not audience.lines:
            del self._audiences[line.key]
        if not self._audiences:
            self._wanted.clear()
            self._emptied.set()

    async def close(self) -> None:
        """Let everyone go, and nobody in."""
        self.closed = True
        for line in self._lines:
            line.end(GOING_AWAY, "the server stops")
        if self._audiences:
            with anyio.move_on_after(1):
                await self._emptied.wait()

    # Whether they may still hear

    async def is_sure(self, line: Line, since: float) -> bool:
        """Whether what a line was opened with still opens it; asked anew unless that was done since then."""
        audience = self._audiences.get(line.key)
        if audience and line.ending is None and audience.checked < since:
            await self._check(line, audience)
        return line.ending is None

    async def _check(self, line: Line, audience: _Audience) -> None:
        began = time.monotonic()
        try:
            fresh = await self._engine.access.renewed(line.actor)
            require(fresh, Permission.READ)
            require_whole(fresh)
        except Unauthenticated:
            _end(audience.lines, UNAUTHENTICATED, "the credential is no longer valid")
        except Forbidden:
            _end(audience.lines, FORBIDDEN, "the credential no longer allows this")
        except StoreFailed:
            line.end(TRY_AGAIN_LATER, "the store cannot be read")
        else:
            audience.checked = began
            for one in audience.lines:
                one.actor = fresh.through(one.actor.tool, one.actor.session)

    async def _sure(self, lines: Iterable[Line]) -> list[Line]:
        """Those of them that may hear what the store held a moment ago."""
        since = time.monotonic()
        return [line for line in lines if await self.is_sure(line, since)]

    # Following

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._wanted.wait()
            more = False
            try:
                more = await self._look()
            except CommonplaceError as error:
                logger.warning("a change could not be told: %s", error)
            await asyncio.sleep(0 if more else PAUSE)

    async def _look(self) -> bool:
        """Once around; whether there is more to tell."""
        store = self._engine.store
        last, change = await store.read(lambda tx: (tx.last_event(), tx.attendance.last_change()))
        more = await self._tell_changes(last)
        await self._tell_presence(change)
        for line in self._lines:
            await self.is_sure(line, time.monotonic() - SURE_FOR)
        return more

    async def _tell_changes(self, last: int) -> bool:
        """One view of the store for all users. Lines of a user that are equally far are told the same."""
        groups: dict[tuple[UserId, int], list[Line]] = defaultdict(list)
        for line in self._lines:
            if line.listening and line.position != last and self._can_take(line):
                groups[line.actor.user, line.position].append(line)
        if not groups:
            return False
        told = await self._engine.watches.told(((lines[0].actor, at) for (_, at), lines in groups.items()), BATCH)
        for (user, position), stretch in told.items():
            await self._pass_on(groups[user, position], position, stretch)
        return any(stretch.more for stretch in told.values())

    def _can_take(self, line: Line) -> bool:
        """A line that is full is left behind for a while; the store keeps what it has not heard."""
        if line.has_room:
            return True
        if time.monotonic() - line.moved > self._patience:
            line.end(TRY_AGAIN_LATER, "this client takes nothing")
        return False

    async def _pass_on(self, lines: Sequence[Line], position: int, stretch: Stretch) -> None:
        texts = [change(news) for news in stretch.news]
        for line in await self._sure(lines) if texts else lines:
            if line.listening and line.position == position:  # it may have asked for something else meanwhile
                line.push(texts)
                line.position = stretch.through

    async def introduce(self, line: Line) -> None:
        """From now on the line hears who comes and goes, beginning with who is here.

        What it is told stands in the same view of the store with which the next one is compared: nobody is left out,
        and nothing older comes after what is newer.
        """
        async with self._comparing:
            if self._known is None:
                self._known = await self._engine.attendance.everyone()
            seen = await self._engine.attendance.shown([line.actor], list(self._known.values()))
            others = [one for one in seen[line.actor.user] if one.connection != line.connection]
            line.listening = True
            line.push(presence(one) for one in others[-BATCH:])

    async def _tell_presence(self, change: int) -> None:
        """By comparing with what was told last; time alone changes it too."""
        async with self._comparing:
            before = self._known
            if before is not None and change == self._change and _stands(before, self._engine.clock.now()):
                return
            here = await self._engine.attendance.everyone()
            self._known, self._change = here, change
            if before is not None:
                await self._tell_of(_differences(before, here))

    async def _tell_of(self, presences: Sequence[Presence]) -> None:
        lines = [line for line in self._lines if line.listening]
        if not (presences and lines):
            return
        seen = await self._engine.attendance.shown((line.actor for line in lines), presences)
        told = {user: [(one.connection, presence(one)) for one in shown] for user, shown in seen.items() if shown}
        for line in await self._sure(line for line in lines if line.actor.user in told):
            line.push(text for owner, text in told[line.actor.user] if owner != line.connection)


def change(news: News) -> str:
    """A message about a memory."""
    told = dict(notification(news))
    return json.dumps({"type": told.pop("event"), **told})


def presence(shown: Presence) -> str:
    """A message about a connection."""
    told: dict[str, Any] = {"type": "presence", **connection(shown)}
    return json.dumps(told)


def _end(lines: Iterable[Line], code: int, reason: str) -> None:
    for line in list(lines):
        line.end(code, reason)


def _stands(known: Mapping[str, Presence], now: datetime) -> bool:
    return all(presence.status_at(now) is presence.status for presence in known.values())


def _differences(before: Mapping[str, Presence], here: Mapping[str, Presence]) -> list[Presence]:
    changed = [one for name, one in here.items() if name not in before or before[name].face != one.face]
    gone = [replace(one, status=Status.GONE) for name, one in before.items() if name not in here]
    return changed + gone
