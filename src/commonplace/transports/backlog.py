"""What a session was sent, kept for a while, so that a client whose connection broke gets what it missed."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import takewhile

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse

STANDING = GET_STREAM_KEY
"""The stream of what is told without having been asked for; the others are named by the request they answer."""
_BYTES = 64 * 1024 * 1024
_MESSAGES = 100_000


class Room:
    """Bounds what all sessions of a port keep together: the oldest goes first, whosever it is."""

    def __init__(self, size: int = _BYTES, most: int = _MESSAGES) -> None:
        self._left = size
        self._most = most
        self._taken: deque[tuple[weakref.ref[Backlog], int, int]] = deque()

    def take(self, backlog: Backlog, number: int, size: int) -> None:
        self._taken.append((weakref.ref(backlog), number, size))
        self._left -= size
        while self._left < 0 or len(self._taken) > self._most:
            owner, oldest, freed = self._taken.popleft()
            self._left += freed
            if (held := owner()) is not None:
                held.drop(oldest)


@dataclass(frozen=True, slots=True)
class Kept:
    """A message and its number; without a message, a mark that a stream began here."""

    number: int
    stream: str
    message: JSONRPCMessage | None

    @property
    def identifier(self) -> str:
        return f"{'s' if self.stream == STANDING else 'r'}{self.number}"

    @property
    def ends_its_stream(self) -> bool:
        return self.stream != STANDING and isinstance(self.message, JSONRPCResponse | JSONRPCError)


class Backlog(EventStore):
    """The messages of one session, in order. One of its own for each: requests of two sessions may have equal ids."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._kept: deque[Kept] = deque()
        self._last = 0
        self._dropped = 0
        self._arrival = anyio.Event()
        self._followers: dict[str, object] = {}
        self._closed = False

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self._last += 1
        kept = Kept(self._last, stream_id, message)
        self._kept.append(kept)
        size = len(message.model_dump_json(by_alias=True, exclude_unset=True)) if message else 0
        self._room.take(self, kept.number, size)
        self._wake()
        return kept.identifier

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """What was missed, and then what follows, until the stream is over.

        The SDK would go on itself, but what is sent between its two steps would reach nobody.
        """
        place = self._place(last_event_id)
        if place is None:
            return None
        async with aclosing(self.after(*place)) as following:
            async for kept in following:
                if kept.message is not None:
                    await send_callback(EventMessage(kept.message, kept.identifier))
                if kept.ends_its_stream:
                    break
        return None

    async def after(self, stream: str, number: int) -> AsyncGenerator[Kept, None]:
        """The messages of a stream behind a number as they come, until someone else follows it or all is over."""
        me = self._followers[stream] = object()
        self._wake()
        while self._followers.get(stream) is me and not self._closed:
            arrival = self._arrival
            for kept in self._behind(number):
                number = kept.number
                if kept.stream == stream:
                    yield kept
            if self._arrival is arrival:
                await arrival.wait()

    def holds_all_behind(self, number: int) -> bool:
        """Whether nothing behind this number has been dropped."""
        return self._dropped <= number <= self._last

    def drop(self, number: int) -> None:
        """Forget everything up to a number."""
        while self._kept and self._kept[0].number <= number:
            self._dropped = self._kept.popleft().number

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        self._arrival.set()
        self._arrival = anyio.Event()

    def _behind(self, number: int) -> list[Kept]:
        return list(takewhile(lambda kept: kept.number > number, reversed(self._kept)))[::-1]

    def _place(self, identifier: str) -> tuple[str, int] | None:
        """The stream and number that an id names; None when it is unknown, forgotten, or the last of its stream."""
        kind, digits = identifier[:1], identifier[1:]
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 18 or kind not in ("s", "r"):
            return None
        number = int(digits)
        if kind == "s":
            return (STANDING, number) if number <= self._last else None
        kept = next((kept for kept in self._kept if kept.number == number), None)
        return (kept.stream, number) if kept and not kept.ends_its_stream else None
