"""A socket with an application behind it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import uvicorn
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp

from commonplace.domain.errors import Invalid
from commonplace.settings import Settings
from commonplace.transports import tls
from commonplace.transports.connections import Connection, Doors
from commonplace.transports.sparing import Sparing

Farewell = Callable[[], Awaitable[None]]
LARGEST_MESSAGE = 65536
"""Bytes of a message that comes in over a WebSocket."""
PATIENCE = 75
"""Seconds an idle connection stays open: an agent thinks for longer than the usual five, and a client that sends into a
connection that is just being closed gets an error."""
_CAUSED = ("mcp.server.streamable_http", "mcp.server.streamable_http_manager")
"""Loggers, beside uvicorn's, of what clients do wrong."""
_SPARING = Sparing()


class Listener(uvicorn.Server):
    """uvicorn, which here leaves signals to the process that owns it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def __init__(self, config: uvicorn.Config, bound: socket.socket, farewell: Farewell) -> None:
        super().__init__(config)
        self._bound = bound
        self._farewell = farewell

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await super().serve([self._bound])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._farewell()
        await super().shutdown(sockets)


def listener(app: ASGIApp, settings: Settings, transport: str, farewell: Farewell) -> Listener:
    """Bound at once, so that a port that is taken is told before anything else happens."""
    secured = tls.context(settings)
    host, port = settings.listens_on(transport)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_config=None,  # logging is set up once, to stderr
        timeout_graceful_shutdown=3,
        timeout_keep_alive=PATIENCE,
        server_header=False,
        proxy_headers=False,  # whose word is believed is a setting of ours
        ssl_context_factory=(lambda config, usual: secured) if secured else None,
        http=partial(Connection, doors=Doors(settings)),  # type: ignore[arg-type]  # called as its class would be
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,  # small messages to many: packing each would cost more than it saves
    )
    # In detail it would write down what a WebSocket was opened with, and so keys.
    errors = logging.getLogger("uvicorn.error")
    errors.setLevel(max(logging.INFO, logging.getLogger().getEffectiveLevel()))
    for logger in (errors, *map(logging.getLogger, _CAUSED)):
        logger.addFilter(_is_worth_a_line)
        logger.addFilter(_SPARING)
    return Listener(config, _bound(host, port, f"{transport}-port"), farewell)


def _bound(host: str, port: int, option: str) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = f"cannot listen on {host} port {port}: {error.strerror}; choose another with --{option} or --host"
        raise Invalid(option, reason) from error


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Not that a WebSocket was refused by an answer, or that a client went away: any stranger could fill the log."""
    gone = record.exc_info is not None and _is_farewell(record.exc_info[1])
    return not gone and record.msg != "ASGI callable returned without completing handshake."


def _is_farewell(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_farewell(one) for one in error.exceptions)
    return isinstance(error, ClientDisconnect)
