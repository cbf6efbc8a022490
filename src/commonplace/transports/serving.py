"""All chosen transports in one process, until the client leaves or the process is asked to stop."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports import stdio
from commonplace.transports.mcp import DialectServer

Ready = Callable[[], Awaitable[None]]


async def serve(dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings, ready: Ready) -> None:
    """Run the transports of the settings side by side."""
    servers = _servers(dialects, engine, settings)
    async with anyio.create_task_group() as tasks:
        for dialect in dialects.values():
            tasks.start_soon(dialect.run_background)
        for server in servers:
            tasks.start_soon(_listen, server, tasks.cancel_scope)
        tasks.start_soon(_attend, servers, dialects[settings.dialect], ready, engine)
        if servers:
            tasks.start_soon(_until_asked, servers, tasks.cancel_scope)
        if "stdio" in settings.transport:
            await stdio.serve(dialects[settings.dialect])
            await _stop(servers)
            tasks.cancel_scope.cancel()


async def _attend(servers: list[Any], dialect: DialectServer, ready: Ready, engine: Engine) -> None:
    """Say when everything listens, then look after the house; on stdio not before the client has been answered."""
    while not all(server.started for server in servers):
        await anyio.sleep(0.01)
    await ready()
    if not servers:
        await dialect.greeted.wait()
    await engine.upkeep.run()


async def _listen(server: Any, scope: anyio.CancelScope) -> None:
    try:
        await server.serve()
    finally:
        scope.cancel()


async def _until_asked(servers: list[Any], scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            await _stop(servers)
            return


async def _stop(servers: list[Any]) -> None:
    for server in servers:
        server.should_exit = True


def _servers(dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings) -> list[Any]:
    """The HTTP servers; their library is loaded only where one is wanted."""
    if not {"http", "sse"} & set(settings.transport):
        return []
    from commonplace.transports.http import http_app, sse_app
    from commonplace.transports.listening import listener

    servers = []
    if "http" in settings.transport:
        servers.append(listener(http_app(dialects, engine, settings), settings.host, settings.http_port))
    if "sse" in settings.transport:
        servers.append(
            listener(sse_app(dialects[settings.dialect], engine, settings), settings.host, settings.sse_port)
        )
    return servers
