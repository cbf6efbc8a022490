"""A socket with an application behind it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from commonplace.domain.errors import Invalid


class Listener(uvicorn.Server):
    """uvicorn, which here leaves signals to the process that owns it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def __init__(self, config: uvicorn.Config, bound: socket.socket) -> None:
        super().__init__(config)
        self._bound = bound

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await super().serve([self._bound])


def listener(app: ASGIApp, host: str, port: int, option: str) -> Listener:
    """Bound at once, so that a port that is taken is told before anything else happens."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = f"cannot listen on {host} port {port}: {error.strerror}; choose another with --{option} or --host"
        raise Invalid(option, reason) from error
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_config=None,  # logging is set up once, to stderr
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    return Listener(config, bound)
