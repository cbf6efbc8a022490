"""From a request to who sent it: Bearer or X-API-Key, looked up every time, so that revoking works at once."""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.domain.access import Actor
from commonplace.domain.errors import CommonplaceError, Unauthenticated
from commonplace.engine import Engine
from commonplace.transports.mcp import ACTOR


class Authenticated:
    """Lets a request through with its actor, or answers 401."""

    def __init__(self, app: ASGIApp, engine: Engine) -> None:
        self._app = app
        self._engine = engine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            key = _key(HTTPConnection(scope))
            actor = await self._engine.access.authenticate(key)
        except Unauthenticated as error:
            await _refused(error, 401)(scope, receive, send)
            return
        except CommonplaceError as error:
            await _refused(error, 503)(scope, receive, send)
            return
        scope[ACTOR] = actor
        # The SDK ties a session to the principal that opened it by this entry.
        scope["user"] = AuthenticatedUser(_token(actor))
        await self._app(scope, receive, send)


def _key(connection: HTTPConnection) -> str:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else connection.headers.get("x-api-key", "").strip()
    if not key:
        raise Unauthenticated
    return key


def _token(actor: Actor) -> AccessToken:
    return AccessToken(token="", client_id=actor.credential, scopes=sorted(actor.permissions), subject=actor.user)


def _refused(error: CommonplaceError, status: int) -> JSONResponse:
    headers = {"WWW-Authenticate": 'Bearer realm="commonplace"'} if status == 401 else None
    body = {"error": error.message, "remedy": error.remedy}
    return JSONResponse(body, status, headers)
