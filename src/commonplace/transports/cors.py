"""Pages of other origins: whom a browser lets call this server and read its answers."""

from __future__ import annotations

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from commonplace.settings import Settings

EXPOSED = ("Mcp-Session-Id", "MCP-Protocol-Version", "WWW-Authenticate", "Retry-After")
_REMEMBERED = 600
"""Seconds that a browser need not ask again."""


def shared(app: ASGIApp, settings: Settings) -> ASGIApp:
    """The same for the origins of the settings; without any, browsers keep the answers from other pages."""
    if not settings.cors_origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=settings.cors_origins,
        allow_methods=[method.upper() for method in settings.cors_methods],
        # Credentials travel in headers that the page must know; nothing is opened by a cookie.
        allow_headers=["*"],
        allow_credentials=False,
        expose_headers=EXPOSED,
        max_age=_REMEMBERED,
    )
