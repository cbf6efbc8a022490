"""The sessions of streamable HTTP up to 2025-11-25, and who is answered without one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http import EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.domain.access import STRANGER
from commonplace.settings import Settings
from commonplace.transports.backlog import Backlog, Room
from commonplace.transports.bare import Bare
from commonplace.transports.mcp import ACTOR, DialectServer
from commonplace.transports.messages import Parted
from commonplace.transports.plain import PlainWhenLarge

_COME_BACK_MS = 1000
"""How long clients are asked to wait before they come back to a stream that broke."""
_POST_ONLY = Response(status_code=405, headers={"Allow": "POST"})


class Sessions(StreamableHTTPSessionManager):
    """The sessions of a dialect, each of which keeps what it was sent for a client that has to come back."""

    def __init__(self, dialect: DialectServer, settings: Settings, room: Room) -> None:
        self._room = room
        most = settings.max_body_bytes
        super().__init__(
            dialect.server,
            max_request_body_size=most,
            session_idle_timeout=settings.session_timeout,
            retry_interval=_COME_BACK_MS,
        )
        self._stateless = StreamableHTTPSessionManager(
            dialect.server, json_response=True, stateless=True, max_request_body_size=most
        )
        stateless = self._stateless.handle_request
        self.asgi_app.app = Parted(Bare(Known(PlainWhenLarge(self.asgi_app.app), stateless), stateless))

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with super().run(), self._stateless.run():
            yield

    @property
    def event_store(self) -> EventStore:
        """Read once for each session. One for all would mix up their streams, which are named by ids of requests."""
        return Backlog(self._room)

    @event_store.setter
    def event_store(self, value: EventStore | None) -> None:
        """There is nothing to set."""

    def __len__(self) -> int:
        return len(self._server_instances)


class Known:
    """Keeps nothing for strangers: each of their messages is answered by itself."""

    def __init__(self, app: ASGIApp, stateless: ASGIApp) -> None:
        self._app = app
        self._stateless = stateless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope[ACTOR] is not STRANGER:
            await self._app(scope, receive, send)
        else:
            await (self._stateless if scope["method"] == "POST" else _POST_ONLY)(scope, receive, send)
