"""stdio: one client, the owner of this machine. Nothing but protocol goes to stdout."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from contextlib import suppress
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

from commonplace.transports.mcp import DialectServer
from commonplace.transports.messages import Unreadable, read
from commonplace.transports.pipes import standard

logger = logging.getLogger(__name__)

_CHUNK = 65536
_PATIENCE = 30.0
"""Seconds without any answer, after the end of the input, until what is still unanswered is given up."""
_ENDLESS = ("subscriptions/listen",)
"""What is answered when the client leaves, and not before."""


async def serve(dialect: DialectServer) -> None:
    """Until the client closes its end."""
    async with standard() as (reader, writer):
        unanswered = _Unanswered()
        outgoing = _Outgoing(writer, unanswered)
        incoming: Any = _Incoming(reader, outgoing, unanswered)
        await serve_dual_era_loop(dialect.server, incoming, outgoing, lifespan_state={}, init_options=dialect.options)


class _Ended:
    """A stream that ends with the process: closing it leaves nothing to do."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    async def aclose(self) -> None:
        return None


class _Unanswered:
    """The requests that still wait for their answer."""

    def __init__(self) -> None:
        self._asked: Counter[types.RequestId] = Counter()
        self._answered = asyncio.Event()

    def asked(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method not in _ENDLESS:
            self._asked[message.id] += 1
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def answered(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def _settle(self, identifier: Any) -> None:
        if isinstance(identifier, int | str):
            self._asked -= Counter({identifier: 1})
        self._answered.set()

    async def wait(self) -> None:
        """Until all have been answered, as long as one is answered now and then."""
        while self._asked:
            self._answered.clear()
            with anyio.move_on_after(_PATIENCE) as waiting:
                await self._answered.wait()
            if waiting.cancelled_caught:
                logger.warning("%d requests were not answered before the end", self._asked.total())
                return


class _Outgoing(_Ended):
    """What the SDK sends, a line each."""

    def __init__(self, writer: asyncio.StreamWriter, unanswered: _Unanswered) -> None:
        self._writer = writer
        self._unanswered = unanswered

    @property
    def is_heard(self) -> bool:
        return not self._writer.is_closing()

    async def send(self, item: SessionMessage) -> None:
        self._unanswered.answered(item.message)
        if not self.is_heard:
            raise anyio.BrokenResourceError
        self._writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        try:
            await self._writer.drain()
        except OSError as gone:
            raise anyio.BrokenResourceError from gone


class _Incoming(_Ended):
    """What the client sends. What is no message is answered here: the SDK drops it, its sender would wait for ever.

    It ends when everything has been answered: at its end the SDK gives up whatever it is still working on, and who
    pipes requests into the program wants the answers. It ends too when nobody reads the answers any more.
    """

    def __init__(self, reader: asyncio.StreamReader, outgoing: _Outgoing, unanswered: _Unanswered) -> None:
        self._reader = reader
        self._outgoing = outgoing
        self._unanswered = unanswered
        self._begun: list[bytes] = []
        self._lines: deque[bytes] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            while not self._lines:
                await self._read()
            line = self._lines.popleft()
            if not self._outgoing.is_heard:
                logger.warning("stdout cannot be written to any more: the rest of stdin is left unread")
                raise StopAsyncIteration
            try:
                message = read(line)
            except Unreadable as problem:
                with suppress(anyio.BrokenResourceError):  # nobody reads it
                    await self._outgoing.send(SessionMessage(problem.answer))
                continue
            if message is not None:
                self._unanswered.asked(message)
                return SessionMessage(message)

    async def receive(self) -> SessionMessage:
        try:
            return await anext(self)
        except StopAsyncIteration as over:
            raise anyio.EndOfStream from over

    async def _read(self) -> None:
        chunk = await self._reader.read(_CHUNK)
        if not chunk and not any(self._begun):
            await self._unanswered.wait()
            raise StopAsyncIteration
        *ended, rest = (chunk or b"\n").split(b"\n")  # the end of the input ends its last line
        for line in ended:
            self._lines.append(b"".join([*self._begun, line]))
            self._begun.clear()
        self._begun.append(rest)
