"""Streamable HTTP and SSE: every dialect under its own address, behind a check of host, origin and credential."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from mcp.server.runner import serve_dual_era_loop
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from commonplace import __version__
from commonplace.engine import Engine
from commonplace.settings import Settings
from commonplace.transports.auth import Authenticated
from commonplace.transports.mcp import DialectServer

LARGEST_BODY = 16 * 1024 * 1024
"""A memory of 1 MB, every character escaped, with room to spare."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def http_app(dialects: Mapping[str, DialectServer], engine: Engine, settings: Settings) -> ASGIApp:
    """`/mcp` is the chosen dialect, `/mcp/NAME` and `/NAME/mcp` each of them."""
    managers = {name: _manager(dialect) for name, dialect in dialects.items()}
    endpoints = {name: Authenticated(manager.handle_request, engine) for name, manager in managers.items()}
    routes = [Route("/health", _health), Route("/mcp", endpoint=endpoints[settings.dialect])]
    for name, endpoint in endpoints.items():
        routes += [Route(f"/mcp/{name}", endpoint=endpoint), Route(f"/{name}/mcp", endpoint=endpoint)]

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            yield

    return Guard(Starlette(routes=routes, lifespan=running), settings)


def sse_app(dialect: DialectServer, engine: Engine, settings: Settings) -> ASGIApp:
    """`GET /sse` opens the stream, `POST /sse` sends to it."""
    transport = SseServerTransport("/sse", max_request_body_size=LARGEST_BODY)

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await transport.handle_post_message(scope, receive, send)
            return
        async with transport.connect_sse(scope, receive, send) as (incoming, outgoing):
            await serve_dual_era_loop(
                dialect.server, incoming, outgoing, lifespan_state={}, init_options=dialect.options
            )

    routes = [Route("/health", _health), Route("/sse", endpoint=Authenticated(endpoint, engine))]
    return Guard(Starlette(routes=routes), settings)


class Guard:
    """Refuses requests whose Host or Origin is not ours: a page in a browser must not reach a local server."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        hosts = [*(f"{host}:*" for host in LOOPBACK), *LOOPBACK, *settings.allowed_hosts]
        origins = [f"http://{host}:*" for host in LOOPBACK] + list(settings.allowed_origins)
        self._check = TransportSecurityMiddleware(
            TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
        ).validate_request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal: Response | None = None
        if scope["type"] == "http":
            # httptools leaves the blanks behind a value, which are no part of it (RFC 9110, 5.5).
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            refusal = await self._check(Request(scope), is_post=False)
        await (refusal or self._app)(scope, receive, send)


def _manager(dialect: DialectServer) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(dialect.server, max_request_body_size=LARGEST_BODY)


async def _health(request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})
