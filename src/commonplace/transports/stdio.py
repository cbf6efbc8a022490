"""stdio: one client, the owner of this machine. Nothing but protocol goes to stdout."""

from __future__ import annotations

import asyncio
import codecs
import json
import logging
from collections import Counter, deque
from contextlib import suppress
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from commonplace.transports.mcp import DialectServer
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
            message = _read_message(self._lines.popleft())
            if not self._outgoing.is_heard:
                logger.warning("stdout cannot be written to any more: the rest of stdin is left unread")
                raise StopAsyncIteration
            if isinstance(message, types.JSONRPCError):
                with suppress(anyio.BrokenResourceError):  # nobody reads it
                    await self._outgoing.send(SessionMessage(message))
            elif message is not None:
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


def _read_message(line: bytes) -> types.JSONRPCMessage | None:
    """The message of a line, the complaint that it is none, or None for a blank one."""
    line = line.removeprefix(codecs.BOM_UTF8)
    if not line.strip():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line.decode(), by_name=False)
    except UnicodeDecodeError:
        return _refusal(types.PARSE_ERROR, "Parse error: the line is no UTF-8", _leniently(line))
    except ValidationError as problem:
        if any(one["type"] == "json_invalid" for one in problem.errors(include_url=False, include_input=False)):
            return _refusal(types.PARSE_ERROR, "Parse error: the line is no JSON that can be read", _leniently(line))
        return _refusal(types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", _leniently(line))
    if isinstance(message, types.JSONRPCNotification) and "id" in (_leniently(line) if b'"id"' in line else ()):
        # With an id that is none it passes for a notification, and its sender would wait for ever.
        return _refusal(types.INVALID_REQUEST, "Invalid request: an id is a string or a whole number", None)
    return message


def _refusal(code: int, message: str, refused: Any) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=_identifier(refused), error=error)


def _leniently(line: bytes) -> Any:
    """The standard library reads lone surrogates, which the SDK's parser does not: enough to find the id."""
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _identifier(message: Any) -> int | str | None:
    identifier = message.get("id") if isinstance(message, dict) else None
    sendable = type(identifier) in (int, str) and str(identifier).isprintable()
    return identifier if sendable else None
