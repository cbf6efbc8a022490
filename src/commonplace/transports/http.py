"""Streamable HTTP, SSE, WebSocket: each under its own address, behind a check of host, origin and credential."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from commonplace import __version__
from commonplace.domain.access import Actor, Permission
from commonplace.domain.errors import Forbidden
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports import cors, sse, websocket
from commonplace.transports.auth import Authenticated, Credentials
from commonplace.transports.backlog import Room
from commonplace.transports.guard import Guard
from commonplace.transports.limits import Limited, Limits, Sized, share
from commonplace.transports.mcp import DialectServer
from commonplace.transports.metrics import Figures
from commonplace.transports.oauth import audiences, metadata_routes
from commonplace.transports.refusals import Refusal
from commonplace.transports.sessions import Places, Sessions
from commonplace.transports.standing import Standing
from commonplace.transports.tokens import tokens


def _as_they_are(app: ASGIApp) -> ASGIApp:
    """Refusals where they answer the very request that was refused."""
    return app


class Front:
    """What both ports share: who is let in, how often, and what is counted."""

    def __init__(self, dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings) -> None:
        self._dialects = dialects
        self._settings = settings
        self._access = engine.access
        self._limits = Limits.of(settings)
        self._figures = Figures(engine)
        for dialect in dialects.values():
            dialect.watchers.append(self._figures.note)
        bases = [settings.base_url(transport) for transport in ("http", "sse")]
        trusted = tokens(engine.access, settings, audiences(settings, bases, [*self._paths(), sse.PATH]))
        self._credentials = Credentials(engine, settings, trusted)
        self._sockets = websocket.Sockets(engine, settings, self._limits)

    async def farewell(self) -> None:
        """Before a port is closed: those who only listen are told, and come back elsewhere or later."""
        await self._sockets.close()

    def http_app(self) -> ASGIApp:
        """`/mcp` is the chosen dialect, `/mcp/NAME` and `/NAME/mcp` each of them."""
        standing = Standing(self._access, share(self._settings.max_connections))
        shared = self._settings, Room(), Places(self._settings), standing
        managers = {name: Sessions(dialect, *shared) for name, dialect in self._dialects.items()}
        self._figures.sessions["http"] = lambda: sum(map(len, managers.values()))
        self._figures.sessions["websocket"] = lambda: len(self._sockets)
        endpoints = {path: managers[name].handle_request for path, name in self._paths().items()}

        @asynccontextmanager
        async def running(app: Starlette) -> AsyncIterator[None]:
            async with AsyncExitStack() as stack:
                for manager in managers.values():
                    await stack.enter_async_context(manager.run())
                for part in (standing, self._sockets):
                    await stack.enter_async_context(part.running())
                yield

        return self._app("http", endpoints, running, dict.fromkeys(websocket.PATHS, self._sockets))

    def sse_app(self) -> ASGIApp:
        """`GET /sse` opens the stream, `POST /sse` sends to it."""
        endpoint = sse.SseEndpoint(self._dialects[self._settings.dialect], self._settings)
        standing = Standing(self._access)
        self._figures.sessions["sse"] = lambda: len(endpoint)

        @asynccontextmanager
        async def running(app: Starlette) -> AsyncIterator[None]:
            async with endpoint.running(), standing.running():
                yield

        return self._app(
            "sse", {sse.PATH: standing.kept(endpoint)}, running, refusals=lambda app: sse.Told(app, endpoint)
        )

    def _paths(self) -> dict[str, str]:
        """The dialect under each address."""
        each = {path: name for name in self._dialects for path in (f"/mcp/{name}", f"/{name}/mcp")}
        return {"/mcp": self._settings.dialect} | each

    def _is_public(self, path: str) -> bool:
        name = self._paths().get(path, self._settings.dialect)
        return self._dialects[name].dialect.is_public

    def _app(
        self,
        transport: str,
        endpoints: Mapping[str, ASGIApp],
        running: Lifespan[Any],
        sockets: Mapping[str, ASGIApp] | None = None,
        refusals: Callable[[ASGIApp], ASGIApp] = _as_they_are,
    ) -> ASGIApp:
        base = self._settings.base_url(transport)
        # Over SSE nothing can be asked without a session, and strangers get none.
        has_strangers = transport == "http"

        def behind(app: ASGIApp, *, public: bool = False) -> Authenticated:
            return Authenticated(app, self._credentials, self._limits, self._settings, base, public=public)

        most = self._settings.max_body_bytes
        routes: list[BaseRoute] = [
            Route(path, endpoint=behind(Sized(app, most), public=has_strangers and self._is_public(path)))
            for path, app in endpoints.items()
        ]
        for path, app in (sockets or {}).items():
            routes += [WebSocketRoute(path, endpoint=behind(app)), Route(path, endpoint=_upgrade)]
        routes += metadata_routes(self._settings, base, list(endpoints))
        routes += self._status_routes(behind(_nothing))
        whole: ASGIApp = Starlette(routes=routes, lifespan=running, exception_handlers={404: _nowhere(endpoints)})
        whole = cors.shared(refusals(Limited(whole, self._limits)), self._settings)
        return self._figures.counted(Guard(_trimmed(whole), self._settings), transport)

    # How it goes

    def _status_routes(self, door: Authenticated) -> Sequence[BaseRoute]:
        async def health(request: Request) -> Response:
            """That it lives, for everyone; how it is, for those who show who they are."""
            known = self._credentials.shown(request)[0] and isinstance(await door.admitted(request), Actor)
            return JSONResponse(await self._figures.state() if known else {"status": "ok", "version": __version__})

        async def metrics(request: Request) -> Response:
            if not self._settings.metrics_public:
                admitted = await door.admitted(request)
                if isinstance(admitted, Response):
                    return admitted
                if Permission.READ not in admitted.permissions:
                    return JSONResponse({"error": Forbidden("read", "this").message}, 403)
            text, kind = await self._figures.exposition(request.headers.get("accept", ""))
            return Response(text, headers={"Content-Type": kind})

        return [Route("/health", health), Route("/metrics", metrics)]


def _trimmed(app: ASGIApp) -> ASGIApp:
    """A slash at the end means nothing; sent elsewhere for it, some clients leave their body or credential behind."""

    async def trimming(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        await app({**scope, "path": path.rstrip("/")} if path.strip("/") else scope, receive, send)

    return trimming


def _nowhere(addresses: Iterable[str]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """For who comes to where nothing is."""
    refusal = Refusal(404, "nothing is served at this address", f"connect to one of {', '.join(addresses)}")

    async def nowhere(request: Request, error: Exception) -> Response:
        return refusal

    return nowhere


async def _upgrade(request: Request) -> Response:
    """For who comes with a plain request to where a WebSocket is spoken."""
    return JSONResponse({"error": "this address speaks WebSocket"}, 426, {"Upgrade": "websocket"})


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Behind a door that is only asked who comes."""
