"""stdio: one client, the owner of this machine. Nothing but protocol goes to stdout."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from threading import Thread
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from commonplace.transports.mcp import DialectServer

_CHUNK = 65536


async def serve(dialect: DialectServer) -> None:
    """Until the client closes its end."""
    stdin: Any = _lines()
    async with stdio_server(stdin) as (incoming, outgoing), anyio.create_task_group() as tasks:
        readable, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_sift, incoming, readable, outgoing)
        await serve_dual_era_loop(dialect.server, read, outgoing, lifespan_state={}, init_options=dialect.options)
        tasks.cancel_scope.cancel()


async def _lines() -> AsyncIterator[str]:
    """What comes in, line by line. The SDK's own reader cannot be cancelled while the client says nothing."""
    arriving, arrived = anyio.create_memory_object_stream[str](0)
    # A daemon on the bare descriptor: the process ends without waiting for it, whatever it waits for.
    Thread(target=_hand_over, args=(arriving, asyncio.get_running_loop()), daemon=True).start()
    async with arrived:
        async for line in arrived:
            yield line


def _hand_over(arriving: MemoryObjectSendStream[str], loop: asyncio.AbstractEventLoop) -> None:
    with contextlib.suppress(OSError, RuntimeError, CancelledError, anyio.BrokenResourceError):  # one end has gone
        for line in _split(sys.stdin.fileno()):
            asyncio.run_coroutine_threadsafe(arriving.send(line), loop).result()
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(arriving.close)


def _split(descriptor: int) -> Iterator[str]:
    begun: list[bytes] = []
    while chunk := os.read(descriptor, _CHUNK):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*begun, line]).decode("utf-8", "replace")
            begun.clear()
        begun.append(rest)
    yield b"".join(begun).decode("utf-8", "replace")


async def _sift(incoming: Any, readable: MemoryObjectSendStream[SessionMessage | Exception], outgoing: Any) -> None:
    """Pass on what is a message; answer what is none, which the SDK drops: its sender would wait for ever."""
    async with readable:
        async for item in incoming:
            if isinstance(item, SessionMessage):
                await readable.send(item)
            elif complaint := _complaint(item):
                await outgoing.send(SessionMessage(complaint))


def _complaint(problem: Exception) -> types.JSONRPCError | None:
    """The answer to a line that is no message; None for a blank one."""
    found = problem.errors(include_url=False) if isinstance(problem, ValidationError) else []
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
