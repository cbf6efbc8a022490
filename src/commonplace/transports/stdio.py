"""stdio: one client, the owner of this machine. Nothing but protocol goes to stdout."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from commonplace.transports.mcp import DialectServer
from commonplace.transports.pipes import standard

_CHUNK = 65536
_PATIENCE = 5.0
"""Seconds in which what was asked before the end is still answered."""
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
        self._identifiers: set[types.RequestId] = set()
        self._none_left = asyncio.Event()

    def asked(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest) and message.method not in _ENDLESS:
            self._identifiers.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def answered(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def _settle(self, identifier: Any) -> None:
        if isinstance(identifier, int | str):
            self._identifiers.discard(identifier)
        if not self._identifiers:
            self._none_left.set()

    async def wait(self) -> None:
        """Until all have been answered, but not for ever."""
        if self._identifiers:
            self._none_left.clear()
            with anyio.move_on_after(_PATIENCE):
                await self._none_left.wait()


class _Outgoing(_Ended):
    """What the SDK sends, a line each."""

    def __init__(self, writer: asyncio.StreamWriter, unanswered: _Unanswered) -> None:
        self._writer = writer
        self._unanswered = unanswered

    async def send(self, item: SessionMessage) -> None:
        self._unanswered.answered(item.message)
        if self._writer.is_closing():
            raise anyio.BrokenResourceError
        self._writer.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        try:
            await self._writer.drain()
        except OSError as gone:
            raise anyio.BrokenResourceError from gone


class _Incoming(_Ended):
    """What the client sends. What is no message is answered here: the SDK drops it, its sender would wait for ever.

    It ends when everything has been answered: at its end the SDK gives up whatever it is still working on, and who
    pipes requests into the program wants the answers.
    """

    def __init__(self, reader: asyncio.StreamReader, outgoing: _Outgoing, unanswered: _Unanswered) -> None:
        self._reader = reader
        self._outgoing = outgoing
        self._unanswered = unanswered
        self._begun: list[bytes] = []
        self._lines: deque[str] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            while not self._lines:
                await self._read()
            try:
                message = types.jsonrpc_message_adapter.validate_json(self._lines.popleft(), by_name=False)
            except ValidationError as problem:
                if complaint := _complaint(problem):
                    with suppress(anyio.BrokenResourceError):  # nobody reads it
                        await self._outgoing.send(SessionMessage(complaint))
            else:
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
            self._lines.append(b"".join([*self._begun, line]).decode("utf-8", "replace"))
            self._begun.clear()
        self._begun.append(rest)


def _complaint(problem: ValidationError) -> types.JSONRPCError | None:
    """The answer to a line that is no message; None for a blank one."""
    found = problem.errors(include_url=False)
    line = next((one["input"] for one in found if one["type"] == "json_invalid"), None)
    if isinstance(line, str) and not line.strip():
        return None
    if line is not None:
        error = types.ErrorData(code=types.PARSE_ERROR, message="Parse error: the line is no JSON that can be read")
        return types.JSONRPCError(jsonrpc="2.0", id=_identifier(_leniently(line)), error=error)
    whole = next((one["input"] for one in found if one["type"] == "missing" and len(one["loc"]) == 2), None)
    error = types.ErrorData(code=types.INVALID_REQUEST, message="Invalid request: not a JSON-RPC 2.0 message")
    return types.JSONRPCError(jsonrpc="2.0", id=_identifier(whole), error=error)


def _leniently(line: str) -> Any:
    """The standard library reads lone surrogates, which the SDK's parser does not: enough to find the id."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _identifier(message: Any) -> int | str | None:
    identifier = message.get("id") if isinstance(message, dict) else None
    sendable = type(identifier) in (int, str) and str(identifier).isprintable()
    return identifier if sendable else None
