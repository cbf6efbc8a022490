"""From a request to who sent it: a key or a JWT, looked at every time, so that revoking works at once."""

from __future__ import annotations

import logging

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace.domain.access import STRANGER, Actor
from commonplace.domain.errors import CommonplaceError, Forbidden, Unauthenticated
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.limits import Limits, too_many
from commonplace.transports.mcp import ACTOR
from commonplace.transports.oauth import challenge
from commonplace.transports.refusals import Refusal
from commonplace.transports.tokens import Tokens

_PARTS_OF_A_JWT = 3
_CARRIER = "key."

logger = logging.getLogger(__name__)


class Credentials:
    """What opens the door: keys of the store, and JWTs where the settings say so."""

    def __init__(self, engine: Engine, settings: Settings, tokens: Tokens | None) -> None:
        self._engine = engine
        self._header = settings.api_key_header.lower()
        self._keys = settings.auth == "api_key"
        self._tokens = tokens

    def shown(self, connection: HTTPConnection) -> tuple[str, bool]:
        """The credential of a request, empty where there is none, and whether it may be a JWT."""
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip(), len(token.split(".")) == _PARTS_OF_A_JWT
        if key := connection.headers.get(self._header, "").strip():
            return key, False
        offered = _offered(connection)
        return offered, len(offered.split(".")) == _PARTS_OF_A_JWT

    async def actor(self, credential: str, may_be_jwt: bool) -> Actor:
        if self._tokens and may_be_jwt:
            try:
                return await self._tokens.actor(credential)
            except Unauthenticated:
                if not self._keys:
                    raise
        if not self._keys:
            raise Unauthenticated
        return await self._engine.access.authenticate(credential)


class Authenticated:
    """Lets a request through with its actor, or says why not."""

    def __init__(
        self,
        app: ASGIApp,
        credentials: Credentials,
        limits: Limits,
        settings: Settings,
        base: str,
        *,
        public: bool = False,
    ) -> None:
        self._app = app
        self._credentials = credentials
        self._limits = limits
        self._settings = settings
        self._base = base
        # Whoever is to be sent to an authorization server must be turned away first.
        self._public = public and not settings.authorization_servers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted = await self.admitted(HTTPConnection(scope))
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        scope[ACTOR] = admitted
        # The SDK ties a session to the principal that opened it by this entry.
        scope["user"] = AuthenticatedUser(_token(admitted))
        await self._app(scope, receive, send)

    async def admitted(self, connection: HTTPConnection) -> Actor | Response:
        """Who it is, or the answer to whoever it is not."""
        path = connection.scope["path"]
        credential, may_be_jwt = self._credentials.shown(connection)
        address = self._limits.addresses.of(connection.scope)
        if not credential:
            return self._stranger(path, address)
        # Not even looked at: else the limit would slow down guessing only where it guesses wrong.
        if wait := self._limits.guesses.wait(address):
            return too_many(wait, "too many wrong credentials came from this address")
        try:
            actor = await self._credentials.actor(credential, may_be_jwt)
        except Unauthenticated:
            self._limits.guesses.count(address, credential)
            return self._refused(Unauthenticated(shown=True), 401, path, "invalid_token")
        except Forbidden as error:
            return self._refused(error, 403, path, "insufficient_scope")
        except CommonplaceError as error:
            logger.error("a credential could not be looked up: %s", error)
            # Not the error's own words: whoever shows anything at all would learn where the store is.
            return Refusal(503, "the store cannot be read at the moment", error.remedy)
        wait = self._limits.users.take(actor.user)
        return too_many(wait) if wait else actor

    def _stranger(self, path: str, address: str) -> Actor | Response:
        """Those of one address share what one user may ask."""
        if not self._public:
            return self._refused(Unauthenticated(), 401, path)
        wait = self._limits.users.take(f"stranger {address}")
        return too_many(wait) if wait else STRANGER

    def _refused(self, error: CommonplaceError, status: int, path: str, reason: str = "") -> Refusal:
        headers = {}
        if status in (401, 403):
            headers["WWW-Authenticate"] = challenge(self._settings, self._base, path, reason)
        return Refusal(status, error.message, error.remedy, headers)


def _offered(connection: HTTPConnection) -> str:
    """A page cannot set headers when it opens a WebSocket, but it can name protocols: one of them may carry a key."""
    names = connection.scope.get("subprotocols", ())
    return next((name.removeprefix(_CARRIER) for name in names if name.startswith(_CARRIER)), "")


def _token(actor: Actor) -> AccessToken:
    return AccessToken(token="", client_id=actor.credential, scopes=sorted(actor.permissions), subject=actor.user)
