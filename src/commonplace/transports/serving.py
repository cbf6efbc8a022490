"""All chosen transports in one process, until the client leaves or the process is asked to stop."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports import stdio
from commonplace.transports.mcp import DialectServer

if TYPE_CHECKING:
    from commonplace.transports.tracing import Tracing

logger = logging.getLogger(__name__)

Ready = Callable[[], Awaitable[None]]
_MANNERS = 1.0
"""Seconds that a client on stdio has for its first request before loading begins."""

_NOBODY = (
    "stdin ended before a client had said anything, and with it the server: on stdio a client starts this program "
    "itself and writes to it (docs/clients.md); to serve without one, start it with --transport http"
)


async def serve(dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings, ready: Ready) -> None:
    """Run the transports of the settings side by side; the end of one is the end of all."""
    engine.embedding.chosen.clear()  # by another process it may have been another one
    servers = _servers(dialects, engine, settings)
    traced = _traced(dialects, settings)
    chosen = dialects[settings.dialect]
    over = anyio.Event()
    async with anyio.create_task_group() as house:
        for dialect in dialects.values():
            house.start_soon(dialect.run_background)
        house.start_soon(engine.mirror.run)
        house.start_soon(_attend, servers, chosen, ready, engine)
        house.start_soon(_until_asked, over)
        await _transports(servers, chosen if "stdio" in settings.transport else None, over)
        house.cancel_scope.cancel()
    if traced:
        await anyio.to_thread.run_sync(traced.close)


async def _transports(servers: list[Any], local: DialectServer | None, over: anyio.Event) -> None:
    """Until it is over; then each HTTP server finishes what it has begun."""
    conversation = anyio.CancelScope()
    async with anyio.create_task_group() as wires:
        for server in servers:
            wires.start_soon(_listen, server, over)
        if local:
            wires.start_soon(_converse, local, conversation, over)
        await over.wait()
        conversation.cancel()
        for server in servers:
            server.should_exit = True


async def _attend(servers: list[Any], dialect: DialectServer, ready: Ready, engine: Engine) -> None:
    """Say when everything listens, then look after the house; on stdio not before the client has been answered."""
    while not all(server.started for server in servers):
        await anyio.sleep(0.01)
    await ready()
    if not servers:
        await dialect.met.wait()
    await engine.upkeep.begin()
    if not servers:
        with anyio.move_on_after(_MANNERS):  # mostly a client asks for the tools at once, and should not wait for them
            await dialect.greeted.wait()
    await engine.upkeep.run()


async def _listen(server: Any, over: anyio.Event) -> None:
    try:
        await server.serve()
    finally:
        over.set()


async def _converse(dialect: DialectServer, conversation: anyio.CancelScope, over: anyio.Event) -> None:
    try:
        with conversation:
            await stdio.serve(dialect)
        if not (conversation.cancelled_caught or dialect.met.is_set()):
            logger.warning("%s", _NOBODY)
    finally:
        over.set()


async def _until_asked(over: anyio.Event) -> None:
    """A signal to stop is a request, not a failure: the process ends in order, with exit code 0."""
    if sys.platform == "win32":
        return  # there the event loop cannot wait for signals
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            over.set()


def _traced(dialects: Mapping[str, DialectServer], settings: Settings) -> Tracing | None:
    """Who follows the calls of every dialect, on whatever transport; loaded only where it is wanted."""
    if not settings.otel_endpoint:
        return None
    from commonplace.transports.tracing import Tracing

    tracing = Tracing(settings.otel_endpoint)
    for dialect in dialects.values():
        dialect.watchers.append(tracing.note)
    return tracing


def _servers(dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings) -> list[Any]:
    """The HTTP servers; their library is loaded only where one is wanted."""
    if not {"http", "sse"} & set(settings.transport):
        return []
    from commonplace.transports.http import Front
    from commonplace.transports.listening import listener

    front = Front(dialects, engine, settings)
    apps = {"http": front.http_app, "sse": front.sse_app}
    return [listener(app(), settings, name, front.farewell) for name, app in apps.items() if name in settings.transport]
