"""The sessions of streamable HTTP up to 2025-11-25, and who is answered without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import AuthorizationContext, authorization_context
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace.domain.access import STRANGER
from commonplace.settings import Settings
from commonplace.transports.backlog import Backlog, Room
from commonplace.transports.bare import Bare
from commonplace.transports.limits import share
from commonplace.transports.mcp import ACTOR, DialectServer
from commonplace.transports.messages import Parted
from commonplace.transports.plain import PlainWhenLarge
from commonplace.transports.refusals import Refusal
from commonplace.transports.standing import Standing

_COME_BACK_MS = 1000
"""How long clients are asked to wait before they come back to a stream that broke."""
_METHODS = ("GET", "POST", "DELETE")
_NO_METHOD = Refusal(405, "this method is not served here", "post a JSON-RPC message", {"Allow": ", ".join(_METHODS)})
_POST_ONLY = Refusal(405, "without a session only POST is served here", "post a JSON-RPC message", {"Allow": "POST"})
_NO_SESSION = Refusal(
    400, "no session is named", "open one by posting initialize, and send the Mcp-Session-Id header of its answer"
)
_REFUSED = 400
_RETRY_AFTER = 30
_REMEDY = f"end one that is not needed (DELETE), or repeat in {_RETRY_AFTER} s"


class Places:
    """How many sessions all dialects of a port may have together, and one credential of them."""

    def __init__(self, settings: Settings) -> None:
        self.most = settings.max_sessions
        self.dialects: list[Sessions] = []

    def refusal(self, scope: Scope) -> Response | None:
        """For whom there is no place."""
        caller = authorization_context(scope["user"])
        taken = Counter(caller == owner for sessions in self.dialects for owner in sessions.owners())
        later = {"Retry-After": str(_RETRY_AFTER)}
        if taken.total() >= self.most:
            return Refusal(503, "there are too many sessions", _REMEDY, later)
        if taken[True] >= share(self.most):
            return Refusal(429, f"this credential has {taken[True]} sessions, as many as it may have", _REMEDY, later)
        return None


class Sessions(StreamableHTTPSessionManager):
    """The sessions of a dialect, each of which keeps what it was sent for a client that has to come back."""

    def __init__(
        self, dialect: DialectServer, settings: Settings, room: Room, places: Places, standing: Standing
    ) -> None:
        self._room = room
        places.dialects.append(self)
        most = settings.max_body_bytes
        super().__init__(
            dialect.server,
            max_request_body_size=most,
            session_idle_timeout=settings.session_timeout,
            retry_interval=_COME_BACK_MS,
            max_sessions=places.most,
        )
        self._stateless = StreamableHTTPSessionManager(
            dialect.server, json_response=True, stateless=True, max_request_body_size=most
        )
        stateless = standing.kept(self._stateless.handle_request)
        with_sessions = standing.kept(PlainWhenLarge(self.asgi_app.app))
        self.asgi_app.app = Parted(Bare(Known(with_sessions, stateless, places), stateless))

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

    def owners(self) -> Collection[AuthorizationContext]:
        """Who opened them, once for each."""
        return self._session_owners.values()

    def __len__(self) -> int:
        return len(self._server_instances)


class Known:
    """Before the sessions: who has none and may have none; for strangers `stateless` answers, which keeps nothing."""

    def __init__(self, app: ASGIApp, stateless: ASGIApp, places: Places) -> None:
        self._app = app
        self._stateless = stateless
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal := self._refusal(scope):
            await refusal(scope, receive, send)
        elif scope[ACTOR] is STRANGER:
            await self._stateless(scope, receive, send)
        else:
            await self._app(scope, receive, send if _names_session(scope) else _unopened(send))

    def _refusal(self, scope: Scope) -> Response | None:
        posts = scope["method"] == "POST"
        if scope[ACTOR] is STRANGER or not _may_have_session(scope):
            return None if posts else _POST_ONLY
        if scope["method"] not in _METHODS:
            return _NO_METHOD
        if _names_session(scope):
            return None
        return self._places.refusal(scope) if posts else _NO_SESSION


def _names_session(scope: Scope) -> bool:
    return MCP_SESSION_ID_HEADER in Headers(scope=scope)


def _may_have_session(scope: Scope) -> bool:
    """Whether this is of no revision that has none."""
    revision = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER, "")
    return not revision or revision in HANDSHAKE_PROTOCOL_VERSIONS


def _unopened(send: Send) -> Send:
    """The SDK names a session also where it refuses to open it, and nobody could go on with that."""

    async def sending(message: Message) -> None:
        if message.get("status", 0) >= _REFUSED:
            kept = [one for one in message["headers"] if one[0] != MCP_SESSION_ID_HEADER.encode()]
            message = {**message, "headers": kept}
        await send(message)

    return sending
