"""A socket with an application behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


class Listener(uvicorn.Server):
    """uvicorn, which here leaves signals to the process that owns it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @property
    def port(self) -> int:
        """The port in use: another than asked for where that was 0."""
        return int(self.servers[0].sockets[0].getsockname()[1])


def listener(app: ASGIApp, host: str, port: int) -> Listener:
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_config=None,  # logging is set up once, to stderr
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    return Listener(config)
